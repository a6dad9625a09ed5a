//! The events of a runner, checked and owned.
//!
//! Owns the words for why a server is gone: one for programs, one sentence for people.

use std::borrow::Cow;
use std::rc::Rc;

use harbor_child::signal::Signal;
use harbor_home::clock::wall_clock;
use harbor_ipc_proto::contained::is_contained;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::oauth::Grant;
use harbor_ipc_proto::link::runner::{EndCause, Era, FromRunner, Lack, List, LogSource, RemoteEnd};
use harbor_ipc_proto::link::sandbox::Offer;
use harbor_ipc_proto::secret::Secret;
use harbor_policy::oauth::MAX_CHALLENGE;
use harbor_policy::sandbox::hint::shell;
use harbor_policy::sandbox::paths::MAX_PATH;
use harbor_policy::standing::Need;

use super::limit_reports::HeldStart;

/// The answer to a server that asks for something that an MCP client does not have.
pub const UNKNOWN_METHOD: &str = "Harbor does not know this method";

/// An event of a runner. `server` is the number of one start.
#[derive(Debug)]
pub enum LinkEvent {
    /// A server's process exists.
    Started {
        /// The number of the start.
        server: u32,
        /// Its process and process group.
        pid: u32,
    },
    /// Contact is made.
    Connected {
        /// The number of the start.
        server: u32,
        /// The server's words about itself.
        info: Info,
    },
    /// A list has changed.
    ListChanged {
        /// The number of the start.
        server: u32,
        /// The list.
        list: List,
    },
    /// A resource has changed.
    ResourceUpdated {
        /// The number of the start.
        server: u32,
        /// Its URI.
        uri: String,
    },
    /// A log line.
    Log {
        /// The number of the start.
        server: u32,
        /// The origin of the line.
        source: LogSource,
        /// MCP's level.
        level: Option<String>,
        /// The line.
        text: String,
    },
    /// A server asks its client something, and no call that is open can answer it.
    Ask {
        /// The number of the start.
        server: u32,
        /// The question's number.
        ask: u64,
        /// True if the question is about a call whose maker has offered no answers: the server knows that.
        unoffered: bool,
        /// MCP's method.
        method: String,
    },
    /// A server's process is gone unasked. Its remains may not be gone yet.
    Died {
        /// The number of the start.
        server: u32,
        /// The way of its end.
        report: Rc<EndReport>,
    },
    /// A server is gone.
    Ended {
        /// The number of the start.
        server: u32,
        /// The reason.
        report: Rc<EndReport>,
    },
    /// The runner's knowledge of a server's signs of life.
    Probed {
        /// The number of the start.
        server: u32,
        /// Milliseconds without output.
        quiet_ms: u64,
        /// Milliseconds that a ping has been without output.
        unanswered_ms: Option<u64>,
    },
    /// A server's answers that came after their request had ended: their number so far.
    Late {
        /// The number of the start.
        server: u32,
        /// The number of these answers so far.
        count: u64,
    },
    /// Another answer came too late just now.
    LateReply {
        /// The number of the start.
        server: u32,
    },
    /// How the runner's servers are held together.
    Contained(Containment),
    /// The kernel's offer of sandbox features.
    Offered(Offer<'static>),
    /// The runner has answered the question that asks for no server.
    Echoed,
    /// The server was refused a path.
    Denied {
        /// The number of the start.
        server: u32,
        /// The path, in the server's words.
        path: String,
        /// True if it wanted to write.
        write: bool,
        /// True if it found nothing there.
        missing: bool,
    },
    /// The server lacks something else, in its own words.
    Lacks {
        /// The number of the start.
        server: u32,
        /// The thing that it lacks.
        what: Lack<'static>,
    },
    /// The person is to open a URL.
    AskPerson {
        /// The authorization that it is for.
        server: u32,
        /// The URL.
        url: String,
        /// The value that the answer has to repeat.
        state: Secret,
    },
    /// There is a login, or a newer one.
    Granted {
        /// The authorization or renewal that it comes from.
        server: u32,
        /// The login.
        grant: Box<Grant>,
    },
    /// The token for a server has ended, or was refused.
    Stale {
        /// The number of the start.
        server: u32,
        /// The token.
        token: Secret,
    },
    /// A server has refused the asker, or the request.
    Challenged {
        /// The number of the start.
        server: u32,
        /// The server's words about that.
        challenge: String,
    },
    /// The link is gone, and every server on it.
    Closed {
        /// The reason.
        report: Rc<EndReport>,
    },
}

impl LinkEvent {
    /// The start that it is about; `None` for one about the runner itself.
    #[must_use]
    pub fn start(&self) -> Option<u32> {
        match self {
            Self::Started { server, .. }
            | Self::Connected { server, .. }
            | Self::ListChanged { server, .. }
            | Self::ResourceUpdated { server, .. }
            | Self::Log { server, .. }
            | Self::Ask { server, .. }
            | Self::Died { server, .. }
            | Self::Ended { server, .. }
            | Self::Probed { server, .. }
            | Self::Late { server, .. }
            | Self::LateReply { server }
            | Self::Denied { server, .. }
            | Self::Lacks { server, .. }
            | Self::Stale { server, .. }
            | Self::Challenged { server, .. }
            | Self::AskPerson { server, .. }
            | Self::Granted { server, .. } => Some(*server),
            Self::Echoed | Self::Contained(_) | Self::Offered(_) | Self::Closed { .. } => None,
        }
    }
}

/// How the processes of a runner are held together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Containment {
    /// True if a PID namespace does it.
    pub pid_namespace: bool,
    /// The reason if there is no PID namespace.
    pub why: String,
}

