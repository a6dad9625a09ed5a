//! The AI clients that have been here, so that each name is new once.
//!
//! Must never grant.

use std::cell::RefCell;
use std::collections::HashSet;

use tokio::sync::Mutex;

use crate::store::met_clients::MetClients;

/// Handles new names one at a time, so that two connections of one name count as one newcomer.
#[derive(Debug)]
pub(super) struct Newcomers {
    pub(super) met: Mutex<MetClients>,
    /// Names that the person took something from while the disk could not note it.
    pub(super) unnoted: RefCell<HashSet<String>>,
}

impl Newcomers {
    pub(super) fn new(met: MetClients) -> Self {
        Self { met: Mutex::new(met), unnoted: RefCell::default() }
    }
}
