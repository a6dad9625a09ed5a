//! Code: fences, and backticks within a line.
//!
//! Owns when a fence is a call and when it is an example. Must never look for calls in other code.

use super::answer::{LeftAsText, LeftReason, TextCall};
use super::items::MOST;
use super::lenient::blanks;
use super::looking::{DEEPEST, Looking};
use super::marks::{Role, mark};
use super::shapes::WrittenCall;
use super::state::ScanStep;
use super::surroundings::{announces, is_end};

/// The longest run of backticks that begins code within a line.
const LONGEST_RUN: usize = 8;

/// How many ends of a fence are tried.
const FENCE_ENDS: usize = 8;

/// A fence, looked into.
enum Fence {
    Calls(Vec<TextCall>, usize),
    /// Its end is missing yet.
    Open,
    /// The text ends within its call.
    Cut,
    /// It has something else in it, and perhaps what looks like calls.
    Code(Vec<LeftAsText>),
}

impl Looking<'_> {
    /// Code up to its mark.
    pub fn within_code(&mut self, mark: String) -> ScanStep {
        let rest = &self.text[self.scan.at..];
        let mut from = 0;
        while let Some(next) = rest[from..].find(&mark) {
            let end = from + next + mark.len();
            let is_line =
                rest[..from + next].trim_end_matches([' ', '\t']).ends_with('\n') || from + next == 0;
            if is_line && !self.is_whole && !rest[end..].contains('\n') {
                return ScanStep::Wait;
            }
            let behind = rest[end..].trim_start_matches(mark.chars().next().unwrap_or('`'));
            if is_line && (behind.is_empty() || behind.trim_start_matches([' ', '\t']).starts_with('\n')) {
                self.scan.code = None;
                return ScanStep::Show(self.text.len() - behind.len());
            }
            from = end;
        }
        if self.is_whole {
            return ScanStep::Show(self.text.len());
        }
        // The mark may come in two pieces.
        match rest.rfind('\n') {
            Some(0) | None => ScanStep::Wait,
            Some(line) => ScanStep::Show(self.scan.at + line),
        }
    }

    /// A fence is a call if nothing else is in it, it ends the message, and one plain sentence at most stands before it.
    pub fn fence(&mut self, at: usize) -> ScanStep {
        if self.is_within_line(at) {
            return if at == self.scan.at { self.ticks() } else { ScanStep::Show(at) };
        }
        let (mut from, mut calls, mut end) = (at, Vec::new(), at);
        loop {
            match self.one_fence(from) {
                Fence::Calls(more, behind) => {
                    calls.extend(more);
                    end = behind;
                }
                Fence::Open => return ScanStep::Wait,
                Fence::Cut if announces(&self.scan.out) => return ScanStep::Cut,
                Fence::Cut if calls.is_empty() => return self.plain_fence(at, Vec::new()),
                Fence::Code(left) if calls.is_empty() => return self.plain_fence(at, left),
                Fence::Cut | Fence::Code(_) => break,
            }
            from = blanks(self.text, end);
            if !self.text[from..].starts_with("```") || calls.len() > MOST {
                break;
            }
        }
        match is_end(self.text, end, self.is_whole) {
            Some(true) if announces(&self.scan.out) || !self.scan.answer.calls.is_empty() => {
                ScanStep::Fenced(calls, end)
            }
            None => ScanStep::Wait,
            Some(_) => {
                let written = calls.into_iter().map(|call| WrittenCall {
                    name: call.name,
                    arguments: serde_json::Map::new(),
                    is_plain: true,
                });
                ScanStep::Leave(written.collect(), end, LeftReason::InProse)
            }
        }
    }

    /// A fence with code in it. A result that the model has invented ends the answer.
    fn plain_fence(&mut self, at: usize, left: Vec<LeftAsText>) -> ScanStep {
        let ticks = self.run(at);
        let info = &self.text[at + ticks..];
        let Some(line) = info.find('\n') else {
            return if self.is_whole { ScanStep::Show(self.text.len()) } else { ScanStep::Wait };
        };
        if info[..line].trim() == "tool_output" && !self.scan.answer.calls.is_empty() {
            return ScanStep::Over;
        }
        self.scan.tries += 1;
        let room = MOST.saturating_sub(self.scan.answer.left.len());
        self.scan.answer.left.extend(left.into_iter().take(room));
        ScanStep::Code(at + ticks + line, self.text[at..at + ticks].to_owned())
    }

    /// True if the mark comes again in its line: it is code within a line then.
    fn is_within_line(&self, at: usize) -> bool {
        let ticks = self.run(at);
        let (mark, rest) = self.text[at..].split_at(ticks);
        mark.starts_with('`') && rest.find('\n').is_some_and(|line| rest[..line].contains(mark))
    }

    fn one_fence(&mut self, at: usize) -> Fence {
        let text = self.text;
        let ticks = self.run(at);
        let mark = &text[at..at + ticks];
        let Some(line) = text[at + ticks..].find('\n') else {
            return if self.is_whole { Fence::Cut } else { Fence::Open };
        };
        let begin = at + ticks + line + 1;
        if !self.is_whole && !text[begin..].trim_start().contains('\n') {
            return Fence::Open;
        }
        if !self.may_be_calls(begin) || self.scan.depth >= DEEPEST {
            return Fence::Code(Vec::new());
        }
        let (mut from, mut tried) = (begin, 0);
        while let Some(next) = text[from..].find(mark) {
            let (inner, end) = (from + next, from + next + ticks);
            from = end;
            let behind = &text[end..];
            if !self.is_whole && !behind.contains('\n') {
                return Fence::Open;
            }
            let is_closing = behind.trim_start_matches([' ', '\t']).starts_with('\n')
                || behind.trim().is_empty()
                || mark_begins(behind);
            if !is_closing {
                continue;
            }
            let inner = self.inner(&text[begin..inner]);
            if !inner.calls.is_empty() && inner.rest.is_empty() {
                return Fence::Calls(inner.calls, end);
            }
            tried += 1;
            if !inner.is_cut || tried == FENCE_ENDS {
                return Fence::Code(inner.left);
            }
        }
        if !self.is_whole {
            return Fence::Open;
        }
        let inner = self.inner(&text[begin..]);
        match (inner.is_cut || tried > 0, inner.calls.is_empty() || !inner.rest.is_empty()) {
            (_, false) => Fence::Calls(inner.calls, text.len()),
            (true, _) if inner.rest.is_empty() && tried == 0 => Fence::Cut,
            _ => Fence::Code(inner.left),
        }
    }

    /// True if code that begins here may consist of calls.
    fn may_be_calls(&self, at: usize) -> bool {
        let rest = self.text[at..].trim_start();
        let word =
            rest.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').next().unwrap_or_default();
        let bare = word.rsplit('.').next().unwrap_or_default();
        let begins = |known: &str| !word.is_empty() && (known.starts_with(word) || word.starts_with(known));
        rest.is_empty()
            || rest.starts_with(['{', '[', '<', '>'])
            || (!word.is_empty() && self.reading.tools.has_beginning(bare))
            || ["print", "default_api", "functools", "Thought", "Action"].into_iter().any(begins)
            || rest[word.len()..].trim_start().starts_with('=')
    }

    /// Code within a line.
    pub fn ticks(&mut self) -> ScanStep {
        let (at, ticks) = (self.scan.at, self.run(self.scan.at));
        if !self.is_whole && at + ticks == self.text.len() {
            return ScanStep::Wait;
        }
        if ticks > LONGEST_RUN {
            return ScanStep::Show(at + ticks);
        }
        let rest = &self.text[at + ticks..];
        let mut from = 0;
        let is_open = loop {
            let next = rest[from..].find('`');
            let gap = &rest[from..next.map_or(rest.len(), |next| from + next)];
            if gap.contains("\n\n") {
                break false;
            }
            let Some(next) = next else { break true };
            let run = self.run(at + ticks + from + next);
            if !self.is_whole && at + ticks + from + next + run == self.text.len() {
                break true;
            }
            if run == ticks {
                let inside = &rest[..from + next];
                self.quoted(inside);
                return ScanStep::Show(at + ticks + inside.len() + ticks);
            }
            from += next + run;
        };
        if is_open && !self.is_whole {
            return ScanStep::Wait;
        }
        ScanStep::Show(at + ticks)
    }
}

fn mark_begins(text: &str) -> bool {
    let begin = blanks(text, 0);
    text[begin..].starts_with('<') && mark(text, begin).is_ok_and(|found| found.role() == Role::Ends)
}
