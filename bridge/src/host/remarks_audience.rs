//! The notes beside the answer of a call, and who reads them: the person, and the person's AI clients and turns.
//!
//! Owns the rule that no page reads one: a note names files of this machine. The source writes the notes.

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::json::Json;

use super::asker::Caller;
use crate::link::{CallError, ServerAnswer};
use crate::supervisor::{RemarkedOutcome, UnansweredReason};

/// How much of a failure's text is examined, in bytes. Texts that say what was refused are shorter.
const LONGEST: usize = 64 * 1024;

/// The reader of the notes beside a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hears {
    /// A page: it reads none.
    Nothing,
    /// A model: the person's AI client, or a turn.
    Model,
    /// The person.
    Person,
}

/// Finds who reads the notes beside a call of this caller. `in_turn` is true if a turn makes the call for the person.
pub(super) fn hears(caller: &Caller, in_turn: bool) -> Hears {
    match caller.origin() {
        Some(origin) if !origin.is_client() => Hears::Nothing,
        Some(_) => Hears::Model,
        None if in_turn => Hears::Model,
        None => Hears::Person,
    }
}

/// The outcome of a call. None if no source was asked.
pub(super) fn came(answer: &Result<ServerAnswer, UnansweredReason>) -> Option<RemarkedOutcome> {
    let failed =
        |text: &str| Some(RemarkedOutcome::Failed(text[..text.floor_char_boundary(LONGEST)].to_owned()));
    match answer {
        Ok(ServerAnswer::Result(_)) => Some(RemarkedOutcome::Result),
        Ok(ServerAnswer::ToolError(result)) => failed(result.as_str()),
        Ok(ServerAnswer::ServerError { message, .. }) => failed(message),
        Err(UnansweredReason::Lost(CallError::Timeout)) => Some(RemarkedOutcome::TimedOut),
        Ok(_) | Err(_) => None,
    }
}

/// An error with the notes beside it.
pub(super) fn with(error: ErrorBody, said: &[String]) -> ErrorBody {
    if said.is_empty() {
        return error;
    }
    let said = said.iter().map(|text| Json::string(text).into_string()).collect::<Vec<_>>();
    error.with_json("beside", Json::from_valid(format!("[{}]", said.join(","))))
}
