//! Room on the disk that harbor.db can have when there is no other: a file that holds it, and is emptied for a revocation.
//!
//! Owns this file. Must never hold room on a disk that has less than twice as much: on a disk that is nearly full others need it
//! more.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use nix::fcntl::{FallocateFlags, fallocate};
use nix::sys::statvfs::fstatvfs;

use super::{beside, private_file};

/// Bytes that are held: a revocation takes a few pages of 4 KiB, in the write-ahead log and in the database.
const SIZE: u64 = 256 * 1024;

/// The unit of [`fs::Metadata::blocks`], in bytes.
const BLOCK: u64 = 512;

/// The file.
#[derive(Debug)]
pub(super) struct DiskReserve {
    path: PathBuf,
    held: AtomicBool,
}

impl DiskReserve {
    /// The room of a database; nothing is held yet.
    pub(super) fn of(database: &Path) -> Self {
        Self { path: beside(database, ".room"), held: AtomicBool::new(false) }
    }

    /// Takes the room if it is not taken yet and the disk has it. A file system without that ability holds none.
    pub(super) fn hold(&self) {
        if !self.held.load(Ordering::Relaxed) {
            let held = self.take();
            if held.is_err() {
                // Else it would stand there, and hold less than it seems to.
                let _ = fs::remove_file(&self.path);
            }
            self.held.store(held.is_ok(), Ordering::Relaxed);
        }
    }

    fn take(&self) -> io::Result<()> {
        let file = private_file(&self.path).map_err(io::Error::other)?;
        let metadata = file.metadata()?;
        if metadata.len() == SIZE && metadata.blocks() * BLOCK >= SIZE {
            return Ok(());
        }
        let disk = fstatvfs(&file)?;
        let left = disk.blocks_available().saturating_mul(disk.fragment_size());
        if left < 2 * SIZE {
            return Err(io::ErrorKind::StorageFull.into());
        }
        file.set_len(0)?;
        Ok(fallocate(&file, FallocateFlags::empty(), 0, i64::try_from(SIZE).unwrap_or(i64::MAX))?)
    }

    /// Gives the room up for the next write. True if there was any.
    pub(super) fn release(&self) -> bool {
        self.held.swap(false, Ordering::Relaxed) && fs::remove_file(&self.path).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_room_is_taken_found_again_and_given_up_once() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("harbor.db");
        let taken = || home.path().join("harbor.db.room").metadata().map_or(0, |file| file.blocks() * BLOCK);
        let room = DiskReserve::of(&path);
        assert!(!room.release());
        room.hold();
        assert!(taken() >= SIZE);
        let next = DiskReserve::of(&path);
        next.hold();
        assert!(next.release() && !next.release());
        assert_eq!(taken(), 0);
        next.hold();
        assert!(taken() >= SIZE);
    }
}
