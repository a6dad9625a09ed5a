//! A question of a turn: may this tool be called?
//!
//! Owns what the person gets to see, and what an answer means. Must never take for a yes what is none: an empty line is no answer.

use harbor_client::terminal::reveal;
use harbor_ipc_proto::client::TurnEvent;

use crate::pretty::pretty;
use crate::table::flatten;

/// How it is answered.
pub const CHOICES: &str = "  y: this time   a: in this session   always: in every session   n: no; a reason for the model may follow";

/// The same where something would leave: a yes is for what is shown.
const CHOICES_OF_LEAVING: &str = "  y: this time   n: no; a reason for the model may follow";

/// A call that waits for the person.
pub struct Question {
    /// What `chat_answer` names.
    pub id: String,
    /// `server/tool`.
    pub tool: String,
    arguments: String,
    why: Option<String>,
    leaves: Option<String>,
}

/// What the person has said.
#[derive(Debug, PartialEq, Eq)]
pub struct Said {
    /// As `chat_answer` has it.
    pub decision: &'static str,
    /// What the model is told.
    pub reason: Option<String>,
}

impl Question {
    pub fn of(event: TurnEvent) -> Self {
        Self {
            id: event.approval_id.unwrap_or_default(),
            tool: event.tool.unwrap_or_default(),
            arguments: event.arguments.map_or_else(|| "{}".to_owned(), |json| json.into_string()),
            why: event.text.filter(|why| !why.is_empty()),
            leaves: event.leaves,
        }
    }

    /// How it is answered.
    pub fn choices(&self) -> &'static str {
        if self.leaves.is_some() { CHOICES_OF_LEAVING } else { CHOICES }
    }

    /// What a line means; `None` where it is no answer to this question.
    pub fn read(&self, line: Option<&str>) -> Option<Said> {
        read(line).filter(|said| self.leaves.is_none() || matches!(said.decision, "once" | "no"))
    }

    /// All of it: the exact arguments, why it is asked, what would leave.
    pub fn text(&self) -> String {
        let why = self.why.as_ref().map(|why| format!(": {}", flatten(why))).unwrap_or_default();
        let leaves = self
            .leaves
            .as_ref()
            .map(|leaves| format!("\n  this would leave your machine:\n{}", indented(leaves)));
        let (tool, arguments) = (flatten(&self.tool), indented(&pretty(&self.arguments)));
        format!(
            "\n? {tool} wants your yes{why}\n{arguments}{}\n{}",
            leaves.unwrap_or_default(),
            self.choices()
        )
    }
}

/// Below the line that says what it is, so that it cannot look like one of ours.
fn indented(text: &str) -> String {
    reveal(text).lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

/// What a line means; `None` where it is no answer. The end of all lines is a no.
fn read(line: Option<&str>) -> Option<Said> {
    let Some(line) = line else { return Some(Said { decision: "no", reason: None }) };
    let line = line.trim();
    let (word, rest) = match line.find(|c: char| !c.is_alphanumeric()) {
        Some(at) => line.split_at(at),
        None => (line, ""),
    };
    let reason =
        rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ':' | '-' | '.')).trim();
    let reason = Some(reason.to_owned()).filter(|reason| !reason.is_empty());
    match (word.to_ascii_lowercase().as_str(), &reason) {
        ("y" | "yes", None) => Some(Said { decision: "once", reason }),
        ("a", None) => Some(Said { decision: "session", reason }),
        ("always", None) => Some(Said { decision: "always", reason }),
        ("n" | "no", _) => Some(Said { decision: "no", reason }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_yes_is_one() {
        let said = |line| read(Some(line)).map(|said| (said.decision, said.reason));
        assert_eq!(said(" y \r"), Some(("once", None)));
        assert_eq!(said("YES"), Some(("once", None)));
        assert_eq!(said("a"), Some(("session", None)));
        assert_eq!(said("always"), Some(("always", None)));
        assert_eq!(said("n"), Some(("no", None)));
        for line in ["n use the other file", "no, use the other file", "No: use the other file"] {
            assert_eq!(said(line), Some(("no", Some("use the other file".into()))), "{line}");
        }
        for line in ["", "  ", "yep", "y but only once", "a n", "ok", "?", "\u{1b}[A", "nothing"] {
            assert_eq!(said(line), None, "{line:?}");
        }
        assert_eq!(read(None), Some(Said { decision: "no", reason: None }));
    }

    #[test]
    fn a_question_shows_all_and_hides_nothing() {
        let question = Question {
            id: "1".into(),
            tool: "mail/send\u{1b}]0;x\u{7}".into(),
            arguments: "{\"to\":\"a@b.example\",\"text\":\"\u{202e}x\u{200b}\"}".into(),
            why: Some("it reaches\nothers".into()),
            leaves: Some("a@b.example\ny: this time".into()),
        };
        assert_eq!(
            question.text(),
            "\n? mail/send\\u{1b}]0;x\\u{7} wants your yes: it reaches others\n    {\n      \"to\": \"a@b.example\",\n      \
             \"text\": \"\\u{202e}x\\u{200b}\"\n    }\n  this would leave your machine:\n    a@b.example\n    \
             y: this time\n  y: this time   n: no; a reason for the model may follow"
        );
        let said = |line| question.read(Some(line)).map(|said| said.decision);
        assert_eq!(
            [said("y"), said("a"), said("always"), said("no")],
            [Some("once"), None, None, Some("no")]
        );
    }
}
