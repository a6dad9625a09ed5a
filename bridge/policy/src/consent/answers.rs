//! The answers that stand: the calls that the person has said yes or no to, and what each answer covers.
//!
//! ```text
//!  cover         of whom                covers
//!  once          any                    this call: principal, source, tool, hash, arguments; as far as it was shown
//!  chat_tool     a chat                 this tool with this hash, changing only
//!  chat_server   a chat                 this source's tools that write and do not destroy
//!  flow          a chat                 the private names that were shown, to a source whose reach is enforced
//!  pair          a connected client     one set of private names to one source
//!  ten_minutes   a client               this tool with this hash, changing only
//!  always        any                    this tool with this hash, changing only
//!  no            a turn, or ten minutes the same call, in whatever order its arguments stand
//! ```
//!
//! Owns this table. Nothing but `once`, `flow` and `pair` covers private data that leave. Must never cover a tool that has
//! changed.

use harbor_ipc_proto::source_id::SourceKind;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::approved_plans::ApprovedPlans;
use super::call::{Call, Names, Who};
use super::facts::{Effect, Reach};
use super::why::Why;
use crate::access::{self, Right};

/// How long an answer to a page or a client holds that is not for always, in milliseconds.
pub const A_WHILE: u64 = 600_000;

/// The most answers that stand. At this number, the oldest answer that is not [`Cover::Always`] goes. If all are, none goes.
const MOST: usize = 4096;

/// The calls that a yes covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cover {
    /// This call.
    Once,
    /// This tool in this chat.
    ChatTool,
    /// The writes of this source's tools in this chat.
    ChatServer,
    /// These private names to this source, in this chat.
    Flow,
    /// These private names to this source, as long as the client is connected.
    Pair,
    /// This tool for ten minutes.
    TenMinutes,
    /// This tool from now on.
    Always,
}

impl Cover {
    const ALL: [Self; 7] = [
        Self::Once,
        Self::ChatTool,
        Self::ChatServer,
        Self::Flow,
        Self::Pair,
        Self::TenMinutes,
        Self::Always,
    ];

    /// Its word on the wire.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::ChatTool => "chat_tool",
            Self::ChatServer => "chat_server",
            Self::Flow => "flow",
            Self::Pair => "pair",
            Self::TenMinutes => "ten_minutes",
            Self::Always => "always",
        }
    }

    /// The cover of this word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cover| cover.word() == word)
    }
}

/// The covers that a yes to a question may have, the mildest first.
#[must_use]
pub fn offered(who: Who, call: &Call<'_>, why: Why) -> Vec<Cover> {
    let is_changing = !why.is_leaving();
    let more: &[Cover] = match who {
        Who::Person(_) if is_changing && call.effect == Effect::Writes => {
            &[Cover::ChatTool, Cover::ChatServer, Cover::Always]
        }
        Who::Person(_) if is_changing => &[Cover::ChatTool, Cover::Always],
        Who::Person(_) | Who::Run if !is_changing && call.holding.reach == Reach::Enforced => &[Cover::Flow],
        // Each file is asked about by itself.
        Who::Client { .. } if why == Why::Files => &[],
        Who::Client { .. } if is_changing => &[Cover::TenMinutes, Cover::Always],
        Who::Client { .. } => &[Cover::Pair],
        _ => &[],
    };
    [Cover::Once].iter().chain(more).copied().collect()
}

/// An answer that stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RememberedAnswer {
    /// Its id.
    pub id: String,
    /// The calls that it covers.
    pub cover: Cover,
    /// The principal for whom the call is made.
    pub principal: String,
    /// The chat or the client, if the answer holds for one alone.
    pub chat: Option<String>,
    /// The source.
    pub source: String,
    /// The tool.
    pub tool: String,
    /// The page for a browser, else the source again.
    name: String,
    /// The hash of the tool's own definition.
    pub hash: Option<[u8; 32]>,
    /// The hash of the call's arguments, byte by byte, for a yes to one call.
    arguments: Option<Hash>,
    /// The private names that were shown and may leave.
    pub private: Option<Names>,
    /// The time since which the answer holds.
    pub since: u64,
    /// The time until which the answer holds.
    pub until: Option<u64>,
}

/// A no.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Denial {
    principal: String,
    chat: Option<String>,
    source: String,
    tool: String,
    meaning: Hash,
    until: Option<u64>,
}

type Hash = [u8; 32];

