//! Counts the disk space that directories use.
//!
//! Walks them by file descriptor, because a server can nest directories until a path is too long to open. Must never follow a
//! link, and must report an unreadable directory instead of counting it as empty.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File, ReadDir};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nix::fcntl::{AT_FDCWD, OFlag, openat};
use nix::sys::stat::Mode;

/// The greatest depth of directories. Deeper entries are not looked at, and count as unseen.
const DEEPEST: usize = 128;

/// The fewest bytes that a name counts for: a file system has room for a limited number of files, however small they are.
const LEAST: u64 = 4096;

/// Bytes that another name of a file counts for.
const NAME: u64 = 256;

/// The sum of a walk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Found {
    /// Bytes on disk, a file with several names once.
    pub bytes: u64,
    /// True if there is something whose size could not be seen.
    pub unseen: bool,
}

/// The way through directories, a few entries at a time.
#[derive(Debug)]
pub struct Walk {
    todo: Vec<PathBuf>,
    levels: Vec<Level>,
    seen: HashSet<(u64, u64)>,
    found: Found,
}

/// A directory that is being looked at.
#[derive(Debug)]
struct Level {
    place: OwnedFd,
    entries: ReadDir,
    below: Vec<OsString>,
}

impl Walk {
    /// Through all that is below these directories.
    #[must_use]
    pub fn through(directories: &[PathBuf]) -> Self {
        Self { todo: directories.to_vec(), levels: Vec::new(), seen: HashSet::new(), found: Found::default() }
    }

    /// Looks at the next few entries. Returns the sum once it is known to be more than `enough`, or once all entries are counted.
    pub fn step(&mut self, entries: usize, enough: u64) -> Option<Found> {
        for _ in 0..entries {
            if self.found.unseen || self.found.bytes > enough || !self.next() {
                return Some(self.found);
            }
        }
        None
    }

    /// Looks at one entry, or enters the next directory; false when none is left.
    fn next(&mut self) -> bool {
        let Some(level) = self.levels.last_mut() else {
            let Some(directory) = self.todo.pop() else { return false };
            // A directory that is not there holds nothing.
            if let Some(level) =
                fs::symlink_metadata(&directory).ok().and_then(|_| enter(AT_FDCWD, &directory))
            {
                self.levels.push(level);
            }
            return true;
        };
        match level.entries.next() {
            Some(entry) => self.count(entry.ok()),
            None => match level.below.pop() {
                Some(name) => self.descend(&name),
                None => drop(self.levels.pop()),
            },
        }
        true
    }

    fn descend(&mut self, name: &OsString) {
        let below = self.levels.last().filter(|_| self.levels.len() < DEEPEST);
        match below.and_then(|level| enter(&level.place, name)) {
            Some(level) => self.levels.push(level),
            // It may be gone by now, which the next walk sees.
            None => self.found.unseen |= self.levels.last().is_some_and(|level| is_there(&level.place, name)),
        }
    }

    fn count(&mut self, entry: Option<fs::DirEntry>) {
        let Some(entry) = entry else { return };
        let Ok(about) = entry.metadata() else { return };
        if about.is_dir() {
            // Many names make one large, and it stays so when they are gone.
            self.found.bytes = self.found.bytes.saturating_add(on_disk(&about).max(LEAST));
            if let Some(level) = self.levels.last_mut() {
                level.below.push(entry.file_name());
            }
        } else {
            let is_new = about.nlink() < 2 || self.seen.insert((about.dev(), about.ino()));
            let bytes = if is_new { on_disk(&about).max(LEAST) } else { NAME };
            self.found.bytes = self.found.bytes.saturating_add(bytes);
        }
    }
}

/// The bytes of a file on disk.
pub(super) fn on_disk(about: &fs::Metadata) -> u64 {
    // The unit of st_blocks, whatever the file system's blocks are.
    about.blocks().saturating_mul(512)
}

fn enter(at: impl std::os::fd::AsFd, name: impl AsRef<Path>) -> Option<Level> {
    let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC | OFlag::O_RDONLY;
    let place = openat(at, name.as_ref(), flags, Mode::empty()).ok()?;
    let entries = fs::read_dir(format!("/proc/self/fd/{}", place.as_raw_fd())).ok()?;
    Some(Level { place, entries, below: Vec::new() })
}

fn is_there(at: &OwnedFd, name: &OsString) -> bool {
    openat(at, Path::new(name), OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC, Mode::empty())
        .map(File::from)
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;

    fn walked(dir: &Path) -> Found {
        let mut walk = Walk::through(&[dir.to_owned()]);
        std::iter::repeat_with(|| walk.step(1, u64::MAX)).flatten().next().unwrap()
    }

    fn scratch(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("harbor-walk-{name}-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        dir
    }

    #[test]
    fn a_file_with_two_names_counts_once_and_links_are_not_followed() {
        let dir = scratch("links");
        fs::create_dir_all(dir.join("below")).unwrap();
        let mut file = File::create(dir.join("below/one")).unwrap();
        file.write_all(&[7; 300_000]).unwrap();
        file.sync_all().unwrap();
        fs::hard_link(dir.join("below/one"), dir.join("two")).unwrap();
        std::os::unix::fs::symlink("/", dir.join("everything")).unwrap();
        let found = walked(&dir);
        fs::remove_dir_all(&dir).unwrap();
        assert!((300_000..400_000).contains(&found.bytes) && !found.unseen, "{found:?}");
        assert_eq!(walked(&dir), Found::default(), "what is not there holds nothing");
    }

    #[test]
    fn empty_files_count_too_and_what_is_too_deep_is_unseen() {
        let dir = scratch("deep");
        for number in 0..100 {
            File::create(dir.join(number.to_string())).unwrap();
        }
        assert_eq!(walked(&dir), Found { bytes: 100 * LEAST, unseen: false });
        let mut deep = dir.clone();
        deep.extend(std::iter::repeat_n("d", DEEPEST + 1));
        fs::create_dir_all(&deep).unwrap();
        assert!(walked(&dir).unseen);
        fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn a_directory_that_cannot_be_listed_is_unseen() {
        let dir = scratch("closed");
        let closed = dir.join("closed");
        fs::create_dir(&closed).unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o300)).unwrap();
        // Root lists it all the same.
        assert_eq!(walked(&dir).unseen, !nix::unistd::geteuid().is_root());
        fs::remove_dir_all(&dir).unwrap();
    }
}
