//! What processes hold by open files that no directory shows: files without a name, in memory and on disk.
//!
//! Owns finding them in /proc. Must never take for nothing what it could not see.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;

use super::walk::on_disk;

/// More open files are not looked at, and count as unseen.
const MOST: usize = 65_536;

/// What was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Held {
    /// Bytes of files in memory that never had a name (memfd_create(2)).
    pub memory: u64,
    /// Bytes of files that have lost their names.
    pub disk: u64,
    /// Sockets.
    pub sockets: u64,
    /// Whether the open files of a process could not be seen.
    pub unseen: bool,
}

/// Looks at the open files of these processes; each file counts once.
#[must_use]
pub fn held_open(pids: &[u32]) -> Held {
    let (mut held, mut seen, mut left) = (Held::default(), HashSet::new(), MOST);
    for pid in pids {
        let entries = match fs::read_dir(format!("/proc/{pid}/fd")) {
            Ok(entries) => entries,
            Err(error) => {
                // What has ended, and waits to be reaped, is root's to look into; it has nothing open any more.
                held.unseen |= error.kind() == io::ErrorKind::PermissionDenied && has_memory(*pid);
                continue;
            }
        };
        for entry in entries.flatten() {
            left = left.saturating_sub(1);
            if left == 0 {
                return Held { unseen: true, ..held };
            }
            held.add(&entry, &mut seen);
        }
    }
    held
}

/// Whether a process still has any: field 23 of proc_pid_stat(5), the 21st behind the name.
pub(super) fn has_memory(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let size = stat.rsplit_once(')').and_then(|(_, fields)| fields.split_whitespace().nth(20));
    size.is_some_and(|size| size != "0")
}

impl Held {
    fn add(&mut self, entry: &fs::DirEntry, seen: &mut HashSet<(u64, u64)>) {
        let Ok(target) = fs::read_link(entry.path()) else { return };
        let name = target.as_os_str().as_bytes();
        self.sockets += u64::from(name.starts_with(b"socket:"));
        let is_memory = name.starts_with(b"/memfd:");
        if !is_memory && !name.ends_with(b" (deleted)") {
            return;
        }
        // By the descriptor itself, since there is no name.
        let Ok(about) = fs::metadata(entry.path()) else { return };
        if !about.is_file() || !seen.insert((about.dev(), about.ino())) {
            return;
        }
        let bytes = on_disk(&about);
        match is_memory {
            true => self.memory = self.memory.saturating_add(bytes),
            false => self.disk = self.disk.saturating_add(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write as _;

    use nix::sys::memfd::{MFdFlags, memfd_create};

    #[test]
    fn who_has_ended_has_no_memory() {
        assert!(has_memory(std::process::id()) && !has_memory(u32::MAX));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let ended = nix::sys::wait::WaitPidFlag::WEXITED | nix::sys::wait::WaitPidFlag::WNOWAIT;
        let pid = nix::unistd::Pid::from_raw(child.id().cast_signed());
        nix::sys::wait::waitid(nix::sys::wait::Id::Pid(pid), ended).unwrap();
        assert!(!has_memory(child.id()));
        child.wait().unwrap();
    }

    #[test]
    fn files_without_names_are_found_once() {
        let before = held_open(&[std::process::id()]);
        let mut memory = File::from(memfd_create(c"held", MFdFlags::MFD_CLOEXEC).unwrap());
        memory.write_all(&[1; 1 << 20]).unwrap();
        let _again = memory.try_clone().unwrap();
        let path = std::env::temp_dir().join(format!("harbor-held-{}", std::process::id()));
        let mut disk = File::create(&path).unwrap();
        fs::remove_file(&path).unwrap();
        disk.write_all(&[1; 1 << 20]).unwrap();
        disk.sync_all().unwrap();
        let after = held_open(&[std::process::id()]);
        assert_eq!((after.memory - before.memory, after.unseen), (1 << 20, false));
        assert!((1 << 20..3 << 20).contains(&(after.disk - before.disk)), "{after:?}");
        assert_eq!(held_open(&[]), Held::default());
    }
}