/// A server's words about itself at contact.
#[derive(Debug, Clone)]
pub struct Info {
    /// Its generation.
    pub era: Era,
    /// The MCP revision in use.
    pub protocol_version: String,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// MCP's capabilities.
    pub capabilities: Json,
    /// Instructions for its use.
    pub instructions: Option<String>,
    /// True if it makes contact by this revision and refuses a newer one that Harbor speaks.
    pub insists: bool,
}

/// How a server ended, or why it could not be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndReport {
    /// One word for programs; the list is that of `Exit` in the client protocol.
    pub cause: &'static str,
    /// One sentence for people.
    pub message: String,
    /// Its exit code, where it had one.
    pub exit_code: Option<i32>,
    /// The signal that ended it, where one did.
    pub signal: Option<i32>,
    /// The last lines of its stderr.
    pub stderr_tail: String,
    /// True if it gave no first answer in time.
    pub is_silent: bool,
    /// When, in milliseconds since 1970.
    pub timestamp: u64,
}

impl EndReport {
    pub(super) fn new(cause: &EndCause<'_>, stderr_tail: &str, held: &HeldStart) -> Self {
        let (word, message) = describe(cause, held);
        // Part of it may be the server's own words: they must not look like more than one sentence.
        let message: String = message.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let (exit_code, signal) = match *cause {
            EndCause::Exited { code } => (Some(code), None),
            EndCause::Signalled { signal } => (None, Some(signal)),
            EndCause::ExitedBeforeContact { code, signal } | EndCause::OutOfMemory { code, signal } => {
                (code, signal)
            }
            _ => (None, None),
        };
        let stderr_tail = held.hidden(stderr_tail).into_owned();
        let is_silent = matches!(cause, EndCause::ContactTimeout { .. });
        Self { exit_code, signal, stderr_tail, is_silent, ..Self::because(word, message) }
    }

    /// A report of an end without an exit, with the present time.
    #[must_use]
    pub fn because(cause: &'static str, message: impl Into<String>) -> Self {
        Self {
            cause,
            message: message.into(),
            exit_code: None,
            signal: None,
            stderr_tail: String::new(),
            is_silent: false,
            timestamp: wall_clock(),
        }
    }

    /// True if it ended because it was told to.
    #[must_use]
    pub fn was_asked_for(&self) -> bool {
        self.cause == "stopped"
    }

    /// True if only a person can do something about it.
    #[must_use]
    pub fn is_for_a_person(&self) -> bool {
        self.cause == NEEDS_AUTHORIZATION
    }

    /// The sign-in or key that the server lacks and the person has. None if something is broken.
    #[must_use]
    pub fn need(&self) -> Option<Need> {
        match self.cause {
            NEEDS_AUTHORIZATION => Some(Need::SignIn),
            MISSING_SECRETS | "secrets_locked" | "secrets_unreadable" => Some(Need::Key),
            _ => None,
        }
    }
}

