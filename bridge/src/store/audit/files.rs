//! The files of the audit log: the one that grows, and the full ones before it, `.1` the newest of them.
//!
//! ```text
//!  audit.jsonl.next ──► audit.jsonl ──16 MiB──► .1 ──► .2 ──► … ──► .7 ──► gone
//! ```
//!
//! Owns their names, their sizes and their whole lines. Opens them anew each time: so it follows the person who moves or removes
//! them, and begins with a sound file after any failure. Holds room behind the newest one's end, for what has happened by the
//! time that somebody else has filled the disk. Where the next file cannot be had, this one grows into that room, and no further.
//! Must never split a line over two files, nor take back what is written.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, fallocate};
use nix::sys::statvfs::fstatvfs;

use crate::store::lines::{newline, open_to_append, open_to_read};
use crate::store::{StoreError, failed};

/// The least room on disk that is held, in bytes: thousands of records. Each time twice as much is taken, to
/// ask less often. A disk with less counts as full.
const RESERVE: u64 = 1024 * 1024;

/// The unit of [`MetadataExt::blocks`], in bytes.
const BLOCK: u64 = 512;

/// The bounds of the kept files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// A file that would pass this is put aside, in bytes.
    pub file: u64,
    /// How many files that were put aside are kept; at least one.
    pub old_files: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { file: 16 * 1024 * 1024, old_files: 7 }
    }
}

/// All of them.
#[derive(Debug)]
pub(super) struct AuditFiles {
    path: PathBuf,
    limits: Limits,
    /// Held while files are renamed, and while all of them are opened.
    names: Mutex<()>,
}

/// The newest file, open to append.
#[derive(Debug)]
pub(super) struct Newest<'a> {
    files: &'a AuditFiles,
    path: PathBuf,
    file: File,
    length: u64,
    /// The reason why the next file could not be had. It is tried once for each opening, since trying costs more than writing.
    stuck: Option<StoreError>,
}

impl AuditFiles {
    pub(super) fn new(path: &Path, limits: Limits) -> Self {
        let limits = Limits { old_files: limits.old_files.max(1), ..limits };
        Self { path: path.to_owned(), limits, names: Mutex::default() }
    }

    /// The path of the newest file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the newest file (0), or of a file that was put aside.
    fn nth(&self, n: u32) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        if n > 0 {
            path.push(format!(".{n}"));
        }
        path.into()
    }

    /// The path of the next newest file. A file there was prepared and is empty.
    fn next(&self) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(".next");
        path.into()
    }

    /// Opens the newest file, or makes it. Uses a prepared file that a killed bridge did not begin.
    pub(super) fn newest(&self) -> Result<Newest<'_>, StoreError> {
        let (path, next) = (self.nth(0), self.next());
        let is_prepared = |next: fs::Metadata| next.is_file() && next.len() == 0;
        if !path.exists() && fs::symlink_metadata(&next).is_ok_and(is_prepared) {
            fs::rename(&next, &path).map_err(failed("begin", &next))?;
        }
        self.open(path)
    }

    fn open(&self, path: PathBuf) -> Result<Newest<'_>, StoreError> {
        let (file, length) = open_to_append(&path)?;
        if length == 0 {
            // It may be new, as may its directory.
            self.sync_names()?;
        }
        Ok(Newest { files: self, path, file, length, stuck: None })
    }

    /// Opens all readable files, the newest first, each with the end of its last whole line.
    pub(super) fn all(&self) -> Result<Vec<(File, u64)>, StoreError> {
        let _held = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = Vec::new();
        for n in 0..=self.limits.old_files {
            let path = self.nth(n);
            match open_to_read(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                opened => all.push(opened.map_err(failed("read", &path))?),
            }
        }
        Ok(all)
    }

    /// Makes each file one older, up to the first name that is free; else the oldest one goes.
    fn put_aside(&self) -> Result<(), StoreError> {
        let last = self.limits.old_files;
        let free = (1..last).find(|n| !self.nth(*n).exists()).unwrap_or(last);
        let _held = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        for n in (0..free).rev() {
            let path = self.nth(n);
            fs::rename(&path, self.nth(n + 1)).map_err(failed("put aside", &path))?;
        }
        let next = self.next();
        fs::rename(&next, self.nth(0)).map_err(failed("begin", &next))
    }

    /// Makes sure that what was made and renamed survives a power cut.
    fn sync_names(&self) -> Result<(), StoreError> {
        let sync = |dir: &Path| File::open(dir).and_then(|dir| dir.sync_all()).map_err(failed("sync", dir));
        self.path.ancestors().skip(1).take(2).filter(|dir| !dir.as_os_str().is_empty()).try_for_each(sync)
    }
}

