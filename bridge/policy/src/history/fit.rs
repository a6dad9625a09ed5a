//! Shortens a conversation that has become too long for its model.
//!
//! ```text
//!  results, attachments and long arguments, the oldest first, but for the last round ─► a sentence in place of each
//!  whole turns, the oldest first, but for the last one ─────────────────► left out
//!  results of the last round, the oldest first, if that is enough ──────► a sentence in place of each
//! ```
//!
//! A summary of the turns before the first message stands before it, and is never left out. Owns the order. A call keeps its result, however short that is. Must never change the stored conversation: the result is for
//! one request.

use std::fmt;

use harbor_ipc_proto::model::{ModelMessage, Part, Role, ToolResult};

use crate::models::estimate;
use crate::untrusted::READ_MORE;

/// The words in place of a result. A model that took them for a failure would make the call again, in a circle.
const SUCCEEDED: &str =
    "(Done: the call was made and succeeded. Harbor has left its result out to make room.";
const FAILED: &str = "(The call was made and failed. Harbor has left its error text out to make room.";

/// The text in place of an attachment.
pub const NO_ATTACHMENT: &str = "(An attachment was here. It was left out to make room.)";

/// The text in place of arguments.
pub const NO_ARGUMENTS: &str = r#"{"left_out":"these arguments were left out to make room"}"#;

/// The text before the first message that is left.
pub const EARLIER: &str = "(The earlier part of the conversation was left out to make room.)";

/// A picture takes about so many tokens.
const OF_A_PICTURE: u64 = 1600;

/// The words around an attachment take about so many tokens.
const OF_AN_ENVELOPE: u64 = 100;

/// The tokens that the model's own template adds around a message.
const AROUND: u64 = 4;

/// A result that is no longer than this stays, in bytes.
const SHORT: usize = 300;

/// Arguments that are no longer than this stay, in bytes.
const FEW: usize = 2_000;

/// The number of parts that were left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shortened {
    /// Results of tools, and arguments.
    pub results: usize,
    /// Files and pages that were attached.
    pub attachments: usize,
    /// Whole turns.
    pub turns: usize,
}

impl Shortened {
    /// A sentence that says what was left out; none where nothing was.
    #[must_use]
    pub fn sentence(self) -> Option<String> {
        let of = |count: usize, what: &str| match count {
            0 => None,
            1 => Some(format!("one {what}")),
            count => Some(format!("{count} {}", what.replacen(' ', "s ", 1))),
        };
        let all: Vec<_> = [
            of(self.turns, "exchange before"),
            of(self.attachments, "attachment from before"),
            of(self.results, "result of a tool"),
        ]
        .into_iter()
        .flatten()
        .collect();
        let what = (!all.is_empty()).then(|| all.join(" and "))?;
        Some(format!(
            "the conversation is longer than the model's window, so this answer was made without {what}"
        ))
    }
}

/// The bounds of a conversation, and the words in place of what is left out.
pub struct Fitting<'a> {
    /// The tokens that it may have.
    pub room: u64,
    /// The id by which a result that is left out can be read again, if it can.
    pub id_of: &'a dyn Fn(&ToolResult) -> Option<String>,
    /// The text in place of the turns before its first message, if they were summarised.
    pub summary: Option<&'a str>,
}

impl fmt::Debug for Fitting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fitting").field("room", &self.room).finish_non_exhaustive()
    }
}

/// The conversation within these bounds, as far as that can be; and what was left out for it.
#[must_use]
pub fn fit(mut messages: Vec<ModelMessage>, bounds: &Fitting<'_>) -> (Vec<ModelMessage>, Shortened) {
    let Fitting { room, id_of, summary } = *bounds;
    let mut done = Shortened::default();
    let mut size = tokens_of(&messages) + summary.map_or(0, |text| estimate(text.len()));
    if size <= room {
        put_before(&mut messages, summary, false);
        return (messages, done);
    }
    let last_round = messages.iter().rposition(|message| message.role == Role::Assistant).unwrap_or(0);
    let (earlier, _) = messages.split_at_mut(last_round);
    shorten(earlier, (&mut size, room), &mut done, id_of);
    while size > room
        && let Some((from, to)) = oldest_turn(&messages)
    {
        let gone: u64 = messages.drain(from..to).map(|message| tokens(&message)).sum();
        size = size.saturating_sub(gone);
        done.turns += 1;
    }
    put_before(&mut messages, summary, done.turns > 0);
    let mut less = (messages.clone(), size, done);
    shorten(&mut less.0, (&mut less.1, room), &mut less.2, id_of);
    // Where even that is not enough, the model is not kept from what it has just asked for.
    if less.1 <= room { (less.0, less.2) } else { (messages, done) }
}

