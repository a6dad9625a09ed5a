//! The messages between the bridge and a runner.
//!
//! `server` is the bridge's number for one start of one server, so that a shared runner can hold many and a
//! late message of an earlier start finds nobody. Append only; see the golden bytes below.

use std::borrow::Cow;

use bincode::{BorrowDecode, Encode};

/// From the bridge to a runner.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum ToRunner<'a> {
    /// First message: the bridge's link protocol and build.
    Hello {
        /// [`crate::LINK_PROTOCOL`].
        protocol: u32,
        /// [`crate::BUILD`].
        build: Cow<'a, str>,
    },
    /// Start a server and make contact. Answered by `Started`, then `Connected` or `Ended`.
    Connect {
        /// The number that this start gets.
        server: u32,
        /// What to start.
        launch: Launch<'a>,
    },
    /// Stop a server by the ladder. Answered by `Ended`.
    Disconnect {
        /// Which.
        server: u32,
    },
    /// Ask a server. Answered by exactly one `Reply`, unless cancelled or the server ends.
    Call {
        /// Which server.
        server: u32,
        /// The bridge's id for this call.
        id: u64,
        /// Whether to ask the server for progress.
        progress: bool,
        /// What to ask.
        operation: Operation<'a>,
    },
    /// Nobody waits for this call any more: tell the server, drop its answer.
    Cancel {
        /// Which server.
        server: u32,
        /// The call.
        id: u64,
        /// Why, for the server.
        reason: Cow<'a, str>,
    },
    /// The answer to an `Ask`.
    Answer {
        /// Which server.
        server: u32,
        /// The question's number.
        ask: u64,
        /// The answer.
        answer: AskAnswer<'a>,
    },
    /// Stop all servers by the ladder and exit.
    Shutdown,
}

/// What to start, and how.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Launch<'a> {
    /// The program: a path, or a name to look up in the PATH of `env`.
    pub command: Cow<'a, str>,
    /// Its arguments.
    pub args: Vec<Cow<'a, str>>,
    /// Its whole environment.
    pub env: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// The directory it runs in.
    pub cwd: Cow<'a, str>,
    /// What is known of its generation from an earlier start.
    pub known_era: Option<Era>,
    /// Whether it is told that it may ask for roots.
    pub offers_roots: bool,
    /// How long start and contact may take together, in milliseconds.
    pub start_timeout_ms: u64,
    /// The longest line that is read from it, in bytes.
    pub max_line: u64,
    /// How long to wait after closing its stdin, in milliseconds.
    pub eof_grace_ms: u64,
    /// How long to wait after SIGTERM, in milliseconds.
    pub term_grace_ms: u64,
}

/// The generation of MCP that a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, BorrowDecode)]
pub enum Era {
    /// 2025-11-25 and older: `initialize`, a session.
    Legacy,
    /// 2026-07-28 and newer: `server/discover`, metadata on each request.
    Modern,
}

/// What to ask a server.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum Operation<'a> {
    /// `tools/list`, all pages; answered by `Items`.
    ListTools,
    /// `resources/list`, all pages; answered by `Items`.
    ListResources,
    /// `resources/templates/list`, all pages; answered by `Items`.
    ListResourceTemplates,
    /// `prompts/list`, all pages; answered by `Items`.
    ListPrompts,
    /// `tools/call`.
    CallTool {
        /// The tool.
        name: Cow<'a, str>,
        /// JSON object.
        arguments: Cow<'a, str>,
        /// JSON object: task parameters.
        task: Option<Cow<'a, str>>,
    },
    /// `resources/read`.
    ReadResource {
        /// The resource.
        uri: Cow<'a, str>,
    },
    /// `prompts/get`.
    GetPrompt {
        /// The prompt.
        name: Cow<'a, str>,
        /// JSON object.
        arguments: Cow<'a, str>,
    },
    /// `completion/complete`.
    Complete {
        /// JSON object.
        reference: Cow<'a, str>,
        /// JSON object.
        argument: Cow<'a, str>,
        /// JSON object.
        context: Option<Cow<'a, str>>,
    },
    /// `resources/subscribe`, or a wider `subscriptions/listen`.
    Subscribe {
        /// The resource.
        uri: Cow<'a, str>,
    },
    /// The opposite.
    Unsubscribe {
        /// The resource.
        uri: Cow<'a, str>,
    },
    /// `logging/setLevel`, or the level in the metadata of later requests.
    SetLogLevel {
        /// MCP's name of the level.
        level: Cow<'a, str>,
    },
    /// `ping`, or `server/discover`.
    Ping,
    /// A request of the tasks extension.
    Task {
        /// `tasks/…`.
        method: Cow<'a, str>,
        /// JSON object.
        params: Cow<'a, str>,
    },
}

