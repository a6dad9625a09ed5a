//! Conversations of the person with their models: `sessions/<id>.json`, and the summaries of their oldest turns beside them.
//!
//! ```text
//!  secrets are plain ─────► the file is JSON
//!  secrets are encrypted ─► the file is age's, under a key of its own, which lies among the secrets as `_sessions`
//! ```
//!
//! Owns these files: 0600, whole at each instant, one change after the other. A key of their own outlives every change of how
//! secrets are kept. Must never know the words in them.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use harbor_home::clock::wall_clock;
use harbor_home::instance::random_token;
use harbor_ipc_proto::client::CredentialType;
use harbor_ipc_proto::secret::Secret;
use harbor_policy::credentials::Credential;
use tokio::sync::Mutex;

use super::secrets::{Secrets, age};
use super::{StoreError, failed, private_directory, temporary, write_atomically};

/// The name among the secrets under which their key lies; no server can have it.
const NAME: &str = "_sessions";
const KEY: &str = "key";

/// The end of the name of a damaged session that is kept.
const DAMAGED: &str = ".json.damaged";

/// The end of the name of a session's summary.
const SUMMARY: &str = ".summary";

/// The largest session that is read, in bytes. No conversation is longer.
const MAX: u64 = 256 * 1024 * 1024;

/// The files.
#[derive(Debug, Clone)]
pub struct Sessions {
    directory: PathBuf,
    secrets: Secrets,
    /// Held while a session is written, so that an older text never replaces a newer one. Holds the ids of
    /// sessions removed since the bridge began, so that no holder brings one back.
    turn: Arc<Mutex<HashSet<String>>>,
}

impl Sessions {
    /// The sessions in this directory, which need not exist. Removes the files that interrupted writes have left there: their
    /// words may be deleted by now, or encrypted.
    #[must_use]
    pub fn at(directory: PathBuf, secrets: Secrets) -> Self {
        for id in names(&directory, ".new").unwrap_or_default() {
            let _ = fs::remove_file(temporary(&directory.join(format!("{id}.json"))));
        }
        Self { directory, secrets, turn: Arc::default() }
    }

    /// Writes a session, and replaces its former text. Writes nothing for a removed session.
    ///
    /// # Errors
    /// When the disk refuses, or the secrets are locked.
    pub async fn write(&self, id: &str, text: Vec<u8>) -> Result<(), StoreError> {
        self.write_at(id, self.path(id), text).await
    }

    /// Writes the summary of a session, likewise.
    ///
    /// # Errors
    /// When the disk refuses, or the secrets are locked.
    pub async fn write_summary(&self, id: &str, text: Vec<u8>) -> Result<(), StoreError> {
        self.write_at(id, self.summary(id), text).await
    }

    async fn write_at(&self, id: &str, path: PathBuf, text: Vec<u8>) -> Result<(), StoreError> {
        let removed = self.turn.lock().await;
        if removed.contains(id) {
            return Ok(());
        }
        self.put(path, text).await
    }

    /// Writes a file, encrypted if the secrets are. The caller has the turn.
    async fn put(&self, path: PathBuf, text: Vec<u8>) -> Result<(), StoreError> {
        let key = match self.secrets.standing().form.is_encrypted() {
            true => Some(self.key().await?),
            false => None,
        };
        off_the_loop(&path.clone(), move || {
            if let Some(directory) = path.parent() {
                private_directory(directory)?;
            }
            let content = match key {
                Some(key) => sealed(&path, &text, &key)?,
                None => text,
            };
            Ok(write_atomically(&path, &content)?)
        })
        .await
    }

    /// Reads a session. None if there is none, or if it was removed meanwhile.
    ///
    /// # Errors
    /// When it cannot be read, or the secrets are locked.
    pub async fn read(&self, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.read_at(id, self.path(id)).await
    }

    /// Reads the summary of a session, likewise.
    ///
    /// # Errors
    /// When it cannot be read, or the secrets are locked.
    pub async fn read_summary(&self, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.read_at(id, self.summary(id)).await
    }

    async fn read_at(&self, id: &str, path: PathBuf) -> Result<Option<Vec<u8>>, StoreError> {
        let place = path.clone();
        let read = off_the_loop(&path, move || found(&place)).await?;
        let read = match read {
            Some(content) if age::is_age(&content) => Some(self.opened(path, content).await?),
            read => read,
        };
        let removed = self.turn.lock().await;
        Ok(read.filter(|_| !removed.contains(id)))
    }

