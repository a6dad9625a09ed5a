//! The home of a bridge, which may outlive it: what one bridge stores, the next one finds.
//!
//! Owns the directory, which goes with its owner, and with the driver however that ends. Must not make two at the same
//! place: several bridges may live at once.

use crate::{Outcome, watchdog};
use std::fs;
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
        let made = tempfile::Builder::new().prefix("harbor-bench-").tempdir();
        let path = made.map_err(|error| format!("a directory for a bridge: {error}"))?.keep();
        watchdog::made(path.clone());
        Ok(Self { path })
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
        watchdog::removed(&self.path);
    }
}
