//! The servers beside a server: its instances, the plain server of an instance, and those that had its id before.
//!
//! Owns who they are. Must never start or stop one.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::{Rc, Weak};
use std::sync::Arc;

/// Instances that are known at most, running or not.
const KNOWN: usize = 128;

/// The owner of an instance, a server of the type `S`.
#[derive(Debug)]
pub(in super::super) struct InstanceOwner<S> {
    pub plain: Weak<S>,
    /// The principal, for people.
    pub principal: Arc<str>,
    /// The instance's name, such as `memory@0123456789abcdef`.
    pub name: Arc<str>,
    pub key: String,
}

/// The servers of the type `S` beside a server.
#[derive(Debug)]
pub(in super::super) struct Instances<S> {
    owner: Option<InstanceOwner<S>>,
    /// The connections by which an instance was used.
    clients: RefCell<BTreeSet<u64>>,
    all: RefCell<BTreeMap<String, Rc<S>>>,
    /// The instances that were ended and may not be down yet.
    ended: RefCell<Vec<Rc<S>>>,
    /// The servers that had this id before, while they may not be down.
    predecessors: RefCell<Vec<Rc<S>>>,
}

impl<S> Instances<S> {
    /// `owner`: of an instance.
    pub fn new(owner: Option<InstanceOwner<S>>) -> Self {
        Self {
            owner,
            clients: RefCell::default(),
            all: RefCell::default(),
            ended: RefCell::default(),
            predecessors: RefCell::default(),
        }
    }

    pub fn owner(&self) -> Option<&InstanceOwner<S>> {
        self.owner.as_ref()
    }

    pub fn is_instance(&self) -> bool {
        self.owner.is_some()
    }

    /// An instance is used by this connection.
    pub fn add_client(&self, client: u64) {
        self.clients.borrow_mut().insert(client);
    }

    /// A connection has gone. True if an instance was used by it, and by no other.
    pub fn client_left(&self, client: u64) -> bool {
        let mut clients = self.clients.borrow_mut();
        clients.remove(&client) && clients.is_empty()
    }

    pub fn clients(&self) -> Vec<u64> {
        self.clients.borrow().iter().copied().collect()
    }

    pub fn of(&self, key: &str) -> Option<Rc<S>> {
        self.all.borrow().get(key).cloned()
    }

    pub fn all(&self) -> Vec<Rc<S>> {
        self.all.borrow().values().cloned().collect()
    }

    /// Adds an instance. If there are many, forgets those that are down.
    pub fn add(&self, key: String, instance: Rc<S>, is_down: impl Fn(&S) -> bool) {
        let mut all = self.all.borrow_mut();
        if all.len() >= KNOWN {
            all.retain(|_, one| !is_down(one));
        }
        all.insert(key, instance);
    }

    /// Takes out those for which `which` is true.
    pub fn take(&self, which: impl Fn(&Rc<S>) -> bool) -> Vec<Rc<S>> {
        let mut all = self.all.borrow_mut();
        let keys: Vec<_> = all.iter().filter(|(_, one)| which(one)).map(|(key, _)| key.clone()).collect();
        keys.into_iter().filter_map(|key| all.remove(&key)).collect()
    }

    /// The instances that may not be down yet.
    pub fn ended(&self, is_down: impl Fn(&S) -> bool) -> Vec<Rc<S>> {
        let mut ended = self.ended.borrow_mut();
        ended.retain(|one| !is_down(one));
        ended.clone()
    }

    pub fn add_ended(&self, ended: Vec<Rc<S>>) {
        self.ended.borrow_mut().extend(ended);
    }

    pub fn predecessors(&self) -> Vec<Rc<S>> {
        self.predecessors.borrow().clone()
    }

    pub fn has_predecessors(&self) -> bool {
        !self.predecessors.borrow().is_empty()
    }

    pub fn follow(&self, predecessors: Vec<Rc<S>>) {
        *self.predecessors.borrow_mut() = predecessors;
    }

    pub fn forget_predecessors(&self, is_down: impl Fn(&S) -> bool) {
        self.predecessors.borrow_mut().retain(|server| !is_down(server));
    }
}
