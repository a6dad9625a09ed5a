//! Conversations with language models, as they are typed.

use clap::{Subcommand, ValueEnum};

/// What is to be done with conversations.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum Sessions {
    /// Show all, the one that was used last first
    List,
    /// Show what was said in one
    Show {
        /// Its id, or how that begins
        id: String,
    },
    /// Delete one for good
    Delete {
        /// Its id, or how that begins
        id: String,
    },
    /// Print one as a text
    Export {
        /// Its id, or how that begins
        id: String,
        /// As what
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
