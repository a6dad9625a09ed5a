//! What the beginning of a line says: a keyword, a fence, a value or a call that stands by itself.
//!
//! Owns when a call without a mark counts. Must never take a citation for one.

use super::answer::LeftReason;
use super::items::separators;
use super::lenient::{Unread, blanks};
use super::lines::{
    LineBegin, actions, bare_values, is_action, keyword, may_become_call, name_line, python_line,
};
use super::looking::Looking;
use super::python;
use super::shapes::WrittenCall;
use super::state::{CallForm, ScanStep};
use super::surroundings::{announces, is_end};

impl Looking<'_> {
    /// The step at the beginning of a line, if it is a special one.
    pub fn line(&mut self, at: usize) -> Option<ScanStep> {
        let rest = &self.text[at..];
        if rest.starts_with('>') && !rest.starts_with(">>>") {
            return self.cited(at);
        }
        if rest.starts_with("```") || rest.starts_with("~~~") {
            return Some(self.fence(at));
        }
        if !self.is_whole && ["```", "~~~"].iter().any(|mark| mark.starts_with(rest)) {
            return Some(ScanStep::Wait);
        }
        match keyword(self.text, at) {
            Ok((begin, end)) => return self.begun(begin, at, end),
            Err(Unread::Ended) if !self.is_whole => return Some(ScanStep::Wait),
            // The word that stops such a model may be left in part.
            Err(Unread::Ended) if !rest.is_empty() && !self.scan.answer.calls.is_empty() => {
                return Some(ScanStep::Over);
            }
            Err(_) => {}
        }
        if rest.starts_with(['{', '[']) {
            return self.bare(at);
        }
        if self.scan.out.trim().is_empty() && !rest.starts_with('<') {
            if rest.starts_with("all\n") {
                return Some(ScanStep::Hide(at + 4));
            }
            match name_line(self.text, at, self.reading.tools) {
                Ok((calls, end)) => return Some(self.if_meant(at, calls, end, CallForm::Recipient)),
                Err(Unread::Ended) if !self.is_whole || rest.contains('\n') => return Some(self.ended()),
                Err(_) => {}
            }
        }
        match python_line(self.text, at, self.reading.tools) {
            Ok((calls, end)) => self.if_last(at, calls, end),
            Err(Unread::Ended) if !self.is_whole => Some(ScanStep::Wait),
            Err(Unread::Ended) if rest.contains('(') && announces(&self.scan.out) => Some(ScanStep::Cut),
            Err(_) => None,
        }
    }

    /// A line that cites another text.
    fn cited(&self, at: usize) -> Option<ScanStep> {
        let rest = &self.text[at..];
        match rest.find('\n') {
            Some(length) => Some(ScanStep::Show(at + length)),
            None if self.is_whole => Some(ScanStep::Show(self.text.len())),
            None => Some(ScanStep::Wait),
        }
    }

    fn begun(&mut self, begin: LineBegin, at: usize, end: usize) -> Option<ScanStep> {
        match begin {
            LineBegin::Thought => Some(self.thought(at, end)),
            LineBegin::Action if self.is_whole && !is_action(self.text, end, self.reading.tools) => None,
            LineBegin::Action => match actions(self.text, end, self.reading.tools) {
                Ok((calls, end)) => {
                    let next = blanks(self.text, end);
                    let goes_on = keyword(self.text, next);
                    match goes_on {
                        Err(Unread::Ended) if !self.is_whole => return Some(ScanStep::Wait),
                        Ok(_) | Err(Unread::Ended) => {
                            return Some(ScanStep::Take(calls, end, CallForm::Lines));
                        }
                        Err(Unread::Other) => {}
                    }
                    Some(match is_end(self.text, end, self.is_whole) {
                        Some(true) => ScanStep::Take(calls, end, CallForm::Lines),
                        Some(false) => ScanStep::Leave(calls, end, LeftReason::InProse),
                        None => ScanStep::Wait,
                    })
                }
                Err(Unread::Ended) => Some(self.ended()),
                Err(Unread::Other) => None,
            },
            LineBegin::Observation if !self.scan.answer.calls.is_empty() => Some(ScanStep::Over),
            LineBegin::FinalAnswer if self.scan.has_thoughts || !self.scan.answer.calls.is_empty() => {
                Some(ScanStep::Hide(end))
            }
            LineBegin::Observation | LineBegin::FinalAnswer => None,
        }
    }

    /// A thought goes on up to the next keyword. Without one the word begins an ordinary line.
    fn thought(&mut self, at: usize, end: usize) -> ScanStep {
        let lines = self.text[end..].match_indices('\n').map(|(line, _)| end + line + 1);
        let is_next = |line: &usize| match keyword(self.text, self.first(*line)) {
            Ok((LineBegin::Action, end)) => {
                let is_settled = self.is_whole || self.text[end..].trim_start().split('\n').nth(2).is_some();
                is_settled && is_action(self.text, end, self.reading.tools)
            }
            Ok((LineBegin::Thought, _)) | Err(_) => false,
            Ok(_) => true,
        };
        let next = lines.into_iter().find(is_next);
        match next {
            Some(line) => {
                self.scan.has_thoughts = true;
                ScanStep::Hide(line)
            }
            None if !self.is_whole => ScanStep::Wait,
            None if self.scan.has_thoughts || !self.scan.answer.calls.is_empty() => ScanStep::Over,
            None => self.fails(at + 1),
        }
    }

    /// A value that stands by itself at the beginning of a line.
    fn bare(&mut self, at: usize) -> Option<ScanStep> {
        let (text, tools) = (self.text, self.reading.tools);
        match bare_values(text, at) {
            Ok((Some(calls), end)) => return self.if_last(at, calls, end),
            Ok((None, end)) => return Some(ScanStep::Show(end)),
            Err(Unread::Ended) if !self.is_whole => return Some(ScanStep::Wait),
            Err(Unread::Ended) if may_become_call(&text[at..], tools) && announces(&self.scan.out) => {
                return Some(ScanStep::Cut);
            }
            Err(_) => {}
        }
        if !text[at..].starts_with('[') {
            return None;
        }
        match python::calls(text, at, tools) {
            Ok((calls, end)) => self.if_last(at, calls, end),
            Err(Unread::Ended) if !self.is_whole => Some(ScanStep::Wait),
            Err(Unread::Ended) if announces(&self.scan.out) => Some(ScanStep::Cut),
            Err(_) => None,
        }
    }

    /// Calls without a mark count if they fit, end the message, and one plain sentence at most stands before them.
    fn if_last(&mut self, at: usize, calls: Vec<WrittenCall>, end: usize) -> Option<ScanStep> {
        let tools = self.reading.tools;
        let fits =
            |call: &WrittenCall| tools.name(&call.name).is_some_and(|name| tools.fits(name, &call.arguments));
        if !calls.iter().all(fits) {
            return Some(ScanStep::Show(end.max(at + 1)));
        }
        let is_first = self.scan.answer.calls.is_empty();
        Some(match is_end(self.text, separators(self.text, end), self.is_whole) {
            Some(true) if announces(&self.scan.out) || !is_first => {
                ScanStep::Take(calls, end, CallForm::Bare)
            }
            None => ScanStep::Wait,
            Some(_) => ScanStep::Leave(calls, end, LeftReason::InProse),
        })
    }
}
