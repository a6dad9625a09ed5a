//! The news of the status that one subscriber has not heard yet, and the task that tells it.
//!
//! Owns what is noted of changes, and the end of the task. Must never know what is told.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use harbor_ipc_proto::server_id::ServerId;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

/// Follows the status for one client, until it is dropped.
#[derive(Debug)]
pub(super) struct Feed {
    news: Rc<PendingStatus>,
    task: AbortHandle,
}

/// The changes that a subscriber has not been told yet.
#[derive(Debug, Default)]
pub(super) struct PendingStatus {
    pub(super) servers: RefCell<BTreeSet<ServerId>>,
    pub(super) bridge: Cell<bool>,
    pub(super) catalog: Cell<bool>,
    pub(super) wake: Notify,
}

impl Feed {
    /// A task that reports `news` by `follow`. The task ends when this is dropped.
    pub(super) fn of(news: Rc<PendingStatus>, follow: impl Future<Output = ()> + 'static) -> Self {
        Self { news, task: tokio::task::spawn_local(follow).abort_handle() }
    }

    pub(super) fn note_change(&self, server: &ServerId) {
        self.news.servers.borrow_mut().insert(server.clone());
        self.news.wake.notify_one();
    }

    pub(super) fn note_bridge(&self) {
        self.news.bridge.set(true);
        self.news.wake.notify_one();
    }

    pub(super) fn note_catalog(&self) {
        self.news.catalog.set(true);
        self.news.wake.notify_one();
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.task.abort();
    }
}
