//! Turns at renewing logins, and logins that were renewed and are not stored yet.
//!
//! Owns that each server's login is renewed by one at a time, also when the server was edited or started anew meanwhile: a
//! refresh token that is used twice ends the login.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use harbor_ipc_proto::link::oauth::Grant;
use harbor_ipc_proto::server_id::ServerId;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// The renewals of all servers.
#[derive(Debug, Default)]
pub(super) struct Renewals {
    turns: RefCell<HashMap<ServerId, Arc<Mutex<()>>>>,
    unstored: RefCell<HashMap<ServerId, Grant>>,
    /// The servers for whose login a task tries again.
    trying: RefCell<HashSet<ServerId>>,
}

impl Renewals {
    /// Waits for the turn at a server's login. Until the turn is dropped, nobody else renews the login.
    pub(super) async fn turn(&self, id: &ServerId) -> OwnedMutexGuard<()> {
        let turn = {
            let mut turns = self.turns.borrow_mut();
            turns.retain(|_, turn| Arc::strong_count(turn) > 1);
            turns.entry(id.clone()).or_default().clone()
        };
        turn.lock_owned().await
    }

    /// Waits until no renewal is under way, at most this long.
    pub(super) async fn settled(&self, limit: Duration) {
        let turns: Vec<_> = self.turns.borrow().values().cloned().collect();
        let all = async {
            for turn in turns {
                drop(turn.lock().await);
            }
        };
        // What takes longer is given up.
        let _ = tokio::time::timeout(limit, all).await;
    }

    /// The login that was renewed and is not stored.
    pub(super) fn unstored(&self, id: &ServerId) -> Option<Grant> {
        self.unstored.borrow().get(id).cloned()
    }

    /// The servers whose renewed logins are not stored, in the order of their names.
    pub(super) fn all_unstored(&self) -> Vec<ServerId> {
        let mut all: Vec<_> = self.unstored.borrow().keys().cloned().collect();
        all.sort();
        all
    }

    /// A task begins to try again; false if one does already.
    pub(super) fn begin_trying(&self, id: &ServerId) -> bool {
        self.trying.borrow_mut().insert(id.clone())
    }

    /// The task has ended.
    pub(super) fn end_trying(&self, id: &ServerId) {
        self.trying.borrow_mut().remove(id);
    }

    /// Keeps a renewed login that must be stored.
    pub(super) fn keep(&self, id: &ServerId, grant: Grant) {
        self.unstored.borrow_mut().insert(id.clone(), grant);
    }

    /// Forgets a login that is stored.
    pub(super) fn stored(&self, id: &ServerId) {
        self.unstored.borrow_mut().remove(id);
    }
}
