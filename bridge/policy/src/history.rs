//! Checks that a conversation may be sent to a model, and repairs one that may not.
//!
//! ```text
//!  assistant: calls a, b ─► tool: results of a and b, each exactly once ─► anything else
//! ```
//!
//! A provider refuses a conversation with a call that has no result, and goes on refusing it: the session would be lost. Owns
//! these rules, and the texts that stand in for missing parts. Must never drop what a person or a model said.

mod fit;
mod summary;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use harbor_ipc_proto::model::{
    self, Image, InvalidMessagesReason, MAX_IMAGES, ModelMessage, Part, Role, ToolCall, ToolResult,
};

pub use fit::{Fitting, Shortened, fit, tokens_of};
pub use summary::{Replaceable, UnfitSummaryReason, accepted, replaceable, told};

/// The text in place of a call's result, where nobody knows the outcome.
pub const NO_RESULT: &str =
    "There is no result: the call was interrupted. It may have taken effect, completely or in part.";

/// The text in place of a picture that providers do not take.
pub const NO_PICTURE: &str =
    "(A picture was here. It was too large, or of a kind that models do not accept.)";

/// The text in place of a picture when there are too many.
pub const OLD_PICTURE: &str = "(A picture was here. Later pictures have replaced it.)";

/// The longest id that every provider takes, in bytes.
const LONGEST_ID: usize = 40;

/// Why a conversation may not be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// A part of it, by itself.
    Part(InvalidMessagesReason),
    /// An id of a call is empty, or one that some provider refuses.
    Id,
    /// Two calls have one id.
    DoubledId,
    /// A call has no result before something else is said.
    NoResult,
    /// A result has no call before it, or its call has one already.
    NoCall,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Part(wrong) => write!(f, "{wrong}"),
            Self::Id => f.write_str("a tool call has an id that providers refuse"),
            Self::DoubledId => f.write_str("two tool calls have the same id"),
            Self::NoResult => f.write_str("a tool call has no result"),
            Self::NoCall => f.write_str("a result has no tool call"),
        }
    }
}

impl std::error::Error for Broken {}

/// Checks that these messages may be sent. An empty conversation passes, though there is nothing to send.
///
/// # Errors
/// The first fault in them.
pub fn check(messages: &[ModelMessage]) -> Result<(), Broken> {
    match model::check_kept(messages) {
        Ok(()) | Err(InvalidMessagesReason::Empty) => {}
        Err(wrong) => return Err(Broken::Part(wrong)),
    }
    let mut ids = BTreeSet::new();
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for message in messages {
        if message.role != Role::Tool && !open.is_empty() {
            return Err(Broken::NoResult);
        }
        for part in &message.parts {
            match part {
                Part::ToolCall(call) if !is_id(&call.id) => return Err(Broken::Id),
                Part::ToolCall(call) if !ids.insert(call.id.as_str()) => return Err(Broken::DoubledId),
                Part::ToolCall(call) => {
                    open.insert(&call.id);
                }
                Part::ToolResult(result) if !open.remove(result.call_id.as_str()) => {
                    return Err(Broken::NoCall);
                }
                _ => {}
            }
        }
    }
    if open.is_empty() { Ok(()) } else { Err(Broken::NoResult) }
}

/// Repairs a conversation so that it may be sent. One that may be sent already stays as it is.
#[must_use]
pub fn repair(messages: Vec<ModelMessage>) -> Vec<ModelMessage> {
    if check(&messages).is_ok() {
        return messages;
    }
    let mut taken = taken(&messages);
    let mut turns: Vec<Turn> = Vec::new();
    for message in messages {
        let mut kept = ModelMessage { role: message.role, parts: Vec::new() };
        let mut calls = Vec::new();
        for part in message.parts {
            match part {
                Part::ToolResult(result) => answer(&mut turns, result),
                Part::ToolCall(mut call) if message.role == Role::Assistant => {
                    let said = call.id.clone();
                    call.id = taken.own(said.clone());
                    calls.push(PastCall { said, call: call.clone(), result: None });
                    kept.parts.push(Part::ToolCall(call));
                }
                part => kept.parts.extend(placed(message.role, part)),
            }
        }
        if !kept.parts.is_empty() {
            turns.push(Turn { message: kept, calls });
        }
    }
    let mut messages: Vec<ModelMessage> = turns.into_iter().flat_map(Turn::whole).collect();
    thin_out(&mut messages);
    messages
}

