//! The table of requests that a server has not answered yet.
//!
//! Owns the ids on the wire: each is used once. The caller decides what is remembered for a request. The table is ordered:
//! its own numbers need no hash that nobody can foresee.

use std::collections::BTreeMap;

/// Open requests by id.
#[derive(Debug)]
pub struct Requests<T> {
    next: u64,
    open: BTreeMap<u64, T>,
}

impl<T> Default for Requests<T> {
    fn default() -> Self {
        Self { next: 1, open: BTreeMap::new() }
    }
}

impl<T> Requests<T> {
    /// Remembers a request; returns the id that it gets.
    pub fn open(&mut self, request: T) -> u64 {
        let id = self.next;
        self.next += 1;
        self.open.insert(id, request);
        id
    }

    /// Takes the request that an answer with `id` ends. None when no such request is open.
    pub fn close(&mut self, id: u64) -> Option<T> {
        self.open.remove(&id)
    }

    /// True if a request ever had this id.
    pub fn was_given(&self, id: u64) -> bool {
        (1..self.next).contains(&id)
    }

    /// The open request with this id.
    pub fn get(&self, id: u64) -> Option<&T> {
        self.open.get(&id)
    }

    /// The open request with this id.
    pub fn get_mut(&mut self, id: u64) -> Option<&mut T> {
        self.open.get_mut(&id)
    }

    /// The id of the open request that `is_it` accepts.
    pub fn find(&self, is_it: impl Fn(&T) -> bool) -> Option<u64> {
        self.open.iter().find(|(_, request)| is_it(request)).map(|(id, _)| *id)
    }

    /// The id of the request that has been open the longest.
    pub fn oldest(&self) -> Option<u64> {
        self.open.keys().next().copied()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.open.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a plain model: an id is given once, closes once, and the oldest is the smallest open one.
        #[test]
        fn behaves_like_a_map(steps in prop::collection::vec(prop::option::of(0u64..40), 0..200)) {
            let mut requests = Requests::default();
            let mut model = BTreeMap::new();
            for (at, step) in steps.into_iter().enumerate() {
                match step {
                    None => {
                        let id = requests.open(at);
                        prop_assert!(model.insert(id, at).is_none());
                        prop_assert!(requests.was_given(id) && !requests.was_given(id + 1));
                    }
                    Some(id) => prop_assert_eq!(requests.close(id), model.remove(&id)),
                }
                prop_assert_eq!(requests.oldest(), model.keys().next().copied());
                if let Some((id, what)) = model.iter().next_back() {
                    prop_assert_eq!(requests.find(|open| open == what), Some(*id));
                }
            }
        }
    }
}
