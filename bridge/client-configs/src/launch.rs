//! The part of an entry that can be taken over: a command, an image or a remote server; or why
//! nothing is.
//!
//! Must never show a value of an environment variable or a header: a reason gives names only.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::placeholders::{Unresolved, Use};

/// The way to start a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Launch {
    /// A path, or a name for PATH.
    pub command: String,
    /// The image that is run instead of a command.
    pub image: Option<Image>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment.
    pub env: BTreeMap<String, String>,
    /// Variables that are secrets, which the client asks its person for or that are not set here.
    pub missing: BTreeSet<String>,
    /// The directory in which it runs, if that is given or matters.
    pub cwd: Option<String>,
    /// The person's own variables that went into it.
    pub taken: BTreeSet<Use>,
    /// The server's address, if it is remote; then there is no command.
    pub remote: Option<RemoteEntry>,
}

/// The reason why a server is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Skip {
    /// It is Harbor.
    Ours,
    /// The person has switched it off there.
    Disabled,
    /// It names no command: an extension of the client starts it.
    NoCommand,
    /// Its form is not that of a server; where.
    Malformed(&'static str),
    /// A path that is relative to what only the client knows.
    Relative(String),
    /// Variables are in a file of this name.
    EnvFile(String),
    /// Its command runs an image, with more than Harbor's own containers have.
    Beyond(Beyond),
    /// A placeholder that cannot be replaced here, and the server's variable that has it, if one has.
    Unresolved(Unresolved, Option<String>),
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ours => write!(f, "it is Harbor itself"),
            Self::Disabled => write!(f, "it is disabled in that file; --disabled imports it too"),
            Self::NoCommand => write!(f, "it has no command, since it belongs to an extension of the client"),
            Self::Malformed(what) => write!(f, "{what} has the wrong type or form"),
            Self::Relative(path) => {
                write!(
                    f,
                    "{path} is relative, and the file does not say to which directory; add it with `harbor add` and \
                     `--cwd DIR`"
                )
            }
            Self::EnvFile(file) => write!(
                f,
                "its variables are in the file {file}, which Harbor does not read; add it with `harbor add`, and its \
                 keys with `--secret NAME`"
            ),
            Self::Beyond(beyond) => write!(f, "{beyond}"),
            Self::Unresolved(why, variable) => match why {
                Unresolved::Input(id) => {
                    write!(f, "the client asks for its input `{id}`; ")?;
                    by_hand(f, variable.as_deref())
                }
                Unresolved::Unset(name) => {
                    write!(f, "the variable {name} is not set here; set it, or ")?;
                    by_hand(f, variable.as_deref())
                }
                Unresolved::Workspace(text) => {
                    write!(f, "{text} stands for a project's directory, but this file belongs to no project")
                }
                Unresolved::NotTheirs(text) => write!(
                    f,
                    "the client of this file does not replace {text}; add it with `harbor add` and the value that you mean"
                ),
                Unresolved::Unknown(text) => write!(
                    f,
                    "only the client knows the value of {text}; add it with `harbor \
                                                        add`"
                ),
            },
        }
    }
}

/// Advice how to add such a server. A value may be a secret, which belongs on no command line.
fn by_hand(f: &mut fmt::Formatter<'_>, variable: Option<&str>) -> fmt::Result {
    match variable {
        Some(name) => write!(
            f,
            "add it with `harbor add`: `--env {name}=VALUE`, or if that is a secret `--secret {name}` and then \
             `harbor secrets set SERVER {name}`"
        ),
        None => write!(f, "add it with `harbor add`"),
    }
}

impl From<Unresolved> for Skip {
    fn from(why: Unresolved) -> Self {
        Self::Unresolved(why, None)
    }
}

/// A remote server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemoteEntry {
    /// Its address.
    pub url: String,
    /// True if the entry says that the server speaks HTTP+SSE only.
    pub sse: bool,
    /// Headers that go with each request.
    pub headers: BTreeMap<String, String>,
}

/// An image, and what runs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The reference, as the command says it.
    pub reference: String,
    /// `docker` or `podman`.
    pub engine: &'static str,
}

/// The reason why an image is not taken over by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beyond {
    /// The command's option or variable.
    pub what: String,
    /// Advice, as a sentence's second half.
    pub advice: String,
}

impl std::fmt::Display for Beyond {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Harbor runs images itself and cannot import {} of this command: {}",
            self.what, self.advice
        )
    }
}
