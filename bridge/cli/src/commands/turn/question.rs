//! A question of a turn: may this tool be called?
//!
//! Owns the text that the person sees, and the meaning of an answer. Must never take anything else for a yes:
//! an empty line is no answer. Must never let the words of a model or a tool look like a line of ours: they
//! stand further to the right.

use harbor_client::terminal::reveal;
use harbor_ipc_proto::client::{Approval, ApprovalField};

use super::super::approvals::words::{covered_by, leaving, wanted, who};
use super::super::ids::short;
use crate::inset::inset;
use crate::table::flatten;

/// The words to type for each answer, in the order in which they are offered.
const CHOICES: [(&str, &str); 7] = [
    ("y", "once"),
    ("a", "chat_tool"),
    ("s", "chat_server"),
    ("f", "flow"),
    ("always", "always"),
    ("n", NO),
    ("never", NEVER),
];

const NO: &str = "no";

const NEVER: &str = "never";

/// The indentation of an argument, and of the lines that are broken off it.
const FIELD: (usize, usize) = (4, 6);

/// The indentations of a line of a value that has several, and of the lines broken off it.
const VALUE: (usize, usize) = (6, 8);

/// A call that waits for the person.
pub struct ApprovalQuestion(Approval);

/// The person's answer.
#[derive(Debug, PartialEq, Eq)]
pub struct Said {
    /// The word for the answer in `approvals_answer`.
    pub answer: &'static str,
    /// The reason that the model is told.
    pub reason: Option<String>,
}

impl ApprovalQuestion {
    pub fn of(approval: Approval) -> Self {
        Self(approval)
    }

    /// The id that `approvals_answer` names.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// `server/tool`.
    pub fn tool(&self) -> &str {
        &self.0.tool
    }

    /// The possible answers, in words.
    pub fn choices(&self) -> String {
        let offered = CHOICES.iter().filter(|(_, answer)| self.offers(answer));
        let line = |(typed, answer): &(&str, &str)| match *answer {
            NO => format!("  {typed}: no; you can add a reason for the model"),
            NEVER => format!("  {typed}: no, and never ask about this server again"),
            _ => format!("  {typed}: {}", covered_by(&self.0, answer)),
        };
        offered.map(line).collect::<Vec<_>>().join("\n")
    }

    fn offers(&self, answer: &str) -> bool {
        self.0.answers.iter().any(|offered| offered == answer)
    }

    /// Reads a line. None if it is no answer to this question. The end of input is a no.
    pub fn read(&self, line: Option<&str>) -> Option<Said> {
        match line {
            Some(line) => read(line).filter(|said| self.offers(said.answer)),
            None => Some(Said { answer: NO, reason: None }),
        }
    }

    /// The whole question: who wants what and why, what would leave, the shown arguments, the possible
    /// answers.
    pub fn text(&self, width: usize) -> String {
        let mut lines = vec![String::new(), inset(&self.head(), (0, 4), width)];
        lines.extend(leaving(&self.0).map(|text| inset(&text, (2, 4), width)));
        lines.extend(self.0.fields.iter().map(|field| self.field(field, width)));
        lines.push(self.choices());
        lines.join("\n")
    }

    fn head(&self) -> String {
        let why = Some(flatten(&self.0.why)).filter(|why| !why.is_empty());
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        format!("? {} wants {}{why}", who(&self.0), wanted(&self.0))
    }

    fn field(&self, field: &ApprovalField, width: usize) -> String {
        let (key, value) = (key(&field.key), format!("{}{}", reveal(&field.text), self.rest(field)));
        match value.contains('\n') {
            true => format!("{}\n{}", inset(&format!("{key}:"), FIELD, width), inset(&value, VALUE, width)),
            false => inset(&format!("{key}: {value}"), FIELD, width),
        }
    }

    /// The hint where all of a cut value is shown.
    fn rest(&self, field: &ApprovalField) -> String {
        let whole = |bytes| {
            format!(
                " … ({bytes} bytes in all; `harbor approvals show {}` shows all of it)",
                short(&self.0.id)
            )
        };
        field.bytes.map(whole).unwrap_or_default()
    }
}

/// A key, in quotes if it could be taken for a key with its value.
fn key(key: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "._-[]$@".contains(c);
    match !key.is_empty() && key.chars().all(is_plain) {
        true => reveal(key),
        false => flatten(&format!("{key:?}")),
    }
}

/// Reads a line. None if it is no answer at all.
fn read(line: &str) -> Option<Said> {
    let line = line.trim();
    let (word, rest) = match line.find(|c: char| !c.is_alphanumeric()) {
        Some(at) => line.split_at(at),
        None => (line, ""),
    };
    let reason =
        rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ':' | '-' | '.')).trim();
    let reason = Some(reason.to_owned()).filter(|reason| !reason.is_empty());
    let word = match word.to_ascii_lowercase() {
        word if word == "yes" => "y".into(),
        word if word == NO => "n".into(),
        word => word,
    };
    let (_, answer) = CHOICES.iter().find(|(typed, _)| *typed == word)?;
    (*answer == NO || reason.is_none()).then_some(Said { answer, reason })
}

