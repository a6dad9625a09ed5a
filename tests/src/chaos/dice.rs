//! All choices of a run, from one seed. How the processes take them, no seed repeats.

use std::time::Duration;

/// A xorshift generator.
#[derive(Debug)]
pub struct Dice(u64);

impl Dice {
    /// One of the seed's generators; each thread has its own.
    pub fn new(seed: u64, number: u64) -> Self {
        // Seeds that follow each other must not begin alike, and zero would stay zero.
        let mut mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self((mixed ^ (mixed >> 31)) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `bound`; 0 when that is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 16) % bound.max(1)
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
