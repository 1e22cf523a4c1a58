//! Reading the log's own small files: big-endian, fixed width, nothing trusted.

use super::SegmentFacts;
use super::facts::Largest;
use crate::types::{Offset, TimestampMs};

/// [`SegmentFacts`] as stored, in bytes.
pub(super) const FACTS_BYTES: usize = 48;

/// Takes numbers off the front of some bytes; `None` as soon as they do not suffice.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a>(pub(super) &'a [u8]);

impl Cursor<'_> {
    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    pub(super) fn i32(&mut self) -> Option<i32> {
        self.array().map(i32::from_be_bytes)
    }

    pub(super) fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_be_bytes)
    }

    /// What a segment holds, if it makes sense.
    pub(super) fn facts(&mut self) -> Option<SegmentFacts> {
        let base_offset = Offset(self.i64()?);
        let next_offset = Offset(self.i64()?);
        let bytes = self.u64()?;
        let timestamp = TimestampMs(self.i64()?);
        let batch_offset = Offset(self.i64()?);
        let first_timestamp = TimestampMs(self.i64()?);
        let largest = (timestamp.0 >= 0).then_some(Largest { timestamp, batch_offset });
        let in_segment = |offset| base_offset <= offset && offset < next_offset;
        let makes_sense = base_offset.0 >= 0
            && base_offset <= next_offset
            && u32::try_from(bytes).is_ok()
            && largest.is_none_or(|largest| in_segment(largest.batch_offset));
        makes_sense.then_some(SegmentFacts { base_offset, next_offset, bytes, largest, first_timestamp })
    }
}

/// The other direction of [`Cursor::facts`].
pub(super) fn put_facts(out: &mut Vec<u8>, facts: &SegmentFacts) {
    let none = Largest { timestamp: TimestampMs(-1), batch_offset: Offset(-1) };
    let largest = facts.largest.unwrap_or(none);
    out.extend(facts.base_offset.0.to_be_bytes());
    out.extend(facts.next_offset.0.to_be_bytes());
    out.extend(facts.bytes.to_be_bytes());
    out.extend(largest.timestamp.0.to_be_bytes());
    out.extend(largest.batch_offset.0.to_be_bytes());
    out.extend(facts.first_timestamp.0.to_be_bytes());
}

/// Appends the checksum of all that is there.
pub(super) fn put_crc(out: &mut Vec<u8>) {
    let crc = crc32c::crc32c(out);
    out.extend(crc.to_be_bytes());
}

/// What stands before the checksum at the end, if that holds.
pub(super) fn checked(bytes: &[u8]) -> Option<&[u8]> {
    let (content, crc) = bytes.split_last_chunk()?;
    (crc32c::crc32c(content) == u32::from_be_bytes(*crc)).then_some(content)
}
