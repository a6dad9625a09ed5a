//! A call that a model wants, and how far it is.
//!
//! Owns these states. Must never be in two of them.

/// A call that a model wants, as far as a turn has to know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// A hash of the tool and its arguments.
    pub fingerprint: u64,
    /// True if it only reads: such calls run beside each other.
    pub reads: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallState {
    /// Nothing of it was done yet.
    Waiting,
    /// The driver says whether it may be made.
    Judging,
    /// The person does.
    Asking,
    /// It is being made.
    Running,
    /// It has its result.
    Done,
}

/// A call of the answer that is being worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Open {
    pub wanted: Wanted,
    pub state: CallState,
}

impl Open {
    pub fn new(wanted: Wanted) -> Self {
        Self { wanted, state: CallState::Waiting }
    }

    pub fn is_done(&self) -> bool {
        self.state == CallState::Done
    }

    pub fn is_under_way(&self) -> bool {
        !matches!(self.state, CallState::Waiting | CallState::Done)
    }
}
