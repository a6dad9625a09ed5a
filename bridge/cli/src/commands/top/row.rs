//! A line of the screen: its words, and how they are meant.
//!
//! Owns how a line that is too long goes on. Must never choose a colour.

use super::words::{places, split, wrap};

/// The tone of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextStyle {
    Plain,
    /// Less important than what stands beside it.
    Faint,
    Strong,
    Good,
    Waiting,
    Bad,
}

/// A line: a heading of a few words, and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub head: String,
    pub text: String,
    pub tone: TextStyle,
}

/// The tone of a state for a person.
pub fn tone(state: &str) -> TextStyle {
    match state {
        "running" => TextStyle::Good,
        "installing" | "starting" | "stopping" => TextStyle::Waiting,
        "restarting" | "crashed" | "failed" => TextStyle::Bad,
        needs if needs.starts_with("needs ") => TextStyle::Waiting,
        "stopped" => TextStyle::Faint,
        _ => TextStyle::Plain,
    }
}

impl Row {
    pub fn new(head: &str, text: impl Into<String>) -> Self {
        Self { head: head.into(), text: text.into(), tone: TextStyle::Plain }
    }

    pub fn toned(self, tone: TextStyle) -> Self {
        Self { tone, ..self }
    }

    /// The row, wrapped to as many lines as it takes; later lines stand under its text.
    pub fn wrapped(self, width: usize) -> impl Iterator<Item = Self> {
        let indent = " ".repeat(places(&self.head).min(width / 2));
        let pieces = wrap(&self.text, width.saturating_sub(indent.len()));
        let (mut head, tone) = (Some(self.head), self.tone);
        pieces.into_iter().map(move |text| {
            let head = head.take().unwrap_or_else(|| indent.clone());
            Self { head, text, tone }
        })
    }

    /// The row, wrapped where a long head would leave little room: later lines have a small indentation.
    pub fn flowed(self, width: usize) -> Vec<Self> {
        let indent = " ".repeat(4.min(width / 2));
        let (first, rest) = split(&self.text, width.saturating_sub(places(&self.head)));
        let later = rest.map(|rest| wrap(rest.trim_start(), width.saturating_sub(indent.len())));
        let later =
            later.into_iter().flatten().map(|text| Self { head: indent.clone(), text, tone: self.tone });
        [Self { head: self.head.clone(), text: first.into(), tone: self.tone }]
            .into_iter()
            .chain(later)
            .collect()
    }
}
