//! Decides for every caller whether a call runs, is asked about, or is refused. It goes by what Harbor knows.
//!
//! ```text
//!  call, who, facts ─► need ─┬─ nothing ──────────────────────────────────────────► Run ─► Permit
//!                            ├─ covered by an answer that stands (answers.rs) ────► Run ─► Permit
//!                            ├─ the person may be asked ─► Ask {why, what a yes may cover} ─► judged again when it comes
//!                            └─ else ─► Refuse {why}
//!
//!  who                  reads   writes                                 destroys   leaves
//!  the person, typed    run     run                                    run        run
//!  the person, ask      run     ask                                    ask        ask
//!  the person, plan     run     run within the plan, else ask          ask        ask
//!  the person, auto     run     ask after untrusted text, see below    ask        ask
//!  the person, reads    run     refuse                                 refuse     refuse
//!  a run of an origin   run     ask after untrusted text               ask        ask
//!  a page's own call    run     run                                    ask        –
//!  an AI client         run     run                                    ask        –, with its guard on: ask
//! ```
//!
//! A source that can send data nowhere and writes only its own files runs in every row, unless the tool declares that it
//! destroys. In `auto` a write asks where the source has reach or may write the person's files.
//!
//! *Leaves*: the model has read something private, and the call goes to a source with reach (`leaves`). A call by which Harbor hands
//! over a file of the person's asks in every row but the first: whoever calls could not have read it.
//!
//! Owns the rule, and the only way to a [`Permit`]. Must never believe a hint about reach or privacy: the confinement decides
//! those (`facts`). A hint about the effect is believed: with a lie a server gains nothing that it could not do without being
//! called.

use harbor_ipc_proto::source_id::SourceKind;

use crate::access::Right;

pub mod addresses;
pub mod answers;
pub mod approved_plans;
mod call;
pub mod compact;
pub mod facts;
pub mod holding;
pub mod plan;
pub mod shown;
#[cfg(test)]
mod tests;
pub mod typed;
mod why;

use self::addresses::{carries_data, names_private};
use self::answers::{Answers, Cover};
pub use self::call::{Call, Mode, Names, Read, Who};
use self::facts::{Effect, Holding, Reach};
use self::typed::Typed;
pub use self::why::Why;

/// The private name of what answers at addresses of this machine and its network.
pub const NETWORK: &str = "this machine and its network";

/// The calls of a turn that may carry typed text to a source with reach, though the model has read something private.
pub const MOST_TYPED: u32 = 20;

/// The state of the caller before a call.
#[derive(Debug, Clone, Copy)]
pub struct Before<'a> {
    /// The record of what its model has read.
    pub read: &'a Read,
    /// The text that the person has typed in this chat.
    pub typed: &'a Typed,
    /// Calls of this turn that carried what was typed.
    pub typed_calls: u32,
    /// The answers that stand.
    pub answers: &'a Answers,
    /// The time, in milliseconds.
    pub now: u64,
}

/// The decision about a call.
#[derive(Debug)]
pub enum Verdict {
    /// It runs.
    Run(Run),
    /// The person is asked.
    Ask(Question),
    /// It does not run.
    Refuse(Refused),
}

/// Proof that a call may run in its present form. Only [`judge`] makes one.
#[derive(Debug)]
pub struct Run {
    /// It carries what was typed to a source with reach: it counts.
    pub is_typed: bool,
}

impl Run {
    /// Makes the permit that a source demands, from the right to call it and this proof.
    #[must_use]
    pub fn permit(self, right: Right) -> Permit {
        Permit(right.kind())
    }
}

/// Proof that a source of one kind may be asked once.
#[derive(Debug)]
pub struct Permit(SourceKind);

impl Permit {
    /// True if it is for sources of this kind: a grant for servers never covers another kind.
    #[must_use]
    pub fn is_for(&self, kind: SourceKind) -> bool {
        self.0 == kind
    }
}

/// A question to the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The reason.
    pub why: Why,
    /// The private names of what would leave.
    pub private: Names,
    /// The covers that a yes may have, the mildest first.
    pub covers: Vec<Cover>,
}

/// The reason why a call is not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The person has said no to the same call.
    Denied,
    /// It would need a yes, and is too large to be shown.
    TooLarge,
    /// It would need a yes, but there is nobody to ask.
    Nobody(Why),
}

impl Refused {
    /// The answer to the caller.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Denied => {
                "The person has refused this call. Do not try it again, and do not try to reach the same in another way."
            }
            Self::TooLarge => {
                "The person must approve this call, but its arguments are larger than the 1 MiB that can be shown."
            }
            Self::Nobody(Why::Leaves | Why::Files) => {
                "Private data would leave with this call, and nobody is here to approve it."
            }
            Self::Nobody(Why::Destroys) => {
                "It may delete or overwrite something, and nobody is here to approve it."
            }
            Self::Nobody(
                Why::Writes
                | Why::Untrusted
                | Why::FirstUse
                | Why::Starts
                | Why::Sampling
                | Why::Reading
                | Why::Plan,
            ) => "It changes something, and nobody is here to approve it.",
        }
    }
}

