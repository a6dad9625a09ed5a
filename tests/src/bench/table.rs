//! Lines and rows of Markdown. Pure.

use std::fmt::Write;

/// A row of a table.
pub fn row<S: AsRef<str>>(out: &mut String, cells: &[S]) {
    for cell in cells {
        // Writing to a string does not fail.
        let _ = write!(out, "| {} ", cell.as_ref());
    }
    out.push_str("|\n");
}

/// A line of text.
pub fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}
