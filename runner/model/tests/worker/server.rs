//! A provider that does what a script says, one connection for each request.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use super::driven::PATIENCE;

/// What came.
#[derive(Debug, Clone)]
pub struct Request {
    /// `POST /v1/chat/completions`.
    pub line: String,
    /// Names in small letters.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// What a connection does next.
#[derive(Debug, Clone)]
pub enum Step {
    /// Writes.
    Say(Vec<u8>),
    /// Writes byte by byte, each in a packet of its own.
    Drip(Vec<u8>),
    /// Writes the same again and again, until nobody reads it.
    Endless(Vec<u8>),
    /// Says nothing until the other side closes.
    Hang,
}

/// The server.
pub struct Server {
    pub port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
    gone: Receiver<()>,
}

impl Server {
    /// Answers the `n`th request, from 0, by its script.
    pub fn start(script: impl Fn(&Request, usize) -> Vec<Step> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (tell, gone) = channel();
        let (script, known) = (Arc::new(script), requests.clone());
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (script, known, tell) = (script.clone(), known.clone(), tell.clone());
                thread::spawn(move || {
                    let _ = serve(stream, &*script, &known, &tell);
                });
            }
        });
        Self { port, requests, gone }
    }

    /// One that does the same each time.
    pub fn says(steps: Vec<Step>) -> Self {
        Self::start(move |_, _| steps.clone())
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Waits until somebody has closed a connection that hung or had no end.
    pub fn is_left(&self) {
        self.gone.recv_timeout(PATIENCE).expect("the connection stays");
    }
}

fn serve(
    stream: TcpStream,
    script: &(dyn Fn(&Request, usize) -> Vec<Step> + Send + Sync),
    known: &Mutex<Vec<Request>>,
    gone: &Sender<()>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let request = read(&mut reader)?;
    let number = {
        let mut known = known.lock().unwrap();
        known.push(request.clone());
        known.len() - 1
    };
    let mut stream = stream;
    for step in script(&request, number) {
        match step {
            Step::Say(bytes) => stream.write_all(&bytes)?,
            Step::Drip(bytes) => bytes.iter().try_for_each(|byte| stream.write_all(&[*byte]))?,
            Step::Endless(bytes) => {
                while stream.write_all(&bytes).is_ok() {}
                let _ = gone.send(());
            }
            Step::Hang => {
                let _ = reader.read(&mut [0]);
                let _ = gone.send(());
            }
        }
    }
    Ok(())
}

fn read(reader: &mut BufReader<TcpStream>) -> std::io::Result<Request> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let mut lines = lines.into_iter();
    let line = lines.next().unwrap_or_default().trim_end_matches(" HTTP/1.1").to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_ascii_lowercase(), value.trim().to_owned()))
        })
        .collect();
    let mut request = Request { line, headers, body: String::new() };
    let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    request.body = String::from_utf8(body).unwrap();
    Ok(request)
}

/// The head of an answer that ends with its connection.
pub fn head(status: &str, headers: &[&str]) -> Vec<u8> {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    format!("HTTP/1.1 {status}\r\n{headers}Connection: close\r\n\r\n").into_bytes()
}

/// A whole answer.
pub fn answer(status: &str, headers: &[&str], body: &str) -> Vec<Step> {
    let length = format!("Content-Length: {}", body.len());
    let headers: Vec<&str> = headers.iter().copied().chain([length.as_str()]).collect();
    vec![Step::Say([head(status, &headers), body.as_bytes().to_vec()].concat())]
}

pub fn json(status: &str, body: &str) -> Vec<Step> {
    answer(status, &["Content-Type: application/json"], body)
}

pub const EVENTS: &str = "Content-Type: text/event-stream";

/// A stream of chat, with these events.
pub fn events(data: &[&str]) -> Vec<u8> {
    data.iter().flat_map(|data| format!("data: {data}\n\n").into_bytes()).collect()
}

pub const HALF: &str = r#"{"model":"m-1","choices":[{"delta":{"content":"half"}}]}"#;
pub const STOP: &str = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;

/// A good answer.
pub fn good() -> Vec<Step> {
    answer("200 OK", &[EVENTS], &String::from_utf8(events(&[HALF, STOP, "[DONE]"])).unwrap())
}
