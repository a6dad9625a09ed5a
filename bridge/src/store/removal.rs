//! Removing a tree that a server or an installer has made.
//!
//! ```text
//!  top ── level ── level ── … 32 of them ── what lies deeper ─┐
//!   ▲                                                         │ moved up, to be gone through later
//!   └── .removed-7 ◄──────────────────────────────────────────┘
//! ```
//!
//! Owns the way through the tree, by descriptors: a tree can be deeper than a stack, and its paths longer than what can be
//! opened. Must never follow a link, go into a mounted file system, or take more memory and descriptors for a larger tree.

use std::ffi::{CStr, CString};
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{OFlag, open, renameat};
use nix::sys::stat::{FchmodatFlags, Mode, fchmodat};
use nix::unistd::{UnlinkatFlags, unlinkat};

/// Directories in directories that are open at once.
const DEEPEST: usize = 32;

/// How often a directory is listed: some file systems skip names while others are removed. Not forever, since somebody
/// may be adding to it.
const PASSES: u32 = 16;

/// Removes what is at `path`, with all that is in it. A link is removed itself; what is not there is removed already.
///
/// # Errors
/// The first one, after everything else was removed.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
    let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let outside = match open(above, flags, Mode::empty()) {
        Err(Errno::ENOENT) => return Ok(()),
        opened => opened?,
    };
    let mut removal = Removal { outside, levels: Vec::new(), names: 0, failed: None };
    removal.remove(CString::new(name.as_bytes())?);
    Ok(removal.run()?)
}

/// The way through a tree.
#[derive(Debug)]
struct Removal {
    /// The directory that the tree is in.
    outside: OwnedFd,
    /// The levels from the top of the tree to the directory that is being emptied.
    levels: Vec<Level>,
    /// The number of names that were tried for directories that are moved up.
    names: u64,
    failed: Option<Errno>,
}

/// A directory that is being emptied.
#[derive(Debug)]
struct Level {
    name: CString,
    dir: Dir,
    passes: u32,
    /// True if this pass has removed anything.
    removed: bool,
    /// True if something to remove came into it meanwhile.
    grown: bool,
}

impl Removal {
    fn run(mut self) -> nix::Result<()> {
        while let Some(level) = self.levels.last_mut() {
            match level.next() {
                Some(Ok(name)) => self.remove(name),
                Some(Err(errno)) => {
                    self.fail(errno);
                    self.leave();
                }
                None => self.leave(),
            }
        }
        self.failed.map_or(Ok(()), Err)
    }

    /// The directory whose entries are being removed.
    fn here(&self) -> BorrowedFd<'_> {
        self.levels.last().map_or(self.outside.as_fd(), |level| level.dir.as_fd())
    }

    /// Removes an entry, or goes into it.
    fn remove(&mut self, name: CString) {
        match unlink(self.here(), &name) {
            Ok(true) => self.has_removed(),
            Ok(false) => match self.enter(name) {
                Ok(()) | Err(Errno::ENOENT) => {}
                Err(errno) => self.fail(errno),
            },
            Err(errno) => self.fail(errno),
        }
    }

    /// Goes into a directory that is not empty.
    fn enter(&mut self, name: CString) -> nix::Result<()> {
        // Without rights to it, it can be neither listed nor emptied nor moved. What fails here fails again below.
        let _ = fchmodat(self.here(), name.as_c_str(), Mode::S_IRWXU, FchmodatFlags::NoFollowSymlink);
        if self.levels.len() >= DEEPEST {
            return self.move_up(&name);
        }
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let dir = Dir::openat(self.here(), name.as_c_str(), flags, Mode::empty())?;
        self.levels.push(Level { name, dir, passes: 0, removed: false, grown: false });
        Ok(())
    }

    /// Moves a directory to the top of the tree, under a name that is free there.
    fn move_up(&mut self, name: &CStr) -> nix::Result<()> {
        loop {
            let free = CString::new(format!(".removed-{}", self.names)).unwrap_or_default();
            self.names = self.names.wrapping_add(1);
            let here = self.here();
            let Some(top) = self.levels.first() else { return Err(Errno::ENOENT) };
            match renameat(here, name, &top.dir, free.as_c_str()) {
                Err(Errno::EEXIST | Errno::ENOTEMPTY | Errno::ENOTDIR) => {}
                moved => {
                    self.levels.iter_mut().take(1).for_each(|top| top.grown |= moved.is_ok());
                    return moved;
                }
            }
        }
    }

    /// Removes the directory that was listed to its end, or lists it again.
    fn leave(&mut self) {
        let Some(mut level) = self.levels.pop() else { return };
        match unlink(self.here(), &level.name) {
            Ok(true) => self.has_removed(),
            Ok(false) if level.grown || (level.removed && level.passes < PASSES) => {
                level.begin_again();
                self.levels.push(level);
            }
            Ok(false) => self.fail(Errno::ENOTEMPTY),
            Err(errno) => self.fail(errno),
        }
    }

    fn has_removed(&mut self) {
        match self.levels.last_mut() {
            Some(level) => level.removed = true,
            // The tree itself: what failed at first has succeeded later.
            None => self.failed = None,
        }
    }

    fn fail(&mut self, errno: Errno) {
        self.failed.get_or_insert(errno);
    }
}

impl Level {
    /// The next name in it.
    fn next(&mut self) -> Option<nix::Result<CString>> {
        // Dropped, it would begin again.
        let mut entries = ManuallyDrop::new(self.dir.iter());
        loop {
            match entries.next()? {
                Ok(entry) if [c".", c".."].contains(&entry.file_name()) => {}
                entry => return Some(entry.map(|entry| entry.file_name().to_owned())),
            }
        }
    }

    fn begin_again(&mut self) {
        drop(self.dir.iter());
        // What comes into it anew is less deep than it was before, so that this ends by itself.
        self.passes = if self.grown { 0 } else { self.passes.saturating_add(1) };
        (self.removed, self.grown) = (false, false);
    }
}

/// True if an entry is gone now; false for a directory that holds something. Refuses a mount point, so that
/// nothing behind it is removed.
fn unlink(at: BorrowedFd<'_>, name: &CStr) -> nix::Result<bool> {
    match unlinkat(at, name, UnlinkatFlags::NoRemoveDir) {
        Ok(()) | Err(Errno::ENOENT) => Ok(true),
        Err(refused @ (Errno::EISDIR | Errno::EPERM)) => match unlinkat(at, name, UnlinkatFlags::RemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => Ok(true),
            Err(Errno::ENOTEMPTY | Errno::EEXIST) => Ok(false),
            Err(Errno::ENOTDIR) => Err(refused),
            Err(errno) => Err(errno),
        },
        Err(errno) => Err(errno),
    }
}

#[cfg(test)]
mod tests;
