//! The sources of an answer, as far as the answer names them.
//!
//! ```text
//!  a result ─► add: its number ─► the model is told `[3] …` ─► "It rains [3]." ─► cite: "It rains [1].", citations[0] = that call
//! ```
//!
//! Owns the numbers. Pure. Must never let an answer point at a result that does not exist, nor claim a source that the
//! answer itself does not mark.

use harbor_ipc_proto::client::Citation;
use harbor_ipc_proto::model::{ModelMessage, Role};

/// Bytes of a result that are in a citation.
const EXCERPT: usize = 500;

/// The results of one turn, by number.
#[derive(Debug)]
pub(super) struct CitableResults {
    /// The first number of this turn. Smaller ones belong to earlier turns, whose results are not kept.
    first: usize,
    results: Vec<Citation>,
}

impl CitableResults {
    /// The results of a turn that follows these messages.
    pub fn after(messages: &[ModelMessage]) -> Self {
        let before = messages.iter().filter(|message| message.role == Role::Tool).count();
        Self { first: before + 1, results: Vec::new() }
    }

    /// Adds the result of a call; gives its number.
    pub fn add(&mut self, tool: &str, call: &str, text: &str) -> usize {
        let excerpt = text[..text.floor_char_boundary(EXCERPT)].to_owned();
        self.results.push(Citation { source: tool.to_owned(), r#ref: call.to_owned(), excerpt });
        self.first + self.results.len() - 1
    }

    /// An answer whose numbers are places in the list of its citations, counted from 1. Numbers without a
    /// result are left out.
    pub fn cite(&self, text: &str) -> (String, Vec<Citation>) {
        let (mut out, mut named) = (String::with_capacity(text.len()), Vec::new());
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('[') {
            out.push_str(before);
            let Some((number, after)) = number(behind) else {
                out.push('[');
                rest = behind;
                continue;
            };
            if let Some(at) = number.checked_sub(self.first).filter(|at| *at < self.results.len()) {
                let place = named.iter().position(|known| *known == at);
                let place = place.unwrap_or_else(|| {
                    named.push(at);
                    named.len() - 1
                });
                out.push_str(&format!("[{}]", place + 1));
            } else if out.ends_with(' ') {
                out.pop();
            }
            rest = after;
        }
        out.push_str(rest);
        (out, named.into_iter().map(|at| self.results[at].clone()).collect())
    }
}

/// The number in front of a closing bracket, and the text behind it.
fn number(text: &str) -> Option<(usize, &str)> {
    let (number, rest) = text.split_once(']')?;
    let is_number = (1..=3).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    Some((number.parse().ok().filter(|_| is_number)?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources() -> CitableResults {
        let earlier = ModelMessage { role: Role::Tool, parts: Vec::new() };
        let mut sources = CitableResults::after(&[earlier]);
        assert_eq!(sources.add("time/now", "c1", "noon"), 2);
        assert_eq!(sources.add("weather/get", "c2", &"ä".repeat(EXCERPT)), 3);
        sources
    }

    #[test]
    fn numbers_point_at_the_results_that_are_named_and_at_nothing_else() {
        let (text, named) = sources().cite("It rains [3] at noon [2][3]. Twice [7]; [x], list[] and [");
        assert_eq!(text, "It rains [1] at noon [2][1]. Twice; [x], list[] and [");
        let refs: Vec<_> = named.iter().map(|one| (&*one.source, &*one.r#ref, one.excerpt.len())).collect();
        assert_eq!(refs, [("weather/get", "c2", EXCERPT), ("time/now", "c1", 4)]);
    }

    #[test]
    fn an_answer_that_names_nothing_cites_nothing() {
        assert_eq!(sources().cite("Noon, I think [1]."), ("Noon, I think.".into(), vec![]));
    }
}
