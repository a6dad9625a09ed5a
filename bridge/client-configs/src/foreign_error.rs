//! Why a file of a client cannot be used.
//!
//! Must never repeat what is in it, but for names.

use std::fmt;

/// The reason why a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForeignError {
    /// The client could not read it; where, and what is wrong there.
    Malformed {
        /// Counted from 1.
        line: usize,
        /// Likewise.
        column: usize,
        /// The fault in words.
        what: String,
    },
    /// A value that has to be an object is something else.
    NoTable(String),
    /// A name stands there twice, and clients differ about which one holds.
    Twice(String),
    /// It is written in a way that cannot be changed without changing more.
    ByHand(String),
}

impl fmt::Display for ForeignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed { line, column, what } => write!(f, "line {line}, column {column}: {what}"),
            Self::NoTable(key) => write!(f, "{key} is not an object"),
            Self::Twice(key) => write!(f, "{key} occurs twice; remove one of them"),
            Self::ByHand(key) => {
                write!(f, "{key} has a form that Harbor cannot edit; change it by hand")
            }
        }
    }
}

impl std::error::Error for ForeignError {}