/// A message and what came of its calls.
struct Turn {
    message: ModelMessage,
    calls: Vec<PastCall>,
}

struct PastCall {
    /// The id as it was, by which its result is found.
    said: String,
    call: ToolCall,
    result: Option<ToolResult>,
}

impl Turn {
    /// The message, and all results directly behind it.
    fn whole(self) -> impl Iterator<Item = ModelMessage> {
        let result = |call: PastCall| {
            let ToolCall { id, name, .. } = call.call;
            let none = || ToolResult {
                call_id: String::new(),
                name,
                text: NO_RESULT.into(),
                images: Vec::new(),
                is_error: true,
            };
            let mut result = call.result.unwrap_or_else(none);
            result.call_id = id;
            Part::ToolResult(result)
        };
        let results: Vec<_> = self.calls.into_iter().map(result).collect();
        let results = (!results.is_empty()).then_some(ModelMessage { role: Role::Tool, parts: results });
        std::iter::once(self.message).chain(results)
    }
}

/// Gives a result to the last call before it that has its id and no result; one without such a call is dropped.
fn answer(turns: &mut [Turn], mut result: ToolResult) {
    let is_open = |call: &&mut PastCall| call.said == result.call_id && call.result.is_none();
    let Some(call) = turns.iter_mut().rev().find_map(|turn| turn.calls.iter_mut().find(is_open)) else {
        return;
    };
    for image in std::mem::take(&mut result.images) {
        if is_taken(&image) {
            result.images.push(image);
        } else {
            add_sentence(&mut result.text, NO_PICTURE);
        }
    }
    call.result = Some(result);
}

/// Part of a message of this role, if it can say it. A text is never dropped unless tools would have said it.
fn placed(role: Role, part: Part) -> Option<Part> {
    let part = match part {
        Part::Image(image) if role != Role::User || !is_taken(&image) => Part::Text(NO_PICTURE.into()),
        part => part,
    };
    let fits = match &part {
        Part::Text(_) => role != Role::Tool,
        Part::Image(_) | Part::Attached(_) => role == Role::User,
        Part::Reasoning(_) | Part::Opaque(_) => role == Role::Assistant,
        Part::ToolCall(_) | Part::ToolResult(_) => false,
    };
    fits.then_some(part)
}

/// True if providers take the picture.
fn is_taken(image: &Image) -> bool {
    let message = ModelMessage { role: Role::User, parts: vec![Part::Image(image.clone())] };
    model::check(std::slice::from_ref(&message)).is_ok()
}

/// Leaves the last pictures only, as many as a request may have.
fn thin_out(messages: &mut [ModelMessage]) {
    let mut left = MAX_IMAGES;
    for part in messages.iter_mut().rev().flat_map(|message| message.parts.iter_mut().rev()) {
        match part {
            Part::Image(_) if left == 0 => *part = Part::Text(OLD_PICTURE.into()),
            Part::Image(_) => left -= 1,
            Part::ToolResult(result) => {
                let surplus = result.images.len().saturating_sub(left);
                for _ in result.images.drain(..surplus) {
                    add_sentence(&mut result.text, OLD_PICTURE);
                }
                left -= result.images.len();
            }
            _ => {}
        }
    }
}

fn add_sentence(text: &mut String, sentence: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(sentence);
}

/// True if every provider takes this id.
fn is_id(id: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=LONGEST_ID).contains(&id.len()) && id.bytes().all(fits)
}

/// Ids that calls have already, and how many were made.
#[derive(Default)]
struct Taken {
    /// All that were said, so that none is made twice, and whether a call has it by now.
    ids: BTreeMap<String, bool>,
    made: usize,
}

fn taken(messages: &[ModelMessage]) -> Taken {
    let parts = messages.iter().flat_map(|message| &message.parts);
    let id =
        |part: &Part| if let Part::ToolCall(call) = part { Some((call.id.clone(), false)) } else { None };
    Taken { ids: parts.filter_map(id).collect(), made: 0 }
}

impl Taken {
    /// The id itself for the first call that has it, where it may be sent; else a new one.
    fn own(&mut self, id: String) -> String {
        if is_id(&id) && !self.ids.insert(id.clone(), true).unwrap_or_default() {
            return id;
        }
        loop {
            self.made += 1;
            let made = format!("call_harbor_{}", self.made);
            if !self.ids.contains_key(&made) {
                self.ids.insert(made.clone(), true);
                return made;
            }
        }
    }
}

#[cfg(test)]
mod tests;
