//! Long lines, broken where a terminal ends.
//!
//! Owns where a line is broken. Must never break a word, nor what stands in backticks: both are there to be copied.

use crate::table::places;

/// The farthest place for the text behind a title, such as `network all`, with its further lines set below it.
const FURTHEST: usize = 24;

/// `line` as lines of at most `width` places, if its words allow it; those behind the first one are indented by `hang`.
pub fn wrap(line: &str, width: usize, hang: usize) -> String {
    let (mut out, mut used, mut first) = (String::new(), 0, true);
    for (gap, word) in words(line) {
        let wide = places(word);
        if !first && used + gap + wide > width {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', hang));
            used = hang;
        } else {
            out.extend(std::iter::repeat_n(' ', gap));
            used += gap;
        }
        out.push_str(word);
        (used, first) = (used + wide, false);
    }
    out
}

/// Each line of `text`, with what is broken off set below where the line's own text begins.
pub fn wrap_all(text: &str, width: usize) -> String {
    let lines: Vec<_> = text.split('\n').map(|line| wrap(line, width, begin(line))).collect();
    lines.join("\n")
}

/// The place where the text of a line begins: behind its title, or behind its indentation.
fn begin(line: &str) -> usize {
    let indented = line.len() - line.trim_start_matches(' ').len();
    let title = line[indented..].find("  ").map(|at| indented + at);
    let behind = title.map(|at| at + line[at..].len() - line[at..].trim_start_matches(' ').len());
    match behind.map(|at| places(&line[..at])).filter(|at| *at <= FURTHEST) {
        Some(at) => at,
        None if indented == 0 => 2,
        None => indented,
    }
}

/// The words of a line, each with the number of spaces before it; a command in backticks is one word.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let text = rest.trim_start_matches(' ');
        let gap = rest.len() - text.len();
        if text.is_empty() {
            return None;
        }
        let (word, behind) = text.split_at(end_of_word(text));
        rest = behind;
        Some((gap, word))
    })
}

fn end_of_word(text: &str) -> usize {
    let mut from = 0;
    loop {
        let space = text[from..].find(' ').map(|at| from + at);
        let tick = text[from..].find('`').map(|at| from + at);
        let Some(open) = tick.filter(|tick| space.is_none_or(|space| *tick < space)) else {
            return space.unwrap_or(text.len());
        };
        // A lonely one is a letter like any other.
        let close = text[open + 1..].find('`').map(|at| open + 1 + at);
        from = close.unwrap_or(open) + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_broken_between_words_and_never_within_a_command() {
        assert_eq!(wrap("one two  three", 8, 2), "one two\n  three");
        assert_eq!(wrap("  one", 2, 0), "  one");
        assert_eq!(wrap("say `harbor list`, or not", 12, 0), "say\n`harbor list`,\nor not");
        assert_eq!(wrap("a lonely ` and more", 10, 1), "a lonely `\n and more");
        assert_eq!(wrap("时间 时间", 7, 0), "时间\n时间");
        assert_eq!(wrap("", 7, 0), "");
    }

    #[test]
    fn the_rest_of_a_line_stands_below_its_text() {
        assert_eq!(wrap_all("network  a b c\n\n  d e f", 12), "network  a b\n         c\n\n  d e f");
        assert_eq!(wrap_all("one two three", 8), "one two\n  three");
        assert_eq!(wrap_all("    one two", 8), "    one\n    two");
    }
}
