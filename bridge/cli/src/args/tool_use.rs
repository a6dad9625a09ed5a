//! The tools that a model may use for a question, and the calls that ask first.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum, value_parser};

/// All servers.
const ALL: &str = "all";

// No doc comment: it would be that of the command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct ToolUse {
    /// Let the model use the tools of these servers, or of `all`
    #[arg(long, value_name = "A,B|all", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new(), conflicts_with = "schema")]
    pub tools: Vec<String>,
    /// Let the model use no tools, as without --tools
    #[arg(long, conflicts_with = "tools")]
    pub no_tools: bool,
    /// Let the model choose (`auto`), or make it call a tool first (`required`)
    #[arg(long, value_name = "HOW", requires = "tools")]
    pub tool_choice: Option<ToolChoice>,
    /// The most calls of tools
    #[arg(long, value_name = "N", requires = "tools", value_parser = value_parser!(u32).range(1..))]
    pub max_tool_calls: Option<u32>,
    /// Calls that run unasked. `ask`: those that only read; `reads`: the same, and the rest is refused;
    /// `plan`: the same, and those within a plan that you approve once; `all`: every call (default: `ask`
    /// at a terminal, else `reads`)
    #[arg(long, value_name = "HOW", requires = "tools")]
    pub approve: Option<Approve>,
}

/// The choice if a model has to call a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ToolChoice {
    Auto,
    Required,
}

/// The calls that run without a yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Approve {
    Ask,
    Reads,
    Plan,
    All,
}

impl ToolChoice {
    /// Its word in a request.
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Required => "required",
        }
    }
}

impl Approve {
    /// The mode of a session.
    pub fn mode(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Reads => "reads",
            Self::Plan => "plan",
            Self::All => "auto",
        }
    }
}

/// The servers that were named; absent: all.
pub fn servers_of(named: &[String]) -> Option<Vec<String>> {
    match named.iter().any(|name| name == ALL) {
        true => None,
        false => Some(named.to_vec()),
    }
}
