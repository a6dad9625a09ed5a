//! Why a command failed: in words with the next step, as JSON, and as an exit code.
//!
//! Owns the exit codes. Must never print.

use std::io;
use std::process::ExitCode;

use harbor_home::dial::DialError;
use harbor_ipc_proto::client::answer;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::{FieldError, put_pair};
use harbor_ipc_proto::json::Json;
use harbor_policy::package::binary::SAID;

use crate::settings::option_of;
use crate::terminal::disarm;

mod installed;

/// How a command ended. The numbers are for scripts and must not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// It did what was wanted.
    Done = 0,
    /// It failed for another reason than those below.
    Failed = 1,
    /// The command line is wrong.
    Usage = 2,
    /// No bridge, or none of this version.
    NoBridge = 3,
    /// No such server, tool or grant.
    NotFound = 4,
    /// The server does not run.
    Unavailable = 5,
    /// It took too long.
    TimedOut = 6,
    /// The tool reported an error.
    ToolFailed = 7,
    /// Without permission.
    Denied = 8,
    /// The bridge is gone, and the call may have been made.
    CallLost = 9,
}

impl Exit {
    /// All of them, with their meaning for the help text.
    pub const ALL: [(Self, &'static str); 10] = [
        (Self::Done, "done"),
        (Self::Failed, "the operation failed"),
        (Self::Usage, "the command line is wrong"),
        (Self::NoBridge, "the bridge cannot be reached; `harbor ask`: also if permission was denied"),
        (Self::NotFound, "there is no such server, tool or grant; `harbor ask`: the budget is too small"),
        (Self::Unavailable, "the server is not running or could not be started; a model failed"),
        (Self::TimedOut, "the operation took too long"),
        (Self::ToolFailed, "the tool failed or reported an error"),
        (Self::Denied, "permission was denied"),
        (Self::CallLost, "the connection to the bridge was lost; the call may have run"),
    ];

    fn of(code: Code) -> Self {
        match code {
            Code::InvalidParams => Self::Usage,
            Code::Unauthorized | Code::VersionMismatch | Code::ShuttingDown | Code::BridgeUnreachable => {
                Self::NoBridge
            }
            Code::NotFound | Code::ToolNotFound => Self::NotFound,
            Code::NotConnected | Code::ConnectionFailed | Code::ServerUnavailable | Code::ModelFailed => {
                Self::Unavailable
            }
            Code::ToolTimeout => Self::TimedOut,
            Code::ToolFailed | Code::ProtocolError => Self::ToolFailed,
            Code::PermissionDenied
            | Code::ScopeRequired
            | Code::ToolNotAllowed
            | Code::AuthorizationRequired
            | Code::AuthorizationFailed => Self::Denied,
            _ => Self::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// An error answer of the bridge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The word on the wire; a newer bridge may know more words than we do.
    pub code: String,
    /// The message in words.
    pub message: String,
    /// The details as JSON text.
    pub details: Option<String>,
    /// The server that was asked for.
    pub server: Option<String>,
    /// The profile that was asked for.
    pub profile: Option<String>,
}

/// Lines of installers that are no help.
const IDLE: [&str; 5] = [
    "npm notice",
    "npm http",
    "npm warn",
    "npm error A complete log",
    "npm error Note that you can also install",
];

impl Refusal {
    /// True if the refusal has this code.
    #[must_use]
    pub fn is(&self, code: Code) -> bool {
        self.code == code.as_str()
    }

    fn known(&self) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| self.is(*code))
    }

    fn exit(&self) -> Exit {
        self.known().map_or(Exit::Failed, Exit::of)
    }

    /// One of the details.
    fn detail(&self, name: &str) -> Option<serde_json::Value> {
        let details: serde_json::Value = serde_json::from_str(self.details.as_deref()?).ok()?;
        details.get(name).cloned()
    }

    /// One of the details that is a text.
    fn text(&self, name: &str) -> Option<String> {
        Some(self.detail(name)?.as_str()?.to_owned())
    }

    /// True if the call was never sent because its server was stopped, is stopping, or never started.
    #[must_use]
    pub fn found_it_stopped(&self) -> bool {
        let stopped = self.detail("state").is_some_and(|state| state == "stopped" || state == "stopping");
        self.is(Code::ServerUnavailable) && stopped && self.detail("sent") == Some(false.into())
    }

    /// True if the arguments do not fit the tool's schema: the server was not asked.
    #[must_use]
    pub fn is_of_arguments(&self) -> bool {
        self.is(Code::InvalidParams) && self.text("path").is_some()
    }

    /// True if the request was sent, so that its work may have been done.
    fn was_sent(&self) -> bool {
        self.detail("sent") == Some(true.into())
    }

    /// The bridge's message. If a server failed, the one word for the cause follows, where the message lacks
    /// it.
    fn reason(&self) -> String {
        let of_server = self.is(Code::ServerUnavailable) || self.is(Code::ConnectionFailed);
        let cause = self.text("cause");
        let is_said =
            |cause: &str| has_next_step(cause) || is_of_remote_server(cause) || cause == "install_failed";
        match cause.filter(|cause| of_server && !self.message.contains(cause) && !is_said(cause)) {
            Some(cause) => format!("{} ({cause})", self.message),
            None => self.in_options(),
        }
    }

    /// The end of its output. For an installation, without Harbor's own lines about started programs, and
    /// without text that the message repeats.
    fn tail(&self) -> Option<String> {
        let tail = disarm(&self.text("stderr_tail")?);
        let is_ours = |line: &&str| line.starts_with("$ ") || line.starts_with(SAID);
        let is_idle = |line: &&str| is_ours(line) || IDLE.iter().any(|start| line.starts_with(start));
        let lines = tail.lines().filter(|line| self.detail("left").is_none() || !is_idle(line));
        Some(lines.collect::<Vec<_>>().join("\n")).filter(|tail| !tail.is_empty())
    }

    /// The message, with a setting of the sandbox in the form that is typed.
    fn in_options(&self) -> String {
        let typed = self.text("field").and_then(|field| {
            let rest = self.message.strip_prefix("the sandbox's ")?.strip_prefix(&field)?;
            Some(format!("--{}{rest}", option_of(&field)?))
        });
        typed.unwrap_or_else(|| self.message.clone())
    }

    /// The next step for the person. The bridge's message says what is wrong.
    fn next_step(&self) -> Option<String> {
        let code = self.known()?;
        let server = self.server.clone().or_else(|| self.text("server_id")).unwrap_or_else(|| "NAME".into());
        Some(match code {
            Code::PermissionDenied | Code::ScopeRequired | Code::ToolNotAllowed => {
                return self.next_step_to_permission(code, &server);
            }
            Code::RateLimited | Code::BudgetExceeded => return self.next_step_within_limits(code),
            Code::InvalidParams => return self.next_step_to_valid(&server),
            Code::NotFound if self.text("field").is_some_and(|field| field == "source") => return None,
            // The message says where they are listed.
            Code::NotFound if self.detail("provider").is_some() => return None,
            Code::NotFound => "`harbor list` shows the servers, `harbor tools` their tools".into(),
            Code::ToolNotFound => format!("`harbor tools {server}` shows the tools of {server}"),
            Code::NotConnected => format!("start it: `harbor start {server}`"),
            Code::ConnectionFailed | Code::ServerUnavailable
                if self.text("cause").is_some_and(|cause| has_next_step(&cause)) =>
            {
                return None;
            }
            Code::ConnectionFailed if self.detail("left").is_some() => self.next_step_to_installed(&server),
            // Nothing of it runs here, so no log says more.
            Code::ConnectionFailed | Code::ServerUnavailable
                if self.text("cause").is_some_and(|cause| is_of_remote_server(&cause)) =>
            {
                let when = if self.text("state").is_some_and(|state| state == "crashed") {
                    "at once"
                } else {
                    "again"
                };
                format!("`harbor start {server}` connects {when}; `harbor status {server}` shows its address")
            }
            Code::ConnectionFailed => format!("see `harbor logs {server}`"),
            Code::ServerUnavailable if self.found_it_stopped() => {
                format!("start it: `harbor start {server}`")
            }
            Code::ServerUnavailable => {
                format!("try again: `harbor start {server}`; log: `harbor logs {server}`")
            }
            Code::ToolFailed if self.text("cause").is_some_and(|cause| cause == "input_refused") => {
                "the command line cannot answer a server's questions; an AI client can (`harbor mcp`)".into()
            }
            Code::ToolTimeout => "allow more time: `--timeout SECONDS`".into(),
            // It may have been done: whoever asks again has it done twice.
            Code::ModelFailed => return self.next_step_to_model(),
            Code::ShuttingDown if self.was_sent() => return None,
            Code::ShuttingDown => "run the command again; it starts a new bridge".into(),
            Code::UnknownMessageType => {
                "the bridge is older than this program; stop it with `harbor shutdown`".into()
            }
            _ => return None,
        })
    }

    /// The way to allow the origin after all.
    fn next_step_to_permission(&self, code: Code, server: &str) -> Option<String> {
        if self.text("reason").is_some_and(|reason| reason == "tool_changed") {
            return Some(format!("`harbor tools --changed {server}` shows the change, and how to accept it"));
        }
        let (origin, scope) = (self.text("origin")?, self.text("scope")?);
        let profile = self.profile.as_ref().map(|profile| format!(" --profile {profile:?}"));
        let profile = profile.unwrap_or_default();
        let is_client = origin.starts_with("client://");
        if let Some(id) = self.text("source_id").filter(|_| is_client && code == Code::ToolNotAllowed) {
            let name = origin.strip_prefix("client://").unwrap_or_default();
            return Some(format!("`harbor tools --client {name} --on '{id}/*'` allows it"));
        }
        Some(match code {
            Code::PermissionDenied => {
                format!("`harbor revoke {origin} {scope} --deny{profile}` revokes the denial")
            }
            // It is in an AI client's configuration for good.
            Code::ScopeRequired if is_client => {
                format!("`harbor grant {origin} {scope} --always{profile}` allows it")
            }
            Code::ScopeRequired => format!("`harbor grant {origin} {scope}{profile}` allows it temporarily"),
            _ => format!(
                "`harbor grants {origin}` shows the tools that it may use; `harbor grant {origin} {scope} --tool \
                 SERVER/TOOL{profile}` allows one temporarily"
            ),
        })
    }

    /// Advice about a provider.
    fn next_step_to_model(&self) -> Option<String> {
        let provider = self.text("provider")?;
        match self.text("cause")?.as_str() {
            "unauthorized" => Some(format!("`harbor models key {provider}` sets its key")),
            "no_model" => Some("`harbor models` shows the models".into()),
            "unreachable" | "not_found" => Some(format!("`harbor models check {provider}` tries again")),
            _ => None,
        }
    }

    fn next_step_within_limits(&self, code: Code) -> Option<String> {
        if let Some(principal) = self.text("principal").filter(|_| code == Code::BudgetExceeded) {
            return Some(format!("`harbor models budget '{principal}' --tokens N` allows more"));
        }
        if code == Code::BudgetExceeded {
            return Some("`limits.maxCallsPerRun` in config.toml sets how many calls a run may make".into());
        }
        let seconds = self.detail("retry_after_ms")?.as_u64()?.div_ceil(1000);
        Some(format!("try again in {seconds} s; config.toml has the limits"))
    }

    fn next_step_to_valid(&self, server: &str) -> Option<String> {
        if self.text("field").is_some_and(|field| field == "tool_hash") {
            return Some(format!("`harbor tools --changed {server}` shows its present hash"));
        }
        let path = self.text("path")?;
        let name = path.strip_prefix('/').filter(|name| !name.is_empty() && !name.contains('/'));
        let why = self.text("reason").unwrap_or_default();
        // What `key=value` gives is text, which is what most often does not fit.
        let typed = name.filter(|_| why.contains("type")).map(|name| match why.contains("\"string\"") {
            true => format!("`{name}=TEXT` gives a text; "),
            false => format!("`{name}:=VALUE` gives a value as JSON, such as {name}:=1; "),
        });
        // It may be known which tool it is.
        let tool = if server.contains('/') { server.to_owned() } else { format!("{server}/TOOL") };
        Some(format!("{}`harbor tools {tool}` shows the schema", typed.unwrap_or_default()))
    }
}

/// True if the bridge's message has the next step already: the server itself has said nothing.
fn has_next_step(cause: &str) -> bool {
    matches!(
        cause,
        "missing_secrets"
            | "secrets_locked"
            | "secrets_unreadable"
            | "needs_authorization"
            | "package_lost"
            | "no_browser"
            | "browser_gone"
    )
}

/// True if only a remote server fails for this cause.
fn is_of_remote_server(cause: &str) -> bool {
    matches!(cause, "unreachable" | "unauthorized" | "session_lost" | "forbidden" | "tls" | "no_mcp")
}

/// The message about data that is not the protocol.
fn of_another_version(what: &str) -> String {
    format!("the bridge sent {what}; if it is another version, stop it with `harbor shutdown` and try again")
}

/// The message about a call whose bridge is gone.
pub const CALL_LOST: &str =
    "the connection to the bridge was lost. The call may have run; Harbor did not repeat it";

/// Details that say whether a call may have been made.
fn sent(sent: bool) -> Option<String> {
    Some(format!("{{\"sent\":{sent}}}"))
}

/// The reason why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The command line is wrong; the text says how.
    Usage(String),
    /// There is no bridge to talk to.
    Dial(DialError),
    /// The bridge answered with an error.
    Refused(Box<Refusal>),
    /// The bridge answered a question to a model with an error. Such questions have exit codes of their own.
    Unanswered(Box<Refusal>),
    /// There is nothing to do it to; the second text is the next step.
    Nothing(String, String),
    /// The connection ended, or took nothing more, before the request was sent.
    Unsent,
    /// The connection ended before the answer.
    Lost,
    /// The connection ended before a call's answer; the call may have been made.
    CallLost,
    /// No answer to a call came in this many seconds.
    CallSlow(u64),
    /// The connection ended while we followed what happens.
    Ended,
    /// No answer came in this many seconds.
    Slow(u64),
    /// The data that came is not the protocol.
    Garbled(&'static str),
    /// A message came without a field that it must have, or with another kind of value in it.
    Unreadable(FieldError),
    /// The result could not be read or written.
    Io(&'static str, io::Error),
    /// The reader of our stdout has seen enough.
    Unread,
    /// Everything has been said already.
    Said(Exit),
}

impl From<FieldError> for Failure {
    fn from(error: FieldError) -> Self {
        Self::Unreadable(error)
    }
}

impl From<DialError> for Failure {
    fn from(error: DialError) -> Self {
        Self::Dial(error)
    }
}

/// Writing the result is what commands do with `?`.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Unread,
            _ => Self::Io("write the result", error),
        }
    }
}

