//! Hears when `config.toml` has changed.
//!
//! Owns the watch of its directory: editors put another file in its place. Must never read the file.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use tokio::net::unix::pipe;

/// What may make it another file: written and closed, put in place or away, its mode changed.
const CHANGES: AddWatchFlags = AddWatchFlags::IN_CLOSE_WRITE
    .union(AddWatchFlags::IN_MOVE)
    .union(AddWatchFlags::IN_DELETE)
    .union(AddWatchFlags::IN_ATTRIB);

/// Room for some events, each with the name of a file.
const ROOM: usize = 4096;

/// A watch of one file.
#[derive(Debug)]
pub struct Watch {
    /// What happens in its directory: as bytes that come, and are not looked at.
    events: pipe::Receiver,
    path: PathBuf,
    seen: Option<Look>,
}

/// By what another file, or other content, is known: device, inode, size, mode and owner, and the times of both changes.
type Look = ([u64; 3], [u32; 2], [i64; 4]);

impl Watch {
    /// Begins to watch a file, which need not exist; its directory must.
    ///
    /// # Errors
    /// When the system has no watch left.
    pub fn begin(path: &Path) -> io::Result<Self> {
        let inotify = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC)?;
        inotify.add_watch(path.parent().unwrap_or(Path::new("/")), CHANGES)?;
        let events = pipe::Receiver::from_owned_fd_unchecked(OwnedFd::from(inotify))?;
        Ok(Self { events, path: path.to_owned(), seen: look(path) })
    }

    /// Waits until it is another one than it was.
    ///
    /// # Errors
    /// When the watch has ended.
    pub async fn changed(&mut self) -> io::Result<()> {
        let mut events = [0; ROOM];
        loop {
            self.events.readable().await?;
            match self.events.try_read(&mut events) {
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
                _ => {}
            }
            let now = look(&self.path);
            if self.seen != now {
                self.seen = now;
                return Ok(());
            }
        }
    }
}

fn look(path: &Path) -> Option<Look> {
    let about = fs::symlink_metadata(path).ok()?;
    let times = [about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec()];
    Some(([about.dev(), about.ino(), about.size()], [about.mode(), about.uid()], times))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::time::Duration;

    use super::*;

    #[tokio::test(flavor = "local")]
    async fn each_way_to_change_the_file_is_heard_and_other_files_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let (file, other) = (dir.path().join("config.toml"), dir.path().join("other"));
        let mut watch = Watch::begin(&file).unwrap();
        let changes: [&dyn Fn(); 4] = [
            &|| fs::write(&file, "a").unwrap(),
            &|| fs::rename(&other, &file).unwrap(),
            &|| fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap(),
            &|| fs::remove_file(&file).unwrap(),
        ];
        for change in changes {
            fs::write(&other, "b").unwrap();
            let heard = tokio::time::timeout(Duration::from_millis(1), watch.changed()).await;
            assert!(heard.is_err(), "another file");
            change();
            watch.changed().await.unwrap();
        }
    }
}
