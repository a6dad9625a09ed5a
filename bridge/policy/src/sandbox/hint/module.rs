//! A part of its own program that a server does not find.
//!
//! ```text
//!  Error: Cannot find module '../lib/x'     ModuleNotFoundError: No module named 'helper.x'
//!  Require stack:                            └─► helper
//!  - /opt/tool/bin/tool.js ─► /opt/tool/lib/x
//! ```
//!
//! Owns the reading of Node's and Python's words. Must never name more than the message does.

use std::borrow::Cow;

use super::path::plain;
use crate::sandbox::paths::{below, parent};

/// The most bytes of a name.
const MAX_NAME: usize = 200;

/// The words before the name, in quotes.
const BEFORE: &[&str] = &["Cannot find module '", "Cannot find package '", PYTHON];

/// Python's words. For `a.b` they name `a` if no part of it is found.
const PYTHON: &str = "No module named '";

/// The words before the file that wanted it.
const IMPORTED_FROM: &str = "' imported from ";

/// Reads lines one after the other.
#[derive(Debug, Default)]
pub(super) struct ModuleHintReader {
    /// The module that is missing, relative to a file that a later line names.
    relative: Option<String>,
}

impl ModuleHintReader {
    /// A path, or the name of a module, once both lines are there.
    pub(super) fn line(&mut self, line: &str) -> Option<Cow<'static, str>> {
        if let Some(relative) = self.relative.take() {
            if line.starts_with("Require stack:") {
                self.relative = Some(relative);
                return None;
            }
            if let Some(wanting) = line.strip_prefix("- ") {
                return joined(wanting.trim_end(), &relative).map(Cow::Owned);
            }
        }
        self.begins(line).map(Cow::Owned)
    }

    fn begins(&mut self, line: &str) -> Option<String> {
        let (at, before) = BEFORE.iter().find_map(|before| line.find(before).map(|at| (at, before)))?;
        let rest = &line[at + before.len()..];
        let name = &rest[..rest.find('\'')?];
        if *before == PYTHON {
            return named(name.split('.').next()?);
        }
        match (name.as_bytes().first()?, rest[name.len()..].strip_prefix(IMPORTED_FROM)) {
            (b'/', _) => plain(name),
            (b'.', Some(wanting)) => joined(wanting.trim_end(), name),
            (b'.', None) => {
                self.relative = (name.len() <= MAX_NAME).then(|| name.to_owned());
                None
            }
            _ => named(name),
        }
    }
}

/// The path that a relative name leads to from a file. Works on the text: `..` of a real path is the directory above.
fn joined(file: &str, relative: &str) -> Option<String> {
    let mut path = parent(&plain(file)?).to_owned();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => path = parent(&path).to_owned(),
            part => path = below(&path, part),
        }
    }
    plain(&path)
}

/// A module that is no path: of Node's `a/b` the first, and both parts of `@a/b`.
fn named(name: &str) -> Option<String> {
    let parts = if name.starts_with('@') { 2 } else { 1 };
    let end = name.match_indices('/').nth(parts - 1).map_or(name.len(), |(at, _)| at);
    let whole = &name[..end];
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-@/.".contains(c);
    let is_name = !whole.is_empty() && whole.len() <= MAX_NAME && whole.chars().all(is_plain);
    (is_name && !whole.contains("..")).then(|| whole.to_owned())
}
