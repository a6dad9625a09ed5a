//! Texts of others, behind an indentation of ours.
//!
//! Owns where such a line is broken. Must never let it begin at the margin, not even where a terminal ends:
//! there it could look like a line of ours.

use crate::table::char_places;

/// A tab is this wide at most.
const TAB: usize = 8;

/// The least places of a line beside its indentation.
const LEAST: usize = 8;

/// The lines of `text` behind `first` blanks, in at most `width` places; what is broken off stands behind `hang` blanks.
pub fn inset(text: &str, (first, hang): (usize, usize), width: usize) -> String {
    let width = width.max(first.max(hang) + LEAST);
    text.split('\n').map(|line| broken(line, (first, hang), width)).collect::<Vec<_>>().join("\n")
}

fn broken(line: &str, (first, hang): (usize, usize), width: usize) -> String {
    let mut out = " ".repeat(first);
    let mut used = first;
    for c in line.chars() {
        let wide = if c == '\t' { TAB } else { char_places(c) };
        if used + wide > width {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', hang));
            used = hang;
        }
        out.push(c);
        used += wide;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::places;
    use proptest::prelude::*;

    #[test]
    fn each_line_is_indented_and_what_is_broken_off_further() {
        assert_eq!(inset("one\ntwo", (2, 4), 80), "  one\n  two");
        assert_eq!(inset("0123456789abcdefghij", (0, 2), 12), "0123456789ab\n  cdefghij");
        assert_eq!(inset("\t\tx", (2, 4), 12), "  \t\n    \t\n    x");
        assert_eq!(inset("时间时间时", (0, 0), 8), "时间时间\n时");
        assert_eq!(inset("x", (4, 6), usize::MAX), "    x");
    }

    proptest! {
        #[test]
        fn no_line_begins_at_the_margin_nor_is_wider(text in "[a-z 时\n]{0,200}", width in 0usize..40) {
            let shown = inset(&text, (3, 5), width);
            for line in shown.split('\n') {
                prop_assert!(line.starts_with("   ") && places(line) <= width.max(5 + LEAST), "{line:?}");
            }
            let kept = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(kept(&shown), kept(&text));
        }
    }
}
