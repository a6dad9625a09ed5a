//! The client's side of a talk: what is said to it, and which of its calls are open.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Stdout, Write as _};

use crate::json::{number, object, text, Json};

/// A request.
pub struct Call {
    pub id: Json,
    pub params: Json,
    /// True if it says a version itself.
    pub is_modern: bool,
}

/// An error of the protocol.
pub struct Refusal {
    pub code: i64,
    pub words: String,
    pub data: Option<Json>,
}

impl Refusal {
    pub fn new(code: i64, words: impl Into<String>) -> Self {
        Self { code, words: words.into(), data: None }
    }

    pub fn of_method(method: &str) -> Self {
        Self::new(-32601, format!("Method not found: {method}"))
    }
}

/// What is said to a request: a result, or None while the call stays open.
pub type Said = Result<Option<Json>, Refusal>;

pub struct Client {
    out: BufWriter<Stdout>,
    /// Whether each open call is a modern one, by its id as it was written.
    open: BTreeMap<String, bool>,
}

impl Client {
    pub fn new() -> Self {
        Self { out: BufWriter::new(io::stdout()), open: BTreeMap::new() }
    }

    pub fn open(&mut self, call: &Call) {
        self.open.insert(call.id.written(), call.is_modern);
    }

    /// Forgets a call, so that it gets no answer.
    pub fn close(&mut self, id: Option<&Json>) {
        if let Some(id) = id {
            self.open.remove(&id.written());
        }
    }

    /// Answers a call, unless it is closed.
    pub fn answer(&mut self, id: &Json, mut result: Json) {
        if let Some(is_modern) = self.open.remove(&id.written()) {
            if is_modern {
                result.add("resultType", text("complete"));
            }
            self.say(object([("id", id.clone()), ("result", result)]));
        }
    }

    pub fn refuse(&mut self, id: Json, refusal: Refusal) {
        let mut error = object([("code", number(refusal.code)), ("message", Json::Text(refusal.words))]);
        if let Some(data) = refusal.data {
            error.add("data", data);
        }
        self.say(object([("id", id), ("error", error)]));
    }

    pub fn notify(&mut self, method: &str, params: Json) {
        self.say(object([("method", text(method)), ("params", params)]));
    }

    /// Says a message, to which it adds "jsonrpc".
    pub fn say(&mut self, mut message: Json) {
        message.add("jsonrpc", text("2.0"));
        let said = message.write(&mut self.out).and_then(|()| self.out.write_all(b"\n"));
        if said.and_then(|()| self.out.flush()).is_err() {
            // Nobody reads any more: the client is gone.
            std::process::exit(0);
        }
    }
}

/// The result of a tool that says something.
pub fn said(words: impl Into<String>) -> Json {
    object([("content", Json::List(vec![part(words)]))])
}

/// The result of a tool that fails.
pub fn failed(words: impl Into<String>) -> Json {
    let mut result = said(words);
    result.add("isError", Json::Bool(true));
    result
}

/// A part of a result.
pub fn part(words: impl Into<String>) -> Json {
    object([("type", text("text")), ("text", Json::Text(words.into()))])
}

/// A tool as it is listed.
pub fn listed(name: &str) -> Json {
    object([("name", text(name)), ("inputSchema", object([("type", text("object"))]))])
}
