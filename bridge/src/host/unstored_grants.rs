//! Which keys the disk has other rows of than memory.
//!
//! Owns that set, and that rows are changed one after the other. Must never decide what becomes of a key: that is `settling`'s.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use harbor_policy::grants::Key;
use tokio::sync::{Mutex, Notify};

/// The keys, and the right to change rows.
#[derive(Debug, Default)]
pub(super) struct UnstoredGrants {
    pub(super) keys: RefCell<BTreeSet<Key>>,
    /// Held while rows of grants are changed: the last change writes all that memory has.
    pub(super) writing: Mutex<()>,
    pub(super) wake: Rc<Notify>,
}

impl UnstoredGrants {
    /// True if the disk has other rows of this key.
    pub(super) fn has(&self, key: &Key) -> bool {
        self.keys.borrow().contains(key)
    }

    /// The disk works again: it has just taken something.
    pub(super) fn try_again(&self) {
        if !self.keys.borrow().is_empty() {
            self.wake.notify_one();
        }
    }
}
