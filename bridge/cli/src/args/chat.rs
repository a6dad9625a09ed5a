//! Conversations with language models, as they are typed.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueEnum};

use super::{Approve, PageRules};

/// Talk with a language model that may use your tools
///
/// It needs a terminal. Calls that only read run unasked. A call that changes something, or that could tell
/// others what is yours, asks you. Each question says what you can answer: y for this call, n and perhaps
/// why, and others. Ctrl-C stops an answer, a second Ctrl-C leaves; Ctrl-D leaves. /help shows what else you
/// can type.
///
/// The conversation is kept, and `harbor sessions` shows it. What you typed is also in chat_history in
/// HARBOR_HOME, for the arrow keys. With --private nothing of it is written down.
///
/// Example: `harbor chat --tools time,files`
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Chat {
    /// Go on with this session: its ID, or the beginning of it; a new one if absent
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub session: Option<String>,
    /// Go on with the session that was used last
    #[arg(short = 'c', long = "continue", conflicts_with_all = ["session", "private"])]
    pub goes_on: bool,
    /// Instructions for the model, sent before each of your messages
    #[arg(long, value_name = "TEXT")]
    pub system: Option<String>,
    /// The model: PROVIDER:MODEL, or a name at the default provider
    #[arg(long)]
    pub model: Option<String>,
    /// Let the model use the tools of these servers; of all if absent
    #[arg(long, value_name = "A,B|all", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    pub tools: Vec<String>,
    /// Calls that run unasked, as for `harbor ask`: `ask`, `reads`, `plan` or `all` (default: `ask`)
    #[arg(long, value_name = "HOW")]
    pub approve: Option<Approve>,
    /// Write nothing of the conversation down
    #[arg(long, conflicts_with = "session")]
    pub private: bool,
    #[command(flatten)]
    pub pages: PageRules,
}

/// Commands about conversations.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum Sessions {
    /// Show all, the most recently used first
    List {
        /// Show those in which all these words occur, with the place
        #[arg(long, value_name = "WORDS", value_parser = NonEmptyStringValueParser::new())]
        search: Option<String>,
    },
    /// Show the messages of one
    Show {
        /// Its id, or the beginning of it
        id: String,
    },
    /// Delete one for good
    Delete {
        /// Its id, or the beginning of it
        id: String,
    },
    /// Make a session of a file that `harbor sessions export --format json` printed
    Import {
        /// The file
        file: String,
    },
    /// Print one as text
    Export {
        /// Its id, or the beginning of it
        id: String,
        /// The format of the text
        #[arg(long, value_name = "FORMAT", default_value = "markdown")]
        format: Form,
    },
}

/// The form of a conversation as a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Form {
    Markdown,
    Json,
}

impl Form {
    /// Its word in a request.
    pub fn word(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Json => "json",
        }
    }
}
