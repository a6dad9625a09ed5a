//! Runs: budgets of calls.
//!
//! ```text
//!  create ─► remaining ──reserve──► reserved ──settle, spent──► used
//!                ▲                      │
//!                └──settle, not spent───┘          used + reserved + remaining = max, at any time
//!
//!  end, end of the client, or long without use and nothing reserved: the run is gone, and settling is harmless
//! ```
//!
//! Owns each run's count and its owner. Must never reveal that somebody else's run exists. Must never settle a reservation twice:
//! settling takes it by value. Time is an argument, in milliseconds of any clock.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::lifecycle::Millis;

/// Runs that one connection may have for one origin.
pub const MAX_OF_ONE: usize = 64;

/// Runs that all connections together may have for one origin.
pub const MAX_OF_ORIGIN: usize = 512;

/// Runs of all.
pub const MAX_OF_ALL: usize = 4096;

/// Whom a run belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOwner {
    /// The connection's number.
    pub client: u64,
    /// The origin, in canonical form.
    pub origin: Arc<str>,
    /// The profile.
    pub profile: Arc<str>,
}

/// The facts about a run that its owner may know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunView {
    /// The budget.
    pub max_calls: u32,
    /// Calls that were sent and are over.
    pub used: u32,
    /// Calls under way.
    pub reserved: u32,
    /// Calls that are left.
    pub remaining: u32,
    /// The time of its creation, by the caller's clock.
    pub created_at: Millis,
    /// How long no call has begun or ended.
    pub idle_ms: u64,
}

/// There are as many runs as there may be, or one has this id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooMany;

/// The reason why a call gets nothing from a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetError {
    /// The owner has no such run.
    NoSuchRun,
    /// Nothing remains.
    Exceeded,
}

/// How many calls of a run may go to one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// The server.
    pub server: Arc<str>,
    /// The number of calls.
    pub most: u32,
}

/// One call of a budget, to be settled. Without that the run keeps it reserved until it ends.
#[derive(Debug)]
#[must_use = "a reservation is settled when its call is over"]
pub struct Reservation {
    id: Arc<str>,
    serial: u64,
    /// The server of whose share it is a part.
    server: Option<Arc<str>>,
}

/// All runs.
#[derive(Debug, Default)]
pub struct Runs {
    runs: HashMap<Arc<str>, Run>,
    last_serial: u64,
}

#[derive(Debug)]
struct Run {
    /// Tells the run from a later one with the same id.
    serial: u64,
    owner: RunOwner,
    max_calls: u32,
    used: u32,
    reserved: u32,
    /// Calls used and reserved of servers that have a share only.
    shares: BTreeMap<Arc<str>, u32>,
    created_at: Millis,
    touched_at: Millis,
}

impl Runs {
    /// A new run. `id` is the caller's, and random.
    ///
    /// # Errors
    /// When there are [`MAX_OF_ONE`] of this connection and origin or [`MAX_OF_ALL`], or the id is taken.
    pub fn create(
        &mut self,
        owner: RunOwner,
        max_calls: u32,
        id: String,
        now: Millis,
    ) -> Result<RunView, TooMany> {
        let of_origin = || self.runs.values().filter(|run| run.owner.origin == owner.origin);
        let beside = of_origin().filter(|run| run.owner.client == owner.client);
        if self.runs.len() >= MAX_OF_ALL
            || of_origin().count() >= MAX_OF_ORIGIN
            || beside.count() >= MAX_OF_ONE
            || self.runs.contains_key(&*id)
        {
            return Err(TooMany);
        }
        self.last_serial = self.last_serial.wrapping_add(1);
        let serial = self.last_serial;
        let run = Run {
            serial,
            owner,
            max_calls,
            used: 0,
            reserved: 0,
            shares: BTreeMap::new(),
            created_at: now,
            touched_at: now,
        };
        let view = run.view(now);
        self.runs.insert(id.into(), run);
        Ok(view)
    }

