//! Plain tables: aligned columns, a header, no lines.
//!
//! Owns widths and cutting. Must never print: its callers print the lines.

use harbor_client::terminal::reveal;

/// The places between two columns.
const GAP: usize = 2;

/// The mark where a line was cut.
const CUT: char = '…';

/// No column is cut below this many places.
const MIN_WIDTH: usize = 8;

/// Rows of cells under a header.
#[derive(Debug)]
pub struct Table {
    header: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    /// Columns that a narrow terminal does without, the first one first.
    spare: &'static [&'static str],
    /// True if the last column matters as much as those before it.
    evenly: bool,
}

impl Table {
    pub fn new(header: &[&'static str]) -> Self {
        Self { header: header.to_vec(), rows: Vec::new(), spare: &[], evenly: false }
    }

    /// Names the columns that a narrow terminal does not show: the first of them goes first.
    pub fn without(self, spare: &'static [&'static str]) -> Self {
        Self { spare, ..self }
    }

    /// Takes the missing places from the widest columns; from the first one only where it has to be.
    pub fn evenly(self) -> Self {
        Self { evenly: true, ..self }
    }

    /// Adds a row; each cell becomes one line without control characters.
    pub fn add(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| flatten(&cell)).collect());
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The lines, the header first. `width` limits the places, if there is a limit. To fit, empty columns and
    /// spare ones are left out first. Then the last column is cut, then the other columns, the widest first.
    pub fn lines(&self, width: Option<usize>) -> Vec<String> {
        self.painted(width, |_, _| None)
    }

    /// The lines, with cells below the header painted: `paint` gets the column and the text that is shown. It
    /// must not change how many places the text takes.
    pub fn painted(&self, width: Option<usize>, paint: impl Fn(&str, &str) -> Option<String>) -> Vec<String> {
        let header: Vec<String> = self.header.iter().map(|&name| name.into()).collect();
        let all = self.widths();
        let kept = self.kept(&all, width);
        let mut widths: Vec<usize> = kept.iter().map(|at| all[*at]).collect();
        if let Some(limit) = width {
            match self.evenly {
                true => shrink_widest(&mut widths, 1, limit),
                false => shrink_last(&mut widths, limit),
            }
            shrink_widest(&mut widths, 0, limit);
        }
        let lines = std::iter::once(&header).chain(&self.rows).enumerate();
        let names: Vec<_> = kept.iter().map(|at| self.header[*at]).collect();
        let painted = |at: usize, cells: &[String]| -> Vec<String> {
            let shown = cells.iter().zip(&names);
            let one = |(cell, name): (&String, &&str)| paint(name, cell).unwrap_or_else(|| cell.clone());
            if at == 0 { cells.to_vec() } else { shown.map(one).collect() }
        };
        let of_line = |cells: &Vec<String>| -> Vec<String> {
            let cells = kept.iter().zip(&widths).filter_map(|(at, width)| Some((cells.get(*at)?, width)));
            cells.map(|(cell, most)| fit(cell, width.map(|_| *most))).collect()
        };
        let of_row = |(at, cells): (usize, &Vec<String>)| {
            let cells = of_line(cells);
            line(&cells, &painted(at, &cells), &widths)
        };
        lines.map(of_row).collect()
    }

    /// The columns that are shown.
    fn kept(&self, widths: &[usize], limit: Option<usize>) -> Vec<usize> {
        let mut kept: Vec<usize> = (0..widths.len()).collect();
        let silent = (0..widths.len()).filter(|at| self.is_silent(*at)).map(|at| self.header[at]);
        for name in silent.chain(self.spare.iter().copied()) {
            let all: Vec<_> = kept.iter().map(|at| widths[*at]).collect();
            if limit.is_some_and(|limit| places_of(&all) > limit) {
                kept.retain(|at| self.header[*at] != name);
            }
        }
        kept
    }

    /// True if no row has anything in this column.
    fn is_silent(&self, at: usize) -> bool {
        !self.rows.is_empty() && self.rows.iter().all(|row| row.get(at).is_some_and(|cell| cell == "-"))
    }

    fn widths(&self) -> Vec<usize> {
        let widest = |at: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|cell| places(cell));
            cells.chain([places(self.header[at])]).max().unwrap_or(0)
        };
        (0..self.header.len()).map(widest).collect()
    }
}

