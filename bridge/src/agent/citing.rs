//! The sources of an answer, as far as the answer names them.
//!
//! ```text
//!  a result ─► add: its number ─► the model is told `[3] …` ─► "It rains [3: "rain"]." ─► cite: "It rains [1].", citations[0] = that call
//! ```
//!
//! Owns the numbers of results, and the texts in which `policy::citations` looks for what an answer quotes. Must never claim a
//! source that the answer itself does not mark.

use harbor_ipc_proto::client::Citation;
use harbor_ipc_proto::model::{ModelMessage, Role};
use harbor_policy::citations::{CheckedCitation, DroppedReason, checked};
use harbor_policy::untrusted::cleaned;

/// Bytes of a result that are in a citation.
const EXCERPT: usize = 500;

/// Bytes of one result, and of all of a turn, in which quotations are looked for.
const MOST: usize = 1024 * 1024;
const MOST_OF_ALL: usize = 8 * MOST;

/// The results of one turn, by number.
#[derive(Debug)]
pub(super) struct CitableResults {
    /// The first number of this turn. Smaller ones belong to earlier turns, whose results are not kept.
    first: usize,
    results: Vec<CitableResult>,
}

#[derive(Debug)]
struct CitableResult {
    tool: String,
    call: String,
    /// The text as the model reads it, without its envelope.
    text: String,
}

/// An answer with its sources.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CitedAnswer {
    /// The answer; its numbers are places in the list of its citations, counted from 1.
    pub text: String,
    pub citations: Vec<Citation>,
    /// The citations that were left out, a sentence each.
    pub dropped: Vec<String>,
}

impl CitableResults {
    /// The results of a turn that follows these messages.
    pub fn after(messages: &[ModelMessage]) -> Self {
        let before = messages.iter().filter(|message| message.role == Role::Tool).count();
        Self { first: before + 1, results: Vec::new() }
    }

    /// Adds the result of a call; gives its number.
    pub fn add(&mut self, tool: &str, call: &str, text: &str) -> usize {
        let used: usize = self.results.iter().map(|result| result.text.len()).sum();
        let room = MOST.min(MOST_OF_ALL.saturating_sub(used));
        let text = cleaned(&text[..text.floor_char_boundary(room)]);
        self.results.push(CitableResult { tool: tool.to_owned(), call: call.to_owned(), text });
        self.first + self.results.len() - 1
    }

    /// An answer with the citations that stand. Those without a result, or whose words their result does not have, are left out.
    pub fn cite(&self, text: &str) -> CitedAnswer {
        let texts: Vec<_> = self.results.iter().map(|result| result.text.as_str()).collect();
        let read = checked(text, self.first, &texts);
        let dropped = |(number, why): &(usize, DroppedReason)| {
            format!("the answer cites result {number}, and that was left out: {}", why.as_str())
        };
        let mut sentences: Vec<String> = Vec::new();
        for sentence in read.dropped.iter().map(dropped) {
            if !sentences.contains(&sentence) {
                sentences.push(sentence);
            }
        }
        let citations = read.citations.iter().map(|one| self.citation(one)).collect();
        CitedAnswer { text: read.text, citations, dropped: sentences }
    }

    /// A citation with the words that are quoted, else with the beginning of its result.
    fn citation(&self, checked: &CheckedCitation) -> Citation {
        let CitableResult { tool, call, text } = &self.results[checked.result];
        let words = checked.words.clone().map_or(text.as_str(), |words| &text[words]);
        let excerpt = words[..words.floor_char_boundary(EXCERPT)].to_owned();
        Citation { source: tool.clone(), r#ref: call.clone(), excerpt }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources() -> CitableResults {
        let earlier = ModelMessage { role: Role::Tool, parts: Vec::new() };
        let mut sources = CitableResults::after(&[earlier]);
        assert_eq!(sources.add("time/now", "c1", "noon, as clocks say"), 2);
        assert_eq!(sources.add("weather/get", "c2", &"ä".repeat(EXCERPT)), 3);
        sources
    }

    #[test]
    fn numbers_point_at_the_results_that_are_named_and_at_nothing_else() {
        let cited =
            sources().cite("It rains [3] at noon [2: \"As clocks say\"][3]. Twice [7]; [x], list[] and [");
        assert_eq!(cited.text, "It rains [1] at noon [2][1]. Twice; [x], list[] and [");
        let refs = cited.citations.iter().map(|one| (&*one.source, &*one.r#ref, one.excerpt.len()));
        assert_eq!(refs.collect::<Vec<_>>(), [("weather/get", "c2", EXCERPT), ("time/now", "c1", 13)]);
        assert_eq!(
            cited.dropped,
            ["the answer cites result 7, and that was left out: there is no such result"]
        );
    }

    #[test]
    fn words_that_a_result_does_not_have_are_said_once_and_cite_nothing() {
        let cited = sources().cite("Midnight [2: \"midnight it is\"], yes [2: \"midnight it is\"].");
        assert_eq!((&*cited.text, cited.citations.len()), ("Midnight, yes.", 0));
        assert_eq!(cited.dropped.len(), 1);
        assert!(cited.dropped[0].ends_with("its words do not stand in that result"));
    }

    #[test]
    fn results_are_kept_up_to_a_bound() {
        let mut sources = CitableResults::after(&[]);
        for number in 1..=20 {
            assert_eq!(sources.add("s/t", "c", &"x".repeat(2 * MOST)), number);
        }
        assert_eq!(sources.results.iter().map(|result| result.text.len()).sum::<usize>(), MOST_OF_ALL);
    }
}
