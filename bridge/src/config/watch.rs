//! Hears when `config.toml` has changed.
//!
//! ```text
//!  home/config.toml ─► dotfiles/config.toml ─► …      the directory of each is watched, as far as there are links
//! ```
//!
//! Owns the watch of its directory, since editors put another file in its place, and of those that links lead to. Must never
//! read the file.

use std::fs;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use tokio::net::unix::pipe;

/// The events that may make it another file: written and closed, put in place or away, linked, its mode changed.
const CHANGES: AddWatchFlags = AddWatchFlags::IN_CLOSE_WRITE
    .union(AddWatchFlags::IN_CREATE)
    .union(AddWatchFlags::IN_MOVE)
    .union(AddWatchFlags::IN_DELETE)
    .union(AddWatchFlags::IN_ATTRIB);

/// Room for some events, each with the name of a file.
const ROOM: usize = 4096;

/// Links that are followed at most: as many as the kernel follows, or fewer.
const MAX_LINKS: usize = 16;

/// A watch of one file.
#[derive(Debug)]
pub struct Watch {
    inotify: Inotify,
    /// The events in its directories, as bytes. Only their kinds are looked at.
    events: pipe::Receiver,
    path: PathBuf,
    seen: ConfigFingerprint,
}

/// The marks by which another file, or other content, is known, for the name and for what it leads to: device, inode, size, mode,
/// owner and links, and the times of both changes.
type ConfigFingerprint = [Option<([u64; 4], [u32; 2], [i64; 4])>; 2];

impl Watch {
    /// Begins to watch a file, which need not exist; its directory must.
    ///
    /// # Errors
    /// When the system has no watch left.
    pub fn begin(path: &Path) -> io::Result<Self> {
        let inotify = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC)?;
        inotify.add_watch(directory(path), CHANGES)?;
        let events = pipe::Receiver::from_owned_fd_unchecked(inotify.as_fd().try_clone_to_owned()?)?;
        let watch = Self { inotify, events, path: path.to_owned(), seen: look(path) };
        watch.follow_links();
        Ok(watch)
    }

    /// Watches where the file really is, too. A directory that is watched already stays so.
    fn follow_links(&self) {
        let mut at = self.path.clone();
        for _ in 0..MAX_LINKS {
            let Ok(target) = fs::read_link(&at) else { return };
            at = directory(&at).join(target);
            // What is not there is heard of when somebody changes the link.
            let _ = self.inotify.add_watch(directory(&at), CHANGES);
        }
    }

    /// Waits until it is another one than it was.
    ///
    /// # Errors
    /// When the watch has ended.
    pub async fn changed(&mut self) -> io::Result<()> {
        let mut events = [0; ROOM];
        loop {
            self.events.readable().await?;
            let read = match self.events.try_read(&mut events) {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) => return Err(error),
            };
            // Before it is looked at: what changes from here on is heard.
            self.follow_links();
            let now = look(&self.path);
            if self.seen != now && !is_begun(&events[..read], &now) {
                self.seen = now;
                return Ok(());
            }
        }
    }
}

/// True if a file was made that is still to be written: its closing is an event, too. A link is whole at once.
fn is_begun(events: &[u8], now: &ConfigFingerprint) -> bool {
    let is_link = now[0].is_some_and(|(numbers, ..)| numbers[3] > 1) || now[0] != now[1];
    !is_link && kinds(events).all(|kind| kind == AddWatchFlags::IN_CREATE)
}

/// The kind of each event. An event is `wd, mask, cookie, length` of four bytes each, and a name of `length` bytes.
fn kinds(events: &[u8]) -> impl Iterator<Item = AddWatchFlags> {
    let number = |at: usize| {
        let bytes = events.get(at..at + 4).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok());
        bytes.map(u32::from_ne_bytes)
    };
    let mut at = 0;
    std::iter::from_fn(move || {
        let (mask, length) = (number(at + 4)?, number(at + 12)?);
        at += 16 + usize::try_from(length).ok()?;
        Some(AddWatchFlags::from_bits_truncate(mask))
    })
}

fn directory(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

fn look(path: &Path) -> ConfigFingerprint {
    [path.symlink_metadata(), path.metadata()].map(|about| {
        let about = about.ok()?;
        let times = [about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec()];
        Some(([about.dev(), about.ino(), about.size(), about.nlink()], [about.mode(), about.uid()], times))
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::time::Duration;

    use super::*;

    #[tokio::test(flavor = "local")]
    async fn each_way_to_change_the_file_is_heard_and_other_files_are_not() {
        let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (file, other) = (dir.path().join("config.toml"), dir.path().join("other"));
        let target = elsewhere.path().join("real.toml");
        let mut watch = Watch::begin(&file).unwrap();
        let changes: [&dyn Fn(); 11] = [
            &|| fs::write(&file, "a").unwrap(),
            &|| fs::rename(&other, &file).unwrap(),
            &|| fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap(),
            &|| fs::remove_file(&file).unwrap(),
            &|| fs::hard_link(&other, &file).unwrap(),
            &|| fs::remove_file(&file).unwrap(),
            &|| symlink(&target, &file).unwrap(),
            // What is behind the link.
            &|| fs::write(&target, "c").unwrap(),
            &|| fs::write(&target, "dd").unwrap(),
            &|| fs::remove_file(&target).unwrap(),
            &|| fs::remove_file(&file).unwrap(),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            // Another inode: it is no link to the file.
            let _ = fs::remove_file(&other);
            fs::write(&other, "b").unwrap();
            let heard = tokio::time::timeout(Duration::from_millis(1), watch.changed()).await;
            assert!(heard.is_err() || number == 5, "{number}: another file");
            change();
            watch.changed().await.unwrap();
        }
    }

    #[test]
    fn a_file_that_is_only_made_is_waited_for() {
        let event = |kind: AddWatchFlags| {
            [1, kind.bits(), 0, 16].into_iter().flat_map(u32::to_ne_bytes).chain([b'x'; 16])
        };
        let made = event(AddWatchFlags::IN_CREATE);
        let closed = made.clone().chain(event(AddWatchFlags::IN_CLOSE_WRITE));
        let (made, closed): (Vec<_>, Vec<_>) = (made.collect(), closed.collect());
        let file = |links| Some(([1, 2, 3, links], [0o600, 0], [0; 4]));
        assert!(is_begun(&made, &[file(1); 2]) && !is_begun(&closed, &[file(1); 2]));
        assert!(!is_begun(&made, &[file(2); 2]), "a link to a file that was there");
        assert!(!is_begun(&made, &[file(1), file(9)]), "a symbolic one");
        assert_eq!(kinds(&[0; 7]).count(), 0);
    }
}
