//! The calls of one origin that wait, lane by lane.
//!
//! Owns the order of turns. Must never let a lane have two turns while another waits for its first.

use std::collections::VecDeque;

use super::ticket::CallTicket;

/// Lanes in the order of their turns. No lane is empty.
#[derive(Debug, Default)]
pub(super) struct Queue {
    lanes: VecDeque<Lane>,
    len: u32,
}

#[derive(Debug)]
struct Lane {
    id: u64,
    calls: VecDeque<CallTicket>,
}

impl Queue {
    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// Adds a call at the end of its lane. A lane without calls comes after all others.
    pub(super) fn push(&mut self, lane: u64, ticket: CallTicket) {
        self.len = self.len.saturating_add(1);
        match self.lanes.iter_mut().find(|known| known.id == lane) {
            Some(known) => known.calls.push_back(ticket),
            None => self.lanes.push_back(Lane { id: lane, calls: VecDeque::from([ticket]) }),
        }
    }

    /// The oldest call of the lane whose turn it is.
    pub(super) fn pop(&mut self) -> Option<CallTicket> {
        let mut lane = self.lanes.pop_front()?;
        let ticket = lane.calls.pop_front()?;
        self.len = self.len.saturating_sub(1);
        if !lane.calls.is_empty() {
            self.lanes.push_back(lane);
        }
        Some(ticket)
    }

    /// Takes out a call that waits.
    pub(super) fn remove(&mut self, lane: u64, ticket: CallTicket) {
        let Some(at) = self.lanes.iter().position(|known| known.id == lane) else { return };
        self.edit(at, |calls| calls.retain(|waiting| *waiting != ticket));
    }

    /// Takes out the newest call of the longest lane, if that lane has at least two more than `lane`: it stays at
    /// least as long as `lane` becomes.
    pub(super) fn displace_for(&mut self, lane: u64) -> Option<CallTicket> {
        let length_of = |wanted: &Lane| if wanted.id == lane { wanted.calls.len() } else { 0 };
        let own: usize = self.lanes.iter().map(length_of).sum();
        let (at, longest) = self.lanes.iter().enumerate().max_by_key(|(_, lane)| lane.calls.len())?;
        if longest.calls.len() < own.saturating_add(2) {
            return None;
        }
        self.edit(at, VecDeque::pop_back)
    }

    /// Changes a lane, keeps the length, and lets go of a lane that became empty.
    fn edit<R: Default>(&mut self, at: usize, change: impl FnOnce(&mut VecDeque<CallTicket>) -> R) -> R {
        let Some(lane) = self.lanes.get_mut(at) else { return R::default() };
        let before = lane.calls.len();
        let result = change(&mut lane.calls);
        let gone = before.saturating_sub(lane.calls.len());
        if lane.calls.is_empty() {
            self.lanes.remove(at);
        }
        self.len = self.len.saturating_sub(u32::try_from(gone).unwrap_or(u32::MAX));
        result
    }
}
