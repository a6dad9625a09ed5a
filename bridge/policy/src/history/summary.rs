//! A summary that stands for the oldest turns of a conversation: which turns, the text to summarise, and whether a summary is taken.
//!
//! ```text
//!  turns that do not fit ─► replaceable: some more of them, so that the next turns fit, too ─► told: their text
//!  the model's words ─► accepted: not empty, shorter than what they replace ─► they stand for these turns
//! ```
//!
//! Owns these rules. Must never replace the last turn, nor split a call from its result.

use harbor_ipc_proto::model::{ModelMessage, Part, Role};

use super::fit::{Fitting, fit, tokens_of};
use crate::models::estimate;
use crate::untrusted::inside;

/// The share of the room that is left when a summary is made, so that not each of the next turns needs one.
const ROOMY: (u64, u64) = (3, 4);

/// Bytes of one text of the person or the model, of a result, and of arguments that are summarised.
const OF_A_TEXT: usize = 4_000;
const OF_A_RESULT: usize = 1_500;
const OF_ARGUMENTS: usize = 500;

/// The messages that a summary would replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replaceable {
    /// The number of these messages, from the beginning of the conversation.
    pub messages: usize,
    /// The number of turns in them.
    pub turns: usize,
}

/// The oldest messages that a summary has to replace so that the rest fits. `messages` are sent, with their instructions first;
/// `said` are the same ones as they are kept, without these. None where all fit, or where only the last turn is left.
#[must_use]
pub fn replaceable(
    messages: &[ModelMessage],
    said: &[ModelMessage],
    bounds: &Fitting<'_>,
) -> Option<Replaceable> {
    let size = tokens_of(messages) + bounds.summary.map_or(0, |text| estimate(text.len()));
    let turns_without = |room| fit(messages.to_vec(), &Fitting { room, ..*bounds }).1.turns;
    if size <= bounds.room || turns_without(bounds.room) == 0 {
        return None;
    }
    let turns = turns_without(bounds.room / ROOMY.1 * ROOMY.0);
    let mut begins = said.iter().enumerate().filter(|(_, message)| message.role == Role::User);
    let messages = begins.nth(turns)?.0;
    Some(Replaceable { messages, turns })
}

/// The text of messages for who summarises them. Long parts are cut.
#[must_use]
pub fn told(messages: &[ModelMessage]) -> String {
    let mut text = String::new();
    for message in messages {
        for line in message.parts.iter().filter_map(|part| line(message.role, part)) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
}

fn line(role: Role, part: &Part) -> Option<String> {
    let who = if role == Role::User { "Person" } else { "Model" };
    Some(match part {
        Part::Text(text) => format!("{who}: {}", beginning(text, OF_A_TEXT)),
        Part::Image(_) => format!("{who}: (a picture)"),
        Part::Attached(one) => {
            format!("{who} attached {}: {}", one.title, beginning(inside(&one.text), OF_A_RESULT))
        }
        Part::ToolCall(call) => {
            format!("Model calls {} {}", call.name, beginning(&call.arguments, OF_ARGUMENTS))
        }
        Part::ToolResult(result) => {
            let ended = if result.is_error { "failed" } else { "answered" };
            format!("{} {ended}: {}", result.name, beginning(inside(&result.text), OF_A_RESULT))
        }
        Part::Reasoning(_) | Part::Opaque(_) => return None,
    })
}

/// The beginning of a text, marked where it is cut.
fn beginning(text: &str, most: usize) -> String {
    let text = text.trim();
    match text.len() > most {
        true => format!("{} …", &text[..text.floor_char_boundary(most)]),
        false => text.to_owned(),
    }
}

/// The reason why a summary is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnfitSummaryReason {
    /// It has no words.
    Empty,
    /// It is no shorter than what it replaces.
    Long,
    /// The conversation is another one by now.
    Changed,
}

impl UnfitSummaryReason {
    /// The reason as a sentence's end.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Empty => "the summary was empty",
            Self::Long => "the summary was no shorter than what it was to replace",
            Self::Changed => "the conversation has changed meanwhile",
        }
    }
}

