//! A collector that does what a test says: it keeps what it is sent, and answers, or does not.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use harbor_tests::LIMIT;
use serde_json::Value;

/// What it does with a request.
#[derive(Debug, Clone)]
pub enum Reply {
    /// Answers with this status line, and these headers.
    Status(&'static str),
    /// Says nothing.
    Silence,
    /// Says a byte now and then, without end.
    Trickle,
    /// Says more than anybody wants to hear.
    Flood,
}

pub const OK: Reply = Reply::Status("200 OK");

/// A request.
#[derive(Debug, Clone)]
pub struct Request {
    pub head: String,
    pub body: Vec<u8>,
    pub came: Instant,
}

/// Listens until the test's process ends.
#[derive(Debug)]
pub struct Collector {
    pub at: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Collector {
    /// Answers the first requests like this, and all further ones like the last of them.
    pub fn start(replies: &[Reply]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let requests = Arc::<Mutex<Vec<Request>>>::default();
        let (kept, replies) = (requests.clone(), replies.to_vec());
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (kept, replies) = (kept.clone(), replies.clone());
                thread::spawn(move || serve(stream, &kept, &replies));
            }
        });
        Self { at, requests }
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// All bytes that came.
    pub fn bytes(&self) -> Vec<u8> {
        let requests = self.requests();
        requests.into_iter().flat_map(|request| [request.head.into_bytes(), request.body].concat()).collect()
    }

    /// All spans that came.
    pub fn spans(&self) -> Vec<Value> {
        let bodies = self.requests().into_iter().map(|request| request.body);
        let bodies = bodies.map(|body| serde_json::from_slice::<Value>(&body).unwrap());
        let spans = bodies.map(|body| body["resourceSpans"][0]["scopeSpans"][0]["spans"].clone());
        spans.flat_map(|spans| spans.as_array().unwrap().clone()).collect()
    }
}

fn serve(mut stream: TcpStream, kept: &Mutex<Vec<Request>>, replies: &[Reply]) {
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let Some(request) = read(&mut stream) else { return };
    let nth = {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(request);
        kept.len() - 1
    };
    // The other side may go at any time.
    let _ = match replies.get(nth).or(replies.last()).unwrap() {
        Reply::Status(status) => {
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}")
        }
        Reply::Silence => stream.read_exact(&mut [0]),
        Reply::Trickle => trickle(&mut stream),
        Reply::Flood => flood(&mut stream),
    };
}

fn read(stream: &mut TcpStream) -> Option<Request> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 65536]);
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
            let length: usize = length.unwrap().parse().unwrap();
            let body = &bytes[end + 4..];
            assert!(body.len() <= length, "one request for each connection");
            if body.len() == length {
                return Some(Request { head, body: body.to_vec(), came: Instant::now() });
            }
        }
        match stream.read(&mut piece) {
            Ok(n @ 1..) => bytes.extend_from_slice(&piece[..n]),
            // A child that ends is enough for this: it has a limit.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => return None,
        }
    }
}

fn trickle(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\nA: ")?;
    loop {
        stream.write_all(b"b")?;
        thread::sleep(Duration::from_millis(20));
    }
}

fn flood(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
    loop {
        stream.write_all(&[b'x'; 65536])?;
    }
}
