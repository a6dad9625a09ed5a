//! A conversation that the bridge holds.
//!
//! Owns its messages, and the rule that it has one turn at most. Whenever somebody else can see the messages, they are
//! complete: a call is there only with its result.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Instant;

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::client::{ChatSessionView, ChatUsage, SessionUpdates};
use harbor_ipc_proto::model::{ModelMessage, Part};
use harbor_policy::consent::Read;
use harbor_policy::history;
use tokio::sync::Notify;

use super::context::mended;
use super::mode::{SessionMode, consents};
use super::summary::HistorySummary;
use super::tool_results::SessionResults;
use super::turn_log::TurnLog;
use crate::host::consent::chat::Chat;
use crate::models::usage_sum;

/// The longest name that is made of a first message, in characters.
const NAME: usize = 60;

/// Stands for all servers in a list of servers.
pub const EVERY: &str = "*";

/// The settings of a session, besides its messages.
#[derive(Debug, Clone)]
pub struct SessionHead {
    /// A name for people; empty until the first message.
    pub name: String,
    /// The sources whose tools it may use.
    pub servers: Option<Vec<String>>,
    /// The text that the model is told first.
    pub system: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The calls that need no question.
    pub mode: SessionMode,
    /// True if it is never written down.
    pub private: bool,
    /// When it began, in milliseconds since 1970.
    pub created: u64,
    /// When the last message came.
    pub updated: u64,
    /// What the model had read in it before it was opened.
    pub read: Read,
    /// True if it stands first in lists.
    pub pinned: bool,
    /// Where it comes from, if it is a branch.
    pub branch: Option<BranchPoint>,
    /// The tokens that its turns have used.
    pub used: Option<ChatUsage>,
}

/// The place at which a branch left its family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchPoint {
    /// The first session of the family.
    pub root: String,
    /// How many messages it took over.
    pub at: u64,
}

impl SessionHead {
    /// A head for a session that begins now.
    #[must_use]
    pub fn new(mode: SessionMode, private: bool) -> Self {
        let now = wall_clock();
        Self {
            name: String::new(),
            servers: None,
            system: None,
            model: None,
            mode,
            private,
            created: now,
            updated: now,
            read: Read::default(),
            pinned: false,
            branch: None,
            used: None,
        }
    }

    /// The view for clients of a session with this head.
    pub(super) fn view(
        &self,
        id: &str,
        read: Read,
        messages: usize,
        turn: Option<String>,
    ) -> ChatSessionView {
        ChatSessionView {
            id: id.to_owned(),
            name: self.name.clone(),
            enabledServers: self.servers.clone(),
            systemPrompt: self.system.clone(),
            model: self.model.clone(),
            mode: self.mode.word().into(),
            private: self.private,
            readUntrusted: read.untrusted,
            privateNames: read.private.into_iter().collect(),
            messageCount: messages as u64,
            createdAt: self.created,
            updatedAt: self.updated,
            turn_id: turn,
            pinned: self.pinned.then_some(true),
            branchOf: self.branch.as_ref().map(|branch| branch.root.clone()),
            branchAt: self.branch.as_ref().map(|branch| branch.at),
            usage: self.used.clone(),
        }
    }

    /// The first session of its family.
    pub(super) fn root<'a>(&'a self, id: &'a str) -> &'a str {
        self.branch.as_ref().map_or(id, |branch| &branch.root)
    }
}

/// A turn that is under way.
#[derive(Debug)]
pub struct Ongoing {
    /// Its events.
    pub log: Rc<TurnLog>,
    /// Set off when the turn is to end.
    pub stop: Notify,
}