fn describe(cause: &EndCause<'_>, held: &HeldStart) -> (&'static str, String) {
    match cause {
        EndCause::Stopped => ("stopped", "it was stopped".into()),
        EndCause::Exited { code } => ("exited", format!("it exited with code {code}")),
        EndCause::Signalled { signal } => ("signalled", format!("{} ended it", signal_name(*signal))),
        EndCause::SpawnFailed { what, errno } => ("spawn_failed", spawn_failure(what, *errno)),
        EndCause::ExitedBeforeContact { code, signal } => {
            let how = match (code, signal) {
                (Some(code), _) => format!("it exited with code {code} before it answered"),
                (None, Some(signal)) => format!("{} ended it before it answered", signal_name(*signal)),
                (None, None) => "it closed its output before it answered".into(),
            };
            ("exited", how)
        }
        EndCause::ContactTimeout { limit_ms } => {
            ("timeout", format!("it did not answer within {} s", seconds(*limit_ms)))
        }
        // It answers in Harbor's own words.
        EndCause::ContactRefused { message, .. } if message == UNKNOWN_METHOD => {
            ("malformed", "its output is not MCP: it echoes its input".into())
        }
        EndCause::ContactRefused { code, message } => {
            ("refused", format!("it refused to connect: {} ({code})", held.hidden(message)))
        }
        EndCause::ContactMalformed(why) => {
            ("malformed", format!("its answer is not MCP: {}", held.hidden(why)))
        }
        EndCause::UnknownProtocolVersion(versions) => (
            "unknown_protocol_version",
            format!("it uses the MCP revision {}, which this Harbor does not know", held.hidden(versions)),
        ),
        EndCause::ClosedStdout => ("closed_stdout", "it closed its output and was stopped".into()),
        EndCause::OutOfMemory { .. } => ("out_of_memory", held.out_of_memory()),
        EndCause::Hung => ("hung", "it did not respond after a call's timeout and was killed".into()),
        EndCause::Overdue { limit_ms } => {
            ("timeout", format!("it took longer than {} s and was stopped", seconds(*limit_ms)))
        }
        EndCause::OverLimit { resource, limit, used } => held.over_limit(*resource, *limit, *used),
        EndCause::Remote { kind: RemoteEnd::NeedsAuthorization, why } => {
            let why: String = why.chars().take(MAX_WHY).collect();
            (NEEDS_AUTHORIZATION, format!("{why}; sign in with `harbor auth {}`", shell(&held.name)))
        }
        EndCause::Remote { kind, why } => (remote_word(*kind), why.chars().take(MAX_WHY).collect()),
    }
}

/// The most characters that are kept of a runner's own sentence.
const MAX_WHY: usize = 400;

/// The cause that only a person can do something about.
pub const NEEDS_AUTHORIZATION: &str = "needs_authorization";

/// The cause of an end before the start: a secret that it needs is not set.
pub const MISSING_SECRETS: &str = "missing_secrets";

/// The most bytes of a URL that a browser opens.
const MAX_URL: usize = 32 * 1024;

fn remote_word(kind: RemoteEnd) -> &'static str {
    match kind {
        RemoteEnd::Unreachable => "unreachable",
        RemoteEnd::Unauthorized => "unauthorized",
        RemoteEnd::SessionLost => "session_lost",
        RemoteEnd::Forbidden => "forbidden",
        RemoteEnd::Tls => "tls",
        RemoteEnd::NoMcp => "no_mcp",
        RemoteEnd::NeedsAuthorization => NEEDS_AUTHORIZATION,
        RemoteEnd::NotAuthorized => "not_authorized",
    }
}

fn seconds(ms: u64) -> f64 {
    ms as f64 / 1000.0
}

/// `SIGKILL (signal 9)`.
fn signal_name(signal: i32) -> String {
    match Signal::try_from(signal) {
        Ok(name) => format!("{} (signal {signal})", name.as_str()),
        Err(_) => format!("signal {signal}"),
    }
}

/// The advice where the kernel does not run a file of the person's.
pub const NOT_EXECUTABLE: &str =
    "; make the file executable (chmod +x), or allow its sandbox to read it (`harbor sandbox`)";

fn spawn_failure(what: &str, errno: i32) -> String {
    let error = std::io::Error::from_raw_os_error(errno);
    let hint = match error.kind() {
        _ if what.starts_with("enter the directory") => "; check its working directory (`--cwd`)",
        std::io::ErrorKind::NotFound if what.contains(" by its interpreter ") => {
            "; install that interpreter, or correct the first line of the script"
        }
        std::io::ErrorKind::NotFound => {
            "; check the path, or give an absolute path if the program is not in PATH"
        }
        std::io::ErrorKind::PermissionDenied if what.starts_with("run ") => NOT_EXECUTABLE,
        _ => "",
    };
    match errno {
        0 => format!("could not {what}"),
        _ => format!("could not {what}: {error}{hint}"),
    }
}

