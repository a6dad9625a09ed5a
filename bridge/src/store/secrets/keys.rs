//! The key of an encrypted file: where it is, and whether it is at hand.
//!
//! ```text
//!  Absent ── asked for: a file with the passphrase, or the keyring ──► Here ── lock ──► PutAway ── unlock ──► Here
//!     └── in vain ──► Failed: not asked again for half a minute
//! ```
//!
//! Owns the only copy of the key, whose memory is overwritten. Must never ask twice at once: a passphrase takes 128 MiB for a
//! moment, and a keyring asks its person.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use harbor_ipc_proto::secret::Secret;
use harbor_policy::secret_store::{self, Choice, StoreProtection};
use tokio::sync::Notify;

use super::super::{StoreError, failed, own_directory, write_durably};
use super::age::{self, Closed, OF_A_PERSON};
use super::file;
use super::keyring::{BY_ITSELF, Item, WITH_A_PERSON};
use super::passphrase_file::PassphraseFile;
use super::randomness::random;
use super::refusal::refused;
use crate::config::SecretsConfig;
use crate::store::sync_directory;

/// The pause after a failure to get the key, until it is tried again.
const PAUSE: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
enum KeyState {
    #[default]
    Absent,
    Here(Secret),
    /// The person locked it.
    PutAway,
    Failed(String, Instant),
}

/// The key, and where it comes from.
#[derive(Debug)]
pub(super) struct Keys {
    path: PathBuf,
    item: Item,
    wanted: Mutex<SecretsConfig>,
    held: Mutex<KeyState>,
    /// Held by whoever asks for the key.
    asking: Mutex<()>,
    unlocked: Arc<Notify>,
}

impl Keys {
    /// The key of the file at `path`.
    pub(super) fn beside(path: &Path, wanted: SecretsConfig, unlocked: Arc<Notify>) -> Self {
        let directory = path.parent().unwrap_or(path);
        Self {
            path: directory.join("key.age"),
            item: Item::of(&directory.parent().unwrap_or(directory).to_string_lossy()),
            wanted: Mutex::new(wanted),
            held: Mutex::default(),
            asking: Mutex::default(),
            unlocked,
        }
    }

    /// The file that a passphrase opens.
    pub(super) fn file(&self) -> &Path {
        &self.path
    }

    pub(super) fn follow(&self, wanted: SecretsConfig) {
        let before = std::mem::replace(&mut *locked(&self.wanted), wanted);
        let mut held = locked(&self.held);
        if before != *locked(&self.wanted) && matches!(*held, KeyState::Failed(..)) {
            *held = KeyState::Absent;
        }
    }

    pub(super) fn choice(&self) -> Choice {
        locked(&self.wanted).store
    }

    /// True if a file gives the passphrase.
    pub(super) fn is_given(&self) -> bool {
        self.given().is_some()
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(*locked(&self.held), KeyState::Here(_))
    }

    /// The key, if it is at hand or comes without a person.
    ///
    /// # Errors
    /// The advice to the person.
    pub(super) fn get(&self, form: StoreProtection) -> Result<Secret, StoreError> {
        if let Some(known) = self.known() {
            return known;
        }
        let _asking = locked(&self.asking);
        if let Some(known) = self.known() {
            return known;
        }
        let found = match form {
            StoreProtection::Passphrase => match self.given() {
                Some(given) => self.by_given(&given),
                None => return Err(asks_for_it()),
            },
            _ => self.in_keyring(BY_ITSELF),
        };
        match found {
            Ok(key) => {
                self.keep(key.clone());
                Ok(key)
            }
            Err(error) => {
                let why = match error {
                    StoreError::Locked(why) => why,
                    error => error.to_string(),
                };
                *locked(&self.held) = KeyState::Failed(why.clone(), Instant::now());
                Err(StoreError::Locked(why))
            }
        }
    }

    fn known(&self) -> Option<Result<Secret, StoreError>> {
        match &*locked(&self.held) {
            KeyState::Here(key) => Some(Ok(key.clone())),
            KeyState::PutAway => Some(Err(asks_for_it())),
            KeyState::Failed(why, at) if at.elapsed() < PAUSE => Some(Err(StoreError::Locked(why.clone()))),
            KeyState::Failed(..) | KeyState::Absent => None,
        }
    }

