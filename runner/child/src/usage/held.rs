//! The bytes that processes hold by open files that no directory shows: files without a name, in memory and on disk.
//!
//! Owns finding them in /proc. Must never count as nothing what it could not see.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;

use super::walk::on_disk;

/// The most open files that are looked at. Files beyond that count as unseen.
const MOST: usize = 65_536;

/// The sums over the processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Held {
    /// Bytes of files in memory that never had a name (memfd_create(2)).
    pub memory: u64,
    /// Bytes of files that have lost their names.
    pub disk: u64,
    /// Sockets.
    pub sockets: u64,
    /// Bytes that wait in their TCP connections.
    pub tcp: u64,
    /// True if open files could not be seen, or are too many to look at.
    pub unseen: bool,
}

/// Looks at the open files of these processes; each file counts once.
#[must_use]
pub fn held_open(pids: &[u32]) -> Held {
    let (mut held, mut seen, mut left) = (Held::default(), HashSet::new(), MOST);
    let mut sockets = HashSet::new();
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
            held.add(&entry, &mut seen, &mut sockets);
        }
    }
    held.tcp = waiting_in_tcp(pids, &sockets);
    held
}

/// Bytes that wait in those of these sockets that are TCP's: sent and not confirmed, or received and not
/// read. All processes of a server are in one network namespace.
fn waiting_in_tcp(pids: &[u32], sockets: &HashSet<u64>) -> u64 {
    let lists = |pid: &u32| ["tcp", "tcp6"].map(|list| File::open(format!("/proc/{pid}/net/{list}")));
    let Some(lists) = pids.iter().filter(|_| !sockets.is_empty()).map(lists).find(|lists| lists[0].is_ok())
    else {
        return 0;
    };
    let lines =
        lists.into_iter().flatten().flat_map(|list| BufReader::new(list).lines().map_while(Result::ok));
    lines.filter_map(|line| waiting(&line, sockets)).fold(0, u64::saturating_add)
}

/// The bytes that wait, if this line of proc_net_tcp(5) is about one of these sockets.
fn waiting(line: &str, sockets: &HashSet<u64>) -> Option<u64> {
    let mut fields = line.split_ascii_whitespace();
    let (sent, came) = fields.nth(4)?.split_once(':')?;
    let socket = fields.nth(4)?.parse().ok()?;
    let bytes = |digits| u64::from_str_radix(digits, 16).ok();
    sockets.contains(&socket).then(|| Some(bytes(sent)? + bytes(came)?))?
}

/// True if a process still has memory: field 23 of proc_pid_stat(5), the 21st behind the name.
pub(super) fn has_memory(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let size = stat.rsplit_once(')').and_then(|(_, fields)| fields.split_whitespace().nth(20));
    size.is_some_and(|size| size != "0")
}

impl Held {
    fn add(&mut self, entry: &fs::DirEntry, seen: &mut HashSet<(u64, u64)>, sockets: &mut HashSet<u64>) {
        let Ok(target) = fs::read_link(entry.path()) else { return };
        let name = target.as_os_str().as_bytes();
        if name.starts_with(b"socket:") {
            self.sockets += 1;
            let number = target.to_str().and_then(|name| name.strip_prefix("socket:[")?.strip_suffix(']'));
            sockets.extend(number.and_then(|number| number.parse::<u64>().ok()));
        }
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
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};

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

    #[test]
    fn what_waits_in_tcp_counts_by_what_it_is() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let _receiver = listener.accept().unwrap();
        sender.set_nonblocking(true).unwrap();
        let piece = [1; 1 << 16];
        let mut sent = 0;
        while let Ok(written) = sender.write(&piece) {
            sent += written as u64;
        }
        let held = held_open(&[std::process::id()]);
        assert!(sent > 208 * 1024 && held.tcp >= sent && held.sockets >= 3, "{sent} {held:?}");
        let other = HashSet::from([u64::MAX]);
        assert_eq!((waiting_in_tcp(&[std::process::id()], &other), held_open(&[]).tcp), (0, 0));
    }
}
