//! The marks with which models set off calls, thoughts and ends of turns.
//!
//! ```text
//!  <|tool_call|>   <｜tool▁calls▁begin｜>   <tool_call>   <parameter=path>   <invoke name="x">   [TOOL_CALLS]
//!  └ tokens: their names in small letters ┘ └ tags: name, value, and if they close ──────────┘   └ brackets
//! ```
//!
//! Owns the table of these words. Must never know what stands between two marks.

use super::lenient::Unread;

/// The longest mark, in bytes.
const LONGEST: usize = 200;

/// The form of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Token,
    Tag,
    Bracket,
}

/// A mark in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark<'a> {
    pub form: Form,
    /// Its name in small letters, without a prefix such as `minimax:`.
    pub name: String,
    /// Its name as it is written.
    pub written: &'a str,
    /// The value behind `=`, or of the attribute `name`.
    pub value: Option<&'a str>,
    pub is_closing: bool,
    /// True for `<name/>`.
    pub is_empty: bool,
    pub end: usize,
}

/// The role of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A call, or several, stand behind it.
    Opens,
    /// It stands behind a call.
    Closes,
    /// It stands between a call's name and its arguments.
    Separates,
    /// A thought begins, up to the closing mark.
    Thinks,
    /// A thought is over.
    Thought,
    /// It says nothing to the person, nor to us.
    Silent,
    /// A message with a channel begins, up to `message`.
    Channel,
    /// The turn is over.
    Ends,
    /// Another one's turn begins.
    Begins,
    /// A result begins, which only a model can have invented here.
    Invents,
    /// It is a mark of something else, or none.
    None,
}

/// The mark that begins at `at`.
///
/// # Errors
/// When the text ends within it, or when there is none.
pub(super) fn mark(text: &str, at: usize) -> Result<Mark<'_>, Unread> {
    let rest = &text[at..];
    let head = &rest[..rest.floor_char_boundary(LONGEST)];
    match rest.chars().next() {
        Some('[') => bracket(at, head),
        Some('<') if rest[1..].starts_with(['|', '｜']) => token(at, head),
        Some('<') => tag(at, head),
        Some(_) => Err(Unread::Other),
        None => Err(Unread::Ended),
    }
}

/// The reason to give where `head` has no end of a mark.
fn unended(head: &str) -> Unread {
    if head.len() + 4 > LONGEST { Unread::Other } else { Unread::Ended }
}

fn token(at: usize, head: &str) -> Result<Mark<'_>, Unread> {
    let first = 1 + head[1..].chars().next().map_or(0, char::len_utf8);
    let inner = &head[first..];
    if inner.starts_with(' ') {
        return Err(Unread::Other);
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_/-▁ ".contains(c);
    let length = inner.find(|c| !is_part(c)).ok_or(unended(head))?;
    let (written, rest) = inner.split_at(length);
    if written.is_empty() || length > 60 {
        return Err(Unread::Other);
    }
    let bar = rest.chars().next().filter(|c| ['|', '｜'].contains(c)).ok_or(Unread::Other)?;
    let rest = &rest[bar.len_utf8()..];
    if rest.is_empty() {
        return Err(Unread::Ended);
    }
    if !rest.starts_with('>') {
        return Err(Unread::Other);
    }
    let bare = written.strip_prefix('/').unwrap_or(written);
    let name = bare.trim().replace(['▁', ' '], "_").to_ascii_lowercase();
    Ok(Mark {
        form: Form::Token,
        name,
        written,
        value: None,
        is_closing: bare.len() < written.len(),
        is_empty: false,
        end: at + first + length + bar.len_utf8() + 1,
    })
}

fn tag(at: usize, head: &str) -> Result<Mark<'_>, Unread> {
    let is_closing = head[1..].starts_with('/');
    let inner = &head[1 + usize::from(is_closing)..];
    let is_part = |c: char| c.is_alphanumeric() || "_:.-".contains(c);
    let length = inner.find(|c| !is_part(c)).unwrap_or(inner.len());
    let (written, rest) = inner.split_at(length);
    let is_name = written.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if !(is_name || inner.is_empty()) {
        return Err(Unread::Other);
    }
    if rest.is_empty() {
        return Err(unended(head));
    }
    if !rest.starts_with(['>', '=', '/', ' ', '\n']) {
        return Err(Unread::Other);
    }
    let close = rest.find('>').ok_or(if rest.contains('<') { Unread::Other } else { unended(head) })?;
    let (inside, is_empty) = match rest[..close].strip_suffix('/') {
        Some(inside) => (inside, true),
        None => (&rest[..close], false),
    };
    if inside.contains('<') {
        return Err(Unread::Other);
    }
    let value = inside.strip_prefix('=').or_else(|| inside.trim_start().strip_prefix("name="));
    let name = written.rsplit_once(':').map_or(written, |(_, name)| name).to_ascii_lowercase();
    Ok(Mark {
        form: Form::Tag,
        name,
        written,
        value: value.map(first_word),
        is_closing,
        is_empty,
        end: at + 1 + usize::from(is_closing) + length + close + 1,
    })
}

/// The value of an attribute, without its quotation marks.
fn first_word(value: &str) -> &str {
    match value.chars().next().filter(|c| ['"', '\''].contains(c)) {
        Some(mark) => value[1..].split(mark).next().unwrap_or_default(),
        None => value.trim(),
    }
}

