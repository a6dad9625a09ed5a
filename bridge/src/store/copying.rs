//! A copy of what a server has in its home, for a trial that is not to touch the original.
//!
//! Owns its bounds. Must never follow a link, nor open what is no plain file: other people's code may have made what lies there.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use harbor_home::files::private_directory;
use nix::fcntl::OFlag;

/// A deeper directory is left out.
const DEEPEST: usize = 16;

/// The most that may still be copied.
#[derive(Debug, Clone, Copy)]
pub struct CopyAllowance {
    /// Files and directories.
    pub entries: usize,
    /// The limit in bytes.
    pub bytes: u64,
}

/// Copies plain files and directories; `false` where there is more than the room for it.
///
/// # Errors
/// When the disk refuses.
pub fn copy_tree(from: &Path, to: &Path, room: &mut CopyAllowance) -> io::Result<bool> {
    copy_level(from, to, room, DEEPEST)
}

fn copy_level(from: &Path, to: &Path, room: &mut CopyAllowance, depth: usize) -> io::Result<bool> {
    private_directory(to).map_err(io::Error::other)?;
    for entry in from.read_dir()? {
        let (entry, left) = (entry?, room.entries.checked_sub(1));
        let Some(left) = left else { return Ok(false) };
        room.entries = left;
        let (kind, place) = (entry.file_type()?, to.join(entry.file_name()));
        let is_whole = match (kind.is_dir(), kind.is_file()) {
            (true, _) if depth > 0 => copy_level(&entry.path(), &place, room, depth - 1)?,
            (_, true) => copy_file(&entry.path(), &place, room)?,
            _ => true,
        };
        if !is_whole {
            return Ok(false);
        }
    }
    Ok(true)
}

fn copy_file(from: &Path, to: &Path, room: &mut CopyAllowance) -> io::Result<bool> {
    let plain = (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits();
    let file = OpenOptions::new().read(true).custom_flags(plain).open(from)?;
    let about = file.metadata()?;
    let Some(left) = room.bytes.checked_sub(about.len()) else { return Ok(false) };
    room.bytes = left;
    let mut copy = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    io::copy(&mut io::Read::take(file, about.len()), &mut copy)?;
    fs::set_permissions(to, about.permissions())?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_files_are_copied_and_links_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        fs::create_dir_all(from.join("a/b")).unwrap();
        fs::write(from.join("a/b/key"), "k").unwrap();
        std::os::unix::fs::symlink("/etc/hostname", from.join("link")).unwrap();
        assert!(copy_tree(&from, &to, &mut CopyAllowance { entries: 9, bytes: 9 }).unwrap());
        assert_eq!(fs::read_to_string(to.join("a/b/key")).unwrap(), "k");
        assert!(!to.join("link").exists());
        for room in [CopyAllowance { entries: 2, bytes: 9 }, CopyAllowance { entries: 9, bytes: 0 }] {
            let other = tempfile::tempdir().unwrap();
            assert!(!copy_tree(&from, &other.path().join("to"), &mut { room }).unwrap());
        }
    }
}
