//! The one bridge of a home: its lock, its token, its socket.
//!
//! ```text
//!  lock (of this process, holds the pid) ─► token (new) ─► socket (a stale one is removed: the lock says it is)
//!                                             └────────────────┴─ a thread looks each few seconds: what is gone is made anew
//! ```
//!
//! Owns these three files while a bridge runs, and removes token and socket when it ends. Must never follow a symbolic link to
//! one of them, nor put them into a directory that is another user's.

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use harbor_home::Paths;
use harbor_home::files::FileError;
use harbor_home::instance::random_token;
use harbor_home::lock::whole_file;
use harbor_home::parent_directories::{home_directory, is_ours_alone};
use interprocess::local_socket::{GenericFilePath, ListenerOptions, ToFsName as _};
use interprocess::os::unix::local_socket::ListenerOptionsExt as _;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};

use super::{StoreError, failed, own_directory, private_file, write_atomically};

/// How often token and socket are checked.
const LOOK: Duration = Duration::from_secs(3);

/// This process is the one bridge of its home.
#[derive(Debug)]
pub struct Instance {
    /// Closing any other handle of this file would end the lock: only `begin` opens it.
    _lock: File,
    token: String,
    /// None once they are removed.
    files: Arc<Mutex<Option<InstanceFiles>>>,
}

/// The files that let programs in.
#[derive(Debug)]
struct InstanceFiles {
    run_dir: PathBuf,
    lock_at: PathBuf,
    token_at: PathBuf,
    token: String,
    socket: PathBuf,
    /// The identities of lock, token and socket. None for one that could not be seen.
    ids: [Option<(u64, u64)>; 3],
    /// Locks that were taken anew.
    locks: Vec<File>,
}

/// The reason why this process is not the one bridge.
#[derive(Debug)]
pub enum InstanceError {
    /// Another bridge runs; with its process id, if it could be read.
    Running(Option<u32>),
    /// A file could not be made.
    Store(StoreError),
    /// The socket's path cannot be used.
    Config(harbor_home::PathError),
}

