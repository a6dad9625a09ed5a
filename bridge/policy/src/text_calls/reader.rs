//! Reads an answer that comes in pieces.
//!
//! ```text
//!  piece ─► AnswerReader::add ─► text that is surely not part of a call, to be shown now
//!  end   ─► AnswerReader::end ─► the whole answer: calls, rest
//! ```
//!
//! Owns the pace: text that waits is looked at again when it has grown by an eighth, so the work grows with the length of the
//! answer and not with the number of its pieces.

use super::answer::{ReadAnswer, Reading};
use super::scan::{AnswerScan, advance};

/// The longest answer that is read, in bytes. Behind it all is text.
const LONGEST: usize = 4 << 20;

/// The answer so far.
#[derive(Debug, Default)]
pub struct AnswerReader {
    text: String,
    scan: AnswerScan,
    /// The length of the shown text, blanks at its beginning included.
    shown: usize,
    /// The length that the text needs before it is looked at again.
    next: usize,
    /// What came behind the longest answer.
    behind: String,
}

impl AnswerReader {
    /// Adds a piece. Gives the text that can be shown now.
    pub fn add(&mut self, piece: &str, reading: Reading<'_>) -> String {
        if self.text.len() + piece.len() > LONGEST {
            self.behind.push_str(piece);
            return String::new();
        }
        self.text.push_str(piece);
        if self.text.len() < self.next {
            return String::new();
        }
        advance(&mut self.scan, &self.text, reading, false);
        let waits = self.text.len() - self.scan.place();
        self.next = self.text.len() + waits / 8;
        self.new_text()
    }

    /// Ends the answer, which is read once more as a whole: the pieces in which it came change nothing. Its `rest` begins with all
    /// that was given to be shown, unless that turned out to be a thought; then the caller shows `rest` in its place.
    #[must_use]
    pub fn end(self, reading: Reading<'_>) -> ReadAnswer {
        let mut answer = read_answer(&self.text, reading);
        answer.rest.push_str(&self.behind);
        answer
    }

    /// The decided text that was not shown yet, without blanks at its end: they stay only if more text follows.
    fn new_text(&mut self) -> String {
        let out = &self.scan.out;
        if self.shown > out.len() {
            self.shown = 0;
        }
        let end = out.trim_end().len();
        let begin = match self.shown {
            0 => out.len() - out.trim_start().len(),
            shown => shown,
        };
        if end <= begin {
            return String::new();
        }
        let text = out[begin..end].to_owned();
        self.shown = end;
        text
    }
}

/// Reads a whole answer.
#[must_use]
pub fn read_answer(text: &str, reading: Reading<'_>) -> ReadAnswer {
    let (text, behind) = text.split_at(text.floor_char_boundary(LONGEST));
    let mut scan = AnswerScan::default();
    advance(&mut scan, text, reading, true);
    scan.answer.rest.push_str(behind);
    scan.answer
}
