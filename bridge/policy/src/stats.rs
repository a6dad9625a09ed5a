//! Counters without payloads: which calls there were, how often, how long they took, and how they were decided.
//!
//! Owns the counts and the bound on the number of names with counts of their own. Must never hold an argument or a result. Must
//! never grow with names that a caller makes up: a name that finds no room is counted under [`OTHERS`].

mod counters;
mod histogram;

use std::collections::BTreeMap;

pub use counters::{Counters, FinishedCall};
pub use histogram::Histogram;

/// The name for calls without counters of their own, also of tools that do not exist: a caller could make up any name.
pub const OTHERS: &str = "(others)";

/// Origins with counters of their own.
pub const MAX_ORIGINS: usize = 1000;

/// Servers with counters of their own.
pub const MAX_SERVERS: usize = 1000;

/// Tools with counters of their own, of all servers; beyond them each server has one for the others.
pub const MAX_TOOLS: usize = 10_000;

type ByName<V> = BTreeMap<Box<str>, V>;

/// Since the bridge began.
#[derive(Debug, Default)]
pub struct Stats {
    total: Counters,
    origins: ByName<Counters>,
    servers: ByName<Server>,
    /// The number of tools in `servers`, without the others.
    tools: usize,
    decisions: ByName<BTreeMap<(&'static str, &'static str), u64>>,
}

#[derive(Debug, Default)]
struct Server {
    all: Counters,
    tools: ByName<Counters>,
}

impl Stats {
    /// Counts a call that is over, for all, its origin, its server and its tool.
    pub fn note(&mut self, call: &FinishedCall<'_>) {
        self.total.note(call);
        note_in(&mut self.origins, call.origin, MAX_ORIGINS, |origin| origin.note(call));
        let tools = &mut self.tools;
        note_in(&mut self.servers, call.server, MAX_SERVERS, |server| {
            server.all.note(call);
            // One more may come, wherever it is.
            let most = server.tools.len().saturating_add(MAX_TOOLS.saturating_sub(*tools));
            let before = server.tools.len();
            note_in(&mut server.tools, call.tool, most, |tool| tool.note(call));
            *tools = tools.saturating_add(server.tools.len().saturating_sub(before)).min(MAX_TOOLS);
        });
    }

    /// Counts a decision about a permission.
    pub fn note_decision(&mut self, origin: &str, scope: &'static str, decision: &'static str) {
        note_in(&mut self.decisions, origin, MAX_ORIGINS, |of_origin| {
            let count = of_origin.entry((scope, decision)).or_default();
            *count = count.saturating_add(1);
        });
    }

    /// The counters of all calls.
    #[must_use]
    pub fn total(&self) -> &Counters {
        &self.total
    }

    /// The counters of one origin, if it has its own.
    #[must_use]
    pub fn origin(&self, origin: &str) -> Option<&Counters> {
        self.origins.get(origin)
    }

    /// The counters of each origin, by name.
    pub fn origins(&self) -> impl Iterator<Item = (&str, &Counters)> {
        self.origins.iter().map(|(name, counters)| (&**name, counters))
    }

    /// The counters of one server, by name.
    pub fn server(&self, name: &str) -> Option<&Counters> {
        self.servers.get(name).map(|server| &server.all)
    }

    /// The counters of each server, by name.
    pub fn servers(&self) -> impl Iterator<Item = (&str, &Counters)> {
        self.servers.iter().map(|(name, server)| (&**name, &server.all))
    }

    /// The counters of each tool, by the names of its server and its own.
    pub fn tools(&self) -> impl Iterator<Item = (&str, &str, &Counters)> {
        self.servers.iter().flat_map(|(name, server)| {
            server.tools.iter().map(|(tool, counters)| (&**name, &**tool, counters))
        })
    }

    /// The numbers of decisions: origin, scope, decision and number, in this order.
    pub fn decisions(&self) -> impl Iterator<Item = (&str, &'static str, &'static str, u64)> {
        self.decisions.iter().flat_map(|(origin, counts)| {
            counts.iter().map(|((scope, decision), count)| (&**origin, *scope, *decision, *count))
        })
    }
}

/// Notes something under a name, or under [`OTHERS`] when there are `most` other names already. Copies a name only
/// when it is new.
fn note_in<V: Default>(names: &mut ByName<V>, name: &str, most: usize, note: impl FnOnce(&mut V)) {
    if let Some(known) = names.get_mut(name) {
        return note(known);
    }
    if names.len() >= most && name != OTHERS {
        return note_in(names, OTHERS, most, note);
    }
    note(names.entry(name.into()).or_default());
}

#[cfg(test)]
mod tests;
