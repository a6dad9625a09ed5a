//! A look at what stands at the place of a scan.
//!
//! Owns what all forms of calls have in common. Must never change the scan but for its counts.

use super::answer::{LeftAsText, LeftReason, ReadAnswer, Reading};
use super::items::{MOST, block};
use super::lenient::Unread;
use super::shapes::WrittenCall;
use super::state::{AnswerScan, CallForm, ScanStep};
use super::surroundings::is_shown;

/// How deep quotations and fences are looked into.
pub(super) const DEEPEST: usize = 2;

/// A look.
pub(super) struct Looking<'a> {
    pub scan: &'a mut AnswerScan,
    pub text: &'a str,
    pub reading: Reading<'a>,
    /// True if no more text comes.
    pub is_whole: bool,
    /// Reads a part of the text by itself, at this depth.
    pub inner: fn(&str, Reading<'_>, usize) -> ReadAnswer,
}

impl Looking<'_> {
    /// The first place of this line that is not blank.
    pub fn first(&self, at: usize) -> usize {
        at + self.text[at..].bytes().take_while(|byte| b" \t".contains(byte)).count()
    }

    pub fn fails(&mut self, end: usize) -> ScanStep {
        self.scan.tries += 1;
        ScanStep::Show(end)
    }

    /// A call that the text ends within.
    pub fn ended(&self) -> ScanStep {
        if self.is_whole { ScanStep::Cut } else { ScanStep::Wait }
    }

    /// A call behind a mark.
    pub fn marked(&mut self, form: CallForm) -> ScanStep {
        let at = self.scan.at;
        match block(self.text, at, self.reading.tools) {
            Ok((calls, end)) => self.if_meant(at, calls, end, form),
            Err(Unread::Ended) => self.ended(),
            Err(Unread::Other) => self.fails(at + 1),
        }
    }

    /// Calls with a mark count unless the text around shows them as an example.
    pub fn if_meant(&mut self, at: usize, calls: Vec<WrittenCall>, end: usize, form: CallForm) -> ScanStep {
        match is_shown(&self.scan.out, self.text, (at, end), self.is_whole) {
            Some(true) => ScanStep::Leave(calls, end, LeftReason::Quoted),
            Some(false) => ScanStep::Take(calls, end, form),
            None => ScanStep::Wait,
        }
    }

    /// The text by itself.
    pub fn inner(&self, text: &str) -> ReadAnswer {
        (self.inner)(text, self.reading, self.scan.depth + 1)
    }

    pub fn run(&self, at: usize) -> usize {
        let rest = &self.text.as_bytes()[at..];
        rest.iter().take_while(|byte| **byte == rest[0]).count()
    }

    /// Notes the calls of a quotation.
    pub fn quoted(&mut self, text: &str) {
        if self.scan.depth < DEEPEST {
            let calls = self.inner(text).calls;
            let left = calls.into_iter().map(|call| LeftAsText { tool: call.name, why: LeftReason::Quoted });
            let room = MOST.saturating_sub(self.scan.answer.left.len());
            self.scan.answer.left.extend(left.take(room));
        }
    }
}
