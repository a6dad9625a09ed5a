//! The two files of a server: the one that grows and the full one before it.
//!
//! Owns their names, their size and their whole lines. Opens them anew each time: so it follows the person who
//! moves or removes them, and after any failure begins with a sound file. Must never follow a link, nor wait for
//! something that is no file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use harbor_ipc_proto::server_id::ServerId;
use nix::fcntl::OFlag;

use super::record::{Record, parse};
use crate::store::{StoreError, failed, private_directory};

/// A file that would pass this is put aside, in bytes.
const MAX_FILE: u64 = 1024 * 1024;

/// The ends of the two names, the newer file first. No id makes one of the other.
const ENDS: [&str; 2] = ["log", "log.1"];

/// All servers' files.
#[derive(Debug)]
pub(super) struct Files {
    dir: PathBuf,
    max: u64,
}

impl Files {
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
        let (mut file, mut length) = self.open(&path)?;
        if length > 0 && length.saturating_add(lines.len() as u64) > self.max {
            fs::rename(&path, &full).map_err(failed("put aside", &path))?;
            (file, length) = self.open(&path)?;
        }
        let written = file.write_all(lines);
        if written.is_err() {
            // If this fails too, the next one to open the file cuts off what is torn.
            let _ = file.set_len(length);
        }
        written.map_err(failed("write", &path))
    }

    /// A file that ends with a whole line, and its length.
    fn open(&self, path: &Path) -> Result<(File, u64), StoreError> {
        let open = || {
            let mut options = OpenOptions::new();
            options.read(true).append(true).create(true).mode(0o600).custom_flags(flags()).open(path)
        };
        let file = match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                private_directory(&self.dir)?;
                open()
            }
            opened => opened,
        };
        let file = file.map_err(failed("open", path))?;
        let length = cut_torn_line(&file).map_err(failed("mend", path))?;
        Ok((file, length))
    }

    /// The newest lines, oldest first. What cannot be read is left out.
    pub(super) fn last(&self, id: &ServerId, limit: usize) -> Vec<Record> {
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

/// Without the last one, opening a FIFO would wait for its other end.
fn flags() -> i32 {
    (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits()
}

fn length_of(file: &File) -> io::Result<u64> {
    let metadata = file.metadata()?;
    if metadata.is_file() { Ok(metadata.len()) } else { Err(io::Error::other("it is no file")) }
}

/// Cuts off what follows the last newline: the bridge was killed, or the power went, in the middle of a line.
fn cut_torn_line(file: &File) -> io::Result<u64> {
    let length = length_of(file)?;
    let mut last = [b'\n'];
    file.read_exact_at(&mut last, length.saturating_sub(1)).or_else(|error| match length {
        0 => Ok(()),
        _ => Err(error),
    })?;
    if last == [b'\n'] {
        return Ok(length);
    }
    let start = length.saturating_sub(MAX_FILE);
    let mut end = vec![0; usize::try_from(length - start).map_err(io::Error::other)?];
    file.read_exact_at(&mut end, start)?;
    // No line of ours is as long as a file: what has no newline in its end is no log.
    let whole = newline(&end).map_or(0, |at| start + at as u64 + 1);
    file.set_len(whole)?;
    Ok(whole)
}

fn newline(bytes: &[u8]) -> Option<usize> {
    bytes.iter().rposition(|byte| *byte == b'\n')
}

/// The end of a file, as much as one of ours can have, up to its last newline.
fn read_end(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = OpenOptions::new().read(true).custom_flags(flags()).open(path)?;
    let start = length_of(&file)?.saturating_sub(MAX_FILE);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut bytes)?;
    // A line without its newline will be cut off; it must not be seen now and be gone later.
    bytes.truncate(newline(&bytes).unwrap_or(0));
    Ok(bytes)
}

#[cfg(test)]
mod tests;
