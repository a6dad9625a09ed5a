//! Reading and writing the file in its form, and turning one form into another.
//!
//! ```text
//!  plain ── encrypt: key.age, then the file ──► passphrase ── move: the keyring, then key.age goes ──► keyring
//!    ▲ └── move: the keyring, then the file ─────────────────────────────────────────────────────────► ▲  │
//!    └──── decrypt, move: the file, then its key ──────────────────────────────────────────────────────────┘
//! ```
//!
//! Owns the order: at each moment there is a whole file, and where it is encrypted, its key. A file of age belongs to the
//! passphrase while there is a `key.age`, else to the keyring.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use harbor_ipc_proto::secret::Secret;
use harbor_policy::secret_store::{Choice, StoreProtection};
use zeroize::Zeroizing;

use super::super::{StoreError, failed, own_directory, write_durably};
use super::age::{self, OF_A_KEY};
use super::file::MAX_FILE;
use super::randomness::{filled, random};
use super::refusal::refused;
use super::{Secrets, SecretsByServer, SecretsStatus, file, form};

/// A key's random bytes.
const KEY: usize = 32;

/// The result of reading the file.
pub(super) struct SecretsContent {
    pub(super) form: StoreProtection,
    /// The secrets, without the dropped ones.
    pub(super) all: SecretsByServer,
    /// True if some dropped ones were in the file.
    pub(super) has_dropped: bool,
}

impl Secrets {
    /// The bytes of the file, and its protection.
    pub(super) fn load(&self) -> Result<(StoreProtection, Zeroizing<Vec<u8>>), StoreError> {
        let bytes = file::read(&self.path)?;
        let form = match &bytes {
            None => StoreProtection::None,
            Some(bytes) if !age::is_age(bytes) => StoreProtection::Plain,
            Some(_) if self.keys.file().exists() => StoreProtection::Passphrase,
            Some(_) => StoreProtection::Keyring,
        };
        self.note_form(form);
        Ok((form, bytes.unwrap_or_default()))
    }

    pub(super) fn read(&self) -> Result<SecretsContent, StoreError> {
        let read = self.read_anyhow();
        if self.trouble.note(&read) {
            self.unlocked.notify_one();
        }
        read
    }

    fn read_anyhow(&self) -> Result<SecretsContent, StoreError> {
        loop {
            let dropped = self.dropped()?;
            let (form, mut all) = self.read_file()?;
            // Whoever has removed them meanwhile may have set others.
            if self.dropped()? == dropped {
                let before = all.len();
                all.retain(|name, _| !dropped.contains(name));
                let has_dropped = all.len() < before;
                return Ok(SecretsContent { form, all, has_dropped });
            }
        }
    }

    fn read_file(&self) -> Result<(StoreProtection, SecretsByServer), StoreError> {
        let (form, bytes) = self.load()?;
        let all = match form {
            StoreProtection::None => SecretsByServer::default(),
            StoreProtection::Plain => file::parsed(&self.path, &bytes)?,
            StoreProtection::Passphrase | StoreProtection::Keyring => {
                self.opened(&bytes, &self.keys.get(form)?)?
            }
        };
        Ok((form, all))
    }

    fn opened(&self, bytes: &[u8], key: &Secret) -> Result<SecretsByServer, StoreError> {
        let why = "its key does not open it, or it is damaged; nothing was changed: restore the right key, or move the \
                   file away and set the secrets again";
        let text = age::open(bytes, key).map_err(|_| refused(&self.path, why))?;
        file::parsed(&self.path, &text)
    }

    /// Writes all secrets. While it is not certain which file is there, the servers that had secrets `before` stay noted, too.
    pub(super) fn write(
        &self,
        all: &SecretsByServer,
        before: &BTreeSet<String>,
        form: StoreProtection,
    ) -> Result<(), StoreError> {
        let text = form::text(all);
        if text.len() as u64 > MAX_FILE / 2 {
            return Err(refused(&self.path, "it would be too long; remove unused secrets"));
        }
        if let Some(directory) = self.path.parent() {
            own_directory(directory)?;
        }
        let key = match form.is_encrypted() {
            false => None,
            true => Some(match self.load()?.0 {
                // The first secret of all.
                StoreProtection::None => self.key_in_keyring()?,
                _ => self.keys.get(form)?,
            }),
        };
        let now: BTreeSet<_> = all.keys().cloned().collect();
        self.note_names(&before.union(&now).cloned().collect())?;
        match &key {
            Some(key) => self.write_sealed(&text, key)?,
            None => write_durably(&self.path, &text)?,
        }
        self.note_form(form);
        if now != *before { self.note_names(&now) } else { Ok(()) }
    }

