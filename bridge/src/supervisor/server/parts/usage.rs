//! How a server is used: its open requests, the calls that wait, and whether it gives signs of life meanwhile.
//!
//! Owns the counts, and the watch over them. Must never end a call or the server.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use harbor_policy::limits;
use harbor_policy::liveness::{Liveness, LivenessAction, LivenessEvent};
use harbor_policy::slots::{Slot, Slots};

use crate::alarm::Alarm;

/// The use of a server.
pub(in super::super) struct ServerUse {
    slots: Slots,
    queue: Slots,
    /// Calls that it is working on.
    open: Cell<u32>,
    last_used: Cell<Instant>,
    idling: Alarm,
    liveness: RefCell<Liveness>,
    probing: Alarm,
    /// Late answers, as told by its runner and as seen here, of earlier starts and of this one.
    late: Cell<u64>,
    late_of_start: Cell<u64>,
}

impl ServerUse {
    /// `hung_grace`: how long it may be silent after a call's timeout.
    pub fn new(hung_grace: Duration) -> Self {
        Self {
            slots: Slots::new(limits::OPEN_PER_SERVER),
            queue: Slots::new(limits::QUEUE_LENGTH),
            open: Cell::default(),
            last_used: Cell::new(Instant::now()),
            idling: Alarm::default(),
            liveness: RefCell::new(Liveness::new(hung_grace)),
            probing: Alarm::default(),
            late: Cell::default(),
            late_of_start: Cell::default(),
        }
    }

    /// A place for one more open request.
    pub fn slot(&self) -> Option<Slot> {
        self.slots.take()
    }

    /// A place among the calls that wait for it to run.
    pub fn place_in_queue(&self) -> Option<Slot> {
        self.queue.take()
    }

    pub fn queued(&self) -> u32 {
        self.queue.taken()
    }

    pub fn begin_call(&self) {
        self.open.set(self.open.get() + 1);
    }

    pub fn end_call(&self) {
        self.open.set(self.open.get().saturating_sub(1));
        self.touch();
    }

    pub fn open_calls(&self) -> u32 {
        self.open.get()
    }

    pub fn is_in_use(&self) -> bool {
        self.open.get() > 0
    }

    /// It is used now.
    pub fn touch(&self) {
        self.last_used.set(Instant::now());
    }

    pub fn last_used(&self) -> Instant {
        self.last_used.get()
    }

    pub fn idle_for(&self) -> Duration {
        self.last_used.get().elapsed()
    }

    pub fn set_idle_alarm<T: 'static>(&self, server: &Rc<T>, wait: Option<Duration>, ring: fn(&Rc<T>)) {
        self.idling.set(server, wait, ring);
    }

    /// Begins the watch anew. Nothing is known of a server that does not run.
    pub fn stop_watching(&self, hung_grace: Duration) {
        self.probing.clear();
        self.idling.clear();
        *self.liveness.borrow_mut() = Liveness::new(hung_grace);
    }

    pub fn change_grace(&self, hung_grace: Duration) {
        self.liveness.borrow_mut().change(hung_grace);
    }

    /// True if the watch waits for something.
    pub fn is_watched(&self) -> bool {
        self.liveness.borrow().deadline().is_some()
    }

    /// True if it does not answer probes.
    pub fn is_busy(&self) -> bool {
        self.liveness.borrow().is_busy()
    }

    /// Feeds an event to the watch, and returns the actions. `ring` is called at the watch's next deadline.
    pub fn watch<T: 'static>(
        &self,
        event: LivenessEvent,
        now: u64,
        server: &Rc<T>,
        ring: fn(&Rc<T>),
    ) -> &'static [LivenessAction] {
        let actions = self.liveness.borrow_mut().on(event, self.is_in_use(), now);
        let next = self.liveness.borrow().deadline();
        let wait = next.map(|at| Duration::from_millis(at.saturating_sub(now)));
        self.probing.set(server, wait, ring);
        actions
    }

    /// Late answers, of all starts.
    pub fn late_answers(&self) -> u64 {
        self.late.get() + self.late_of_start.get()
    }

    pub fn note_late_of_start(&self, count: u64) {
        self.late_of_start.set(count);
    }

    pub fn count_late(&self) {
        self.late.set(self.late.get() + 1);
    }

    /// The present start has ended: its late answers are those of an earlier one.
    pub fn end_start(&self) {
        self.late.set(self.late.get() + self.late_of_start.take());
    }
}
