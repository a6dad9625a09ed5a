//! The holder of a home's lock, as programs other than the bridge see it.
//!
//! Owns this look at the lock. Must never take a lock.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::libc;

/// The process that holds the lock of a home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder {
    /// Its process id. None if it cannot be seen from here.
    pub pid: Option<i32>,
}

/// The bridge that holds the lock of a home, whatever else is there. For other programs only, since the
/// bridge itself would lose its lock by this.
#[must_use]
pub fn holder(lock: &Path) -> Option<Holder> {
    let flags = (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(lock).ok()?;
    let mut found = whole_file();
    fcntl(&file, FcntlArg::F_GETLK(&mut found)).ok()?;
    let is_held = found.l_type != libc::F_UNLCK as libc::c_short;
    is_held.then_some(Holder { pid: Some(found.l_pid).filter(|pid| *pid > 1) })
}

/// The range of a whole file, to write: the bridge locks this range of its lock.
#[must_use]
pub fn whole_file() -> libc::flock {
    libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    }
}
