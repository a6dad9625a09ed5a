//! The steps of a call, each by itself: no processes, pipes and wake-ups.
//!
//! ```text
//!  client ─► read_request ─► consent ─► pass_to_runner ─► take_from_bridge ─► write_line ─► server
//!  client ◄─ write_reply ◄── take_from_runner ◄─ pass_to_bridge ◄─────── read_line ◄── server
//! ```
//!
//! Each is made for what the call carries, and given as what can be done again and again. Owns the messages. Must never
//! measure: benches/inside.rs takes the time, tests/tests/scale/allocations.rs counts.

use std::fmt;

use harbor_bridge::link::ServerAnswer;
use harbor_ipc_proto::client::McpCallToolResult;
use harbor_ipc_proto::client::envelope::{Envelope, Incoming};
use harbor_ipc_proto::frame::{FrameDecoder, HEADER, Popped, put_frame};
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::codec::{get_message, put_message};
use harbor_ipc_proto::link::runner::{Era, FromRunner, Operation, Outcome, ToRunner};
use harbor_policy::consent::answers::{Answers, RememberedAnswer as Approved};
use harbor_policy::consent::facts::{Effect, Holding};
use harbor_policy::consent::typed::Typed;
use harbor_policy::consent::{Before, Call, Names, Read, Verdict, Who, judge};
use harbor_runner::mcp::line::{self, LineSplitter};
use harbor_runner::mcp::message::{self, Message};
use harbor_runner::mcp::write::{Request, put_request};

/// The longest line or frame here.
const MOST: usize = 1 << 20;

/// Answers that stand meanwhile.
const ANSWERED: usize = 100;

/// What a call carries: as its arguments on the way there, as its result on the way back.
#[derive(Clone, Copy)]
pub enum Carried {
    /// A text of so many bytes.
    Text(usize),
    /// Rows of about so many bytes.
    Structured(usize),
}

/// What the benchmark driver has calls carry, too.
pub const CARRIED: [Carried; 3] =
    [Carried::Text(100), Carried::Text(64 * 1024), Carried::Structured(64 * 1024)];

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

/// The bridge takes a request out of its stream.
pub fn read_request(carried: Carried) -> impl Fn() -> Incoming {
    let request = format!(
        r#"{{"type":"mcp_call_tool","request_id":"1","server_id":"time","tool_name":"echo","arguments":{}}}"#,
        carried.object()
    );
    let framed = written(|out| {
        put_frame(out, |out| out.extend_from_slice(request.as_bytes()));
    });
    move || {
        let mut frames = FrameDecoder::new(MOST);
        frames.push(&framed);
        let Some(Popped::Frame(frame)) = frames.pop() else { panic!("no frame") };
        Incoming::parse(frame).unwrap()
    }
}

/// The bridge decides that an AI client's call runs without a question: when it comes, and again when it is made. Whether it does.
pub fn consent(carried: Carried) -> impl Fn() -> bool {
    let (arguments, hash, mut answers) = (carried.object(), [0; 32], Answers::default());
    (0..ANSWERED).for_each(|tool| {
        answers.add(Approved::always("owner", ("mail", &format!("tool{tool}")), hash, tool.to_string(), 0));
    });
    let (read, typed, files) = (Read::default(), Typed::new(), Names::new());
    move || {
        let effect = Effect::of(Some(r#"{"readOnlyHint":true,"openWorldHint":false}"#), None, None);
        let call = Call {
            principal: "client://editor",
            chat: None,
            source: "time",
            tool: "echo",
            hash: Some(&hash),
            arguments: &arguments,
            schema: None,
            effect,
            is_sure: false,
            holding: Holding::UNKNOWN,
            name: "time",
            within: false,
            looks: false,
            ids: &[],
            files: &files,
        };
        let before = Before { read: &read, typed: &typed, typed_calls: 0, answers: &answers, now: 1 };
        let who = Who::Client { guard: false };
        let runs = || matches!(judge(who, &call, &before), Verdict::Run(_));
        runs() && runs()
    }
}

/// The bridge writes it for the runner.
pub fn pass_to_runner(carried: Carried) -> impl Fn() -> Vec<u8> {
    let call = carried.call();
    move || written(|out| put_message(out, &call))
}

/// The runner reads that; whether it is a call.
pub fn take_from_bridge(carried: Carried) -> impl Fn() -> bool {
    let framed = pass_to_runner(carried)();
    move || matches!(get_message(&framed[HEADER..]), Ok(ToRunner::Call { .. }))
}

/// The runner writes the line for the server.
pub fn write_line(carried: Carried) -> impl Fn() -> Vec<u8> {
    let operation = carried.operation();
    move || {
        let request = Request::of(&operation, Era::Legacy).unwrap();
        written(|out| put_request(out, 1, &request, None, None))
    }
}

/// The runner reads the server's answer; whether it is one.
pub fn read_line(carried: Carried) -> impl Fn() -> bool {
    let answer = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}}}"#, carried.object()) + "\n";
    move || {
        let (mut lines, mut rest) = (LineSplitter::new(MOST), answer.as_bytes());
        while !rest.is_empty() {
            let space = lines.space();
            let n = space.len().min(rest.len());
            space[..n].copy_from_slice(&rest[..n]);
            lines.filled(n);
            rest = &rest[n..];
        }
        let Some(line::Popped::Line(line)) = lines.pop() else { panic!("no line") };
        matches!(message::read(line), Ok(Message::Response { id: 1, .. }))
    }
}

/// The runner writes that for the bridge.
pub fn pass_to_bridge(carried: Carried) -> impl Fn() -> Vec<u8> {
    let reply = carried.reply();
    move || written(|out| put_message(out, &reply))
}

/// The bridge reads and checks it.
pub fn take_from_runner(carried: Carried) -> impl Fn() -> ServerAnswer {
    let framed = pass_to_bridge(carried)();
    move || {
        let Ok(FromRunner::Reply { outcome, .. }) = get_message(&framed[HEADER..]) else {
            panic!("no reply")
        };
        outcome.into()
    }
}

/// The bridge writes the answer's frame.
pub fn write_reply(carried: Carried) -> impl Fn() -> Vec<u8> {
    let envelope = Envelope::Typed("1".into());
    let reply = McpCallToolResult { result: Json::from_valid(carried.object()), beside: None };
    move || {
        written(|out| {
            put_frame(out, |out| envelope.put_reply(out, "mcp_call_tool", &reply));
        })
    }
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out);
    out
}