/// All answers that stand.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    yes: Vec<RememberedAnswer>,
    no: Vec<Denial>,
    /// Single calls of sources that their client was not given.
    let_in: Vec<RememberedAnswer>,
    /// The plans of turns.
    pub plans: ApprovedPlans,
}

impl RememberedAnswer {
    /// A yes to a call, of which `shown` was shown where something would leave.
    #[must_use]
    pub fn to(call: &Call<'_>, cover: Cover, shown: Option<Names>, id: String, now: u64) -> Self {
        let of_chat = !matches!(cover, Cover::Always | Cover::TenMinutes);
        let ends = cover == Cover::TenMinutes || cover == Cover::Once;
        Self {
            id,
            cover,
            principal: call.principal.to_owned(),
            chat: call.chat.filter(|_| of_chat).map(ToOwned::to_owned),
            source: call.source.to_owned(),
            tool: call.tool.to_owned(),
            name: call.name.to_owned(),
            hash: call.hash.copied(),
            arguments: (cover == Cover::Once).then(|| hash(call.arguments)),
            private: shown.filter(|_| matches!(cover, Cover::Once | Cover::Flow | Cover::Pair)),
            since: now,
            until: ends.then(|| now.saturating_add(A_WHILE)),
        }
    }

    /// A yes of an earlier life of the bridge, for always.
    #[must_use]
    pub fn always(principal: &str, (source, tool): (&str, &str), hash: Hash, id: String, since: u64) -> Self {
        Self {
            id,
            cover: Cover::Always,
            principal: principal.to_owned(),
            chat: None,
            source: source.to_owned(),
            tool: tool.to_owned(),
            name: source.to_owned(),
            hash: Some(hash),
            arguments: None,
            private: None,
            since,
            until: None,
        }
    }

    /// True if it covers this reason to ask about a call. `private` has the private names that would leave.
    fn covers(&self, call: &Call<'_>, why: Why, private: &Names, now: u64) -> bool {
        let is_it = self.principal == call.principal
            && self.source == call.source
            && self.until.is_none_or(|until| now < until)
            && self.chat.as_deref().is_none_or(|chat| call.chat == Some(chat));
        let is_tool = self.tool == call.tool && self.hash.as_ref() == call.hash;
        let is_leaving = why.is_leaving();
        let was_shown = self.private.as_ref().is_some_and(|shown| private.is_subset(shown));
        is_it
            && match self.cover {
                Cover::Once => {
                    is_tool && self.arguments == Some(hash(call.arguments)) && (!is_leaving || was_shown)
                }
                Cover::ChatTool | Cover::TenMinutes | Cover::Always => is_tool && !is_leaving,
                Cover::ChatServer => {
                    !is_leaving && call.effect == Effect::Writes && self.is_of_its_place(call)
                }
                Cover::Flow => {
                    is_leaving
                        && was_shown
                        && call.holding.reach == Reach::Enforced
                        && self.is_of_its_place(call)
                }
                Cover::Pair => is_leaving && was_shown,
            }
    }

    /// True if it lets a client make this call of a source that it was not given. The tool's hash is not compared: it was not
    /// known then.
    fn is_for_entry(&self, call: &Call<'_>, now: u64) -> bool {
        self.principal == call.principal
            && self.source == call.source
            && self.tool == call.tool
            && self.arguments == Some(hash(call.arguments))
            && self.until.is_none_or(|until| now < until)
    }

    /// True if it is about the same page, where that matters, and the tool that was asked about has not changed.
    fn is_of_its_place(&self, call: &Call<'_>) -> bool {
        self.name == call.name && (self.tool != call.tool || self.hash.as_ref() == call.hash)
    }
}

impl Answers {
    /// A yes stands from now on.
    pub fn add(&mut self, answer: RememberedAnswer) {
        self.yes.retain(|known| known.until.is_none_or(|until| answer.since < until));
        if self.yes.len() >= MOST
            && let Some(at) = self.yes.iter().position(|known| known.cover != Cover::Always)
        {
            self.yes.remove(at);
        }
        self.yes.push(answer);
    }

    /// A no to a call stands: until then, or where nothing is said, until the turn of its chat ends.
    pub fn deny(&mut self, call: &Call<'_>, until: Option<u64>) {
        if self.no.len() >= MOST {
            self.no.remove(0);
        }
        self.no.push(Denial {
            principal: call.principal.to_owned(),
            chat: call.chat.map(ToOwned::to_owned),
            source: call.source.to_owned(),
            tool: call.tool.to_owned(),
            meaning: meaning(call.arguments),
            until,
        });
    }

