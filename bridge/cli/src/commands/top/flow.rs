//! Paragraphs that are longer than the screen: a log, a list of tools.
//!
//! Owns how many rows each takes on a screen of this width. They are counted once, when a paragraph comes or
//! the width changes. Must never wrap paragraphs that are out of sight to draw the ones in sight.

use std::collections::VecDeque;

use super::row::Row;
use super::scroll::Scroll;

/// A text that takes more or fewer rows, by the width of the screen.
pub trait Paragraph {
    fn rows(&self, width: usize) -> Vec<Row>;
}

/// The visible part of a page: its first row, its rows, and the number of all rows.
#[derive(Debug, Default)]
pub struct View {
    pub first: usize,
    pub total: usize,
    pub rows: Vec<Row>,
}

/// Paragraphs, each with the number of its rows.
#[derive(Debug)]
pub struct Flow<T> {
    paragraphs: VecDeque<(T, usize)>,
    width: usize,
    total: usize,
}

impl View {
    /// A view of rows that are all there.
    pub fn of(mut rows: Vec<Row>, scroll: Scroll, page: usize) -> Self {
        let total = rows.len();
        let first = scroll.first(total, page);
        rows.drain(..first);
        rows.truncate(page);
        Self { first, total, rows }
    }
}

impl<T: Paragraph> Flow<T> {
    pub fn new(width: usize) -> Self {
        Self { paragraphs: VecDeque::new(), width, total: 0 }
    }

    pub fn is_empty(&self) -> bool {
        self.paragraphs.is_empty()
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn len(&self) -> usize {
        self.paragraphs.len()
    }

    pub fn push(&mut self, paragraph: T) {
        let rows = paragraph.rows(self.width).len();
        self.total += rows;
        self.paragraphs.push_back((paragraph, rows));
    }

    /// Drops the first paragraph; how many rows have gone.
    pub fn drop_first(&mut self) -> usize {
        let rows = self.paragraphs.pop_front().map_or(0, |(_, rows)| rows);
        self.total -= rows;
        rows
    }

    /// The screen has another width.
    pub fn set_width(&mut self, width: usize) {
        if self.width != width {
            self.width = width;
            self.paragraphs.iter_mut().for_each(|(paragraph, rows)| *rows = paragraph.rows(width).len());
            self.total = self.paragraphs.iter().map(|(_, rows)| rows).sum();
        }
    }

    pub fn view(&self, scroll: Scroll, page: usize) -> View {
        let first = scroll.first(self.total, page);
        let (mut above, mut rows) = (first, Vec::new());
        for (paragraph, count) in &self.paragraphs {
            if rows.is_empty() && *count <= above {
                above -= count;
            } else if rows.len() < above + page {
                rows.extend(paragraph.rows(self.width));
            } else {
                break;
            }
        }
        View { first, total: self.total, rows: rows.into_iter().skip(above).take(page).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::key::Key;
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;
    use std::rc::Rc;

    /// So many rows, and a note of each time that they are made.
    struct Counted(usize, Rc<Cell<usize>>);

    impl Paragraph for Counted {
        fn rows(&self, width: usize) -> Vec<Row> {
            self.1.set(self.1.get() + 1);
            (0..self.0 * 80 / width).map(|row| Row::new("", row.to_string())).collect()
        }
    }

    #[test]
    fn a_paragraph_is_wrapped_when_it_comes_when_the_width_changes_and_when_it_is_seen() {
        let wrapped = Rc::new(Cell::new(0));
        let mut flow = Flow::new(80);
        (0..2000).for_each(|_| flow.push(Counted(100, Rc::clone(&wrapped))));
        assert_eq!(wrapped.replace(0), 2000);
        let mut scroll = Scroll::following();
        (0..100).for_each(|_| assert_eq!(flow.view(scroll, 20).total, 200_000));
        assert_eq!(wrapped.replace(0), 100, "the last one, each time");
        scroll.on_key(Key::PageUp, 200_000, 20);
        assert_eq!(flow.view(scroll, 20).rows[0].text, "60");
        flow.set_width(80);
        assert_eq!(wrapped.replace(0), 1);
        flow.set_width(40);
        assert_eq!((wrapped.get(), flow.total), (2000, 400_000));
    }

    proptest! {
        #[test]
        fn the_same_is_seen_as_if_all_of_it_were_wrapped(
            sizes in proptest::collection::vec(0usize..6, 0..20), gone in 0usize..4, top in 0usize..60, page in 1usize..9,
        ) {
            let mut flow = Flow::new(80);
            sizes.iter().for_each(|size| flow.push(Counted(*size, Rc::default())));
            (0..gone).for_each(|_| assert!(flow.drop_first() < 6));
            let all: Vec<_> = sizes.iter().skip(gone).flat_map(|size| Counted(*size, Rc::default()).rows(80)).collect();
            let scroll = Scroll { top, ..Scroll::default() };
            let (view, whole) = (flow.view(scroll, page), View::of(all, scroll, page));
            prop_assert_eq!((view.first, view.total, view.rows), (whole.first, whole.total, whole.rows));
        }
    }
}
