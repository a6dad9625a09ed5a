//! HTTP as a client without manners would speak it: what is sent is written by hand, what comes back is taken apart.
//!
//! Owns connections, what most of these tests begin with, and what clients of both generations say. Every wait has a limit.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use harbor_tests::{Bridge, Double, Home, HttpServer, LIMIT, token};
use serde_json::{Value, json};

/// What both generations have to send.
const USUAL: &str = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";

/// A bridge with a sound server `s`, and Harbor over HTTP with a token for the client `ai`.
pub struct Rig {
    // In the order in which they end.
    pub server: HttpServer,
    pub bridge: Bridge,
    pub double: Double,
    pub token: String,
    pub home: Home,
}

impl Rig {
    pub fn new() -> Self {
        let home = Home::new();
        let (bridge, double) = (Bridge::start(&home), Double::sound(&home));
        bridge.add_and_connect("s", &double);
        let token = token(&home, "ai");
        Self { server: HttpServer::start(&home, &[]), bridge, double, token, home }
    }
}

/// Speaks to a server.
pub trait Speak {
    /// Sends this text; gives the answer's head, with its body to come.
    fn send(&self, text: &[u8]) -> Answer;

    /// Sends a request with these lines of head, `Host` apart.
    fn request(&self, method: &str, head: &str, body: &str) -> Answer {
        self.send(self.text(method, head, body).as_bytes())
    }

    fn text(&self, method: &str, head: &str, body: &str) -> String;
}

impl Speak for HttpServer {
    fn send(&self, text: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        // One that is refused early may be cut off while it still speaks.
        let _ = stream.write_all(text);
        Answer::read(stream)
    }

    fn text(&self, method: &str, head: &str, body: &str) -> String {
        let (port, length) = (self.port, body.len());
        format!(
            "{method} /mcp HTTP/1.1\r\nHost: localhost:{port}\r\n{head}Content-Length: {length}\r\n\r\n{body}"
        )
    }
}

/// An answer, as far as it was read.
pub struct Answer {
    pub status: u16,
    pub head: String,
    reader: BufReader<TcpStream>,
}

impl Answer {
    fn read(stream: TcpStream) -> Self {
        let (mut reader, mut head) = (BufReader::new(stream), String::new());
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(reader.read_line(&mut head).expect("a head within the limit"), 0, "cut off: {head}");
        }
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status line");
        Self { status, head, reader }
    }

    pub fn header(&self, name: &str) -> Option<String> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .into_iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.to_owned())
    }

    fn is_stream(&self) -> bool {
        self.header("content-type").as_deref() == Some("text/event-stream")
    }

    /// The next message: of a stream's next event, or the whole body. `None` at the end.
    pub fn message(&mut self) -> Option<Value> {
        if !self.is_stream() {
            let length = self.header("content-length").map_or(0, |length| length.parse().unwrap());
            let mut body = vec![0; length];
            self.reader.read_exact(&mut body).unwrap();
            self.head.clear();
            return (length > 0).then(|| serde_json::from_slice(&body).unwrap());
        }
        loop {
            let chunk = self.chunk()?;
            let text = String::from_utf8(chunk).unwrap();
            assert!(text.ends_with("\n\n"), "{text:?}");
            match text.strip_prefix("event: message\ndata: ") {
                Some(data) => return Some(serde_json::from_str(data).unwrap()),
                None => assert_eq!(text, ":\n\n", "nothing else is said"),
            }
        }
    }

    fn chunk(&mut self) -> Option<Vec<u8>> {
        let mut size = String::new();
        let read = self.reader.read_line(&mut size).expect("a chunk within the limit");
        let size = usize::from_str_radix(size.trim(), 16).ok().filter(|_| read > 0)?;
        let mut chunk = vec![0; size + 2];
        self.reader.read_exact(&mut chunk).ok()?;
        chunk.truncate(size);
        (size > 0).then_some(chunk)
    }

    /// The message that answers; what comes before it is dropped.
    pub fn answer(&mut self) -> Value {
        loop {
            let message = self.message().expect("an answer before the end");
            if message.get("method").is_none() {
                return message;
            }
        }
    }
}

/// A client with a token, and maybe a session.
pub struct Caller<'a> {
    pub server: &'a HttpServer,
    pub token: String,
    pub session: Option<String>,
}

impl<'a> Caller<'a> {
    pub fn new(server: &'a HttpServer, token: &str) -> Self {
        Self { server, token: token.to_owned(), session: None }
    }

    /// With a session.
    pub fn begun(server: &'a HttpServer, token: &str) -> Self {
        Self::begun_with(server, token, &json!({}))
    }

    /// With one that can answer questions.
    pub fn begun_with(server: &'a HttpServer, token: &str, capabilities: &Value) -> Self {
        let mut caller = Self::new(server, token);
        let info = json!({"name": "t"});
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info});
        let mut answer = caller.ask(&json!("first"), "initialize", &params);
        assert_eq!(answer.status, 200, "{}", answer.head);
        caller.session = answer.header("mcp-session-id");
        assert!(caller.session.as_ref().is_some_and(|id| id.len() >= 32));
        assert_eq!(answer.answer()["result"]["protocolVersion"], "2025-11-25");
        let told = caller.post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        assert_eq!((told.status, told.header("content-length").as_deref()), (202, Some("0")));
        caller
    }

    /// The same without its session.
    pub fn modern(&self) -> Self {
        Self::new(self.server, &self.token)
    }

    fn head(&self) -> String {
        let session = self.session.as_ref().map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
        format!("Authorization: Bearer {}\r\n{session}", self.token)
    }

    pub fn post(&self, message: &Value) -> Answer {
        self.post_with("", &message.to_string())
    }

    /// With more lines of head.
    pub fn post_with(&self, more: &str, body: &str) -> Answer {
        self.server.request("POST", &format!("{}{USUAL}{more}", self.head()), body)
    }

    pub fn ask(&self, id: &Value, method: &str, params: &Value) -> Answer {
        self.post(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    }

    pub fn tool(&self, id: &Value, name: &str, arguments: &Value) -> Answer {
        self.ask(id, "tools/call", &json!({"name": name, "arguments": arguments}))
    }

    pub fn listen(&self) -> Answer {
        self.server.request("GET", &format!("{}Accept: text/event-stream\r\n", self.head()), "")
    }

    pub fn delete(&self) -> Answer {
        self.server.request("DELETE", &self.head(), "")
    }

    /// As the generation without sessions asks.
    pub fn ask_modern(&self, id: &Value, method: &str, params: &Value) -> Answer {
        let name = params["name"].as_str().map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
        let head = format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{name}");
        self.post_with(&head, &modern(id, method, params).to_string())
    }
}

/// A message of that generation.
pub fn modern(id: &Value, method: &str, params: &Value) -> Value {
    let mut params = params.clone();
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    let capabilities = &mut params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    if capabilities.is_null() {
        *capabilities = json!({});
    }
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}
