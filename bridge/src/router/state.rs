//! The router: everything that handlers work with.
//!
//! Owns the rooms below, and the clients. Must never answer anything itself.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use harbor_ipc_proto::client::envelope::ErrorBody;
use tokio::sync::Notify;

use super::client::Client;
use super::clients::Clients;
use super::flows::Flows;
use super::refusals::denied;
use crate::agent::Agent;
use crate::browser::Browsers;
use crate::catalog::Catalog;
use crate::engines::Engines;
use crate::host::Host;
use crate::install::Installations;
use crate::models::Models;
use crate::pages::Pages;
use crate::scripts::Scripts;
use crate::store::audit::AuditRecord;
use crate::supervisor::Supervisor;

/// The router, with everything that handlers work with.
#[derive(Debug)]
pub struct Router {
    pub(super) supervisor: Rc<Supervisor>,
    pub(super) host: Rc<Host>,
    /// The servers that can be installed.
    pub catalog: Rc<Catalog>,
    /// The person's language models.
    pub models: Rc<Models>,
    /// The programs on this machine that run models.
    pub(super) engines: Rc<Engines>,
    /// The sessions in which models use tools.
    pub agent: Rc<Agent>,
    pub(super) browsers: Rc<Browsers>,
    pub(super) pages: Pages,
    pub(super) scripts: Rc<Scripts>,
    pub(super) installs: Rc<Installations>,
    /// Authorizations that wait for the person.
    pub(super) flows: Flows,
    /// The connected clients.
    pub clients: Clients,
    pub(super) began: Instant,
    /// Set off when a client asks for the bridge's end.
    pub shutdown: Notify,
    pub(super) draining: Cell<bool>,
}

impl Router {
    /// A router to these servers.
    #[must_use]
    pub fn new(
        supervisor: Rc<Supervisor>,
        host: Rc<Host>,
        catalog: Rc<Catalog>,
        (models, engines): (Rc<Models>, Rc<Engines>),
        (agent, scripts): (Rc<Agent>, Rc<Scripts>),
        installs: Rc<Installations>,
    ) -> Rc<Self> {
        Rc::new(Self {
            browsers: Browsers::new(host.clone(), supervisor.secrets().clone()),
            pages: Pages::new(supervisor.clone()),
            supervisor,
            host,
            catalog,
            models,
            engines,
            agent,
            scripts,
            installs,
            flows: Flows::default(),
            clients: Clients::default(),
            began: Instant::now(),
            shutdown: Notify::new(),
            draining: Cell::new(false),
        })
    }

    /// True if records of the audit log are only in this process, since the disk refuses them.
    #[must_use]
    pub fn has_unwritten(&self) -> bool {
        self.host.trail.health().0
    }

    /// Refuses all requests from now on, since the bridge is going. No more refusals of origins will be
    /// counted, so the counts are written down.
    pub fn drain(&self) {
        self.draining.set(true);
        self.host.trail.write_counted();
    }

    /// Refuses a message that is not for this client, and writes that down.
    pub(super) async fn deny(&self, client: &Client, tag: &'static str) -> ErrorBody {
        let error = denied(tag);
        let code = Some(error.code.as_str());
        let record = AuditRecord { message: Some(tag), code, ..AuditRecord::default() };
        self.host.trail.refused(&client.sender(), None, record).await;
        error
    }
}
