//! Scripts in the real program, on two pipes.

#![allow(clippy::unwrap_used, reason = "test support")]

mod attacks;
mod ends;
mod globals;
mod mcp;

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::thread;

use serde_json::Value;

/// What a script has left.
#[derive(Debug)]
struct Ran {
    /// Its lines on stdout.
    lines: Vec<String>,
    /// Its log.
    log: String,
    /// Its exit code; None if a signal ended it.
    code: Option<i32>,
}

impl Ran {
    /// Its lines as JSON.
    fn messages(&self) -> Vec<Value> {
        self.lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Its only line, of a script that ended in order.
    #[track_caller]
    fn line(&self) -> &str {
        assert_eq!((self.code, self.lines.len()), (Some(0), 1), "{self:?}");
        &self.lines[0]
    }
}

/// Runs a script with these arguments and this input to its end.
fn run_with(arguments: &[&str], script: &str, input: &[u8]) -> Ran {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("server.js");
    fs::write(&file, script).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_harbor-runner-js"));
    command.args(arguments).arg(&file).env_clear().env("KEY", "välue");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_owned());
    // A script that ends early reads no further.
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let lines = text(output.stdout).lines().map(str::to_owned).collect();
    Ran { lines, log: text(output.stderr), code: output.status.code() }
}

fn run(script: &str) -> Ran {
    run_with(&[], script, b"")
}

/// What an expression is, as JSON.
#[track_caller]
fn value(expression: &str) -> Value {
    let ran = run(&format!("MCP.writeLine(JSON.stringify(await (async () => {expression})()));"));
    serde_json::from_str(ran.line()).unwrap()
}
