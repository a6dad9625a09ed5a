//! The two files of a server: the one that grows and the full one before it.
//!
//! Owns their names and their size. Opens them anew each time: so it follows the person who moves or removes them,
//! and after any failure begins with a sound file.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use harbor_ipc_proto::server_id::ServerId;

use super::record::{ServerLogRecord, parse};
use crate::store::lines::{open_to_append, open_to_read, read_block};
use crate::store::{StoreError, failed};

/// A file that would pass this is put aside, in bytes.
const MAX_FILE: u64 = 1024 * 1024;

/// The ends of a server's two file names, the newer file first. With them no id gives another id's file name.
const ENDS: [&str; 2] = ["log", "log.1"];

/// All servers' files.
#[derive(Debug)]
pub(super) struct ServerLogFiles {
    dir: PathBuf,
    max: u64,
}

impl ServerLogFiles {
    pub(super) fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), max: MAX_FILE }
    }

    fn paths(&self, id: &ServerId) -> [PathBuf; 2] {
        ENDS.map(|end| self.dir.join(format!("{id}.{end}")))
    }

    /// Appends whole lines, all or none.
    pub(super) fn append(&self, id: &ServerId, lines: &[u8]) -> Result<(), StoreError> {
        if lines.is_empty() {
            return Ok(());
        }
        let [path, full] = self.paths(id);
        let (mut file, mut length) = open_to_append(&path)?;
        if length > 0 && length.saturating_add(lines.len() as u64) > self.max {
            fs::rename(&path, &full).map_err(failed("put aside", &path))?;
            (file, length) = open_to_append(&path)?;
        }
        let written = file.write_all(lines);
        if written.is_err() {
            // If this fails too, the next one to open the file cuts off what is torn.
            let _ = file.set_len(length);
        }
        written.map_err(failed("write", &path))
    }

    /// The newest lines, oldest first. Unreadable lines are left out.
    pub(super) fn last(&self, id: &ServerId, limit: usize) -> Vec<ServerLogRecord> {
        let mut newest = Vec::new();
        for path in self.paths(id) {
            let bytes = read_end(&path).unwrap_or_default();
            let left = limit - newest.len();
            newest.extend(bytes.rsplit(|byte| *byte == b'\n').filter_map(parse).take(left));
        }
        newest.reverse();
        newest
    }

    /// Removes both files.
    pub(super) fn remove(&self, id: &ServerId) -> Result<(), StoreError> {
        // Both are tried, whatever becomes of the first.
        let removed = self.paths(id).map(|path| match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", &path)(error)),
            _ => Ok(()),
        });
        removed.into_iter().collect()
    }
}

/// The end of a file, at most as long as a log file can be.
fn read_end(path: &Path) -> io::Result<Vec<u8>> {
    let (file, end) = open_to_read(path)?;
    read_block(&file, end.saturating_sub(MAX_FILE), end)
}

#[cfg(test)]
mod tests;
