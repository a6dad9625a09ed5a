//! One request over HTTP, byte by byte.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use harbor_tests::{Client, LIMIT};
use serde_json::json;

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

/// Where this bridge serves metrics, by its status.
pub fn address(client: &Client) -> Option<SocketAddr> {
    let status = client.call("status", &json!({})).unwrap()["status"].clone();
    status["bridge"]["metrics"].as_str().map(|at| at.parse().unwrap())
}

pub fn connect(at: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(at).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    stream.set_write_timeout(Some(LIMIT)).unwrap();
    stream
}

/// What comes until the other side closes.
pub fn read(mut stream: TcpStream) -> Option<Answer> {
    let mut bytes = Vec::new();
    // A listener that has ended this connection may have reset it.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Answer { status, head: head.to_owned(), body: body.to_owned() })
}

/// Sends these bytes.
pub fn send(at: SocketAddr, bytes: &[u8]) -> Answer {
    let mut stream = connect(at);
    // It may refuse before it has read all of it.
    let _ = stream.write_all(bytes);
    read(stream).expect("an answer")
}

/// Gets a path, with `Host` as it should be and these headers.
pub fn get(at: SocketAddr, path: &str, headers: &[&str]) -> Answer {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    send(at, format!("GET {path} HTTP/1.1\r\nHost: {at}\r\n{headers}\r\n").as_bytes())
}