    /// The key by this passphrase, else by the passphrase of a file. Or the key of a keyring, which may ask the person.
    ///
    /// # Errors
    /// The advice to the person.
    pub(super) fn ask(
        &self,
        form: StoreProtection,
        passphrase: Option<&Secret>,
    ) -> Result<Secret, StoreError> {
        let _asking = locked(&self.asking);
        match (form, passphrase) {
            (StoreProtection::Passphrase, Some(passphrase)) => self.opened(passphrase),
            (StoreProtection::Passphrase, None) => match self.given() {
                Some(given) => self.by_given(&given),
                None => Err(asks_for_it()),
            },
            _ => self.in_keyring(WITH_A_PERSON),
        }
    }

    /// Keeps the key at hand from now on; those who wait for it are told.
    pub(super) fn keep(&self, key: Secret) {
        *locked(&self.held) = KeyState::Here(key);
        self.unlocked.notify_one();
    }

    /// Forgets it, until somebody unlocks.
    pub(super) fn put_away(&self) {
        *locked(&self.held) = KeyState::PutAway;
    }

    /// There is nothing that it would open.
    pub(super) fn forget(&self) {
        *locked(&self.held) = KeyState::Absent;
    }

    /// Writes `key.age`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn put_under(&self, passphrase: &Secret, key: &Secret) -> Result<(), StoreError> {
        if let Some(directory) = self.path.parent() {
            own_directory(directory)?;
        }
        let random = random().map_err(failed("encrypt", &self.path))?;
        let sealed = age::seal(key.expose().as_bytes(), passphrase, OF_A_PERSON, &random);
        let sealed = sealed.ok_or_else(|| failed("encrypt", &self.path)(io::Error::other("it failed")))?;
        write_durably(&self.path, &sealed)
    }

    /// Removes `key.age`, for good.
    ///
    /// # Errors
    /// When it is still there.
    pub(super) fn remove_file(&self) -> Result<(), StoreError> {
        match std::fs::remove_file(&self.path) {
            Ok(()) => self.path.parent().map_or(Ok(()), sync_directory),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(failed("remove", &self.path)(error)),
        }
    }

    /// The keyring's item.
    pub(super) fn item(&self) -> &Item {
        &self.item
    }

    fn given(&self) -> Option<PassphraseFile> {
        PassphraseFile::find(locked(&self.wanted).passphrase_file.as_deref())
    }

    fn by_given(&self, given: &PassphraseFile) -> Result<Secret, StoreError> {
        let passphrase = given.read().map_err(StoreError::Locked)?;
        self.opened(&passphrase).map_err(|error| match error {
            StoreError::Locked(_) => {
                StoreError::Locked(format!("the passphrase in {} is wrong", given.path().display()))
            }
            error => error,
        })
    }

    fn opened(&self, passphrase: &Secret) -> Result<Secret, StoreError> {
        let bytes = file::read(&self.path)?.unwrap_or_default();
        let key = age::open(&bytes, passphrase).map_err(|closed| match closed {
            Closed::Wrong => StoreError::Locked("the passphrase is wrong".into()),
            Closed::Foreign => {
                refused(&self.path, "it is not an age file with a passphrase; restore the right file")
            }
        })?;
        secret_store::key(&key)
            .ok_or_else(|| refused(&self.path, "it has no key of Harbor; restore the right file"))
    }

    fn in_keyring(&self, limit: Duration) -> Result<Secret, StoreError> {
        let why = match (self.item.find(limit), self.choice()) {
            (Ok(Some(key)), _) => return Ok(key),
            (Err(why), Choice::Keyring) => why,
            (Ok(None), Choice::Keyring) => {
                "the keyring has no key for them: if the keyring of another session has it, start the bridge there; if \
                 it is lost, move credentials.json away and set the secrets again"
                    .into()
            }
            // The person chose a passphrase: a keyring is what they may have had before.
            (Ok(None), Choice::File) => self.lost("and the keyring has no key either"),
            (Err(why), Choice::File) => self.lost(&format!("and the keyring cannot be asked: {why}")),
        };
        Err(StoreError::Locked(why))
    }

    fn lost(&self, otherwise: &str) -> String {
        format!(
            "the file with their key, {}, is missing, {otherwise}. Restore it from a backup; without one the secrets \
             are lost: move credentials.json away and set them again",
            self.path.display()
        )
    }
}

fn asks_for_it() -> StoreError {
    StoreError::Locked("they are locked; `harbor secrets unlock` unlocks them".into())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
