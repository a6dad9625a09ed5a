//! Where one looks in lines that the screen has no room for.
//!
//! Owns how keys move it. Must never know what the lines say.

use super::key::Key;

/// The position in a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scroll {
    pub(super) top: usize,
    /// True if the view follows the end.
    pub follows: bool,
    pub(super) can_follow: bool,
}

impl Scroll {
    pub fn following() -> Self {
        Self { top: 0, follows: true, can_follow: true }
    }

    /// The first of `total` lines that is shown where `page` lines fit.
    pub fn first(self, total: usize, page: usize) -> usize {
        let last = total.saturating_sub(page);
        if self.follows { last } else { self.top.min(last) }
    }

    /// Moves, if that is what the key means; whether it is.
    pub fn on_key(&mut self, key: Key, total: usize, page: usize) -> bool {
        let (first, last) = (self.first(total, page), total.saturating_sub(page));
        let to = match key {
            Key::Up | Key::Char('k') => first.saturating_sub(1),
            Key::Down | Key::Char('j') => first + 1,
            Key::PageUp => first.saturating_sub(page),
            Key::PageDown | Key::Char(' ') => first + page,
            Key::Home | Key::Char('g') => 0,
            Key::End | Key::Char('G') => last,
            _ => return false,
        };
        // What was all on the screen stays followed, whichever way one turns.
        self.follows = self.can_follow && to >= last;
        self.top = to.min(last);
        true
    }
}
