//! What a start has left in the server's temporary directory, which is empty for the next one.
//!
//! ```text
//!  start ─► tmp becomes tmp.old ─► a new tmp ─► the server runs
//!                │ at once           │
//!                └───────────────────┴─► a thread removes tmp.old ─► the start after this one may begin
//! ```
//!
//! Owns that removal: however large the tree, no start takes longer for it, unless the one before it is not gone yet. Must
//! never let two threads remove one tree: each would take the other one's doing for a server that adds to it.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Server;
use crate::store::private_directory;
use crate::store::removal::remove_tree;

/// The leftovers of one server.
#[derive(Debug)]
pub(super) struct Leftovers {
    turn: Arc<Semaphore>,
}

impl Default for Leftovers {
    fn default() -> Self {
        Self { turn: Arc::new(Semaphore::new(1)) }
    }
}

/// Nothing of a server's leftovers is being removed by anybody else, as long as this is there.
#[derive(Debug)]
pub(super) struct Turn {
    _permit: Option<OwnedSemaphorePermit>,
}

impl Leftovers {
    /// Waits until what earlier starts have left is gone. The limit of the start bounds it.
    pub(super) async fn turn(&self) -> Turn {
        // It is never closed.
        Turn { _permit: self.turn.clone().acquire_owned().await.ok() }
    }
}

impl Server {
    /// Whether it is down, and nothing that it left is being removed.
    pub(in crate::supervisor) fn has_gone(&self) -> bool {
        self.is_down() && self.leftovers.turn.available_permits() > 0
    }

    /// Waits until it is down, and nothing that it left is being removed any more: what lies in its directories is somebody
    /// else's then.
    pub(in crate::supervisor) async fn gone(&self) {
        self.down().await;
        self.leftovers.turn().await;
    }
}

impl Turn {
    /// Makes an empty directory of what is at `tmp`. What lies in it, and cannot be moved out of the way, is removed first.
    /// Only on a thread where waiting does no harm.
    ///
    /// # Errors
    /// Why there is no directory.
    pub(super) fn empty(self, tmp: &Path) -> Result<(), String> {
        let old = tmp.with_extension("old");
        let moved = set_aside(tmp, &old);
        private_directory(tmp).map_err(|error| format!("prepare its temporary directory: {error}"))?;
        if moved {
            tokio::task::spawn_blocking(move || {
                let _ = remove_tree(&old);
                drop(self);
            });
        }
        Ok(())
    }
}

/// Whether something lies at `old` now.
fn set_aside(tmp: &Path, old: &Path) -> bool {
    // Most leave nothing.
    match fs::remove_dir(tmp).or_else(|_| fs::rename(tmp, old)) {
        Ok(()) => old.symlink_metadata().is_ok(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(_) => {
            // A bridge that was killed has not come to its end. What a server has made unremovable stays: it harms nobody
            // but this server.
            let _ = (remove_tree(old), remove_tree(tmp));
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;
    use tempfile::{TempDir, tempdir};

    /// A server's directory in which these files are.
    fn root(files: &[&str]) -> (TempDir, PathBuf) {
        let root = tempdir().unwrap();
        for file in files {
            let file = root.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let tmp = root.path().join("tmp");
        (root, tmp)
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            dir.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// What is in the directory right after a start, and once the next one may begin.
    async fn after(root: &TempDir, tmp: &Path) -> (Vec<String>, Vec<String>) {
        let leftovers = Leftovers::default();
        leftovers.turn().await.empty(tmp).unwrap();
        let at_once = names(tmp);
        leftovers.turn().await;
        (at_once, names(root.path()))
    }

    #[tokio::test]
    async fn a_start_finds_an_empty_directory_and_what_was_in_it_goes() {
        for files in [&[][..], &["tmp/a", "tmp/d/e/f"], &["tmp"], &["tmp.old/killed"]] {
            let (root, tmp) = root(files);
            let (at_once, later) = after(&root, &tmp).await;
            assert!(at_once.is_empty(), "{files:?}: {at_once:?}");
            let old = files.iter().any(|file| file.starts_with("tmp.old"));
            assert_eq!(later, if old { vec!["tmp", "tmp.old"] } else { vec!["tmp"] }, "{files:?}");
        }
    }

    #[tokio::test]
    async fn what_a_killed_bridge_has_moved_and_not_removed_is_in_nobodys_way() {
        for old in ["tmp.old/a/b", "tmp.old"] {
            let (root, tmp) = root(&[old, "tmp/a/b"]);
            assert_eq!(after(&root, &tmp).await, (vec![], vec!["tmp".to_owned()]), "{old}");
        }
    }

    #[tokio::test]
    async fn what_links_lead_to_stays() {
        let (elsewhere, kept) = root(&["tmp/kept"]);
        for link in ["tmp", "tmp.old"] {
            let (root, tmp) = root(if link == "tmp" { &[] } else { &["tmp/a"] });
            symlink(&kept, root.path().join(link)).unwrap();
            assert_eq!(after(&root, &tmp).await, (vec![], vec!["tmp".to_owned()]), "{link}");
        }
        assert_eq!(names(&kept), ["kept"]);
        drop(elsewhere);
    }
}
