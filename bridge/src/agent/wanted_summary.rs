//! Decides if a turn wants its oldest turns summarised, and which.
//!
//! Owns how often that is tried in a turn. Must never ask a model.

use harbor_policy::history::Replaceable;

/// Summaries in one turn.
const MOST: u8 = 2;

/// Says if a turn wants a summary.
#[derive(Debug)]
pub(super) struct Summarising {
    wanted: Option<WantedSummary>,
    left: u8,
}

/// The messages that are to be summarised, from the first of the session on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WantedSummary {
    /// The messages that an earlier summary stands for.
    pub from: usize,
    /// The first one that stays.
    pub to: usize,
    /// The turns between these two.
    pub turns: usize,
}

impl Default for Summarising {
    fn default() -> Self {
        Self { wanted: None, left: MOST }
    }
}

impl Summarising {
    /// True if a summary may still be made in this turn.
    pub fn may_be_wanted(&self) -> bool {
        self.left > 0
    }

    /// Notes which messages a summary would replace, if any; `before` are replaced already.
    pub fn want(&mut self, replaceable: Option<Replaceable>, before: usize) {
        self.wanted = replaceable.map(|Replaceable { messages, turns }| WantedSummary {
            from: before,
            to: before + messages,
            turns,
        });
    }

    /// Takes what is wanted; it counts as tried.
    pub fn take(&mut self) -> Option<WantedSummary> {
        let wanted = self.wanted.take()?;
        self.left -= 1;
        Some(wanted)
    }

    /// A summary was not taken: none is tried again in this turn.
    pub fn give_up(&mut self) {
        self.left = 0;
    }
}
