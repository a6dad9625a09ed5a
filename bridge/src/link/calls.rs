//! The open calls of one link.
//!
//! Owns the promise that each call ends exactly once: its caller is told, or has left. A [`Call`] that is dropped before its
//! answer came takes itself out of the table and has the runner tell the server.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use harbor_child::outbox::Refused;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::runner::ToRunner;

use tokio::sync::oneshot;

use super::deadlines::Deadlines;
use super::page_search::PageSearch;
use super::questions::{Answerer, RoutedQuestion};
use super::{EndReport, Link, ServerAnswer};

/// Why a call came to no answer at all.
#[derive(Debug, Clone)]
pub enum CallError {
    /// Its server is gone.
    Ended(Rc<EndReport>),
    /// Its runner is gone.
    RunnerLost,
    /// The runner does not read.
    Congested,
    /// No answer came in time; the server was told.
    Timeout,
    /// Nobody has answered in time what the server asked; it was told to stop.
    Unanswered,
}

impl From<Refused> for CallError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Full => Self::Congested,
            Refused::Closed => Self::RunnerLost,
        }
    }
}

/// Progress of a call; numbers are JSON text.
#[derive(Debug)]
pub struct Progress {
    /// How far the call is.
    pub progress: Json,
    /// The value that `progress` has at the end.
    pub total: Option<Json>,
    /// The server's words about it.
    pub message: Option<String>,
}

impl Progress {
    /// Reads the runner's message. None if its numbers are no numbers.
    pub(super) fn checked(progress: &str, total: Option<&str>, message: Option<&str>) -> Option<Self> {
        Some(Self {
            progress: number(progress)?,
            total: total.and_then(number),
            message: message.map(ToOwned::to_owned),
        })
    }
}

fn number(text: &str) -> Option<Json> {
    serde_json::from_str::<serde_json::Number>(text).ok().map(|_| Json::from_valid(text.to_owned()))
}

/// The function that receives each sign of progress.
pub type OnProgress = Rc<dyn Fn(&Progress)>;

/// The party on whose behalf a call is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallParty {
    /// The number of its connection.
    pub client: u64,
    /// The origin that it speaks for, where it does.
    pub origin: Option<Arc<str>>,
    /// An id of the token with which an AI client came, if it has one of its own.
    pub token_id: Option<Arc<str>>,
}

/// The maker of a call, and the listeners that it has while the call is open. By default the bridge is the maker.
#[derive(Default, Clone)]
pub struct Audience {
    /// The party for which the call is made.
    pub party: Option<CallParty>,
    /// Receives its progress.
    pub progress: Option<OnProgress>,
    /// The conversation of the agent that it is part of.
    pub conversation: Option<Arc<str>>,
    /// Answers the server's questions.
    pub answerer: Option<Answerer>,
    /// Has a model look for what the caller means in a page.
    pub page_search: Option<PageSearch>,
}

impl Audience {
    /// True if a call may last longer than the time without a sign of progress, since progress or a question may come.
    #[must_use]
    pub fn may_take_longer(&self) -> bool {
        self.progress.is_some() || self.answerer.is_some()
    }
}

/// How long a client may think about what a server asks.
pub const TIME_TO_ANSWER: Duration = Duration::from_secs(180);

/// The most questions that a server may ask about one call.
const MOST_QUESTIONS: u32 = 128;

/// How a call ended.
pub type CallResult = Result<ServerAnswer, CallError>;

/// How long a call may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimit {
    /// How long the call may take without a sign of progress. Each sign gives it that time again.
    pub quiet: Duration,
    /// How long it may take in all.
    pub whole: Duration,
    /// The part of it that had passed before the call was sent.
    pub used: Duration,
}

impl TimeLimit {
    /// A limit that no progress extends.
    #[must_use]
    pub fn fixed(limit: Duration) -> Self {
        Self { quiet: limit, whole: limit, used: Duration::ZERO }
    }
}

