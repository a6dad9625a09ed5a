//! The one bridge of a home: its lock, its token, its socket.
//!
//! ```text
//!  lock (of this process, holds the pid) ─► token (new) ─► socket (a stale one is removed: the lock says it is)
//! ```
//!
//! Owns these three files while a bridge runs, and removes token and socket when it ends. Must never follow a symbolic link to
//! one of them, nor put them into a directory that is another user's.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use harbor_ipc_proto::hex::hex;
use interprocess::local_socket::{GenericFilePath, ListenerOptions, ToFsName as _};
use interprocess::os::unix::local_socket::ListenerOptionsExt as _;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use sha2::{Digest as _, Sha256};

use super::{StoreError, failed, home_directory, own_directory, private_file, write_atomically};
use crate::config::Paths;

/// Bytes of randomness in the token.
const TOKEN_BYTES: usize = 32;

/// This process is the one bridge of its home.
#[derive(Debug)]
pub struct Instance {
    /// Closing any other handle of this file would end the lock: only `begin` opens it.
    _lock: File,
    token: String,
    files: Vec<PathBuf>,
}

/// Why this process is not.
#[derive(Debug)]
pub enum InstanceError {
    /// Another bridge runs; with its process id, if it could be read.
    Running(Option<u32>),
    /// A file could not be made.
    Store(StoreError),
    /// The socket's path cannot be used.
    Config(crate::config::ConfigError),
}

impl std::fmt::Display for InstanceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Running(pid) => {
                let pid = pid.map_or_else(|| "unknown".into(), |pid| pid.to_string());
                write!(
                    f,
                    "another bridge of this home is running (pid {pid}); use it through `harbor`, or end it \
                     with `harbor shutdown`"
                )
            }
            Self::Store(error) => error.fmt(f),
            Self::Config(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for InstanceError {}

impl From<StoreError> for InstanceError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Instance {
    /// Takes the lock, makes a new token and binds the socket.
    ///
    /// # Errors
    /// When another bridge runs, or a file cannot be made.
    pub fn begin(paths: &Paths) -> Result<(Self, UnixListener), InstanceError> {
        home_directory(paths.home())?;
        own_directory(&paths.run_dir())?;
        let lock = lock(&paths.lock())?;
        let token = random_token().map_err(failed("read", "/dev/urandom".as_ref()))?;
        write_atomically(&paths.token(), token.as_bytes())?;
        let socket = paths.socket().map_err(InstanceError::Config)?;
        let listener = bind(&socket)?;
        Ok((Self { _lock: lock, token, files: vec![socket, paths.token()] }, listener))
    }

    /// What a program must show to be let in.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        for file in &self.files {
            // What cannot be removed now is taken for stale by the next bridge.
            let _ = std::fs::remove_file(file);
        }
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

/// A record lock (fcntl), not flock: a bridge that is killed while it starts a program leaves a copy of itself for a moment,
/// which would hold an flock.
fn lock(path: &Path) -> Result<File, InstanceError> {
    let mut file = private_file(path)?;
    let whole = libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    match fcntl(&file, FcntlArg::F_SETLK(&whole)) {
        Ok(_) => {
            let pid = std::process::id().to_string();
            let written = file.set_len(0).and_then(|()| file.write_all(pid.as_bytes()));
            written.map_err(failed("write", path))?;
            Ok(file)
        }
        Err(Errno::EAGAIN | Errno::EACCES) => {
            let mut pid = String::new();
            // The owner may be between taking the lock and writing its number.
            let _ = file.read_to_string(&mut pid);
            Err(InstanceError::Running(pid.trim().parse().ok()))
        }
        Err(errno) => Err(failed("lock", path)(errno.into()).into()),
    }
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

/// Binds the socket for this user only. The lock is held, so a socket that is there is stale.
fn bind(path: &std::path::Path) -> Result<UnixListener, StoreError> {
    if let Some(directory) = path.parent() {
        own_directory(directory)?;
    }
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed("remove", path)(error)),
        _ => {}
    }
    let name = path.to_fs_name::<GenericFilePath>().map_err(failed("name", path))?;
    let listener = ListenerOptions::new().name(name).mode(0o600).reclaim_name(false).create_sync();
    match listener.map_err(failed("listen on", path))? {
        interprocess::local_socket::Listener::UdSocket(listener) => Ok(listener.into()),
    }
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
