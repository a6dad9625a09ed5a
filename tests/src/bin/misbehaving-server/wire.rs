//! Lines in and out, and the journal.
//!
//! Payloads stay the text that they came as. Faults that concern every line (garbage around it, answers to
//! nobody) are done here.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use harbor_tests::faults::{BANNER, Fault};
use serde_json::Value;
use serde_json::value::RawValue;

/// A JSON object, its values still text.
#[derive(Debug, Default)]
pub struct Object(HashMap<String, Box<RawValue>>);

impl Object {
    /// Reads an object; `None` when the text is none.
    pub fn read(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text).ok().map(Self)
    }

    /// A member as text.
    pub fn raw(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|raw| raw.get())
    }

    /// A member as a value; null when absent.
    pub fn value(&self, name: &str) -> Value {
        self.raw(name).and_then(|raw| serde_json::from_str(raw).ok()).unwrap_or_default()
    }

    /// A member that is a string; empty when absent.
    pub fn text(&self, name: &str) -> String {
        self.value(name).as_str().unwrap_or_default().to_owned()
    }

    /// A member that is a number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.value(name).as_u64()
    }

    /// A member that is an object; empty when absent.
    pub fn object(&self, name: &str) -> Self {
        self.raw(name).and_then(|raw| Self::read(raw.as_bytes())).unwrap_or_default()
    }
}

/// `text` as a JSON string.
pub fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string is JSON")
}

/// Writes lines to stdout, one at a time.
#[derive(Debug)]
pub struct Out {
    fault: Fault,
    /// Held for a whole line with all that belongs around it.
    turn: Mutex<()>,
    /// How many lines wait for their turn.
    waiting: AtomicUsize,
    /// Nothing is written any more.
    silent: AtomicBool,
}

impl Out {
    /// With the faults that concern lines.
    pub fn new(fault: Fault) -> Self {
        let out = Self {
            fault,
            turn: Mutex::default(),
            waiting: AtomicUsize::new(0),
            silent: AtomicBool::new(false),
        };
        if fault == Fault::GarbageOnStdout {
            out.bytes(format!("{BANNER}\n").as_bytes());
        }
        out
    }

    /// Answers the request `id` (JSON text) with a result object.
    pub fn result(&self, id: &str, result: &str) {
        let strangers = "{\"jsonrpc\":\"2.0\",\"id\":987654321,\"result\":{}}\n\
                         {\"jsonrpc\":\"2.0\",\"id\":\"nobody\",\"result\":{}}\n\
                         {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"what?\"}}\n";
        let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n");
        let twin = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"duplicate\":true}}}}\n");
        match self.fault {
            Fault::UnknownIds => self.bytes(format!("{strangers}{answer}{twin}").as_bytes()),
            Fault::AnswersTwice => self.bytes(format!("{answer}{twin}").as_bytes()),
            _ => self.line(&answer),
        }
    }

    /// Answers the request `id` (JSON text) with an error; `data` is JSON text.
    pub fn error(&self, id: &str, code: i64, message: &str, data: Option<&str>) {
        let data = data.map(|data| format!(",\"data\":{data}")).unwrap_or_default();
        let message = quoted(message);
        self.line(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{message}{data}}}}}\n"
        ));
    }

    /// Sends a notification; `params` is JSON text.
    pub fn notify(&self, method: &str, params: &str) {
        self.line(&format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{params}}}\n"));
    }

    /// Asks the client; `id` and `params` are JSON text.
    pub fn request(&self, id: &str, method: &str, params: &str) {
        self.line(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n"
        ));
    }

    fn line(&self, line: &str) {
        if self.fault == Fault::GarbageOnStdout {
            let noise = "debug: about to speak\n{\"half\": \n\n[1,2,3]\n";
            self.bytes(format!("{noise}{line}{{\"jsonrpc\":\"2.0\"}}\n").as_bytes());
        } else {
            self.bytes(line.as_bytes());
        }
    }

    /// Writes bytes as they are. A client that is gone is noticed when reading.
    pub fn bytes(&self, bytes: &[u8]) {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let turn = self.turn.lock();
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        if !self.silent.load(Ordering::SeqCst) {
            let _ = put(bytes);
        }
        drop(turn);
    }

    /// Writes bytes that nobody asked for, after those that somebody waits for; false when the client is gone.
    pub fn flood(&self, bytes: &[u8]) -> bool {
        while self.waiting.load(Ordering::SeqCst) > 0 {
            thread::yield_now();
        }
        let _turn = self.turn.lock();
        put(bytes).is_ok()
    }

    /// Writes nothing from now on, whoever wants to.
    pub fn fall_silent(&self) {
        self.silent.store(true, Ordering::SeqCst);
    }
}

fn put(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush())
}

/// Writes down what happened, a line per event. Several processes may append to one.
#[derive(Debug)]
pub struct Journal(Option<File>);

impl Journal {
    /// At this path, if any.
    pub fn new(path: Option<PathBuf>) -> Self {
        let open = |path: PathBuf| OpenOptions::new().append(true).create(true).open(path);
        Self(path.map(|path| open(path).expect("the journal can be written")))
    }

    /// Adds a line.
    pub fn write(&self, event: &str) {
        if let Some(mut file) = self.0.as_ref() {
            file.write_all(format!("{event}\n").as_bytes()).expect("the journal can be written");
        }
    }
}
