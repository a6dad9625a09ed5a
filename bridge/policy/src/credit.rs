//! The number of pushes that one stream may still send.
//!
//! ```text
//!  begin: 64 ─ take ─► 63 ─► … ─► 0 ─ take ─► wait for `add`
//! ```
//!
//! Owns the count. A client that does not count gets as much as it reads. Must never let more through than was given.

/// The credit of a stream at its start, for a client that counts.
pub const AT_FIRST: u32 = 64;

/// The most credit that is kept. A client cannot give so much that the credit no longer limits it.
pub const MOST: u32 = 1 << 20;

/// The credit of one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credit {
    /// None where the client does not count.
    left: Option<u32>,
}

impl Credit {
    /// The credit of a stream that begins now. `counts`: true if its client counts.
    #[must_use]
    pub fn new(counts: bool) -> Self {
        Self { left: counts.then_some(AT_FIRST) }
    }

    /// Uses up one push; false when no credit is left.
    pub fn take(&mut self) -> bool {
        match &mut self.left {
            None => true,
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
        }
    }

    /// The client takes `more` pushes.
    pub fn add(&mut self, more: u32) {
        if let Some(left) = &mut self.left {
            *left = left.saturating_add(more).min(MOST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn who_does_not_count_is_never_waited_for() {
        let mut credit = Credit::new(false);
        assert!((0..1000).all(|_| credit.take()));
        credit.add(1);
        assert_eq!(credit, Credit::new(false));
    }

    proptest! {
        /// No more is taken than was given, and all that was given can be taken.
        #[test]
        fn what_is_taken_was_given(steps in prop::collection::vec(prop::option::of(0u32..100), 0..400)) {
            let (mut credit, mut given, mut taken) = (Credit::new(true), AT_FIRST, 0);
            for step in steps {
                match step {
                    Some(more) => {
                        credit.add(more);
                        given += more;
                    }
                    None => {
                        let may = credit.take();
                        prop_assert_eq!(may, taken < given);
                        taken += u32::from(may);
                    }
                }
            }
        }

        #[test]
        fn there_is_a_most(gifts in prop::collection::vec(any::<u32>(), 1..10)) {
            let mut credit = Credit::new(true);
            gifts.into_iter().for_each(|more| credit.add(more));
            prop_assert!(credit.left.is_some_and(|left| left <= MOST));
        }
    }
}
