//! The messages between the bridge and a runner.
//!
//! `server` is the bridge's number for one start of one server. So a shared runner can hold many servers, and a late
//! message of an earlier start reaches nobody. Append only; see the golden bytes below.

use std::borrow::Cow;

use bincode::{BorrowDecode, Encode};

use super::oauth::{Grant, Renewal, Wish};
use super::sandbox::{Offer, Sandbox};
use crate::secret::Secret;

mod end;
mod lack;
mod remote;

pub use end::{EndCause, Resource};
pub use lack::Lack;
pub use remote::{Remote, RemoteEnd, Transport};

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
        /// The program and its settings.
        launch: Launch<'a>,
    },
    /// Stop a server by the ladder. Answered by `Ended`.
    Disconnect {
        /// Which server.
        server: u32,
    },
    /// Ask a server. Answered by exactly one `Reply`, unless cancelled or the server ends.
    Call {
        /// Which server.
        server: u32,
        /// The bridge's id for this call.
        id: u64,
        /// True if the server is to be asked for progress.
        progress: bool,
        /// The questions that the caller can answer: MCP's client capabilities, a JSON object.
        capabilities: Option<Cow<'a, str>>,
        /// The request to the server.
        operation: Operation<'a>,
    },
    /// Nobody waits for this call any more: tell the server, and drop its answer.
    Cancel {
        /// Which server.
        server: u32,
        /// The call.
        id: u64,
        /// The reason that the server is told.
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
    /// Run a program to its end: no contact is made, its stdin is empty, its output becomes log lines. Its start limit
    /// bounds the whole run. Answered by `Started` and `Ended`; `Disconnect` ends it early.
    Run {
        /// The number that this run gets.
        server: u32,
        /// The program and its settings.
        launch: Launch<'a>,
    },
    /// Test for a sign of life. Answered at once by `Probed`.
    Probe {
        /// Which server.
        server: u32,
        /// True: ping the server in any case. False: only if it has been silent for a while.
        ping: bool,
    },
    /// The server is hung: send SIGKILL to its group, without the ladder. Answered by `Ended` with `Hung`.
    Kill {
        /// Which server.
        server: u32,
    },
    /// Measures how long a message takes. Answered at once by `Echo`, without any server.
    Echo,
    /// Ask the person to let Harbor in at a remote server, by OAuth. Answered by `AskPerson`, or by `Ended`.
    Authorize {
        /// The number that this request gets.
        server: u32,
        /// The server, and the variables that name proxies.
        launch: Launch<'a>,
        /// The details of the wanted login.
        wish: Wish<'a>,
    },
    /// The person's answer to `AskPerson`. Answered by `Granted` and `Ended`.
    Redirected {
        /// Which `Authorize`.
        server: u32,
        /// The query of the URL to which the browser was sent.
        query: Secret,
    },
    /// Revoke the login of a remote server. Answered by `Ended`.
    Revoke {
        /// The number that this request gets.
        server: u32,
        /// The server with its login, and the variables that name proxies.
        launch: Launch<'a>,
    },
    /// Renew the login of a remote server. Answered by `Granted`, if there is a newer one, and by `Ended`.
    Renew {
        /// The number that this request gets.
        server: u32,
        /// The server with its login, and the variables that name proxies.
        launch: Launch<'a>,
    },
    /// The answer to `Stale`.
    Renewed {
        /// Which server.
        server: u32,
        /// The result of the renewal.
        renewal: Renewal<'a>,
    },
}

/// A program to start, with all its settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Launch<'a> {
    /// The program: a path, or a name to look up in the PATH of `env`.
    pub command: Cow<'a, str>,
    /// Its arguments.
    pub args: Vec<Cow<'a, str>>,
    /// Its whole environment.
    pub env: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// Its working directory.
    pub cwd: Cow<'a, str>,
    /// The generation that it spoke at an earlier start; `None` if not known.
    pub known_era: Option<Era>,
    /// True if it is told that it may ask for roots.
    pub offers_roots: bool,
    /// How long its start and contact may take together, in milliseconds.
    pub start_timeout_ms: u64,
    /// The longest line that is read from it, in bytes.
    pub max_line: u64,
    /// How long to wait after closing its stdin, in milliseconds.
    pub eof_grace_ms: u64,
    /// How long to wait after SIGTERM, in milliseconds.
    pub term_grace_ms: u64,
    /// The sandbox that it runs in.
    pub sandbox: Sandbox<'a>,
    /// A command that runs after its end, however it ended, and before the bridge is told: program and arguments. Empty: none.
    pub afterwards: Vec<Cow<'a, str>>,
    /// The address, if it is remote; there is then no program.
    pub remote: Option<Remote<'a>>,
    /// The revision of MCP that it insisted on at an earlier start; `None` if not known.
    pub known_revision: Option<Cow<'a, str>>,
}

