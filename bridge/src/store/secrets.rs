//! The secrets of servers: `secrets/credentials.json`.
//!
//! ```text
//!  put, remove, forget ─► one at a time: read ─► change ─► credentials.new (0600) ─► fsync ─► rename
//!  a start, a list ─────► read ─┬─ plain
//!                               └─ a file of age ─► its key: in memory, else key.age and a passphrase, else the keyring
//! ```
//!
//! Owns that only this user can read the file, from its first byte on, and that it is always whole. Must never overwrite a file
//! that it cannot read, follow a link, or keep a value in memory: each start reads the file. The key of an encrypted file it
//! keeps until the bridge ends or the person locks it. The servers that have secrets are noted beside the file, for when it
//! cannot be read.

pub mod age;
mod changing;
mod dropped;
mod file;
mod forgotten;
mod form;
mod keyring;
mod keys;
mod looking;
mod origin;
mod passphrase_file;
mod randomness;
mod refusal;
mod trouble;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harbor_policy::credentials::{Credential, Credentials};
use harbor_policy::secret_store::{Choice, StoreProtection};
use tokio::sync::Notify;

pub use file::check;
pub use forgotten::Forgotten;
pub use form::SecretsByServer;
pub(super) use randomness::random;

use self::forgotten::DROPPED;
use self::keys::Keys;
use self::refusal::refused;
use self::trouble::SecretsTrouble;
use super::{StoreError, failed, temporary};
use crate::config::SecretsConfig;

/// The file beside theirs that has the ids of the servers that have secrets.
const NAMES: &str = "servers";

/// The state of the secrets' protection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecretsStatus {
    /// The person's choice of the place.
    pub choice: Choice,
    /// The protection of the file.
    pub form: StoreProtection,
    /// True if it takes a passphrase, or the keyring, to read them.
    pub is_locked: bool,
    /// True if the person should be asked for that passphrase.
    pub asks: bool,
}

/// The file.
#[derive(Debug, Clone)]
pub struct Secrets {
    path: Arc<PathBuf>,
    /// Held by whoever changes the secrets.
    turn: Arc<Mutex<()>>,
    keys: Arc<Keys>,
    /// The protection of the file at the last look.
    form: Arc<Mutex<StoreProtection>>,
    trouble: Arc<SecretsTrouble>,
    unlocked: Arc<Notify>,
}

impl Secrets {
    /// The file at this path, which need not exist.
    #[must_use]
    pub fn at(path: &Path, wanted: SecretsConfig) -> Self {
        let unlocked = Arc::<Notify>::default();
        let keys = Arc::new(Keys::beside(path, wanted, unlocked.clone()));
        // What a bridge that was killed had begun to write has secrets in it. As a rule there is nothing.
        for path in [path, keys.file(), &path.with_file_name(NAMES), &path.with_file_name(DROPPED)] {
            let _ = std::fs::remove_file(temporary(path));
        }
        let secrets = Self {
            path: Arc::new(path.to_owned()),
            turn: Arc::default(),
            keys,
            form: Arc::default(),
            trouble: Arc::default(),
            unlocked,
        };
        let _ = secrets.load();
        secrets.look();
        secrets
    }

    /// Takes over what `config.toml` says now.
    pub fn follow(&self, wanted: SecretsConfig) {
        self.keys.follow(wanted);
    }

    /// Waits until secrets that could not be read can be.
    pub async fn unlocked(&self) {
        self.unlocked.notified().await;
    }

    /// How the secrets are kept, as far as that is known without the disk.
    #[must_use]
    pub fn standing(&self) -> SecretsStatus {
        let form = *self.form.lock().unwrap_or_else(PoisonError::into_inner);
        let is_locked = form.is_encrypted() && !self.keys.is_open();
        let asks = is_locked && form == StoreProtection::Passphrase && !self.keys.is_given();
        SecretsStatus { choice: self.keys.choice(), form, is_locked, asks }
    }

