//! An answer that has been read: its calls, the text for the person, and what was not taken for a call.
//!
//! Owns these types and what must be known to read an answer. Must never read one.

use super::heard::HeardCalls;
use super::offered::OfferedTools;
use crate::untrusted::Nonce;

/// A call that a model has written as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextCall {
    /// The tool's name as it was offered.
    pub name: String,
    /// A JSON object, in the types of the tool's schema.
    pub arguments: String,
}

/// The reason why something that looks like a call is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftReason {
    /// It stands in code or in quotation marks.
    Quoted,
    /// It is an example: the text goes on after it.
    InProse,
    /// An equal call stands in a result, a page, an attachment or a message.
    Copied,
    /// It is too long to be looked for in what the model has read.
    TooLong,
    /// The model was given tools in its provider's own way.
    ToolsGiven,
    /// The word of this turn is missing, or is that of another one.
    WrongNonce,
    /// It has another format than the first call of the answer.
    OtherFormat,
    /// There are too many calls before it.
    TooMany,
    /// No offered tool has this name. Only such a call is kept from the person.
    NotOffered,
}

impl LeftReason {
    /// The reason as a sentence's end, for the person and the model.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Quoted => "it stands in a quotation",
            Self::InProse => "it is an example in a text",
            Self::Copied => "the same call stands in a text that the model has read",
            Self::TooLong => "it is too long to be looked for in the texts that the model has read",
            Self::ToolsGiven => "the model can call tools without writing the call as text",
            Self::WrongNonce => "it does not have the word of this turn",
            Self::OtherFormat => "it has another format than the first call",
            Self::TooMany => "there are too many calls in the answer",
            Self::NotOffered => "there is no such tool",
        }
    }
}

/// Something that looks like a call and is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftAsText {
    /// The tool's name as it is written.
    pub tool: String,
    /// Why it is no call.
    pub why: LeftReason,
}

/// An answer of a model, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadAnswer {
    /// The calls, in the order in which they were written.
    pub calls: Vec<TextCall>,
    /// The text for the person.
    pub rest: String,
    /// All that looks like a call and is none.
    pub left: Vec<LeftAsText>,
    /// True if the text breaks off within a call. Then there are no calls.
    pub is_cut: bool,
}

/// The knowledge that decides which text is a call.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// The tools that the model was told of.
    pub tools: &'a OfferedTools,
    /// The word of this turn, if the model was told how to call with it.
    pub nonce: Option<&'a Nonce>,
    /// True if the model was given no tools of its provider's kind, so that its own format counts.
    pub takes_native: bool,
    /// The calls in all texts that the model has read and did not write.
    pub heard: &'a HeardCalls,
}
