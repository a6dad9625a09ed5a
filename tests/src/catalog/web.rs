//! A web server that does what a test says, one request a connection.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::LIMIT;

/// A request: its target, and its head in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Path and query.
    pub target: String,
    /// The request line and the headers.
    pub head: String,
}

impl Request {
    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    /// A value of its query.
    pub fn value(&self, name: &str) -> Option<&str> {
        let query = self.target.split_once('?')?.1;
        query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }

    /// Its target without the query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }
}

/// What it says.
#[derive(Debug, Clone)]
pub enum Reply {
    /// A status line's end, header lines, a body.
    Whole(&'static str, Vec<String>, Vec<u8>),
    /// Less than its length says.
    Truncated(Vec<u8>),
    /// A byte now and then, without end.
    Trickle,
    /// More than anybody wants to have.
    Flood,
    /// Nothing.
    Silence,
}

impl Reply {
    /// 200 with this body.
    pub fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self::Whole("200 OK", vec![], body.into())
    }

    /// Another status, without a body.
    pub fn status(status: &'static str, headers: &[&str]) -> Self {
        Self::Whole(status, headers.iter().map(ToString::to_string).collect(), vec![])
    }
}

type Handler = dyn Fn(&Request) -> Reply + Send + Sync;

/// Listens until the test's process ends.
#[derive(Debug, Clone)]
pub struct Web {
    /// Where it listens.
    pub at: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Web {
    /// Answers each request by the handler.
    pub fn start(handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let requests = Arc::<Mutex<Vec<Request>>>::default();
        let (kept, handler) = (requests.clone(), Arc::<Handler>::from(Box::new(handler) as Box<Handler>));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (kept, handler) = (kept.clone(), handler.clone());
                thread::spawn(move || serve(stream, &kept, &*handler));
            }
        });
        Self { at, requests }
    }

    /// The address of a path of it.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.at)
    }

    /// All requests until now.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn serve(mut stream: TcpStream, kept: &Mutex<Vec<Request>>, handler: &Handler) {
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let Some(request) = read(&mut stream) else { return };
    kept.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
    // The other side may go at any time.
    let _ = answer(&mut stream, handler(&request));
}

fn read(stream: &mut TcpStream) -> Option<Request> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    while !bytes.ends_with(b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(n @ 1..) => bytes.extend_from_slice(&piece[..n]),
            // A child that ends is enough for this: it has a limit.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => return None,
        }
    }
    let head = String::from_utf8(bytes).unwrap();
    let target = head.split(' ').nth(1)?.to_owned();
    Some(Request { target, head: head.to_lowercase() })
}

fn answer(stream: &mut TcpStream, reply: Reply) -> std::io::Result<()> {
    match reply {
        Reply::Whole(status, headers, body) => {
            let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
            let length = body.len();
            write!(
                stream,
                "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n"
            )?;
            stream.write_all(&body)
        }
        Reply::Truncated(body) => {
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len() + 100)?;
            stream.write_all(&body)
        }
        Reply::Trickle => {
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n{")?;
            loop {
                stream.write_all(b" ")?;
                thread::sleep(Duration::from_millis(20));
            }
        }
        Reply::Flood => {
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
            loop {
                stream.write_all(&[b' '; 65536])?;
            }
        }
        Reply::Silence => stream.read_exact(&mut [0]),
    }
}
