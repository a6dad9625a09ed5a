//! Why the file cannot be read, however much is unlocked, and how that is found out while nobody needs it.
//!
//! Owns the sentence about it. Must never ask for a key.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use harbor_policy::secret_store::StoreProtection;

use super::{Secrets, StoreError, file};

/// The marks by which another file, or other content, is known.
type SecretsFingerprint = Option<([u64; 3], u32, [i64; 4])>;

/// The fault of the file, if it has one.
#[derive(Debug, Default)]
pub(super) struct SecretsTrouble(Mutex<SecretsTroubleState>);

#[derive(Debug, Default)]
struct SecretsTroubleState {
    why: Option<String>,
    seen: Option<SecretsFingerprint>,
}

impl SecretsTrouble {
    fn lock(&self) -> MutexGuard<'_, SecretsTroubleState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn why(&self) -> Option<String> {
        self.lock().why.clone()
    }

    /// Notes how reading it ended. True if it can be read again.
    pub(super) fn note<T>(&self, read: &Result<T, StoreError>) -> bool {
        let why = match read {
            Ok(_) | Err(StoreError::Locked(_)) => None,
            Err(error) => Some(format!("could not {error}")),
        };
        let mut state = self.lock();
        let is_well_again = why.is_none() && state.why.is_some();
        state.why = why;
        is_well_again
    }

    /// True if the file is to be looked at: it is another one than it was, or was not right.
    fn is_due(&self, now: SecretsFingerprint) -> bool {
        let mut state = self.lock();
        state.seen.replace(now) != Some(now) || state.why.is_some()
    }
}

impl Secrets {
    /// Checks that the secrets can be read, where something has changed, and notes which servers have some. For a thread that may
    /// wait for the disk.
    pub fn look(&self) {
        if !self.trouble.is_due(look(&self.path)) {
            return;
        }
        let _turn = self.turn();
        let checked = file::check(&self.path);
        if checked.is_ok() && self.keys.is_open() {
            // Whether its key opens it is noted by this.
            self.drop_now();
            return;
        }
        if self.trouble.note(&checked) {
            self.unlocked.notify_one();
        }
        if let Ok((StoreProtection::Plain, _)) = self.load()
            && let Ok(read) = self.read()
        {
            self.drop_now();
            let names = read.all.keys().cloned().collect();
            if let Err(error) = self.note_names(&names) {
                tracing::warn!(%error, "whose secrets there are could not be noted");
            }
        }
    }
}

fn look(path: &Path) -> SecretsFingerprint {
    let about = path.symlink_metadata().ok()?;
    let times = [about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec()];
    Some(([about.dev(), about.ino(), about.size()], about.mode(), times))
}
