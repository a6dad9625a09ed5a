//! Checks what an answer claims of its sources: `[3]` names a result, `[3: "its words"]` quotes it.
//!
//! ```text
//!  "It rains [3: "heavy rain"]." ─► number 3 is a result ─► the words occur in it ─► "It rains [1].", the place of the words
//!                                         └► no ──────────────┴► no ─► "It rains.", dropped, and why
//! ```
//!
//! Owns what counts as occurring: the same characters but for blanks, letters' case and the form of quotation marks. Must never
//! let a citation stand whose words its result does not have.

use std::ops::Range;

/// The shortest quotation that says something, in characters without blanks.
const SHORTEST: usize = 8;

/// The longest quotation that is looked for, in bytes.
const LONGEST: usize = 2000;

/// A citation that stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedCitation {
    /// The place of the result in the list that was given, from 0.
    pub result: usize,
    /// Where the quoted words stand in the result; none where nothing was quoted.
    pub words: Option<Range<usize>>,
}

/// The reason why a citation is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DroppedReason {
    /// There is no such result.
    NoResult,
    /// The quoted words do not occur in it.
    NotThere,
    /// The quotation is too short to say anything, or too long.
    Length,
}

impl DroppedReason {
    /// The reason as a sentence's end.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoResult => "there is no such result",
            Self::NotThere => "its words do not stand in that result",
            Self::Length => "its quotation is too short or too long",
        }
    }
}

/// An answer whose citations are checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckedAnswer {
    /// The answer; its numbers are places in `citations`, from 1.
    pub text: String,
    /// Each citation once, in the order of the answer.
    pub citations: Vec<CheckedCitation>,
    /// The numbers that were dropped, and why.
    pub dropped: Vec<(usize, DroppedReason)>,
}

/// Checks an answer. `results` are the texts that may be cited; the first has the number `first`.
#[must_use]
pub fn checked(answer: &str, first: usize, results: &[&str]) -> CheckedAnswer {
    let mut done = CheckedAnswer::default();
    let mut rest = answer;
    while let Some((before, behind)) = rest.split_once('[') {
        done.text.push_str(before);
        let Some((number, quoted, after)) = mark(behind) else {
            done.text.push('[');
            rest = behind;
            continue;
        };
        match one(number, quoted, first, results) {
            Ok(citation) => {
                let known = done.citations.iter().position(|known| *known == citation);
                let place = known.unwrap_or_else(|| {
                    done.citations.push(citation);
                    done.citations.len() - 1
                });
                done.text.push_str(&format!("[{}]", place + 1));
            }
            Err(why) => {
                done.dropped.push((number, why));
                if done.text.ends_with(' ') {
                    done.text.pop();
                }
            }
        }
        rest = after;
    }
    done.text.push_str(rest);
    done
}

fn one(
    number: usize,
    quoted: Option<&str>,
    first: usize,
    results: &[&str],
) -> Result<CheckedCitation, DroppedReason> {
    let result = number.checked_sub(first).filter(|at| *at < results.len()).ok_or(DroppedReason::NoResult)?;
    let Some(quoted) = quoted else { return Ok(CheckedCitation { result, words: None }) };
    let length = plain(quoted).0.chars().count();
    if length < SHORTEST || quoted.len() > LONGEST {
        return Err(DroppedReason::Length);
    }
    let words = place_of(quoted, results[result]).ok_or(DroppedReason::NotThere)?;
    Ok(CheckedCitation { result, words: Some(words) })
}

/// Where the words stand in a text, blanks, letters' case and the form of quotation marks aside.
#[must_use]
pub fn place_of(words: &str, text: &str) -> Option<Range<usize>> {
    let (words, _) = plain(words);
    let (plain, places) = plain(text);
    let at = plain.find(&words).filter(|_| !words.is_empty())?;
    let (from, last) = (places[at], places[at + words.len() - 1]);
    let end = last + text[last..].chars().next().map_or(0, char::len_utf8);
    Some(from..end)
}

/// The characters that count, and for each of their bytes the place in the text.
fn plain(text: &str) -> (String, Vec<usize>) {
    let (mut plain, mut places) = (String::with_capacity(text.len()), Vec::with_capacity(text.len()));
    for (at, c) in text.char_indices().filter(|(_, c)| !c.is_whitespace()) {
        let c = match c {
            '“' | '”' | '„' | '«' | '»' => '"',
            '‘' | '’' | '‚' => '\'',
            c => c,
        };
        for small in c.to_lowercase() {
            plain.push(small);
            places.extend(std::iter::repeat_n(at, small.len_utf8()));
        }
    }
    (plain, places)
}

/// The number behind an opening bracket, the words that it quotes, and the text behind the closing one.
fn mark(text: &str) -> Option<(usize, Option<&str>, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number = text[..digits].parse().ok().filter(|_| digits <= 3)?;
    let behind = &text[digits..];
    if let Some(after) = behind.strip_prefix(']') {
        return Some((number, None, after));
    }
    let quoted = behind.strip_prefix(':')?.trim_start_matches(' ');
    let opening = quoted.chars().next().filter(|c| "\"“„«".contains(*c))?;
    let quoted = &quoted[opening.len_utf8()..];
    let near = &quoted[..quoted.floor_char_boundary(2 * LONGEST)];
    let end =
        ["\"]", "”]", "“]", "»]"].iter().filter_map(|end| near.find(end).map(|at| (at, end.len()))).min()?;
    Some((number, Some(&quoted[..end.0]), &quoted[end.0 + end.1..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RESULTS: [&str; 2] = ["Noon in Tokyo.", "Today: Heavy  rain,\nthen “sun”. Äther."];

    #[test]
    fn words_that_stand_in_the_result_are_kept_with_their_place() {
        let done = checked("It rains [3: \"heavy rain, then \"SUN\"\"] at noon [2][2].", 2, &RESULTS);
        assert_eq!((done.text.as_str(), done.dropped), ("It rains [1] at noon [2][2].", vec![]));
        let words = done.citations[0].words.clone().unwrap();
        assert_eq!(&RESULTS[1][words], "Heavy  rain,\nthen “sun”");
        assert_eq!(done.citations[1], CheckedCitation { result: 0, words: None });
    }

    #[test]
    fn what_is_not_there_is_dropped_and_named() {
        let done =
            checked("Sun all day [3: \"sun all day\"]. So [9]. Rain [3: \"rain\"]. [x] [2", 2, &RESULTS);
        assert_eq!(done.text, "Sun all day. So. Rain. [x] [2");
        assert_eq!(
            done.dropped,
            [(3, DroppedReason::NotThere), (9, DroppedReason::NoResult), (3, DroppedReason::Length)]
        );
        assert_eq!(done.citations, []);
    }

    proptest! {
        #[test]
        fn each_citation_that_stands_points_at_its_words(answer in "(\\PC|\\[1: \"|\"\\]|\\[1\\]){0,30}", result in "\\PC{0,60}") {
            let done = checked(&answer, 1, &[&result]);
            for citation in done.citations {
                prop_assert!(citation.words.is_none_or(|words| result.get(words).is_some()));
            }
        }

        #[test]
        fn a_part_of_a_text_is_found_in_it(text in "\\PC{1,40}", from in any::<prop::sample::Index>()) {
            let from = text.floor_char_boundary(from.index(text.len()));
            prop_assert!(text[from..].trim().is_empty() || place_of(&text[from..], &text).is_some());
        }
    }
}
