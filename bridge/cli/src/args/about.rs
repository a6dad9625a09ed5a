//! Questions to the command line about itself: help, the manual page, names for shells.

use clap::{Args, ValueEnum};

/// A shell that there is a completion script for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Show this help, or that of a command
///
/// Example: `harbor help --man > ~/.local/share/man/man1/harbor.1`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct HelpWanted {
    /// The command
    #[arg(conflicts_with = "man")]
    pub command: Vec<String>,
    /// Print the manual page of all commands
    #[arg(long)]
    pub man: bool,
}

/// A reference page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReferencePage {
    /// Every message of the bridge's local socket, with its fields and errors
    Protocol,
    /// Every command with its options
    Commands,
    /// Every browser tool with its arguments
    Browser,
}

/// Print names for the completion of a shell, one per line; none when no bridge runs
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(hide = true)]
pub struct Names {
    /// The kind of names
    pub kind: NameKind,
    /// The word as far as it is typed; for `tools`, the server
    #[arg(default_value = "", hide_default_value = true)]
    pub word: String,
    /// The word before it: for `keys` the server, for `arguments` the tool
    #[arg(default_value = "", hide_default_value = true)]
    pub behind: String,
}

/// The kind of names that are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NameKind {
    Servers,
    Tools,
    /// A server, or one of its tools.
    Listed,
    /// The names of a server's secrets.
    Keys,
    /// The arguments of a tool.
    Arguments,
    /// AI clients that Harbor knows.
    Clients,
    Scopes,
    /// The origins that have grants.
    Origins,
    /// The commands of this program.
    Commands,
}