/// The generation of MCP that a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, BorrowDecode)]
pub enum Era {
    /// 2025-11-25 and older: `initialize`, a session.
    Legacy,
    /// 2026-07-28 and newer: `server/discover`, metadata on each request.
    Modern,
}

/// A request to a server.
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
    /// Ends a subscription.
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
    /// `tools/list`, all pages; answered by `Tools`. From then on, calls are checked against the schemas of these tools.
    FetchTools {
        /// True if results are checked against output schemas too.
        check_output: bool,
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
        /// What the server said about itself.
        info: ServerInfo<'a>,
    },
    /// The answer to a `Call`.
    Reply {
        /// Which server.
        server: u32,
        /// The bridge's id of the call.
        id: u64,
        /// The result of the call.
        outcome: Outcome<'a>,
    },
    /// Progress of a call. Numbers are JSON text.
    Progress {
        /// Which server.
        server: u32,
        /// The bridge's id of the call.
        id: u64,
        /// The progress so far.
        progress: Cow<'a, str>,
        /// The value of `progress` at the end.
        total: Option<Cow<'a, str>>,
        /// The server's words about it.
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
        /// MCP's level; for MCP messages only.
        level: Option<Cow<'a, str>>,
        /// The text, bounded.
        text: Cow<'a, str>,
    },
    /// A question of the server to its client. Answered by one `Answer`.
    Ask {
        /// Which server.
        server: u32,
        /// The question's number.
        ask: u64,
        /// The bridge's id of the call that the question is about, if the server says so.
        call: Option<u64>,
        /// MCP's method.
        method: Cow<'a, str>,
        /// JSON object.
        params: Cow<'a, str>,
    },
    /// The whole server is gone. No further message has this number.
    Ended {
        /// Which server.
        server: u32,
        /// Why it ended.
        cause: EndCause<'a>,
        /// The last lines of its stderr, bounded.
        stderr_tail: Cow<'a, str>,
    },
    /// The answer to `Probe`.
    Probed {
        /// Which server.
        server: u32,
        /// How long the server has written nothing, in milliseconds.
        quiet_ms: u64,
        /// How long a ping has waited for any output, in milliseconds; `None` if no ping waits.
        unanswered_ms: Option<u64>,
    },
    /// How many answers of the server, so far, came after their request had ended. Sent now and then, and before `Ended`.
    Late {
        /// Which server.
        server: u32,
        /// The number of late answers.
        count: u64,
    },
    /// How the processes of this runner are held together; sent once, after the greeting.
    Containment {
        /// True if they are in a PID namespace that ends with the runner.
        pid_namespace: bool,
        /// Why they are not; empty if they are.
        why: Cow<'a, str>,
    },
    /// What this kernel offers. Sent after the greeting, as the only message of a runner that was started to find that out.
    Offer(Offer<'a>),
    /// The server said, on stderr or in a call's result, that it was refused a path. Sent once for each path.
    Denied {
        /// Which server.
        server: u32,
        /// The absolute path, as the server wrote it.
        path: Cow<'a, str>,
        /// True if it wanted to write, as far as its words say.
        write: bool,
        /// True if it said that the path does not exist: a hidden directory looks like that.
        missing: bool,
    },
    /// The server said, on stderr or in a call's result, that it lacks something else. Sent once for each lack.
    Lacks {
        /// Which server.
        server: u32,
        /// What it lacks.
        what: Lack<'a>,
    },
    /// The answer to `Echo`.
    Echo,
    /// The person must open this URL.
    AskPerson {
        /// The `Authorize` that this belongs to.
        server: u32,
        /// `https://…`, or `http://…` on this machine.
        url: Cow<'a, str>,
        /// The value that the answer must repeat.
        state: Secret,
    },
    /// A new or renewed login.
    Granted {
        /// The `Authorize` or `Renew` that this belongs to.
        server: u32,
        /// The login.
        grant: Grant,
    },
    /// The server refused the caller or the request.
    Challenged {
        /// Which server.
        server: u32,
        /// Its header `WWW-Authenticate`, bounded.
        challenge: Cow<'a, str>,
    },
    /// The server's process has ended without being told to, and its open calls with it. `Ended` follows once everything
    /// that it left behind is gone too.
    Died {
        /// Which server.
        server: u32,
        /// Why it ended.
        cause: EndCause<'a>,
        /// The last lines of its stderr, bounded.
        stderr_tail: Cow<'a, str>,
    },
    /// The token for a server has expired, or the server refused it. Answered by `Renewed`.
    Stale {
        /// Which server.
        server: u32,
        /// The token.
        token: Secret,
    },
}