/// The number of places of a line with columns of these widths.
fn places_of(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

/// Makes the last column narrower until a line fits, or it cannot be.
fn shrink_last(widths: &mut [usize], limit: usize) {
    let too_many = places_of(widths).saturating_sub(limit);
    if let Some(last) = widths.last_mut().filter(|last| **last > MIN_WIDTH) {
        *last = last.saturating_sub(too_many).max(MIN_WIDTH);
    }
}

/// Makes the widest columns narrower, except for the `first` ones.
fn shrink_widest(widths: &mut [usize], first: usize, limit: usize) {
    while places_of(widths) > limit {
        let widest = widths.iter_mut().skip(first).max().filter(|widest| **widest > MIN_WIDTH);
        let Some(widest) = widest else { return };
        *widest -= 1;
    }
}

/// The line of these cells, each as wide as its text without colours.
fn line(cells: &[String], shown: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for ((cell, shown), width) in cells.iter().zip(shown).zip(widths) {
        line.push_str(shown);
        line.extend(std::iter::repeat_n(' ', width.saturating_sub(places(cell)) + GAP));
    }
    line.truncate(line.trim_end().len());
    line
}

/// Cuts `text` to `limit` places.
pub fn fit(text: &str, limit: Option<usize>) -> String {
    let Some(limit) = limit else { return text.into() };
    if places(text) <= limit {
        return text.into();
    }
    let mut used = 1;
    let kept = text.chars().take_while(|&c| {
        used += char_places(c);
        used <= limit
    });
    let mut cut: String = kept.collect();
    cut.push(CUT);
    cut
}

/// The text as one line: line ends and tabs become spaces, and hidden characters become visible.
pub fn flatten(text: &str) -> String {
    let line = |c: char| if matches!(c, '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}') { ' ' } else { c };
    reveal(&text.trim().chars().map(line).collect::<String>())
}

/// The number of places that `text` takes on a terminal.
pub fn places(text: &str) -> usize {
    text.chars().map(char_places).sum()
}

/// Close enough for aligning: marks take no place, East Asian letters and pictures take two.
pub fn char_places(c: char) -> usize {
    match u32::from(c) {
        0x300..=0x36F | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x2069 | 0xFE00..=0xFE0F => 0,
        0x1100..=0x115F | 0x2E80..=0xA4CF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF | 0xFE30..=0xFE6F => 2,
        0xFF00..=0xFF60 | 0xFFE0..=0xFFE6 | 0x1F300..=0x1FAFF | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

/// The parts that are not empty, each on one line, in brackets.
pub fn bracket(parts: &[String]) -> String {
    let parts: Vec<_> = parts.iter().filter(|part| !part.is_empty()).map(|part| flatten(part)).collect();
    format!("[{}]", parts.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["SERVER", "DESCRIPTION"]);
        table.add(["time".into(), "Tells the\x1b[31m time\nand more".into()]);
        table.add(["时间".into(), String::new()]);
        table
    }

    #[test]
    fn columns_are_aligned_and_cells_are_one_line() {
        assert_eq!(
            table().lines(None),
            ["SERVER  DESCRIPTION", "time    Tells the\\u{1b}[31m time and more", "时间"]
        );
    }

    #[test]
    fn lines_fit_the_terminal() {
        assert_eq!(table().lines(Some(20)), ["SERVER  DESCRIPTION", "time    Tells the\\u…", "时间"]);
        assert_eq!(table().lines(Some(1))[0], "SERVER  DESCRIP…");
    }

    #[test]
    fn a_narrow_terminal_does_without_spare_columns_and_cuts_the_widest() {
        let mut table = Table::new(&["WHO", "WHAT", "BYTES", "MS"]).without(&["BYTES"]);
        table.add(["https://a.example".into(), "files/read".into(), "1".into(), "2.5".into()]);
        let lines = |width| table.lines(Some(width));
        assert_eq!(lines(80)[1], "https://a.example  files/read  1      2.5");
        assert_eq!(lines(35)[1], "https://a.example  files/read  2.5");
        assert_eq!(lines(30), ["WHO            WHAT        MS", "https://a.ex…  files/read  2.5"]);
        assert!(lines(5)[1].ends_with("2.5"));
    }

    #[test]
    fn what_says_nothing_goes_first_and_the_rest_is_cut_evenly() {
        let mut table = Table::new(&["WHEN", "FROM", "WHAT", "WHY"]).evenly();
        table.add(["2026-11-21".into(), "-".into(), "files/read_file".into(), "ERR_NOT_ALLOWED".into()]);
        let lines = |width| table.lines(Some(width));
        assert_eq!(lines(60)[1], "2026-11-21  -     files/read_file  ERR_NOT_ALLOWED");
        assert_eq!(lines(44)[1], "2026-11-21  files/read_file  ERR_NOT_ALLOWED");
        assert_eq!(lines(36)[1], "2026-11-21  files/read…  ERR_NOT_AL…");
        assert_eq!(lines(28)[1], "2026-11…  files/r…  ERR_NOT…");
    }

    #[test]
    fn wide_letters_count_twice() {
        assert_eq!((places("时间"), places("e\u{301}"), places("ab")), (4, 1, 2));
        assert_eq!(fit("时间时间", Some(6)), "时间…");
        assert_eq!(fit("abc", Some(3)), "abc");
    }
}