fn bracket(at: usize, head: &str) -> Result<Mark<'_>, Unread> {
    if head.starts_with("[e~[") {
        let written = &head[..4];
        return Ok(bracketed(written, "im_end".into(), false, at + 4));
    }
    let inner = &head[1..];
    let is_part = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '/';
    let length = inner.find(|c| !is_part(c)).unwrap_or(inner.len());
    let written = &inner[..length];
    let bare = written.strip_prefix('/').unwrap_or(written);
    const WORDS: [&str; 4] = ["TOOL_CALLS", "ARGS", "CALL_ID", "THINK"];
    if length == inner.len() && WORDS.iter().any(|word| word.starts_with(bare)) {
        return Err(Unread::Ended);
    }
    if !inner[length..].starts_with(']') || !WORDS.contains(&bare) {
        return Err(Unread::Other);
    }
    Ok(bracketed(written, bare.to_ascii_lowercase(), bare.len() < written.len(), at + length + 2))
}

fn bracketed(written: &str, name: String, is_closing: bool, end: usize) -> Mark<'_> {
    Mark { form: Form::Bracket, name, written, value: None, is_closing, is_empty: false, end }
}

impl Mark<'_> {
    /// The role that it has.
    pub fn role(&self) -> Role {
        match self.form {
            Form::Token => self.role_of_token(),
            Form::Tag => self.role_of_tag(),
            Form::Bracket => match (self.name.as_str(), self.is_closing) {
                ("tool_calls", false) => Role::Opens,
                ("tool_calls", true) => Role::Closes,
                ("args", false) => Role::Separates,
                ("think", false) => Role::Thinks,
                ("think", true) => Role::Thought,
                ("im_end", _) => Role::Ends,
                _ => Role::None,
            },
        }
    }

    fn role_of_token(&self) -> Role {
        match self.name.as_str() {
            "tool_call" if self.is_closing => Role::Closes,
            "tool_call"
            | "tool_calls"
            | "tool_call_begin"
            | "tool_calls_begin"
            | "tool_call_start"
            | "tool_calls_section_begin"
            | "tool_call_section_begin"
            | "python_tag"
            | "start_action" => Role::Opens,
            "tool_call_end"
            | "tool_calls_end"
            | "tool_calls_section_end"
            | "tool_call_section_end"
            | "end_action" => Role::Closes,
            "tool_sep" | "tool_call_argument_begin" => Role::Separates,
            "start_thinking" => Role::Thinks,
            "end_thinking" => Role::Thought,
            "start_response" | "end_response" | "start_text" | "end_text" => Role::Silent,
            "channel" | "start" => Role::Channel,
            "im_end" | "eot_id" | "eom_id" | "eot" | "end" | "end_of_text" | "endoftext" | "endofturn"
            | "end_of_turn" | "end_of_turn_token" | "end_of_sentence" | "return" | "call" => Role::Ends,
            "im_start" | "start_header_id" | "start_of_turn_token" | "user" | "observation" | "system" => {
                Role::Begins
            }
            _ => Role::None,
        }
    }

    fn role_of_tag(&self) -> Role {
        match self.name.as_str() {
            "tool_call" | "tool_calls" | "toolcall" | "function_call" | "function_calls" | "functioncall"
            | "tool_use" | "use_tool" => {
                if self.is_closing {
                    Role::Closes
                } else {
                    Role::Opens
                }
            }
            "think" | "thinking" | "thought" | "reasoning" => {
                if self.is_closing {
                    Role::Thought
                } else {
                    Role::Thinks
                }
            }
            "s" if self.is_closing => Role::Ends,
            "end_of_turn" | "eos" | "end_of_utterance" if !self.is_closing => Role::Ends,
            "start_of_turn" if !self.is_closing => Role::Begins,
            "tool_response" | "tool_result" | "tool_output" if !self.is_closing => Role::Invents,
            _ => Role::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Role, String, Option<&str>, usize) {
        let mark = mark(text, 0).unwrap_or_else(|why| panic!("{text}: {why:?}"));
        (mark.role(), mark.name, mark.value, mark.end)
    }

    #[test]
    fn marks_of_all_forms_are_read() {
        for (text, role, name, value) in [
            ("<|tool_call|>", Role::Opens, "tool_call", None),
            ("<|/tool_call|>", Role::Closes, "tool_call", None),
            ("<｜tool▁calls▁begin｜>", Role::Opens, "tool_calls_begin", None),
            ("<｜tool_calls_begin｜>", Role::Opens, "tool_calls_begin", None),
            ("<|END_OF_TURN_TOKEN|>", Role::Ends, "end_of_turn_token", None),
            ("<minimax:tool_call>", Role::Opens, "tool_call", None),
            ("</tool_call>", Role::Closes, "tool_call", None),
            ("<parameter=path>", Role::None, "parameter", Some("path")),
            ("<invoke name=\"a.b\">", Role::None, "invoke", Some("a.b")),
            ("<seed:think>", Role::Thinks, "think", None),
            ("[TOOL_CALLS]", Role::Opens, "tool_calls", None),
            ("</s>", Role::Ends, "s", None),
        ] {
            assert_eq!(read(text), (role, name.into(), value, text.len()), "{text}");
        }
    }

    #[test]
    fn half_a_mark_ends_and_ordinary_text_is_none() {
        for text in
            ["<", "<|", "<|tool_ca", "<|tool_call|", "<tool_c", "</", "<parameter name=\"te", "[TOOL_", "["]
        {
            assert_eq!(mark(text, 0), Err(Unread::Ended), "{text}");
        }
        for text in ["< b", "<5", "<| x", "<<", "[1]", "[x", "a", "<a <b>", "<|>"] {
            assert_eq!(mark(text, 0), Err(Unread::Other), "{text}");
        }
    }
}
