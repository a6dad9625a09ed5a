//! The secrets of servers: `secrets/credentials.json`.
//!
//! ```text
//!  put, remove, forget ─► one at a time: read ─► change ─► credentials.new (0600) ─► fsync ─► rename
//!  a start, a list ─────► read
//! ```
//!
//! Owns that only this user can read the file, from its first byte on, and that it is always whole. Must never overwrite a
//! file that it cannot read, follow a link, or keep a value in memory: each start reads the file.

mod form;
mod origin;

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use harbor_policy::credentials::{Credential, Credentials};
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::unistd::geteuid;
use zeroize::Zeroizing;

pub use form::All;

use super::{StoreError, failed, own_directory, temporary, write_durably};

/// A longer file is not read, in bytes.
const MAX_FILE: u64 = 32 << 20;

/// The file.
#[derive(Debug, Clone)]
pub struct Secrets {
    path: Arc<PathBuf>,
    /// Whoever changes it has this.
    turn: Arc<Mutex<()>>,
}

impl Secrets {
    /// The file at this path, which need not exist.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        // What a bridge that was killed had begun to write has secrets in it. As a rule there is nothing.
        let _ = std::fs::remove_file(temporary(path));
        Self { path: Arc::new(path.to_owned()), turn: Arc::default() }
    }

    /// The secrets of a server.
    ///
    /// # Errors
    /// When the file is not this user's alone, or cannot be read.
    pub async fn of(&self, server: &str) -> Result<Credentials, StoreError> {
        let server = server.to_owned();
        self.off_the_loop(move |secrets| secrets.read_of(&server)).await
    }

    /// As `of`, for who may wait for the disk.
    ///
    /// # Errors
    /// The same.
    pub fn read_of(&self, server: &str) -> Result<Credentials, StoreError> {
        Ok(read(&self.path)?.remove(server).unwrap_or_default())
    }

    /// Those of all servers.
    ///
    /// # Errors
    /// The same.
    pub async fn all(&self) -> Result<All, StoreError> {
        self.off_the_loop(|secrets| read(&secrets.path)).await
    }

    /// Stores secrets of a server, in the place of those of the same names. Gives all that it has then.
    ///
    /// # Errors
    /// The same; or when there are too many, or it cannot be written.
    pub async fn put(&self, server: &str, new: Vec<(String, Credential)>) -> Result<Credentials, StoreError> {
        let server = server.to_owned();
        self.change(move |all| {
            let of_server = all.entry(server).or_default();
            of_server.0.extend(new);
            match of_server.overfull() {
                Some(why) => Err(StoreError::File {
                    what: "store the secret".into(),
                    source: io::Error::new(io::ErrorKind::QuotaExceeded, why),
                }),
                None => Ok(Some(of_server.clone())),
            }
        })
        .await
        .map(Option::unwrap_or_default)
    }

    /// Stores a grant in the place of the one that it renews; false where that is not there any more.
    ///
    /// # Errors
    /// As `put`.
    pub async fn renew(&self, server: &str, key: &'static str, new: Credential) -> Result<bool, StoreError> {
        let server = server.to_owned();
        let renewed = self.change(move |all| {
            let granted_at =
                |credential: &Credential| credential.origin.as_ref().map(|origin| origin.granted_at);
            let old = all.get_mut(&server).and_then(|of_server| of_server.0.get_mut(key));
            let old = old.filter(|old| granted_at(old).is_some() && granted_at(old) == granted_at(&new));
            Ok(old.map(|old| *old = new))
        });
        Ok(renewed.await?.is_some())
    }

    /// Removes a secret. Whether there was one.
    ///
    /// # Errors
    /// As `put`.
    pub async fn remove(&self, server: &str, key: &str) -> Result<bool, StoreError> {
        let (server, key) = (server.to_owned(), key.to_owned());
        let removed = self.change(move |all| {
            let Some(of_server) = all.get_mut(&server) else { return Ok(None) };
            let removed = of_server.0.remove(&key);
            if of_server.0.is_empty() {
                all.remove(&server);
            }
            Ok(removed.map(drop))
        });
        Ok(removed.await?.is_some())
    }

    /// Removes all secrets of a server. How many there were.
    ///
    /// # Errors
    /// As `put`.
    pub async fn forget(&self, server: &str) -> Result<usize, StoreError> {
        let server = server.to_owned();
        let removed = self.change(move |all| Ok(all.remove(&server).map(|of_server| of_server.0.len())));
        Ok(removed.await?.unwrap_or_default())
    }

    /// Changes the file, unless `change` gives nothing.
    async fn change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut All) -> Result<Option<T>, StoreError> + Send + 'static,
    ) -> Result<Option<T>, StoreError> {
        self.off_the_loop(move |secrets| {
            let _turn = secrets.turn.lock().unwrap_or_else(PoisonError::into_inner);
            let mut all = read(&secrets.path)?;
            let changed = change(&mut all)?;
            if changed.is_some() {
                secrets.write(&all)?;
            }
            Ok(changed)
        })
        .await
    }

    fn write(&self, all: &All) -> Result<(), StoreError> {
        let text = form::text(all);
        if text.len() as u64 > MAX_FILE {
            return Err(refused(&self.path, "it would be too long; remove secrets that nobody needs"));
        }
        if let Some(directory) = self.path.parent() {
            own_directory(directory)?;
        }
        write_durably(&self.path, &text)
    }

    async fn off_the_loop<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let secrets = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&secrets)).await;
        done.unwrap_or_else(|error| Err(failed("read", &self.path)(io::Error::other(error))))
    }
}

/// Whether the file is this user's alone and can be read; also when there is none.
///
/// # Errors
/// Why not, and what to do.
pub fn check(path: &Path) -> Result<(), StoreError> {
    read(path).map(drop)
}

fn read(path: &Path) -> Result<All, StoreError> {
    // A link, or without a writer a FIFO, is not opened at all.
    let flags = (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits();
    let mut file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(All::default()),
        Err(error) if error.raw_os_error() == Some(Errno::ELOOP as i32) => {
            return Err(refused(path, "it is a symbolic link; put the file itself there"));
        }
        opened => opened.map_err(failed("read", path))?,
    };
    let about = file.metadata().map_err(failed("read", path))?;
    if !about.is_file() || about.uid() != geteuid().as_raw() {
        return Err(refused(path, "it is no file of yours; move it away and set the secrets again"));
    }
    if about.mode() & 0o077 != 0 {
        let why = format!("others may use it; `chmod 600 {}`, or `harbor doctor --fix`", path.display());
        return Err(refused(path, &why));
    }
    if about.len() > MAX_FILE {
        return Err(refused(path, "it is too long; move it away and set the secrets again"));
    }
    let mut text = Zeroizing::new(Vec::with_capacity(usize::try_from(about.len()).unwrap_or_default() + 1));
    file.by_ref().take(MAX_FILE).read_to_end(&mut text).map_err(failed("read", path))?;
    form::parse(&text).map_err(|why| {
        refused(
            path,
            &format!("{why}; nothing was changed: mend it, or move it away and set the secrets again"),
        )
    })
}

fn refused(path: &Path, why: &str) -> StoreError {
    failed("use", path)(io::Error::new(io::ErrorKind::InvalidData, why))
}

#[cfg(test)]
mod tests;
