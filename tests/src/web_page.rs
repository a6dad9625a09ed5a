//! A small web server at an address of this machine, which answers what a test's `fetch` asks.
//!
//! ```text
//!  /hello   a text            /big   17 MiB           /moved?to=URL   a redirect (else to itself)
//!  /echo    the request as it came, as JSON           /never          no answer     /forged  as if the proxy had refused
//! ```
//!
//! Owns which requests are open: each has a thread, which ends with its connection. Must never be reached from elsewhere.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::json;

/// It; its threads end with the test's process.
#[derive(Debug)]
pub struct WebPage {
    /// Where it listens.
    pub address: SocketAddr,
    /// Requests for `/never` that are open.
    waiting: Arc<AtomicUsize>,
}

impl WebPage {
    /// Listens at a free port of that address.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn at(address: &str) -> Self {
        let listener = TcpListener::bind((address, 0)).expect("an address of this machine");
        let address = listener.local_addr().expect("it is bound");
        let waiting = Arc::new(AtomicUsize::new(0));
        let count = waiting.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let count = count.clone();
                thread::spawn(move || attend(stream, &count));
            }
        });
        Self { address, waiting }
    }

    /// Where a path is.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// How many requests for `/never` are open now.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }
}

fn attend(stream: TcpStream, waiting: &AtomicUsize) {
    let Ok(from) = stream.try_clone() else { return };
    // Whoever ends the connection early has got what it wanted.
    let _ = answer(&mut BufReader::new(from), stream, waiting);
}

fn answer(from: &mut BufReader<TcpStream>, mut to: TcpStream, waiting: &AtomicUsize) -> std::io::Result<()> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        from.read_line(&mut line)?;
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let header = |name: &str| {
        let found = lines.iter().filter_map(|line| line.split_once(": "));
        found.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    };
    let mut body = vec![0; header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0)];
    from.read_exact(&mut body)?;
    let target = lines.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let of = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    match path {
        "/echo" => {
            let said = json!({"head": lines, "body": String::from_utf8_lossy(&body)}).to_string();
            send(
                &mut to,
                "200 OK",
                "Content-Type: application/json\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2",
                said.as_bytes(),
            )
        }
        "/moved" => {
            let status = format!("{} Moved", of("status").unwrap_or("302"));
            send(&mut to, &status, &format!("Location: {}", of("to").unwrap_or("/moved")), b"")
        }
        "/big" => send(&mut to, "200 OK", "X-Size: 17", &vec![b'x'; 17 << 20]),
        "/never" => {
            waiting.fetch_add(1, Ordering::SeqCst);
            let ended = from.read(&mut [0]);
            waiting.fetch_sub(1, Ordering::SeqCst);
            ended.map(drop)
        }
        "/forged" => {
            send(&mut to, "403 Forbidden", "Proxy-Status: harbor-egress; error=http_request_denied", b"mine")
        }
        "/hello" => send(&mut to, "200 OK", "Content-Type: text/plain", "hello, wörld".as_bytes()),
        _ => send(&mut to, "404 Not Found", "Content-Type: text/plain", b"nothing here"),
    }
}

fn send(to: &mut TcpStream, status: &str, headers: &str, body: &[u8]) -> std::io::Result<()> {
    let length = body.len();
    write!(to, "HTTP/1.1 {status}\r\n{headers}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")?;
    to.write_all(body)
}
