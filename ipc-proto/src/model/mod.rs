//! The messages that go to a language model and come from it: one form for all providers.
//!
//! ```text
//!  client's JSON ─► Message … ─► bincode ─► harbor-model-worker ─► the provider's own format
//! ```
//!
//! Owns the parts of a message and their bounds. Must never name a field of a provider's format. Data that only a provider
//! understands is an [`Opaque`] part, which goes back unchanged, to the same provider and model only.

use bincode::{BorrowDecode, Encode};

mod audio;
mod bounds;
mod provider;
mod setting;

pub use audio::{Audio, InvalidAudioReason, MAX_AUDIO, audio_ending, check_audio};
pub use bounds::{
    InvalidMessagesReason, MAX_IMAGE, MAX_IMAGES, check, check_asked, check_kept, picture_type,
};
pub(crate) use provider::named;
pub use provider::{Dialect, Kind};
pub use setting::Setting;

named! {
    /// The speaker of a message.
    Role {
        /// Instructions that the model must follow throughout.
        System = "system",
        /// The person, or another principal.
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// Tools: its parts are [`Part::ToolResult`]s only.
        Tool = "tool",
    }
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct ModelMessage {
    /// The speaker.
    pub role: Role,
    /// The content, in order.
    pub parts: Vec<Part>,
}

impl ModelMessage {
    /// Its text parts, one behind the other.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum Part {
    /// Text.
    Text(String),
    /// A picture, in messages of the user.
    Image(Image),
    /// A call that the model wants.
    ToolCall(ToolCall),
    /// The result of such a call.
    ToolResult(ToolResult),
    /// The model's thoughts, as text for people. They go back to no provider; parts that must go back are opaque.
    Reasoning(String),
    /// Data that only one provider understands.
    Opaque(Opaque),
    /// A text that the user attached. No model gets it so: before it is sent, it becomes a [`Part::Text`] that says what it is.
    Attached(Attachment),
}

/// A text that a person attached to a message: of a file, or of a web page. It is no instruction.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Attachment {
    /// The address, if it is a web page.
    pub url: Option<String>,
    /// The page's title, or the file's name; may be empty.
    pub title: String,
    /// The text.
    pub text: String,
}

/// A picture. Its data comes with it; nobody fetches a picture.
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
    /// The tool's name as it was offered, whatever name the provider was given.
    pub name: String,
    /// The arguments, a JSON object. If the model wrote anything else: its text, as a JSON string.
    pub arguments: String,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct ToolResult {
    /// The id of the call.
    pub call_id: String,
    /// The tool's name as it was offered.
    pub name: String,
    /// The text of the result; may be empty.
    pub text: String,
    /// The pictures of the result.
    pub images: Vec<Image>,
    /// True if the call failed.
    pub is_error: bool,
}

/// Data that only one provider understands, such as signed or encrypted thoughts.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Opaque {
    /// The provider's id, as in [`crate::link::model::Target::provider`].
    pub provider: String,
    /// The model that made it, as in [`crate::link::model::Chat::model`].
    pub model: String,
    /// The data, JSON as it came.
    pub json: String,
}

/// A tool that the model may ask for.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct ModelTool {
    /// The name, any text; the worker gives providers a name that they take.
    pub name: String,
    /// Its description.
    pub description: String,
    /// The JSON schema of its arguments, an object.
    pub schema: String,
}

/// The rule whether the model must call a tool.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum ToolChoice {
    /// The model decides.
    Auto,
    /// It must call at least one tool.
    Required,
    /// It must call none.
    None,
    /// It must call this tool, by the name that was offered.
    Tool(String),
}

/// Settings of the answer. `None`: the provider's default.
#[derive(Debug, Clone, Default, PartialEq, Encode, BorrowDecode)]
pub struct Options {
    /// The most tokens of the answer.
    pub max_tokens: Option<u32>,
    /// The randomness.
    pub temperature: Option<f64>,
    /// The share of likely tokens that is chosen from.
    pub top_p: Option<f64>,
    /// Texts at which the answer ends.
    pub stop: Vec<String>,
    /// The JSON Schema that the answer must satisfy.
    pub response_schema: Option<String>,
    /// The provider's word for how much the model thinks: `none`, `low`, `medium`, `high`.
    pub reasoning_effort: Option<String>,
    /// The window to use, if the request must say so (Ollama). It stays the same throughout a conversation, since another
    /// one makes Ollama load the model anew.
    pub context_window: Option<u32>,
    /// The parts of requests that the model has refused before.
    pub refused: Vec<Setting>,
}

/// The tokens of an answer, as far as the provider reports them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Usage {
    /// Tokens that were read, with those from a cache.
    pub input_tokens: Option<u64>,
    /// Tokens that were written, with thoughts.
    pub output_tokens: Option<u64>,
    /// The part of `input_tokens` that came from a cache.
    pub cached_tokens: Option<u64>,
    /// The part of `output_tokens` that were thoughts.
    pub reasoning_tokens: Option<u64>,
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub enum Finish {
    /// The model was done.
    Stop,
    /// The model wants tools called.
    ToolCalls,
    /// A limit of tokens cut it off. Calls of such an answer must not be run.
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
