//! The place where it is drawn, and how each kind of text looks there.
//!
//! Must never draw outside of the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use ratatui::style::{Color, Modifier, Style};

use super::super::row::TextStyle;
use super::super::words::places;
use crate::table::fit;

/// The place where it is drawn.
#[derive(Debug)]
pub struct Pen<'a> {
    pub(super) buffer: &'a mut Buffer,
    pub(super) colour: bool,
}

impl<'a> Pen<'a> {
    pub fn new(buffer: &'a mut Buffer, colour: bool) -> Self {
        Self { buffer, colour }
    }

    pub(super) fn width(&self) -> usize {
        self.buffer.area.width.into()
    }

    pub(super) fn style(&self, tone: TextStyle) -> Style {
        let coloured = |colour: Color| if self.colour { Style::new().fg(colour) } else { Style::new() };
        match tone {
            TextStyle::Plain => Style::new(),
            TextStyle::Faint => Style::new().add_modifier(Modifier::DIM),
            TextStyle::Strong => Style::new().add_modifier(Modifier::BOLD),
            TextStyle::Good => coloured(Color::Green),
            TextStyle::Waiting => coloured(Color::Yellow),
            TextStyle::Bad => coloured(Color::Red).add_modifier(Modifier::BOLD),
        }
    }

    /// Puts a text on the line `y` from the place `x` on, at most `width` places of it; where the next one begins.
    pub(super) fn put(&mut self, x: usize, y: usize, width: usize, text: &str, tone: TextStyle) -> usize {
        let width = width.min(self.width().saturating_sub(x));
        let (Ok(column), Ok(line)) = (u16::try_from(x), u16::try_from(y)) else { return x };
        if width == 0 || !self.buffer.area.contains(Position::new(column, line)) {
            return x;
        }
        let text = if places(text) > width { fit(text, Some(width)) } else { text.into() };
        let style = self.style(tone);
        self.buffer.set_stringn(column, line, text, width, style).0.into()
    }

    /// Turns a whole line's colours around.
    pub(super) fn reverse(&mut self, y: usize) {
        if let Ok(line) = u16::try_from(y) {
            let mut area = self.buffer.area;
            area = ratatui::layout::Rect { y: line, height: 1, ..area }.intersection(area);
            self.buffer.set_style(area, Style::new().add_modifier(Modifier::REVERSED));
        }
    }
}
