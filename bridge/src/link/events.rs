//! What a runner says unasked, checked and owned.
//!
//! Owns the words for why a server is gone: one for programs, one sentence for people.

use std::rc::Rc;

use harbor_ipc_proto::contained::is_contained;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::runner::{EndCause, Era, FromRunner, List, LogSource};

/// An event of a runner. `server` is the number of one start.
#[derive(Debug)]
pub enum LinkEvent {
    /// A server's process exists.
    Started {
        /// Which start.
        server: u32,
        /// Its process and process group.
        pid: u32,
    },
    /// Contact is made.
    Connected {
        /// Which start.
        server: u32,
        /// What the server said about itself.
        info: Info,
    },
    /// A list has changed.
    ListChanged {
        /// Which start.
        server: u32,
        /// Which list.
        list: List,
    },
    /// A resource has changed.
    ResourceUpdated {
        /// Which start.
        server: u32,
        /// Its URI.
        uri: String,
    },
    /// A log line.
    Log {
        /// Which start.
        server: u32,
        /// Where it came from.
        source: LogSource,
        /// MCP's level.
        level: Option<String>,
        /// The line.
        text: String,
    },
    /// A server asks its client something.
    Ask {
        /// Which start.
        server: u32,
        /// The question's number.
        ask: u64,
        /// MCP's method.
        method: String,
    },
    /// A server is gone.
    Ended {
        /// Which start.
        server: u32,
        /// Why.
        report: Rc<EndReport>,
    },
    /// The link is gone, and every server on it.
    Closed {
        /// Why.
        why: String,
    },
}

/// What a server said about itself at contact.
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
    /// How to use it.
    pub instructions: Option<String>,
}

/// How a server ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndReport {
    /// One word for programs: `stopped`, `exited`, `signalled`, `spawn_failed`, `timeout`, `refused`,
    /// `malformed`, `unknown_protocol_version`, `closed_stdout` or `runner_lost`.
    pub cause: &'static str,
    /// One sentence for people.
    pub message: String,
    /// The last lines of its stderr.
    pub stderr_tail: String,
}

impl EndReport {
    pub(super) fn new(cause: &EndCause<'_>, stderr_tail: &str) -> Self {
        let (cause, message) = describe(cause);
        Self { cause, message, stderr_tail: stderr_tail.to_owned() }
    }

    /// For a server whose runner is gone.
    pub fn runner_lost(why: &str) -> Self {
        Self { cause: "runner_lost", message: why.to_owned(), stderr_tail: String::new() }
    }
}

fn describe(cause: &EndCause<'_>) -> (&'static str, String) {
    match cause {
        EndCause::Stopped => ("stopped", "it was stopped".into()),
        EndCause::Exited { code } => ("exited", format!("it exited with code {code}")),
        EndCause::Signalled { signal } => ("signalled", format!("signal {signal} ended it")),
        EndCause::SpawnFailed { what, errno } => ("spawn_failed", spawn_failure(what, *errno)),
        EndCause::ExitedBeforeContact { code, signal } => {
            let how = match (code, signal) {
                (Some(code), _) => format!("it exited with code {code} before it answered"),
                (None, Some(signal)) => format!("signal {signal} ended it before it answered"),
                (None, None) => "it closed its output before it answered".into(),
            };
            ("exited", how)
        }
        EndCause::ContactTimeout { limit_ms } => (
            "timeout",
            format!(
                "it did not answer within {} s; if it needs longer to start, define it with a longer \
                 start_timeout_ms",
                *limit_ms as f64 / 1000.0
            ),
        ),
        EndCause::ContactRefused { code, message } => {
            ("refused", format!("it refused contact: {message} ({code})"))
        }
        EndCause::ContactMalformed(why) => ("malformed", format!("its answer is no MCP: {why}")),
        EndCause::UnknownProtocolVersion(versions) => (
            "unknown_protocol_version",
            format!("it speaks the MCP revision {versions}, which this Harbor does not know"),
        ),
        EndCause::ClosedStdout => ("closed_stdout", "it closed its output and was ended".into()),
    }
}

fn spawn_failure(what: &str, errno: i32) -> String {
    let error = std::io::Error::from_raw_os_error(errno);
    let hint = match error.kind() {
        _ if what.starts_with("enter the directory") => "; check the definition's cwd",
        std::io::ErrorKind::NotFound => {
            "; check the path, or give the absolute path of a program that is not in PATH"
        }
        std::io::ErrorKind::PermissionDenied => "; make the file executable (chmod +x)",
        _ => "",
    };
    format!("could not {what}: {error}{hint}")
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
                return Err("the capabilities are broken JSON");
            }
            let info = Info {
                era: info.era,
                protocol_version: info.protocol_version.into_owned(),
                name: info.name.into_owned(),
                version: info.version.into_owned(),
                capabilities: Json::from_valid(info.capabilities.into_owned()),
                instructions: info.instructions.map(Into::into),
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
        FromRunner::Ask { server, ask, method, .. } => {
            LinkEvent::Ask { server, ask, method: method.into_owned() }
        }
        FromRunner::Hello { .. }
        | FromRunner::Reply { .. }
        | FromRunner::Progress { .. }
        | FromRunner::Ended { .. } => return Ok(None),
    }))
}
