//! What the command line is asked about itself: help, the manual page, completions.
//!
//! Owns the names of shells and of what they complete.

use harbor_policy::suggest::hint;

use super::{Command, Words, unknown_command};
use crate::help::{self, Shell};

/// What a shell wants the names of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    Servers,
    /// `SERVER/TOOL`, begun so far.
    Tools(String),
    /// Of the secrets of a server.
    Keys(String),
    /// The arguments of this `SERVER/TOOL`.
    Arguments(String),
    /// AI clients that Harbor knows.
    Clients,
    Scopes,
    /// Those that have grants.
    Origins,
}

impl Words {
    pub(super) fn help_wanted(&self) -> Result<Command, String> {
        self.at_most(1)?;
        match (self.plain.first(), self.has("--man")) {
            (None, true) => Ok(Command::Manual),
            (Some(_), true) => Err("the manual page is that of all commands: leave COMMAND out".into()),
            (None, false) => Ok(Command::Help(None)),
            (Some(name), false) => {
                let topic = help::find(name).ok_or_else(|| unknown_command(name))?;
                Ok(Command::Help(Some(topic.name)))
            }
        }
    }

    pub(super) fn completions(&self) -> Result<Shell, String> {
        self.at_most(1)?;
        let name = self.plain.first().ok_or("which shell? Name bash, zsh or fish")?;
        let shell = Shell::ALL.into_iter().find(|shell| shell.name() == name);
        shell.ok_or_else(|| {
            format!("{name}: use bash, zsh or fish{}", hint(name, Shell::ALL.map(Shell::name)))
        })
    }

    /// What a script asks, not a person.
    pub(super) fn wanted(&self) -> Result<Wanted, String> {
        self.at_most(3)?;
        let begun = self.plain.get(1).cloned().unwrap_or_default();
        let behind = self.plain.get(2).cloned().unwrap_or_default();
        match self.plain.first().map(String::as_str) {
            Some("servers") => Ok(Wanted::Servers),
            Some("tools") => Ok(Wanted::Tools(begun)),
            // A server, or one of its tools.
            Some("listed") => Ok(if begun.contains('/') { Wanted::Tools(begun) } else { Wanted::Servers }),
            Some("keys") => Ok(Wanted::Keys(behind)),
            Some("arguments") => Ok(Wanted::Arguments(behind)),
            Some("clients") => Ok(Wanted::Clients),
            Some("scopes") => Ok(Wanted::Scopes),
            Some("origins") => Ok(Wanted::Origins),
            _ => Err("use servers, tools, keys, arguments, clients, scopes or origins".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{command, complaint};
    use super::*;

    #[test]
    fn shells_and_what_they_ask() {
        assert_eq!(command(&["completions", "fish"]), Command::Completions(Shell::Fish));
        assert_eq!(command(&["complete", "servers", ""]), Command::Complete(Wanted::Servers));
        assert_eq!(command(&["complete", "tools", "a/b"]), Command::Complete(Wanted::Tools("a/b".into())));
        assert_eq!(command(&["complete", "listed", "a/b"]), Command::Complete(Wanted::Tools("a/b".into())));
        assert_eq!(command(&["complete", "listed", "a"]), Command::Complete(Wanted::Servers));
        assert_eq!(command(&["help", "--man"]), Command::Manual);
        for (line, said) in [
            (&["completions"][..], "which shell? Name bash, zsh or fish"),
            (&["completions", "bsh"], "bsh: use bash, zsh or fish; did you mean bash?"),
            (&["complete", "x"], "use servers, tools, keys, arguments"),
            (&["help", "--man", "add"], "the manual page is that of all commands"),
        ] {
            let complaint = complaint(line);
            assert!(complaint.starts_with(said), "{complaint}");
        }
    }
}
