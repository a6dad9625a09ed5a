//! The wait of a list of tools for servers that nobody has seen.
//!
//! Must never wait for longer than a client does.

use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::server_id::ServerId;

use super::Host;
use crate::supervisor::Server;

/// How long a list waits for them.
const WAIT: Duration = Duration::from_secs(10);

impl Host {
    /// Starts the servers of `is_meant` that have never listed their tools, and waits for them, within a
    /// bound.
    pub(super) async fn wake_unseen(&self, is_meant: impl Fn(&ServerId) -> bool) {
        let is_unseen = |server: &Rc<Server>| {
            server.wakes_on_demand()
                && !self.suspended.has(&server.id().into())
                && self.registry.known(&**server).is_none()
        };
        let all = self.supervisor.all().into_iter();
        all.filter(|server| is_meant(server.id()) && is_unseen(server))
            .for_each(|server| self.waking.start(server));
        let mut open = self.waking.open.subscribe();
        let _ = tokio::time::timeout(WAIT, open.wait_for(|open| *open == 0)).await;
    }
}
