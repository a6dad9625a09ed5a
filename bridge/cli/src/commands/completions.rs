//! Completion of words in a shell: the scripts, and the answers to them.
//!
//! Owns which words are names of servers, tools and the like; clap's engine knows the rest. A script starts
//! `harbor` with `HARBOR_COMPLETE` in its environment and the words behind `--`. Must never let a shell run a
//! server's name.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};

use clap::Arg;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{Bash, EnvCompleter, Fish, Zsh};

use super::complete;
use super::own_paths::paths;
use crate::args::{self, NameKind, Names, Shell};

/// Names the shell that asks.
const VARIABLE: &str = "HARBOR_COMPLETE";

fn of(shell: Shell) -> &'static dyn EnvCompleter {
    match shell {
        Shell::Bash => &Bash,
        Shell::Zsh => &Zsh,
        Shell::Fish => &Fish,
    }
}

/// The script that a shell reads once. The one for bash is ours: clap's ignores the colons at which bash
/// splits words.
pub fn script(shell: Shell) -> io::Result<String> {
    if shell == Shell::Bash {
        return Ok(include_str!("completions/bash.sh").to_owned());
    }
    let mut script = Vec::new();
    of(shell).write_registration(VARIABLE, "harbor", "harbor", "harbor", &mut script)?;
    String::from_utf8(script).map_err(io::Error::other)
}

/// Answers a script, if it is one that started us.
pub fn answer() -> Option<io::Result<()>> {
    let shell = env::var_os(VARIABLE)?;
    let shell =
        [Shell::Bash, Shell::Zsh, Shell::Fish].into_iter().map(of).find(|known| shell == known.name())?;
    let mut answer = Vec::new();
    let mut command = named(args::command());
    let asked = shell.write_complete(
        &mut command,
        typed().collect(),
        env::current_dir().ok().as_deref(),
        &mut answer,
    );
    Some(asked.and_then(|()| io::stdout().write_all(&answer)))
}

/// The words that were typed so far.
fn typed() -> impl Iterator<Item = OsString> {
    env::args_os().skip_while(|word| word != "--").skip(1)
}

/// The commands, with names for their arguments.
fn named(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|arg| match kind(&arg) {
        Some(kind) => arg.add(ArgValueCompleter::new(move |word: &OsStr| candidates(kind, word))),
        None => arg,
    });
    command.mut_subcommands(named)
}

/// The kind of name that an argument is, by its placeholder in the help.
fn kind(arg: &Arg) -> Option<NameKind> {
    match arg.get_value_names()?.first()?.as_str() {
        "SERVER" => Some(NameKind::Servers),
        "SERVER/TOOL" => Some(NameKind::Tools),
        "SERVER[/TOOL]" => Some(NameKind::Listed),
        "ARGUMENTS" => Some(NameKind::Arguments),
        "KEY" if arg.is_positional() => Some(NameKind::Keys),
        "ORIGIN" => Some(NameKind::Origins),
        "CLIENT" | "CLIENT|FILE" => Some(NameKind::Clients),
        "COMMAND" if !arg.is_last_set() => Some(NameKind::Commands),
        _ => None,
    }
}

fn candidates(kind: NameKind, word: &OsStr) -> Vec<CompletionCandidate> {
    let plain = typed().filter_map(|word| word.into_string().ok()).filter(|word| !word.starts_with('-'));
    let mut plain = plain;
    let behind = match kind {
        // `harbor secrets set SERVER`
        NameKind::Keys => plain.nth(3),
        NameKind::Arguments => plain.skip(1).find(|word| word.contains('/')),
        _ => None,
    };
    let word = word.to_string_lossy().into_owned();
    let wanted = Names { kind, word: word.clone(), behind: behind.unwrap_or_default() };
    let names = paths().ok().map(|paths| complete::names(&paths, &wanted)).unwrap_or_default();
    names.into_iter().filter(|name| name.starts_with(&word)).map(CompletionCandidate::new).collect()
}
