//! An HTTP server that says exactly what a test wants: sound MCP by default, and whatever else over a raw connection.
//!
//! ```text
//!  connection ─► head and body read ─► noted ─► script: its own words, or none ─► sound MCP of 2025-11-25
//! ```
//!
//! Must never outlive its test by more than a connection: its threads end when their connections do.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// The tools that it has, all alike unless a script says otherwise.
const TOOLS: [&str; 3] = ["t", "bad", "other"];

/// A request that came in.
#[derive(Debug, Clone)]
pub struct Asked {
    /// `POST`.
    pub verb: String,
    /// With its query.
    pub path: String,
    /// Names in small letters.
    pub headers: Vec<(String, String)>,
    /// Null where it is no JSON.
    pub body: Value,
    /// The same as it came; empty where it is no text.
    pub text: String,
}

impl Asked {
    /// A header's value; empty where it is absent.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// MCP's method; empty for what has none.
    #[must_use]
    pub fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    /// Whether it is this call.
    #[must_use]
    pub fn calls(&self, tool: &str) -> bool {
        self.method() == "tools/call" && self.body["params"]["name"] == tool
    }
}

/// What a script does with a request: true when it has answered.
pub type Script = dyn Fn(&Asked, &mut TcpStream) -> bool + Send + Sync;

/// The server.
pub struct Scripted {
    /// Where it listens.
    pub port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    closed: Arc<AtomicBool>,
}

impl std::fmt::Debug for Scripted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scripted").field("port", &self.port).finish_non_exhaustive()
    }
}

impl Scripted {
    /// On a port of the system's choice.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn start(script: impl Fn(&Asked, &mut TcpStream) -> bool + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("it has one").port();
        let (asked, closed) = (Arc::<Mutex<Vec<Asked>>>::default(), Arc::<AtomicBool>::default());
        let (script, noted, ends): (Arc<Script>, _, _) = (Arc::new(script), asked.clone(), closed.clone());
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if ends.load(Ordering::SeqCst) {
                    return;
                }
                let (script, noted) = (script.clone(), noted.clone());
                thread::spawn(move || serve(stream, &*script, &noted));
            }
        });
        Self { port, asked, closed }
    }

    /// Where MCP is.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// All that came in so far.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How often this came in.
    #[must_use]
    pub fn count(&self, is_it: impl Fn(&Asked) -> bool) -> usize {
        self.asked().iter().filter(|asked| is_it(asked)).count()
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn serve(mut stream: TcpStream, script: &Script, noted: &Mutex<Vec<Asked>>) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(60)));
    let Some(asked) = read(&stream) else { return };
    noted.lock().unwrap_or_else(PoisonError::into_inner).push(asked.clone());
    if !script(&asked, &mut stream) {
        sound(&asked, &mut stream);
    }
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (verb, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.and_then(|(_, length)| length.parse().ok()).unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let text = String::from_utf8(body).unwrap_or_default();
    Some(Asked { verb, path, headers, body: serde_json::from_str(&text).unwrap_or_default(), text })
}

/// Answers with this status, kind and body, and closes the connection.
pub fn answer(
    stream: &mut TcpStream,
    status: &str,
    kind: &str,
    more: &str,
    body: &(impl AsRef<[u8]> + ?Sized),
) -> bool {
    let body = body.as_ref();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n{more}\r\n",
        body.len()
    );
    // Who has gone meanwhile is not waited for.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
    true
}

/// Answers with a file, or that there is none.
pub fn file(stream: &mut TcpStream, kind: &str, body: Option<Vec<u8>>) -> bool {
    let status = if body.is_some() { "200 OK" } else { "404 Not Found" };
    answer(stream, status, kind, "", &body.unwrap_or_default())
}

/// The result of a request.
pub fn result(asked: &Asked, stream: &mut TcpStream, result: &Value) -> bool {
    let body = json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": result}).to_string();
    let session = if asked.method() == "initialize" { "mcp-session-id: s1\r\n" } else { "" };
    answer(stream, "200 OK", "application/json", session, &body)
}

/// Begins a stream of events; it lasts until the connection is closed.
pub fn begin_events(stream: &mut TcpStream) {
    begin_stream(stream, "text/event-stream");
}

/// The same for a stream of another type.
pub fn begin_stream(stream: &mut TcpStream, kind: &str) {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n");
    let _ = stream.write_all(head.as_bytes());
}

/// One event of a stream; false when nobody listens any more.
pub fn event(stream: &mut TcpStream, text: &str) -> bool {
    stream.write_all(text.as_bytes()).is_ok()
}

/// A call's result with this text.
#[must_use]
pub fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn sound(asked: &Asked, stream: &mut TcpStream) {
    match (asked.verb.as_str(), asked.method()) {
        ("POST", "initialize") => result(
            asked,
            stream,
            &json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "scripted", "version": "1"}}),
        ),
        ("POST", "tools/list") => {
            let tool = |name: &&str| json!({"name": name, "inputSchema": {"type": "object"}});
            result(asked, stream, &json!({"tools": TOOLS.iter().map(tool).collect::<Vec<_>>()}))
        }
        ("POST", "tools/call") => result(asked, stream, &text("done")),
        ("POST", "ping") => result(asked, stream, &json!({})),
        ("POST", "server/discover") => answer(stream, "400 Bad Request", "text/plain", "", "no"),
        ("POST", _) => answer(stream, "202 Accepted", "text/plain", "", ""),
        _ => answer(stream, "405 Method Not Allowed", "text/plain", "", ""),
    };
}
