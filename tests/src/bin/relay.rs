//! A byte relay: `relay COMMAND ARGS…` starts the command and copies stdin to it and its stdout to stdout.
//!
//! Two of these in a row are the floor that the benchmark compares Harbor with: the same number of processes and
//! hops, and nothing done in them. So this must never look at what it copies, nor do more than one read and one
//! write per piece.
#![allow(clippy::expect_used, clippy::print_stderr, reason = "test support")]

use std::env;
use std::io::{self, Read, Write};
use std::process::{Command, Stdio, exit};
use std::thread;

const BUFFER: usize = 64 * 1024;

fn main() {
    let mut args = env::args_os().skip(1);
    let Some(program) = args.next() else {
        eprintln!("usage: relay COMMAND ARGS…");
        exit(2);
    };
    let mut command = Command::new(program);
    let mut child =
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the command starts");
    let (stdin, stdout) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
    // Dropping the child's stdin at the end of ours is what tells it to end. Not joined: a child that ends first
    // leaves this thread in a read that may never return.
    thread::spawn(move || copy(io::stdin(), stdin));
    copy(stdout, Unbuffered::stdout());
    exit(child.wait().ok().and_then(|status| status.code()).unwrap_or(1));
}

fn copy(mut from: impl Read, mut to: impl Write) {
    let mut buffer = vec![0; BUFFER];
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..n]).is_err() {
            return;
        }
    }
}

/// Stdout without the line buffer that the standard library puts before it.
struct Unbuffered(std::fs::File);

impl Unbuffered {
    fn stdout() -> Self {
        use std::os::fd::AsFd;
        Self(io::stdout().as_fd().try_clone_to_owned().expect("stdout is open").into())
    }
}

impl Write for Unbuffered {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
