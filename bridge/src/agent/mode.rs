//! What may be done in a session without asking.
//!
//! Owns the modes and their words. Must never judge a call: that is consent's.

use harbor_policy::consent::Mode as Consents;

/// The calls that need no question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionMode {
    /// Tools that only read run, everything else asks.
    Ask,
    /// Tools that only read run, everything else is refused: there is nobody who could be asked.
    Reads,
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
            Self::Auto => "auto",
        }
    }

    /// The mode with this word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        [Self::Ask, Self::Reads, Self::Auto].into_iter().find(|mode| mode.word() == word)
    }
}

/// A session's mode in the words of consent.
pub(super) fn consents(mode: SessionMode) -> Consents {
    match mode {
        SessionMode::Ask => Consents::Ask,
        SessionMode::Reads => Consents::Reads,
        SessionMode::Auto => Consents::Auto,
    }
}
