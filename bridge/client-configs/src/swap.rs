//! The difference between two texts as one piece, which can be taken back exactly.
//!
//! Owns finding it and undoing it. Must never guess: if a text is not the second one, the caller leaves it
//! alone.

/// The replacement of one piece at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swap {
    /// The place, in bytes.
    pub at: usize,
    /// The old text at that place.
    pub removed: String,
    /// The new text at that place.
    pub added: String,
}

impl Swap {
    /// The shortest swap that makes `after` of `before`.
    #[must_use]
    pub fn between(before: &str, after: &str) -> Self {
        let same = before.char_indices().zip(after.chars()).find(|((_, old), new)| old != new);
        let at = same.map_or(before.len().min(after.len()), |((at, _), _)| at);
        let (old, new) = (&before[at..], &after[at..]);
        let tail: usize = old
            .chars()
            .rev()
            .zip(new.chars().rev())
            .take_while(|(old, new)| old == new)
            .map(|(same, _)| same.len_utf8())
            .sum();
        Self { at, removed: old[..old.len() - tail].to_owned(), added: new[..new.len() - tail].to_owned() }
    }

    /// The former text. None if this text is not the result of the swap.
    #[must_use]
    pub fn undo(&self, after: &str) -> Option<String> {
        let (head, rest) = (after.get(..self.at)?, after.get(self.at..)?);
        Some([head, &self.removed, rest.strip_prefix(self.added.as_str())?].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_swapped_is_swapped_back(before in "[aé\u{1f600}]{0,8}", after in "[aé\u{1f600}]{0,8}") {
            let swap = Swap::between(&before, &after);
            prop_assert_eq!(swap.undo(&after), Some(before.clone()));
            prop_assert!(before != after || (swap.removed.is_empty() && swap.added.is_empty()));
        }
    }

    #[test]
    fn another_text_is_not_undone() {
        let swap = Swap::between("abc", "abXc");
        assert_eq!(swap, Swap { at: 2, removed: String::new(), added: "X".into() });
        assert_eq!((swap.undo("abc"), swap.undo("é"), swap.undo("")), (None, None, None));
    }
}