/// Puts what stands for earlier turns before the first message of the person.
fn put_before(messages: &mut [ModelMessage], summary: Option<&str>, has_gone: bool) {
    let Some(first) = messages.iter_mut().find(|message| message.role == Role::User) else { return };
    let texts = summary.into_iter().chain(has_gone.then_some(EARLIER));
    let before: Vec<_> = texts.map(|text| Part::Text(text.to_owned())).collect();
    first.parts.splice(0..0, before);
}

/// Puts a sentence in place of results, the oldest first, until the rest fits.
fn shorten(
    messages: &mut [ModelMessage],
    (size, room): (&mut u64, u64),
    done: &mut Shortened,
    id_of: &dyn Fn(&ToolResult) -> Option<String>,
) {
    for message in messages {
        for at in 0..message.parts.len() {
            if *size <= room {
                return;
            }
            let before = tokens(message);
            let is_attached = matches!(message.parts[at], Part::Attached(_));
            match &mut message.parts[at] {
                Part::Attached(attached) if attached.text.len() > SHORT => {
                    message.parts[at] = Part::Text(NO_ATTACHMENT.to_owned());
                }
                Part::ToolResult(result) if result.text.len() > SHORT || !result.images.is_empty() => {
                    result.text = left_out(result, id_of(result).as_deref());
                    result.images.clear();
                }
                Part::ToolCall(call) if call.arguments.len() > FEW => {
                    NO_ARGUMENTS.clone_into(&mut call.arguments);
                }
                _ => continue,
            }
            *size = size.saturating_sub(before).saturating_add(tokens(message));
            if is_attached {
                done.attachments += 1;
            } else {
                done.results += 1;
            }
        }
    }
}

/// The text in place of a result: how the call ended, and how its result can be read.
fn left_out(result: &ToolResult, id: Option<&str>) -> String {
    let ended = if result.is_error { FAILED } else { SUCCEEDED };
    match id {
        Some(id) => format!(
            "{ended} Do not call again for it: {READ_MORE} {{\"result\":\"{id}\",\"offset\":0}} shows it.)"
        ),
        None => format!("{ended})"),
    }
}

/// Where the first turn begins and where the next one does; none where there is but one.
fn oldest_turn(messages: &[ModelMessage]) -> Option<(usize, usize)> {
    let mut begins = messages.iter().enumerate().filter(|(_, message)| message.role == Role::User);
    Some((begins.next()?.0, begins.next()?.0))
}

/// About how many tokens these messages have.
#[must_use]
pub fn tokens_of(messages: &[ModelMessage]) -> u64 {
    messages.iter().map(tokens).sum()
}