impl std::fmt::Display for InstanceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Running(pid) => {
                let pid = pid.map_or_else(|| "unknown".into(), |pid| pid.to_string());
                write!(
                    f,
                    "another bridge of this home is running (pid {pid}); use it through `harbor`, or end it with \
                     `harbor shutdown`"
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

impl From<FileError> for InstanceError {
    fn from(error: FileError) -> Self {
        Self::Store(error.into())
    }
}

impl Instance {
    /// Takes the lock, makes a new token and binds the socket.
    ///
    /// # Errors
    /// When another bridge runs, or a file cannot be made.
    pub fn begin(paths: &Paths) -> Result<(Self, UnixListener), InstanceError> {
        home_directory(paths.work())?;
        own_directory(&paths.run_dir())?;
        let lock = lock(&paths.lock())?;
        let token = random_token().map_err(failed("read", "/dev/urandom".as_ref()))?;
        write_atomically(&paths.token(), token.as_bytes())?;
        let socket = paths.socket().map_err(InstanceError::Config)?;
        if let Some(elsewhere) = socket.parent().filter(|directory| **directory != paths.run_dir()) {
            is_ours_alone(elsewhere, "XDG_RUNTIME_DIR")?;
        }
        let listener = bind(&socket)?;
        let (run_dir, lock_at, token_at) = (paths.run_dir(), paths.lock(), paths.token());
        let ids = [&lock_at, &token_at, &socket].map(|path| id(path));
        let (token_text, locks) = (token.clone(), Vec::new());
        let files = InstanceFiles { run_dir, lock_at, token_at, token: token_text, socket, ids, locks };
        Ok((Self { _lock: lock, token, files: Arc::new(Mutex::new(Some(files))) }, listener))
    }

    /// Starts a thread that checks the token and the socket every few seconds, and makes a missing one anew.
    /// `take` gets the new socket, and returns false to end the thread. `and` runs as often, for other checks.
    ///
    /// # Errors
    /// When there can be no thread for it.
    pub fn keep(
        &self,
        mut take: impl FnMut(UnixListener) -> bool + Send + 'static,
        mut and: impl FnMut() + Send + 'static,
    ) -> io::Result<()> {
        let files = Arc::downgrade(&self.files);
        let keeping = move || {
            loop {
                std::thread::sleep(LOOK);
                let Some(files) = files.upgrade() else { return };
                let mended = match locked(&files).as_mut() {
                    Some(files) => files.mend(),
                    None => return,
                };
                match mended {
                    Ok(None) => {}
                    Ok(Some(listener)) => {
                        if !take(listener) {
                            return;
                        }
                    }
                    Err(InstanceError::Running(_)) => {
                        // What is there now is the other one's.
                        *locked(&files) = None;
                        tracing::error!("the lock is gone, and another bridge has this home: this one ends");
                        let _ = nix::sys::signal::raise(nix::sys::signal::Signal::SIGTERM);
                        return;
                    }
                    Err(error) => {
                        tracing::warn!(%error, "lock, token or socket is gone, and cannot be made anew")
                    }
                }
                drop(files);
                and();
            }
        };
        std::thread::Builder::new().name("harbor.files".into()).spawn(keeping).map(drop)
    }

    /// Gives everything up within `limit`: a disk that does not answer must not hold up the end. The lock is
    /// kept until the last file is removed.
    pub fn end(self, limit: Duration) {
        let (ending, ended) = mpsc::channel::<Infallible>();
        let started = std::thread::Builder::new().name("harbor.end".into()).spawn(move || {
            drop(self);
            drop(ending);
        });
        if started.is_ok() {
            // Nothing is said; it is closed.
            let _ = ended.recv_timeout(limit);
        }
    }

    /// The token that a program must show to be let in.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }
}

impl InstanceFiles {
    /// Makes missing files anew. The lock is held, so other files in their places belong to no bridge. Returns the new socket.
    fn mend(&mut self) -> Result<Option<UnixListener>, InstanceError> {
        let there = [&self.lock_at, &self.token_at, &self.socket].map(|path| id(path));
        let [lock_is_gone, token_is_gone, socket_is_gone] =
            [0, 1, 2].map(|at| there[at].is_none() || there[at] != self.ids[at]);
        if lock_is_gone || token_is_gone {
            own_directory(&self.run_dir)?;
        }
        // Another bridge has made it: this home is its.
        if lock_is_gone && there[0].is_some() {
            return Err(InstanceError::Running(None));
        }
        if lock_is_gone {
            self.locks.push(lock(&self.lock_at)?);
            self.ids[0] = id(&self.lock_at);
            tracing::warn!("the file of the lock was gone, and is there again");
        }
        if token_is_gone {
            write_atomically(&self.token_at, self.token.as_bytes())?;
            self.ids[1] = id(&self.token_at);
            tracing::warn!("the token was gone, and is there again");
        }
        if !socket_is_gone {
            return Ok(None);
        }
        let listener = bind(&self.socket)?;
        self.ids[2] = id(&self.socket);
        tracing::warn!("the socket was gone; there is a new one");
        Ok(Some(listener))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let Some(files) = locked(&self.files).take() else { return };
        for file in [files.socket, files.token_at] {
            // What cannot be removed now is taken for stale by the next bridge.
            let _ = std::fs::remove_file(file);
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The identity of the file at a path, if there is one.
fn id(path: &Path) -> Option<(u64, u64)> {
    std::fs::symlink_metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// A record lock (fcntl), not flock: a bridge that is killed while it starts a program leaves a copy of itself for a moment,
/// which would hold an flock.
fn lock(path: &Path) -> Result<File, InstanceError> {
    let mut file = private_file(path)?;
    match fcntl(&file, FcntlArg::F_SETLK(&whole_file())) {
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
