//! Random numbers from a seed (splitmix64), so that this room needs no other.

/// A seeded stream of numbers.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ (number >> 31)
    }

    /// Whether something happens that has a chance of so many in a hundred.
    pub(super) fn hits(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }
}
