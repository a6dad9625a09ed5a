//! The messages between the bridge and the model worker. Append only.
//!
//! ```text
//!   Hello ⇄ Hello,  then
//!   ► Chat { id }   ─► Event { id, Start }, … , Event { id, End | Error }    exactly one of the last two, as the last
//!   ► More { id }      so many further deltas may come; without credit the provider's stream is not read
//!   ► Cancel { id }    the provider's connection is dropped; nothing is answered, what was on its way may still come
//!   ► Models { id } ─► Models { id } | Failed { id }
//!   ► Count { id }  ─► Counted { id } | Failed { id }
//!   ► Scale { id }  ─► Scaled { id } | Failed { id }
//!   ► Check { id }  ─► Checked { id }
//!   ► Detect { id } ─► Detected { id }
//!   ► Shutdown, or the end of the link ─► the process ends
//! ```
//!
//! The worker is started as `harbor-model-worker BRIDGE_PID` with the link as its standard input and output. It keeps nothing
//! between requests: a key comes with each one. An id is the bridge's, and is not used again while the link lasts.

use bincode::{BorrowDecode, Encode};

use crate::model::{Dialect, Finish, Image, Kind, Message, Options, Tool, ToolChoice, Usage};
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
    /// Drop what is under way and exit.
    Shutdown,
    /// Have a model answer.
    Chat(Chat),
    /// The bridge takes so many further deltas of this chat.
    More {
        /// That of the chat.
        id: u32,
        /// How many.
        deltas: u32,
    },
    /// Nobody waits for this request any more, of whatever kind it is.
    Cancel {
        /// Its id.
        id: u32,
    },
    /// Which models a provider has.
    Models {
        /// Comes back in the answer.
        id: u32,
        /// The provider.
        target: Target,
    },
    /// Whether a provider is there and takes the key.
    Check {
        /// Comes back in the answer.
        id: u32,
        /// The provider.
        target: Target,
    },
    /// Which providers run on this machine. No key goes to any of them.
    Detect {
        /// Comes back in the answer.
        id: u32,
        /// Where to look, at most 16 places: those of [`PLACES`] that no server of Harbor's holds.
        places: Vec<Place>,
    },
    /// How many tokens a chat would read, where the provider counts. It is not held.
    Count(Chat),
    /// A picture of the size at which models look at one.
    Scale {
        /// Comes back in the answer.
        id: u32,
        /// The picture.
        image: Image,
        /// So long its longer side may be, in pixels.
        longest: u32,
    },
}

/// Where a provider is and how it is spoken to.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Target {
    /// The id of the person's provider, to which opaque parts belong.
    pub provider: String,
    /// Who runs it.
    pub kind: Kind,
    /// The format.
    pub dialect: Dialect,
    /// http or https; without TLS on this machine only, unless private addresses are allowed. `/v1/chat/completions` is put behind
    /// one without a path, `/chat/completions` behind any other. For `anthropic` and `ollama` a `/v1` or `/api` at its end is
    /// left out.
    pub base_url: String,
    /// Whether it may be at a private address. This machine's own are allowed to a URL that names it.
    pub allow_private: bool,
    /// Goes to scheme, host and port of `base_url` and nowhere else.
    pub key: Option<Secret>,
}

/// A request to a model.
#[derive(Debug, Clone, PartialEq, Encode, BorrowDecode)]
pub struct Chat {
    /// Comes back in each event.
    pub id: u32,
    /// Whom to ask.
    pub target: Target,
    /// The model, in the provider's words.
    pub model: String,
    /// What was said so far; system messages come first. See [`crate::model::check`].
    pub messages: Vec<Message>,
    /// What the model may call.
    pub tools: Vec<Tool>,
    /// Whether it has to.
    pub tool_choice: ToolChoice,
    /// How the answer is to be.
    pub options: Options,
    /// Whether the provider is to send the answer piece by piece. The events are the same; without it each text comes whole.
    pub stream: bool,
    /// So many deltas (text, reasoning, arguments) may come before the first [`ToModel::More`]; none: all.
    pub credit: Option<u32>,
    /// How long it may take.
    pub limits: Limits,
}

/// How long a chat may take, in milliseconds; 0: as the worker sees fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Limits {
    /// Nothing comes, before the answer's first byte or between two.
    pub idle_ms: u64,
    /// In all, while there is credit.
    pub total_ms: u64,
}

/// A port of this machine, and who may be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Place {
    /// Who has to prove itself.
    pub kind: Kind,
    /// Its port at 127.0.0.1.
    pub port: u16,
}

