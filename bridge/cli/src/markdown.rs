//! A model's Markdown at a terminal, as it comes.
//!
//! ```text
//!  piece ─► line ─┬─ of a code block, or its fence ─► dim, as it is
//!                 ├─ a row of a table ─► its cells, once it is whole
//!                 ├─ a rule ─► a line
//!                 └─ words, behind the mark of a heading, an item, a quote ─► words.rs, as far as no mark is open
//! ```
//!
//! Every line of the answer is one line here, and nothing waits longer than for the end of its line: a program that lays whole
//! blocks out would hold a paragraph back until it is written. Emphasis that goes over the end of a line stays as it was written.
//! Owns what each line is. Must never get control characters: its caller has taken them out.

mod words;

use self::words::{Style, paint, safe_end, styled};

/// How much of a line is held at most, in bytes.
const HELD: usize = 4096;

/// The places of a rule, and of a table whose columns are equal.
const WIDTH: usize = 78;

/// Places that a column has if there is room, however short its header is.
const COLUMN: usize = 24;

/// The bold of headings.
const BOLD: Style = Style { bold: true, ..Style::PLAIN };

/// The dim of code, rules and marks.
const DIM: Style = Style { dim: true, ..Style::PLAIN };

/// An answer, as far as it has come.
#[derive(Debug, Default)]
pub struct Markdown {
    /// The part of the line that is not shown yet.
    line: String,
    /// The style of the line's words, once its beginning is shown.
    begun: Option<Style>,
    /// What was shown last of the line's words.
    before: Option<char>,
    /// The fence of the code block that is open.
    fence: Option<String>,
    /// The places of the columns of the table that the last line belongs to.
    columns: Option<Vec<usize>>,
}

/// The beginning of a line, as far as it is known.
enum Beginning {
    /// More has to come.
    Unknown,
    /// Only the whole line can be shown.
    Whole,
    /// This is shown for so many bytes, and words of this style follow.
    Words(String, usize, Style),
}

impl Markdown {
    /// Takes a piece of the answer; gives what can be shown of it.
    pub fn push(&mut self, piece: &str) -> String {
        let mut shown = String::new();
        for part in piece.split_inclusive('\n') {
            self.line.push_str(part.trim_end_matches('\n'));
            if part.ends_with('\n') {
                self.end_line(&mut shown);
                shown.push('\n');
            } else {
                self.show(&mut shown);
            }
        }
        shown
    }

    /// Ends the answer; gives what was held back. The next piece begins another answer.
    pub fn end(&mut self) -> String {
        let mut shown = String::new();
        if !self.line.is_empty() {
            self.end_line(&mut shown);
        }
        *self = Self::default();
        shown
    }

    /// Shows what is certain of a line that goes on.
    fn show(&mut self, shown: &mut String) {
        if let Some(fence) = &self.fence {
            if self.begun.is_some() || !may_close(&self.line, fence) || self.line.len() > HELD {
                self.begun = Some(DIM);
                shown.push_str(&paint(&self.line, DIM));
                self.line.clear();
            }
            return;
        }
        if self.begun.is_none() {
            match beginning(&self.line) {
                Beginning::Words(mark, length, style) => self.begin(shown, &mark, length, style),
                _ if self.line.len() > HELD => self.begin(shown, "", 0, Style::PLAIN),
                _ => return,
            }
        }
        let end = if self.line.len() > HELD { self.line.len() } else { safe_end(&self.line, self.before) };
        self.words(shown, end);
    }

    fn begin(&mut self, shown: &mut String, mark: &str, length: usize, style: Style) {
        shown.push_str(mark);
        self.line.drain(..length);
        (self.begun, self.before, self.columns) = (Some(style), None, None);
    }

    fn words(&mut self, shown: &mut String, end: usize) {
        let words: String = self.line.drain(..end).collect();
        shown.push_str(&styled(&words, self.before, self.begun.unwrap_or(Style::PLAIN)));
        self.before = words.chars().next_back().or(self.before);
    }

    fn end_line(&mut self, shown: &mut String) {
        if let Some(fence) = self.fence.take() {
            let closes = self.begun.is_none() && is_closing(&self.line, &fence);
            self.fence = (!closes).then_some(fence);
            shown.push_str(&paint(&self.line, DIM));
        } else if self.begun.is_some() {
            self.words(shown, self.line.len());
        } else if let Some(fence) = fence(&self.line) {
            self.fence = Some(fence.to_owned());
            shown.push_str(&paint(&self.line, DIM));
        } else if is_rule(&self.line) {
            shown.push_str(&paint(&"─".repeat(WIDTH), DIM));
        } else if self.line.trim_start().starts_with('|') {
            self.row(shown);
            self.line.clear();
            return;
        } else {
            if let Beginning::Words(mark, length, style) = beginning(&self.line) {
                self.begin(shown, &mark, length, style);
            }
            self.words(shown, self.line.len());
        }
        self.line.clear();
        (self.begun, self.before, self.columns) = (None, None, None);
    }

