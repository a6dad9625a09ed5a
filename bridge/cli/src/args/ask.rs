//! A question to a language model, as it is typed.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueHint, value_parser};

use super::ToolUse;

/// Ask a language model
///
/// What it says is printed as it comes. Ctrl-C ends it and keeps what has come. At a terminal a last line says what it has taken. With
/// --json: the whole answer at its end.
///
/// It is sent to the provider of the model and to nobody else. Without --model it is the one that `harbor models default` has set, else the
/// first of the first provider.
///
/// With --tools it may use tools of your servers: each call is a line on stderr, and what may change something asks you first (--approve).
/// Ctrl-C stops it.
///
/// Exit codes of its own: 3 permission was denied, or no bridge can be reached; 4 the budget of today does not suffice; 5 the model
/// failed, or there is none.
///
/// Example: `harbor ask "What is a capability?" --max-tokens 200`
///
/// Example: `harbor ask --tools time "What time is it in Tokyo?"`
///
/// Example: `git diff | harbor ask - --system "Review this change."`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Question {
    /// What to ask; `-` reads it from stdin
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub question: String,
    /// Whom: PROVIDER:MODEL, or a name at the default provider
    #[arg(long)]
    pub model: Option<String>,
    /// What it has to heed, said before the question
    #[arg(long, value_name = "TEXT")]
    pub system: Option<String>,
    /// Show it this image (PNG, JPEG, GIF, WebP; 5 MB); up to 8 times
    #[arg(long = "image", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub images: Vec<String>,
    /// Have the answer follow the JSON Schema of this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub schema: Option<String>,
    /// The most tokens that come
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub max_tokens: Option<u32>,
    #[command(flatten)]
    pub using: ToolUse,
}
