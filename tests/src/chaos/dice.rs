//! All choices of a run, from one seed. How the processes take them, no seed repeats.

use std::time::Duration;

use harbor_tests::random::Random;

/// One of a seed's generators; each thread has its own.
#[derive(Debug)]
pub struct Dice(Random);

impl Dice {
    pub fn new(seed: u64, number: u64) -> Self {
        Self(Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number)))
    }

    /// A number below `bound`; 0 when that is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound)
    }

    /// Whether something happens that does so `percent` times of a hundred.
    pub fn happens(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A time between two, in milliseconds.
    pub fn milliseconds(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(from + self.below(to - from + 1))
    }

    /// One of these; `None` when there are none.
    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        let at = self.below(all.len() as u64);
        all.get(usize::try_from(at).ok()?)
    }

    /// One of these, by their weights; `None` when all weigh nothing.
    pub fn weighted<T: Copy>(&mut self, all: &[(T, u64)]) -> Option<T> {
        let sum: u64 = all.iter().map(|(_, weight)| weight).sum();
        let mut at = self.below(sum);
        for (one, weight) in all {
            if at < *weight {
                return Some(*one);
            }
            at -= weight;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_itself_and_weights_count() {
        let throw = |seed, number| {
            let mut dice = Dice::new(seed, number);
            (0..8).map(|_| dice.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(throw(0, 1), throw(0, 1));
        assert_ne!(throw(0, 1), throw(1, 1));
        assert_ne!(throw(0, 1), throw(0, 2));
        let mut dice = Dice::new(5, 5);
        assert!((0..100).all(|_| dice.weighted(&[('a', 0), ('b', 3)]) == Some('b')));
        assert_eq!(dice.weighted(&[('a', 0)]), None);
        assert_eq!(dice.one_of::<u8>(&[]), None);
        let time = dice.milliseconds(20, 80).as_millis();
        assert!((20..=80).contains(&time));
    }
}
