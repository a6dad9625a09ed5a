//! A tool call, as it is typed.

use std::time::Duration;

use clap::Args;
use clap::ValueHint;
use clap::builder::NonEmptyStringValueParser;

use super::arguments::Arguments;
use super::host::{Asker, AskerOptions};
use super::values::{read_by, seconds, server_id, tool_or_name};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Empty where the tool was named without one.
    pub server: String,
    pub tool: String,
    pub arguments: Arguments,
    pub timeout: Option<Duration>,
    pub max_timeout: Option<Duration>,
    /// The origin on whose behalf the call is made; the person's own when absent.
    pub asker: Option<Asker>,
    /// The directory for content that is no text.
    pub save: Option<String>,
}

read_by! { Call: ToolCallOptions; }

/// Call a tool
///
/// The arguments are key=value words, a JSON object, or `-` for a JSON object from stdin. key=value becomes a
/// number or another type if the tool's schema wants one. key:=JSON is JSON, key=@FILE the text of a file.
/// Put words that begin with a dash after `--`.
///
/// The server starts if it is stopped, but not if it has failed. At a terminal, each progress message
/// restarts the timeout of the call. With --as you get what the origin gets: a server with --manual is not
/// started.
///
/// Example: `harbor call time/get_current_time timezone=Europe/Oslo`
///
/// Example: `harbor call time/get_current_time '{"timezone": "Europe/Oslo"}'`
#[derive(Debug, Args)]
struct ToolCallOptions {
    /// The tool
    #[arg(value_name = "SERVER/TOOL", value_parser = tool_or_name)]
    tool: (String, String),
    /// Its arguments
    arguments: Vec<String>,
    /// Time limit, up to 3600 (default: that of the server, 30)
    #[arg(long, value_name = "SECONDS", value_parser = seconds(0.001, 3600.0))]
    timeout: Option<Duration>,
    /// Time limit including all progress, up to 3600 (default 600)
    #[arg(long, value_name = "SECONDS", value_parser = seconds(0.001, 3600.0))]
    max_timeout: Option<Duration>,
    /// Write images, audio and resources to new files in this directory
    #[arg(long, value_name = "DIR", value_parser = NonEmptyStringValueParser::new(), value_hint = ValueHint::DirPath)]
    save: Option<String>,
    #[command(flatten)]
    asker: AskerOptions,
}

impl Call {
    fn read(options: ToolCallOptions) -> Result<Self, String> {
        let ToolCallOptions { tool: (server, tool), timeout, max_timeout, save, .. } = options;
        if let (Some(timeout), Some(most)) = (timeout, max_timeout)
            && most < timeout
        {
            return Err("--max-timeout must be at least as long as --timeout".into());
        }
        if server.is_empty()
            && let Some(word) = options.arguments.first().filter(|word| is_name(word))
            && server_id(&tool).is_ok()
        {
            return Err(format!("a tool is named SERVER/TOOL; did you mean {tool}/{word}?"));
        }
        let arguments = Arguments::read(&options.arguments.iter().collect::<Vec<_>>())?;
        Ok(Self { server, tool, arguments, timeout, max_timeout, asker: options.asker.read(), save })
    }
}

/// True if a word may be the name of a tool, and is no argument.
fn is_name(word: &str) -> bool {
    !word.is_empty() && !word.contains('=') && !word.starts_with(['{', '[', '"', '-'])
}
