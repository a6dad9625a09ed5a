//! Which Harbor this is, and which process is its bridge.
//!
//! Owns the names of a home among all others, and the look at the lock. Must never take the lock: `harbor_bridge::store::instance`
//! does.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use harbor_ipc_proto::hex::hex;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::libc;
use sha2::{Digest as _, Sha256};

use crate::Paths;

/// Bytes of randomness in a token.
const TOKEN_BYTES: usize = 32;

/// Who holds the lock of a home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder {
    /// Its process id; none where it is not to be seen from here.
    pub pid: Option<i32>,
}

/// The bridge that holds the lock of a home, whatever else is there. For other programs only: the bridge itself would lose its
/// lock by this.
#[must_use]
pub fn holder(lock: &Path) -> Option<Holder> {
    let flags = (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(lock).ok()?;
    let mut found = whole_file();
    fcntl(&file, FcntlArg::F_GETLK(&mut found)).ok()?;
    let is_held = found.l_type != libc::F_UNLCK as libc::c_short;
    is_held.then_some(Holder { pid: Some(found.l_pid).filter(|pid| *pid > 1) })
}

/// All of a file, to write: what the bridge locks of its lock.
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

/// The mark by which processes of this home are known: 16 hexadecimal digits. The same however the home is written;
/// it has to exist for that.
#[must_use]
pub fn mark(paths: &Paths) -> String {
    let home = paths.home().canonicalize().unwrap_or_else(|_| paths.home().to_owned());
    hex(&Sha256::digest(home.as_os_str().as_encoded_bytes())[..8])
}

/// Which Harbor this is among all that there are, until this machine starts again: 16 hexadecimal digits that no other home
/// has, on whatever machine. For that the mark does not do: people have their homes at the same path everywhere.
#[must_use]
pub fn identity(paths: &Paths) -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let place = std::fs::metadata(paths.home()).map(|home| (home.dev(), home.ino())).ok();
    hex(&Sha256::digest(format!("{boot} {place:?} {}", mark(paths)))[..8])
}

/// Random bytes as text, too many to be guessed.
///
/// # Errors
/// When the system has none.
pub fn random_token() -> io::Result<String> {
    let mut bytes = [0; TOKEN_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(hex(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mark_and_identity_are_the_same_however_the_home_is_written() {
        let place = tempfile::tempdir().unwrap();
        let (home, link) = (place.path().join("home"), place.path().join("link"));
        std::fs::create_dir(&home).unwrap();
        std::os::unix::fs::symlink(&home, &link).unwrap();
        let of = |path: &Path| (mark(&Paths::at(path)), identity(&Paths::at(path)));
        assert_eq!(of(&home), of(&link));
        assert_eq!(of(&home), of(&home.join("")));
        assert!(of(&home).0 != of(place.path()).0 && of(&home).1 != of(place.path()).1);
        let before = of(&home);
        std::fs::rename(&home, place.path().join("old")).unwrap();
        std::fs::create_dir(&home).unwrap();
        assert!(of(&home).0 == before.0 && of(&home).1 != before.1, "another home at the same path");
    }
}
