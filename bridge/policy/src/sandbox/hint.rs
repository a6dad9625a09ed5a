//! Reads from a server's own words what it was refused or lacks, and finds the option that would allow it.
//!
//! ```text
//!  EACCES: permission denied, open '/x/y'     ─► Refused ─► /x/y, read ─► advice ─► --read /x/y
//!  mkdir: cannot create directory '/x': ...                 /x, write               --write /x, or why never
//!  MemoryError, Cannot find module '../lib/x' ─► Lacks ───► hints ────► --memory 4096, --read /opt/tool/lib
//! ```
//!
//! Owns the reading of such lines. The words are the server's and may lie: they lead only to advice that a person reads, never to
//! a grant. No character has an effect in that advice.

use harbor_ipc_proto::link::runner::Lack;

mod about;
mod advice;
mod lack;
mod lacking;
mod module;
mod path;
mod personal_files;
mod proxy;
mod refusal_sentences;

pub use about::{is_about, is_of_kernel, meant};
pub use advice::{Advice, advice, shell};
pub use lacking::{Hint, hints};
pub use path::PathRefusal;
pub use personal_files::{Kept, kept_file};
pub use proxy::{EGRESS, NOT_ALLOWED, refused_host};
pub use refusal_sentences::Told;

/// The part of a longer text that is read, in bytes.
const MAX_TEXT: usize = 8 << 10;

/// A statement of a server.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Said {
    /// The server was refused a path.
    Refused(PathRefusal),
    /// The server lacks something else.
    Lacks(Lack<'static>),
}

/// Reads lines one after the other, since some messages are longer than one line.
#[derive(Debug, Default)]
pub struct HintReader {
    modules: module::ModuleHintReader,
    sockets: lack::Sockets,
}

impl HintReader {
    /// The statement in a line, if there is one.
    pub fn line(&mut self, line: &str) -> Option<Said> {
        let line = start_of(line);
        let lower = line.to_ascii_lowercase();
        let told = self.sockets.line(&lower);
        let module = self.modules.line(line).map(Lack::Module);
        let lack = module.or_else(|| lack::socket(line, &lower)).or_else(|| lack::limit(&lower));
        let lack = lack.or_else(|| lack::host(line, &lower).map(Lack::Host));
        let lack = lack.or_else(|| lack::attributes(line, &lower));
        let said = lack.map(Said::Lacks).or_else(|| path::in_line(line, &lower).map(Said::Refused));
        said.or(told.map(Said::Lacks))
    }
}

/// All that a text says.
#[must_use]
pub fn said(text: &str) -> Vec<Said> {
    let (mut reader, text) = (HintReader::default(), start_of(text));
    let said: Vec<_> = text.lines().filter_map(|line| reader.line(line)).collect();
    if said.is_empty() { path::alone(text).map(Said::Refused).into_iter().collect() } else { said }
}

fn start_of(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT)]
}

#[cfg(test)]
mod tests;
