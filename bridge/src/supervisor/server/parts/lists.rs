//! The words of a server: its lists and its log; and the wishes of its clients to be told of changes.
//!
//! ```text
//!  present start ─► lists ─► known tools (kept after its end)
//!  its output ─► the newest lines
//!  clients ─► subscriptions, level of messages ─► each new start is asked for them
//! ```
//!
//! Owns these. Must never ask the server itself.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::link::ToolList;
use crate::supervisor::lists::Lists;
use crate::supervisor::logs::{Line, Ring};

/// The words of a server, and who wants to hear them.
#[derive(Default)]
pub(in super::super) struct ServerLists {
    present: RefCell<Rc<Lists>>,
    /// Its tools as last listed, also of an earlier start.
    known_tools: RefCell<Option<Rc<ToolList>>>,
    logs: RefCell<Ring>,
    /// How many clients subscribed to each resource.
    subscribers: RefCell<BTreeMap<String, u32>>,
    /// The level from which on somebody wants its messages.
    messages: Cell<Option<usize>>,
}

impl ServerLists {
    /// The lists of the present start.
    pub fn present(&self) -> Rc<Lists> {
        self.present.borrow().clone()
    }

    /// The lists of a new start.
    pub fn begin(&self, lists: Lists) {
        *self.present.borrow_mut() = Rc::new(lists);
    }

    /// Notes the end of the present start: nobody waits for its lists any more.
    pub fn end(&self) {
        self.present.borrow().mark_complete();
        self.begin(Lists::default());
    }

    /// True if these are the lists of the present start.
    pub fn are(&self, lists: &Rc<Lists>) -> bool {
        Rc::ptr_eq(lists, &self.present.borrow())
    }

    pub fn known_tools(&self) -> Option<Rc<ToolList>> {
        self.known_tools.borrow().clone()
    }

    /// Keeps its tools, and returns the tools that were known.
    pub fn know_tools(&self, tools: Rc<ToolList>) -> Option<Rc<ToolList>> {
        self.known_tools.replace(Some(tools))
    }

    pub fn add_line(&self, line: Line) {
        self.logs.borrow_mut().add(line);
    }

    /// How many lines there have been.
    pub fn lines_added(&self) -> u64 {
        self.logs.borrow().added()
    }

    /// The newest lines, at most `limit`, oldest first.
    pub fn last_lines(&self, limit: usize) -> Vec<Line> {
        self.logs.borrow().last(limit)
    }

    /// True if every line since the log's beginning is still here.
    pub fn has_all_lines(&self) -> bool {
        self.logs.borrow().is_whole()
    }

    /// Notes one more client that subscribes to this resource.
    pub fn subscribe(&self, uri: &str) {
        *self.subscribers.borrow_mut().entry(uri.to_owned()).or_default() += 1;
    }

    /// A client gave up its subscription. True if it was the last one.
    pub fn unsubscribe(&self, uri: &str) -> bool {
        let mut subscribers = self.subscribers.borrow_mut();
        let left = subscribers.get_mut(uri).map_or(0, |count| {
            *count -= 1;
            *count
        });
        if left == 0 {
            subscribers.remove(uri);
        }
        left == 0
    }

    /// The resources that somebody subscribed to.
    pub fn subscriptions(&self) -> Vec<String> {
        self.subscribers.borrow().keys().cloned().collect()
    }

    pub fn has_subscriptions(&self) -> bool {
        !self.subscribers.borrow().is_empty()
    }

    /// The level from which on somebody wants its messages.
    pub fn wanted_messages(&self) -> Option<usize> {
        self.messages.get()
    }

    /// Notes a wish for messages from this level on. True if no client wanted messages from so low a level before.
    pub fn want_messages(&self, level: usize) -> bool {
        let is_new = self.messages.get().is_none_or(|wanted| level < wanted);
        if is_new {
            self.messages.set(Some(level));
        }
        is_new
    }
}
