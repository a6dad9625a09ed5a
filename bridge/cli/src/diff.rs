//! The difference between two texts, line by line: removed lines and added ones.
//!
//! Owns the marks and how much stands around a change. Hidden characters are made visible, since people judge
//! these texts.

use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices_deadline, group_diff_ops};

use harbor_client::terminal::reveal;

/// The number of unchanged lines before and behind a change.
const AROUND: usize = 3;

/// A comparison that takes longer shows the text as replaced in one piece: texts of servers may be made to be
/// slow.
const LIMIT: Duration = Duration::from_millis(500);

/// The lines that differ, marked `-` and `+`, with some around them; `…` where some are left out. Nothing when the texts
/// are the same. A text that is absent has no line, an empty one has one.
pub fn lines(before: Option<&str>, after: Option<&str>) -> Vec<String> {
    let (before, after) = (split(before), split(after));
    let until = Instant::now() + LIMIT;
    let all = capture_diff_slices_deadline(Algorithm::Myers, &before, &after, Some(until));
    let mut out = Vec::new();
    for (at, group) in group_diff_ops(all, AROUND).iter().enumerate() {
        if at > 0 {
            out.push("…".into());
        }
        group.iter().for_each(|change| mark(&mut out, change, &before, &after));
    }
    out
}

fn split(text: Option<&str>) -> Vec<&str> {
    text.map(|text| text.split('\n').collect()).unwrap_or_default()
}

fn mark(out: &mut Vec<String>, change: &DiffOp, before: &[&str], after: &[&str]) {
    let mut add = |sign: char, lines: &[&str], range: Range<usize>| {
        let lines = lines.get(range).unwrap_or_default();
        out.extend(lines.iter().map(|line| format!("{sign} {}", reveal(line))));
    };
    match change.tag() {
        DiffTag::Equal => add(' ', before, change.old_range()),
        DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => {
            add('-', before, change.old_range());
            add('+', after, change.new_range());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_change_stands_among_what_stays() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10";
        let after = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11";
        assert_eq!(
            lines(Some(before), Some(after)),
            ["  2", "  3", "  4", "- 5", "+ five", "  6", "  7", "  8", "  9", "  10", "+ 11"]
        );
        let long = |word: &str| format!("{word}\n1\n2\n3\n4\n5\n6\n7\n{word}");
        assert_eq!(
            lines(Some(&long("a")), Some(&long("b"))),
            ["- a", "+ b", "  1", "  2", "  3", "…", "  5", "  6", "  7", "- a", "+ b"]
        );
    }

    #[test]
    fn what_was_not_there_came_whole() {
        assert_eq!(lines(None, Some("a\nb")), ["+ a", "+ b"]);
        assert_eq!(lines(Some("a"), None), ["- a"]);
        assert_eq!(lines(None, Some("")), ["+ "]);
        assert_eq!(lines(Some("a"), Some("a")), [""; 0]);
    }

    #[test]
    fn nothing_hides_in_a_line() {
        assert_eq!(
            lines(Some("read"), Some("read\r\u{202e}\u{200b}\u{1b}[8m all")),
            ["- read", "+ read\\u{d}\\u{202e}\\u{200b}\\u{1b}[8m all"]
        );
    }

    #[test]
    fn a_text_that_is_made_to_be_slow_does_not_take_long() {
        let text = |step: usize| (0..60_000).map(|n| format!("{}\n", n * step % 7919)).collect::<String>();
        let begun = Instant::now();
        assert!(!lines(Some(&text(3)), Some(&text(5))).is_empty());
        assert!(begun.elapsed() < LIMIT * 20);
    }

    proptest! {
        #[test]
        fn the_marks_tell_both_texts(before in "[ab\n]{0,12}", after in "[ab\n]{0,12}") {
            let marked = lines(Some(&before), Some(&after));
            let count = |sign: char| marked.iter().filter(|line| line.starts_with(sign)).count();
            let (old, new) = (before.split('\n').count(), after.split('\n').count());
            prop_assert_eq!(old + count('+'), new + count('-'));
            prop_assert_eq!(marked.is_empty(), before == after);
        }
    }
}