/// A list that a server offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, BorrowDecode)]
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
    /// The server's stdout, for lines that were no messages.
    Stdout,
    /// `notifications/message`.
    Mcp,
    /// A remark of the runner itself.
    Runner,
}

/// A server's description of itself when contact was made.
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
    /// A JSON object.
    pub capabilities: Cow<'a, str>,
    /// The server's text on how to use it.
    pub instructions: Option<Cow<'a, str>>,
    /// True if it accepts contact by this revision and refuses a newer one that Harbor speaks.
    pub insists: bool,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum Outcome<'a> {
    /// The server's result, JSON text as it wrote it.
    Result(Cow<'a, str>),
    /// The server's JSON-RPC error.
    ServerError {
        /// The error's number.
        code: i64,
        /// The error's sentence.
        message: Cow<'a, str>,
        /// JSON text.
        data: Option<Cow<'a, str>>,
    },
    /// There is no answer from the server.
    Failed(CallFailure<'a>),
    /// A whole list: JSON text of an array, items as the server wrote them.
    Items {
        /// The array.
        items: Cow<'a, str>,
        /// How many items it has.
        count: u32,
        /// The problems with the list, a sentence each.
        flaws: Vec<Cow<'a, str>>,
    },
    /// The answer to `FetchTools`.
    Tools {
        /// JSON text of the array, items as the server wrote them.
        items: Cow<'a, str>,
        /// The same tools, each name once. Tools without a name are left out.
        tools: Vec<Tool<'a>>,
        /// The problems with the list, a sentence each.
        flaws: Vec<Cow<'a, str>>,
    },
    /// The server's result, in which the tool says that it has failed (`isError`).
    ToolError(Cow<'a, str>),
}

/// The parts of a tool that the bridge must know. Texts are JSON, as the server wrote them.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Tool<'a> {
    /// Its name, unescaped.
    pub name: Cow<'a, str>,
    /// Its name for people.
    pub title: Option<Cow<'a, str>>,
    /// Its description.
    pub description: Option<Cow<'a, str>>,
    /// JSON Schema of its arguments.
    pub input_schema: Option<Cow<'a, str>>,
    /// JSON Schema of its structured result.
    pub output_schema: Option<Cow<'a, str>>,
    /// The server's hints about the tool's effects.
    pub annotations: Option<Cow<'a, str>>,
    /// The SHA-256 of the RFC 8785 form of all its members, without `harbor/via` in `_meta`.
    pub hash: [u8; 32],
    /// True if its texts have hidden or control characters.
    pub hidden: bool,
    /// The Harbors that the tool came through, a JSON array; see [`crate::via`].
    pub via: Option<Cow<'a, str>>,
    /// All other members, as one JSON object.
    pub more: Option<Cow<'a, str>>,
    /// The hash without those other members, if there are any. Earlier versions of Harbor pinned this hash.
    pub former: Option<[u8; 32]>,
}

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum CallFailure<'a> {
    /// The server is not connected.
    NotConnected,
    /// The server does not offer this: a capability is missing, or its generation has no such request.
    NotOffered(Cow<'a, str>),
    /// The answer breaks the protocol.
    Malformed(Cow<'a, str>),
    /// The answer is longer than the longest line that the runner reads.
    TooLarge {
        /// That limit, in bytes.
        limit: u64,
    },
    /// The server does not read its stdin, and too many bytes wait for it already.
    Congested,
    /// The server asked for something that was not offered to it, or asked too often.
    InputRefused(Cow<'a, str>),
    /// The arguments do not fit the tool's schema. The server was not asked.
    InvalidArguments {
        /// The wrong place, as a JSON pointer into the arguments.
        path: Cow<'a, str>,
        /// What is wrong there, without the value.
        why: Cow<'a, str>,
    },
    /// The connection to a remote server broke, or it answered with an HTTP error; the sentence.
    Lost(Cow<'a, str>),
    /// A remote server wants more rights for this than Harbor has there; the sentence.
    NotAuthorized(Cow<'a, str>),
}

/// The bridge's answer to a server's question.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum AskAnswer<'a> {
    /// JSON text: the result.
    Result(Cow<'a, str>),
    /// MCP's refusal, an error.
    Refused {
        /// JSON-RPC's number.
        code: i64,
        /// The error's sentence.
        message: Cow<'a, str>,
    },
}

#[cfg(test)]
mod golden;
