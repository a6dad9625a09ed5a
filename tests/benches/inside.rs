//! What each step of a call takes by itself, without processes, pipes and wake-ups: time, and allocations.
//!
//! ```text
//!  client ─► read_request ─► pass_to_runner ─► take_from_bridge ─► write_line ─► server
//!  client ◄─ write_reply ◄── take_from_runner ◄─ pass_to_bridge ◄─ read_line ◄── server
//! ```
//!
//! Owns the messages. Must not judge: what has a budget is the whole call (`scripts/bench --budget-only`). `cargo test` does
//! each step once.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test support")]

use std::fmt;

use divan::counter::BytesCount;
use divan::{AllocProfiler, Bencher};
use harbor_bridge::link::Answer;
use harbor_ipc_proto::client::McpCallToolResult;
use harbor_ipc_proto::client::envelope::{Envelope, Incoming};
use harbor_ipc_proto::frame::{FrameDecoder, HEADER, Popped, put_frame};
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::codec::{get_message, put_message};
use harbor_ipc_proto::link::runner::{Era, FromRunner, Operation, Outcome, ToRunner};
use harbor_runner::mcp::line::{self, LineSplitter};
use harbor_runner::mcp::message::{self, Message};
use harbor_runner::mcp::write::{Request, put_request};

#[global_allocator]
static COUNTED: AllocProfiler = AllocProfiler::system();

/// The longest line or frame here.
const MOST: usize = 1 << 20;

/// What a call carries: as an argument on its way there, as its result on the way back.
#[derive(Clone, Copy)]
enum Carried {
    Text(usize),
    Structured(usize),
}

const ALL: [Carried; 3] = [Carried::Text(100), Carried::Text(64 * 1024), Carried::Structured(64 * 1024)];

impl fmt::Debug for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(bytes) if *bytes < 1024 => write!(f, "{bytes} B text"),
            Self::Text(bytes) => write!(f, "{} KB text", bytes / 1024),
            Self::Structured(bytes) => write!(f, "{} KB structured", bytes / 1024),
        }
    }
}

impl Carried {
    /// JSON text of an object.
    fn object(self) -> String {
        match self {
            Self::Text(bytes) => {
                format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, "x".repeat(bytes))
            }
            Self::Structured(bytes) => {
                let row = r#"{"id":1,"name":"row 1","ratio":0.1,"tags":["a","b"]}"#;
                let rows = vec![row; bytes / row.len()].join(",");
                format!(r#"{{"content":[],"structuredContent":{{"rows":[{rows}]}}}}"#)
            }
        }
    }

    fn operation(self) -> Operation<'static> {
        Operation::CallTool { name: "echo".into(), arguments: self.object().into(), task: None }
    }

    fn call(self) -> ToRunner<'static> {
        let operation = self.operation();
        ToRunner::Call { server: 1, id: 1, progress: false, capabilities: None, operation }
    }

    fn reply(self) -> FromRunner<'static> {
        FromRunner::Reply { server: 1, id: 1, outcome: Outcome::Result(self.object().into()) }
    }
}

fn main() {
    divan::main();
}

/// Times `step`, told with the bytes that it has to do with.
fn time<T>(bencher: Bencher<'_, '_>, bytes: usize, step: impl Fn() -> T + Sync) {
    bencher.counter(BytesCount::new(bytes)).bench(step);
}

#[divan::bench(args = ALL)]
fn read_request(bencher: Bencher<'_, '_>, carried: Carried) {
    let frame = format!(
        r#"{{"type":"mcp_call_tool","request_id":"1","server_id":"time","tool_name":"echo","arguments":{}}}"#,
        carried.object()
    );
    let mut framed = Vec::new();
    put_frame(&mut framed, |out| out.extend_from_slice(frame.as_bytes()));
    time(bencher, frame.len(), || {
        let mut frames = FrameDecoder::new(MOST);
        frames.push(&framed);
        let Some(Popped::Frame(frame)) = frames.pop() else { panic!("no frame") };
        Incoming::parse(frame).unwrap()
    });
}

#[divan::bench(args = ALL)]
fn pass_to_runner(bencher: Bencher<'_, '_>, carried: Carried) {
    let call = carried.call();
    time(bencher, carried.object().len(), || put(&call));
}

#[divan::bench(args = ALL)]
fn take_from_bridge(bencher: Bencher<'_, '_>, carried: Carried) {
    let framed = put(&carried.call());
    time(bencher, framed.len(), || get_message::<ToRunner<'_>>(&framed[HEADER..]).unwrap());
}

#[divan::bench(args = ALL)]
fn write_line(bencher: Bencher<'_, '_>, carried: Carried) {
    let operation = carried.operation();
    time(bencher, carried.object().len(), || {
        let mut out = Vec::new();
        put_request(&mut out, 1, &Request::of(&operation, Era::Legacy).unwrap(), false, None);
        out
    });
}

#[divan::bench(args = ALL)]
fn read_line(bencher: Bencher<'_, '_>, carried: Carried) {
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}}}"#, carried.object()) + "\n";
    time(bencher, line.len(), || {
        let mut lines = LineSplitter::new(MOST);
        feed(&mut lines, line.as_bytes());
        let Some(line::Popped::Line(line)) = lines.pop() else { panic!("no line") };
        assert!(matches!(message::read(line), Ok(Message::Response { id: 1, .. })));
    });
}

#[divan::bench(args = ALL)]
fn pass_to_bridge(bencher: Bencher<'_, '_>, carried: Carried) {
    let reply = carried.reply();
    time(bencher, carried.object().len(), || put(&reply));
}

#[divan::bench(args = ALL)]
fn take_from_runner(bencher: Bencher<'_, '_>, carried: Carried) {
    let framed = put(&carried.reply());
    time(bencher, framed.len(), || {
        let FromRunner::Reply { outcome, .. } = get_message(&framed[HEADER..]).unwrap() else {
            panic!("no reply")
        };
        Answer::from(outcome)
    });
}

#[divan::bench(args = ALL)]
fn write_reply(bencher: Bencher<'_, '_>, carried: Carried) {
    let envelope = Envelope::Typed("1".into());
    let reply = McpCallToolResult { result: Json::from_valid(carried.object()) };
    time(bencher, carried.object().len(), || {
        let mut out = Vec::new();
        put_frame(&mut out, |out| envelope.put_reply(out, "mcp_call_tool", &reply));
        out
    });
}

fn feed(lines: &mut LineSplitter, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let space = lines.space();
        let n = space.len().min(bytes.len());
        space[..n].copy_from_slice(&bytes[..n]);
        lines.filled(n);
        bytes = &bytes[n..];
    }
}

fn put(message: &impl bincode::Encode) -> Vec<u8> {
    let mut out = Vec::new();
    put_message(&mut out, message);
    out
}
