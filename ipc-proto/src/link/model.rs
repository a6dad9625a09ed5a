//! The messages between the bridge and the model worker. Append only.
//!
//! ```text
//!   Hello ⇄ Hello,  then
//!   ► Chat { id }   ─► Event { id, Start }, … , Event { id, End | Error }    exactly one of the last two, as the last
//!   ► More { id }      further deltas may come; without credit the provider's stream is not read
//!   ► Cancel { id }    the provider's connection is dropped; there is no answer, and events on their way may still come
//!   ► Models { id } ─► Models { id } | Failed { id }
//!   ► Count { id }  ─► Counted { id } | Failed { id }
//!   ► Scale { id }  ─► Scaled { id } | Failed { id }
//!   ► Transcribe { id } ─► Transcribed { id } | Failed { id }
//!   ► Check { id }  ─► Checked { id }
//!   ► Detect { id } ─► Detected { id }
//!   ► Await { id }  ─► Checked { id }      once an engine has loaded its model, or the time is over
//!   ► Pull { id }   ─► Pulling { id }, … , Pulled { id } | Failed { id }
//!   ► Shutdown, or the end of the link ─► the process ends
//! ```
//!
//! The worker is started as `harbor-model-worker BRIDGE_PID` with the link as its standard input and output. It keeps
//! nothing between requests: each request brings its key. The bridge chooses the ids, and uses none twice while the link
//! lasts.

use bincode::{BorrowDecode, Encode};

use crate::model::{
    Audio, Dialect, Finish, Image, Kind, ModelMessage, ModelTool, Options, Setting, ToolChoice, Usage,
};
use crate::secret::Secret;

/// From the bridge to the model worker.
#[derive(Debug, Clone, PartialEq, Encode, BorrowDecode)]
pub enum ToModel {
    /// First message: the bridge's link protocol and build.
    Hello {
        /// [`crate::LINK_PROTOCOL`].
        protocol: u32,
        /// [`crate::BUILD`].
        build: String,
    },
    /// Drop all open requests and exit.
    Shutdown,
    /// Have a model answer a conversation.
    Chat(Chat),
    /// The bridge takes this many further deltas of a chat.
    More {
        /// The id of the chat.
        id: u32,
        /// How many further deltas.
        deltas: u32,
    },
    /// Nobody waits for this request any more, whatever its kind.
    Cancel {
        /// The id of the request.
        id: u32,
    },
    /// List the models of a provider.
    Models {
        /// Comes back in the answer.
        id: u32,
        /// The provider.
        target: Target,
    },
    /// Check that a provider answers and takes the key.
    Check {
        /// Comes back in the answer.
        id: u32,
        /// The provider.
        target: Target,
    },
    /// Find the providers that run on this machine. No key goes to any of them.
    Detect {
        /// Comes back in the answer.
        id: u32,
        /// The places to look at, at most 16: those of [`PLACES`] where no server of Harbor's listens.
        places: Vec<ProviderPort>,
    },
    /// Count the tokens that a chat would read, if the provider can. The chat is not answered.
    Count(Chat),
    /// Scale a picture down to the size at which models look at one.
    Scale {
        /// Comes back in the answer.
        id: u32,
        /// The picture.
        image: Image,
        /// The longest side that the result may have, in pixels.
        longest: u32,
    },
    /// Have a recording of speech transcribed.
    Transcribe(Transcription),
    /// Wait until an engine of Harbor's own has loaded its model. Answered by one [`FromModel::Checked`]; dropping the request
    /// ends the wait.
    Await {
        /// Comes back in the answer.
        id: u32,
        /// The engine.
        target: Target,
        /// How long it may take, in milliseconds.
        limit_ms: u64,
    },
    /// Have an Ollama fetch a model.
    Pull {
        /// Comes back in each answer.
        id: u32,
        /// The Ollama.
        target: Target,
        /// The model, in its words.
        model: String,
    },
}

/// The address of a provider and how to speak to it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Target {
    /// The id of the person's provider. Opaque parts belong to it.
    pub provider: String,
    /// The kind of the provider.
    pub kind: Kind,
    /// The format of its requests and answers.
    pub dialect: Dialect,
    /// http or https; without TLS on this machine only, unless private addresses are allowed. `/v1/chat/completions` is
    /// added to a URL without a path, `/chat/completions` to any other; for `responses` and `gemini` (`/v1beta`)
    /// likewise. For `anthropic` and `ollama`, a `/v1` or `/api` at its end is left out.
    pub base_url: String,
    /// True if the provider may be at a private address. A URL that names this machine may always be at its addresses.
    pub allow_private: bool,
    /// The key. It goes to scheme, host and port of `base_url` and nowhere else.
    pub key: Option<Secret>,
    /// The path of the Unix socket at which it answers, if it is an engine of Harbor's own. Then `base_url` is connected to
    /// nowhere else.
    pub socket: Option<String>,
}

