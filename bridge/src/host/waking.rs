//! Starts for the lists of AI clients: servers whose tools nobody has seen yet. Nobody can call what is not listed.
//!
//! ```text
//!  tools/list ─► its tools are not known, a call would start it, the client may use some ─► started, a few at a time ─► listed
//!                                                                                              │ not within the wait
//!                                                                                              └─► told by list_changed
//! ```
//!
//! Owns which servers were tried: each once in this bridge's life, so that no list starts a failed one again. Must never
//! start a server that a call would not start.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use harbor_ipc_proto::server_id::ServerId;
use tokio::sync::{Semaphore, watch};

use crate::supervisor::Server;

/// How many are started at once.
const AT_ONCE: usize = 4;

/// Starts that lists have asked for.
#[derive(Debug)]
pub(super) struct Waking {
    tried: RefCell<BTreeSet<ServerId>>,
    turns: Semaphore,
    /// How many starts are under way.
    pub(super) open: watch::Sender<usize>,
}

impl Default for Waking {
    fn default() -> Self {
        Self { tried: RefCell::default(), turns: Semaphore::new(AT_ONCE), open: watch::Sender::new(0) }
    }
}

impl Waking {
    /// Starts a server, once.
    pub(super) fn start(self: &Rc<Self>, server: Rc<Server>) {
        if !self.tried.borrow_mut().insert(server.id().clone()) {
            return;
        }
        let waking = self.clone();
        self.open.send_modify(|open| *open += 1);
        tokio::task::spawn_local(async move {
            let turn = waking.turns.acquire().await;
            // A call may have been faster, or the person has stopped the server.
            if server.wakes_on_demand() {
                // A server that fails says so itself: its state and its
                // log have the reason.
                let _ = server.start(None).await;
            }
            drop(turn);
            waking.open.send_modify(|open| *open -= 1);
        });
    }
}
