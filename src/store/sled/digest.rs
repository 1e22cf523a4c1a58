//! A sum over everything that is in sled, kept up to date by each checkpoint and stored with it.
//!
//! sled notices a damaged record when it reads it; but after damage to the head of a segment it goes on without that
//! segment, and some keys are back at older values or gone without a word. The sum tells.

/// The sum of the checksums of entries, in no order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Digest(pub(super) u64);

impl Digest {
    /// That of one entry.
    pub(super) fn of(key: &[u8], value: &[u8]) -> Self {
        let crc = crc32c::crc32c_append(crc32c::crc32c(key), value);
        // The upper half counts, so that no entry is worth nothing.
        Self(u64::from(crc) + (1 << 32))
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self(self.0.wrapping_sub(other.0))
    }
}