    /// Reads a session, and returns the result of `read` on it, which runs in another thread.
    ///
    /// # Errors
    /// When it cannot be read, or the secrets are locked.
    pub async fn read_with<T: Send + 'static>(
        &self,
        id: &str,
        read: impl FnOnce(Vec<u8>) -> T + Send + 'static,
    ) -> Result<Option<T>, StoreError> {
        let Some(text) = self.read(id).await? else { return Ok(None) };
        let made = off_the_loop(&self.path(id), move || Ok(read(text))).await?;
        // It may have been removed meanwhile.
        let removed = self.turn.lock().await;
        Ok((!removed.contains(id)).then_some(made))
    }

    /// All ids, that of the file that was written last first.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub async fn ids(&self) -> Result<Vec<String>, StoreError> {
        let directory = self.directory.clone();
        off_the_loop(&self.directory, move || {
            let written = |id: &String| {
                let path = directory.join(format!("{id}.json"));
                Reverse(fs::symlink_metadata(path).and_then(|file| file.modified()).ok())
            };
            let mut ids = names(&directory, ".json")?;
            ids.sort_by_cached_key(written);
            Ok(ids)
        })
        .await
    }

    /// The ids that end like this.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub async fn ids_like(&self, tail: &str) -> Result<Vec<String>, StoreError> {
        let (directory, end) = (self.directory.clone(), format!("{tail}.json"));
        let heads = off_the_loop(&self.directory, move || names(&directory, &end)).await?;
        Ok(heads.into_iter().map(|head| head + tail).collect())
    }

    /// Removes one, its summary, and what is kept of a damaged one; true if there was one.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub async fn remove(&self, id: &str) -> Result<bool, StoreError> {
        let mut removed = self.turn.lock().await;
        removed.insert(id.to_owned());
        let (path, beside) = (self.path(id), [self.damaged(id), self.summary(id)]);
        off_the_loop(&path.clone(), move || {
            let gone = |path: &Path| match fs::remove_file(path) {
                Ok(()) => Ok(true),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
                Err(error) => Err(failed("remove", path)(error)),
            };
            for path in &beside {
                gone(path)?;
            }
            gone(&path)
        })
        .await
    }

    /// Keeps a copy of a file that is damaged, as `ID.json.damaged`, which nothing reads.
    ///
    /// # Errors
    /// When it cannot be copied.
    pub async fn keep_damaged(&self, id: &str) -> Result<(), StoreError> {
        let (path, kept) = (self.path(id), self.damaged(id));
        off_the_loop(&path.clone(), move || fs::copy(&path, &kept).map(drop).map_err(failed("copy", &path)))
            .await
    }

    /// Writes plain sessions anew, encrypted, after the protection of secrets has changed.
    ///
    /// # Errors
    /// The first that cannot be.
    pub async fn seal_all(&self) -> Result<(), StoreError> {
        if !self.secrets.standing().form.is_encrypted() {
            return Ok(());
        }
        let directory = self.directory.clone();
        let paths = off_the_loop(&self.directory, move || files(&directory)).await?;
        for path in paths {
            // From the look to the end of the writing: what is saved or removed meanwhile comes before or after both.
            let _turn = self.turn.lock().await;
            let looked_at = path.clone();
            let read = off_the_loop(&path, move || found(&looked_at)).await?;
            if let Some(plain) = read.filter(|content| !age::is_age(content)) {
                self.put(path, plain).await?;
            }
        }
        Ok(())
    }

    /// The path for a damaged session.
    fn damaged(&self, id: &str) -> PathBuf {
        self.directory.join(format!("{id}{DAMAGED}"))
    }

    /// The path for a summary.
    fn summary(&self, id: &str) -> PathBuf {
        self.directory.join(format!("{id}{SUMMARY}"))
    }

    fn path(&self, id: &str) -> PathBuf {
        self.directory.join(format!("{id}.json"))
    }

    async fn opened(&self, path: PathBuf, content: Vec<u8>) -> Result<Vec<u8>, StoreError> {
        let key = self.key().await?;
        off_the_loop(&path.clone(), move || {
            let text = age::open(&content, &key).map_err(|_| {
                let why = "its key is not the one among the secrets, or the file is damaged";
                failed("open", &path)(io::Error::new(io::ErrorKind::InvalidData, why))
            })?;
            Ok(text.to_vec())
        })
        .await
    }

    /// Their key; made when it is first needed.
    async fn key(&self) -> Result<Secret, StoreError> {
        let found = self.secrets.of(NAME).await?.0.remove(KEY);
        if let Some(credential) = found {
            return Ok(credential.value);
        }
        let key = random_token().map_err(failed("make a key for", &self.directory))?;
        let credential = Credential {
            value: Secret::new(key),
            kind: CredentialType::ApiKey,
            username: None,
            set_at: wall_clock(),
            expires_at: None,
            refresh_token: None,
            origin: None,
        };
        self.secrets.put(NAME, vec![(KEY.to_owned(), credential.clone())]).await?;
        Ok(credential.value)
    }
}

