//! The messages between the bridge and a runner.
//!
//! `server` is the bridge's number for one start of one server, so that a shared runner can hold many and a
//! late message of an earlier start finds nobody. Append only; see the golden bytes below.

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
        /// JSON object: MCP's client capabilities of the caller, as far as it can answer questions.
        capabilities: Option<Cow<'a, str>>,
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
    /// Run a program to its end: no contact is made, its stdin is empty, its output becomes log lines. Its start limit
    /// bounds the whole run. Answered by `Started` and `Ended`; `Disconnect` ends it early.
    Run {
        /// The number that this run gets.
        server: u32,
        /// What to run.
        launch: Launch<'a>,
    },
    /// Is there a sign of life? Answered at once by `Probed`.
    Probe {
        /// Which server.
        server: u32,
        /// Whether it is pinged in any case, not only when it has been silent for a while.
        ping: bool,
    },
    /// The server is hung: SIGKILL to its group, without the ladder. Answered by `Ended` with `Hung`.
    Kill {
        /// Which server.
        server: u32,
    },
    /// Answered at once by `Echo`, without any server: how long a message takes.
    Echo,
    /// Have the person let Harbor in at a server elsewhere, by OAuth. Answered by `AskPerson`, or by `Ended`.
    Authorize {
        /// The number that this gets.
        server: u32,
        /// The server, and the variables that name proxies.
        launch: Launch<'a>,
        /// What is wanted.
        wish: Wish<'a>,
    },
    /// The person's answer to `AskPerson`. Answered by `Granted` and `Ended`.
    Redirected {
        /// Which.
        server: u32,
        /// The query of the URL that the browser was sent to.
        query: Secret,
    },
    /// Give the grant of a server elsewhere back. Answered by `Ended`.
    Revoke {
        /// The number that this gets.
        server: u32,
        /// The server with its grant, and the variables that name proxies.
        launch: Launch<'a>,
    },
    /// Renew the grant of a server elsewhere. Answered by `Granted`, where there is a newer one, and by `Ended`.
    Renew {
        /// The number that this gets.
        server: u32,
        /// The server with its grant, and the variables that name proxies.
        launch: Launch<'a>,
    },
    /// The answer to `Stale`.
    Renewed {
        /// Which server.
        server: u32,
        /// What came of it.
        renewal: Renewal<'a>,
    },
}

