//! A finding of doctor: something that was looked at, how it is, and the next step.
//!
//! Must never look at anything itself.

use crate::screen::Tone;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    Ok,
    Fixed,
    Warning,
    Broken,
}

impl State {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Fixed => "fixed",
            Self::Warning => "warning",
            Self::Broken => "broken",
        }
    }

    pub(super) fn tone(self) -> Tone {
        match self {
            Self::Ok | Self::Fixed => Tone::Good,
            Self::Warning => Tone::Warning,
            Self::Broken => Tone::Bad,
        }
    }
}

/// Something that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) state: State,
    /// The subject, in one word.
    pub(super) about: &'static str,
    pub(super) what: String,
    /// The next step.
    pub(super) next: Option<String>,
}

impl Finding {
    pub(super) fn ok(about: &'static str, what: impl Into<String>) -> Self {
        Self { state: State::Ok, about, what: what.into(), next: None }
    }

    pub(super) fn wrong(
        state: State,
        about: &'static str,
        what: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        Self { state, about, what: what.into(), next: Some(next.into()).filter(|next| !next.is_empty()) }
    }
}
