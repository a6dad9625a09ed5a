//! The facts about a conversation: what its model has read, what the person has typed, how its calls are treated.
//!
//! Owns these while the conversation lives; its session stores those that have to outlive the bridge. An AI client with
//! its guard on counts as a conversation, too. Must never hold a text that was read: only names of it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use harbor_ipc_proto::client::Approval;
use harbor_policy::consent::typed::Typed;
use harbor_policy::consent::{Mode, Names, Read};

/// Hears of questions about a conversation's calls, and whether they still wait.
pub type OnQuestion = Rc<dyn Fn(&Approval, bool)>;

/// A conversation.
pub struct Chat {
    /// Its session's id.
    pub id: Arc<str>,
    /// The mode that decides about its calls.
    pub mode: Cell<Mode>,
    /// True if it belongs to an AI client, whose turns Harbor does not see.
    pub is_client: bool,
    read: RefCell<Read>,
    pub(super) typed: RefCell<Typed>,
    pub(super) typed_calls: Cell<u32>,
    on_question: RefCell<Option<OnQuestion>>,
}

impl std::fmt::Debug for Chat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chat").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Chat {
    /// A conversation whose model has read `read` before.
    #[must_use]
    pub fn new(id: &str, mode: Mode, read: Read) -> Rc<Self> {
        Rc::new(Self::of(id, mode, read, false))
    }

    /// The conversation of an AI client with this name: everything that the client is answered.
    #[must_use]
    pub fn of_client(name: &str) -> Rc<Self> {
        Rc::new(Self::of(name, Mode::Ask, Read::default(), true))
    }

    fn of(id: &str, mode: Mode, read: Read, is_client: bool) -> Self {
        Self {
            id: id.into(),
            mode: Cell::new(mode),
            is_client,
            read: RefCell::new(read),
            typed: RefCell::new(Typed::new()),
            typed_calls: Cell::default(),
            on_question: RefCell::default(),
        }
    }

    /// A copy of the record of what its model has read.
    #[must_use]
    pub fn read(&self) -> Read {
        self.read.borrow().clone()
    }

    /// True if nothing was read in it.
    pub(super) fn is_new(&self) -> bool {
        !self.read.borrow().untrusted
    }

    /// Notes that the model of this conversation reads text that the person has not typed, and these private names.
    pub fn reads(&self, names: Names) {
        let mut read = self.read.borrow_mut();
        read.untrusted = true;
        read.private.extend(names);
    }

    /// The person types something, which begins a turn.
    pub fn types(&self, text: &str) {
        self.typed_calls.set(0);
        self.typed.borrow_mut().add(text);
    }

    /// Sets who hears of questions about its calls from now on.
    pub fn on_question(&self, listener: Option<OnQuestion>) {
        *self.on_question.borrow_mut() = listener;
    }

    pub(super) fn tell(&self, approval: &Approval, waits: bool) {
        let listener = self.on_question.borrow().clone();
        listener.iter().for_each(|listener| listener(approval, waits));
    }
}
