//! The result of a call, as its runner says it.
//!
//! Owns the check of a runner's words: its JSON is contained, its sentences are bounded. Must never let a runner answer another
//! request than its own.

use std::borrow::Cow;

use harbor_ipc_proto::contained::is_contained;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::runner::{CallFailure, Outcome};

use super::ToolList;

/// The longest message and data of a server's error that are told, in bytes: they are sentences, and written several times.
const MAX_ERROR_MESSAGE: usize = 16 * 1024;
const MAX_ERROR_DATA: usize = 1024 * 1024;

/// The most flaws of a list that are told, and the most characters of each.
const MAX_FLAWS: usize = 20;
const MAX_FLAW: usize = 300;

/// The answer of a server, or of its runner.
#[derive(Debug)]
pub enum ServerAnswer {
    /// MCP's result, as the server wrote it.
    Result(Json),
    /// MCP's result of a tool that says that it has failed.
    ToolError(Json),
    /// A whole list, its number of items, and what is wrong with it.
    Items(Json, u32, Vec<String>),
    /// The tools: the list as the server wrote it, what each of them is, and what is wrong with the list.
    Tools(Json, ToolList, Vec<String>),
    /// The server's JSON-RPC error.
    ServerError {
        /// Its number.
        code: i64,
        /// Its sentence.
        message: String,
        /// Its data.
        data: Option<Json>,
    },
    /// There is no answer.
    Failed(Failure),
}

/// Why a runner has no answer; see [`CallFailure`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The server is not connected.
    NotConnected,
    /// The server does not offer this.
    NotOffered(String),
    /// The answer breaks the protocol.
    Malformed(String),
    /// The answer is longer than this many bytes.
    TooLarge(u64),
    /// The server does not read its input.
    Congested,
    /// The server asked for what it was not offered.
    InputRefused(String),
    /// The arguments do not fit the tool's schema: where, and what is wrong. The server was not asked.
    InvalidArguments(String, String),
    /// The connection to a remote server has broken, or it answered with an error of HTTP.
    Lost(String),
    /// A remote server wants more rights for this than Harbor has there.
    NotAuthorized(String),
}

impl Failure {
    /// The reason, for a sentence about a list.
    #[must_use]
    pub fn in_short(&self) -> String {
        match self {
            Self::NotConnected => "it accepts no requests".into(),
            Self::NotOffered(what) => format!("it does not offer {what}"),
            Self::Malformed(why) => format!("its answer violates the protocol: {why}"),
            Self::TooLarge(limit) => format!("its answer is longer than {limit} bytes"),
            Self::Congested => "it does not read its input".into(),
            Self::InputRefused(why) => format!("it asked for input that it cannot get: {why}"),
            Self::InvalidArguments(_, why) | Self::Lost(why) | Self::NotAuthorized(why) => why.clone(),
        }
    }
}

impl From<Outcome<'_>> for ServerAnswer {
    fn from(outcome: Outcome<'_>) -> Self {
        // A runner is taken for hostile: its JSON must not be able to break out of the reply around it.
        let checked = |text: &str| is_contained(text).then(|| Json::from_valid(text.to_owned()));
        let broken = || Self::Failed(Failure::Malformed("the runner sent invalid JSON".into()));
        match outcome {
            Outcome::Result(text) => checked(&text).map_or_else(broken, Self::Result),
            Outcome::ToolError(text) => checked(&text).map_or_else(broken, Self::ToolError),
            Outcome::Items { items, count, flaws } => {
                checked(&items).map_or_else(broken, |items| Self::Items(items, count, sentences(&flaws)))
            }
            Outcome::Tools { items, tools, flaws } => checked(&items)
                .map_or_else(broken, |items| Self::Tools(items, ToolList::checked(tools), sentences(&flaws))),
            Outcome::ServerError { code, message, data } => Self::ServerError {
                code,
                message: bounded(&message),
                data: data.filter(|data| data.len() <= MAX_ERROR_DATA).and_then(|data| checked(&data)),
            },
            Outcome::Failed(failure) => Self::Failed(failure.into()),
        }
    }
}

/// The first flaws, each on its own line.
fn sentences(flaws: &[Cow<'_, str>]) -> Vec<String> {
    flaws.iter().take(MAX_FLAWS).map(|flaw| one_line(flaw)).collect()
}

/// A text that is not the bridge's, for a sentence of the bridge's: its beginning, on one line.
#[must_use]
pub fn one_line(text: &str) -> String {
    text.chars().take(MAX_FLAW).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A sentence, cut where it is too long.
fn bounded(message: &str) -> String {
    match message.len() > MAX_ERROR_MESSAGE {
        true => format!("{} … (cut)", &message[..message.floor_char_boundary(MAX_ERROR_MESSAGE)]),
        false => message.to_owned(),
    }
}

impl From<CallFailure<'_>> for Failure {
    fn from(failure: CallFailure<'_>) -> Self {
        match failure {
            CallFailure::NotConnected => Self::NotConnected,
            CallFailure::NotOffered(what) => Self::NotOffered(what.into_owned()),
            CallFailure::Malformed(why) => Self::Malformed(why.into_owned()),
            CallFailure::TooLarge { limit } => Self::TooLarge(limit),
            CallFailure::Congested => Self::Congested,
            CallFailure::InputRefused(why) => Self::InputRefused(why.into_owned()),
            CallFailure::InvalidArguments { path, why } => {
                Self::InvalidArguments(path.into_owned(), why.into_owned())
            }
            CallFailure::Lost(why) => Self::Lost(why.into_owned()),
            CallFailure::NotAuthorized(why) => Self::NotAuthorized(why.into_owned()),
        }
    }
}
