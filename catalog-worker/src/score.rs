//! The scores that decide which entries stand first in lists.
//!
//! ```text
//!  popularity = 100·log10(stars + 1) + 100·log10(downloads + 1) + 50, 25, 10 for a commit less than 7, 30, 90 days ago
//!  priority   = 1000 it can be installed or connected to    + 500 featured        + 200 of a registry
//!             + 50 described   + 25 with a repository       + popularity / 2, at most 500
//!             + 100 changed less than 7 days ago            - 1000 deprecated
//! ```
//!
//! Owns the numbers. Time is an argument.

use crate::time::DAY;

/// The facts about an entry that its scores come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "they are independent facts")]
pub struct Facts {
    /// It names a package or a remote.
    pub usable: bool,
    /// Harbor recommends it.
    pub featured: bool,
    /// A registry lists it.
    pub registered: bool,
    /// It has a description.
    pub described: bool,
    /// It has a repository.
    pub repository: bool,
    /// It should not be used for something new.
    pub deprecated: bool,
    /// The time when it last changed.
    pub updated_at: Option<u64>,
    /// Stars of its repository.
    pub stars: Option<u64>,
    /// Downloads of its package.
    pub downloads: Option<u64>,
    /// The last commit in its repository.
    pub last_commit_at: Option<u64>,
}

/// How many people use it, and whether somebody works on it.
#[must_use]
pub fn popularity(facts: &Facts, now: u64) -> i64 {
    let fresh = match age(facts.last_commit_at, now) {
        Some(0..7) => 50,
        Some(7..30) => 25,
        Some(30..90) => 10,
        _ => 0,
    };
    digits(facts.stars) + digits(facts.downloads) + fresh
}

/// The entry's priority. Higher ones come earlier.
#[must_use]
pub fn priority(facts: &Facts, now: u64) -> i64 {
    let counted = [
        (facts.usable, 1000),
        (facts.featured, 500),
        (facts.registered, 200),
        (facts.described, 50),
        (facts.repository, 25),
        (age(facts.updated_at, now).is_some_and(|days| days < 7), 100),
        (facts.deprecated, -1000),
    ];
    let points: i64 = counted.iter().filter(|(holds, _)| *holds).map(|(_, points)| points).sum();
    points + (popularity(facts, now) / 2).min(500)
}

/// The age in days. A time in the future counts as new.
fn age(at: Option<u64>, now: u64) -> Option<u64> {
    at.map(|at| now.saturating_sub(at) / DAY)
}

#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a logarithm is a small number"
)]
fn digits(count: Option<u64>) -> i64 {
    count.map_or(0, |count| (100.0 * (count as f64 + 1.0).log10()).floor() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1000 * DAY;

    #[test]
    fn popularity_grows_by_orders_of_magnitude() {
        let of = |stars, downloads, days: u64| {
            let last_commit_at = Some(NOW - days * DAY);
            popularity(&Facts { stars, downloads, last_commit_at, ..Facts::default() }, NOW)
        };
        assert_eq!(of(None, None, 400), 0);
        assert_eq!(of(Some(0), Some(0), 400), 0);
        assert_eq!(of(Some(99), None, 400), 200);
        assert_eq!(of(Some(99), Some(999_999), 400), 800);
        assert_eq!(
            [of(None, None, 0), of(None, None, 7), of(None, None, 30), of(None, None, 90)],
            [50, 25, 10, 0]
        );
        assert!(of(Some(u64::MAX), Some(u64::MAX), 0) < 5000);
    }

    #[test]
    fn each_fact_counts_once_and_popularity_counts() {
        let none = Facts::default();
        let of = |facts: Facts| priority(&facts, NOW);
        assert_eq!(of(none), 0);
        assert_eq!(of(Facts { usable: true, ..none }), 1000);
        assert_eq!(of(Facts { featured: true, ..none }), 500);
        assert_eq!(of(Facts { registered: true, described: true, repository: true, ..none }), 275);
        assert_eq!(of(Facts { updated_at: Some(NOW - 6 * DAY), ..none }), 100);
        assert_eq!(of(Facts { updated_at: Some(NOW - 7 * DAY), ..none }), 0);
        assert_eq!(of(Facts { deprecated: true, ..none }), -1000);
        assert_eq!(of(Facts { stars: Some(99), ..none }), 100);
        assert_eq!(of(Facts { stars: Some(u64::MAX), downloads: Some(u64::MAX), ..none }), 500);
    }
}