/// A call whose answer has not come.
pub(super) struct OpenCall {
    server: u32,
    deadline: Instant,
    quiet: Duration,
    /// Later than this no progress moves the deadline.
    latest: Instant,
    caller: oneshot::Sender<CallResult>,
    audience: Audience,
    /// How many questions there were about it.
    asked: u32,
    /// True if one of them waits for its answer.
    is_asking: bool,
}

impl OpenCall {
    pub(super) fn server(&self) -> u32 {
        self.server
    }

    fn takes(&self, method: &str) -> Option<&'static str> {
        self.audience.answerer.as_ref().and_then(|answerer| answerer.takes(method))
    }

    /// The error of a call whose time is up.
    pub(super) fn late(&self) -> CallError {
        if self.is_asking { CallError::Unanswered } else { CallError::Timeout }
    }

    /// Ends the call and tells its caller.
    pub(super) fn end(self, ending: CallResult) {
        // The last of its progress comes before its answer.
        drop(self.audience);
        // Its caller may have left in this very moment.
        drop(self.caller.send(ending));
    }
}

/// The table of open calls.
#[derive(Default)]
pub(super) struct OpenCalls {
    next: u64,
    open: BTreeMap<u64, OpenCall>,
    pub(super) deadlines: Deadlines,
    rearm: bool,
}

impl std::fmt::Debug for OpenCalls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Calls").field("open", &self.open.len()).finish()
    }
}

