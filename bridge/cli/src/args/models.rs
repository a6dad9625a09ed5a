//! Language models and their providers, as they are typed.
//!
//! Owns that no key is ever a word of the command line. Must never know where a provider is: the bridge has
//! the addresses.

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueHint};
use harbor_ipc_proto::model::{Dialect, Kind};
use harbor_policy::models::Use;

use super::values::millis;

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum Models {
    /// Show the models of all providers
    List,
    Add(NewProvider),
    /// Forget a provider and its key; its use of tokens stays counted
    Remove {
        /// The provider's id
        id: String,
    },
    /// Set a provider's key
    ///
    /// Asks for the key without showing it, or reads it from stdin (without one newline at its end). The key
    /// belongs to the provider's scheme, host and port, and goes nowhere else.
    ///
    /// Example: `harbor models key openai < key.txt`
    Key {
        /// The provider's id
        id: String,
    },
    /// Ask a provider whether it answers and accepts its key; this costs nothing
    Check {
        /// The provider's id
        id: String,
    },
    /// Show or set the default model, or the model for a use
    ///
    /// `fast` is for short answers that should come at once, `vision` for requests with pictures that name no model.
    ///
    /// Example: `harbor models default --for vision lab:qwen3-vl`
    Default {
        /// The model as `harbor models` shows it; or a provider's id: its first model (default: show it)
        #[arg(conflicts_with = "forget")]
        model: Option<String>,
        /// The use; without it, all requests that name no model
        #[arg(long = "for", value_name = "USE", value_parser = PossibleValuesParser::new(Use::ALL.map(Use::name)))]
        of: Option<String>,
        /// The use has no model of its own any more
        #[arg(long, requires = "of")]
        forget: bool,
    },
    /// Show, give or take away names of models
    ///
    /// A name stands for its model wherever a model is named: on the command line, in a chat, on a web page.
    ///
    /// Example: `harbor models alias fast ollama:qwen3:4b`
    Alias {
        /// The name (default: show all)
        name: Option<String>,
        /// The model as `harbor models` shows it
        #[arg(conflicts_with = "remove")]
        model: Option<String>,
        /// Take the name away; the model stays
        #[arg(long, requires = "name")]
        remove: bool,
    },
    /// State the window of a model: how many tokens it can take at once
    ///
    /// Harbor shortens conversations by this number, and has Ollama load the model with it at most. `default` takes it
    /// back, with what Harbor has learned of the window: then the provider's word holds.
    ///
    /// Example: `harbor models set lab:qwen3 --context 65536`
    Set {
        /// The model as `harbor models` shows it
        model: String,
        /// The window in tokens, at least 1024, or `default`
        #[arg(long, value_name = "N", value_parser = tokens)]
        context: Option<Tokens>,
    },
    /// Look for programs on this machine that run models, and for keys in the bridge's environment
    ///
    /// Harbor sends nothing more to the programs that it finds before you add them.
    Detect,
    Start(NewEngine),
    /// Stop a program that Harbor has started; its provider stays
    Stop {
        /// The id of its provider; all of them if absent
        id: Option<String>,
    },
    /// Show the programs that Harbor has started, and the models that it has fetched
    Local,
    Pull(NewModelFile),
    /// Delete a fetched model
    Delete {
        /// Its name, as `harbor models local` shows it
        name: String,
    },
    /// Show how large a model may be for the memory of this machine, or whether a file fits
    Fits {
        /// A file of a model
        #[arg(value_hint = ValueHint::FilePath)]
        file: Option<std::path::PathBuf>,
        /// The tokens of a conversation that are to fit as well
        #[arg(long, value_name = "TOKENS", default_value_t = 8192)]
        context: u32,
    },
    Transcribe(Recording),
    /// Show how many tokens models have used, by day, model and who asked
    Usage {
        /// By chat instead; a chat that was deleted is not among them
        #[arg(long)]
        chats: bool,
    },
    /// Show or set the daily token budgets
    ///
    /// A day begins at midnight UTC. An origin may use 50000 tokens a day unless you set another number. You
    /// yourself have no limit.
    ///
    /// Example: `harbor models budget https://chat.example --tokens 200000`
    Budget {
        /// An origin, client://NAME, server:NAME, owner, or '*': everybody together; all are shown if absent
        principal: Option<String>,
        /// The tokens of a day, or `default`: forget what was set
        #[arg(long, value_name = "N", value_parser = tokens, requires = "principal")]
        tokens: Option<Tokens>,
    },
}

