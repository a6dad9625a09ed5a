//! The parts of an answer that only Gemini understands, as the conversation keeps them.
//!
//! ```text
//!  {functionCall, thoughtSignature} ─► SignedPart (call), then the call     {text, thoughtSignature} ─► the text, then SignedPart (text)
//!  {thoughtSignature} alone         ─► SignedPart (alone)
//! ```
//!
//! Owns where a signature belongs: before its call, behind its text.

use serde::{Deserialize, Serialize};

/// The part that a signature is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SignedPlace {
    Call,
    Text,
    Alone,
}

/// A signature, and what else Gemini gave with the part.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SignedPart {
    pub part: SignedPlace,
    #[serde(rename = "thoughtSignature", skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The id that Gemini gave the call: not every model does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}
