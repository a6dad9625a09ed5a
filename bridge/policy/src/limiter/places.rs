//! The places of one origin, and the queue in front of them.
//!
//! Owns the number of calls at once. Must never give more places than there are. While places are bounded, must never give one to
//! a call ahead of those that wait.

use super::call_limits::CallLimits;
use super::queue::Queue;
use super::ticket::CallTicket;

#[derive(Debug, Default)]
pub(super) struct OriginSlots {
    /// The number of places by the latest request; 0 means no bound.
    pub(super) concurrent: u32,
    pub(super) held: u32,
    queue: Queue,
}

/// The way in for a call.
pub(super) enum SlotRoute {
    Place,
    Queue { displacing: Option<CallTicket> },
}

impl OriginSlots {
    /// The way for one more call of this lane: a place, or the queue. None if it may not wait. Any call that
    /// had to make room for it has then left the queue.
    pub(super) fn way(&mut self, lane: u64, limits: &CallLimits) -> Option<SlotRoute> {
        if limits.concurrent == 0 || (self.held < limits.concurrent && self.queue.len() == 0) {
            return Some(SlotRoute::Place);
        }
        if limits.queue == 0 || limits.queue_wait_ms == 0 {
            return None;
        }
        if self.queue.len() < limits.queue {
            return Some(SlotRoute::Queue { displacing: None });
        }
        // A queue that is longer than it may be now becomes no longer by this.
        self.queue.displace_for(lane).map(|displaced| SlotRoute::Queue { displacing: Some(displaced) })
    }

    /// Takes the call in; the lane in which it waits, if it does.
    pub(super) fn enter(&mut self, way: &SlotRoute, lane: u64, ticket: CallTicket) -> Option<u64> {
        if let SlotRoute::Place = way {
            self.held = self.held.saturating_add(1);
            return None;
        }
        self.queue.push(lane, ticket);
        Some(lane)
    }

    /// Gives a place to the call whose turn it is, if there is one.
    pub(super) fn admit_next(&mut self) -> Option<CallTicket> {
        if self.concurrent != 0 && self.held >= self.concurrent {
            return None;
        }
        let next = self.queue.pop()?;
        self.held = self.held.saturating_add(1);
        Some(next)
    }

    /// Takes the call out, of its lane or of its place.
    pub(super) fn leave(&mut self, waits_in: Option<u64>, ticket: CallTicket) {
        match waits_in {
            None => self.held = self.held.saturating_sub(1),
            Some(lane) => self.queue.remove(lane, ticket),
        }
    }

    pub(super) fn waiting(&self) -> u32 {
        self.queue.len()
    }
}