/// About so many tokens.
fn tokens(message: &ModelMessage) -> u64 {
    let of = |part: &Part| match part {
        Part::Text(text) => estimate(text.len()),
        Part::Image(_) => OF_A_PICTURE,
        Part::ToolCall(call) => estimate(call.name.len() + call.arguments.len()),
        Part::ToolResult(result) => estimate(result.text.len()) + OF_A_PICTURE * result.images.len() as u64,
        // It goes back to nobody.
        Part::Reasoning(_) => 0,
        Part::Opaque(opaque) => estimate(opaque.json.len()),
        Part::Attached(attached) => estimate(attached.title.len() + attached.text.len()) + OF_AN_ENVELOPE,
    };
    AROUND + message.parts.iter().map(of).sum::<u64>()
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

    /// A question, a call with its result of so many bytes, an answer.
    fn turn(number: usize, bytes: usize) -> Vec<ModelMessage> {
        let id = format!("c{number}");
        let call = ToolCall { id: id.clone(), name: "t".into(), arguments: "{}".into() };
        let (text, images) = ("x".repeat(bytes), Vec::new());
        let result = ToolResult { call_id: id, name: "t".into(), text, images, is_error: false };
        vec![
            said(Role::User, &format!("question {number}")),
            ModelMessage { role: Role::Assistant, parts: vec![Part::ToolCall(call)] },
            ModelMessage { role: Role::Tool, parts: vec![Part::ToolResult(result)] },
            said(Role::Assistant, &"a".repeat(300)),
        ]
    }

    fn talk(turns: usize, bytes: usize) -> Vec<ModelMessage> {
        let mut all = vec![said(Role::System, "heed")];
        all.extend((0..turns).flat_map(|number| turn(number, bytes)));
        // The last one waits for what comes of its call.
        all.pop();
        all
    }

    fn within(messages: Vec<ModelMessage>, room: u64) -> (Vec<ModelMessage>, Shortened) {
        fit(messages, &Fitting { room, id_of: &|_| None, summary: None })
    }

    #[test]
    fn results_go_first_and_then_whole_turns_and_the_last_round_stays() {
        let all = talk(4, 3000);
        assert_eq!(within(all.clone(), tokens_of(&all)), (all.clone(), Shortened::default()));
        let (less, done) = within(all.clone(), tokens_of(&all) - 1);
        assert_eq!((done, less.len()), (Shortened { results: 1, ..Shortened::default() }, all.len()));
        let (less, done) = within(all.clone(), 1500);
        assert_eq!(done, Shortened { results: 3, ..Shortened::default() });
        assert!(tokens_of(&less) <= 1500 && check(&less).is_ok());
        let (less, done) = within(all.clone(), 1150);
        assert_eq!(
            (done.turns, less[0].role, &less[1].parts[0]),
            (3, Role::System, &Part::Text(EARLIER.into()))
        );
        assert!(less.iter().any(|message| {
            message
                .parts
                .iter()
                .any(|part| matches!(part, Part::ToolResult(result) if result.text.len() == 3000))
        }));
        let (less, done) = within(all.clone(), 100);
        assert_eq!((done.turns, tokens_of(&less) < 200, check(&less)), (3, true, Ok(())));
        let (less, done) = within(all, 10);
        assert_eq!((done.results, tokens_of(&less) > 1000), (3, true), "what the last call has told stays");
    }

    #[test]
    fn a_result_that_is_left_out_says_that_its_call_is_done_and_how_to_read_it() {
        let mut all = talk(3, 3000);
        for part in all.iter_mut().flat_map(|message| &mut message.parts) {
            if let Part::ToolResult(result) = part {
                result.is_error = result.call_id == "c1";
            }
        }
        let (less, _) =
            fit(all, &Fitting { room: 1500, id_of: &|result| Some(result.call_id.clone()), summary: None });
        let parts = less.iter().flat_map(|message| &message.parts);
        let told: Vec<_> = parts
            .filter_map(|part| if let Part::ToolResult(one) = part { Some(&one.text) } else { None })
            .collect();
        let read = |id: &str| format!("{READ_MORE} {{\"result\":\"{id}\",\"offset\":0}}");
        assert!(
            told[0].contains("succeeded") && told[0].contains(&read("c0")) && told[0].len() <= SHORT,
            "{told:?}"
        );
        assert!(told[1].contains("failed") && told[1].contains(&read("c1")), "{told:?}");
    }

    #[test]
    fn a_summary_stands_first_and_counts_and_is_never_left_out() {
        let all = talk(3, 300);
        let summary = "s".repeat(300);
        let size = tokens_of(&all) + 100;
        let of = |room| fit(all.clone(), &Fitting { room, id_of: &|_| None, summary: Some(&summary) });
        let first = |messages: &[ModelMessage]| messages[1].parts[0].clone();
        let (less, done) = of(size);
        assert_eq!((first(&less), done), (Part::Text(summary.clone()), Shortened::default()));
        let (less, done) = of(size - 1);
        assert_eq!((first(&less), done.turns), (Part::Text(summary.clone()), 1));
        assert_eq!(less[1].parts[1], Part::Text(EARLIER.into()));
        assert_eq!(first(&of(1).0), Part::Text(summary.clone()));
    }

    proptest! {
        #[test]
        fn whatever_goes_each_call_keeps_its_result(turns in 1usize..6, bytes in 0usize..4000, room in 0u64..8000) {
            let all = talk(turns, bytes);
            let (less, done) = within(all.clone(), room);
            prop_assert_eq!(check(&less), Ok(()));
            prop_assert!(tokens_of(&less) <= tokens_of(&all));
            prop_assert_eq!(done == Shortened::default(), less == all);
        }
    }
}