    fn write_sealed(&self, text: &[u8], key: &Secret) -> Result<(), StoreError> {
        let encrypt = failed("encrypt", &self.path);
        let random = random().map_err(&encrypt)?;
        let sealed = age::seal(text, key, OF_A_KEY, &random);
        write_durably(&self.path, &sealed.ok_or_else(|| encrypt(io::Error::other("it failed")))?)
    }

    fn note_form(&self, form: StoreProtection) {
        *self.form.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = form;
    }

    /// The file with the ids of the servers that have secrets, for whoever cannot read those.
    fn names(&self) -> PathBuf {
        self.path.with_file_name(super::NAMES)
    }

    pub(super) fn noted_names(&self) -> Option<BTreeSet<String>> {
        let text = String::from_utf8(file::read(&self.names()).ok()??.to_vec()).ok()?;
        Some(text.lines().map(ToOwned::to_owned).collect())
    }

    /// True if a name may be among them; also when that cannot be found out.
    pub(super) fn may_be_noted(&self, name: &str) -> bool {
        self.noted_names().is_none_or(|names| names.contains(name))
    }

    pub(super) fn note_names(&self, names: &BTreeSet<String>) -> Result<(), StoreError> {
        if self.noted_names().as_ref() == Some(names) {
            return Ok(());
        }
        let lines: String = names.iter().map(|name| format!("{name}\n")).collect();
        write_durably(&self.names(), lines.as_bytes())
    }

    /// The key that the keyring has, or a new one.
    fn key_in_keyring(&self) -> Result<Secret, StoreError> {
        let item = self.keys.item();
        let found = item.find(super::keyring::BY_ITSELF).map_err(StoreError::Locked)?;
        let key = match found {
            Some(key) => key,
            None => {
                let key = new_key().map_err(failed("make a key for", &self.path))?;
                item.store(&key).map_err(StoreError::Locked)?;
                key
            }
        };
        // One that was left would be taken for the key of what is written now.
        self.keys.remove_file()?;
        self.keys.keep(key.clone());
        Ok(key)
    }

    /// Encrypts them with a passphrase, or takes another one.
    ///
    /// # Errors
    /// Why not. Then the secrets are unchanged.
    pub async fn encrypt(&self, passphrase: Secret) -> Result<SecretsStatus, StoreError> {
        self.off_the_loop(move |secrets| {
            let _turn = secrets.turn();
            if secrets.keys.choice() == Choice::Keyring {
                let why =
                    "config.toml says `store = \"keyring\"`, so the keyring has their key; set it to \"file\" first";
                return Err(refused(&secrets.path, why));
            }
            let SecretsContent { form, all, .. } = secrets.read()?;
            if form.is_encrypted() {
                secrets.keys.put_under(&passphrase, &secrets.keys.get(form)?)?;
            } else {
                let key = new_key().map_err(failed("make a key for", &secrets.path))?;
                secrets.keys.put_under(&passphrase, &key)?;
                secrets.keys.keep(key);
                secrets.note_names(&all.keys().cloned().collect())?;
                let text = form::text(&all);
                secrets
                    .keys
                    .get(StoreProtection::Passphrase)
                    .and_then(|key| secrets.write_sealed(&text, &key))?;
            }
            secrets.note_form(StoreProtection::Passphrase);
            if form == StoreProtection::Keyring {
                secrets.leave_keyring();
            }
            Ok(secrets.standing())
        })
        .await
    }

    /// Makes a plain file of them.
    ///
    /// # Errors
    /// Why not. Then the secrets are unchanged.
    pub async fn decrypt(&self) -> Result<SecretsStatus, StoreError> {
        self.off_the_loop(|secrets| {
            let _turn = secrets.turn();
            if secrets.keys.choice() == Choice::Keyring {
                let why = "config.toml says `store = \"keyring\"`; set it to \"file\" first, then run `harbor secrets \
                           decrypt`";
                return Err(refused(&secrets.path, why));
            }
            secrets.make_plain()
        })
        .await
    }