impl Newest<'_> {
    /// Appends whole lines. Adds the number of written lines to `written`, even if not all are written.
    pub(super) fn append(&mut self, mut lines: &[u8], written: &mut usize) -> Result<(), StoreError> {
        while !lines.is_empty() {
            let mut now = self.fitting(lines, 0);
            if now == 0 && self.length > 0 && self.has_put_aside() {
                continue;
            }
            if now == 0 {
                // A line that is longer than a file has one of its own.
                now = if self.stuck.is_some() { self.fitting(lines, 2 * RESERVE) } else { first_line(lines) };
            }
            if let Some(why) = self.stuck.take_if(|_| now == 0) {
                return Err(why);
            }
            let (piece, rest) = lines.split_at(now);
            let (done, result) = write(&mut self.file, piece);
            // If this was torn, the next one to open the file cuts it off.
            *written += memchr::memchr_iter(b'\n', &piece[..done]).count();
            self.length += done as u64;
            result.map_err(failed("write", &self.path))?;
            lines = rest;
        }
        Ok(())
    }

    /// Returns when all that was appended is on disk.
    pub(super) fn sync(&self) -> Result<(), StoreError> {
        self.file.sync_data().map_err(failed("sync", &self.path))
    }

    /// Bytes of the leading lines that fit into this file's limit and `more` bytes beyond it.
    fn fitting(&self, lines: &[u8], more: u64) -> usize {
        fitting(lines, (self.files.limits.file + more).saturating_sub(self.length))
    }

    /// Makes sure that there is room for the next records. True if room is held. If a file system cannot hold
    /// room, the disk must have some now.
    ///
    /// # Errors
    /// When there is no room, or when this file is too long and no next one can be had.
    pub(super) fn reserve(&mut self) -> Result<bool, StoreError> {
        let over = self.length.saturating_sub(self.files.limits.file);
        if over > 0
            && !self.has_put_aside()
            && let Some(why) = self.stuck.take_if(|_| over > RESERVE)
        {
            return Err(why);
        }
        self.hold().map_err(failed("reserve room for", &self.path))
    }

    fn hold(&self) -> io::Result<bool> {
        let taken = self.file.metadata()?.blocks() * BLOCK;
        if taken >= self.length + RESERVE {
            return Ok(true);
        }
        // Asked first: some take what there is, and then say that it was not enough.
        let disk = fstatvfs(&self.file)?;
        let says_nothing = disk.blocks() == 0;
        let left = disk.blocks_available().saturating_mul(disk.fragment_size());
        if left < 2 * RESERVE && !says_nothing {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let [from, bytes] = [self.length, 2 * RESERVE].map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
        loop {
            match fallocate(&self.file, FallocateFlags::FALLOC_FL_KEEP_SIZE, from, bytes) {
                // A signal is no reason to call the disk full.
                Err(Errno::EINTR) => {}
                Ok(()) => return Ok(true),
                Err(Errno::EOPNOTSUPP | Errno::ENOSYS) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Begins the next file, if it can be had.
    fn has_put_aside(&mut self) -> bool {
        if self.stuck.is_some() {
            return false;
        }
        self.stuck = self.put_aside().err();
        self.stuck.is_none()
    }

    fn put_aside(&mut self) -> Result<(), StoreError> {
        let path = self.files.next();
        // Before this one's room is let go.
        let held = self.files.open(path.clone()).and_then(|mut next| {
            next.file.set_len(0).map_err(failed("begin", &path))?;
            next.length = 0;
            next.reserve()
        });
        held.inspect_err(|_| drop(fs::remove_file(&path)))?;
        self.sync()?;
        self.files.put_aside()?;
        // What is kept of it takes no more than it has.
        let _ = self.file.set_len(self.length);
        // A new file, so the names are synced.
        *self = self.files.newest()?;
        Ok(())
    }
}

/// The bytes of the leading lines that fit into `room`.
fn fitting(lines: &[u8], room: u64) -> usize {
    let room = usize::try_from(room).unwrap_or(usize::MAX).min(lines.len());
    newline(&lines[..room]).map_or(0, |at| at + 1)
}

fn first_line(lines: &[u8]) -> usize {
    lines.iter().position(|byte| *byte == b'\n').map_or(lines.len(), |at| at + 1)
}

/// Writes what goes, and says how much that was.
fn write(file: &mut impl Write, bytes: &[u8]) -> (usize, io::Result<()>) {
    let mut done = 0;
    while done < bytes.len() {
        match file.write(&bytes[done..]) {
            Ok(0) => return (done, Err(io::ErrorKind::WriteZero.into())),
            Ok(more) => done += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (done, Err(error)),
        }
    }
    (done, Ok(()))
}

#[cfg(test)]
mod tests;
