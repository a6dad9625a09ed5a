//! `<think>…</think>` at the beginning of an answer: thoughts that a server has left in the text. Pure.
//!
//! ```text
//!  Undecided ─"<think>"─► Inside ─"</think>"─► Outside
//!      └─ anything else ────────────────────────► Outside
//! ```
//!
//! Owns the text that is held back because it may become a mark: never more than one mark, and the blanks before it.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Blanks before a mark.
const MAX_BLANK: usize = 64;

/// A piece of the text, sorted.
#[derive(Debug, PartialEq, Eq)]
pub enum TextPiece {
    /// Text of the answer.
    Text(String),
    /// A thought.
    Thought(String),
}

/// Where in an answer we are.
#[derive(Debug)]
pub enum Thoughts {
    /// Nothing but blanks and the beginning of a mark so far.
    Undecided(String),
    /// Between the marks; what may be the second one.
    Inside(String),
    /// Behind them.
    Outside,
}

impl Thoughts {
    /// At the beginning.
    pub fn new() -> Self {
        Self::Undecided(String::new())
    }

    /// Takes more text.
    pub fn take(&mut self, text: &str, put: &mut impl FnMut(TextPiece)) {
        match std::mem::replace(self, Self::Outside) {
            Self::Outside => put(TextPiece::Text(text.to_owned())),
            Self::Undecided(held) => self.decide(held + text, put),
            Self::Inside(held) => self.think(&(held + text), put),
        }
    }

    fn decide(&mut self, all: String, put: &mut impl FnMut(TextPiece)) {
        let seen = all.trim_start();
        if let Some(thought) = seen.strip_prefix(OPEN) {
            self.think(thought, put);
        } else if OPEN.starts_with(seen) && all.len() - seen.len() <= MAX_BLANK {
            *self = Self::Undecided(all);
        } else {
            put(TextPiece::Text(all));
        }
    }

    fn think(&mut self, all: &str, put: &mut impl FnMut(TextPiece)) {
        let mut thought = |text: &str| {
            if !text.is_empty() {
                put(TextPiece::Thought(text.to_owned()));
            }
        };
        if let Some((inside, behind)) = all.split_once(CLOSE) {
            thought(inside);
            *self = Self::Outside;
            let behind = behind.trim_start();
            if !behind.is_empty() {
                put(TextPiece::Text(behind.to_owned()));
            }
            return;
        }
        let held = (1..CLOSE.len()).rev().find(|length| all.ends_with(&CLOSE[..*length])).unwrap_or(0);
        let (inside, held) = all.split_at(all.len() - held);
        thought(inside);
        *self = Self::Inside(held.to_owned());
    }

    /// No more text comes.
    pub fn end(&mut self, put: &mut impl FnMut(TextPiece)) {
        match std::mem::replace(self, Self::Outside) {
            Self::Undecided(held) if !held.is_empty() => put(TextPiece::Text(held)),
            Self::Inside(held) if !held.is_empty() => put(TextPiece::Thought(held)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read<'a>(pieces: impl IntoIterator<Item = &'a str>) -> (String, String) {
        let (mut text, mut thought) = (String::new(), String::new());
        let mut put = |piece| match piece {
            TextPiece::Text(more) => text += &more,
            TextPiece::Thought(more) => thought += &more,
        };
        let mut thoughts = Thoughts::new();
        for piece in pieces {
            thoughts.take(piece, &mut put);
        }
        thoughts.end(&mut put);
        (thought, text)
    }

    #[test]
    fn only_what_begins_an_answer_is_a_thought() {
        let of = |text: &str| read([text]);
        let both = |thought: &str, text: &str| (thought.to_owned(), text.to_owned());
        assert_eq!(of("\n<think>a</think>b"), both("a", "b"));
        assert_eq!(of("a <think>b</think>"), both("", "a <think>b</think>"));
        assert_eq!(of("<thi"), both("", "<thi"));
        assert_eq!(of("<think>never ended </thi"), both("never ended </thi", ""));
        assert_eq!(of("<thinking>x"), both("", "<thinking>x"));
    }

    proptest! {
        #[test]
        fn cuts_do_not_matter(text in "( |\n)?(<think>)?[a<>/think]{0,12}(</think>)?[a<]{0,4}", at in 0..40usize) {
            let at = at.min(text.len());
            let (one, two) = text.split_at(at);
            prop_assert_eq!(read([text.as_str()]), read([one, two]));
        }
    }
}
