//! Random numbers for cores: a named, seedable stream, so that the same seed gives the same run.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng};

/// A seeded stream of random numbers. Not for secrets.
#[derive(Clone, Debug)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// The stream of this seed.
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`; 0 if the bound is 0.
    #[cfg(test)]
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.next_u64() % bound }
    }

    /// The bytes of a random (version 4) uuid.
    pub fn uuid_bytes(&mut self) -> [u8; 16] {
        let bits = (u128::from(self.next_u64()) << 64) | u128::from(self.next_u64());
        uuid::Builder::from_random_bytes(bits.to_be_bytes()).into_uuid().into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_stream() {
        let (mut one, mut two) = (Rng::from_seed(7), Rng::from_seed(7));
        let stream: Vec<u64> = (0..4).map(|_| one.next_u64()).collect();
        assert_eq!(stream, (0..4).map(|_| two.next_u64()).collect::<Vec<_>>());
        assert_eq!(one.uuid_bytes(), two.uuid_bytes());
        assert_eq!(one.uuid_bytes()[6] >> 4, 4);
        assert!(one.below(3) < 3);
        assert_eq!(one.below(0), 0);
    }
}
