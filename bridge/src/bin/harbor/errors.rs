//! Why a command failed: in words with the next step, as JSON, and as an exit code.
//!
//! Owns the exit codes. Must never print.

use std::io;
use std::process::ExitCode;

use harbor_bridge::front::dial::DialError;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::put_pair;
use harbor_ipc_proto::json::Json;

use crate::screen::disarm;

/// How a command ended; the numbers are for scripts and stay as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    Done = 0,
    Failed = 1,
    Usage = 2,
    NoBridge = 3,
    NotFound = 4,
    Unavailable = 5,
    TimedOut = 6,
    ToolFailed = 7,
    Denied = 8,
}

impl Exit {
    /// All of them, with their meaning for the help text.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Done, "done"),
        (Self::Failed, "the operation failed"),
        (Self::Usage, "the command line is wrong"),
        (Self::NoBridge, "the bridge cannot be reached"),
        (Self::NotFound, "there is no such server or tool"),
        (Self::Unavailable, "the server is not running or could not be started"),
        (Self::TimedOut, "it took too long"),
        (Self::ToolFailed, "the tool failed or reported an error"),
        (Self::Denied, "permission was denied"),
    ];

    fn of(code: Code) -> Self {
        match code {
            Code::InvalidParams => Self::Usage,
            Code::Unauthorized | Code::VersionMismatch | Code::ShuttingDown | Code::BridgeUnreachable => {
                Self::NoBridge
            }
            Code::NotFound => Self::NotFound,
            Code::NotConnected | Code::ConnectionFailed | Code::ServerUnavailable => Self::Unavailable,
            Code::ToolTimeout => Self::TimedOut,
            Code::ToolFailed | Code::ProtocolError => Self::ToolFailed,
            Code::PermissionDenied => Self::Denied,
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
    pub message: String,
    /// The details as JSON text.
    pub details: Option<String>,
    /// The server that was asked for.
    pub server: Option<String>,
}

impl Refusal {
    pub fn is(&self, code: Code) -> bool {
        self.code == code.as_str()
    }

    fn exit(&self) -> Exit {
        Code::ALL.iter().find(|code| self.is(**code)).map_or(Exit::Failed, |code| Exit::of(*code))
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

    /// Whether it is about a call that was never sent, because its server was stopped, is stopping, or never started.
    pub fn found_it_stopped(&self) -> bool {
        let stopped = self.detail("state").is_some_and(|state| state == "stopped" || state == "stopping");
        self.is(Code::ServerUnavailable) && stopped && self.detail("sent") == Some(false.into())
    }

    /// What the bridge says, with the one word for why when the server is what failed.
    fn reason(&self) -> String {
        let of_server = self.is(Code::ServerUnavailable) || self.is(Code::ConnectionFailed);
        let cause = self.text("cause");
        match cause.filter(|cause| of_server && !self.message.contains(cause)) {
            Some(cause) => format!("{} ({cause})", self.message),
            None => self.message.clone(),
        }
    }

    /// What the person may do now; the bridge's message says what is wrong.
    fn next_step(&self) -> Option<String> {
        let code = Code::ALL.iter().copied().find(|code| self.is(*code))?;
        let server = self.server.as_deref().unwrap_or("NAME");
        Some(match code {
            Code::NotFound => "`harbor list` shows the servers, `harbor tools` their tools".into(),
            Code::NotConnected => format!("start it with `harbor start {server}`"),
            Code::ConnectionFailed => format!("`harbor logs {server}` shows what the server said"),
            Code::ServerUnavailable => {
                format!("`harbor start {server}` tries again; `harbor logs {server}` shows what it said")
            }
            Code::ToolTimeout => "a call may have more time with `--timeout SECONDS`".into(),
            Code::ShuttingDown => "run the command again; it starts a new bridge".into(),
            Code::UnknownMessageType => {
                "the bridge is older than this program; end it with `harbor shutdown`".into()
            }
            _ => return None,
        })
    }
}

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The command line is wrong; the text says how.
    Usage(String),
    /// There is no bridge to talk to.
    Dial(DialError),
    /// The bridge answered with an error.
    Refused(Box<Refusal>),
    /// The connection ended before the answer.
    Lost,
    /// The connection ended while we followed what happens.
    Ended,
    /// No answer came in this many seconds.
    Slow(u64),
    /// What came is not the protocol.
    Garbled(&'static str),
    /// The result could not be read or written.
    Io(&'static str, io::Error),
    /// Whoever reads our stdout has seen enough.
    Unread,
    /// Everything has been said already.
    Said(Exit),
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
    pub fn refused(code: Code, message: String, server: &str) -> Self {
        let (code, server) = (code.as_str().to_owned(), Some(server.to_owned()));
        Self::Refused(Box::new(Refusal { code, message, details: None, server }))
    }

    pub fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::Usage,
            Self::Dial(_) | Self::Lost | Self::Ended | Self::Garbled(_) => Exit::NoBridge,
            Self::Refused(refusal) => refusal.exit(),
            Self::Slow(_) => Exit::TimedOut,
            Self::Io(..) => Exit::Failed,
            Self::Unread => Exit::Done,
            Self::Said(exit) => *exit,
        }
    }

    /// The text for people; `None` when there is nothing to say.
    pub fn message(&self) -> Option<String> {
        Some(match self {
            Self::Usage(text) => text.clone(),
            Self::Dial(error) => error.to_string(),
            Self::Refused(refusal) => {
                // Set apart from what we say ourselves, and harmless wherever it is looked at.
                let tail = refusal.text("stderr_tail").map(|tail| disarm(&tail).replace('\n', "\n    "));
                let tail = tail.map(|tail| format!("it said:\n    {tail}"));
                [Some(refusal.reason()), tail, refusal.next_step()]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join("\n")
            }
            Self::Lost => "the bridge closed the connection before it answered; run the command again".into(),
            Self::Ended => "the bridge has ended, and nothing more will come; run the command again".into(),
            Self::Slow(seconds) => format!("no answer from the bridge in {seconds} seconds"),
            Self::Garbled(what) => format!(
                "the bridge sent {what}; if it is of another version, end it with `harbor shutdown` and try again"
            ),
            Self::Io(what, error) => format!("cannot {what}: {error}"),
            Self::Unread | Self::Said(_) => return None,
        })
    }

    /// `{"error":{code, message, details?}}`; `None` when there is nothing to say.
    pub fn json(&self) -> Option<String> {
        let (code, details) = match self {
            Self::Usage(_) => (Code::InvalidParams.as_str(), None),
            Self::Dial(error) => (error.code().as_str(), None),
            Self::Refused(refusal) => (refusal.code.as_str(), refusal.details.clone()),
            Self::Slow(_) => (Code::ToolTimeout.as_str(), None),
            Self::Garbled(_) => (Code::ProtocolError.as_str(), None),
            Self::Ended => (Code::BridgeUnreachable.as_str(), None),
            Self::Lost | Self::Io(..) => (Code::Internal.as_str(), None),
            Self::Unread | Self::Said(_) => return None,
        };
        let message = match self {
            Self::Refused(refusal) => refusal.message.clone(),
            _ => self.message()?,
        };
        let mut out = b"{\"error\":{".to_vec();
        put_pair(&mut out, true, "code", &code.to_owned());
        put_pair(&mut out, false, "message", &message);
        put_pair(&mut out, false, "details", &details.map(Json::from_valid));
        out.extend_from_slice(b"}}");
        String::from_utf8(out).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_does_not_start_is_heard() {
        let mut failure = refused("connection_failed");
        let Failure::Refused(refusal) = &mut failure else { panic!("refused") };
        refusal.details = Some(r#"{"stderr_tail":"no such file\nbye"}"#.into());
        let text = failure.message().unwrap();
        assert_eq!(
            text,
            "no\nit said:\n    no such file\n    bye\n`harbor logs time` shows what the server said"
        );
    }

    fn refused(code: &str) -> Failure {
        let details = Some(r#"{"cause":"x"}"#.to_owned());
        let refusal =
            Refusal { code: code.into(), message: "no".into(), details, server: Some("time".into()) };
        Failure::Refused(Box::new(refusal))
    }

    #[test]
    fn exit_codes() {
        for (code, exit) in [
            ("invalid_params", 2),
            ("shutting_down", 3),
            ("not_found", 4),
            ("not_connected", 5),
            ("connection_failed", 5),
            ("ERR_SERVER_UNAVAILABLE", 5),
            ("ERR_TOOL_TIMEOUT", 6),
            ("ERR_TOOL_FAILED", 7),
            ("ERR_PERMISSION_DENIED", 8),
            ("ERR_RATE_LIMITED", 1),
            ("of_the_future", 1),
        ] {
            assert_eq!(refused(code).exit() as u8, exit, "{code}");
        }
        assert_eq!(Failure::Lost.exit() as u8, 3);
        assert_eq!(Failure::Ended.exit() as u8, 3);
        assert_eq!(Failure::Slow(1).exit() as u8, 6);
        assert_eq!(Failure::Usage(String::new()).exit() as u8, 2);
        let all: Vec<u8> = Exit::ALL.iter().map(|(exit, _)| *exit as u8).collect();
        assert_eq!(all, (0..9).collect::<Vec<u8>>());
    }

    #[test]
    fn a_message_says_what_to_do_next() {
        assert_eq!(refused("not_connected").message().unwrap(), "no\nstart it with `harbor start time`");
        assert_eq!(refused("ERR_INTERNAL").message().unwrap(), "no");
    }

    #[test]
    fn a_server_that_failed_is_told_with_its_cause() {
        assert_eq!(
            refused("ERR_SERVER_UNAVAILABLE").message().unwrap(),
            "no (x)\n`harbor start time` tries again; `harbor logs time` shows what it said"
        );
        let stopped = |code: &str, sent: bool| {
            let details = Some(format!(r#"{{"cause":"stopped","state":"stopped","sent":{sent}}}"#));
            let message = "it is stopped".to_owned();
            Refusal { code: code.into(), message, details, server: None }
        };
        assert!(stopped("ERR_SERVER_UNAVAILABLE", false).found_it_stopped());
        assert!(!stopped("ERR_SERVER_UNAVAILABLE", true).found_it_stopped(), "it may have done its work");
        assert!(!stopped("connection_failed", false).found_it_stopped());
        assert_eq!(stopped("connection_failed", false).reason(), "it is stopped", "not twice");
    }

    #[test]
    fn as_json() {
        assert_eq!(
            refused("not_found").json().unwrap(),
            r#"{"error":{"code":"not_found","message":"no","details":{"cause":"x"}}}"#
        );
        assert_eq!(
            Failure::Usage("say \"x\"".into()).json().unwrap(),
            r#"{"error":{"code":"invalid_params","message":"say \"x\""}}"#
        );
        assert_eq!(Failure::Said(Exit::ToolFailed).json(), None);
    }

    #[test]
    fn a_reader_that_left_is_no_failure() {
        let failure = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!((failure.exit(), failure.message()), (Exit::Done, None));
    }
}
