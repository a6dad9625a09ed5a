//! Finds in a package's own README how its server is started.
//!
//! ```text
//!  README ─► objects behind "mcpServers" or "servers" ─► the first that runs this package ─► its arguments and variables
//! ```
//!
//! Owns this reading. The README is other people's text, whatever it says. A person is shown a command, as the package's own
//! words, and nothing else follows. Must never give a word in which a character has an effect. Must never give a variable
//! that changes what other programs do.

mod blocks;
mod keys;
mod start;

use harbor_ipc_proto::hidden::has_hidden;
use serde_json::Value;

pub use self::start::ReadmeStart;
use self::start::{MAX_VARIABLES, is_left_open};
use super::{Ecosystem, Package, recognise};
use crate::credentials::is_secret_name;
use crate::environment::wrong_of_others;
use crate::telltale::is_secret_value;

/// The most bytes of a README that are read.
pub const MAX_README: usize = 256 << 10;
/// The most arguments of one start that a person would type.
const MAX_ARGS: usize = 24;
/// The most bytes of an example's argument or value.
const MAX_WORD: usize = 200;

/// Words that tell a server to wait at a port, where Harbor would not ask it.
const AT_A_PORT: &[&str] = &[
    "http",
    "sse",
    "streamable",
    "streamable-http",
    "streamable_http",
    "streamablehttp",
    "--http",
    "--sse",
    "--port",
];

/// How a README starts the server of this package. `said` is the server's own output, which may name the
/// variable for an argument of the README.
#[must_use]
pub fn start_in(readme: &str, package: &Package, said: &str) -> Option<ReadmeStart> {
    let readme = &readme[..readme.floor_char_boundary(MAX_README)];
    let mut entries = blocks::servers(readme).flat_map(|servers| servers.into_iter().map(|(_, entry)| entry));
    let start = entries.find_map(|entry| {
        let args = behind(&words(&entry)?, package)?;
        (!waits_at_a_port(&args)).then_some(ReadmeStart { args, variables: variables(&entry)? })
    })?;
    Some(keys::as_variables(start, readme, said))
}

/// Command and arguments, if each may be shown.
fn words(entry: &Value) -> Option<Vec<String>> {
    let args = match &entry["args"] {
        Value::Null => &Vec::new(),
        args => args.as_array()?,
    };
    let words = std::iter::once(&entry["command"]).chain(args).map(|word| Some(word.as_str()?.to_owned()));
    let words: Option<Vec<_>> = words.collect();
    // A package's name and the options of what fetches it come on top.
    words.filter(|words| words.len() <= MAX_ARGS + 8 && words.iter().all(|word| is_shown(word)))
}

/// True if a word may stand in a sentence, between backquotes.
fn is_shown(word: &str) -> bool {
    // What a backslash means between quotes is not the same in all shells.
    let is_odd = |c: char| c.is_control() || "`\\".contains(c);
    word.len() <= MAX_WORD && !has_hidden(word) && !word.contains(is_odd)
}

/// The words behind the package's name, if these words run this package.
fn behind(words: &[String], package: &Package) -> Option<Vec<String>> {
    let (command, args) = fetched(words)?;
    if let Some(found) = recognise(command, args) {
        let is_it =
            found.ecosystem == package.ecosystem && is_same(&found.name, &package.name, found.ecosystem);
        return is_it.then_some(found.args).filter(|args| args.len() <= MAX_ARGS);
    }
    let is_it = |word: &String| *word == package.name || word == package.program_or_name();
    let args = match command {
        "uv" => {
            let run = args.iter().position(|word| word == "run")?;
            let name = args[run..].iter().position(is_it)?;
            &args[run + name + 1..]
        }
        // With an option that is not known, as `uvx --prerelease=allow NAME`.
        "npx" | "uvx" => {
            let name = args.iter().position(|word| is_it(&without_version(word).to_owned()))?;
            let mut before = args[..name].iter();
            let is_option = |word: &String| word.starts_with('-') && word != "--from" && word != "--package";
            while let Some(word) = before.next() {
                if !is_option(word) || VALUED.contains(&word.as_str()) && before.next().is_none() {
                    return None;
                }
            }
            &args[name + 1..]
        }
        command => is_it(&command.to_owned()).then_some(args)?,
    };
    (args.len() <= MAX_ARGS).then(|| args.to_vec())
}

/// A command line as it would be typed on this system, of npx or uvx where another program does the same.
fn fetched(words: &[String]) -> Option<(&str, &[String])> {
    let (command, args) = words.split_first()?;
    let name = |word: &String| word.trim_end_matches(".exe").trim_end_matches(".cmd").to_ascii_lowercase();
    let first = args.first().map(String::as_str);
    match (name(command).as_str(), first) {
        ("cmd", Some("/c" | "/C")) => fetched(&args[1..]),
        ("npx" | "bunx" | "pnpx", _) => Some(("npx", args)),
        ("pnpm" | "yarn", Some("dlx")) | ("bun", Some("x")) => Some(("npx", &args[1..])),
        ("pipx", Some("run")) => Some(("uvx", &args[1..])),
        ("uvx", _) => Some(("uvx", args)),
        _ => Some((command, args)),
    }
}

/// Options of uvx whose value is the next argument.
const VALUED: &[&str] = &["--python", "--prerelease"];

/// `@scope/name@1.2`, `name==1.2`, `name[extra]`.
fn without_version(word: &str) -> &str {
    let end = word.char_indices().skip(1).find(|(_, c)| "@=<>~![".contains(*c));
    end.map_or(word, |(at, _)| &word[..at])
}

/// PyPI takes `-`, `_` and `.` for the same.
fn is_same(one: &str, other: &str, ecosystem: Ecosystem) -> bool {
    let plain = |name: &str| name.to_ascii_lowercase().replace(['_', '.'], "-");
    one == other || ecosystem == Ecosystem::Pypi && plain(one) == plain(other)
}

fn waits_at_a_port(args: &[String]) -> bool {
    let says = |word: &str| AT_A_PORT.contains(&word.to_ascii_lowercase().as_str());
    args.iter()
        .any(|arg| says(arg) || arg.split_once('=').is_some_and(|(name, value)| says(name) || says(value)))
}

/// The variables that others may name. None if there are more than a person would type.
fn variables(entry: &Value) -> Option<Vec<(String, Option<String>)>> {
    let env = entry["env"].as_object().into_iter().flatten();
    let named = env.filter(|(name, _)| wrong_of_others(name).is_none());
    let of = |(name, value): (&String, &Value)| {
        let value = value.as_str().filter(|value| is_shown(value) && !is_left_open(value));
        let value = value.filter(|value| !is_secret_name(name) && !is_secret_value(value));
        (name.clone(), value.map(str::to_owned))
    };
    let variables: Vec<_> = named.map(of).collect();
    (variables.len() <= MAX_VARIABLES).then_some(variables)
}

#[cfg(test)]
mod tests;
