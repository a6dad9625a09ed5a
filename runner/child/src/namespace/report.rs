//! The parts that init and whoever starts it agree on: whose processes these are, and how init reports.
//!
//! Must never begin a namespace.

use std::io;

use nix::unistd::{Gid, Uid};

/// The user and group of these processes, as numbers outside of the namespace.
#[derive(Debug, Clone, Copy)]
pub(super) struct Owner {
    pub(super) user: Uid,
    pub(super) group: Gid,
}

impl Owner {
    /// Root needs no user namespace, and would lose its rights over other users' files in one.
    pub(super) fn is_root(self) -> bool {
        self.user.is_root()
    }
}

/// The first byte of init's report; after a refusal the reason follows.
pub(super) const READY: u8 = b'+';

pub(super) const REFUSED: u8 = b'-';

/// Names the step that failed.
pub(super) fn told<E: Into<io::Error>>(step: &'static str) -> impl Fn(E) -> String {
    move |error| format!("{step}: {}", error.into())
}
