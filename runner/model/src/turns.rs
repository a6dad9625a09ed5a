//! A conversation as providers take it: system text first, then turns whose roles alternate.
//!
//! ```text
//!  messages ─► system: all of its text ─► turns: neighbours of one role are one
//! ```
//!
//! Owns which parts of a message go to a provider. Empty texts and thoughts for people do not. Opaque parts go only to the
//! provider and model that made them.

use harbor_ipc_proto::link::model::Chat;
use harbor_ipc_proto::model::{Kind, Part, Role, ToolResult};

use crate::defuse::defused;

/// The text that is sent where a tool said nothing: providers want a result all the same.
pub const NO_OUTPUT: &str = "(no output)";

/// One turn; never of the system, never empty.
#[derive(Debug, PartialEq, Eq)]
pub struct Turn<'a> {
    /// Whose it is.
    pub role: Role,
    /// The parts that go to the provider.
    pub parts: Vec<&'a Part>,
}

/// The system's text, if any, and the turns.
pub fn turns(chat: &Chat) -> (Option<String>, Vec<Turn<'_>>) {
    let mut system = Vec::new();
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for message in &chat.messages {
        if message.role == Role::System {
            system.extend(message.parts.iter().filter_map(text));
            continue;
        }
        let parts = message.parts.iter().filter(|part| goes(chat, part));
        match turns.last_mut() {
            Some(last) if last.role == message.role => last.parts.extend(parts),
            _ => turns.push(Turn { role: message.role, parts: parts.collect() }),
        }
    }
    turns.retain(|turn| !turn.parts.is_empty());
    ((!system.is_empty()).then(|| system.join("\n\n")), turns)
}

/// True if an earlier answer has calls that are sent without the thoughts before them, as calls.
pub fn has_bare_calls(chat: &Chat) -> bool {
    calling(chat).any(|turn| !turn.has_thoughts())
}

/// True if thoughts of an earlier answer are sent.
pub fn sends_thoughts(chat: &Chat) -> bool {
    calling(chat).any(|turn| turn.has_thoughts())
}

fn calling(chat: &Chat) -> impl Iterator<Item = Turn<'_>> {
    let (_, turns) = turns(chat);
    turns.into_iter().filter(|turn| turn.role == Role::Assistant && turn.calls())
}

fn text(part: &Part) -> Option<&str> {
    match part {
        Part::Text(text) if !text.trim().is_empty() => Some(text),
        _ => None,
    }
}

fn goes(chat: &Chat, part: &Part) -> bool {
    match part {
        Part::Text(_) => text(part).is_some(),
        // The worker refuses a request with an attachment before it comes here.
        Part::Reasoning(_) | Part::Attached(_) => false,
        Part::Opaque(opaque) => opaque.provider == chat.target.provider && opaque.model == chat.model,
        Part::Image(_) | Part::ToolCall(_) | Part::ToolResult(_) => true,
    }
}

/// The words of a tool, as text, for providers that know no failed results.
pub fn result_text(kind: Kind, result: &ToolResult) -> String {
    let text = if result.text.trim().is_empty() { NO_OUTPUT.into() } else { defused(kind, &result.text) };
    if result.is_error { format!("Error: {text}") } else { text.into_owned() }
}

impl Turn<'_> {
    /// Its texts, as one.
    pub fn text(&self) -> Option<String> {
        let texts: Vec<&str> = self.parts.iter().filter_map(|part| text(part)).collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    /// True if the model calls a tool in it.
    pub fn calls(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::ToolCall(_)))
    }

    /// True if it has thoughts that its provider wants back.
    pub fn has_thoughts(&self) -> bool {
        let mut opaque = self.parts.iter().filter_map(|part| match part {
            Part::Opaque(opaque) => Some(&opaque.json),
            _ => None,
        });
        opaque.any(|json| json.contains("\"reasoning_content\""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::{chat, message, opaque};

    #[test]
    fn neighbours_are_one_and_what_is_not_sent_is_left_out() {
        let text = |text: &str| Part::Text(text.into());
        let chat = chat(vec![
            message(Role::System, vec![text("a")]),
            message(Role::System, vec![text(""), text("b")]),
            message(Role::User, vec![text("c")]),
            message(Role::User, vec![text(" ")]),
            message(Role::User, vec![text("d")]),
            message(
                Role::Assistant,
                vec![Part::Reasoning("r".into()), opaque("other", "m"), opaque("p", "other")],
            ),
            message(Role::Assistant, vec![opaque("p", "m")]),
        ]);
        let (system, turns) = turns(&chat);
        assert_eq!(system.as_deref(), Some("a\n\nb"));
        assert_eq!(
            turns.iter().map(|turn| (turn.role, turn.parts.len())).collect::<Vec<_>>(),
            [(Role::User, 2), (Role::Assistant, 1)]
        );
        assert_eq!(turns[0].text().as_deref(), Some("c\n\nd"));
    }
}
