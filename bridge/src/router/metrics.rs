//! `get_metrics`, and the same text for programs that scrape it over HTTP.
//!
//! Owns how old the numbers may be. Must never add to what `status` has.

use std::net::SocketAddr;
use std::rc::Rc;

use harbor_ipc_proto::client::GetMetricsResult;

use super::reply::{Handled, reply};
use super::state::Router;
use super::status::{MAX_AGE, PATIENCE, presence};
use crate::host::{Dialect, Exporting};

pub(super) async fn get(router: &Rc<Router>) -> Handled {
    reply(GetMetricsResult { text: router.metrics(Dialect::OpenMetrics).await })
}

impl Router {
    /// Notes the address at which metrics are served, or the reason why they are not.
    pub fn note_metrics(&self, at: Option<SocketAddr>, refused: Option<String>) {
        *self.host.exporting.borrow_mut() = Exporting { at, refused };
        self.clients.all().iter().for_each(|client| client.note_bridge());
    }

    /// All metrics. The numbers about processes are a few seconds old at most.
    pub async fn metrics(&self, dialect: Dialect) -> String {
        // If the machine is too slow for it, the numbers include the age of the measurement.
        let _ = tokio::time::timeout(PATIENCE, self.host.measure(MAX_AGE)).await;
        self.host.metrics(
            presence(self),
            self.catalog.status(),
            self.models.status(),
            self.agent.status(),
            dialect,
        )
    }
}
