//! The program of a person, which runs beside the servers and has secrets in its memory.
//!
//! Must never outlive its owner.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use harbor_tests::Process;
use serde_json::Value;

/// The program of the person, and what it says of itself.
pub struct Person {
    child: Child,
    pub process: Process,
    pub facts: Value,
}

impl Drop for Person {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

impl Person {
    /// Starts it.
    pub fn begin(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let process = Process::of(child.id()).unwrap();
        Self { child, process, facts: serde_json::from_str(&line).unwrap() }
    }
}