    /// The facts about a run of this owner.
    #[must_use]
    pub fn get(&self, id: &str, owner: &RunOwner, now: Millis) -> Option<RunView> {
        self.runs.get(id).filter(|run| run.owner == *owner).map(|run| run.view(now))
    }

    /// Ends a run of this owner, and returns its last state. Calls under way go on.
    pub fn end(&mut self, id: &str, owner: &RunOwner, now: Millis) -> Option<RunView> {
        let view = self.get(id, owner, now)?;
        self.runs.remove(id);
        Some(view)
    }

    /// Takes one call out of a budget, before it is sent; with a `share`, also out of what may go to that server.
    ///
    /// # Errors
    /// When this owner has no such run, or nothing remains of it.
    pub fn reserve(
        &mut self,
        id: &str,
        owner: &RunOwner,
        share: Option<Share>,
        now: Millis,
    ) -> Result<Reservation, BudgetError> {
        // The key is shared, so that a reservation costs no copy of it.
        let key = self.runs.get_key_value(id).map(|(key, _)| key.clone()).ok_or(BudgetError::NoSuchRun)?;
        let run = self.runs.get_mut(id).filter(|run| run.owner == *owner).ok_or(BudgetError::NoSuchRun)?;
        if run.remaining() == 0
            || share.as_ref().is_some_and(|share| run.of_server(&share.server) >= share.most)
        {
            return Err(BudgetError::Exceeded);
        }
        let server = share.map(|share| share.server);
        if let Some(server) = &server {
            let taken = run.shares.entry(server.clone()).or_default();
            *taken = taken.saturating_add(1);
        }
        run.reserved = run.reserved.saturating_add(1);
        run.touched_at = now;
        Ok(Reservation { id: key, serial: run.serial, server })
    }

    /// Settles a reservation after its call. If `spent`, the call was sent to the server; otherwise the budget gets it back.
    pub fn settle(&mut self, reservation: Reservation, spent: bool, now: Millis) {
        let run = self.runs.get_mut(&reservation.id).filter(|run| run.serial == reservation.serial);
        let Some(run) = run else { return };
        run.reserved = run.reserved.saturating_sub(1);
        run.used = run.used.saturating_add(u32::from(spent));
        if let Some(taken) = reservation.server.and_then(|server| run.shares.get_mut(&server)) {
            *taken = taken.saturating_sub(u32::from(!spent));
        }
        run.touched_at = now;
    }

    /// Ends all runs of a connection; how many.
    pub fn end_client(&mut self, client: u64) -> usize {
        self.keep(|run| run.owner.client != client)
    }

    /// Ends all runs that have been unused for this long and have nothing reserved. Returns their number.
    pub fn purge(&mut self, now: Millis, stale_ms: u64) -> usize {
        self.keep(|run| {
            // Else one that was used before the clock went back would stay until the clock is there again.
            run.touched_at = run.touched_at.min(now);
            run.reserved > 0 || run.idle_ms(now) < stale_ms
        })
    }

    fn keep(&mut self, mut wanted: impl FnMut(&mut Run) -> bool) -> usize {
        let before = self.runs.len();
        self.runs.retain(|_, run| wanted(run));
        before - self.runs.len()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// True if there are no runs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
}

impl Run {
    fn of_server(&self, server: &str) -> u32 {
        self.shares.get(server).copied().unwrap_or_default()
    }

    fn remaining(&self) -> u32 {
        self.max_calls.saturating_sub(self.used).saturating_sub(self.reserved)
    }

    fn idle_ms(&self, now: Millis) -> u64 {
        now.saturating_sub(self.touched_at)
    }

    fn view(&self, now: Millis) -> RunView {
        RunView {
            max_calls: self.max_calls,
            used: self.used,
            reserved: self.reserved,
            remaining: self.remaining(),
            created_at: self.created_at,
            idle_ms: self.idle_ms(now),
        }
    }
}

#[cfg(test)]
mod tests;
