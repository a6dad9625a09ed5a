//! The search for words in a conversation.
//!
//! ```text
//!  Query ─► SearchLook: text, text, … ─► each word has occurred ─► the excerpt: the first text with the most of them
//! ```
//!
//! Owns what counts as a hit. Each word has to occur somewhere, in upper or lower case, also within a longer word. Must never
//! keep more of a text than its excerpt.

use std::borrow::Cow;
use std::fmt;

/// The longest query, in bytes, and the most words in it.
const LONGEST: usize = 1000;
const MOST_WORDS: usize = 32;

/// The characters of an excerpt before the word, and from there on.
const BEFORE: usize = 40;
const FROM: usize = 80;

/// The searched words; at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    words: Vec<String>,
}

/// The text is too long for a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryTooLong;

impl fmt::Display for QueryTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {MOST_WORDS} words with {LONGEST} bytes")
    }
}

impl std::error::Error for QueryTooLong {}

impl Query {
    /// The words of a text. None if it is blank.
    ///
    /// # Errors
    /// When the text is too long.
    pub fn of(text: &str) -> Result<Option<Self>, QueryTooLong> {
        if text.len() > LONGEST {
            return Err(QueryTooLong);
        }
        let mut words: Vec<_> = text.split_whitespace().map(|word| lower(word).into_owned()).collect();
        words.sort_unstable();
        words.dedup();
        match words.len() {
            0 => Ok(None),
            1..=MOST_WORDS => Ok(Some(Self { words })),
            _ => Err(QueryTooLong),
        }
    }

    /// Begins the look at a conversation.
    #[must_use]
    pub fn look(&self) -> SearchLook<'_> {
        SearchLook { query: self, has: vec![false; self.words.len()], best: None }
    }
}

/// A look at one conversation.
#[derive(Debug)]
pub struct SearchLook<'a> {
    query: &'a Query,
    /// The words that have occurred.
    has: Vec<bool>,
    /// The excerpt with the most words so far, and their number.
    best: Option<(usize, String)>,
}

impl SearchLook<'_> {
    /// Looks at the next text.
    pub fn at(&mut self, text: &str) {
        let lower = lower(text);
        let mut first = usize::MAX;
        let mut count = 0;
        for (word, has) in self.query.words.iter().zip(&mut self.has) {
            if let Some(at) = lower.find(word.as_str()) {
                *has = true;
                count += 1;
                first = first.min(at);
            }
        }
        if count > self.best.as_ref().map_or(0, |best| best.0) {
            self.best = Some((count, excerpt(text, place(text, &lower, first))));
        }
    }

    /// True if further texts change nothing.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.best.as_ref().is_some_and(|best| best.0 == self.has.len())
    }

    /// The excerpt, if each word has occurred.
    #[must_use]
    pub fn found(self) -> Option<String> {
        let Self { has, best, .. } = self;
        has.into_iter().all(|has| has).then_some(best)?.map(|(_, excerpt)| excerpt)
    }
}

/// Letter by letter, so that a letter has one lower case wherever it stands.
fn lower(text: &str) -> Cow<'_, str> {
    match text.is_ascii() {
        true if !text.bytes().any(|byte| byte.is_ascii_uppercase()) => Cow::Borrowed(text),
        true => Cow::Owned(text.to_ascii_lowercase()),
        false => Cow::Owned(text.chars().flat_map(char::to_lowercase).collect()),
    }
}

/// The place in `text` of what stands at `at` in its lower case.
fn place(text: &str, lower: &str, at: usize) -> usize {
    if text.len() == lower.len() && text.is_ascii() {
        return at;
    }
    let mut passed = 0;
    for (place, c) in text.char_indices() {
        passed += c.to_lowercase().map(char::len_utf8).sum::<usize>();
        if passed > at {
            return place;
        }
    }
    text.len()
}

/// About 120 characters around this place, in one line.
fn excerpt(text: &str, at: usize) -> String {
    let at = text.floor_char_boundary(at.min(text.len()));
    let (before, after) = text.split_at(at);
    let from = before.char_indices().rev().nth(BEFORE - 1).map_or(0, |(place, _)| place);
    let to = after.char_indices().nth(FROM).map_or(text.len(), |(place, _)| at + place);
    let line = text[from..to].split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().filter(|c| !c.is_control()).collect();
    let (begin, end) = (if from > 0 { "…" } else { "" }, if to < text.len() { "…" } else { "" });
    format!("{begin}{line}{end}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn find(query: &str, texts: &[&str]) -> Option<String> {
        let query = Query::of(query).unwrap().unwrap();
        let mut look = query.look();
        texts.iter().for_each(|text| look.at(text));
        look.found()
    }

    #[test]
    fn each_word_has_to_occur_somewhere_in_upper_or_lower_case() {
        let texts = ["Book a FLIGHT", "the flight to Ελλάς", "files/read"];
        assert_eq!(find("flight", &texts).unwrap(), "Book a FLIGHT");
        assert_eq!(find("flight  ΕΛΛΆΣ", &texts), None, "no such form: the accent is another letter");
        assert_eq!(
            find("TO flight ελλάΣ", &["Book a FLIGHT", "the flight to ΕλλάΣ"]).unwrap(),
            "the flight to ΕλλάΣ"
        );
        assert_eq!(find("book files/READ", &texts).unwrap(), "Book a FLIGHT", "the first with the most");
        assert_eq!((find("train", &texts), find("flight train", &texts)), (None, None));
    }

    #[test]
    fn an_excerpt_is_one_short_line_around_the_word() {
        let text = format!("{}\nthe Needle\nhere {}", "İ ab".repeat(100), "zu ".repeat(100));
        let found = find("needle", &[&text]).unwrap();
        assert!(
            found.starts_with('…') && found.ends_with('…') && found.contains("the Needle here zu"),
            "{found}"
        );
        assert!(found.chars().count() <= BEFORE + FROM + 2, "{found}");
    }

    #[test]
    fn a_query_is_bounded_and_a_blank_one_is_none() {
        assert_eq!(Query::of(" \n"), Ok(None));
        assert_eq!(Query::of(&"x".repeat(LONGEST + 1)), Err(QueryTooLong));
        let words: Vec<_> = (0..=MOST_WORDS).map(|number| number.to_string()).collect();
        assert_eq!(Query::of(&words.join(" ")), Err(QueryTooLong));
        assert_eq!(Query::of("a A a").unwrap().unwrap().words, ["a"]);
    }

    proptest! {
        #[test]
        fn what_is_in_a_text_is_found_there_and_shown(before in "\\PC{0,60}", word in "[A-Za-zäÖßİ]{1,8}", after in "\\PC{0,60}") {
            let text = format!("{before} {word} {after}");
            let found = find(&word, &[&text]).unwrap();
            prop_assert!(lower(&found).contains(&*lower(&word)), "{found}");
        }
    }
}