/// From a runner to the bridge.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum FromRunner<'a> {
    /// First message: the runner's link protocol and build.
    Hello {
        /// [`crate::LINK_PROTOCOL`].
        protocol: u32,
        /// [`crate::BUILD`].
        build: Cow<'a, str>,
    },
    /// The server's process exists.
    Started {
        /// Which server.
        server: u32,
        /// Its process id, which is also its process group.
        pid: u32,
    },
    /// Contact is made; the server can be asked.
    Connected {
        /// Which server.
        server: u32,
        /// What it said about itself.
        info: ServerInfo<'a>,
    },
    /// The answer to a `Call`.
    Reply {
        /// Which server.
        server: u32,
        /// The bridge's id of the call.
        id: u64,
        /// How it ended.
        outcome: Outcome<'a>,
    },
    /// A call goes on. Numbers are JSON text.
    Progress {
        /// Which server.
        server: u32,
        /// The bridge's id of the call.
        id: u64,
        /// How far it is.
        progress: Cow<'a, str>,
        /// What it will be at the end.
        total: Option<Cow<'a, str>>,
        /// What the server says about it.
        message: Option<Cow<'a, str>>,
    },
    /// A list of the server has changed.
    ListChanged {
        /// Which server.
        server: u32,
        /// Which list.
        list: List,
    },
    /// A resource has changed.
    ResourceUpdated {
        /// Which server.
        server: u32,
        /// The resource.
        uri: Cow<'a, str>,
    },
    /// A log line.
    Log {
        /// Which server.
        server: u32,
        /// Where it came from.
        source: LogSource,
        /// MCP's level, for MCP messages.
        level: Option<Cow<'a, str>>,
        /// The text, bounded.
        text: Cow<'a, str>,
    },
    /// The server asks its client something. Answered by one `Answer`.
    Ask {
        /// Which server.
        server: u32,
        /// The question's number.
        ask: u64,
        /// MCP's method.
        method: Cow<'a, str>,
        /// JSON object.
        params: Cow<'a, str>,
    },
    /// The server is gone, all of it; nothing more comes for this number.
    Ended {
        /// Which server.
        server: u32,
        /// Why.
        cause: EndCause<'a>,
        /// The last lines of its stderr, bounded.
        stderr_tail: Cow<'a, str>,
    },
}

/// A list that a server offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub enum List {
    /// Tools.
    Tools,
    /// Resources and resource templates.
    Resources,
    /// Prompts.
    Prompts,
}

/// Where a log line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub enum LogSource {
    /// The server's stderr.
    Stderr,
    /// The server's stdout, where it was no message.
    Stdout,
    /// `notifications/message`.
    Mcp,
}

