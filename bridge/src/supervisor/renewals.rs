//! Turns at renewing grants, and grants that were renewed and are not stored yet.
//!
//! Owns that each server's grant is renewed by one at a time, also when the server was edited or started anew meanwhile: a refresh
//! token that is used twice is the end of a login.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use harbor_ipc_proto::link::oauth::Grant;
use harbor_ipc_proto::server_id::ServerId;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// Those of all servers.
#[derive(Debug, Default)]
pub(super) struct Renewals {
    turns: RefCell<HashMap<ServerId, Arc<Mutex<()>>>>,
    unstored: RefCell<HashMap<ServerId, Grant>>,
}

impl Renewals {
    /// Waits for the turn at a server's grant; until it is dropped nobody else renews it.
    pub(super) async fn turn(&self, id: &ServerId) -> OwnedMutexGuard<()> {
        let turn = {
            let mut turns = self.turns.borrow_mut();
            turns.retain(|_, turn| Arc::strong_count(turn) > 1);
            turns.entry(id.clone()).or_default().clone()
        };
        turn.lock_owned().await
    }

    /// Waits until none is under way, for so long.
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

    /// What was renewed and is not stored.
    pub(super) fn unstored(&self, id: &ServerId) -> Option<Grant> {
        self.unstored.borrow().get(id).cloned()
    }

    /// It was renewed, and is to be stored.
    pub(super) fn keep(&self, id: &ServerId, grant: Grant) {
        self.unstored.borrow_mut().insert(id.clone(), grant);
    }

    /// It is stored.
    pub(super) fn stored(&self, id: &ServerId) {
        self.unstored.borrow_mut().remove(id);
    }
}