/// The text of a summary, if it may stand for these messages and an earlier summary of so many bytes.
///
/// # Errors
/// Why it may not.
pub fn accepted(
    summary: &str,
    replaced: &[ModelMessage],
    earlier: usize,
) -> Result<String, UnfitSummaryReason> {
    let summary = summary.trim();
    if summary.is_empty() {
        return Err(UnfitSummaryReason::Empty);
    }
    let before = tokens_of(replaced) + estimate(earlier);
    match estimate(summary.len()) < before {
        true => Ok(summary.to_owned()),
        false => Err(UnfitSummaryReason::Long),
    }
}

#[cfg(test)]
mod tests {
    use harbor_ipc_proto::model::{ToolCall, ToolResult};
    use proptest::prelude::*;

    use super::super::check;
    use super::*;

    fn said(role: Role, text: &str) -> ModelMessage {
        ModelMessage { role, parts: vec![Part::Text(text.into())] }
    }

    /// Turns of two texts, with a call in each.
    fn talk(turns: usize, bytes: usize) -> Vec<ModelMessage> {
        let turn = |number: usize| {
            let id = format!("c{number}");
            let call = ToolCall { id: id.clone(), name: "t".into(), arguments: "{}".into() };
            let result = ToolResult {
                call_id: id,
                name: "t".into(),
                text: "noon".into(),
                images: Vec::new(),
                is_error: false,
            };
            vec![
                said(Role::User, &format!("question {number} {}", "q".repeat(bytes))),
                ModelMessage { role: Role::Assistant, parts: vec![Part::ToolCall(call)] },
                ModelMessage { role: Role::Tool, parts: vec![Part::ToolResult(result)] },
                said(Role::Assistant, "done"),
            ]
        };
        (0..turns).flat_map(turn).collect()
    }

    fn of(all: &[ModelMessage], room: u64) -> Option<Replaceable> {
        let sent: Vec<_> = std::iter::once(said(Role::System, "heed")).chain(all.to_vec()).collect();
        replaceable(&sent, all, &Fitting { room, id_of: &|_| None, summary: None })
    }

    #[test]
    fn more_turns_are_replaced_than_must_go_and_never_the_last() {
        let all = talk(8, 900);
        let size = tokens_of(&all);
        assert_eq!(of(&all, size * 2), None);
        assert_eq!(of(&all, size - 1), Some(Replaceable { messages: 12, turns: 3 }));
        assert_eq!(of(&all, 10), Some(Replaceable { messages: 28, turns: 7 }));
        assert_eq!(of(&talk(1, 9000), 10), None);
    }

    #[test]
    fn the_text_has_who_said_it_and_what_was_called() {
        let mut all = talk(1, 5000);
        all[0].parts[0] = Part::Text("q".repeat(OF_A_TEXT + 1));
        let text = told(&all);
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[0].starts_with("Person: qqq") && lines[0].ends_with("q …"), "{text}");
        assert_eq!(lines[1..], ["Model calls t {}", "t answered: noon", "Model: done"]);
    }

    #[test]
    fn a_summary_is_taken_if_it_says_something_in_fewer_words() {
        let all = talk(2, 300);
        assert_eq!(accepted(" \n", &all, 0), Err(UnfitSummaryReason::Empty));
        assert_eq!(accepted(" They spoke. ", &all, 0).as_deref(), Ok("They spoke."));
        let long = "x".repeat(3 * usize::try_from(tokens_of(&all)).unwrap());
        assert_eq!(accepted(&long, &all, 0), Err(UnfitSummaryReason::Long));
        assert!(accepted(&long, &all, 30).is_ok(), "it replaces another summary, too");
    }

    proptest! {
        #[test]
        fn what_is_left_behind_a_summary_is_whole(turns in 1usize..8, bytes in 0usize..2000, room in 0u64..4000) {
            let all = talk(turns, bytes);
            if let Some(Replaceable { messages, turns: gone }) = of(&all, room) {
                prop_assert!(gone < turns && all[messages].role == Role::User);
                prop_assert_eq!((check(&all[..messages]), check(&all[messages..])), (Ok(()), Ok(())));
            }
        }
    }
}
