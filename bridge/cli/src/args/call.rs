//! A tool call, as it is typed.

use std::time::Duration;

use clap::Args;
use clap::ValueHint;
use clap::builder::NonEmptyStringValueParser;

use super::arguments::Arguments;
use super::host::{Asker, AskerOptions};
use super::values::{read_by, seconds, tool};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub server: String,
    pub tool: String,
    pub arguments: Arguments,
    pub timeout: Option<Duration>,
    pub max_timeout: Option<Duration>,
    /// On whose behalf; the person's when absent.
    pub asker: Option<Asker>,
    /// The directory for what is no text.
    pub save: Option<String>,
}

read_by! { Call: Options; }

/// Call a tool
///
/// The arguments are a JSON object, or `-`, which reads it from stdin; or words: key=text, key:=JSON, and key=@FILE for the text of a
/// file; a text that begins with @ is typed as JSON. Words that begin with a dash stand behind `--`.
///
/// A server that is stopped is started; one that failed is not. Where progress is shown, on a terminal and without --json, each sign of
/// it gives a call its timeout again. With --as you get what the origin gets: a server with --manual is not started.
///
/// Example: `harbor call time/get_current_time timezone=Europe/Oslo`
///
/// Example: `harbor call time/get_current_time '{"timezone": "Europe/Oslo"}'`
#[derive(Debug, Args)]
struct Options {
    /// The tool
    #[arg(value_name = "SERVER/TOOL", value_parser = tool)]
    tool: (String, String),
    /// Its arguments
    arguments: Vec<String>,
    /// How long the call may take: up to 3600; 30 if absent here and in the definition
    #[arg(long, value_name = "SECONDS", value_parser = seconds(0.001, 3600.0))]
    timeout: Option<Duration>,
    /// How long with all its progress: up to 3600; 600 if absent
    #[arg(long, value_name = "SECONDS", value_parser = seconds(0.001, 3600.0))]
    max_timeout: Option<Duration>,
    /// Write images, audio and resources to new files in this directory
    #[arg(long, value_name = "DIR", value_parser = NonEmptyStringValueParser::new(), value_hint = ValueHint::DirPath)]
    save: Option<String>,
    #[command(flatten)]
    asker: AskerOptions,
}

impl Call {
    fn read(options: Options) -> Result<Self, String> {
        let Options { tool: (server, tool), timeout, max_timeout, save, .. } = options;
        if let (Some(timeout), Some(most)) = (timeout, max_timeout)
            && most < timeout
        {
            return Err("--max-timeout is shorter than --timeout: use at least as much".into());
        }
        let arguments = Arguments::read(&options.arguments.iter().collect::<Vec<_>>())?;
        Ok(Self { server, tool, arguments, timeout, max_timeout, asker: options.asker.read(), save })
    }
}
