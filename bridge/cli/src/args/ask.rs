//! A question to a language model, as it is typed.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueHint, value_parser};

use super::{PageRules, ToolUse};

/// Ask a language model
///
/// The answer is printed as it comes. Ctrl-C ends it and keeps what has come. At a terminal a last line says
/// how many tokens it took, and what they cost. With --json each event is a line, and the last line is the
/// whole answer.
///
/// The question goes to the model's provider and to nobody else. --file also takes the address of a page: a
/// process in a sandbox fetches it, and the model gets its text without scripts and pictures. Without --model the model is that of
/// `harbor models default`, else the first one of the first provider.
///
/// With --tools the model may use tools of your servers. Each call is a line on stderr, and a call that may
/// change something asks you first (--approve). Ctrl-C stops it.
///
/// Exit codes of this command: 3 permission was denied, or no bridge can be reached; 4 today's budget is not
/// enough; 5 the model failed, or there is none.
///
/// Example: `harbor ask "What is a capability?" --max-tokens 200`
///
/// Example: `harbor ask --tools time "What time is it in Tokyo?"`
///
/// Example: `harbor ask --file https://docs.example/install "What does it need?"`
///
/// Example: `harbor ask --prompt search question="Do herons migrate?" --tools fetch`
///
/// Example: `git diff | harbor ask - --system "Review this change."`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct AskOptions {
    /// The question; `-` reads it from stdin
    #[arg(value_parser = NonEmptyStringValueParser::new(), required_unless_present = "prompt")]
    pub question: Option<String>,
    /// Ask by one of Harbor's prompts (`harbor prompts harbor`): its name, then key=text for each argument
    #[arg(long, num_args = 1.., value_names = ["NAME", "KEY=TEXT"], conflicts_with = "question")]
    pub prompt: Vec<String>,
    /// The model: PROVIDER:MODEL, or a name at the default provider
    #[arg(long)]
    pub model: Option<String>,
    /// Instructions for the model, sent before the question
    #[arg(long, value_name = "TEXT")]
    pub system: Option<String>,
    /// Show the model this image (PNG, JPEG, GIF, WebP; 5 MB); up to 8 times
    #[arg(long = "image", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub images: Vec<String>,
    /// Show the model this file or page: a text (1 MB), or an image; up to 8 times
    #[arg(long = "file", value_name = "FILE|URL", value_hint = ValueHint::FilePath)]
    pub files: Vec<String>,
    #[command(flatten)]
    pub pages: PageRules,
    /// Print the first code block of the answer and nothing else; the whole answer if it has none
    #[arg(short = 'x', long)]
    pub extract: bool,
    /// Make the answer follow the JSON Schema of this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub schema: Option<String>,
    /// The most tokens of the answer
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub max_tokens: Option<u32>,
    /// The randomness of the answer, 0 to 2; a model that takes none answers without
    #[arg(long, value_name = "N", conflicts_with = "tools")]
    pub temperature: Option<String>,
    /// How hard the model thinks first: `low`, `medium`, `high`, or another word of its provider
    #[arg(long, value_name = "LEVEL", value_parser = NonEmptyStringValueParser::new(), conflicts_with = "tools")]
    pub effort: Option<String>,
    #[command(flatten)]
    pub using: ToolUse,
}
