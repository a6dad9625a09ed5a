//! Where a server runs: the present start in its runner, and what is known of it.
//!
//! Owns which start is the present one. Must never start or end a runner.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::start_remains::StartRemains;
use crate::link::{Containment, Info};
use crate::store::definitions::Spoken;
use crate::supervisor::place::RunnerPlace;
use crate::supervisor::runners::Runners;

/// The place where a server runs.
pub(in super::super) struct ServerPlace {
    runners: Rc<Runners>,
    present: RefCell<Option<RunnerPlace>>,
    /// A start that has died, until nothing of it is left.
    pub remains: StartRemains,
    /// The number of launches. Of two launches under way, the later one counts.
    launches: Cell<u64>,
    pid: Cell<Option<u32>>,
    info: RefCell<Option<Info>>,
    containment: RefCell<Option<Rc<Containment>>>,
    spoken: RefCell<Option<Spoken>>,
    /// The reason for a coming kill, if the runner will not report it.
    verdict: Cell<Option<&'static str>>,
}

impl ServerPlace {
    /// `spoken`: the generation of MCP that it was found to speak.
    pub fn new(runners: Rc<Runners>, spoken: Option<Spoken>) -> Self {
        Self {
            runners,
            present: RefCell::default(),
            remains: StartRemains::default(),
            launches: Cell::default(),
            pid: Cell::default(),
            info: RefCell::default(),
            containment: RefCell::default(),
            spoken: RefCell::new(spoken),
            verdict: Cell::default(),
        }
    }

    pub fn runners(&self) -> &Rc<Runners> {
        &self.runners
    }

    /// The place of its present start.
    pub fn present(&self) -> Option<RunnerPlace> {
        self.present.borrow().clone()
    }

    pub fn is_free(&self) -> bool {
        self.present.borrow().is_none()
    }

    pub fn is_at(&self, number: u32) -> bool {
        self.present.borrow().as_ref().is_some_and(|place| place.number == number)
    }

    pub fn take(&self, place: RunnerPlace) {
        *self.present.borrow_mut() = Some(place);
    }

    /// Its present start has ended.
    pub fn leave(&self) {
        *self.present.borrow_mut() = None;
        self.pid.set(None);
        *self.info.borrow_mut() = None;
    }

    /// Begins a launch, and returns its number.
    pub fn begin_launch(&self) -> u64 {
        self.launches.set(self.launches.get() + 1);
        self.launches.get()
    }

    /// True if no later launch has begun.
    pub fn is_last_launch(&self, number: u64) -> bool {
        self.launches.get() == number
    }

    pub fn pid(&self) -> Option<u32> {
        self.pid.get()
    }

    /// Its process was started.
    pub fn note_started(&self, pid: u32) {
        self.pid.set(Some(pid));
        let containment = self.present.borrow().as_ref().and_then(|place| place.runner.containment());
        *self.containment.borrow_mut() = containment;
    }

    pub fn containment(&self) -> Option<Rc<Containment>> {
        self.containment.borrow().clone()
    }

    pub fn info(&self) -> Option<Info> {
        self.info.borrow().clone()
    }

    pub fn note_info(&self, info: Info) {
        *self.info.borrow_mut() = Some(info);
    }

    pub fn spoken(&self) -> Option<Spoken> {
        self.spoken.borrow().clone()
    }

    /// Notes the generation of MCP that it speaks. True if another one was known.
    pub fn note_spoken(&self, spoken: &Spoken) -> bool {
        self.spoken.replace(Some(spoken.clone())).as_ref() != Some(spoken)
    }

    pub fn has_verdict(&self) -> bool {
        self.verdict.get().is_some()
    }

    pub fn judge(&self, why: &'static str) {
        self.verdict.set(Some(why));
    }

    pub fn take_verdict(&self) -> Option<&'static str> {
        self.verdict.take()
    }
}
