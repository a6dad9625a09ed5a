//! Limits how many events of one source are reported one by one.
//!
//! ```text
//!  it happens ─► room in this minute? ─ yes ─► told, with how many before it were not
//!                                     └ no ──► counted
//! ```
//!
//! A page may send refused requests without end. A server may change its tools without end. Each line about
//! it would push an older one out of a log, and each push would keep somebody busy. So beyond a few a minute
//! they are only counted. Owns those counts. Must never forget one: `take_counted` gives the rest.

use std::collections::HashMap;

/// Events of one source that are reported in one minute.
const TOLD: u32 = 60;

/// Events of all web origins together that are reported in one minute: a site with many names shall not have many shares.
const TOLD_IN_ALL: u32 = 240;

/// Beyond that, the first few of each source are still reported, so that loud sources do not hide the others; and the most in
/// all that are reported so.
const FIRST: u32 = 5;
const FIRST_IN_ALL: u32 = 1200;

/// A minute, in the milliseconds of the caller's clock.
const MINUTE: u64 = 60_000;

/// Sources that are counted apart; the others share one count.
const SOURCES: usize = 1000;

/// The name under which the sources beyond [`SOURCES`] are counted.
const OTHERS: &str = "(others)";

#[derive(Debug, Default)]
struct Minute {
    began: u64,
    told: u32,
    counted: u64,
}

impl Minute {
    /// Begins a new minute when this one is over, also after a clock was set back.
    fn turn(&mut self, now: u64) {
        if now.wrapping_sub(self.began) >= MINUTE {
            (self.began, self.told) = (now, 0);
        }
    }
}

/// The events of all sources.
#[derive(Debug, Default)]
pub struct Flood {
    sources: HashMap<String, Minute>,
    all: Minute,
}

impl Flood {
    /// Notes that it happened at `now`, in milliseconds of a clock that does not jump far back. `Some(n)`: it is told, and
    /// `n` before it were not. `None`: it was counted.
    pub fn note(&mut self, source: &str, now: u64) -> Option<u64> {
        let known = self.sources.contains_key(source) || self.sources.len() < SOURCES;
        let source = if known { source } else { OTHERS };
        let minute = match self.sources.get_mut(source) {
            Some(minute) => minute,
            None => {
                self.sources.entry(source.to_owned()).or_insert(Minute { began: now, ..Minute::default() })
            }
        };
        minute.turn(now);
        self.all.turn(now);
        let most = if minute.told < FIRST { FIRST_IN_ALL } else { TOLD_IN_ALL };
        // Anybody can have any number of web origins; of everything else a person decides how many there are.
        let is_free = !source.starts_with("https://") && !source.starts_with("http://");
        if minute.told >= TOLD || (!is_free && self.all.told >= most) {
            minute.counted = minute.counted.saturating_add(1);
            return None;
        }
        minute.told += 1;
        self.all.told += u32::from(!is_free);
        Some(std::mem::take(&mut minute.counted))
    }

    /// Returns the numbers of untold events, by source. Forgets sources that have been quiet for a minute.
    pub fn take_counted(&mut self, now: u64) -> Vec<(String, u64)> {
        let counted = self.sources.iter_mut().filter(|(_, minute)| minute.counted > 0);
        let counted: Vec<_> =
            counted.map(|(origin, minute)| (origin.clone(), std::mem::take(&mut minute.counted))).collect();
        self.sources.retain(|_, minute| now.wrapping_sub(minute.began) < MINUTE);
        counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_of_a_minute_are_told_and_the_rest_is_counted() {
        let mut flood = Flood::default();
        let written = (0..100).filter(|n| flood.note("a", *n).is_some()).count();
        assert_eq!((written, flood.note("b", 0)), (60, Some(0)));
        assert_eq!(flood.note("a", MINUTE), Some(40));
        assert_eq!(flood.take_counted(2 * MINUTE), []);
    }

    #[test]
    fn many_names_have_no_more_than_a_few_and_hide_nobody() {
        let mut flood = Flood::default();
        let mut told = |names: u64, times: u64| {
            let each = |name: u64| (0..times).map(move |_| format!("https://{name}.example"));
            (0..names).flat_map(each).filter(|name| flood.note(name, 0).is_some()).count()
        };
        assert_eq!(told(4, 100), 240);
        assert_eq!(told(5, 100), 5, "one more");
        assert_eq!(told(900, 1), 895);
        assert_eq!(flood.note("client://quiet", 0), Some(0));
        assert_eq!(flood.note("https://0.example", MINUTE), Some(40 + 100 + 1));
    }

    proptest! {
        #[test]
        fn each_is_told_or_counted_once(
            steps in prop::collection::vec((0..3000u32, any::<u16>(), prop::bool::weighted(0.02)), 0..400),
        ) {
            let (mut flood, mut accounted, mut now) = (Flood::default(), 0, 0u64);
            for (origin, later, take) in &steps {
                now = now.wrapping_add(u64::from(*later));
                accounted += flood.note(&format!("o{origin}"), now).map_or(0, |before| before + 1);
                if *take {
                    accounted += flood.take_counted(now).iter().map(|(_, n)| n).sum::<u64>();
                }
                prop_assert!(flood.sources.len() <= SOURCES + 1);
            }
            accounted += flood.take_counted(now).iter().map(|(_, n)| n).sum::<u64>();
            prop_assert_eq!(accounted, steps.len() as u64);
        }
    }
}
