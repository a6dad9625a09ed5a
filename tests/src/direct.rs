//! An MCP server on two pipes, without Harbor in between: for the doubles' own tests and as a yardstick.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, Command, ExitStatus};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::{LIMIT, Process, Program};

/// A server and the two ends of its pipes.
#[derive(Debug)]
pub struct Direct {
    program: Program,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    next_id: u64,
}

impl Direct {
    /// Starts it. Nothing is said yet.
    #[must_use]
    pub fn start(command: &mut Command) -> Self {
        let mut program = Program::start(command);
        let (stdin, stdout) = program.pipes();
        let (sender, lines) = channel();
        thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            loop {
                let mut line = Vec::new();
                match reader.read_until(b'\n', &mut line) {
                    Ok(1..) if sender.send(line).is_ok() => {}
                    _ => return,
                }
            }
        });
        Self { program, stdin: Some(stdin), lines, next_id: 1 }
    }

    /// Makes contact as a legacy client.
    #[must_use]
    pub fn initialized(mut self) -> Self {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let answer = self.ask("initialize", &params);
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        self
    }

    /// Sends one line. A server that is gone is noticed when reading.
    pub fn send(&mut self, line: &str) {
        let _ = self.try_send(line);
    }

    /// Sends one line; false when nobody can read it any more.
    pub fn try_send(&mut self, line: &str) -> bool {
        let stdin = self.stdin.as_mut();
        stdin.is_some_and(|stdin| {
            stdin.write_all(line.as_bytes()).and_then(|()| stdin.write_all(b"\n")).is_ok()
        })
    }

    /// Sends a request; returns its id.
    pub fn send_request(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        id
    }

    /// The next line as it came, with its newline; `None` at the end of stdout.
    ///
    /// # Panics
    /// When neither comes within `limit`.
    #[must_use]
    pub fn next_line(&self, limit: Duration) -> Option<Vec<u8>> {
        match self.lines.recv_timeout(limit) {
            Ok(line) => Some(line),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => None,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("no line within {limit:?}"),
        }
    }

    /// The next line, if one comes within `limit`.
    #[must_use]
    pub fn line_within(&self, limit: Duration) -> Option<Vec<u8>> {
        self.lines.recv_timeout(limit).ok()
    }

    /// The next line as JSON.
    ///
    /// # Panics
    /// When the next line is none.
    #[must_use]
    pub fn next_message(&self) -> Value {
        let line = self.next_line(LIMIT).expect("a line");
        serde_json::from_slice(&line)
            .unwrap_or_else(|_| panic!("no JSON: {}", String::from_utf8_lossy(&line)))
    }

    /// Sends a request and waits for its answer; other messages on the way are dropped.
    #[must_use]
    pub fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send_request(method, params);
        loop {
            let message = self.next_message();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    /// Calls a tool; returns the whole answer.
    #[must_use]
    pub fn tool(&mut self, name: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": name, "arguments": arguments}))
    }

    /// Closes its stdin.
    pub fn close(&mut self) {
        self.stdin = None;
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        self.program.signal(signal);
    }

    /// Its process.
    #[must_use]
    pub fn process(&self) -> Process {
        self.program.process()
    }

    /// What it wrote to stderr.
    #[must_use]
    pub fn stderr(&self) -> String {
        self.program.stderr()
    }

    /// How it ended; `None` when it still runs after `limit`.
    pub fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        self.program.wait(limit)
    }
}
