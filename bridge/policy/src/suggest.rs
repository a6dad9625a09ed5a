//! The word that somebody probably meant.
//!
//! Owns the measure of likeness. Must never guess wildly: a wrong hint is worse than none.

/// The most bytes of a text that can be like a word.
const LONGEST: usize = 256;

/// The one of `known` that is at most two edits away from `word`, and at most half its length.
#[must_use]
pub fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The measure takes time for each letter of both; a text without end was never meant for a word.
    if word.len() > LONGEST {
        return None;
    }
    let near = known.into_iter().map(|candidate| (distance(word, candidate), candidate));
    let (edits, candidate) = near.min_by_key(|(edits, _)| *edits)?;
    (edits <= 2 && edits * 2 <= word.chars().count()).then_some(candidate)
}

/// `; did you mean X?`, or nothing.
#[must_use]
pub fn hint<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    closest(word, known).map(|meant| format!("; did you mean {meant}?")).unwrap_or_default()
}

/// Levenshtein's distance: how many letters must be put in, taken out or changed.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let change = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "abc"), 0);
    }

    #[test]
    fn only_what_is_close_is_offered() {
        let known = ["list", "logs", "start", "stop"];
        assert_eq!(closest("lsit", known), Some("list"));
        assert_eq!(closest(&"l".repeat(64 << 20), known), None, "at once");
        assert_eq!(closest("lists", known), Some("list"));
        assert_eq!(closest("strat", known), Some("start"));
        assert_eq!(closest("destroy", known), None);
        assert_eq!(hint("lost", known), "; did you mean list?");
        assert_eq!(hint("x", known), "");
    }
}