/// Decides whether a call runs now. It is decided again when an answer has come: what was read in the meantime counts.
#[must_use]
pub fn judge(who: Who, call: &Call<'_>, before: &Before<'_>) -> Verdict {
    let run = |is_typed| Verdict::Run(Run { is_typed });
    if who == Who::Typed {
        return run(false);
    }
    if before.answers.denies(call, before.now) {
        return Verdict::Refuse(Refused::Denied);
    }
    let (leaving, is_typed) = match asks_before_leaving(who) {
        true => leaves(call, before),
        false => (false, false),
    };
    let change = changes(who, call, before.read);
    let why = match leaving {
        true => Some(Why::Leaves),
        false if !call.files.is_empty() => Some(Why::Files),
        false => change,
    };
    let Some(mut why) = why else { return run(is_typed) };
    let read = if leaving { before.read.private.clone() } else { Names::new() };
    let private: Names = read.union(call.files).cloned().collect();
    let is_planned = |why| who == Who::Person(Mode::Plan) && before.answers.plans.cover(call, why);
    let covers =
        |why, private: &Names| before.answers.covers(call, why, private, before.now) || is_planned(why);
    if covers(why, &private) {
        // A flow lets private data leave; it does not let anything be changed.
        match change.filter(|_| why.is_leaving()) {
            Some(change) if !covers(change, &Names::new()) => why = change,
            _ => return run(is_typed),
        }
    }
    if who == Who::Person(Mode::Reads) {
        return Verdict::Refuse(Refused::Nobody(why));
    }
    if call.arguments.len() > shown::MOST {
        return Verdict::Refuse(Refused::TooLarge);
    }
    let private = if why.is_leaving() { private } else { Names::new() };
    Verdict::Ask(Question { why, private, covers: answers::offered(who, call, why) })
}

/// The question to the person before an AI client's first call of a source that it was not given.
#[must_use]
pub fn first_use() -> Question {
    let covers = vec![Cover::Once, Cover::TenMinutes, Cover::Always];
    Question { why: Why::FirstUse, private: Names::new(), covers }
}

/// The question to the person before a stopped server is started for an origin's call.
#[must_use]
pub fn starts() -> Question {
    Question { why: Why::Starts, private: Names::new(), covers: vec![Cover::Once, Cover::Always] }
}

fn asks_before_leaving(who: Who) -> bool {
    match who {
        Who::Person(_) | Who::Run => true,
        Who::Client { guard } => guard,
        Who::Typed | Who::Page => false,
    }
}

/// First: true if something private would leave with a call. Second: true if only typed text would leave, which is let through.
fn leaves(call: &Call<'_>, before: &Before<'_>) -> (bool, bool) {
    let private = &before.read.private;
    if private.is_empty() || call.holding.reach == Reach::Closed || call.looks {
        return (false, false);
    }
    let is_its_own = private.iter().all(|name| name == call.name);
    let stays = call.effect == Effect::Reads || call.within;
    if is_its_own && stays && !carries_data(call.arguments) {
        return (false, false);
    }
    if before.typed_calls < MOST_TYPED && before.typed.covers(call.arguments, call.schema, call.ids) {
        return (false, true);
    }
    (true, false)
}

/// The reason to ask the person about a call's changes, if there is no answer about them.
fn changes(who: Who, call: &Call<'_>, read: &Read) -> Option<Why> {
    let Holding { reach, writes_theirs, .. } = call.holding;
    let keeps_to_itself = reach == Reach::Closed && !writes_theirs;
    match (call.effect, who) {
        (Effect::Reads, _) | (_, Who::Typed) => None,
        (Effect::Destroys, _) => Some(Why::Destroys),
        (Effect::Writes, _) if keeps_to_itself => None,
        (Effect::Writes, Who::Person(Mode::Ask | Mode::Plan | Mode::Reads)) => Some(Why::Writes),
        (Effect::Writes, Who::Person(Mode::Auto) | Who::Run) => read.untrusted.then_some(Why::Untrusted),
        (Effect::Writes, Who::Page | Who::Client { .. }) => None,
    }
}

/// The names that join what a model has read when it reads the answer of a call. `carried`: what lies in its source's store.
#[must_use]
pub fn joins(call: &Call<'_>, carried: &Names) -> Names {
    let mut names = carried.clone();
    if call.holding.opens {
        names.insert(call.name.to_owned());
    }
    // Never its source's own name: what answers there is somebody else.
    if names_private(call.arguments) {
        names.insert(NETWORK.to_owned());
    }
    names
}

/// True if a call may leave something in its source's own store, which can be read there later. For such a
/// source it is not enough that the server calls a tool read-only.
#[must_use]
pub fn stores(call: &Call<'_>) -> bool {
    call.holding.reach == Reach::Closed && !(call.effect == Effect::Reads && call.is_sure)
}