/// The event that a message is; `None` for those that are no events.
///
/// # Errors
/// When its JSON is broken.
pub(super) fn from_message(message: FromRunner<'_>) -> Result<Option<LinkEvent>, &'static str> {
    Ok(Some(match message {
        FromRunner::Started { server, pid } => LinkEvent::Started { server, pid },
        FromRunner::Connected { server, info } => {
            if !is_contained(&info.capabilities) || !info.capabilities.starts_with('{') {
                return Err("the capabilities are not valid JSON");
            }
            let info = Info {
                era: info.era,
                protocol_version: info.protocol_version.into_owned(),
                name: info.name.into_owned(),
                version: info.version.into_owned(),
                capabilities: Json::from_valid(info.capabilities.into_owned()),
                instructions: info.instructions.map(Into::into),
                insists: info.insists,
            };
            LinkEvent::Connected { server, info }
        }
        FromRunner::ListChanged { server, list } => LinkEvent::ListChanged { server, list },
        FromRunner::ResourceUpdated { server, uri } => {
            LinkEvent::ResourceUpdated { server, uri: uri.into_owned() }
        }
        FromRunner::Log { server, source, level, text } => {
            LinkEvent::Log { server, source, level: level.map(Into::into), text: text.into_owned() }
        }
        FromRunner::Probed { server, quiet_ms, unanswered_ms } => {
            LinkEvent::Probed { server, quiet_ms, unanswered_ms }
        }
        FromRunner::Late { server, count } => LinkEvent::Late { server, count },
        FromRunner::Containment { pid_namespace, why } => {
            LinkEvent::Contained(Containment { pid_namespace, why: why.into_owned() })
        }
        FromRunner::Offer(offer) => LinkEvent::Offered(Offer {
            why_no_namespaces: offer.why_no_namespaces.into_owned().into(),
            ..offer
        }),
        FromRunner::Denied { path, .. } if path.len() > MAX_PATH => return Ok(None),
        FromRunner::Denied { server, path, write, missing } => {
            LinkEvent::Denied { server, path: path.into_owned(), write, missing }
        }
        FromRunner::Echo => LinkEvent::Echoed,
        FromRunner::AskPerson { url, .. } if url.len() > MAX_URL => return Err("a URL is too long"),
        FromRunner::AskPerson { server, url, state } => {
            LinkEvent::AskPerson { server, url: url.into_owned(), state }
        }
        FromRunner::Challenged { challenge, .. } if challenge.len() > MAX_CHALLENGE => return Ok(None),
        FromRunner::Challenged { server, challenge } => {
            LinkEvent::Challenged { server, challenge: challenge.into_owned() }
        }
        FromRunner::Granted { server, grant } => LinkEvent::Granted { server, grant: grant.into() },
        FromRunner::Stale { server, token } => LinkEvent::Stale { server, token },
        FromRunner::Lacks { server, what } => match lack(what) {
            Some(what) => LinkEvent::Lacks { server, what },
            None => return Ok(None),
        },
        FromRunner::Hello { .. }
        | FromRunner::Reply { .. }
        | FromRunner::Progress { .. }
        | FromRunner::Ask { .. }
        | FromRunner::Died { .. }
        | FromRunner::Ended { .. } => return Ok(None),
    }))
}

/// A copy that owns its words. None if they are longer than any such words.
fn lack(what: Lack<'_>) -> Option<Lack<'static>> {
    let own = |text: Cow<'_, str>| (text.len() <= MAX_PATH).then(|| Cow::Owned(text.into_owned()));
    Some(match what {
        Lack::Memory => Lack::Memory,
        Lack::FileSize => Lack::FileSize,
        Lack::OpenFiles => Lack::OpenFiles,
        Lack::Processes => Lack::Processes,
        Lack::Module(name) => Lack::Module(own(name)?),
        Lack::Socket { path, listen } => Lack::Socket { path: own(path)?, listen },
        Lack::Host(name) => Lack::Host(own(name)?),
        Lack::Threads => Lack::Threads,
        Lack::Attributes(path) => Lack::Attributes(own(path)?),
        Lack::Listen(port) => Lack::Listen(port),
    })
}