/// What to start, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, BorrowDecode)]
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
    /// What it is held to.
    pub sandbox: Sandbox<'a>,
    /// A command that is run once it has ended, however it did, before that is told: program and arguments. Empty: none.
    pub afterwards: Vec<Cow<'a, str>>,
    /// Where it runs, if that is elsewhere; then there is no program.
    pub remote: Option<Remote<'a>>,
    /// The revision of MCP that it insisted on at an earlier start.
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
    /// `tools/list`, all pages; answered by `Tools`. From then on calls are checked against these tools' schemas.
    FetchTools {
        /// Whether results are checked against output schemas too.
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
        /// The bridge's id of the call that it is about, where the server says so.
        call: Option<u64>,
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
    /// The answer to `Probe`.
    Probed {
        /// Which server.
        server: u32,
        /// How long the server has not written anything, in milliseconds.
        quiet_ms: u64,
        /// For how long a ping has been waiting for any output, in milliseconds; none when none is.
        unanswered_ms: Option<u64>,
    },
    /// How many answers of the server came after their request had ended, so far. Sent now and then, and before `Ended`.
    Late {
        /// Which server.
        server: u32,
        /// So many.
        count: u64,
    },
    /// What holds the processes of this runner together; sent once, behind the greeting.
    Containment {
        /// Whether they are in a PID namespace that ends with the runner.
        pid_namespace: bool,
        /// Why not, when not.
        why: Cow<'a, str>,
    },
    /// What this kernel offers; the only message, behind the greeting, of a runner that was started to find that out.
    Offer(Offer<'a>),
    /// The server said, on stderr or in the result of a call, that it was refused a path. Told once for each.
    Denied {
        /// Which server.
        server: u32,
        /// The absolute path, as the server wrote it.
        path: Cow<'a, str>,
        /// Whether it wanted to write, as far as its words say.
        write: bool,
        /// Whether it said that there is no such thing: a hidden directory looks like that.
        missing: bool,
    },
    /// The server said, in the same places, that it lacks something else. Told once for each.
    Lacks {
        /// Which server.
        server: u32,
        /// What.
        what: Lack<'a>,
    },
    /// The answer to `Echo`.
    Echo,
    /// The person is to open this.
    AskPerson {
        /// Of which `Authorize`.
        server: u32,
        /// `https://…`, or `http://…` on this machine.
        url: Cow<'a, str>,
        /// What the answer has to repeat.
        state: Secret,
    },
    /// There is a grant, or a newer one.
    Granted {
        /// Of which `Authorize` or `Renew`.
        server: u32,
        /// The grant.
        grant: Grant,
    },
    /// The server refuses who asks, or what is asked: what it said about that.
    Challenged {
        /// Which server.
        server: u32,
        /// Its header `WWW-Authenticate`, bounded.
        challenge: Cow<'a, str>,
    },
    /// The server's process is gone, which nobody asked for, and so are its open calls. `Ended` follows, once what it left
    /// behind is gone, too.
    Died {
        /// Which server.
        server: u32,
        /// Why.
        cause: EndCause<'a>,
        /// The last lines of its stderr, bounded.
        stderr_tail: Cow<'a, str>,
    },
    /// The token that a server was to be shown has ended, or was refused. Answered by `Renewed`.
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
    /// The server's stdout, where it was no message.
    Stdout,
    /// `notifications/message`.
    Mcp,
    /// The runner's own remark.
    Runner,
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
    /// Whether it takes contact by this revision and refuses a newer one that Harbor speaks.
    pub insists: bool,
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
        /// What is wrong with the list, a sentence each.
        flaws: Vec<Cow<'a, str>>,
    },
    /// The answer to `FetchTools`.
    Tools {
        /// JSON text of the array, items as the server wrote them.
        items: Cow<'a, str>,
        /// The same tools, each name once; what has no name is left out.
        tools: Vec<Tool<'a>>,
        /// What is wrong with the list, a sentence each.
        flaws: Vec<Cow<'a, str>>,
    },
    /// As `Result`, of a tool that says that it has failed (`isError`).
    ToolError(Cow<'a, str>),
}

/// What the bridge has to know of a tool. Texts are JSON, as the server wrote them.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Tool<'a> {
    /// Its name, unescaped.
    pub name: Cow<'a, str>,
    /// Its name for people.
    pub title: Option<Cow<'a, str>>,
    /// What it does.
    pub description: Option<Cow<'a, str>>,
    /// JSON Schema of its arguments.
    pub input_schema: Option<Cow<'a, str>>,
    /// JSON Schema of its structured result.
    pub output_schema: Option<Cow<'a, str>>,
    /// What the server says about its effects.
    pub annotations: Option<Cow<'a, str>>,
    /// sha256 of the RFC 8785 form of all its members but `harbor/via` in `_meta`.
    pub hash: [u8; 32],
    /// Whether its texts have hidden or control characters.
    pub hidden: bool,
    /// The Harbors that it has come through, a JSON array; see [`crate::via`].
    pub via: Option<Cow<'a, str>>,
    /// The object of all other members.
    pub more: Option<Cow<'a, str>>,
    /// The hash without those, where there are some: what earlier versions of Harbor have pinned.
    pub former: Option<[u8; 32]>,
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
    /// The arguments do not fit the tool's schema; the server was not asked.
    InvalidArguments {
        /// Where, as a JSON pointer into the arguments.
        path: Cow<'a, str>,
        /// What is wrong there, without the value.
        why: Cow<'a, str>,
    },
    /// The connection to a server elsewhere has broken, or it answered with an error of HTTP; the sentence.
    Lost(Cow<'a, str>),
    /// A server elsewhere wants more rights for this than Harbor has there; the sentence.
    NotAuthorized(Cow<'a, str>),
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

#[cfg(test)]
mod golden;