/// A session.
#[derive(Debug)]
pub struct Session {
    /// Its id.
    pub id: String,
    /// Its settings.
    pub head: RefCell<SessionHead>,
    /// Its messages.
    pub messages: RefCell<Vec<ModelMessage>>,
    /// The answer that a turn works on, with its results so far: its file has them behind the messages.
    pub under_way: RefCell<Vec<ModelMessage>>,
    /// Results that were too long for the model.
    pub kept: Rc<SessionResults>,
    /// The summary that stands for its oldest turns in requests.
    pub summary: RefCell<Option<HistorySummary>>,
    /// True if the summary of an earlier bridge was looked for.
    pub has_looked_for_summary: Cell<bool>,
    /// The facts about it for consent.
    pub chat: Rc<Chat>,
    ongoing: RefCell<Option<Rc<Ongoing>>>,
    last: RefCell<Rc<TurnLog>>,
    /// Set off when a turn begins.
    begun: Notify,
    /// True if it was deleted.
    gone: Cell<bool>,
    /// When it was last asked for, and the connection that began it.
    asked: Cell<Instant>,
    began_by: Cell<Option<u64>>,
}

/// While this exists, a turn is under way.
#[derive(Debug)]
pub struct TurnGuard {
    session: Rc<Session>,
    /// The turn.
    pub ongoing: Rc<Ongoing>,
}

impl Drop for TurnGuard {
    fn drop(&mut self) {
        self.ongoing.log.end();
        *self.session.ongoing.borrow_mut() = None;
    }
}

impl Session {
    /// A session with its earlier messages.
    #[must_use]
    pub fn new(id: String, head: SessionHead, messages: Vec<ModelMessage>) -> Rc<Self> {
        Self::sharing(id, head, messages, Rc::default())
    }

    /// A session with the results that another one keeps, since its messages name them.
    #[must_use]
    pub fn sharing(
        id: String,
        head: SessionHead,
        messages: Vec<ModelMessage>,
        kept: Rc<SessionResults>,
    ) -> Rc<Self> {
        let none = TurnLog::new(String::new(), 0);
        none.end();
        Rc::new(Self {
            chat: Chat::new(&id, consents(head.mode), head.read.clone()),
            id,
            head: RefCell::new(head),
            messages: RefCell::new(messages),
            under_way: RefCell::default(),
            kept,
            summary: RefCell::default(),
            has_looked_for_summary: Cell::default(),
            ongoing: RefCell::default(),
            last: RefCell::new(none),
            begun: Notify::new(),
            gone: Cell::default(),
            asked: Cell::new(Instant::now()),
            began_by: Cell::default(),
        })
    }

    /// Notes the connection that began it.
    pub fn is_begun_by(&self, client: u64) {
        self.began_by.set(Some(client));
    }

    /// Notes that somebody asks for it.
    pub fn is_asked_for(&self) {
        self.asked.set(Instant::now());
    }

    /// True if it is private, and was begun by this connection.
    #[must_use]
    pub fn is_private_of(&self, client: u64) -> bool {
        self.head.borrow().private && self.began_by.get() == Some(client)
    }

    /// True if nobody has asked for it since `left`.
    #[must_use]
    pub fn is_left_behind(&self, left: Instant) -> bool {
        self.ongoing().is_none() && self.asked.get() < left
    }

    /// Counts the tokens of a request.
    pub fn spend(&self, one: ChatUsage) {
        let mut head = self.head.borrow_mut();
        head.used = Some(usage_sum(head.used.take(), one));
    }

    /// Begins a turn, unless one is under way.
    #[must_use]
    pub fn begin(self: &Rc<Self>, turn: String) -> Option<TurnGuard> {
        let mut ongoing = self.ongoing.borrow_mut();
        if ongoing.is_some() || self.gone.get() {
            return None;
        }
        let log = TurnLog::new(turn, self.last.borrow().next());
        *self.last.borrow_mut() = log.clone();
        let begun = Rc::new(Ongoing { log, stop: Notify::new() });
        *ongoing = Some(begun.clone());
        self.begun.notify_waiters();
        Some(TurnGuard { session: self.clone(), ongoing: begun })
    }

    /// The turn that is under way.
    #[must_use]
    pub fn ongoing(&self) -> Option<Rc<Ongoing>> {
        self.ongoing.borrow().clone()
    }

    /// The events of the last turn.
    #[must_use]
    pub fn last_log(&self) -> Rc<TurnLog> {
        self.last.borrow().clone()
    }

