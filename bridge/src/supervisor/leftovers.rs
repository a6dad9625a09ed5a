//! The files that a server leaves in its temporary directory, which is empty for its next start.
//!
//! ```text
//!  start, or an end for want of disk ─► tmp becomes tmp.old ─► a new tmp ─► the server runs
//!                    │
//!                    └─► a thread removes it ─► whoever comes next has the turn
//! ```
//! Owns these removals: however large the tree, no start takes longer for it, unless the one before it is not gone yet. Must
//! never let two threads remove one tree: each would take the other's work for a server that adds to it.
//! never let two threads remove one tree: each would take the other one's doing for a server that adds to it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, Weak};

use harbor_ipc_proto::server_id::ServerId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::store::removal::remove_tree;

/// The turns at the leftovers of each name. They go by name, since a server that replaces another one has its directories.
#[derive(Debug, Default)]
pub struct Leftovers {
    turns: RefCell<BTreeMap<ServerId, Weak<Semaphore>>>,
}

/// The turn at the leftovers of a name. While it lasts, nobody else touches them.
#[derive(Debug)]
pub struct LeftoversGuard {
    _permit: Option<OwnedSemaphorePermit>,
}

impl Leftovers {
    /// Waits until nobody else removes the leftovers of this name. Calls `waits` if that takes time.
    pub(super) async fn turn(&self, id: &ServerId, waits: impl FnOnce()) -> LeftoversGuard {
        let turns = self.turns_of(id);
        if turns.available_permits() == 0 {
            waits();
        }
        // It is never closed.
        LeftoversGuard { _permit: turns.acquire_owned().await.ok() }
    }

    /// The turn, if it is free.
    pub(super) fn turn_now(&self, id: &ServerId) -> Option<LeftoversGuard> {
        let permit = self.turns_of(id).try_acquire_owned().ok()?;
        Some(LeftoversGuard { _permit: Some(permit) })
    }

    fn turns_of(&self, id: &ServerId) -> Arc<Semaphore> {
        let mut turns = self.turns.borrow_mut();
        if let Some(known) = turns.get(id).and_then(Weak::upgrade) {
            return known;
        }
        turns.retain(|_, turns| turns.strong_count() > 0);
        let one = Arc::new(Semaphore::new(1));
        turns.insert(id.clone(), Arc::downgrade(&one));
        one
    }
}

impl LeftoversGuard {
    /// Takes the content of `tmp` away; it is removed later, when nobody waits. Call it on a thread that may wait, since content
    /// that cannot be moved is removed at once. Files that a server has made unremovable stay, and harm only this server.
    pub(super) fn set_aside(self, tmp: &Path) {
        let aside = ["old", "older"].map(|name| tmp.with_extension(name));
        let [old, older] = &aside;
        // Most leave nothing. Where `old` is taken, a bridge has ended before it was removed.
        let is_free = fs::remove_dir(tmp).is_ok()
            || move_away(tmp, old)
            || (move_away(old, older) && move_away(tmp, old));
        if !is_free {
            let _ = (remove_tree(older), remove_tree(old), remove_tree(tmp));
        }
        if aside.iter().any(|path| path.symlink_metadata().is_ok()) {
            tokio::task::spawn_blocking(move || {
                for path in &aside {
                    if let Err(error) = remove_tree(path) {
                        tracing::warn!(directory = %path.display(), %error, "leftovers of a server could not be removed");
                    }
                }
                drop(self);
            });
        }
    }
}

/// Moves the file or directory at `from`; a link is moved itself. True if nothing is there any more.
fn move_away(from: &Path, to: &Path) -> bool {
    match fs::rename(from, to) {
        Ok(()) => true,
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;
    use std::task::Poll;
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
        dir.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// Whether something is there at once, and what is left in the directory above when the turn is the next one's.
    async fn set_aside(tmp: &Path) -> (bool, Vec<String>) {
        let (leftovers, id) = (Leftovers::default(), ServerId::parse("files").unwrap());
        leftovers.turn(&id, || panic!("nobody had it")).await.set_aside(tmp);
        let is_there = tmp.symlink_metadata().is_ok();
        leftovers.turn(&id, || ()).await;
        (is_there, names(tmp.parent().unwrap()))
    }

    #[tokio::test]
    async fn a_start_finds_nothing_whatever_earlier_ones_have_left() {
        let trees: [&[&str]; 9] = [
            &[],
            &["tmp"],
            &["tmp/a", "tmp/d/e/f"],
            &["tmp.old/a"],
            &["tmp.old/a", "tmp/a"],
            &["tmp.old", "tmp/a"],
            &["tmp.older/a", "tmp/a"],
            &["tmp.older/a", "tmp.old/a/b", "tmp/a"],
            &["tmp.older", "tmp.old", "tmp"],
        ];
        for files in trees {
            let (_root, tmp) = root(files);
            assert_eq!(set_aside(&tmp).await, (false, vec![]), "{files:?}");
        }
    }

    #[tokio::test]
    async fn what_links_lead_to_stays() {
        let (_elsewhere, kept) = root(&["tmp/kept"]);
        for link in ["tmp", "tmp.old", "tmp.older"] {
            let others =
                ["tmp/a", "tmp.old/a"].into_iter().filter(|other| !other.starts_with(&format!("{link}/")));
            let (root, tmp) = root(&others.collect::<Vec<_>>());
            symlink(&kept, root.path().join(link)).unwrap();
            assert_eq!(set_aside(&tmp).await, (false, vec![]), "{link}");
        }
        assert_eq!(names(&kept), ["kept"]);
    }

    #[tokio::test]
    async fn each_name_has_one_turn_and_is_forgotten_with_it() {
        let leftovers = Leftovers::default();
        let [one, other] = ["one", "other"].map(|id| ServerId::parse(id).unwrap());
        let first = leftovers.turn(&one, || panic!("nobody had it")).await;
        let _second = leftovers.turn(&other, || panic!("that is another one")).await;
        let told = std::cell::Cell::new(false);
        let mut next = std::pin::pin!(leftovers.turn(&one, || told.set(true)));
        let is_pending = poll_fn(|context| Poll::Ready(next.as_mut().poll(context).is_pending())).await;
        assert!(is_pending && told.get());
        drop(first);
        drop(next.await);
        drop(leftovers.turn(&ServerId::parse("third").unwrap(), || ()).await);
        assert_eq!(leftovers.turns.borrow().len(), 2);
    }
}