    /// Shows a row of a table. Its columns are as wide as those above it, unless a cell needs more.
    fn row(&mut self, shown: &mut String) {
        let cells = cells(&self.line);
        let is_header = self.columns.is_none();
        let columns = self.columns.get_or_insert_default();
        let share = (WIDTH / cells.len().max(1)).saturating_sub(3).min(COLUMN);
        columns.resize(columns.len().max(cells.len()), share);
        if !is_header && cells.iter().all(|cell| is_dashes(cell)) {
            let lines: Vec<_> = columns.iter().map(|&width| "─".repeat(width)).collect();
            shown.push_str(&paint(&lines.join("─┼─"), DIM));
            return;
        }
        let style = if is_header { BOLD } else { Style::PLAIN };
        for (at, (cell, width)) in cells.iter().zip(columns.iter_mut()).enumerate() {
            let places = words::places(cell);
            *width = (*width).max(places);
            if at > 0 {
                shown.push_str(&paint(" │ ", DIM));
            }
            shown.push_str(&styled(cell, None, style));
            if at + 1 < cells.len() {
                shown.push_str(&" ".repeat(*width - places));
            }
        }
    }
}

/// The beginning of a line that may go on.
fn beginning(line: &str) -> Beginning {
    let text = line.trim_start_matches([' ', '\t']);
    let indent = line.len() - text.len();
    let Some(first) = text.chars().next() else { return Beginning::Unknown };
    let words = |mark: String, length| Beginning::Words(mark, length, Style::PLAIN);
    let plain = || words(line[..indent].to_owned(), indent);
    // Behind all characters of one kind, and spaces.
    let behind = text.trim_start_matches([first, ' ']);
    let run = text.len() - text.trim_start_matches(first).len();
    match first {
        '|' => Beginning::Whole,
        '`' | '~' if run >= 3 => Beginning::Whole,
        '`' | '~' | '#' if run == text.len() => Beginning::Unknown,
        '#' if run <= 6 && text[run..].starts_with(' ') => {
            let spaces = text[run..].len() - text[run..].trim_start().len();
            match behind.is_empty() {
                true => Beginning::Unknown,
                false => Beginning::Words(String::new(), indent + run + spaces, BOLD),
            }
        }
        '-' | '*' | '_' | '+' if behind.is_empty() => Beginning::Unknown,
        '-' | '*' | '+' if run == 1 && text[1..].starts_with(' ') => {
            words(format!("{}• ", &line[..indent]), indent + 2)
        }
        '>' => {
            let rest = text[1..].strip_prefix(' ').unwrap_or(&text[1..]);
            let mark = format!("{}{}", &line[..indent], paint("│ ", DIM));
            let length = line.len() - rest.len();
            match beginning(rest) {
                Beginning::Unknown => Beginning::Unknown,
                // A table or code in a quote stays as it was written.
                Beginning::Whole => words(mark, length),
                Beginning::Words(inner, more, style) => Beginning::Words(mark + &inner, length + more, style),
            }
        }
        '0'..='9' => {
            let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            match (&text[digits..], digits <= 9) {
                ("" | "." | ")", true) => Beginning::Unknown,
                (rest, true) if rest.starts_with(". ") || rest.starts_with(") ") => {
                    words(line[..indent + digits + 2].to_owned(), indent + digits + 2)
                }
                _ => plain(),
            }
        }
        _ => plain(),
    }
}

/// The fence that a line is: three or more of one mark. Lists have theirs further in.
fn fence(line: &str) -> Option<&str> {
    let text = line.trim_start();
    let mark = text.chars().next().filter(|mark| ['`', '~'].contains(mark))?;
    let length = text.len() - text.trim_start_matches(mark).len();
    (length >= 3 && !(mark == '`' && text[length..].contains('`'))).then(|| &text[..length])
}

fn is_closing(line: &str, open: &str) -> bool {
    let mark = line.trim();
    mark.starts_with(open) && mark.trim_start_matches(&open[..1]).is_empty()
}

/// True if a line that goes on may become the end of a code block.
fn may_close(line: &str, open: &str) -> bool {
    line.trim().trim_start_matches(&open[..1]).is_empty()
}

fn is_rule(line: &str) -> bool {
    let mut marks = line.chars().filter(|c| *c != ' ');
    let first = marks.next().filter(|c| "-*_".contains(*c));
    first.is_some_and(|first| line.matches(first).count() >= 3 && marks.all(|c| c == first))
}

/// The cells of a row. A bar in code, or behind a backslash, belongs to its cell.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = line.strip_suffix('|').filter(|line| !line.ends_with('\\')).unwrap_or(line);
    let (mut cells, mut cell, mut in_code, mut escaped) = (Vec::new(), String::new(), false, false);
    for c in line.chars() {
        match c {
            '|' if escaped => {
                cell.pop();
                cell.push('|');
            }
            '|' if !in_code => cells.push(std::mem::take(&mut cell)),
            c => {
                in_code ^= c == '`';
                cell.push(c);
            }
        }
        escaped = c == '\\' && !escaped;
    }
    cells.push(cell);
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

fn is_dashes(cell: &str) -> bool {
    let dashes = cell.trim_matches(':');
    !dashes.is_empty() && dashes.chars().all(|c| c == '-')
}

#[cfg(test)]
mod tests;
