//! The words of a command line as values: names, numbers, durations.
//!
//! Owns the rule for each value, and the message about a wrong one.

use std::ffi::OsStr;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};
use harbor_ipc_proto::server_id::{RULE, ServerId};
use harbor_ipc_proto::source_id::SourceId;
use harbor_policy::origin::Origin;
use harbor_policy::tool_name::{self, WrongToolName};

/// Makes a type an argument of clap's by way of another type, which has its options. Their values go to
/// `read`, whose `Err` says what does not fit together.
macro_rules! read_by {
    ($($type:ident: $options:ty;)*) => {$(
        impl clap::FromArgMatches for $type {
            fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
                let options = <$options as clap::FromArgMatches>::from_arg_matches(matches)?;
                Self::read(options).map_err(|wrong: String| clap::Error::raw(clap::error::ErrorKind::ArgumentConflict, wrong))
            }

            fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
                *self = <Self as clap::FromArgMatches>::from_arg_matches(matches)?;
                Ok(())
            }
        }

        impl clap::Args for $type {
            fn augment_args(command: clap::Command) -> clap::Command {
                <$options as clap::Args>::augment_args(command)
            }

            fn augment_args_for_update(command: clap::Command) -> clap::Command {
                <$options as clap::Args>::augment_args(command)
            }
        }
    )*};
}
pub(super) use read_by;

pub(super) fn server_id(text: &str) -> Result<String, String> {
    let id = ServerId::parse(text).ok_or_else(|| format!("not a server name: use {RULE}"))?;
    Ok(id.as_str().to_owned())
}

/// A server, or an AI client: client://NAME.
pub(super) fn server_or_client(text: &str) -> Result<String, String> {
    match Origin::parse(text) {
        Ok(origin) if origin.is_client() => Ok(origin.to_string()),
        _ => server_id(text),
    }
}

/// The id of a server, or of another source of tools.
pub(super) fn source_id(text: &str) -> Result<String, String> {
    match SourceId::parse(text) {
        Some(id) => Ok(id.to_string()),
        None => server_id(text),
    }
}

/// `SERVER/TOOL`.
pub(super) fn tool(text: &str) -> Result<(String, String), String> {
    match text.split_once('/') {
        Some((server, tool)) if !tool.is_empty() => Ok((source_id(server)?, tool.to_owned())),
        _ => Err("a tool is named SERVER/TOOL".into()),
    }
}

/// `SERVER/TOOL`. Of a name without a slash the server is empty: the command finds out what was meant.
pub(super) fn tool_or_name(text: &str) -> Result<(String, String), String> {
    match text.contains('/') || text.is_empty() {
        true => tool(text),
        false => Ok((String::new(), text.to_owned())),
    }
}

/// `SERVER/TOOL` or `SERVER`.
pub(super) fn server_or_tool(text: &str) -> Result<(String, Option<String>), String> {
    match text.contains('/') {
        true => tool(text).map(|(server, tool)| (server, Some(tool))),
        false => Ok((source_id(text)?, None)),
    }
}

/// `SERVER/TOOL`, `SERVER/*`, or `*` for all servers.
pub(super) fn tool_pattern(text: &str) -> Result<String, String> {
    let wrong = match tool_name::split(text) {
        Ok((_, tool)) if tool != tool_name::EVERY && tool.contains('*') => {
            return Err("a * can only stand for all tools of a server, as in SERVER/*; name each tool".into());
        }
        Ok(_) => return Ok(text.to_owned()),
        Err(wrong) => wrong,
    };
    if text == tool_name::EVERY {
        return Ok(text.to_owned());
    }
    // Only a server: probably all of its tools are meant.
    let every = (wrong == WrongToolName::NoSlash && ServerId::parse(text).is_some())
        .then(|| format!("; did you mean {text}/*?"));
    Err(format!("{wrong}{}", every.unwrap_or_default()))
}

pub(super) fn origin(text: &str) -> Result<Origin, String> {
    Origin::parse(text).map_err(|wrong| wrong.to_string())
}

/// The name of an AI client: it is `client://NAME`.
pub(super) fn client_name(text: &str) -> Result<String, String> {
    Origin::client(text).map(|_| text.to_owned()).ok_or_else(|| "use 1 to 128 bytes".into())
}

pub(super) fn on_or_off(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("use on or off".into()),
    }
}

/// A number of seconds between these bounds.
pub(super) fn seconds(least: f64, most: f64) -> impl Fn(&str) -> Result<Duration, String> + Clone {
    move |text| {
        let wrong = || format!("use a number of seconds from {least} to {most}");
        duration(text, least, most).ok_or_else(wrong)
    }
}

/// A number of seconds between these bounds, in milliseconds.
pub(super) fn millis(least: f64, most: f64) -> impl Fn(&str) -> Result<u64, String> + Clone {
    move |text| seconds(least, most)(text).map(in_millis)
}

pub(super) fn duration(text: &str, least: f64, most: f64) -> Option<Duration> {
    let seconds = text.parse().ok().filter(|seconds| (least..=most).contains(seconds))?;
    Some(Duration::from_secs_f64(seconds))
}

/// Rounded up: 0.0015 s is no less than what was typed.
pub(super) fn in_millis(duration: Duration) -> u64 {
    u64::try_from((duration + Duration::from_micros(999)).as_millis()).unwrap_or(u64::MAX)
}

/// One of these words, which help and completions show.
pub(super) fn one_of<T: Clone + Send + Sync + 'static>(
    words: impl IntoIterator<Item = impl Into<PossibleValue>>,
    read: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(words).try_map(move |word| read(&word).ok_or("this word is not known"))
}

/// A value that may be a secret: a wrong one is not repeated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unrepeated<T>(pub fn(&str) -> Result<T, String>);

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Unrepeated<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        let read = value.to_str().ok_or_else(|| "use UTF-8".to_owned()).and_then(self.0);
        read.map_err(|why| {
            let name = arg.map(ToString::to_string).unwrap_or_default();
            Error::raw(ErrorKind::ValueValidation, format!("{name}: {why}\n")).with_cmd(command)
        })
    }
}

/// `KEY=VALUE`.
pub(super) fn variable(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    pair.map(|(name, value)| (name.into(), value.into())).ok_or_else(|| "use KEY=VALUE".into())
}

/// `NAME=VALUE`, with a value.
pub(super) fn input(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, "")) => Err(format!("{name} is empty")),
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => Err("use NAME=VALUE".into()),
    }
}

/// `Name: value`.
pub(super) fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("use 'Name: value'")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}
