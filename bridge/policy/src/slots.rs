//! Places for open requests: a bounded number, each given back exactly once, by `Drop`.

use std::cell::Cell;
use std::rc::Rc;

/// A bounded number of places.
#[derive(Debug)]
pub struct Slots {
    taken: Rc<Cell<u32>>,
    most: u32,
}

/// One place, held.
#[derive(Debug)]
pub struct Slot(Rc<Cell<u32>>);

impl Slots {
    /// `most` places.
    #[must_use]
    pub fn new(most: u32) -> Self {
        Self { taken: Rc::default(), most }
    }

    /// A place, if one is free.
    #[must_use]
    pub fn take(&self) -> Option<Slot> {
        let taken = self.taken.get();
        (taken < self.most).then(|| {
            self.taken.set(taken + 1);
            Slot(self.taken.clone())
        })
    }

    /// Places that are held.
    #[must_use]
    pub fn taken(&self) -> u32 {
        self.taken.get()
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn held_places_are_those_not_given_back(steps in prop::collection::vec(any::<bool>(), 0..200)) {
            let slots = Slots::new(10);
            let mut held = Vec::new();
            for take in steps {
                if take {
                    let slot = slots.take();
                    prop_assert_eq!(slot.is_some(), held.len() < 10);
                    held.extend(slot);
                } else {
                    held.pop();
                }
                prop_assert_eq!(slots.taken() as usize, held.len());
            }
        }
    }
}
