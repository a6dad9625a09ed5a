//! How many refusals of one origin are written down one by one.
//!
//! ```text
//!  a refusal ─► room in this minute? ─ yes ─► a line of its own, which also says how many had none before it
//!                                    └ no ──► counted
//! ```
//!
//! A page may ask without end for what it does not get. Each line for it would push an older one out of the log, so
//! beyond a few a minute they are counted. Owns those counts. Must never forget one: `take_counted` gives the rest.

use std::collections::HashMap;

/// Lines for one origin in one minute.
const LINES: u32 = 60;

/// A minute, in the milliseconds of the caller's clock.
const MINUTE: u64 = 60_000;

/// Origins whose refusals are counted apart; the others share one count.
const ORIGINS: usize = 1000;

/// The name under which the origins beyond [`ORIGINS`] are counted.
const OTHERS: &str = "(others)";

#[derive(Debug, Default)]
struct Minute {
    began: u64,
    lines: u32,
    counted: u64,
}

/// The refusals of all origins.
#[derive(Debug, Default)]
pub struct Refusals {
    origins: HashMap<String, Minute>,
}

impl Refusals {
    /// Notes a refusal at `now`, in milliseconds of a clock that does not jump far back. `Some(n)`: it gets a line, and `n`
    /// before it had none. `None`: it was counted.
    pub fn note(&mut self, origin: &str, now: u64) -> Option<u64> {
        let known = self.origins.contains_key(origin) || self.origins.len() < ORIGINS;
        let origin = if known { origin } else { OTHERS };
        let minute = match self.origins.get_mut(origin) {
            Some(minute) => minute,
            None => {
                self.origins.entry(origin.to_owned()).or_insert(Minute { began: now, ..Minute::default() })
            }
        };
        // A clock that was set back begins a minute as well.
        if now.wrapping_sub(minute.began) >= MINUTE {
            (minute.began, minute.lines) = (now, 0);
        }
        if minute.lines >= LINES {
            minute.counted = minute.counted.saturating_add(1);
            return None;
        }
        minute.lines += 1;
        Some(std::mem::take(&mut minute.counted))
    }

    /// Gives the refusals that have no line, by origin, and forgets origins that have been quiet for a minute.
    pub fn take_counted(&mut self, now: u64) -> Vec<(String, u64)> {
        let counted = self.origins.iter_mut().filter(|(_, minute)| minute.counted > 0);
        let counted: Vec<_> =
            counted.map(|(origin, minute)| (origin.clone(), std::mem::take(&mut minute.counted))).collect();
        self.origins.retain(|_, minute| now.wrapping_sub(minute.began) < MINUTE);
        counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_of_a_minute_are_written_and_the_rest_is_counted() {
        let mut refusals = Refusals::default();
        let written = (0..100).filter(|n| refusals.note("a", *n).is_some()).count();
        assert_eq!((written, refusals.note("b", 0)), (60, Some(0)));
        assert_eq!(refusals.note("a", MINUTE), Some(40));
        assert_eq!(refusals.take_counted(2 * MINUTE), []);
    }

    proptest! {
        #[test]
        fn each_refusal_is_written_or_counted_once(
            steps in prop::collection::vec((0..3000u32, any::<u16>(), prop::bool::weighted(0.02)), 0..400),
        ) {
            let (mut refusals, mut accounted, mut now) = (Refusals::default(), 0, 0u64);
            for (origin, later, take) in &steps {
                now = now.wrapping_add(u64::from(*later));
                accounted += refusals.note(&format!("o{origin}"), now).map_or(0, |before| before + 1);
                if *take {
                    accounted += refusals.take_counted(now).iter().map(|(_, n)| n).sum::<u64>();
                }
                prop_assert!(refusals.origins.len() <= ORIGINS + 1);
            }
            accounted += refusals.take_counted(now).iter().map(|(_, n)| n).sum::<u64>();
            prop_assert_eq!(accounted, steps.len() as u64);
        }
    }
}
