//! What a call of a tool needs before it runs: nothing, a yes of the person, or it is refused.
//!
//! ```text
//!  denied in this turn, not granted to an origin                          ─► refused
//!  read untrusted text AND private data, and this goes out                ─► a yes for exactly this, with what would leave
//!  owner, mode ask        reads                                           ─► runs
//!                         else                                            ─► once · this session · always · no
//!  owner, mode auto       destroys, or writes after untrusted text        ─► as in mode ask
//!                         else                                            ─► runs
//!  origin                 writes after untrusted text                     ─► asks the person, never the origin
//!                         else                                            ─► runs
//! ```
//!
//! Owns this table, what was decided so far, and the taint. The taint belongs to the text that a model has before it: it is
//! kept as long as that text is, through all turns of a session. Must never take a yes for anything but what it was given
//! for: it is bound to the call's id and the hash of its arguments, byte by byte.

use std::collections::BTreeSet;

use harbor_ipc_proto::hex::hex;
use harbor_ipc_proto::json::Fields;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

mod urls;

/// Who wants the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// The person. A run of the person's without a chat is [`Who::Owner`] in [`Mode::Ask`].
    Owner(Mode),
    /// A web origin, in a run of its own; whether it was granted this tool.
    Origin {
        /// Whether its grants cover the tool.
        granted: bool,
    },
}

/// How a session of the person's treats calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Reads run, all else asks.
    Ask,
    /// All runs but what destroys, and what writes after untrusted text.
    Auto,
}

/// What a tool may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traits {
    /// It changes nothing.
    pub reads_only: bool,
    /// It may destroy something.
    pub destroys: bool,
    /// It reaches, or tells, somebody outside.
    pub open_world: bool,
}

/// What the owner knows better about a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Correction {
    /// Whether it changes nothing.
    pub reads_only: Option<bool>,
    /// Whether it may destroy something.
    pub destroys: Option<bool>,
    /// Whether it reaches somebody outside.
    pub open_world: Option<bool>,
}

impl Traits {
    /// Of a tool of which nothing is known.
    pub const WORST: Self = Self { reads_only: false, destroys: true, open_world: true };

    /// By the tool's `annotations`, a JSON object, and what the owner says of it. What nobody says is the worst.
    #[must_use]
    pub fn of(annotations: Option<&str>, owner: Correction) -> Self {
        let fields = fields_of(annotations);
        let said = |name: &str| said(&fields, name);
        let reads_only = owner.reads_only.or(said("readOnlyHint")).unwrap_or(Self::WORST.reads_only);
        let destroys = owner.destroys.or(said("destructiveHint")).unwrap_or(Self::WORST.destroys);
        let open_world = owner.open_world.or(said("openWorldHint")).unwrap_or(Self::WORST.open_world);
        Self { reads_only, destroys: destroys && !reads_only, open_world }
    }

    /// Whether a tool declares that it may destroy something, or the owner says so. What nobody says is no: most tools say nothing.
    #[must_use]
    pub fn declared(annotations: Option<&str>, owner: Correction) -> bool {
        let fields = fields_of(annotations);
        let declares = said(&fields, "destructiveHint") == Some(true);
        owner.destroys.unwrap_or(declares && said(&fields, "readOnlyHint") != Some(true))
    }
}

fn fields_of(annotations: Option<&str>) -> Fields<'_> {
    annotations.and_then(|json| Fields::parse(json.as_bytes()).ok()).unwrap_or_default()
}

/// A word that stands twice says nothing: two readers may take different ones.
fn said(annotations: &Fields<'_>, name: &str) -> Option<bool> {
    match annotations.get(name).filter(|_| annotations.twice().is_none()) {
        Some("true") => Some(true),
        Some("false") => Some(false),
        _ => None,
    }
}

/// What the text before a model comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Taint {
    /// Text that nobody vouches for.
    pub untrusted: bool,
    /// Data that are private.
    pub private: bool,
}

/// Where a text comes from that a model has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    /// A tool's result or error.
    Result {
        /// What the tool may do.
        traits: Traits,
        /// Whether its server is marked private, reads files, or has secrets.
        private: bool,
    },
    /// A page, in whatever way it was read.
    Page,
    /// A file of the person's.
    File,
}

impl Taint {
    /// The taint after that was read. It never gets less.
    #[must_use]
    pub fn after(self, read: Read) -> Self {
        let (untrusted, private) = match read {
            Read::Result { traits, private } => (traits.open_world, private),
            Read::Page => (true, false),
            Read::File => (false, true),
        };
        Self { untrusted: self.untrusted || untrusted, private: self.private || private }
    }
}

/// A call that a model wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call<'a> {
    /// Its id, one of its own in the session.
    pub id: &'a str,
    /// As `server/tool`.
    pub tool: &'a str,
    /// JSON, exactly as it would be sent.
    pub arguments: &'a str,
}

/// The hash of a call's arguments, byte by byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArgumentsHash([u8; 32]);

impl ArgumentsHash {
    /// Of these arguments.
    #[must_use]
    pub fn of(arguments: &str) -> Self {
        Self(Sha256::digest(arguments).into())
    }

    /// As text.
    #[must_use]
    pub fn hex(&self) -> String {
        hex(&self.0)
    }

    /// Of the same arguments in another order or with other blanks, too.
    fn of_meaning(arguments: &str) -> Self {
        let sorted = serde_json::from_str::<Value>(arguments).map(|value| value.to_string());
        Self::of(sorted.as_deref().unwrap_or(arguments))
    }
}