    /// Waits for a turn after that of `log`. None if the session was deleted.
    pub async fn next_log(&self, log: &Rc<TurnLog>) -> Option<Rc<TurnLog>> {
        loop {
            let mut begun = std::pin::pin!(self.begun.notified());
            begun.as_mut().enable();
            let last = self.last_log();
            if !Rc::ptr_eq(&last, log) {
                return Some(last);
            }
            if self.gone.get() {
                return None;
            }
            begun.await;
        }
    }

    /// Ends the current turn; true if there was one.
    pub fn stop(&self) -> bool {
        let ongoing = self.ongoing();
        ongoing.iter().for_each(|ongoing| ongoing.stop.notify_one());
        ongoing.is_some()
    }

    /// Ends the session, since it is deleted: its turn ends, and none follows.
    pub fn end(&self) {
        self.gone.set(true);
        self.stop();
        self.begun.notify_waiters();
    }

    /// True if it was deleted.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.gone.get()
    }

    /// Adds a message; the first one gives the session its name.
    pub fn say(&self, message: ModelMessage) {
        let mut head = self.head.borrow_mut();
        head.updated = wall_clock();
        if head.name.is_empty() {
            let said = |part: &Part| if let Part::Text(text) = part { Some(name_of(text)) } else { None };
            let named = |part: &Part| match part {
                Part::Attached(attached) => Some(name_of(&attached.title)),
                _ => None,
            };
            let parts = message.parts.iter().rev();
            head.name = parts.clone().find_map(said).or(parts.clone().find_map(named)).unwrap_or_default();
        }
        self.messages.borrow_mut().push(message);
    }

    /// Mends messages that must not be sent as they are: a model may have given two calls one id.
    pub fn mend(&self) {
        let mut messages = self.messages.borrow_mut();
        if history::check(&messages).is_err() {
            *messages = mended(std::mem::take(&mut *messages));
        }
    }

    /// Changes its settings.
    ///
    /// # Errors
    /// The field that is wrong, and what is expected there.
    pub fn update(&self, updates: SessionUpdates) -> Result<(), (&'static str, &'static str)> {
        let SessionUpdates { name, systemPrompt: system, enabledServers: servers, model, mode, pinned } =
            updates;
        let mode =
            mode.map(|mode| SessionMode::of(&mode).ok_or(("mode", "ask, reads or auto"))).transpose()?;
        let mut head = self.head.borrow_mut();
        let filled = |text: String| Some(text).filter(|text| !text.is_empty());
        head.name = name.map_or_else(|| std::mem::take(&mut head.name), |name| name_of(&name));
        head.mode = mode.unwrap_or(head.mode);
        head.pinned = pinned.unwrap_or(head.pinned);
        if let Some(system) = system {
            head.system = filled(system);
        }
        if let Some(servers) = servers {
            head.servers = Some(servers).filter(|servers| !servers.iter().any(|server| server == EVERY));
        }
        if let Some(model) = model {
            head.model = filled(model);
        }
        Ok(())
    }

    /// The view for clients.
    #[must_use]
    pub fn view(&self) -> ChatSessionView {
        let turn = self.ongoing().map(|ongoing| ongoing.log.turn.clone());
        self.head.borrow().view(&self.id, self.chat.read(), self.messages.borrow().len(), turn)
    }
}

/// The beginning of a text as a name: one line without control characters.
pub(super) fn name_of(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut shown = line.chars().filter(|c| !c.is_control());
    let name: String = shown.by_ref().take(NAME).collect();
    if shown.next().is_some() { name + "…" } else { name }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_private_session_is_left_behind_when_nobody_has_asked_for_it_since_its_client_left() {
        let session = Session::new("1".into(), SessionHead::new(SessionMode::Ask, true), Vec::new());
        session.is_begun_by(7);
        assert!(session.is_private_of(7) && !session.is_private_of(8));
        let left = Instant::now() + Duration::from_millis(1);
        assert!(session.is_left_behind(left));
        let turn = session.begin("t".into());
        assert!(!session.is_left_behind(left), "a turn is under way");
        drop(turn);
        session.asked.set(left);
        assert!(!session.is_left_behind(left), "somebody else goes on with it");
        session.head.borrow_mut().private = false;
        assert!(!session.is_private_of(7), "it is in the list of files");
    }
}