    fn make_plain(&self) -> Result<SecretsStatus, StoreError> {
        let SecretsContent { form, all, .. } = self.read()?;
        if !form.is_encrypted() {
            return Err(refused(&self.path, "the secrets are not encrypted; there is nothing to do"));
        }
        write_durably(&self.path, &form::text(&all))?;
        self.note_form(StoreProtection::Plain);
        self.keys.remove_file()?;
        if form == StoreProtection::Keyring {
            self.leave_keyring();
        }
        self.keys.forget();
        Ok(self.standing())
    }

    /// An item that stays there opens nothing any more.
    fn leave_keyring(&self) {
        if let Err(why) = self.keys.item().remove() {
            tracing::warn!(why, "the keyring still has an item of Harbor that nothing needs");
        }
    }

    /// Puts them where `config.toml` says.
    ///
    /// # Errors
    /// Why not. Then the secrets are unchanged.
    pub async fn move_over(&self) -> Result<SecretsStatus, StoreError> {
        self.off_the_loop(|secrets| {
            let _turn = secrets.turn();
            let (form, choice) = (secrets.load()?.0, secrets.keys.choice());
            match (form, choice) {
                (StoreProtection::Keyring, Choice::File) => return secrets.make_plain(),
                (StoreProtection::Plain, Choice::Keyring) => secrets.move_plain_to_keyring()?,
                (StoreProtection::Passphrase, Choice::Keyring) => {
                    // It stays the same key, so the file stays as it is.
                    let key = secrets.keys.get(form)?;
                    secrets.keys.item().store(&key).map_err(StoreError::Locked)?;
                    secrets.keys.remove_file()?;
                    secrets.note_form(StoreProtection::Keyring);
                }
                _ => {
                    return Err(refused(
                        &secrets.path,
                        "the secrets are already where config.toml says; there is nothing to do",
                    ));
                }
            }
            Ok(secrets.standing())
        })
        .await
    }

    fn move_plain_to_keyring(&self) -> Result<(), StoreError> {
        let all = self.read()?.all;
        let key = self.key_in_keyring()?;
        self.note_names(&all.keys().cloned().collect())?;
        self.write_sealed(&form::text(&all), &key)?;
        self.note_form(StoreProtection::Keyring);
        Ok(())
    }

    /// Has the key at hand from now on.
    ///
    /// # Errors
    /// When the passphrase is wrong, or the key cannot be had.
    pub async fn unlock(&self, passphrase: Option<Secret>) -> Result<SecretsStatus, StoreError> {
        self.off_the_loop(move |secrets| {
            let (form, bytes) = secrets.load()?;
            if !form.is_encrypted() {
                return Err(refused(
                    &secrets.path,
                    "the secrets are not encrypted; there is nothing to unlock",
                ));
            }
            if passphrase.is_none() && secrets.keys.is_open() {
                return Ok(secrets.standing());
            }
            let key = secrets.keys.ask(form, passphrase.as_ref())?;
            secrets.opened(&bytes, &key)?;
            secrets.keys.keep(key);
            let _turn = secrets.turn();
            secrets.drop_now();
            Ok(secrets.standing())
        })
        .await
    }

    /// Forgets the key.
    ///
    /// # Errors
    /// When there is none.
    pub async fn lock(&self) -> Result<SecretsStatus, StoreError> {
        self.off_the_loop(|secrets| {
            if !secrets.load()?.0.is_encrypted() {
                let why = "the secrets are not encrypted, so there is nothing to lock; `harbor secrets encrypt` encrypts them";
                return Err(refused(&secrets.path, why));
            }
            secrets.keys.put_away();
            Ok(secrets.standing())
        })
        .await
    }
}

fn new_key() -> io::Result<Secret> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let bytes = filled::<KEY>()?;
    let mut text = String::with_capacity(2 * KEY);
    for byte in bytes.iter() {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from(DIGITS.get(usize::from(digit)).copied().unwrap_or_default()));
        }
    }
    Ok(Secret::new(text))
}