/// A request to a model.
#[derive(Debug, Clone, PartialEq, Encode, BorrowDecode)]
pub struct Chat {
    /// Comes back in each event.
    pub id: u32,
    /// The provider to ask.
    pub target: Target,
    /// The model, in the provider's words.
    pub model: String,
    /// The conversation so far; system messages come first. See [`crate::model::check`].
    pub messages: Vec<ModelMessage>,
    /// The tools that the model may call.
    pub tools: Vec<ModelTool>,
    /// Whether the model must call a tool.
    pub tool_choice: ToolChoice,
    /// Settings of the answer.
    pub options: Options,
    /// True if the provider is to send the answer piece by piece. The events are the same; without it each text comes whole.
    pub stream: bool,
    /// How many deltas (text, reasoning, arguments) may come before the first [`ToModel::More`]; `None`: all.
    pub credit: Option<u32>,
    /// The time limits of the chat.
    pub limits: ChatLimits,
}

/// A recording of speech, and the model that makes a text of it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Transcription {
    /// Comes back in the answer.
    pub id: u32,
    /// The provider to ask.
    pub target: Target,
    /// The model, in the provider's words.
    pub model: String,
    /// The recording. See [`crate::model::check_audio`].
    pub audio: Audio,
    /// The language that is spoken, like `en`, where the caller knows it.
    pub language: Option<String>,
    /// Words that help the model with names and terms.
    pub prompt: Option<String>,
}

/// The time limits of a chat, in milliseconds; 0: the worker's own choice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, BorrowDecode)]
pub struct ChatLimits {
    /// How long nothing may come, before the answer's first byte or between two bytes.
    pub idle_ms: u64,
    /// How long the whole chat may take, not counting the time without credit.
    pub total_ms: u64,
}

/// A port of this machine, and the provider that may be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub struct ProviderPort {
    /// The kind of provider that must prove itself there.
    pub kind: Kind,
    /// The port at 127.0.0.1.
    pub port: u16,
}

/// The usual ports of local providers; of one kind, the newer port first.
pub const PLACES: [ProviderPort; 6] = [
    ProviderPort { kind: Kind::Ollama, port: 11434 },
    ProviderPort { kind: Kind::LlamaServer, port: 9931 },
    ProviderPort { kind: Kind::LlamaServer, port: 8080 },
    ProviderPort { kind: Kind::LmStudio, port: 1234 },
    ProviderPort { kind: Kind::Vllm, port: 8000 },
    ProviderPort { kind: Kind::Lemonade, port: 13305 },
];

/// From the model worker to the bridge.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum FromModel {
    /// First message: the worker's link protocol and build.
    Hello {
        /// [`crate::LINK_PROTOCOL`].
        protocol: u32,
        /// [`crate::BUILD`].
        build: String,
    },
    /// An event of a chat.
    Event {
        /// The id of the chat.
        id: u32,
        /// The event.
        event: Event,
    },
    /// The answer to [`ToModel::Models`].
    Models {
        /// The id of the request.
        id: u32,
        /// In the provider's order, at most 4096.
        models: Vec<Model>,
    },
    /// The answer to [`ToModel::Check`] and [`ToModel::Await`].
    Checked {
        /// The id of the request.
        id: u32,
        /// The time from the request to the provider's answer, in milliseconds.
        latency_ms: u32,
        /// Why the provider cannot be used; `None` if it can.
        failure: Option<Failure>,
    },
    /// The answer to [`ToModel::Detect`].
    Detected {
        /// The id of the request.
        id: u32,
        /// The providers that proved who they are.
        found: Vec<Found>,
    },
    /// The answer to [`ToModel::Count`].
    Counted {
        /// The id of the request.
        id: u32,
        /// How many tokens the chat would read, as the provider counts them.
        input_tokens: u64,
    },
    /// A request other than a chat has failed.
    Failed {
        /// The id of the request.
        id: u32,
        /// Why it failed.
        failure: Failure,
    },
    /// The answer to [`ToModel::Scale`].
    Scaled {
        /// The id of the request.
        id: u32,
        /// The smaller picture, or the same one if it is small enough.
        image: Image,
    },
    /// The answer to [`ToModel::Transcribe`].
    Transcribed {
        /// The id of the request.
        id: u32,
        /// The text.
        text: String,
        /// The tokens that it took, if the provider counts them.
        usage: Usage,
    },
    /// How far a [`ToModel::Pull`] is.
    Pulling {
        /// The id of the request.
        id: u32,
        /// Ollama's words on its work now, at most 200 characters.
        status: String,
        /// How many bytes of the part that it fetches have come; 0 if it does not say.
        done: u64,
        /// How many bytes that part has; 0 if it does not say.
        total: u64,
    },
    /// The answer to [`ToModel::Pull`]: the model is there.
    Pulled {
        /// The id of the request.
        id: u32,
    },
}

