//! The state of an answer that is being read, and how each step changes it.
//!
//! Owns what speaks against a call that is meant. Must never look at the text.

use serde_json::Value;

use super::answer::{LeftAsText, LeftReason, ReadAnswer, Reading, TextCall};
use super::items::MOST;
use super::marks::Form;
use super::shapes::WrittenCall;

/// The form of a call, as far as one answer has one form only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallForm {
    Marked(Form),
    Bare,
    Lines,
    Channel,
    Recipient,
    OfHarbor,
}

/// The next step.
pub(super) enum ScanStep {
    /// The text up to here is for the person.
    Show(usize),
    /// The text up to here is for nobody.
    Hide(usize),
    /// These calls reach up to here.
    Take(Vec<WrittenCall>, usize, CallForm),
    /// They are only shown, for this reason.
    Leave(Vec<WrittenCall>, usize, LeftReason),
    /// Calls that were found in a fence, which reaches up to here.
    Fenced(Vec<TextCall>, usize),
    /// More text has to come.
    Wait,
    /// All that follows is for nobody.
    Over,
    /// The text ends within a call.
    Cut,
    /// All before was a thought.
    Forget(usize),
    /// Code begins here, up to this mark.
    Code(usize, String),
}

/// An answer that is being read.
#[derive(Debug, Default)]
pub(super) struct AnswerScan {
    /// All before it is decided.
    pub at: usize,
    pub out: String,
    pub answer: ReadAnswer,
    pub form: Option<CallForm>,
    pub tries: u32,
    pub depth: usize,
    /// The place of a line whose beginning was looked at.
    pub line: Option<usize>,
    /// The mark that ends the code which is being read.
    pub code: Option<String>,
    pub has_thoughts: bool,
    pub has_channels: bool,
    pub is_over: bool,
}

impl AnswerScan {
    /// Does a step.
    pub fn perform(&mut self, text: &str, reading: Reading<'_>, step: ScanStep) {
        match step {
            ScanStep::Show(end) => self.show(text, end),
            ScanStep::Hide(end) => self.at = end,
            ScanStep::Take(calls, end, form) => self.take(text, reading, calls, end, form),
            ScanStep::Leave(calls, end, why) => {
                self.tries += 1;
                self.leave(&calls, why);
                self.show(text, end);
            }
            ScanStep::Fenced(calls, end) => {
                self.form = Some(CallForm::Bare);
                self.answer.calls.extend(calls);
                self.at = end;
            }
            ScanStep::Over => self.is_over = true,
            ScanStep::Cut => {
                self.answer.is_cut = true;
                self.is_over = true;
            }
            ScanStep::Forget(end) => {
                self.out.clear();
                self.answer = ReadAnswer::default();
                self.form = None;
                self.at = end;
            }
            ScanStep::Code(end, mark) => {
                self.show(text, end);
                self.code = Some(mark);
            }
            ScanStep::Wait => {}
        }
    }

    fn show(&mut self, text: &str, end: usize) {
        self.out.push_str(&text[self.at..end]);
        self.at = end;
    }

    fn leave(&mut self, calls: &[WrittenCall], why: LeftReason) {
        for call in calls.iter().take(MOST.saturating_sub(self.answer.left.len())) {
            let tool = call.name[..call.name.floor_char_boundary(128)].to_owned();
            self.answer.left.push(LeftAsText { tool, why });
        }
    }

    /// Takes calls that are meant, unless something else speaks against them.
    fn take(
        &mut self,
        text: &str,
        reading: Reading<'_>,
        calls: Vec<WrittenCall>,
        end: usize,
        form: CallForm,
    ) {
        let (known, unknown): (Vec<_>, Vec<_>) =
            calls.into_iter().partition(|call| reading.tools.name(&call.name).is_some());
        let is_native = form != CallForm::OfHarbor;
        let mut typed = Vec::new();
        for call in &known {
            let name = reading.tools.name(&call.name).unwrap_or_default();
            typed.push((name, reading.tools.coerced(name, call.arguments.clone())));
        }
        let against = if is_native && !reading.takes_native {
            Some(LeftReason::ToolsGiven)
        } else if self.form.is_some_and(|first| first != form) {
            Some(LeftReason::OtherFormat)
        } else if is_native && typed.iter().any(|(name, arguments)| reading.heard.has(name, arguments)) {
            Some(LeftReason::Copied)
        } else if is_native && typed.iter().any(|(_, arguments)| reading.heard.is_too_long(arguments)) {
            Some(LeftReason::TooLong)
        } else if self.answer.calls.len() + typed.len() > MOST {
            Some(LeftReason::TooMany)
        } else {
            None
        };
        if let Some(why) = against {
            self.tries += 1;
            self.leave(&known, why);
            self.show(text, end);
            return;
        }
        self.leave(&unknown, LeftReason::NotOffered);
        if !typed.is_empty() {
            self.form = Some(form);
        }
        let typed = typed.into_iter().map(|(name, arguments)| TextCall {
            name: name.to_owned(),
            arguments: Value::Object(arguments).to_string(),
        });
        self.answer.calls.extend(typed);
        self.at = end;
    }

    /// True if a line of the visible text begins here.
    pub fn is_line_begin(&self) -> bool {
        let line = self.out.trim_end_matches([' ', '\t']);
        line.is_empty() || line.ends_with('\n')
    }

    /// The place up to which all is decided.
    pub fn place(&self) -> usize {
        self.at
    }
}
