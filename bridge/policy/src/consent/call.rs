//! A call as consent sees it: who makes it, what it is, and what the model has read before.
//!
//! Must never decide about it.

use std::collections::BTreeSet;

use super::facts::{Effect, Holding};

/// Names of what is private: of sources (`files`, `gmail`), of origins in a browser (`browser:mail.example`), `attached`.
pub type Names = BTreeSet<String>;

/// The one who makes a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// The person: they have typed this very call.
    Typed,
    /// The person's model, in a chat of theirs.
    Person(Mode),
    /// A model on a task of an origin.
    Run,
    /// A page itself.
    Page,
    /// An AI client itself.
    Client {
        /// True if the person is asked before something private leaves.
        guard: bool,
    },
}

impl Who {
    /// Its word on the wire.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Typed => "typed",
            Self::Person(_) => "chat",
            Self::Run => "run",
            Self::Page => "page",
            Self::Client { .. } => "client",
        }
    }
}

/// The way in which a chat of the person treats calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Reads run, all else asks.
    Ask,
    /// Reads run, and what writes within the plan that the person has approved; all else asks.
    Plan,
    /// All runs but what destroys, and what writes after untrusted text.
    Auto,
    /// Reads run, everything else is refused, since there is nobody to ask.
    Reads,
}

/// The record of what a model has read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Read {
    /// The names of the private things that it has read.
    pub private: Names,
    /// True if it has read any text that the person has not typed: a result, a page, an attachment.
    pub untrusted: bool,
}

/// A call, with what Harbor knows of it.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The principal for whom the call is made: `owner`, or an origin.
    pub principal: &'a str,
    /// The chat that it belongs to, or a client whose guard is on.
    pub chat: Option<&'a str>,
    /// The source of the tool.
    pub source: &'a str,
    /// The tool, as its source names it.
    pub tool: &'a str,
    /// The hash of the tool's own definition.
    pub hash: Option<&'a [u8; 32]>,
    /// JSON, exactly as it would be sent.
    pub arguments: &'a str,
    /// The schema of its arguments, as the person has seen it.
    pub schema: Option<&'a str>,
    /// The effect of the tool.
    pub effect: Effect,
    /// True if the effect was stated by the person or by Harbor's own list. Otherwise the tool's server stated it.
    pub is_sure: bool,
    /// The holding of its source.
    pub holding: Holding,
    /// The name under which its answer would be private: the source's name, or that of the page that it acts in.
    pub name: &'a str,
    /// True for a browser's call that stays within the open page.
    pub within: bool,
    /// True for a browser's call that only looks at a loaded document, unnoticed by its page.
    pub looks: bool,
    /// The arguments that are ids of Harbor's.
    pub ids: &'a [&'a str],
    /// The files of the person's that Harbor itself hands over by the call, as the person is shown them: to a page, or to
    /// whoever calls.
    pub files: &'a Names,
}
