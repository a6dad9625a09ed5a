//! The home of a bridge, which may outlive it: what one bridge stores, the next one finds.
//!
//! Owns the directory. Must not make two at the same place: several bridges may live at once.

use crate::Outcome;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many were made before.
static MADE: AtomicU32 = AtomicU32::new(0);

/// A directory that goes with its owner. Its path is short, since a socket is to be in it.
#[derive(Debug)]
pub struct Home {
    /// Where it is.
    pub path: PathBuf,
}

impl Home {
    /// An empty one.
    pub fn new() -> Outcome<Self> {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("harbor-bench-{}-{number}", std::process::id()));
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { path })
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}
