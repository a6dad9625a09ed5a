//! Resources and prompts, as they are typed: listed, or one of them wanted.
//!
//! Must never judge a URI or a name: they are the server's.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueHint};

use super::arguments::{Argument, Value, arguments};
use super::values::{read_by, server_id};

/// The prompt to get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    pub server: String,
    pub name: String,
    /// Texts all.
    pub arguments: Vec<Argument>,
}

read_by! { Prompt: GetOptions; }

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum Resources {
    Read(Reading),
}

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum Prompts {
    /// Show a prompt: what it does, and what it takes
    Show(ShownPrompt),
    Get(Prompt),
}

/// Read a resource
///
/// If the URI is a template with {names}, fill in values.
///
/// Example: `harbor resources read docs file:///guide.md`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Reading {
    /// The server's name
    #[arg(value_parser = server_id)]
    pub server: String,
    /// The resource
    pub uri: String,
    /// Write its contents to new files in this directory
    #[arg(long, value_name = "DIR", value_parser = NonEmptyStringValueParser::new(), value_hint = ValueHint::DirPath)]
    pub save: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct ShownPrompt {
    /// The server's name; `harbor` for Harbor's own prompts
    #[arg(value_parser = server_id)]
    pub server: String,
    /// The prompt's name
    pub prompt: String,
}

/// Get a prompt
///
/// Example: `harbor prompts get docs greet who=Ada`
#[derive(Debug, Args)]
struct GetOptions {
    /// The server's name
    #[arg(value_parser = server_id)]
    server: String,
    /// The prompt's name
    prompt: String,
    /// key=text, or key=@FILE for the text of a file; after `--` if one begins with a dash
    arguments: Vec<String>,
}

impl Prompt {
    fn read(options: GetOptions) -> Result<Self, String> {
        let arguments = arguments(&options.arguments.iter().collect::<Vec<_>>())?;
        match arguments.iter().find(|one| matches!(one.value, Value::Json(_))) {
            Some(wrong) => Err(format!("{}: a prompt accepts only texts: use key=text", wrong.key)),
            None => Ok(Self { server: options.server, name: options.prompt, arguments }),
        }
    }
}
