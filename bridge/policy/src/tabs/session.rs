//! One session: its parts, and when it ends by itself.
//!
//! Owns how long a session lasts that nobody uses. Only `Tabs` moves a tab to another session.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use harbor_ipc_proto::secret::Secret;

use super::downloads::Downloads;
use super::events::Events;
use super::holder::Holder;
use super::lasting::{GRACE, IDLE};
use crate::lifecycle::Millis;
use crate::redaction::Redactor;

/// A session.
#[derive(Debug, Clone)]
pub struct Session {
    /// Its id.
    pub id: Arc<str>,
    /// Whose it is.
    pub holder: Holder,
    /// The name of its group.
    pub name: String,
    /// The colour of its group.
    pub colour: &'static str,
    /// Its tabs, in the order in which they came.
    pub(super) tabs: Vec<u64>,
    pub(super) current: Option<u64>,
    /// The events of the session.
    pub events: Events,
    /// The downloads of its tabs.
    pub downloads: Downloads,
    /// The person's answers about hosts for which they wanted to be asked.
    pub(super) said: BTreeMap<String, bool>,
    /// Secrets that were typed, by their names, and what finds them.
    pub(super) typed: Vec<(String, Secret)>,
    pub(super) hides: Arc<Redactor>,
    /// The connections that have called in it and are there.
    pub(super) connections: BTreeSet<u64>,
    /// The time when the last of its connections ended.
    pub(super) left: Option<Millis>,
    /// The time of the last call.
    pub(super) used: Millis,
    /// Calls that are open.
    pub(super) calls: u32,
}

impl Session {
    /// Its tabs.
    #[must_use]
    pub fn tabs(&self) -> &[u64] {
        &self.tabs
    }

    /// The tab that a call means which names none.
    #[must_use]
    pub fn current(&self) -> Option<u64> {
        self.current
    }

    /// The person's answer about a host. None if they were not asked.
    #[must_use]
    pub fn said(&self, host: &str) -> Option<bool> {
        self.said.get(host).copied()
    }

    /// The redactor for the secrets that were typed in it.
    #[must_use]
    pub fn hides(&self) -> Arc<Redactor> {
        self.hides.clone()
    }

    pub(super) fn hide(&mut self, name: &str, value: &Secret) {
        if self.typed.iter().any(|(known, other)| known == name && other == value) {
            return;
        }
        self.typed.push((name.to_owned(), value.clone()));
        let all = self.typed.iter().map(|(name, value)| (name.as_str(), value.expose()));
        self.hides = Arc::new(Redactor::new(all));
    }

    pub(super) fn ends_at(&self) -> Option<Millis> {
        if let Some(left) = self.left {
            return Some(left + GRACE);
        }
        (self.calls == 0).then_some(self.used + IDLE)
    }
}