    /// True if the person has said no to the same call.
    #[must_use]
    pub fn denies(&self, call: &Call<'_>, now: u64) -> bool {
        let is_of = |no: &&Denial| {
            no.principal == call.principal
                && no.chat.as_deref() == call.chat
                && no.source == call.source
                && no.tool == call.tool
                && no.until.is_none_or(|until| now < until)
        };
        let mut of_tool = self.no.iter().filter(is_of).peekable();
        // Arguments are read only where there is a no to compare them with.
        of_tool.peek().is_some() && {
            let meaning = meaning(call.arguments);
            of_tool.any(|no| no.meaning == meaning)
        }
    }

    /// The person lets a client make this call of a source that it was not given, once.
    pub fn let_in(&mut self, call: &Call<'_>, id: String, now: u64) {
        if self.let_in.len() >= MOST {
            self.let_in.remove(0);
        }
        self.let_in.push(RememberedAnswer::to(call, Cover::Once, None, id, now));
    }

    /// True if the person has let the client make this call.
    #[must_use]
    pub fn is_let_in(&self, call: &Call<'_>, now: u64) -> bool {
        self.let_in.iter().any(|yes| yes.is_for_entry(call, now))
    }

    /// The right to such a call. Taking it uses it up.
    pub fn enter(&mut self, call: &Call<'_>, kind: SourceKind, now: u64) -> Option<Right> {
        let at = self.let_in.iter().position(|yes| yes.is_for_entry(call, now))?;
        self.let_in.remove(at);
        Some(access::let_in_once(kind))
    }

    /// True if an answer covers this reason to ask about a call.
    #[must_use]
    pub fn covers(&self, call: &Call<'_>, why: Why, private: &Names, now: u64) -> bool {
        self.yes.iter().any(|answer| answer.covers(call, why, private, now))
    }

    /// A turn of a chat begins: what was answered to single calls is over.
    pub fn begin_turn(&mut self, chat: &str) {
        self.yes.retain(|yes| yes.cover != Cover::Once || yes.chat.as_deref() != Some(chat));
        self.no.retain(|no| no.chat.as_deref() != Some(chat));
        self.plans.begin_turn(chat);
    }

    /// Takes back the answers that `is_meant` names, and returns them.
    pub fn revoke(&mut self, is_meant: impl Fn(&RememberedAnswer) -> bool) -> Vec<RememberedAnswer> {
        let mut gone = Vec::new();
        for list in [&mut self.yes, &mut self.let_in] {
            gone.extend(list.extract_if(.., |answer| is_meant(answer)));
        }
        gone
    }

    /// A chat is over, or a source is gone: nothing of it stands any more.
    pub fn forget(&mut self, is_meant: impl Fn(Option<&str>, &str) -> bool) {
        self.yes.retain(|yes| !is_meant(yes.chat.as_deref(), &yes.source));
        self.let_in.retain(|yes| !is_meant(yes.chat.as_deref(), &yes.source));
        self.no.retain(|no| !is_meant(no.chat.as_deref(), &no.source));
        self.plans.forget(is_meant);
    }

    /// A call is made: a yes to it alone is used up.
    pub fn use_up(&mut self, call: &Call<'_>) {
        let is_used = |yes: &RememberedAnswer| {
            yes.cover == Cover::Once
                && yes.principal == call.principal
                && yes.source == call.source
                && yes.tool == call.tool
                && yes.chat.as_deref().is_none_or(|chat| call.chat == Some(chat))
                && yes.arguments == Some(hash(call.arguments))
        };
        // Arguments are read only where there is such a yes to compare them with.
        if self.yes.iter().any(|yes| yes.cover == Cover::Once && yes.tool == call.tool) {
            self.yes.retain(|yes| !is_used(yes));
        }
    }

    /// All that stand now, the oldest first.
    pub fn standing(&self, now: u64) -> impl Iterator<Item = &RememberedAnswer> {
        let all = self.yes.iter().chain(&self.let_in);
        all.filter(move |answer| answer.until.is_none_or(|until| now < until))
    }
}

fn hash(text: &str) -> Hash {
    Sha256::digest(text).into()
}

/// The hash of the arguments. It does not depend on the order of keys or on blanks.
fn meaning(arguments: &str) -> Hash {
    let sorted = serde_json::from_str::<Value>(arguments).map(|value| value.to_string());
    hash(sorted.as_deref().unwrap_or(arguments))
}
