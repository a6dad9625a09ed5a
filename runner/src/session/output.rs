//! The output of a process: read only in the bridge's time, and taken line by line.
//!
//! Owns which line is a message and which is for the server log. Must never wait longer than the bridge does.

use std::io;

use harbor_child::capacity::{WIDE, widen_if_full};
use harbor_child::reading::read_some;
use harbor_ipc_proto::link::runner::LogSource;
use tokio::net::unix::pipe;

use super::Session;
use super::plan::Plan;
use crate::logs::{Tail, readable};
use crate::mcp::line::{LineSplitter, Popped};

/// Reads a server's output no faster than the bridge takes it.
pub(super) async fn read_with_room(
    session: &Session,
    stdout: &mut pipe::Receiver,
    lines: &mut LineSplitter,
) -> io::Result<usize> {
    session.up.room().await;
    let n = read_some(stdout, lines.space()).await?;
    widen_if_full(stdout, n, WIDE);
    Ok(n)
}

/// A server's line is a message; a program's is something to read.
pub(super) fn take_line(session: &Session, plan: &Plan, tail: &mut Tail, line: &Popped<'_>) {
    match plan.is_server {
        true => session.on_line(line),
        false => log_line(session, LogSource::Stdout, tail, line),
    }
}

/// A line of its stderr.
pub(super) fn log_stderr(session: &Session, tail: &mut Tail, line: &Popped<'_>) {
    log_line(session, LogSource::Stderr, tail, line);
}

fn log_line(session: &Session, source: LogSource, tail: &mut Tail, line: &Popped<'_>) {
    let text = match line {
        Popped::Line(line) => readable(line, false),
        Popped::Overlong(head) => readable(head, true),
        Popped::OverlongEnd(_) => return,
    };
    // A flood costs its server's runner no more than counting it.
    if session.up.log(session.number, source, None, &text) {
        session.on_line_said(&text);
    }
    tail.add(&text);
}
