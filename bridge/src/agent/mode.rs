//! What may be done in a session without asking.
//!
//! Owns the modes and their words. Must never judge a call: that is consent's.

use harbor_policy::consent::Mode as Consents;

/// The modes as an error names them.
pub const MODES: &str = "ask, plan, reads or auto";

/// The calls that need no question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionMode {
    /// Tools that only read run, everything else asks.
    Ask,
    /// Tools that only read run, everything else is refused: there is nobody who could be asked.
    Reads,
    /// Tools that only read run, and what writes within a plan that the person has approved; everything else asks.
    Plan,
    /// Everything runs, unless data would leave.
    Auto,
}

impl SessionMode {
    /// The mode's word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Reads => "reads",
            Self::Plan => "plan",
            Self::Auto => "auto",
        }
    }

    /// The mode with this word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        [Self::Ask, Self::Reads, Self::Plan, Self::Auto].into_iter().find(|mode| mode.word() == word)
    }
}

/// A session's mode in the words of consent.
pub(super) fn consents(mode: SessionMode) -> Consents {
    match mode {
        SessionMode::Ask => Consents::Ask,
        SessionMode::Reads => Consents::Reads,
        SessionMode::Plan => Consents::Plan,
        SessionMode::Auto => Consents::Auto,
    }
}
