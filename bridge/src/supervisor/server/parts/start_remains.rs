//! A start that has died, until nothing of it is left.
//!
//! Owns where its remains are, and the alarm for a runner that does not clear them up.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use crate::alarm::Alarm;
use crate::supervisor::place::RunnerPlace;

/// The remains of a start.
#[derive(Default)]
pub(in super::super) struct StartRemains {
    place: RefCell<Option<RunnerPlace>>,
    alarm: Alarm,
}

impl StartRemains {
    /// True if there are none.
    pub fn is_clear(&self) -> bool {
        self.place.borrow().is_none()
    }

    /// True if this start has died, and its end is still to come.
    pub fn are_of(&self, number: u32) -> bool {
        self.place.borrow().as_ref().is_some_and(|place| place.number == number)
    }

    /// The place of the remains.
    pub fn place(&self) -> Option<RunnerPlace> {
        self.place.borrow().clone()
    }

    pub fn begin(&self, place: Option<RunnerPlace>) {
        *self.place.borrow_mut() = place;
    }

    pub fn set_alarm<T: 'static>(&self, server: &Rc<T>, wait: Duration, ring: fn(&Rc<T>)) {
        self.alarm.set(server, Some(wait), ring);
    }

    /// True if this start had remains. It has none now.
    pub fn clear(&self, number: u32) -> bool {
        let had = self.place.borrow_mut().take_if(|place| place.number == number).is_some();
        if had {
            self.alarm.clear();
        }
        had
    }
}