/// What a call needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// Nothing: it runs.
    Run,
    /// A yes of the person.
    Ask {
        /// Why.
        why: Why,
        /// What would leave, to be shown exactly; then a yes is good for this call only.
        leaving: Option<Leaving>,
    },
    /// It is not run.
    Refuse(Refused),
}

/// Why the person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It changes something.
    Writes,
    /// It may destroy something.
    Destroys,
    /// It changes something, and the model has read text that nobody vouches for.
    WritesAfterUntrusted,
    /// Private data may leave, on behalf of text that nobody vouches for.
    Leaves,
}

/// Why a call is not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The person has said no to the same call in this turn.
    Denied,
    /// The origin was not granted this tool.
    NotGranted,
}

impl Refused {
    /// What the model is told.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Denied => {
                "The person has said no to this call. Do not try it again, nor reach the same in another way."
            }
            Self::NotGranted => "This tool was not granted.",
        }
    }
}

/// What would leave with a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaving {
    /// The tool that would get it, as `server/tool`.
    pub to: String,
    /// All of it, as it would be sent.
    pub arguments: String,
    /// The addresses in it.
    pub urls: Vec<String>,
}

/// What the person says to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Yes, for this call.
    Once,
    /// Yes, for this tool in this session.
    Session,
    /// Yes, for this tool from now on.
    Always,
    /// No.
    No,
}

/// What was decided so far in a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decisions {
    /// Calls that have a yes, and whether it was given with what leaves in sight.
    once: BTreeSet<(String, ArgumentsHash, bool)>,
    session: BTreeSet<String>,
    always: BTreeSet<String>,
    denied: BTreeSet<(String, ArgumentsHash)>,
}

impl Decisions {
    /// With the tools, `server/tool`, that the person has always said yes to.
    #[must_use]
    pub fn new(always: impl IntoIterator<Item = String>) -> Self {
        Self { always: always.into_iter().collect(), ..Self::default() }
    }

    /// A turn begins: yeses for single calls and noes are over.
    pub fn begin_turn(&mut self) {
        self.once.clear();
        self.denied.clear();
    }

    /// Takes the answer to a question about this call; `need` is what was asked. Gives how long a yes is good: where
    /// something would leave, for this call only, whatever the answer says.
    pub fn answer(&mut self, call: &Call<'_>, need: &Need, answer: Answer) -> Answer {
        let Need::Ask { leaving, .. } = need else { return Answer::No };
        // Only a question that has shown these very arguments is one about what leaves with them.
        let shown = leaving
            .as_ref()
            .is_some_and(|leaving| leaving.arguments == call.arguments && leaving.to == call.tool);
        let answer = match answer {
            Answer::Session | Answer::Always if leaving.is_some() => Answer::Once,
            answer => answer,
        };
        match answer {
            Answer::Once => {
                self.once.insert((call.id.to_owned(), ArgumentsHash::of(call.arguments), shown));
            }
            Answer::Session => {
                self.session.insert(call.tool.to_owned());
            }
            Answer::Always => {
                self.always.insert(call.tool.to_owned());
            }
            Answer::No => {
                self.denied.insert((call.tool.to_owned(), ArgumentsHash::of_meaning(call.arguments)));
            }
        }
        answer
    }

    /// What this call needs now. It is asked again when an answer has come: what was read in the meantime counts.
    #[must_use]
    pub fn need(&self, who: Who, call: &Call<'_>, traits: Traits, taint: Taint) -> Need {
        if self.denied.contains(&(call.tool.to_owned(), ArgumentsHash::of_meaning(call.arguments))) {
            return Need::Refuse(Refused::Denied);
        }
        if who == (Who::Origin { granted: false }) {
            return Need::Refuse(Refused::NotGranted);
        }
        if taint.untrusted && taint.private {
            let urls = urls::with_data(call.arguments);
            if traits.open_world || urls.as_ref().is_none_or(|urls| !urls.is_empty()) {
                return self.leaving(call, urls.unwrap_or_default());
            }
        }
        let Some(why) = asks(who, traits, taint) else { return Need::Run };
        if self.has_yes(call) { Need::Run } else { Need::Ask { why, leaving: None } }
    }

    fn leaving(&self, call: &Call<'_>, urls: Vec<String>) -> Need {
        if self.once.contains(&(call.id.to_owned(), ArgumentsHash::of(call.arguments), true)) {
            return Need::Run;
        }
        let leaving = Leaving { to: call.tool.to_owned(), arguments: call.arguments.to_owned(), urls };
        Need::Ask { why: Why::Leaves, leaving: Some(leaving) }
    }

    fn has_yes(&self, call: &Call<'_>) -> bool {
        let hash = ArgumentsHash::of(call.arguments);
        let once = |shown: bool| self.once.contains(&(call.id.to_owned(), hash, shown));
        self.session.contains(call.tool) || self.always.contains(call.tool) || once(false) || once(true)
    }
}

/// Why the person is asked where nothing was decided, if so.
fn asks(who: Who, traits: Traits, taint: Taint) -> Option<Why> {
    if traits.reads_only {
        return None;
    }
    match who {
        Who::Origin { .. } => taint.untrusted.then_some(Why::WritesAfterUntrusted),
        Who::Owner(_) if traits.destroys => Some(Why::Destroys),
        Who::Owner(_) if taint.untrusted => Some(Why::WritesAfterUntrusted),
        Who::Owner(Mode::Ask) => Some(Why::Writes),
        Who::Owner(Mode::Auto) => None,
    }
}

#[cfg(test)]
mod tests;
