//! Numbers, states and long texts as they stand on the screen.
//!
//! Owns their width. Must never let a character through that a terminal would obey.

use harbor_client::terminal::reveal;
use ratatui::text::Span;

use super::facts::Server;
use crate::when;

/// The mark for an unknown value.
pub const NONE: &str = "-";

/// Microseconds as milliseconds in at most six places.
pub fn millis(us: u64) -> String {
    let ms = us as f64 / 1000.0;
    match us {
        0..10_000 => format!("{ms:.2}"),
        10_000..100_000 => format!("{ms:.1}"),
        100_000..1_000_000_000 => format!("{ms:.0}"),
        _ => format!("{:.0}s", ms / 1000.0),
    }
}

/// Bytes as MiB.
pub fn mib(bytes: u64) -> String {
    let mib = bytes as f64 / f64::from(1 << 20);
    if mib < 1000.0 { format!("{mib:.1}") } else { format!("{mib:.0}") }
}

/// Calls a second.
pub fn rate(rate: f64) -> String {
    match rate {
        ..100.0 => format!("{rate:.1}"),
        _ => format!("{rate:.0}"),
    }
}

/// Thousandths as percent.
pub fn percent(permille: u64) -> String {
    format!("{}.{}", permille / 10, permille % 10)
}

/// The word for a known value, else the mark for an unknown one.
pub fn or_none<T>(known: Option<T>, word: impl FnOnce(T) -> String) -> String {
    known.map_or_else(|| NONE.into(), word)
}

/// The state in one word, and when it is tried again.
pub fn state(server: &Server, now: u64) -> String {
    match (server.shown.as_str(), server.next_retry) {
        ("restarting", Some(retry)) => {
            format!("restarting, {}", when::ahead(retry, now).trim_start_matches("in "))
        }
        (state, _) if server.busy => format!("{state}, busy"),
        (state, _) => state.into(),
    }
}

/// The text as one line without anything that a terminal would obey. Space at its beginning stays.
pub fn line(text: &str) -> String {
    reveal(&text.trim_end().replace('\t', "    ").replace(['\n', '\r', '\u{2028}', '\u{2029}'], " "))
}

/// The number of places that a text takes.
pub fn places(text: &str) -> usize {
    Span::raw(text).width()
}

/// Cuts a line into pieces of at most `width` places, at spaces where there are some; never none.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let (mut lines, mut rest) = (Vec::new(), Some(text));
    while let Some(text) = rest {
        let (line, behind) = split(text, width);
        lines.push(line.into());
        rest = behind;
    }
    lines
}

/// The first piece of a line, and what is left of it.
pub fn split(text: &str, width: usize) -> (&str, Option<&str>) {
    let Some(fits) = overflow(text.char_indices(), width.max(2)) else { return (text, None) };
    // A space is given up for a line's end, unless what would be left is mostly blank.
    let space = text[..fits].rfind(' ').filter(|space| *space * 2 > fits);
    let (line, behind) = text.split_at(space.unwrap_or(fits));
    (line.trim_end(), Some(if space.is_some() { behind.trim_start() } else { behind }))
}

/// The index of the first character that does not fit into `width` places; the first of all always fits.
/// Looks no further than that: texts of others are as long as they want.
fn overflow(text: impl Iterator<Item = (usize, char)>, width: usize) -> Option<usize> {
    let mut used = 0;
    let mut over = text.skip_while(|&(at, c)| {
        used += char_places(c);
        used <= width || at == 0
    });
    over.next().map(|(at, _)| at)
}

/// The number of places that a character takes at most, wherever it stands.
fn char_places(c: char) -> usize {
    match c {
        ' '..='~' => 1,
        // Has no width, and may widen what it stands behind.
        '\u{fe00}'..='\u{fe0f}' => 1,
        _ => places(c.encode_utf8(&mut [0; 4])),
    }
}

/// At most this many bytes of a text, in whole characters. True if the text was cut.
pub fn cut(text: &str, bytes: usize) -> (&str, bool) {
    let kept = text.get(..text.floor_char_boundary(bytes)).unwrap_or(text);
    (kept, kept.len() < text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_stay_narrow() {
        let times = [0, 1290, 12_345, 123_456, 30_000_000, 3_600_000_000].map(millis);
        assert_eq!(times, ["0.00", "1.29", "12.3", "123", "30000", "3600s"]);
        assert_eq!((mib(0), mib(13_107_200), mib(4 << 30)), ("0.0".into(), "12.5".into(), "4096".into()));
        assert_eq!((rate(0.0), rate(99.94), rate(1234.6)), ("0.0".into(), "99.9".into(), "1235".into()));
        assert_eq!(percent(1005), "100.5");
    }

    #[test]
    fn a_state_says_when_it_is_tried_again() {
        let server = |shown: &str, busy| Server {
            shown: shown.into(),
            busy,
            next_retry: Some(5000),
            ..Server::default()
        };
        assert_eq!(state(&server("restarting", false), 1000), "restarting, 4 s");
        assert_eq!(state(&server("restarting", false), 9000), "restarting, now");
        assert_eq!(
            (state(&server("running", true), 0), state(&server("failed", false), 0)),
            ("running, busy".into(), "failed".into())
        );
    }

    #[test]
    fn lines_are_cut_at_spaces_and_wide_letters_count_twice() {
        assert_eq!(wrap("the quick brown fox", 10), ["the quick", "brown fox"]);
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(
            (wrap("", 4), wrap("时间时间", 5)),
            (vec![String::new()], vec!["时间".into(), "时间".into()])
        );
        assert_eq!(line("  a\x1b[31m\tb\u{202e}\n"), "  a\\u{1b}[31m    b\\u{202e}");
    }

    #[test]
    fn a_piece_is_cut_off_without_a_look_at_what_is_behind_it() {
        let (long, mut seen) = ("x".repeat(1 << 20), 0);
        assert_eq!(overflow(long.char_indices().inspect(|_| seen += 1), 80), Some(80));
        assert_eq!(seen, 81);
        assert_eq!(wrap(&long, 80).len(), long.len().div_ceil(80));
        assert_eq!((cut("时间", 4), cut("时间", 6)), (("时", true), ("时间", false)));
    }

    proptest! {
        #[test]
        fn nothing_is_wider_than_it_may_be_and_no_letter_is_lost(text in ".{0,60}", width in 0usize..20) {
            let text = line(&text);
            let lines = wrap(&text, width);
            prop_assert!(lines.iter().all(|line| places(line) <= width.max(2) || line.chars().count() == 1), "{lines:?}");
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(letters(&lines.concat()), letters(&text));
        }
    }
}
