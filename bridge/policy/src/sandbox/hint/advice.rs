//! Chooses the option of `harbor sandbox` that would allow a path.
//!
//! Owns that choice. Must never name an option with which the settings would be refused.

use harbor_ipc_proto::hidden::has_hidden;

use crate::sandbox::SandboxFacts;
use crate::sandbox::paths::{is_within, parent};
use crate::sandbox::protected::{is_run_later, why_never_written, why_not_by_name};

/// The option that would allow an access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The option of `harbor sandbox`.
    pub option: String,
    /// A sentence to mind before it is given, where it leads out of the sandbox, costs something or is not enough.
    pub mind: Option<&'static str>,
    /// The path that it lets be written.
    pub written: Option<String>,
}

impl Advice {
    /// An option with nothing to mind.
    #[must_use]
    pub fn plain(option: String) -> Self {
        Self { option, mind: None, written: None }
    }

    /// The advice for a path that is not there, where the server only said so.
    #[must_use]
    pub fn if_it_was_to_be_made(self) -> Self {
        let mind = if self.mind.is_some() { IF_MADE_AND_RUN } else { IF_MADE };
        Self { mind: Some(mind), ..self }
    }

    /// This advice for a path that does not exist yet.
    #[must_use]
    pub fn without_its_path(self) -> Self {
        let mind = if self.mind.is_some() { CREATE_IT_AND_RUN } else { CREATE_IT };
        Self { mind: Some(mind), ..self }
    }
}

/// The sentence for a missing file of which it is unknown if the server wanted to read or to make it.
const IF_MADE: &str = "there is no such file yet, so this helps only if the server was going to create it";

/// The sentence instead of [`IF_MADE`] where [`RUN_OUTSIDE`] applies, too.
const IF_MADE_AND_RUN: &str = "there is no such file yet, so this helps only if the server was going to create it; and \
                               you, your shell, your editor or git run what is written there, outside the sandbox";

/// The longest path in advice, in bytes. Nobody reads a longer one to its end.
const LONGEST: usize = 1024;

/// The sentence about a path that a shell or an eye could take for another one. A server has named it.
const ODD: &str = "Harbor shows no command for a path that is very long, or has characters that a shell or a reader \
                   can mistake \
                   for others; such a path is granted only if you type it yourself";

/// The sentence about a path that does not exist, so that a grant would do nothing.
pub(super) const CREATE_IT: &str = "it does not exist, so it cannot be granted: create it first";

/// The sentence in place of [`CREATE_IT`] where [`RUN_OUTSIDE`] applies, too.
const CREATE_IT_AND_RUN: &str = "it does not exist, so it cannot be granted: create it first; and you, your shell, \
                                 your editor or git run what is written there, outside the sandbox";

/// The sentence about files that others than the server run.
pub(super) const RUN_OUTSIDE: &str =
    "you, your shell, your editor or git run what is written there, outside the sandbox";

/// The option of `harbor sandbox` that would allow an access. To write a file its directory is granted, since most
/// programs write a new file and rename it.
///
/// # Errors
/// Why nothing allows it.
pub fn advice(path: &str, write: bool, facts: &SandboxFacts) -> Result<Advice, String> {
    if path.len() > LONGEST || path.contains('\\') || has_hidden(path) {
        return Err(ODD.into());
    }
    if facts.package.as_deref().is_some_and(|package| is_within(path, package)) {
        return Err(of_its_package(path, facts));
    }
    if !write {
        let option = || Advice::plain(format!("--read {}", shell(path)));
        return why_not_by_name(path, facts).map_or_else(|| Ok(option()), Err);
    }
    if let Some(never) = why_never_written(path, facts) {
        return Err(never);
    }
    let directory = parent(path);
    let why_not = |place: &str| why_never_written(place, facts).or_else(|| why_not_by_name(place, facts));
    let granted = if why_not(directory).is_some() { path } else { directory };
    if let Some(why) = why_not(granted) {
        return Err(why);
    }
    let mind = is_run_later(granted, facts).then_some(RUN_OUTSIDE);
    Ok(Advice { option: format!("--write {}", shell(granted)), mind, written: Some(granted.to_owned()) })
}

/// The advice for a path in the server's installation: files that it keeps there are lost with the next installation.
fn of_its_package(path: &str, facts: &SandboxFacts) -> String {
    format!(
        "its installation is read-only. If a variable or an argument can set another place, name one below {}; if not, \
         `--write {}` opens this part of its installation, and the next installation deletes what it keeps there",
        shell(&facts.data),
        shell(parent(path))
    )
}

/// A word as a shell has to be given it.
#[must_use]
pub fn shell(word: &str) -> String {
    let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+@,:=".contains(c));
    // Nothing is a word in quotes only, and zsh takes `=ls` for the path of `ls`.
    if plain && !word.is_empty() && !word.starts_with('=') {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
