//! The host's news for its listeners: grants that change, tools that are not as they were.
//!
//! Owns the types. Must never know who is interested in what: each listener decides that.

use std::cell::RefCell;
use std::rc::Rc;

use harbor_ipc_proto::client::{Approval, GrantView, ToolChanged};
use harbor_policy::origin::Origin;

/// Something that happened.
#[derive(Debug)]
pub enum HostEvent<'a> {
    /// A grant was made, taken back, or has ended.
    Grant {
        /// `granted`, `revoked` or `expired`.
        change: &'static str,
        /// The origin that has it.
        origin: &'a Origin,
        /// The grant.
        grant: GrantView,
    },
    /// A tool is new, or has changed since the person last saw it.
    Tool(&'a ToolChanged),
    /// The person is asked about a call, or not any more.
    Question {
        /// The question.
        approval: &'a Approval,
        /// The connection whose request it is about.
        client: u64,
        /// True if the question waits.
        waits: bool,
    },
}

/// A listener for news.
pub type HostEventListener = Rc<dyn Fn(&HostEvent<'_>)>;

/// All listeners.
#[derive(Default)]
pub struct Listeners(RefCell<Vec<HostEventListener>>);

impl std::fmt::Debug for Listeners {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listeners").finish_non_exhaustive()
    }
}

impl Listeners {
    /// Has `listener` told from now on.
    pub fn add(&self, listener: HostEventListener) {
        self.0.borrow_mut().push(listener);
    }

    /// Tells all.
    pub fn tell(&self, news: &HostEvent<'_>) {
        for listener in &*self.0.borrow() {
            listener(news);
        }
    }
}
