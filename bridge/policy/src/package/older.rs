//! Compares versions of a package, and explains why an older one is taken where a newer one exists.
//!
//! Versions are other people's words: two versions are compared only if both are understood to the last letter. Owns the sentence
//! about it, which an installation and an upgrade share.

use super::Ecosystem;
use crate::nodes::Range;
use crate::pythons::Requirement;

/// The newest version of a package, if it does not fit this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnfitVersion {
    /// The newest version. uv does not always name it.
    pub newest: Option<String>,
    /// The Python or Node that it requires, if there is none here.
    pub requires: Option<String>,
}

impl UnfitVersion {
    /// The newest version, and what it lacks. None if it fits.
    #[must_use]
    pub fn why(&self, kind: &str) -> Option<String> {
        let newest = match (&self.newest, &self.requires) {
            (Some(newest), _) => newest.as_str(),
            (None, Some(_)) => "a newer one",
            (None, None) => return None,
        };
        let lacks = match (kind, &self.requires) {
            ("npm", Some(requires)) => {
                lacks("Node.js", requires, Range::read(requires).and_then(|range| range.step()))
            }
            ("npm", None) => "requires another Node.js than this machine has (`harbor runtimes`)".into(),
            (_, Some(requires)) => {
                lacks("Python", requires, Requirement::read(requires).and_then(|requires| requires.step()))
            }
            _ => "requires packages that do not fit together on this machine".into(),
        };
        Some(format!("{newest} {lacks}"))
    }

    /// The sentence that a version is not the newest one.
    #[must_use]
    pub fn sentence(&self, kind: &str, version: &str) -> Option<String> {
        Some(format!("{version} is not the newest version: {}", self.why(kind)?))
    }
}

fn lacks(what: &str, requires: &str, step: Option<String>) -> String {
    let step = step.map(|step| format!("; {step}")).unwrap_or_default();
    format!("requires {what} {requires}, which this machine does not have{step}")
}

/// The reason why an upgrade does not take an older version by itself, with the command that does it on purpose.
#[must_use]
pub fn goes_back(id: &str, (before, after): (&str, &str), why: Option<&str>) -> String {
    let what =
        if why.is_some() { "the version that fits this machine now" } else { "its registry's version now" };
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    format!(
        "{id} has {before}, but {what} is {after}, which is older{why}; `harbor upgrade {id} --to {after}` goes back to it"
    )
}

/// True if a version is older than another version of its package. A version that is no number (a commit, a hash) never is.
#[must_use]
pub fn is_older(ecosystem: Ecosystem, version: &str, than: &str) -> bool {
    match ecosystem {
        Ecosystem::Npm => of_npm(version).zip(of_npm(than)).is_some_and(|(one, other)| one < other),
        Ecosystem::Pypi => of_python(version).zip(of_python(than)).is_some_and(|(one, other)| one < other),
        Ecosystem::Git | Ecosystem::Binary => false,
    }
}

/// A part of what stands behind the numbers; numbers come first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum VersionPart<'a> {
    Number(u64),
    Word(&'a str),
}

/// The numbers, whether it is a whole one, and what it is before that.
type OfNpm<'a> = (Vec<u64>, bool, Vec<VersionPart<'a>>);

fn of_npm(text: &str) -> Option<OfNpm<'_>> {
    let text = text.split('+').next()?;
    let (numbers, early) =
        text.split_once('-').map_or((text, None), |(numbers, early)| (numbers, Some(early)));
    let numbers: Vec<_> = numbers.split('.').map(number).collect::<Option<_>>()?;
    let part = |part| number(part).map_or(VersionPart::Word(part), VersionPart::Number);
    let parts = early.iter().flat_map(|early| early.split('.')).map(part).collect();
    (numbers.len() == 3).then_some((numbers, early.is_none(), parts))
}

/// The epoch, the numbers without zeros behind them, and what comes before a whole one or after it.
type OfPython = (u64, Vec<u64>, ReleaseStage);

/// The stage of a release, ordered: alpha, beta, candidate or whole; then post-releases; then development releases.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ReleaseStage {
    early: (u8, u64),
    post: Option<u64>,
    dev: (bool, u64),
}

const DEV_ONLY: u8 = 0;
const WHOLE: u8 = 4;

fn of_python(text: &str) -> Option<OfPython> {
    let text = text.trim().to_ascii_lowercase();
    let text = text.strip_prefix('v').unwrap_or(&text).split('+').next()?;
    let (epoch, text) = text.split_once('!').unwrap_or(("0", text));
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (numbers, rest) = text.split_at(end);
    let mut release = numbers.trim_end_matches('.').split('.').map(number).collect::<Option<Vec<_>>>()?;
    while release.last() == Some(&0) {
        release.pop();
    }
    Some((number(epoch)?, release, stage(rest)?))
}