/// What a server said about itself at contact.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct ServerInfo<'a> {
    /// Its generation.
    pub era: Era,
    /// The MCP revision in use.
    pub protocol_version: Cow<'a, str>,
    /// Its name.
    pub name: Cow<'a, str>,
    /// Its version.
    pub version: Cow<'a, str>,
    /// JSON object.
    pub capabilities: Cow<'a, str>,
    /// How to use it.
    pub instructions: Option<Cow<'a, str>>,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum Outcome<'a> {
    /// The server's result, JSON text as it wrote it.
    Result(Cow<'a, str>),
    /// The server's JSON-RPC error.
    ServerError {
        /// Its number.
        code: i64,
        /// Its sentence.
        message: Cow<'a, str>,
        /// JSON text.
        data: Option<Cow<'a, str>>,
    },
    /// There is no answer.
    Failed(CallFailure<'a>),
    /// A whole list: JSON text of an array, items as the server wrote them.
    Items {
        /// The array.
        items: Cow<'a, str>,
        /// How many items it has.
        count: u32,
    },
}

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum CallFailure<'a> {
    /// The server is not connected.
    NotConnected,
    /// The server does not offer this (capability missing, or its generation has no such request).
    NotOffered(Cow<'a, str>),
    /// The answer breaks the protocol.
    Malformed(Cow<'a, str>),
    /// The answer is longer than the longest line that is read.
    TooLarge {
        /// That limit in bytes.
        limit: u64,
    },
    /// The server does not read its stdin, and too much is waiting for it already.
    Congested,
    /// The server asked for something that it was not offered, or asked too often.
    InputRefused(Cow<'a, str>),
}

/// The bridge's answer to a server's question.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum AskAnswer<'a> {
    /// JSON text: the result.
    Result(Cow<'a, str>),
    /// MCP's refusal.
    Refused {
        /// JSON-RPC's number.
        code: i64,
        /// The sentence.
        message: Cow<'a, str>,
    },
}

/// Why a server is gone.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum EndCause<'a> {
    /// It was told to stop.
    Stopped,
    /// It exited by itself.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// A signal ended it.
    Signalled {
        /// The signal's number.
        signal: i32,
    },
    /// It could not be started.
    SpawnFailed {
        /// Which step failed: operation and subject.
        what: Cow<'a, str>,
        /// The operating system's error number.
        errno: i32,
    },
    /// It exited, or closed stdout, before contact was made.
    ExitedBeforeContact {
        /// Its exit code; none when a signal ended it or it only closed stdout.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
    },
    /// Contact took too long.
    ContactTimeout {
        /// The limit in milliseconds.
        limit_ms: u64,
    },
    /// It answered contact with an error.
    ContactRefused {
        /// JSON-RPC's number.
        code: i64,
        /// Its sentence.
        message: Cow<'a, str>,
    },
    /// It answered contact with something that is no MCP.
    ContactMalformed(Cow<'a, str>),
    /// It speaks only revisions that Harbor does not.
    UnknownProtocolVersion(Cow<'a, str>),
    /// It closed its stdout while its process went on; it was ended.
    ClosedStdout,
}

#[cfg(test)]
mod tests {
    use super::super::codec::{CodecError, get_message, put_message};
    use super::*;

    fn bytes<M: Encode>(message: &M) -> Vec<u8> {
        let mut out = Vec::new();
        put_message(&mut out, message);
        out.split_off(4)
    }

    fn launch() -> Launch<'static> {
        Launch {
            command: "node".into(),
            args: vec!["x.js".into()],
            env: vec![("A".into(), "b".into())],
            cwd: "/".into(),
            known_era: Some(Era::Modern),
            offers_roots: false,
            start_timeout_ms: 5,
            max_line: 6,
            eof_grace_ms: 7,
            term_grace_ms: 8,
        }
    }

    /// Every message once, in wire order, with its bytes. A changed line here is a changed protocol.
    #[test]
    fn golden_bytes_to_runner() {
        let call = |operation| ToRunner::Call { server: 1, id: 2, progress: true, operation };
        let golden: Vec<(ToRunner<'_>, &[u8])> = vec![
            (ToRunner::Hello { protocol: 1, build: "b".into() }, b"\x00\x01\x01b"),
            (
                ToRunner::Connect { server: 1, launch: launch() },
                b"\x01\x01\x04node\x01\x04x.js\x01\x01A\x01b\x01/\x01\x01\x00\x05\x06\x07\x08",
            ),
            (ToRunner::Disconnect { server: 1 }, b"\x02\x01"),
            (call(Operation::ListTools), b"\x03\x01\x02\x01\x00"),
            (call(Operation::ListResources), b"\x03\x01\x02\x01\x01"),
            (call(Operation::ListResourceTemplates), b"\x03\x01\x02\x01\x02"),
            (call(Operation::ListPrompts), b"\x03\x01\x02\x01\x03"),
            (
                call(Operation::CallTool { name: "t".into(), arguments: "{}".into(), task: None }),
                b"\x03\x01\x02\x01\x04\x01t\x02{}\x00",
            ),
            (call(Operation::ReadResource { uri: "u".into() }), b"\x03\x01\x02\x01\x05\x01u"),
            (
                call(Operation::GetPrompt { name: "p".into(), arguments: "{}".into() }),
                b"\x03\x01\x02\x01\x06\x01p\x02{}",
            ),
            (
                call(Operation::Complete { reference: "{}".into(), argument: "{}".into(), context: None }),
                b"\x03\x01\x02\x01\x07\x02{}\x02{}\x00",
            ),
            (call(Operation::Subscribe { uri: "u".into() }), b"\x03\x01\x02\x01\x08\x01u"),
            (call(Operation::Unsubscribe { uri: "u".into() }), b"\x03\x01\x02\x01\x09\x01u"),
            (call(Operation::SetLogLevel { level: "info".into() }), b"\x03\x01\x02\x01\x0a\x04info"),
            (call(Operation::Ping), b"\x03\x01\x02\x01\x0b"),
            (
                call(Operation::Task { method: "tasks/get".into(), params: "{}".into() }),
                b"\x03\x01\x02\x01\x0c\x09tasks/get\x02{}",
            ),
            (ToRunner::Cancel { server: 1, id: 2, reason: "r".into() }, b"\x04\x01\x02\x01r"),
            (
                ToRunner::Answer { server: 1, ask: 3, answer: AskAnswer::Result("{}".into()) },
                b"\x05\x01\x03\x00\x02{}",
            ),
            (
                ToRunner::Answer {
                    server: 1,
                    ask: 3,
                    answer: AskAnswer::Refused { code: -1, message: "m".into() },
                },
                b"\x05\x01\x03\x01\x01\x01m",
            ),
            (ToRunner::Shutdown, b"\x06"),
        ];
        for (message, wanted) in golden {
            let written = bytes(&message);
            assert_eq!(written, wanted, "{message:?}");
            assert_eq!(get_message::<ToRunner<'_>>(&written), Ok(message));
        }
    }

    #[test]
    fn golden_bytes_from_runner() {
        let reply = |outcome| FromRunner::Reply { server: 1, id: 2, outcome };
        let failed = |failure| reply(Outcome::Failed(failure));
        let ended = |cause| FromRunner::Ended { server: 1, cause, stderr_tail: "s".into() };
        let info = ServerInfo {
            era: Era::Legacy,
            protocol_version: "v".into(),
            name: "n".into(),
            version: "1".into(),
            capabilities: "{}".into(),
            instructions: None,
        };
        let golden: Vec<(FromRunner<'_>, &[u8])> = vec![
            (FromRunner::Hello { protocol: 1, build: "b".into() }, b"\x00\x01\x01b"),
            (FromRunner::Started { server: 1, pid: 9 }, b"\x01\x01\x09"),
            (FromRunner::Connected { server: 1, info }, b"\x02\x01\x00\x01v\x01n\x011\x02{}\x00"),
            (reply(Outcome::Result("{}".into())), b"\x03\x01\x02\x00\x02{}"),
            (
                reply(Outcome::ServerError { code: -1, message: "m".into(), data: Some("1".into()) }),
                b"\x03\x01\x02\x01\x01\x01m\x01\x011",
            ),
            (reply(Outcome::Items { items: "[1]".into(), count: 1 }), b"\x03\x01\x02\x03\x03[1]\x01"),
            (failed(CallFailure::NotConnected), b"\x03\x01\x02\x02\x00"),
            (failed(CallFailure::NotOffered("w".into())), b"\x03\x01\x02\x02\x01\x01w"),
            (failed(CallFailure::Malformed("w".into())), b"\x03\x01\x02\x02\x02\x01w"),
            (failed(CallFailure::TooLarge { limit: 9 }), b"\x03\x01\x02\x02\x03\x09"),
            (failed(CallFailure::Congested), b"\x03\x01\x02\x02\x04"),
            (failed(CallFailure::InputRefused("w".into())), b"\x03\x01\x02\x02\x05\x01w"),
            (
                FromRunner::Progress {
                    server: 1,
                    id: 2,
                    progress: "3".into(),
                    total: None,
                    message: Some("m".into()),
                },
                b"\x04\x01\x02\x013\x00\x01\x01m",
            ),
            (FromRunner::ListChanged { server: 1, list: List::Prompts }, b"\x05\x01\x02"),
            (FromRunner::ResourceUpdated { server: 1, uri: "u".into() }, b"\x06\x01\x01u"),
            (
                FromRunner::Log { server: 1, source: LogSource::Mcp, level: None, text: "t".into() },
                b"\x07\x01\x02\x00\x01t",
            ),
            (
                FromRunner::Ask { server: 1, ask: 3, method: "m".into(), params: "{}".into() },
                b"\x08\x01\x03\x01m\x02{}",
            ),
            (ended(EndCause::Stopped), b"\x09\x01\x00\x01s"),
            (ended(EndCause::Exited { code: 1 }), b"\x09\x01\x01\x02\x01s"),
            (ended(EndCause::Signalled { signal: 9 }), b"\x09\x01\x02\x12\x01s"),
            (ended(EndCause::SpawnFailed { what: "w".into(), errno: 2 }), b"\x09\x01\x03\x01w\x04\x01s"),
            (
                ended(EndCause::ExitedBeforeContact { code: Some(1), signal: None }),
                b"\x09\x01\x04\x01\x02\x00\x01s",
            ),
            (ended(EndCause::ContactTimeout { limit_ms: 5 }), b"\x09\x01\x05\x05\x01s"),
            (
                ended(EndCause::ContactRefused { code: -1, message: "m".into() }),
                b"\x09\x01\x06\x01\x01m\x01s",
            ),
            (ended(EndCause::ContactMalformed("w".into())), b"\x09\x01\x07\x01w\x01s"),
            (ended(EndCause::UnknownProtocolVersion("v".into())), b"\x09\x01\x08\x01v\x01s"),
            (ended(EndCause::ClosedStdout), b"\x09\x01\x09\x01s"),
        ];
        for (message, wanted) in golden {
            let written = bytes(&message);
            assert_eq!(written, wanted, "{message:?}");
            assert_eq!(get_message::<FromRunner<'_>>(&written), Ok(message));
        }
    }

    #[test]
    fn bytes_that_are_no_message_are_refused() {
        assert_eq!(get_message::<ToRunner<'_>>(b"\x06\x00"), Err(CodecError::TrailingBytes));
        assert_eq!(get_message::<ToRunner<'_>>(b"\x63"), Err(CodecError::Malformed));
        assert_eq!(get_message::<ToRunner<'_>>(b""), Err(CodecError::Malformed));
        // A string that claims 2^64 - 1 bytes must be an error, neither a panic nor an allocation.
        let huge = b"\x00\x01\xfd\xff\xff\xff\xff\xff\xff\xff\xff";
        assert_eq!(get_message::<ToRunner<'_>>(huge), Err(CodecError::Malformed));
        let invalid_utf8 = b"\x00\x01\x02\xff\xff";
        assert_eq!(get_message::<ToRunner<'_>>(invalid_utf8), Err(CodecError::Malformed));
    }
}
