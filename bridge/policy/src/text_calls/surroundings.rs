//! The text around a call says if it is meant or only shown.
//!
//! Owns the rules of quotation: marks, lines, sentences. Must never look into a call.

use super::lenient::{Unread, blanks};
use super::marks::{Role, mark};

/// Words that announce an example.
const EXAMPLES: [&str; 8] =
    ["example", "for instance", "e.g.", "such as", "looks like", "look like", "like this", "like so"];

/// Quotation marks that open, and those that close.
const OPENING: &str = "\"'“„«‘‚「『";
const CLOSING: &str = "\"'”“»’‘」』";

/// The longest sentence that announces a call, in bytes.
const LONGEST_SENTENCE: usize = 400;

/// True if nothing of the message stands behind `at`; none if that cannot be known yet.
pub(super) fn is_end(text: &str, at: usize, is_whole: bool) -> Option<bool> {
    let begin = blanks(text, at);
    if begin == text.len() {
        return is_whole.then_some(true);
    }
    match mark(text, begin) {
        Ok(found) => Some(matches!(found.role(), Role::Ends | Role::Begins | Role::Closes | Role::Invents)),
        Err(Unread::Ended) => is_whole.then_some(true),
        Err(Unread::Other) => Some(false),
    }
}

/// True if a text is nothing, or one plain sentence, which may announce a call. A word or two before it count as part of it.
pub(super) fn announces(text: &str) -> bool {
    let text = text.trim();
    if text.len() > LONGEST_SENTENCE || text.contains(['\n', '`', '<', '{', '"']) {
        return false;
    }
    let small = text.to_lowercase();
    if EXAMPLES.iter().any(|word| small.contains(word)) {
        return false;
    }
    let ends = |c: char| ".!?。！？".contains(c);
    let mut sentences = 0;
    let mut rest = text;
    while let Some(at) = rest.find(ends) {
        let (sentence, behind) = rest.split_at(at);
        let behind = behind.trim_start_matches(ends);
        // A point within a word, as in `a.txt`, ends nothing.
        let is_inside = behind.starts_with(|c: char| !c.is_whitespace()) && rest[at..].starts_with('.');
        sentences += usize::from(!is_inside && sentence.split_whitespace().count() > 3);
        rest = behind;
    }
    sentences += usize::from(rest.split_whitespace().count() > 3);
    sentences <= 1
}

/// True if a marked call at `begin..end` is only shown: in quotation marks, within a line of text, or between an announcement
/// and more text. None if that cannot be known yet. `before` is the visible text.
pub(super) fn is_shown(
    before: &str,
    text: &str,
    (begin, end): (usize, usize),
    is_whole: bool,
) -> Option<bool> {
    let rest = &text[end..];
    let next = rest.trim_start();
    if !is_whole && (!next.contains('\n') || mark(next, 0) == Err(Unread::Ended)) {
        return None;
    }
    let raw_line = &text[text[..begin].rfind('\n').map_or(0, |at| at + 1)..begin];
    let is_cited = raw_line.trim_start().starts_with('>') && !raw_line.trim_start().starts_with(">>>");
    let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
    let behind = rest.split('\n').next().unwrap_or_default();
    let opens = line.chars().next_back().is_some_and(|c| OPENING.contains(c));
    let closes = rest.chars().next().is_some_and(|c| CLOSING.contains(c));
    let is_between = line.matches('"').count() % 2 == 1 && behind.contains('"');
    let is_within = !line.trim().is_empty() && is_prose(behind);
    let is_announced = before.trim_end().ends_with([':', '：']) && is_prose(rest);
    Some(is_cited || (opens && closes) || is_between || is_within || is_announced)
}

/// True if a text begins with words, not with a mark.
fn is_prose(text: &str) -> bool {
    let text = text.trim_start();
    !text.is_empty() && !text.starts_with(">>>") && mark(text, 0) == Err(Unread::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_plain_sentence_announces_a_call() {
        for text in
            ["", "Sure.", "I will look in a.txt.", "Sure! I will look it up now.", "Let me look for that:"]
        {
            assert!(announces(text), "{text}");
        }
        for text in [
            "I will look it up. Then I will tell you more.",
            "One line.\n\nAnother one.",
            "Here is an example:",
            "It looks like this:",
            "The word `x` means it.",
        ] {
            assert!(!announces(text), "{text}");
        }
    }
}
