//! What is said to a language model and what it says: one model for all providers.
//!
//! ```text
//!  client's JSON ─► Message … ─► bincode ─► harbor-model-worker ─► the provider's own format
//! ```
//!
//! Owns the parts of a message and their bounds. Must never name a field of a provider's format: what only a provider
//! understands is an [`Opaque`] part, which goes back as it came, to the same provider and model only.

use bincode::{BorrowDecode, Encode};

mod bounds;
mod provider;

pub use bounds::{MAX_IMAGE, MAX_IMAGES, Wrong, check};
pub(crate) use provider::named;
pub use provider::{Dialect, Kind};

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub enum Role {
    /// What the model has to heed throughout.
    System,
    /// The person, or who asks for them.
    User,
    /// The model.
    Assistant,
    /// Tools: its parts are [`Part::ToolResult`]s only.
    Tool,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said, in its order.
    pub parts: Vec<Part>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum Part {
    /// Text.
    Text(String),
    /// A picture, in messages of the user.
    Image(Image),
    /// The model wants a tool called.
    ToolCall(ToolCall),
    /// What came of that.
    ToolResult(ToolResult),
    /// What the model thought, as text for people. It goes back to no provider; what has to go back is opaque.
    Reasoning(String),
    /// What only one provider understands.
    Opaque(Opaque),
}

/// A picture. Its data travels with it; nobody fetches one.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Image {
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub media_type: String,
    /// Its bytes, in base64 with padding.
    pub data: String,
}

/// A call that the model wants.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct ToolCall {
    /// The provider's id, or one that the worker made where the provider gave none.
    pub id: String,
    /// The tool's name as it was offered, whatever the provider was told.
    pub name: String,
    /// A JSON object. Where the model wrote none: what it wrote, as a JSON string.
    pub arguments: String,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct ToolResult {
    /// That of the call.
    pub call_id: String,
    /// The tool's name as it was offered.
    pub name: String,
    /// What the tool said; may be empty.
    pub text: String,
    /// What it showed.
    pub images: Vec<Image>,
    /// Whether the call failed.
    pub is_error: bool,
}

/// A part that only one provider understands: signed thoughts, encrypted ones.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Opaque {
    /// The provider's id, as in [`crate::link::model::Target::provider`].
    pub provider: String,
    /// The model that made it, as in [`crate::link::model::Chat::model`].
    pub model: String,
    /// JSON as it came.
    pub json: String,
}

/// A tool that the model may ask for.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Tool {
    /// Any text; the worker gives providers a name that they take.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON schema of its arguments, an object.
    pub schema: String,
}

/// Whether the model has to call a tool.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum ToolChoice {
    /// As it likes.
    Auto,
    /// At least one.
    Required,
    /// None.
    None,
    /// This one, by the name as it was offered.
    Tool(String),
}

/// How the answer is to be. What is absent is the provider's default.
#[derive(Debug, Clone, Default, PartialEq, Encode, BorrowDecode)]
pub struct Options {
    /// Tokens of the answer at most.
    pub max_tokens: Option<u32>,
    /// Randomness.
    pub temperature: Option<f64>,
    /// The share of likely tokens that is chosen from.
    pub top_p: Option<f64>,
    /// Texts at which the answer ends.
    pub stop: Vec<String>,
    /// The JSON schema that the answer has to satisfy.
    pub response_schema: Option<String>,
    /// The provider's word for how much it thinks: `none`, `low`, `medium`, `high`.
    pub reasoning_effort: Option<String>,
    /// The window to be used where the request says so (Ollama); the same throughout a conversation, as another one
    /// loads the model anew.
    pub context_window: Option<u32>,
}

/// Tokens, where the provider has told them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Usage {
    /// Read, those from a cache included.
    pub input_tokens: Option<u64>,
    /// Written, thoughts included.
    pub output_tokens: Option<u64>,
    /// Of those read, from a cache.
    pub cached_tokens: Option<u64>,
    /// Of those written, thoughts.
    pub reasoning_tokens: Option<u64>,
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub enum Finish {
    /// The model was done.
    Stop,
    /// It wants tools called.
    ToolCalls,
    /// It was cut off by a limit of tokens. Calls of such an answer are not to be run.
    Length,
    /// The provider kept the answer back (a filter, a refusal).
    Error,
}

impl Finish {
    /// Its name for clients (`finishReason`).
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::ToolCalls => "tool_calls",
            Self::Length => "length",
            Self::Error => "error",
        }
    }
}
