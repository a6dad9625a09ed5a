//! Numbers that look random, from a seed: what a run chose can be chosen again.

/// A generator: xorshift64*.
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// From a seed. Seeds that follow each other do not begin alike.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        // Zero would stay zero.
        Self((mixed ^ (mixed >> 31)) | 1)
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `bound`; 0 when that is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        (self.number() >> 16) % bound.max(1)
    }
}