#[cfg(test)]
mod tests {
    use super::super::super::rig::typed;
    use super::*;

    const WIDTH: usize = 80;

    fn question(text: &str) -> ApprovalQuestion {
        ApprovalQuestion::of(typed(text))
    }

    #[test]
    fn only_a_whole_yes_is_one() {
        let said = |line| read(line).map(|said| (said.answer, said.reason));
        assert_eq!(said(" y \r"), Some(("once", None)));
        assert_eq!(said("YES"), Some(("once", None)));
        assert_eq!(said("a"), Some(("chat_tool", None)));
        assert_eq!(said("s"), Some(("chat_server", None)));
        assert_eq!(said("f"), Some(("flow", None)));
        assert_eq!(said("always"), Some(("always", None)));
        assert_eq!(said("n"), Some(("no", None)));
        assert_eq!(said("never"), Some(("never", None)));
        for line in ["n use the other file", "no, use the other file", "No: use the other file"] {
            assert_eq!(said(line), Some(("no", Some("use the other file".into()))), "{line}");
        }
        for line in ["", "  ", "yep", "y but only once", "a n", "ok", "?", "\u{1b}[A", "nothing", "once"] {
            assert_eq!(said(line), None, "{line:?}");
        }
    }

    #[test]
    fn only_what_is_offered_is_shown_and_taken() {
        let changing = question(r#"{"answers":["once","chat_tool","chat_server","always","no"]}"#);
        assert_eq!(
            changing.choices(),
            "  y: this call\n  a: this tool in this chat\n  s: this server in this chat: its tools that write\n  \
             always: this tool from now on\n  n: no; you can add a reason for the model"
        );
        let leaving = question(r#"{"answers":["once","flow","no"]}"#);
        assert_eq!(
            leaving.choices(),
            "  y: this call\n  f: this flow in this chat\n  n: no; you can add a reason for the model"
        );
        let said = |line| leaving.read(Some(line)).map(|said| said.answer);
        assert_eq!(
            ["y", "a", "s", "f", "always", "no"].map(said),
            [Some("once"), None, None, Some("flow"), None, Some("no")]
        );
        assert_eq!(leaving.read(None), Some(Said { answer: "no", reason: None }));
    }

    #[test]
    fn a_server_that_wants_a_models_answer_says_so() {
        let question = question(
            r#"{"who":"server","principal":"server:s","tool":"s/sampling/createMessage","reason":"sampling","why":"it wants m",
            "answers":["once","always","no","never"],"fields":[{"key":"1 user","text":"Hi"}]}"#,
        );
        assert_eq!(
            question.text(200),
            "\n? the server s wants to have a language model answer: it wants m\n    \"1 user\": Hi\n  y: this answer\n  \
             always: all that s asks of your models from now on\n  n: no; you can add a reason for the model\n  \
             never: no, and never ask about this server again"
        );
        assert_eq!(question.read(Some("never")).map(|said| said.answer), Some("never"));
    }

    #[test]
    fn a_question_shows_all_and_hides_nothing() {
        let question = question(
            r#"{"id":"0123456789","who":"chat","tool":"mail/send\u001b]0;x\u0007","why":"it reaches\nothers","reason":"leaves",
            "private":["files","gmail"],"answers":["once","no"],"fields":[{"key":"to","text":"a@b.example"},
            {"key":"text","text":"\u202ex\u200b\n  y: this call"},{"key":"y: this call\n","text":"1"},{"key":"rest","text":"aa","bytes":5000}]}"#,
        );
        assert_eq!(
            question.text(200),
            "\n? your model wants to call mail/send\\u{1b}]0;x\\u{7}: it reaches others\n  \
             this would tell mail something that comes from: files, gmail\n    to: a@b.example\n    text:\n      \
             \\u{202e}x\\u{200b}\n        y: this call\n    \"y: this call\\n\": 1\n    \
             rest: aa … (5000 bytes in all; `harbor approvals show 01234567` shows all of it)\n  y: this call\n  \
             n: no; you can add a reason for the model"
        );
    }

    #[test]
    fn what_a_terminal_breaks_off_is_no_line_of_ours() {
        let long = format!("{}y: this call", " ".repeat(WIDTH - 7));
        let question = question(&format!(
            r#"{{"who":"chat","tool":"{0}","why":"{0}","fields":[{{"key":"{0}","text":"{long}"}},{{"key":"k","text":"\n{long}"}}]}}"#,
            "x".repeat(WIDTH)
        ));
        let text = question.text(WIDTH);
        let lines: Vec<_> = text.lines().skip(2).filter(|line| !line.is_empty()).collect();
        assert!(lines.iter().all(|line| line.starts_with("    ") && line.len() <= WIDTH), "{text}");
    }
}
