//! A server's knowledge of its secrets: what its last start was given, and what it lacks.
//!
//! Owns what is hidden in texts of it. Must never read secrets, nor give them to anybody.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use harbor_policy::credentials::Credentials;
use harbor_policy::redaction::Redactor;

/// The secrets that the last start was given.
#[derive(Debug, Default)]
struct StartSecrets {
    /// Finds the values in texts.
    redactor: Rc<Redactor>,
    /// Finds the tokens that were renewed last.
    renewed: Rc<Redactor>,
    /// Names of the variables.
    names: Vec<String>,
}

/// A server's knowledge of its secrets.
#[derive(Default)]
pub(in super::super) struct ServerSecrets {
    given: RefCell<StartSecrets>,
    /// The server's words about the one whom it refuses.
    challenge: RefCell<Option<String>>,
    /// True if its last start was given up because its secrets are locked.
    barred: Cell<bool>,
    /// True if a secret was missing when it was looked last.
    lacking: Cell<bool>,
    /// Secrets that were set before this time were given to another program of this name.
    since: Cell<Option<u64>>,
}

impl ServerSecrets {
    /// Hides these secrets from now on. `headers` are the headers that contain them; `names` are the variables.
    pub fn note_given(&self, secrets: &Credentials, headers: &[(&str, &str)], names: Vec<String>) {
        let redactor = Rc::new(secrets.redactor(headers));
        *self.given.borrow_mut() = StartSecrets { redactor, renewed: Rc::default(), names };
    }

    /// Hides these tokens, too.
    pub fn also_hide(&self, renewed: Rc<Redactor>) {
        self.given.borrow_mut().renewed = renewed;
    }

    pub fn redactor(&self) -> Rc<Redactor> {
        self.given.borrow().redactor.clone()
    }

    pub fn names(&self) -> Vec<String> {
        self.given.borrow().names.clone()
    }

    /// True if the last start was given any.
    pub fn were_given(&self) -> bool {
        let given = self.given.borrow();
        !given.redactor.is_empty() || !given.renewed.is_empty()
    }

    /// A text without the secrets of the last start.
    pub fn hidden(&self, text: &str) -> String {
        let given = self.given.borrow();
        let once = given.redactor.redact(text);
        match given.renewed.redact(&once) {
            Cow::Owned(hidden) => hidden,
            Cow::Borrowed(_) => once.into_owned(),
        }
    }

    pub fn challenge(&self) -> Option<String> {
        self.challenge.borrow().clone()
    }

    pub fn set_challenge(&self, challenge: Option<String>) {
        *self.challenge.borrow_mut() = challenge;
    }

    pub fn set_barred(&self, barred: bool) {
        self.barred.set(barred);
    }

    /// True if its start was given up for want of secrets. Then it no longer counts as given up.
    pub fn take_barred(&self) -> bool {
        self.barred.take()
    }

    pub fn are_lacking(&self) -> bool {
        self.lacking.get()
    }

    pub fn set_lacking(&self, lacking: bool) {
        self.lacking.set(lacking);
    }

    /// The time before which they were another program's.
    pub fn since(&self) -> Option<u64> {
        self.since.get()
    }

    pub fn set_since(&self, since: Option<u64>) {
        self.since.set(since);
    }

    /// Leaves out those that were another program's.
    pub fn withhold(&self, secrets: &mut Credentials) {
        if let Some(since) = self.since.get() {
            secrets.0.retain(|_, secret| secret.set_at >= since);
        }
    }
}
