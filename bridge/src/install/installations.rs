//! The state that all installations share.
//!
//! Owns the results that wait for a yes, and the right to change definitions. Must never know who is connected.

use std::rc::Rc;

use tokio::sync::Mutex;

use super::staged::Staged;
use crate::catalog::Catalog;
use crate::host::Host;
use crate::host::asker::Sender;
use crate::store::definition_table::Definitions;
use crate::supervisor::{StartListener, Supervisor};

/// The one who asks for an installation or an upgrade.
#[derive(Clone)]
pub struct InstallCaller {
    /// Its connection. Results wait for it alone.
    pub sender: Rc<Sender>,
    /// Hears each step, if it wants that.
    pub steps: Option<StartListener>,
}

impl InstallCaller {
    /// The number of its connection.
    pub(super) fn client(&self) -> u64 {
        self.sender.client
    }
}

/// Installations, and all other changes of which servers there are.
#[derive(Debug)]
pub struct Installations {
    pub(super) supervisor: Rc<Supervisor>,
    pub(super) host: Rc<Host>,
    pub(super) catalog: Rc<Catalog>,
    pub(super) definitions: Rc<Definitions>,
    /// Results that wait for a yes.
    pub(super) staged: Staged,
    /// Held from the last check of a definition until the change is stored and in force, so changes happen one after the other.
    pub(super) changing: Mutex<()>,
}

impl Installations {
    /// Installations into this supervisor.
    #[must_use]
    pub fn new(
        supervisor: Rc<Supervisor>,
        host: Rc<Host>,
        catalog: Rc<Catalog>,
        definitions: Rc<Definitions>,
    ) -> Rc<Self> {
        let (staged, changing) = (Staged::default(), Mutex::default());
        Rc::new(Self { supervisor, host, catalog, definitions, staged, changing })
    }

    /// A connection has gone, and with it the results that it has not said yes to.
    pub fn leave(&self, client: u64) {
        self.staged.forget(client);
    }
}
