//! Why the file cannot be read, however much is unlocked.
//!
//! Owns the sentence about it. Must never ask for a key.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::super::StoreError;

/// The marks by which another file, or other content, is known.
pub(super) type SecretsFingerprint = Option<([u64; 3], u32, [i64; 4])>;

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

    /// True if the file must be checked: it has changed, or was not right.
    pub(super) fn is_due(&self, now: SecretsFingerprint) -> bool {
        let mut state = self.lock();
        state.seen.replace(now) != Some(now) || state.why.is_some()
    }
}