fn sealed(path: &Path, text: &[u8], key: &Secret) -> Result<Vec<u8>, StoreError> {
    let encrypt = failed("encrypt", path);
    let random = super::secrets::random().map_err(&encrypt)?;
    age::seal(text, key, age::OF_A_KEY, &random).ok_or_else(|| encrypt(io::Error::other("it failed")))
}

fn found(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    let read = failed("read", path);
    let kind = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        kind => kind.map_err(&read)?,
    };
    if !kind.is_file() || kind.len() > MAX {
        return Err(read(io::Error::new(io::ErrorKind::InvalidData, "its content is not in Harbor's form")));
    }
    fs::read(path).map(Some).map_err(read)
}

/// All files with words of conversations in them: damaged ones and summaries, too.
fn files(directory: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let mut files = Vec::new();
    for end in [".json", DAMAGED, SUMMARY] {
        let names = names(directory, end)?.into_iter();
        files.extend(names.map(|id| directory.join(format!("{id}{end}"))));
    }
    Ok(files)
}

/// The names in the directory that have this end, without the end.
fn names(directory: &Path, end: &str) -> Result<Vec<String>, StoreError> {
    let read = failed("read", directory);
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(&read)?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(&read)?.file_name();
        names.extend(name.to_str().and_then(|name| name.strip_suffix(end)).map(ToOwned::to_owned));
    }
    names.sort_unstable();
    Ok(names)
}

async fn off_the_loop<T: Send + 'static>(
    path: &Path,
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(failed("use", path)(io::Error::other(error))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SecretsConfig;

    #[tokio::test(flavor = "local")]
    async fn what_was_removed_stays_removed_whoever_still_writes_it() {
        let home = tempfile::tempdir().unwrap();
        let secrets = Secrets::at(&home.path().join("credentials.json"), SecretsConfig::default());
        let sessions = Sessions::at(home.path().join("sessions"), secrets);
        sessions.write("a", b"1".to_vec()).await.unwrap();
        assert_eq!(sessions.read("a").await.unwrap().as_deref(), Some(&b"1"[..]));
        sessions.keep_damaged("a").await.unwrap();
        sessions.write_summary("a", b"s".to_vec()).await.unwrap();
        assert_eq!(sessions.read_summary("a").await.unwrap().as_deref(), Some(&b"s"[..]));
        assert_eq!(sessions.ids().await.unwrap(), ["a"]);
        assert!(sessions.remove("a").await.unwrap() && !sessions.damaged("a").exists());
        sessions.write("a", b"2".to_vec()).await.unwrap();
        sessions.write_summary("a", b"s".to_vec()).await.unwrap();
        assert!(!sessions.summary("a").exists());
        assert_eq!((sessions.read("a").await.unwrap(), sessions.ids().await.unwrap().len()), (None, 0));
    }

    #[tokio::test(flavor = "local")]
    async fn what_a_killed_write_has_left_is_gone_at_the_next_start() {
        let home = tempfile::tempdir().unwrap();
        let secrets = Secrets::at(&home.path().join("credentials.json"), SecretsConfig::default());
        let directory = home.path().join("sessions");
        Sessions::at(directory.clone(), secrets.clone()).write("a", b"1".to_vec()).await.unwrap();
        let halves = ["a.new", "b.new"].map(|name| directory.join(name));
        for half in &halves {
            fs::write(half, "words").unwrap();
        }
        let sessions = Sessions::at(directory, secrets);
        assert!(halves.iter().all(|half| !half.exists()));
        assert_eq!(sessions.read("a").await.unwrap().as_deref(), Some(&b"1"[..]));
    }
}
