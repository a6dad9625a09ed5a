//! Why the person is asked.
//!
//! Must never say what is asked.

/// The reason to ask the person, the mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// It changes something.
    Writes,
    /// It changes something, and the model has read text that the person has not typed.
    Untrusted,
    /// Its tool declares that it destroys, or the person says so.
    Destroys,
    /// Something private would leave.
    Leaves,
    /// Files of the person's would be handed over.
    Files,
    /// The client was not given this source.
    FirstUse,
    /// The server is stopped, and no call of the caller's starts it.
    Starts,
    /// A server wants a language model's answer.
    Sampling,
    /// A client wants a language model to read a page.
    Reading,
    /// The model proposes a plan.
    Plan,
}

impl Why {
    /// True if something is handed over that the person has to be shown.
    #[must_use]
    pub fn is_leaving(self) -> bool {
        matches!(self, Self::Leaves | Self::Files)
    }

    /// Its word on the wire.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Writes => "writes",
            Self::Untrusted => "untrusted",
            Self::Destroys => "destroys",
            Self::Leaves => "leaves",
            Self::Files => "files",
            Self::FirstUse => "first_use",
            Self::Starts => "starts",
            Self::Sampling => "sampling",
            Self::Reading => "reading",
            Self::Plan => "plan",
        }
    }

    /// The reason as a sentence.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Writes => "it changes something",
            Self::Untrusted => "it changes something, and the model has read text that you did not type",
            Self::Destroys => "it may delete or overwrite something",
            Self::Leaves => "private data would leave",
            Self::Files => "a file of yours would be handed over",
            Self::FirstUse => "you have not let it use this yet",
            Self::Starts => "the server is stopped and would be started for it",
            Self::Sampling => "it wants a language model of yours to answer it",
            Self::Reading => "it wants a language model of yours to read a page",
            Self::Plan => "within this plan it would act without asking, until it has answered",
        }
    }
}
