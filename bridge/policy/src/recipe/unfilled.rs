//! Why a recipe cannot be filled, and the sentence for it.
//!
//! Must never repeat a value.

use std::fmt;

use crate::suggest::hint;

/// The most bytes of a word.
pub(super) const MAX_WORD: usize = 4096;

/// More than that in all is no recipe, in bytes; each placeholder costs one, too.
pub(super) const MAX_ALL: usize = 64 << 10;

/// The reason why a recipe cannot be filled. Values are not repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfilled {
    /// These must be given: inputs, then variables, each with what it is.
    Missing(Vec<(String, String)>, Vec<(String, String)>),
    /// There is no such input.
    Unknown(String, Vec<String>),
    /// The input's value is wrong. The second text says what is expected.
    Wrong(String, String),
    /// This argument of others would name a place of this machine, even without the filled-in values.
    Place(String),
    /// It would become more than anybody means.
    TooLong,
}

impl fmt::Display for Unfilled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(inputs, env) => {
                let said = |option: &str, (name, what): &(String, String)| match what.is_empty() {
                    true => format!("{option} {name}=VALUE"),
                    false => format!("{option} {name}=VALUE ({})", what.trim_end_matches('.')),
                };
                let inputs = inputs.iter().map(|input| said("--input", input));
                let all: Vec<_> = inputs.chain(env.iter().map(|variable| said("--env", variable))).collect();
                write!(f, "it needs {}", all.join(" and "))
            }
            Self::Unknown(name, known) if known.is_empty() => {
                write!(f, "there is no input {name}; this server has no inputs")
            }
            Self::Unknown(name, known) => {
                let meant = hint(name, known.iter().map(String::as_str));
                write!(f, "there is no input {name}{meant}; this server has {}", known.join(", "))
            }
            Self::Wrong(name, expected) => write!(f, "{name}: expected {expected}"),
            Self::Place(argument) => write!(
                f,
                "it asks for the argument {}, a place on this machine, which only you may grant; install the package \
                 itself, with its arguments after --",
                argument.escape_debug()
            ),
            Self::TooLong => write!(
                f,
                "its command line would be too long: at most {} bytes for one argument or value and {} KiB for all; \
                 give shorter values by --input",
                MAX_WORD,
                MAX_ALL >> 10
            ),
        }
    }
}