impl Failure {
    /// An error in the words of the bridge that we found ourselves.
    #[must_use]
    pub fn refused(code: Code, message: String, server: &str) -> Self {
        let (code, server) = (code.as_str().to_owned(), Some(server.to_owned()));
        Self::Refused(Box::new(Refusal { code, message, details: None, server, profile: None }))
    }

    /// An error of the bridge, about what was asked.
    #[must_use]
    pub fn refusal(heard: answer::Refusal, server: Option<&str>, profile: Option<&str>) -> Self {
        let answer::Refusal { code, message, details } = heard;
        let (server, profile) = (server.map(str::to_owned), profile.map(str::to_owned));
        Self::Refused(Box::new(Refusal {
            code,
            message,
            details: details.map(Json::into_string),
            server,
            profile,
        }))
    }

    /// Sets the server that a refusal is about, if none is set yet.
    #[must_use]
    pub fn about(mut self, server: &str) -> Self {
        if let Self::Refused(refusal) = &mut self {
            refusal.server.get_or_insert_with(|| server.to_owned());
        }
        self
    }

    /// The failure of a call. Never advises to repeat a call that may have been made.
    #[must_use]
    pub fn of_call(self) -> Self {
        match self {
            Self::Lost => Self::CallLost,
            Self::Slow(seconds) => Self::CallSlow(seconds),
            Self::Refused(refusal) if refusal.is(Code::ShuttingDown) && refusal.was_sent() => Self::CallLost,
            other => other,
        }
    }