/// An event of a chat; events come in order. The model's message is made of them: a text that follows a text belongs to the
/// same part.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum Event {
    /// The provider has begun to answer.
    Start {
        /// The model that answers, in the provider's words.
        model: Option<String>,
        /// Tools whose names the provider refused, so that the model was not told of them.
        dropped_tools: Vec<String>,
    },
    /// A delta: more text.
    Text(String),
    /// A delta: more thoughts of the model, as text.
    Reasoning(String),
    /// An opaque part, which belongs at this place of the message ([`crate::model::Opaque::json`]).
    Opaque(String),
    /// A call begins.
    ToolCallStart {
        /// The call's id; no other call of this answer has the same.
        call_id: String,
        /// The tool's name as it was offered. If it was not offered: the name as the model wrote it.
        name: String,
    },
    /// A delta: more of a call's arguments, for display only. A part of them is no valid JSON.
    ToolCallArguments {
        /// The id of the call.
        call_id: String,
        /// The next piece of the arguments.
        text: String,
    },
    /// A call is whole. Only then may it be run, and only once the answer has ended with [`Finish::ToolCalls`].
    ToolCallEnd {
        /// The id of the call.
        call_id: String,
        /// The whole arguments ([`crate::model::ToolCall::arguments`]).
        arguments: String,
    },
    /// The tokens used so far. A later event replaces an earlier one.
    Usage(Usage),
    /// The answer has ended as its protocol says.
    End {
        /// Why it ended.
        finish: Finish,
        /// The provider's own word for that.
        raw: Option<String>,
    },
    /// The chat has failed: there is no answer, or no more of it. The text so far stays with the person; no call of it may
    /// be run.
    Error(Failure),
    /// The provider loads the model into memory before it answers, which may take minutes. It comes before
    /// [`Event::Start`], at most once.
    Loading,
    /// The model has refused these parts of the request just now: they were left out, or written in another way. It comes
    /// before [`Event::Start`], at most once, and only if the request was accepted so.
    Refused(Vec<Setting>),
    /// The provider has refused for now, or could not be reached; it is asked once more after this pause, in milliseconds. It
    /// comes before [`Event::Start`], once for each such pause.
    Waiting(u64),
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Failure {
    /// The kind of failure.
    pub cause: Cause,
    /// The HTTP status, if the provider answered with one.
    pub status: Option<u16>,
    /// When to try again, in milliseconds from now, if the provider says so.
    pub retry_after_ms: Option<u64>,
    /// A sentence in the provider's own words, or in Harbor's. Without a key, at most 1000 characters.
    pub message: String,
}

crate::model::named! {
    /// The causes of `ERR_MODEL_FAILED`.
    Cause {
        /// There is no such model.
        NoModel = "no_model",
        /// The provider refuses the key, or needs one.
        Unauthorized = "unauthorized",
        /// The money or the quota is spent. Trying again does not help.
        Quota = "quota",
        /// Too many requests. A later attempt may succeed.
        RateLimited = "rate_limited",
        /// The provider cannot keep up, or still loads the model.
        Overloaded = "overloaded",
        /// The conversation is longer than the model's window.
        ContextFull = "context_full",
        /// The provider does not support this, or Harbor does not send it.
        Refused = "refused",
        /// There is nothing at that address.
        NotFound = "not_found",
        /// Nothing answers at that address.
        Unreachable = "unreachable",
        /// The provider took too long.
        Timeout = "timeout",
        /// The answer broke off.
        Cut = "cut",
        /// The answer breaks the rules of its format.
        Protocol = "protocol",
        /// The worker has ended. Only the bridge says this.
        WorkerLost = "worker_lost",
        /// The model has ended its answer without a text and without a call. Only the bridge says this.
        Empty = "empty",
    }
}

/// A model, as far as its provider describes it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Model {
    /// Its name for requests.
    pub id: String,
    /// The most tokens of a conversation.
    pub context_window: Option<u32>,
    /// The most tokens of an answer.
    pub max_output: Option<u32>,
    /// True if it calls tools; `None` if the provider does not say.
    pub tools: Option<bool>,
    /// True if it sees pictures; `None` if the provider does not say.
    pub vision: Option<bool>,
    /// True if it thinks; `None` if the provider does not say.
    pub reasoning: Option<bool>,
    /// True if it is remote although its provider is on this machine.
    pub is_remote: bool,
    /// The window with which its program has loaded it, if that is another number than `context_window`.
    pub loaded_window: Option<u32>,
    /// The state of its program's memory of it; `None` if the provider does not say.
    pub state: Option<ModelState>,
    /// For [`ModelState::Failed`]: the exit code of the process that ran it, if the provider says it.
    pub exit_code: Option<i32>,
    /// The size of its weights, in bytes.
    pub weights: Option<u64>,
    /// The memory that one token of the window takes, in bytes.
    pub token_bytes: Option<u64>,
}

crate::model::named! {
    /// The state of a model in a local program.
    ModelState {
        /// It is loaded when it is asked.
        Unloaded = "unloaded",
        /// It is being loaded.
        Loading = "loading",
        /// It answers at once.
        Loaded = "loaded",
        /// It could not be loaded the last time.
        Failed = "failed",
    }
}

/// A local provider that has proved who it is.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Found {
    /// The kind of provider.
    pub kind: Kind,
    /// The format of its requests and answers.
    pub dialect: Dialect,
    /// Its address: `http://127.0.0.1:PORT`.
    pub base_url: String,
    /// Its version, if it tells it.
    pub version: Option<String>,
    /// True if it needs a key.
    pub needs_key: bool,
}

#[cfg(test)]
mod golden;
