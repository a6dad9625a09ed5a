//! Reading the audit log: the newest lines that match, from the end of the newest file backwards.
//!
//! Owns the search. Must never hold more than a block, a line and what was found; nor trust a line: the person may
//! have edited it.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;

use serde::Deserialize;

use super::files::AuditFiles;
use crate::store::lines::{BLOCK, read_block};
use crate::store::{StoreError, failed};

/// Lines stand in the order of their arrival, but a clock can be set back. Setting it back by less than this
/// changes no result, in milliseconds.
const SET_BACK: u64 = 60 * 60 * 1000;

/// The lines to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// Only lines of this origin, or sent by it.
    pub origin: Option<String>,
    /// No line older than this, in milliseconds since 1970.
    pub since_ms: Option<u64>,
    /// No more lines than this, the newest.
    pub limit: usize,
}

/// The fields of a line that are looked at.
#[derive(Debug, Deserialize)]
struct AuditLine<'a> {
    timestamp: u64,
    #[serde(borrow)]
    by: Option<Cow<'a, str>>,
    #[serde(borrow)]
    origin: Option<Cow<'a, str>>,
}

impl Query {
    fn matches(&self, line: &AuditLine<'_>) -> bool {
        let is = |wanted: &str| [&line.origin, &line.by].into_iter().flatten().any(|name| name == wanted);
        line.timestamp >= self.since_ms.unwrap_or(0) && self.origin.as_deref().is_none_or(is)
    }

    /// True if nothing older than this line can match.
    fn is_passed(&self, line: &AuditLine<'_>) -> bool {
        line.timestamp.saturating_add(SET_BACK) < self.since_ms.unwrap_or(0)
    }
}

/// The newest lines that match, oldest first.
pub(super) fn read(files: &AuditFiles, query: &Query) -> Result<Vec<String>, StoreError> {
    let mut found = Vec::new();
    for (file, end) in files.all()? {
        let visited = visit(&file, end, BLOCK, |line| take(line, query, &mut found));
        if visited.map_err(failed("read", files.path()))?.is_break() {
            break;
        }
    }
    found.reverse();
    Ok(found)
}

fn take(text: &[u8], query: &Query, found: &mut Vec<String>) -> ControlFlow<()> {
    if found.len() >= query.limit {
        return ControlFlow::Break(());
    }
    let Some((text, line)) = parse(text) else { return ControlFlow::Continue(()) };
    if query.matches(&line) {
        found.push(text.to_owned());
    }
    if query.is_passed(&line) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

fn parse(text: &[u8]) -> Option<(&str, AuditLine<'_>)> {
    let text = str::from_utf8(text).ok()?;
    // Serde would take a list of the same values, too.
    let line = text.starts_with('{').then(|| serde_json::from_str(text).ok()).flatten()?;
    Some((text, line))
}

/// Visits the lines before `end`, where one ends, the last one first.
fn visit(
    file: &File,
    mut end: u64,
    block: u64,
    mut visitor: impl FnMut(&[u8]) -> ControlFlow<()>,
) -> io::Result<ControlFlow<()>> {
    // The end of a line whose beginning is in an earlier block.
    let mut rest = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(block);
        let mut bytes = read_block(file, start, end)?;
        bytes.append(&mut rest);
        let head = match bytes.iter().position(|byte| *byte == b'\n') {
            _ if start == 0 => 0,
            Some(at) => at + 1,
            None => bytes.len(),
        };
        let lines = bytes[head..].rsplit(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        for line in lines {
            if visitor(line).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        bytes.truncate(head);
        (rest, end) = (bytes, start);
    }
    Ok(ControlFlow::Continue(()))
}

#[cfg(test)]
mod tests;