    /// The exit code for this failure.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::Usage,
            Self::Dial(_)
            | Self::Unsent
            | Self::Lost
            | Self::Ended
            | Self::Garbled(_)
            | Self::Unreadable(_) => Exit::NoBridge,
            Self::Refused(refusal) | Self::Unanswered(refusal) => refusal.exit(),
            Self::Nothing(..) => Exit::NotFound,
            Self::CallLost => Exit::CallLost,
            Self::Slow(_) | Self::CallSlow(_) => Exit::TimedOut,
            Self::Io(..) => Exit::Failed,
            Self::Unread => Exit::Done,
            Self::Said(exit) => *exit,
        }
    }

    /// The exit code of the process.
    pub fn number(&self) -> u8 {
        let of_question = |code: Code| match code {
            Code::PermissionDenied | Code::ScopeRequired | Code::ToolNotAllowed => Some(3),
            Code::BudgetExceeded => Some(4),
            Code::ModelFailed => Some(5),
            // What the command line names and nobody has: a server, a session.
            Code::NotFound => Some(2),
            _ => None,
        };
        let own = match self {
            Self::Unanswered(refusal) => refusal.known().and_then(of_question),
            _ => None,
        };
        own.unwrap_or(self.exit() as u8)
    }

    /// The failure of a question to a model.
    #[must_use]
    pub fn of_question(self) -> Self {
        match self {
            Self::Refused(refusal) => Self::Unanswered(refusal),
            other => other,
        }
    }

    /// The text for people. None if there is nothing to say.
    #[must_use]
    pub fn message(&self) -> Option<String> {
        Some(match self {
            Self::Usage(text) => text.clone(),
            Self::Dial(error) => error.to_string(),
            Self::Refused(refusal) | Self::Unanswered(refusal) => {
                // Set apart from what we say ourselves, and harmless wherever it is looked at.
                // Where that is a sentence already, the installer's pages of it are in nobody's way.
                let told = ["there is no package ", "there is no version "];
                let is_told = told.iter().any(|words| refusal.message.contains(words));
                let tail = refusal.tail().filter(|_| !is_told);
                let tail = tail.map(|tail| format!("it said:\n    {}", tail.replace('\n', "\n    ")));
                [Some(refusal.reason()), tail, refusal.next_step()]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join("\n")
            }
            Self::Nothing(what, next) => format!("{what}\n{next}"),
            Self::Unsent => {
                "the connection to the bridge was lost before the request was sent; run the command again"
                    .into()
            }
            Self::Lost => "the bridge closed the connection before it answered; run the command again".into(),
            Self::CallLost => CALL_LOST.into(),
            Self::CallSlow(seconds) => {
                format!("the bridge did not answer within {seconds} seconds. The call may have run")
            }
            Self::Ended => "the bridge has ended; run the command again".into(),
            Self::Slow(seconds) => format!("the bridge did not answer within {seconds} seconds"),
            Self::Garbled(what) => of_another_version(what),
            Self::Unreadable(FieldError { field, expected, found }) => {
                of_another_version(&format!("a message whose field `{field}` is {found}, not {expected}"))
            }
            Self::Io(what, error) => format!("cannot {what}: {error}"),
            Self::Unread | Self::Said(_) => return None,
        })
    }

    /// `{"error":{code, message, hint?, details?}}`; `None` when there is nothing to say. The hint tells the next step.
    #[must_use]
    pub fn json(&self) -> Option<String> {
        let (code, details) = match self {
            Self::Usage(_) => (Code::InvalidParams.as_str(), None),
            Self::Dial(error) => (error.code().as_str(), None),
            Self::Refused(refusal) | Self::Unanswered(refusal) => {
                (refusal.code.as_str(), refusal.details.clone())
            }
            Self::Nothing(..) => (Code::NotFound.as_str(), None),
            Self::Slow(_) => (Code::ToolTimeout.as_str(), None),
            Self::CallSlow(_) => (Code::ToolTimeout.as_str(), sent(true)),
            Self::CallLost => (Code::BridgeUnreachable.as_str(), sent(true)),
            Self::Unsent => (Code::BridgeUnreachable.as_str(), sent(false)),
            Self::Garbled(_) | Self::Unreadable(_) => (Code::ProtocolError.as_str(), None),
            Self::Ended => (Code::BridgeUnreachable.as_str(), None),
            Self::Lost | Self::Io(..) => (Code::Internal.as_str(), None),
            Self::Unread | Self::Said(_) => return None,
        };
        let (message, hint) = match self {
            Self::Refused(refusal) | Self::Unanswered(refusal) => {
                (refusal.message.clone(), refusal.next_step())
            }
            Self::Nothing(what, next) => (what.clone(), Some(next.clone())),
            // What is wrong stands first, how it is right below.
            Self::Usage(text) => match text.split_once('\n') {
                Some((wrong, usage)) => (wrong.to_owned(), Some(usage.to_owned())),
                None => (text.clone(), None),
            },
            _ => (self.message()?, None),
        };
        let mut out = b"{\"error\":{".to_vec();
        put_pair(&mut out, true, "code", &code.to_owned());
        put_pair(&mut out, false, "message", &message);
        put_pair(&mut out, false, "hint", &hint);
        put_pair(&mut out, false, "details", &details.map(Json::from_valid));
        out.extend_from_slice(b"}}");
        String::from_utf8(out).ok()
    }
}

#[cfg(test)]
mod tests;
