//! Chooses the Node.js for a package of npm that does not admit the usual one.
//!
//! The requirement (`engines.node`) is other people's text: a range that is not understood to the last word counts as none. Owns
//! the reading of it, and which installed versions qualify. Must never touch a disk, nor start a Node.js.

use crate::pythons::{Python, Version};

/// The latest major version that is considered.
const LAST_MAJOR: u64 = 200;
/// Each try takes a look-up.
const MOST_TRIED: usize = 3;
/// The most bytes of a range.
const MAX_RANGE: usize = 100;
const OPERATORS: &[&str] = &[">=", "<=", ">", "<", "=", "^", "~"];
const END: Version = [u64::MAX; 3];

/// A range of Node.js versions, as in `^20.19 || >=22.12`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    text: String,
    /// The spans, each from its first version to before its second one. A version must be in one of them.
    spans: Vec<(Version, Version)>,
}

impl Range {
    /// Reads a range. None if it is not understood.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"<>=^~|.*- ".contains(&b);
        if text.is_empty() || text.len() > MAX_RANGE || !text.bytes().all(plain) {
            return None;
        }
        let spans = text.split("||").map(span).collect::<Option<_>>()?;
        Some(Self { text: text.to_owned(), spans })
    }

    /// The text of the range.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// True if this version will do.
    #[must_use]
    pub fn admits(&self, version: Version) -> bool {
        self.spans.iter().any(|(from, to)| *from <= version && version < *to)
    }

    /// The step for a person without a version in the range. None if no such version exists.
    #[must_use]
    pub fn step(&self) -> Option<String> {
        // The last one of each major is what is installed.
        let has = |major: &u64| self.admits([*major, u64::MAX - 1, 0]);
        let newest = (0..=LAST_MAJOR).rev().find(has)?;
        let (major, or_newer) = match newest == LAST_MAJOR {
            true => ((0..=newest).rev().take_while(has).last()?, " or newer"),
            false => (newest, ""),
        };
        Some(format!("install Node.js {major}{or_newer}, e.g. `nvm install {major}`, and try again"))
    }
}

/// One alternative: all of its words hold.
fn span(text: &str) -> Option<(Version, Version)> {
    if let Some((from, to)) = text.split_once(" - ") {
        let (from, to) = (numbers(from.trim())?, numbers(to.trim())?);
        return Some((filled(&from), behind(&to)));
    }
    let mut words: Vec<String> = Vec::new();
    for word in text.split_ascii_whitespace() {
        match words.last_mut().filter(|before| OPERATORS.contains(&before.as_str())) {
            Some(operator) => operator.push_str(word),
            None => words.push(word.to_owned()),
        }
    }
    words.iter().try_fold(([0; 3], END), |(from, to), word| {
        let (least, most) = comparator(word)?;
        Some((from.max(least), to.min(most)))
    })
}

fn comparator(word: &str) -> Option<(Version, Version)> {
    let operator =
        OPERATORS.iter().find(|operator| word.starts_with(**operator)).copied().unwrap_or_default();
    let numbers = numbers(&word[operator.len()..])?;
    let from = filled(&numbers);
    Some(match operator {
        ">=" => (from, END),
        ">" => (behind(&numbers), END),
        "<" => ([0; 3], from),
        "<=" => ([0; 3], behind(&numbers)),
        "^" => {
            let first =
                numbers.iter().position(|number| *number > 0).unwrap_or(numbers.len().saturating_sub(1));
            (from, behind(numbers.get(..=first).unwrap_or_default()))
        }
        "~" => (from, behind(numbers.get(..2).unwrap_or(&numbers))),
        _ => (from, behind(&numbers)),
    })
}

/// The numbers before the first that may be any.
fn numbers(text: &str) -> Option<Vec<u64>> {
    let text = text.strip_prefix('v').unwrap_or(text).split('-').next()?;
    let parts: Vec<_> = text.split('.').collect();
    let given = parts.iter().take_while(|part| !matches!(**part, "x" | "X" | "*" | ""));
    let numbers = given
        .map(|part| part.parse().ok().filter(|number| *number < u64::MAX))
        .collect::<Option<Vec<u64>>>()?;
    (parts.len() <= 3).then_some(numbers)
}

fn filled(numbers: &[u64]) -> Version {
    std::array::from_fn(|at| numbers.get(at).copied().unwrap_or_default())
}

/// The first version behind all that begin with these numbers.
fn behind(numbers: &[u64]) -> Version {
    let Some((last, before)) = numbers.split_last() else { return END };
    filled(&[before, &[last + 1]].concat())
}

/// The Node.js to try, the newest of each major version first.
#[must_use]
pub fn to_try(mut all: Vec<Python>, range: &Range, usual: Option<&str>) -> Vec<Python> {
    all.retain(|node| range.admits(node.version) && Some(node.path.as_str()) != usual);
    all.sort_by(|a, b| b.version.cmp(&a.version).then_with(|| a.path.cmp(&b.path)));
    all.dedup_by_key(|node| node.version[0]);
    all.truncate(MOST_TRIED);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranges_are_understood_as_npm_does() {
        for (range, admitted, refused) in [
            (">=22", &[[22, 0, 0], [24, 1, 0]][..], &[[20, 20, 2]][..]),
            ("^20.19 || >= 22.12", &[[20, 19, 0], [23, 0, 0]], &[[20, 18, 9], [21, 0, 0], [22, 11, 0]]),
            ("20.x", &[[20, 3, 1]], &[[21, 0, 0]]),
            (">=18 <21", &[[18, 0, 0], [20, 9, 9]], &[[21, 0, 0], [16, 0, 0]]),
            ("~20.3", &[[20, 3, 7]], &[[20, 4, 0]]),
            ("18 - 20", &[[18, 0, 0], [20, 9, 0]], &[[21, 0, 0]]),
            (">20", &[[21, 0, 0]], &[[20, 9, 9]]),
            ("<=20.3 ", &[[20, 3, 9]], &[[20, 4, 0]]),
            ("*", &[[1, 0, 0]], &[]),
            ("v20.1.0", &[[20, 1, 0]], &[[20, 1, 1]]),
        ] {
            let read = Range::read(range).unwrap();
            assert!(admitted.iter().all(|version| read.admits(*version)), "{range}");
            assert!(!refused.iter().any(|version| read.admits(*version)), "{range}");
        }
        for nothing in ["", "lts", ">=", "1.2.3.4", ">=20\u{1b}[2J", &">=3 ".repeat(40)] {
            assert!(Range::read(nothing).is_none_or(|range| range.admits([20, 0, 0])), "{nothing}");
        }
        let step = |range: &str| Range::read(range).unwrap().step().unwrap_or_default();
        assert!(step("^20.19 || >=22").starts_with("install Node.js 22 or newer, e.g. `nvm install 22`"));
        assert!(step(">=18 <21").starts_with("install Node.js 20, e.g."));
    }

    #[test]
    fn the_newest_of_each_major_comes_first() {
        let node = |version: Version| Python { path: format!("/n/{}.{}", version[0], version[1]), version };
        let all = [[20, 1, 0], [22, 3, 0], [22, 9, 0], [24, 0, 0]].map(node).to_vec();
        let tried = to_try(all, &Range::read(">=22").unwrap(), Some("/n/24.0"));
        assert_eq!(tried, [node([22, 9, 0])]);
    }

    proptest! {
        #[test]
        fn anything_may_be_required(said in "\\PC{0,20}|[<>=^~|.x*0-9 -]{0,30}") {
            if let Some(read) = Range::read(&said) {
                let _ = (read.admits([20, 1, 0]), read.step());
            }
        }
    }
}
