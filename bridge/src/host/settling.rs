//! Refusals and revocations: they hold at once, and are on disk as soon as the disk takes them.
//!
//! ```text
//!  a DENY, a revocation ─► Grants ─► harbor.db ─ refused ─► unstored ─► with the next change, or 3 s later ─► harbor.db
//! ```
//!
//! Owns the tries. Must never give anything: what was allowed and is not on disk is not allowed.

use std::collections::BTreeSet;
use std::rc::Weak;
use std::time::Duration;

use harbor_ipc_proto::client::UnstoredView;
use harbor_policy::grants::{GrantType, Key};

use super::grant_forms::{about, stored_as};
use super::permissions::Permissions;
use crate::store::grants::{RowKey, StoredGrant};

/// The pause between two tries.
const RETRY: Duration = Duration::from_secs(3);

impl Permissions {
    /// Writes these keys to the disk as memory has them, and the keys that it refused before. True if the
    /// disk took them; otherwise they are tried again.
    pub(super) async fn settle(&self, keys: &[Key]) -> bool {
        let _writing = self.unstored.writing.lock().await;
        let before = self.unstored.keys.borrow().clone();
        let all: BTreeSet<_> = before.iter().chain(keys).cloned().collect();
        let rows = all.iter().flat_map(|key| self.rows_of(key)).collect();
        let settled = self.file.settle(all.iter().map(row_key).collect(), rows).await;
        match settled {
            Ok(()) => {
                self.unread.borrow_mut().retain(|key| !all.contains(key));
                self.unstored.keys.borrow_mut().clear();
                true
            }
            Err(error) => {
                tracing::error!(%error, "a revocation is not stored; it holds, and storing it is tried again");
                for key in keys.iter().filter(|key| !before.contains(key)) {
                    self.trail.noted("not_stored", about(key));
                }
                self.unstored.keys.borrow_mut().extend(keys.iter().cloned());
                if !keys.is_empty() {
                    self.unstored.wake.notify_one();
                }
                false
            }
        }
    }

    fn rows_of(&self, key: &Key) -> Vec<StoredGrant> {
        let grants = self.grants.borrow();
        let kept = grants.of(&key.origin, Some(&key.profile));
        let lasting = kept.filter(|(of, grant)| *of == key && grant.grant_type != GrantType::AllowOnce);
        lasting.map(|(key, grant)| stored_as(key, grant)).collect()
    }

    /// The refusals and revocations that hold until the bridge ends, and are not on disk.
    #[must_use]
    pub fn unstored(&self) -> Vec<UnstoredView> {
        let (keys, grants) = (self.unstored.keys.borrow(), self.grants.borrow());
        let change =
            |key: &Key| if grants.has(key, Some(GrantType::Deny), None) { "denied" } else { "revoked" };
        let shown = keys.iter().map(|key| UnstoredView {
            origin: key.origin.to_string(),
            profile: key.profile.to_string(),
            scope: key.scope.as_str().into(),
            change: change(key).into(),
        });
        shown.collect()
    }

    /// Tries the refused keys again; true if the disk has all now.
    pub async fn store_again(&self) -> bool {
        self.unstored.keys.borrow().is_empty() || self.settle(&[]).await
    }
}

fn row_key(key: &Key) -> RowKey {
    let (origin, profile) = (key.origin.to_string(), key.profile.to_string());
    RowKey { origin, profile, scope: key.scope.as_str().into() }
}

/// Tries again while keys are left.
pub(super) async fn keep_trying(permissions: Weak<Permissions>) {
    loop {
        let Some(now) = permissions.upgrade() else { return };
        let (wake, nothing) = (now.unstored.wake.clone(), now.unstored.keys.borrow().is_empty());
        drop(now);
        match nothing {
            true => wake.notified().await,
            false => drop(tokio::time::timeout(RETRY, wake.notified()).await),
        }
        let Some(now) = permissions.upgrade() else { return };
        now.store_again().await;
    }
}