impl OpenCalls {
    /// The number of the next call.
    pub(super) fn next_id(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Takes the call that an answer ends. None if it is closed already, or belongs to another server.
    pub(super) fn close(&mut self, id: u64, server: u32) -> Option<OpenCall> {
        self.open.get(&id).is_some_and(|open| open.server == server).then(|| self.forget(id)).flatten()
    }

    pub(super) fn forget(&mut self, id: u64) -> Option<OpenCall> {
        let open = self.open.remove(&id)?;
        self.deadlines.remove(open.deadline, id);
        Some(open)
    }

    /// Notes progress of a call, which gives it the same time again. Returns the function for that progress.
    pub(super) fn progress(&mut self, id: u64, server: u32, now: Instant) -> Option<OnProgress> {
        let open = self.open.get_mut(&id).filter(|open| open.server == server)?;
        let (later, progress) = (now + open.quiet, open.audience.progress.clone());
        if later > open.deadline {
            self.set_deadline(id, later);
        }
        progress
    }

    /// Finds who answers a question of this server: the maker of the named call, or of all open calls, if no call is
    /// named and one party made them. They get [`TIME_TO_ANSWER`] in place of the time without a sign of progress.
    pub(super) fn asked(
        &mut self,
        server: u32,
        about: Option<u64>,
        method: &str,
        now: Instant,
    ) -> Option<RoutedQuestion> {
        let of_clients = |open: &OpenCall| open.server == server && open.audience.party.is_some();
        let id = about.or_else(|| {
            let open = self.open.iter().filter(|(_, open)| of_clients(open));
            let (_, first) = open.clone().next()?;
            let is_one = open.clone().all(|(_, other)| other.audience.party == first.audience.party);
            // The newest is the likeliest.
            is_one
                .then(|| open.filter(|(_, open)| open.takes(method).is_some()).map(|(id, _)| *id).max())
                .flatten()
        })?;
        let open = self.open.get_mut(&id).filter(|open| of_clients(open) && open.asked < MOST_QUESTIONS)?;
        let (answerer, method) = (open.audience.answerer.clone()?, open.takes(method)?);
        open.asked += 1;
        open.is_asking = true;
        let until = (now + TIME_TO_ANSWER).min(open.latest);
        self.set_deadline(id, until);
        Some(RoutedQuestion { call: id, answerer, method, until })
    }

    /// A question about a call is answered: it is its server's turn again.
    pub(super) fn answered(&mut self, id: u64, now: Instant) {
        let Some(open) = self.open.get_mut(&id) else { return };
        open.is_asking = false;
        let later = now + open.quiet;
        self.set_deadline(id, later);
    }

    /// Moves a call's deadline, within the whole of its time.
    fn set_deadline(&mut self, id: u64, at: Instant) {
        let Some(open) = self.open.get_mut(&id) else { return };
        let at = at.min(open.latest);
        self.deadlines.remove(open.deadline, id);
        // The timer fires at an earlier deadline and finds nothing due: no need to arm it anew for a later one.
        self.rearm |= self.deadlines.add(at, id);
        open.deadline = at;
    }

    /// True if the timer has to be armed anew. Asking clears this.
    pub(super) fn take_rearm(&mut self) -> bool {
        std::mem::take(&mut self.rearm)
    }

    pub(super) fn take_of(&mut self, server: u32) -> impl Iterator<Item = OpenCall> + use<> {
        let ids: Vec<_> =
            self.open.iter().filter(|(_, open)| open.server == server).map(|(id, _)| *id).collect();
        ids.into_iter().filter_map(|id| self.forget(id)).collect::<Vec<_>>().into_iter()
    }

    pub(super) fn take_all(&mut self) -> impl Iterator<Item = OpenCall> + use<> {
        self.deadlines = Deadlines::default();
        std::mem::take(&mut self.open).into_values()
    }
}

/// A call on its way. Drop it to cancel it.
#[derive(Debug)]
pub(super) struct LinkCallGuard {
    link: Rc<Link>,
    server: u32,
    id: u64,
}

impl LinkCallGuard {
    /// The table's entry for a call that was sent as number `id`.
    pub(super) fn open(
        (link, server, id): (&Rc<Link>, u32, u64),
        limit: TimeLimit,
        audience: Audience,
        caller: oneshot::Sender<CallResult>,
    ) -> Self {
        let now = Instant::now();
        let left = |limit_of: Duration| now + limit_of.saturating_sub(limit.used);
        let (deadline, latest) = (left(limit.quiet.min(limit.whole)), left(limit.whole));
        let mut calls = link.calls.borrow_mut();
        let call = OpenCall {
            server,
            deadline,
            quiet: limit.quiet,
            latest,
            caller,
            audience,
            asked: 0,
            is_asking: false,
        };
        calls.open.insert(id, call);
        if calls.deadlines.add(deadline, id) {
            link.rearm.notify_one();
        }
        Self { link: link.clone(), server, id }
    }
}

impl Drop for LinkCallGuard {
    fn drop(&mut self) {
        let open = self.link.calls.borrow_mut().forget(self.id);
        // Its server is told first: with the call ends what its caller holds for it.
        if open.is_some() {
            self.link.send(&ToRunner::Cancel {
                server: self.server,
                id: self.id,
                reason: "the caller has left".into(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_whose_question_nobody_answers_says_so_at_its_end() {
        let (caller, _ending) = oneshot::channel();
        let can = Json::from_valid(r#"{"elicitation":{}}"#.into());
        let party = Some(CallParty { client: 1, origin: None, token_id: None });
        let audience = Audience { party, answerer: Answerer::new(&can, |_| ()), ..Audience::default() };
        let now = Instant::now();
        let limit = Duration::from_secs(1);
        let open = OpenCall {
            server: 1,
            deadline: now,
            quiet: limit,
            latest: now + limit,
            caller,
            audience,
            asked: 0,
            is_asking: false,
        };
        let mut calls = OpenCalls::default();
        calls.open.insert(7, open);
        let late = |calls: &OpenCalls| calls.open.get(&7).unwrap().late();
        assert!(matches!(late(&calls), CallError::Timeout));
        assert!(calls.asked(1, Some(7), "elicitation/create", now).is_some());
        assert!(matches!(late(&calls), CallError::Unanswered));
        calls.answered(7, now);
        assert!(matches!(late(&calls), CallError::Timeout));
    }
}
