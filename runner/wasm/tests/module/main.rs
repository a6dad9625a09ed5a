//! Modules in the real program, on two pipes.

#![allow(clippy::unwrap_used, reason = "test support")]

mod ends;
mod reach;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

/// The fuel and time that a module has left.
#[derive(Debug)]
struct Ran {
    /// Its stdout.
    said: Vec<u8>,
    /// Its log.
    log: String,
    /// Its exit code; None if a signal ended it.
    code: Option<i32>,
}

impl Ran {
    /// Its stdout as text, of a module that ended in order.
    #[track_caller]
    fn text(&self) -> &str {
        assert_eq!((self.code, self.log.as_str()), (Some(0), ""), "{self:?}");
        std::str::from_utf8(&self.said).unwrap()
    }
}

/// Runs a file with these arguments and this input to its end.
fn run_file(file: &Path, arguments: &[&str], input: &[u8]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_harbor-runner-wasm"));
    command.arg(file).args(arguments).env_clear().env("KEY", "välue");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_owned());
    // A module that ends early reads no further.
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Ran { said: output.stdout, log: String::from_utf8(output.stderr).unwrap(), code: output.status.code() }
}

/// Runs a file of these bytes.
fn run_bytes(bytes: &[u8], arguments: &[&str], input: &[u8]) -> Ran {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("server.wasm");
    fs::write(&file, bytes).unwrap();
    run_file(&file, arguments, input)
}

/// The functions of the system that the tests' modules call, and a memory of one page.
const HEAD: &str = r#"
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_get" (func $environ_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_get" (func $args_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "sock_accept" (func $sock_accept (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "sock_send" (func $sock_send (param i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open"
    (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_create_directory" (func $mkdir (param i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
"#;

/// A module with these functions and data behind the head.
fn module(body: &str) -> Vec<u8> {
    wat::parse_str(format!("(module {HEAD} {body})")).unwrap()
}

/// Runs a module whose `_start` is this.
fn run(arguments: &[&str], start: &str, input: &[u8]) -> Ran {
    run_bytes(&module(&format!(r#"(func (export "_start") {start})"#)), arguments, input)
}

/// Runs a module that writes the text which an expression makes: its begin and length, left on the stack in this order.
fn shown(arguments: &[&str], start: &str) -> Ran {
    let write = "(local $begin i32) (local $length i32)";
    let end = "local.set $length local.set $begin
      (i32.store (i32.const 0) (local.get $begin)) (i32.store (i32.const 4) (local.get $length))
      (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))";
    run(arguments, &format!("{write} {start} {end}"), b"")
}
