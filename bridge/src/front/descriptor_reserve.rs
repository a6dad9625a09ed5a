//! Descriptors that clients do not get. Some are for files that the bridge itself opens. Some are held back for the
//! owner, who can ask about the bridge, and end it, when all others are in use.
//!
//! Owns the latter, and how often the log hears of their lack. Must never keep them from a connection that is there.

use std::fs::File;
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

/// How many are held back: enough for a few connections, each of which has two.
const HELD: usize = 16;

/// Descriptors that one connection needs besides its own: its reader's, and its writer's while that waits.
const OF_ONE: usize = 3;

/// The share of the system's limit for files that the bridge opens besides clients' connections, with its bounds.
const SHARE: u64 = 8;
const SPARE: std::ops::RangeInclusive<u64> = 16..=64;

/// The shortest time between two log lines about their lack.
const TOLD: Duration = Duration::from_secs(60);

/// The descriptors.
#[derive(Debug, Default)]
pub(super) struct DescriptorReserve {
    held: Vec<File>,
    /// The first descriptor number that no client gets. The kernel gives the lowest free number.
    end: RawFd,
    told: Option<Instant>,
    /// Connections that found no room since the log was told.
    crowded: u64,
}

impl DescriptorReserve {
    /// The reserve of a process that may have `limit` open files.
    pub(super) fn of(limit: u64) -> Self {
        let spare = (limit / SHARE).clamp(*SPARE.start(), *SPARE.end());
        let end = RawFd::try_from(limit.saturating_sub(spare)).unwrap_or(RawFd::MAX);
        Self { end, ..Self::default() }
    }

    /// True if no client gets this number.
    pub(super) fn is_past(&self, descriptor: RawFd) -> bool {
        descriptor >= self.end
    }

    /// Holds back as many as it should, if there are enough; true if it does.
    pub(super) fn fill(&mut self) -> bool {
        while self.held.len() < HELD {
            let one = match self.held.first() {
                Some(held) => held.try_clone(),
                None => File::open("/dev/null"),
            };
            match one {
                Ok(one) => self.held.push(one),
                Err(_) => return false,
            }
        }
        true
    }

    /// Releases the descriptors for one connection; false if there were too few.
    pub(super) fn give(&mut self) -> bool {
        let left = self.held.len().checked_sub(OF_ONE);
        self.held.truncate(left.unwrap_or_default());
        left.is_some()
    }

    /// Counts a connection that found no room. Returns the count if it should be logged.
    pub(super) fn note(&mut self, now: Instant) -> Option<u64> {
        self.crowded += 1;
        if self.told.is_some_and(|told| now.duration_since(told) < TOLD) {
            return None;
        }
        self.told = Some(now);
        Some(std::mem::take(&mut self.crowded))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_back_is_given_to_some_connections_and_held_again() {
        let mut room = DescriptorReserve::default();
        assert!(!room.give() && room.fill());
        assert_eq!((0..HELD).take_while(|_| room.give()).count(), HELD / OF_ONE);
        assert!(room.fill() && room.held.len() == HELD);
    }

    #[test]
    fn the_last_of_them_are_no_clients() {
        let ends = [64, 160, 1024, u64::MAX].map(|limit| DescriptorReserve::of(limit).end);
        assert_eq!(ends, [48, 140, 960, RawFd::MAX]);
        assert!(DescriptorReserve::of(160).is_past(140) && !DescriptorReserve::of(160).is_past(139));
    }

    #[test]
    fn the_log_is_told_once_a_minute_of_how_many() {
        let (mut room, began) = (DescriptorReserve::default(), Instant::now());
        let told: Vec<_> = [0, 1, 59, 60, 61, 125].map(|s| room.note(began + Duration::from_secs(s))).into();
        assert_eq!(told, [Some(1), None, None, Some(3), None, Some(2)]);
    }
}
