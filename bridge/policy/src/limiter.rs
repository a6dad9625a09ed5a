//! Decides which call runs now, which waits, and which is refused.
//!
//! ```text
//!              per minute        per minute         at once, per origin
//!  request ──► of the origin ──► of the server ──► held < concurrent, nobody waits ─► Admitted ───────────┐
//!                   │ no token        │ no token     │ no                                   ▲            │
//!                   ▼                 ▼              ▼                                      │ its turn   ▼
//!       TooManyPerMinute   ServerTooManyPerMinute   waiting < queue ───────────────────► Queued ──────► finish
//!                                                    │ full                                 │ displaced
//!                                                    ▼                                      ▼
//!                            a lane with two more waits: its newest is displaced     refused after all
//!                                                    │ there is none
//!                                                    ▼
//!                                               TooManyAtOnce
//! ```
//!
//! Owns the places of each origin, its queue, and the token buckets of origins and servers. Lanes of an origin take turns, so
//! that one that fills the queue neither delays nor shuts out the others. A call that is admitted or queued takes a token; one
//! that is refused at once takes none. Must never give a place to a call that has ended. Must never take a place back twice: a
//! ticket counts until its first `finish`.
//!
//! Time is an argument, in milliseconds of any clock. A clock that jumps back or far ahead costs nobody more than a bucket can
//! hold.

mod bucket;
mod call_limits;
mod entries;
mod places;
mod queue;
mod ticket;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::lifecycle::Millis;
pub(crate) use bucket::Bucket;
pub use call_limits::CallLimits;
use entries::{Entries, ForgettableEntry};
use places::{OriginSlots, SlotRoute};
pub use ticket::CallTicket;

/// The decision about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It has a place.
    Admitted(CallTicket),
    /// It waits for one.
    Queued {
        /// The call's ticket. A later [`Limiter::finish`] of another call admits it.
        ticket: CallTicket,
        /// The time at which the caller must give it up, by `finish`.
        deadline: Millis,
        /// The call that had to leave the queue for it. Refuse that call as [`Refusal::TooManyAtOnce`].
        displaced: Option<CallTicket>,
    },
    /// It may not.
    Refused(LimitRefusalReason),
}

/// The reason why a call may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitRefusalReason {
    /// Its origin has made too many.
    TooManyPerMinute {
        /// The time until there is a token again, if no other call takes it. With a limit of 0 it is a minute.
        retry_after_ms: u64,
    },
    /// Its server has had too many.
    ServerTooManyPerMinute {
        /// As above.
        retry_after_ms: u64,
    },
    /// Its origin has too many calls under way, and no more may wait.
    TooManyAtOnce,
}

/// All origins and servers.
#[derive(Debug, Default)]
pub struct Limiter {
    origins: Entries<OriginState>,
    servers: Entries<Bucket>,
    calls: BTreeMap<CallTicket, LimitedCall>,
    last_ticket: u64,
}

/// A ticket that is good.
#[derive(Debug)]
struct LimitedCall {
    origin: Arc<str>,
    /// The lane in which it waits. None once it is admitted.
    waits_in: Option<u64>,
}

#[derive(Debug, Default)]
struct OriginState {
    bucket: Option<Bucket>,
    places: OriginSlots,
}

impl Limiter {
    /// Decides about one call to `server`. `lane` is a tab or a connection of `origin`; lanes take turns in the queue.
    ///
    /// Changed limits hold from now on. A call with a place keeps it, and the next [`Self::finish`] admits
    /// waiting calls if there is room.
    #[must_use]
    pub fn request(
        &mut self,
        origin: &str,
        lane: u64,
        server: &str,
        limits: &CallLimits,
        server_per_minute: Option<u32>,
        now: Millis,
    ) -> Decision {
        let (key, state) = self.origins.entry(origin, now);
        state.places.concurrent = limits.concurrent;
        let of_origin = limits.per_minute.map(|rate| refilled(&mut state.bucket, rate, now));
        if let Some(retry_after_ms) = of_origin.as_ref().and_then(|bucket| bucket.missing()) {
            return Decision::Refused(LimitRefusalReason::TooManyPerMinute { retry_after_ms });
        }
        let of_server = server_per_minute.map(|rate| {
            let bucket = self.servers.entry(server, now).1;
            bucket.refill(rate, now);
            bucket
        });
        if let Some(retry_after_ms) = of_server.as_ref().and_then(|bucket| bucket.missing()) {
            return Decision::Refused(LimitRefusalReason::ServerTooManyPerMinute { retry_after_ms });
        }
        let Some(way) = state.places.way(lane, limits) else {
            return Decision::Refused(LimitRefusalReason::TooManyAtOnce);
        };
        for bucket in [of_origin, of_server].into_iter().flatten() {
            bucket.take();
        }
        self.last_ticket = self.last_ticket.wrapping_add(1);
        let ticket = CallTicket(self.last_ticket);
        let waits_in = state.places.enter(&way, lane, ticket);
        self.calls.insert(ticket, LimitedCall { origin: key, waits_in });
        match way {
            SlotRoute::Place => Decision::Admitted(ticket),
            SlotRoute::Queue { displacing: displaced } => {
                displaced.and_then(|displaced| self.calls.remove(&displaced));
                let deadline = now.saturating_add(limits.queue_wait_ms);
                Decision::Queued { ticket, deadline, displaced }
            }
        }
    }

    /// A call is over, whether it had a place or still waited for one. Returns the calls that are admitted by it, in
    /// the order of their turns. A ticket that was displaced, or has finished before, changes nothing.
    #[must_use = "who was admitted has to be told"]
    pub fn finish(&mut self, ticket: CallTicket) -> Vec<CallTicket> {
        let Some(call) = self.calls.remove(&ticket) else { return Vec::new() };
        let Some(state) = self.origins.get_mut(&call.origin) else { return Vec::new() };
        state.places.leave(call.waits_in, ticket);
        let admitted: Vec<_> = std::iter::from_fn(|| state.places.admit_next()).collect();
        for ticket in &admitted {
            if let Some(call) = self.calls.get_mut(ticket) {
                call.waits_in = None;
            }
        }
        admitted
    }

    /// Calls of an origin that have a place.
    #[must_use]
    pub fn held(&self, origin: &str) -> u32 {
        self.origins.get(origin).map_or(0, |state| state.places.held)
    }

    /// Calls of an origin that wait for one.
    #[must_use]
    pub fn waiting(&self, origin: &str) -> u32 {
        self.origins.get(origin).map_or(0, |state| state.places.waiting())
    }

    /// Forgets who has nothing under way and all tokens. Without it that is done whenever there are very many.
    pub fn purge(&mut self, now: Millis) {
        self.origins.purge(now);
        self.servers.purge(now);
    }
}

impl ForgettableEntry for OriginState {
    fn new(_now: Millis) -> Self {
        Self::default()
    }

    fn idle_since(&self) -> Option<Millis> {
        let idle = self.places.held == 0 && self.places.waiting() == 0;
        idle.then(|| self.bucket.as_ref().and_then(ForgettableEntry::idle_since).unwrap_or(0))
    }

    fn is_as_new(&mut self, now: Millis) -> bool {
        let full = self.bucket.as_mut().is_none_or(|bucket| bucket.is_as_new(now));
        full && self.idle_since().is_some()
    }
}

fn refilled(bucket: &mut Option<Bucket>, per_minute: u32, now: Millis) -> &mut Bucket {
    let bucket = bucket.get_or_insert_with(|| Bucket::new(now));
    bucket.refill(per_minute, now);
    bucket
}

#[cfg(test)]
mod tests;
