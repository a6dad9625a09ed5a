//! The profile that holds a server, and what it was refused.
//!
//! Owns the profile of the last start and the list of refusals. Must never decide what is allowed: the policy does.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use harbor_policy::sandbox::Profile;
use harbor_policy::sandbox::hint::{Advice, Told};
use tokio::sync::Notify;

/// The newest refusals that are kept.
const KEPT: usize = 32;

/// The profile of a start, and what it was decided from.
#[derive(Debug, Clone)]
pub struct Confined {
    /// The profile that holds it.
    pub profile: Profile,
    /// The facts that were found on the disk.
    pub facts: harbor_policy::sandbox::SandboxFacts,
}

/// Something that a server was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    /// A path as the server wrote it; else in words, which begin with no `/`.
    pub path: String,
    /// True if it wanted to write, for a path.
    pub write: bool,
    /// The advice on what would allow it, or why nothing does.
    pub advice: Result<Advice, String>,
}

impl Denied {
    /// The form in which it is told.
    pub(in super::super) fn told(&self) -> Told<'_> {
        let (allow, mind) = match &self.advice {
            Ok(advice) => (Some(&*advice.option), advice.mind),
            Err(_) => (None, None),
        };
        Told { what: &self.path, allow, mind, never: self.advice.as_ref().err().map(String::as_str) }
    }
}

/// The profile that holds a server, and its refusals.
#[derive(Default)]
pub(in super::super) struct Confinement {
    confined: RefCell<Option<Rc<Confined>>>,
    denied: RefCell<VecDeque<Denied>>,
    /// The number of refusals that are being looked up on the disk.
    looking: Cell<u32>,
    looked: Notify,
}

impl Confinement {
    /// The profile of its last start.
    pub fn of_last_start(&self) -> Option<Rc<Confined>> {
        self.confined.borrow().clone()
    }

    pub fn hold(&self, confined: Confined) {
        *self.confined.borrow_mut() = Some(Rc::new(confined));
    }

    /// The refusals, newest last.
    pub fn denied(&self) -> Vec<Denied> {
        self.denied.borrow().iter().cloned().collect()
    }

    /// Notes that a refusal is being looked up on the disk. A guard notes the end by [`Self::end_look`].
    pub fn begin_look(&self) {
        self.looking.set(self.looking.get() + 1);
    }

    pub fn end_look(&self) {
        self.looking.set(self.looking.get().saturating_sub(1));
        self.looked.notify_waiters();
    }

    /// Waits until no refusal is being looked at.
    pub async fn settled(&self) {
        loop {
            let looked = self.looked.notified();
            if self.looking.get() == 0 {
                return;
            }
            looked.await;
        }
    }

    /// Keeps a refusal. True if it is new.
    pub fn keep(&self, denied: Denied) -> bool {
        let mut all = self.denied.borrow_mut();
        let is_new = !all.contains(&denied);
        if is_new {
            all.push_back(denied);
            while all.len() > KEPT {
                all.pop_front();
            }
        }
        is_new
    }

    /// A refusal was none.
    pub fn drop_denied(&self, denied: &Denied) {
        self.denied.borrow_mut().retain(|kept| kept != denied);
    }
}