fn stage(mut rest: &str) -> Option<ReleaseStage> {
    let (mut early, mut post, mut dev) = (None, None, None);
    while !rest.is_empty() {
        let (word, after) = split(rest, |c| c.is_ascii_alphabetic());
        let (digits, after) = split(after, |c| c.is_ascii_digit());
        if word.is_empty() && digits.is_empty() {
            return None;
        }
        let count = if digits.is_empty() { 0 } else { number(digits)? };
        match word {
            "a" | "alpha" => early = Some((1, count)),
            "b" | "beta" => early = Some((2, count)),
            "c" | "rc" | "pre" | "preview" => early = Some((3, count)),
            "post" | "rev" | "r" | "" => post = Some(count),
            "dev" => dev = Some(count),
            _ => return None,
        }
        rest = after;
    }
    let none = if dev.is_some() && post.is_none() { DEV_ONLY } else { WHOLE };
    Some(ReleaseStage { early: early.unwrap_or((none, 0)), post, dev: (dev.is_none(), dev.unwrap_or(0)) })
}

/// Splits off the first part of the text, after any separators.
fn split(text: &str, is_part: impl Fn(char) -> bool) -> (&str, &str) {
    let text = text.trim_start_matches(['.', '-', '_']);
    text.split_at(text.find(|c| !is_part(c)).unwrap_or(text.len()))
}

fn number(text: &str) -> Option<u64> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_as_their_registries_do_it() {
        let ordered = |ecosystem, versions: &[&str]| {
            for pair in versions.windows(2) {
                assert!(is_older(ecosystem, pair[0], pair[1]), "{pair:?}");
                assert!(!is_older(ecosystem, pair[1], pair[0]), "{pair:?}");
            }
        };
        let npm =
            ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0", "1.2.0", "1.10.0"];
        ordered(Ecosystem::Npm, &npm);
        let python = [
            "1.0.dev1",
            "1.0a1.dev2",
            "1.0a1",
            "1.0b2",
            "1.0rc1",
            "1.0",
            "1.0.post1",
            "1.0.1",
            "1.9",
            "1.10",
            "2026.1",
            "1!0.1",
        ];
        ordered(Ecosystem::Pypi, &python);
    }

    #[test]
    fn what_is_the_same_or_not_understood_is_not_older() {
        for (ecosystem, one, other) in [
            (Ecosystem::Pypi, "1.0", "1.0.0"),
            (Ecosystem::Pypi, "1.0+local", "1.0"),
            (Ecosystem::Pypi, "1.0", "2.0-what?"),
            (Ecosystem::Pypi, "", "1"),
            (Ecosystem::Npm, "1.0.0", "1.0.0+build"),
            (Ecosystem::Npm, "1.0", "2.0.0"),
            (Ecosystem::Npm, "1.0.0", "99999999999999999999999.0.0"),
            (Ecosystem::Git, "1.0.0", "2.0.0"),
            (Ecosystem::Binary, "00", "ff"),
        ] {
            assert!(!is_older(ecosystem, one, other), "{one} {other}");
            assert!(!is_older(ecosystem, other, one), "{other} {one}");
        }
    }

    #[test]
    fn what_is_lacking_for_the_newest_is_named() {
        let unfit = |newest: Option<&str>, requires: Option<&str>| UnfitVersion {
            newest: newest.map(str::to_owned),
            requires: requires.map(str::to_owned),
        };
        assert_eq!(UnfitVersion::default().sentence("npm", "1"), None);
        let node = unfit(Some("2.0.0"), None);
        assert_eq!(
            node.sentence("npm", "1.0.0").as_deref(),
            Some(
                "1.0.0 is not the newest version: 2.0.0 requires another Node.js than this machine has (`harbor runtimes`)"
            )
        );
        let said = unfit(Some("2.0.0"), Some(">=22")).why("npm").unwrap();
        assert!(
            said.starts_with(
                "2.0.0 requires Node.js >=22, which this machine does not have; install Node.js 22 or newer"
            ),
            "{said}"
        );
        let said = unfit(None, Some(">=3.12")).why("pypi").unwrap();
        assert!(said.starts_with(
            "a newer one requires Python >=3.12, which this machine does not have; install Python 3.12 or newer"
        ));
        assert_eq!(
            goes_back("t", ("2", "1"), node.why("npm").as_deref()),
            "t has 2, but the version that fits this machine now is 1, which is older: 2.0.0 requires another Node.js \
             than this machine has (`harbor runtimes`); `harbor upgrade t --to 1` goes back to it"
        );
        assert_eq!(
            goes_back("t", ("2", "1"), None),
            "t has 2, but its registry's version now is 1, which is older; `harbor upgrade t --to 1` goes back to it"
        );
    }
}
