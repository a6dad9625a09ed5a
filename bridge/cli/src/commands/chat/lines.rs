//! The input of a chat, line by line, wherever it comes from.
//!
//! Must never know what a line means.

use harbor_client::errors::Failure;

/// The result of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Typed {
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D.
    End,
}

/// The input of a chat, line by line.
pub trait Lines {
    /// The next one.
    fn next(&mut self) -> Result<Typed, Failure>;
}
