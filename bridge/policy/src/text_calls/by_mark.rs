//! Steps of the scan at a mark: how the text behind it is read, by the role of the mark.
//!
//! Owns what happens at each role of a mark. Must never take a word of ordinary text for one.

use super::answer::LeftReason;
use super::heard::BETWEEN;
use super::items::{arguments, call, item, separators};
use super::lenient::{Unread, blanks, value};
use super::looking::Looking;
use super::marks::{Form, Mark, Role, mark};
use super::shapes::{WrittenCall, calls_of};
use super::state::{CallForm, ScanStep};
use super::surroundings::is_end;
use crate::untrusted::Nonce;

impl Looking<'_> {
    /// The step at a `<`.
    pub fn angle(&mut self) -> ScanStep {
        let at = self.scan.at;
        let found = match mark(self.text, at) {
            Ok(found) => found,
            Err(Unread::Other) => return ScanStep::Show(at + 1),
            Err(Unread::Ended) if !self.is_whole => return ScanStep::Wait,
            Err(Unread::Ended) if self.is_half_mark() => return ScanStep::Cut,
            Err(Unread::Ended) => return ScanStep::Show(at + 1),
        };
        match found.role() {
            Role::Thinks => self.thinks(&found),
            Role::Thought => ScanStep::Forget(found.end),
            Role::Silent => ScanStep::Hide(found.end),
            Role::Channel => self.channel(found.end),
            Role::Ends if self.scan.has_channels && found.name == "end" => ScanStep::Hide(found.end),
            Role::Ends => match is_end(self.text, found.end, self.is_whole) {
                Some(true) => ScanStep::Over,
                Some(false) => ScanStep::Show(found.end),
                None => ScanStep::Wait,
            },
            Role::Begins | Role::Invents if !self.scan.answer.calls.is_empty() => ScanStep::Over,
            Role::Begins if self.scan.is_line_begin() => ScanStep::Over,
            Role::Opens | Role::None => self.marked(CallForm::Marked(found.form)),
            _ => ScanStep::Show(found.end),
        }
    }

    /// True if the text ends within a mark of a call.
    fn is_half_mark(&self) -> bool {
        const WORDS: [&str; 10] = [
            "tool_call",
            "tool_use",
            "use_tool",
            "function",
            "invoke",
            "minimax:",
            "think",
            "parameter",
            "arg_",
            "antml:",
        ];
        let rest = self.text[self.scan.at + 1..].trim_start_matches('/');
        if rest.starts_with(['|', '｜']) {
            return rest.chars().count() > 2;
        }
        let is_known = |word: &str| word.starts_with(rest) || rest.starts_with(word);
        rest.len() > 2 && (WORDS.into_iter().any(is_known) || self.reading.tools.has_beginning(rest))
    }

    fn thinks(&mut self, found: &Mark<'_>) -> ScanStep {
        let closing = match found.form {
            Form::Token => "<|END_THINKING|>".to_owned(),
            Form::Tag => format!("</{}>", found.written),
            Form::Bracket => "[/THINK]".to_owned(),
        };
        match self.text[found.end..].find(&closing) {
            Some(length) => ScanStep::Hide(found.end + length + closing.len()),
            None if !self.is_whole => ScanStep::Wait,
            None if self.scan.is_line_begin() => ScanStep::Over,
            None => self.fails(found.end),
        }
    }

    /// The step at a `[`.
    pub fn bracket(&mut self) -> ScanStep {
        let (at, rest) = (self.scan.at, &self.text[self.scan.at..]);
        if rest.starts_with("[call ") {
            return self.of_harbor();
        }
        if !self.is_whole && "[call ".starts_with(rest) {
            return ScanStep::Wait;
        }
        match mark(self.text, at) {
            Ok(found) => match found.role() {
                Role::Opens => self.marked(CallForm::Marked(Form::Bracket)),
                Role::Thinks => self.thinks(&found),
                Role::Thought => ScanStep::Forget(found.end),
                Role::Ends if is_end(self.text, found.end, self.is_whole) == Some(true) => ScanStep::Over,
                _ => ScanStep::Show(found.end),
            },
            Err(Unread::Ended) if !self.is_whole => ScanStep::Wait,
            Err(Unread::Ended) if rest.len() > 3 => ScanStep::Cut,
            Err(_) => ScanStep::Show(at + 1),
        }
    }

    /// A call in the form that Harbor has told the model, with the word of this turn.
    fn of_harbor(&mut self) -> ScanStep {
        let at = self.scan.at;
        let Some((word, _)) = self.text[at + 6..].split_once(']') else {
            return if self.text.len() - at > 6 + 64 { self.fails(at + 1) } else { self.ended() };
        };
        let begin = at + 6 + word.len() + 1;
        let inner = blanks(self.text, begin);
        if inner == self.text.len() {
            return self.ended();
        }
        let (calls, end) = match item(self.text, inner, self.reading.tools, true) {
            Ok(found) => found,
            Err(Unread::Ended) => return self.ended(),
            Err(Unread::Other) => return self.fails(at + 1),
        };
        let closing = "[/call]";
        let behind = blanks(self.text, end);
        let end = if self.text[behind..].starts_with(closing) { behind + closing.len() } else { end };
        let is_right = |nonce: &&Nonce| nonce.as_str() == word.trim() && !self.reading.heard.knows(nonce);
        if self.reading.nonce.filter(is_right).is_none() {
            return ScanStep::Leave(calls, end, LeftReason::WrongNonce);
        }
        self.if_meant(at, calls, end, CallForm::OfHarbor)
    }

    /// A value within a line is text, whatever it says.
    pub fn brace(&mut self) -> ScanStep {
        let at = self.scan.at;
        match value(self.text, at) {
            Ok((value, end)) => {
                let calls = calls_of(&value).unwrap_or_default();
                let is_offered = |call: &WrittenCall| self.reading.tools.name(&call.name).is_some();
                let calls = calls.into_iter().filter(is_offered).collect();
                ScanStep::Leave(calls, end, LeftReason::InProse)
            }
            Err(Unread::Ended) if !self.is_whole => ScanStep::Wait,
            Err(_) => self.fails(at + 1),
        }
    }

    /// `>>>name` and an object in the next line; `>>>all` and text for the person.
    pub fn recipient(&mut self) -> ScanStep {
        let (at, rest) = (self.scan.at, &self.text[self.scan.at..]);
        if !self.is_whole && ">>>".starts_with(rest) {
            return ScanStep::Wait;
        }
        let Some(behind) = rest.strip_prefix(">>>") else { return ScanStep::Show(at + 1) };
        let name =
            behind.split(|c: char| !c.is_alphanumeric() && !"_.-/".contains(c)).next().unwrap_or_default();
        let end = at + 3 + name.len();
        let is_known = self.reading.tools.name(name).is_some();
        if end == self.text.len() {
            let may_become = "all".starts_with(name) || self.reading.tools.has_beginning(name);
            return if may_become { self.ended() } else { ScanStep::Show(at + 3) };
        }
        if name == "all" && self.text[end..].starts_with('\n') {
            return ScanStep::Hide(end);
        }
        if !is_known || !self.text[end..].starts_with('\n') {
            return ScanStep::Show(at + 3);
        }
        match arguments(self.text, end) {
            Ok((arguments, end)) => {
                let calls = vec![call(name, arguments, self.reading.tools)];
                self.if_meant(at, calls, end, CallForm::Recipient)
            }
            Err(Unread::Ended) => self.ended(),
            Err(Unread::Other) => self.fails(at + 3),
        }
    }

    /// A message with a channel: a thought, words for the person, or a call.
    fn channel(&mut self, from: usize) -> ScanStep {
        const MESSAGE: &str = "<|message|>";
        let at = self.scan.at;
        let rest = &self.text[from..];
        let near = &rest[..rest.floor_char_boundary(BETWEEN)];
        let near = near.split('\n').next().unwrap_or_default();
        let Some(length) = near.find(MESSAGE) else {
            return if near.len() < rest.len() { self.fails(from) } else { self.ended() };
        };
        let (header, begin) = (&rest[..length], from + length + MESSAGE.len());
        let recipient =
            header.split_once("to=").map(|(_, name)| name.split([' ', '<']).next().unwrap_or_default());
        if let Some(name) = recipient {
            return match arguments(self.text, begin) {
                Ok((arguments, end)) => {
                    let end = self.behind_call(end);
                    let calls = vec![call(name, arguments, self.reading.tools)];
                    self.scan.has_channels = true;
                    self.if_meant(at, calls, end, CallForm::Channel)
                }
                Err(Unread::Ended) => self.ended(),
                Err(Unread::Other) => self.behind_message(begin),
            };
        }
        self.scan.has_channels = true;
        if header.contains("analysis") {
            return self.behind_message(begin);
        }
        if !self.scan.is_line_begin() {
            self.scan.out.push_str("\n\n");
        }
        ScanStep::Hide(begin)
    }

    /// The place behind the mark that ends a call.
    fn behind_call(&self, at: usize) -> usize {
        match mark(self.text, separators(self.text, at)) {
            Ok(found) if ["call", "end"].contains(&found.name.as_str()) => found.end,
            _ => at,
        }
    }

    /// Nothing of a message is for the person.
    fn behind_message(&self, begin: usize) -> ScanStep {
        let ends = ["<|end|>", "<|start|>", "<|channel|>", "<|return|>", "<|call|>"];
        let rest = &self.text[begin..];
        let end = rest
            .match_indices("<|")
            .map(|(at, _)| at)
            .find(|at| ends.iter().any(|end| rest[*at..].starts_with(end)));
        match end {
            Some(end) => ScanStep::Hide(begin + end),
            None if self.is_whole => ScanStep::Over,
            None => ScanStep::Wait,
        }
    }
}