    /// The reason why they cannot be read even when unlocked, as of a moment ago.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        self.trouble.why()
    }

    /// True if a server may have secrets, as far as that is known without reading any.
    pub async fn may_have(&self, server: &str) -> bool {
        let server = server.to_owned();
        let looked = tokio::task::spawn_blocking({
            let secrets = self.clone();
            move || {
                let is_dropped = secrets.dropped().is_ok_and(|names| names.contains(&server));
                !is_dropped && secrets.may_be_noted(&server)
            }
        });
        looked.await.unwrap_or(true)
    }

    /// The secrets of a server.
    ///
    /// # Errors
    /// When the file is not this user's alone, or cannot be read.
    pub async fn of(&self, server: &str) -> Result<Credentials, StoreError> {
        let server = server.to_owned();
        self.off_the_loop(move |secrets| secrets.read_of(&server)).await
    }

    /// Works as `of`, for callers that may wait for the disk.
    ///
    /// # Errors
    /// When the file is not this user's alone, or cannot be read.
    pub fn read_of(&self, server: &str) -> Result<Credentials, StoreError> {
        Ok(self.read_all()?.remove(server).unwrap_or_default())
    }

    /// The secrets of all servers.
    ///
    /// # Errors
    /// When the file is not this user's alone, or cannot be read.
    pub async fn all(&self) -> Result<SecretsByServer, StoreError> {
        self.off_the_loop(Self::read_all).await
    }

    fn read_all(&self) -> Result<SecretsByServer, StoreError> {
        let read = self.read()?;
        if read.has_dropped {
            let _turn = self.turn();
            self.drop_now();
        }
        Ok(read.all)
    }

    /// Stores secrets of a server, and replaces those of the same names. Returns all its secrets.
    ///
    /// # Errors
    /// When the file is not this user's alone, or cannot be read or written; or when there are too many secrets.
    pub async fn put(&self, server: &str, new: Vec<(String, Credential)>) -> Result<Credentials, StoreError> {
        let server = server.to_owned();
        self.change(true, move |all| {
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

    /// Stores a renewed login, and replaces the login that it renews. False if that login is gone.
    ///
    /// # Errors
    /// As `put`.
    pub async fn renew(&self, server: &str, key: &'static str, new: Credential) -> Result<bool, StoreError> {
        let server = server.to_owned();
        let renewed = self.change(false, move |all| {
            let granted_at =
                |credential: &Credential| credential.origin.as_ref().map(|origin| origin.granted_at);
            let old = all.get_mut(&server).and_then(|of_server| of_server.0.get_mut(key));
            let old = old.filter(|old| granted_at(old).is_some() && granted_at(old) == granted_at(&new));
            Ok(old.map(|old| *old = new))
        });
        Ok(renewed.await?.is_some())
    }

    /// Removes a secret. True if there was one.
    ///
    /// # Errors
    /// As `put`.
    pub async fn remove(&self, server: &str, key: &str) -> Result<bool, StoreError> {
        let (server, key) = (server.to_owned(), key.to_owned());
        let removed = self.change(false, move |all| {
            let Some(of_server) = all.get_mut(&server) else { return Ok(None) };
            let removed = of_server.0.remove(&key);
            if of_server.0.is_empty() {
                all.remove(&server);
            }
            Ok(removed.map(drop))
        });
        Ok(removed.await?.is_some())
    }

    /// Removes all secrets of a server. If they cannot be read, nobody gets them any more, and they are
    /// removed as soon as they can be read.
    ///
    /// # Errors
    /// As `put`, when that could not be noted either.
    pub async fn forget(&self, server: &str) -> Result<Forgotten, StoreError> {
        let (server, of) = (server.to_owned(), server.to_owned());
        let removed =
            self.change(false, move |all| Ok(all.remove(&server).map(|of_server| of_server.0.len())));
        let why = match removed.await {
            Ok(count) => return Ok(Forgotten { count: count.unwrap_or_default(), left: None }),
            Err(why) => why,
        };
        self.off_the_loop(move |secrets| {
            let _turn = secrets.turn();
            // What nobody can read has nothing of it.
            let has_none = matches!(why, StoreError::Locked(_)) && !secrets.may_be_noted(&of);
            if has_none {
                return Ok(Forgotten { count: 0, left: None });
            }
            secrets.drop_later(&of)?;
            Ok(Forgotten { count: 0, left: Some(why.to_string()) })
        })
        .await
    }

    /// Changes the file, unless `change` returns nothing.
    async fn change<T: Send + 'static>(
        &self,
        adds: bool,
        change: impl FnOnce(&mut SecretsByServer) -> Result<Option<T>, StoreError> + Send + 'static,
    ) -> Result<Option<T>, StoreError> {
        self.off_the_loop(move |secrets| {
            let _turn = secrets.turn();
            let read = secrets.read()?;
            secrets.settle_dropped(&read)?;
            let form = match read.form.of_new(secrets.keys.choice()) {
                Ok(form) => form,
                // What is taken away is taken away wherever it is.
                Err(_) if !adds => read.form,
                Err(why) => return Err(refused(&secrets.path, why)),
            };
            let before = read.all.keys().cloned().collect();
            let mut all = read.all;
            let changed = change(&mut all)?;
            if changed.is_some() {
                secrets.write(&all, &before, form)?;
            }
            Ok(changed)
        })
        .await
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
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

#[cfg(test)]
mod tests;
