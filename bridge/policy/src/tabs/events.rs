//! The events of a session, for a client that asks which ones it missed.
//!
//! Owns the bound: the newest stay, and their numbers tell how many are gone.

use std::collections::VecDeque;

use crate::lifecycle::Millis;

/// How many are kept.
pub const MOST_EVENTS: usize = 200;

/// Something that has happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TabEvent {
    /// The time, in milliseconds since 1970.
    pub at: Millis,
    /// One word: what.
    pub what: String,
    /// The tab.
    pub tab: Option<u64>,
    /// An address.
    pub url: Option<String>,
    /// Anything else that there is to say.
    pub text: Option<String>,
}

/// The newest events.
#[derive(Debug, Clone, Default)]
pub struct Events {
    kept: VecDeque<TabEvent>,
    /// The number of the next one.
    next: u64,
}

impl Events {
    pub(super) fn add(&mut self, event: TabEvent) {
        if self.kept.len() == MOST_EVENTS {
            self.kept.pop_front();
        }
        self.kept.push_back(event);
        self.next += 1;
    }

    /// The events with numbers from `after` on, each with its number.
    pub fn since(&self, after: u64) -> impl Iterator<Item = (u64, &TabEvent)> {
        let first = self.next - self.kept.len() as u64;
        (first..).zip(&self.kept).filter(move |(number, _)| *number >= after)
    }

    /// The number of the next one.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.next
    }
}