/// Where local providers listen unless they are told otherwise.
pub const PLACES: [Place; 5] = [
    Place { kind: Kind::Ollama, port: 11434 },
    Place { kind: Kind::LlamaServer, port: 8080 },
    Place { kind: Kind::LlamaServer, port: 9931 },
    Place { kind: Kind::LmStudio, port: 1234 },
    Place { kind: Kind::Vllm, port: 8000 },
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
    /// Something of a chat.
    Event {
        /// That of the chat.
        id: u32,
        /// What.
        event: Event,
    },
    /// The answer to [`ToModel::Models`].
    Models {
        /// That of the request.
        id: u32,
        /// In the provider's order, at most 4096.
        models: Vec<Model>,
    },
    /// The answer to [`ToModel::Check`].
    Checked {
        /// That of the request.
        id: u32,
        /// From the request to the provider's answer.
        latency_ms: u32,
        /// Why it cannot be used; none: it can.
        failure: Option<Failure>,
    },
    /// The answer to [`ToModel::Detect`].
    Detected {
        /// That of the request.
        id: u32,
        /// Those that proved who they are.
        found: Vec<Found>,
    },
    /// The answer to [`ToModel::Count`].
    Counted {
        /// That of the request.
        id: u32,
        /// So many are read, as the provider has counted them.
        input_tokens: u64,
    },
    /// There is no answer to a request that is no chat.
    Failed {
        /// That of the request.
        id: u32,
        /// Why.
        failure: Failure,
    },
    /// The answer to [`ToModel::Scale`].
    Scaled {
        /// That of the request.
        id: u32,
        /// The smaller picture; the same where it is small enough.
        image: Image,
    },
}

/// What comes of a chat, in the order in which it comes. The message that the model says is made of it: a text that follows a
/// text belongs to the same part.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum Event {
    /// The provider has begun to answer.
    Start {
        /// The model that answers, in the provider's words.
        model: Option<String>,
        /// Tools that the provider refused by name, and that the model was therefore not told of.
        dropped_tools: Vec<String>,
    },
    /// A delta: more text.
    Text(String),
    /// A delta: more thoughts, as text.
    Reasoning(String),
    /// A part that belongs into the message here ([`crate::model::Opaque::json`]).
    Opaque(String),
    /// A call begins.
    ToolCallStart {
        /// Its id; different from that of any other call of this answer.
        call_id: String,
        /// The tool's name as it was offered. One that was not offered is as the model wrote it.
        name: String,
    },
    /// A delta: more of a call's arguments. Half of them is JSON for nobody; for display only.
    ToolCallArguments {
        /// That of the call.
        call_id: String,
        /// What follows.
        text: String,
    },
    /// A call is whole. Only then may it be run, and only once the answer has ended with [`Finish::ToolCalls`].
    ToolCallEnd {
        /// That of the call.
        call_id: String,
        /// All of them ([`crate::model::ToolCall::arguments`]).
        arguments: String,
    },
    /// What has been used so far. A later one replaces it.
    Usage(Usage),
    /// The answer has come to the end that its protocol has for it.
    End {
        /// Why.
        finish: Finish,
        /// The provider's word for it.
        raw: Option<String>,
    },
    /// There is no answer, or no more of it. The text that came is what the person has; no call of it may be run.
    Error(Failure),
}

/// Why a request came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Failure {
    /// Of which kind it is.
    pub cause: Cause,
    /// The status of HTTP, where that is what was answered.
    pub status: Option<u16>,
    /// When to try again, where the provider has said so.
    pub retry_after_ms: Option<u64>,
    /// A sentence: the provider's own words, or ours. No key, at most 1000 characters.
    pub message: String,
}

crate::model::named! {
    /// The causes of `ERR_MODEL_FAILED`.
    Cause {
        /// There is no such model.
        NoModel = "no_model",
        /// The provider does not take the key, or wants one.
        Unauthorized = "unauthorized",
        /// The money or the quota is spent: trying again does not help.
        Quota = "quota",
        /// Too many requests; later is better.
        RateLimited = "rate_limited",
        /// The provider cannot keep up, or still loads the model.
        Overloaded = "overloaded",
        /// The conversation is longer than the model's window.
        ContextFull = "context_full",
        /// The provider does not do this, or Harbor does not send it.
        Refused = "refused",
        /// There is nothing at that address.
        NotFound = "not_found",
        /// Nobody is there.
        Unreachable = "unreachable",
        /// It took too long.
        Timeout = "timeout",
        /// The answer broke off.
        Cut = "cut",
        /// The answer is not what the dialect says.
        Protocol = "protocol",
        /// The worker has ended. Said by the bridge only.
        WorkerLost = "worker_lost",
    }
}

/// A model, as far as its provider describes it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Model {
    /// Its name for requests.
    pub id: String,
    /// Tokens of a conversation.
    pub context_window: Option<u32>,
    /// Tokens of an answer.
    pub max_output: Option<u32>,
    /// Whether it calls tools.
    pub tools: Option<bool>,
    /// Whether it sees pictures.
    pub vision: Option<bool>,
    /// Whether it thinks.
    pub reasoning: Option<bool>,
    /// Whether it runs elsewhere although its provider is on this machine.
    pub is_remote: bool,
}

/// A local provider that has proved who it is.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Found {
    /// Who it is.
    pub kind: Kind,
    /// How it is spoken to.
    pub dialect: Dialect,
    /// Where it is: `http://127.0.0.1:PORT`.
    pub base_url: String,
    /// Its version, where it tells it.
    pub version: Option<String>,
    /// Whether it wants a key.
    pub needs_key: bool,
}

#[cfg(test)]
mod golden;
