//! The home of a bridge, which may outlive it: what one bridge stores, the next one finds.
//!
//! Owns the directory. There is one at a time.

use crate::Outcome;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

/// A directory that goes with its owner. Its path is short, since a socket is to be in it.
#[derive(Debug)]
pub struct Home {
    /// Where it is.
    pub path: PathBuf,
}

impl Home {
    /// An empty one.
    pub fn new() -> Outcome<Self> {
        let path = std::env::temp_dir().join(format!("harbor-bench-{}", std::process::id()));
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