/// Make a text of a recording of speech
///
/// The recording goes to the model's provider: OpenAI, or a server that speaks as it does, on this machine too.
///
/// Example: `harbor models transcribe note.m4a --model openai:gpt-4o-mini-transcribe`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Recording {
    /// The recording: WAV, MP3, M4A, Ogg, FLAC or WebM, at most 25 MB
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: String,
    /// The model; the first whose name says that it transcribes, if absent
    #[arg(long)]
    pub model: Option<String>,
    /// The language that is spoken, like `en`; the model finds out if absent
    #[arg(long)]
    pub language: Option<String>,
}

/// A number of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tokens {
    Most(u64),
    /// As if nothing had ever been set.
    Default,
}

fn tokens(text: &str) -> Result<Tokens, String> {
    match text {
        "default" => Ok(Tokens::Default),
        number => number.parse().map(Tokens::Most).map_err(|_| "use a whole number, or `default`".into()),
    }
}

/// Add a provider: from now on you may ask its models
///
/// A program on this machine usually needs no key. `harbor models key` asks for the key of a service. An
/// address is https://…, or http://… on this machine. It is required where the type has none of its own.
///
/// Example: `harbor models add ollama`
///
/// Example: `harbor models add openai-compatible --name lab --url https://llm.lab.example/v1`
///
/// Example: `harbor models add ollama --name attic --url http://192.168.1.20:11434 --allow-private`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct NewProvider {
    /// The provider's type
    #[arg(value_name = "TYPE", value_parser = PossibleValuesParser::new(Kind::ALL.iter().map(|kind| kind.name())))]
    pub kind: String,
    /// A name, from which its id is made; the type if absent
    #[arg(long)]
    pub name: Option<String>,
    /// The provider's address; the type's own address if absent
    #[arg(long, value_hint = ValueHint::Url)]
    pub url: Option<String>,
    /// The protocol that the provider speaks; the type's own if absent
    #[arg(long, value_parser = PossibleValuesParser::new(Dialect::ALL.iter().map(|dialect| dialect.name())))]
    pub dialect: Option<String>,
    /// Allow a private address beyond this machine, also without TLS
    #[arg(long)]
    pub allow_private: bool,
    /// Allow a program of another user of this machine; it reads every conversation
    #[arg(long)]
    pub allow_other_user: bool,
}

/// Start a model on this machine, in a sandbox, and add it as a provider
///
/// A GGUF file needs an engine: `llama-server` on your PATH, or the program that --engine names. A llamafile is a
/// program of its own. The engine has no network unless you type --network, and without that nobody reaches it but
/// Harbor. It ends when nobody has asked it for half an hour; the next question starts it again.
///
/// Example: `harbor models start ~/models/qwen3-4b.gguf`
///
/// Example: `harbor models start qwen3-4b --engine ~/llama.cpp/llama-server --device /dev/dri/renderD128`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct NewEngine {
    /// A GGUF file or a llamafile, the name of a fetched model, or the id of an earlier start
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: String,
    /// The program that runs a GGUF file (default: llama-server)
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub engine: Option<String>,
    /// The most tokens of a conversation (default: the engine's own choice)
    #[arg(long, value_name = "TOKENS")]
    pub context: Option<u32>,
    /// A device node that it may use, such as a graphics card's; may be repeated
    #[arg(long = "device", value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub devices: Vec<String>,
    /// The most memory that it may take, in MiB (default: by the size of its file)
    #[arg(long, value_name = "MIB")]
    pub memory: Option<u64>,
    /// Allow the network to an engine that cannot do without: one that listens at a port
    #[arg(long)]
    pub network: bool,
    /// How long it may take to load the model, 1 to 580 (default 300)
    #[arg(long, value_name = "SECONDS", value_parser = millis(1.0, 580.0))]
    pub start_timeout: Option<u64>,
}

/// Fetch a model's file, or have Ollama fetch a model
///
/// A file needs its SHA-256, which the place that offers it says. A fetch that breaks off goes on where it stopped when
/// you type the command again. Ctrl-C ends it.
///
/// Example: `harbor models pull https://models.example/qwen3-4b.gguf --sha256 9f86d0…`
///
/// Example: `harbor models pull ollama:qwen3:4b`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct NewModelFile {
    /// The address of a GGUF file or a llamafile, or ollama:NAME
    #[arg(value_name = "URL", value_hint = ValueHint::Url)]
    pub url: String,
    /// The SHA-256 of the file
    #[arg(long, value_name = "HEX")]
    pub sha256: Option<String>,
    /// Its name here (default: as in the address)
    #[arg(long)]
    pub name: Option<String>,
    /// Allow an address without TLS
    #[arg(long)]
    pub allow_http: bool,
    /// Allow a private address
    #[arg(long)]
    pub allow_private: bool,
}
