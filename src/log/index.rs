//! The sparse index of a segment: at which byte to start looking for an offset or a timestamp.
//!
//! One index answers both questions that Kafka keeps an `OffsetIndex` and a `TimeIndex` for: an entry is the place of a
//! batch, and the largest timestamp before that place. It lives in memory while the segment grows and is written when
//! the segment is closed. It can always be built again from the segment; a bad one is never damage.

use std::sync::Arc;

use super::batch::{BatchSpan, HeaderWalk, WALK_WINDOW_BYTES, WalkError};
use super::codec::{Cursor, FACTS_BYTES, checked, put_crc, put_facts};
use super::facts::SegmentFacts;
use crate::disk::DiskFile;
use crate::types::{Offset, TimestampMs};

const MAGIC: [u8; 8] = *b"SKINDEX\x01";
const ENTRY_BYTES: usize = 16;
const CRC_BYTES: usize = 4;
/// Magic, facts, entry count and checksum: enough to know the segment without its entries.
pub(super) const INDEX_HEADER_BYTES: usize = MAGIC.len() + FACTS_BYTES + 4 + CRC_BYTES;
/// The distance between entries of an index that is built again: Kafka's default `index.interval.bytes`.
pub(super) const DEFAULT_INTERVAL_BYTES: u32 = 4096;

/// The place of one batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IndexEntry {
    /// Its base offset, less the segment's.
    pub(super) relative_offset: u32,
    /// Where it begins in the file.
    pub(super) position: u32,
    /// The largest timestamp of all batches before it; -1 without one. Never falls from entry to entry.
    pub(super) largest_before: TimestampMs,
}

impl IndexEntry {
    /// The beginning of any segment.
    pub(super) const START: Self = Self { relative_offset: 0, position: 0, largest_before: TimestampMs(-1) };
}

/// Adds the batch that is about to follow `facts` if it is far enough from the last entry.
pub(super) fn note_batch(entries: &mut Vec<IndexEntry>, facts: &SegmentFacts, batch: &BatchSpan, interval_bytes: u32) {
    let place = (u32::try_from(batch.base_offset.0.saturating_sub(facts.base_offset.0)), u32::try_from(facts.bytes));
    // The writer rolls before either leaves 32 bits.
    let (Ok(relative_offset), Ok(position)) = place else { return };
    let is_due = entries.last().is_none_or(|last| position.saturating_sub(last.position) >= interval_bytes);
    if is_due {
        entries.push(IndexEntry { relative_offset, position, largest_before: facts.largest_timestamp() });
    }
}

/// The last entry at or before an offset.
pub(super) fn floor_of_offset(entries: &[IndexEntry], base_offset: Offset, offset: Offset) -> Option<IndexEntry> {
    let relative = offset.0.saturating_sub(base_offset.0);
    let behind = entries.partition_point(|entry| i64::from(entry.relative_offset) <= relative);
    entries.get(behind.checked_sub(1)?).copied()
}

/// The last entry before which every timestamp is below `timestamp`: the first batch that reaches it is there or later.
pub(super) fn floor_of_timestamp(entries: &[IndexEntry], timestamp: TimestampMs) -> Option<IndexEntry> {
    let behind = entries.partition_point(|entry| entry.largest_before < timestamp);
    entries.get(behind.checked_sub(1)?).copied()
}

/// Builds facts and entries from the batches themselves, up to `end`.
pub(super) fn scan(
    file: Arc<dyn DiskFile>,
    base_offset: Offset,
    end: ScanEnd,
) -> Result<(SegmentFacts, Vec<IndexEntry>), WalkError> {
    let mut facts = SegmentFacts::empty(base_offset);
    let mut entries = Vec::new();
    let mut walk = HeaderWalk::new(file, 0, base_offset, end.bytes, WALK_WINDOW_BYTES);
    while walk.offset() < end.offset {
        let Some((_, batch)) = walk.next()? else { break };
        note_batch(&mut entries, &facts, &batch, DEFAULT_INTERVAL_BYTES);
        facts.add(&batch);
    }
    if facts.next_offset == end.offset {
        return Ok((facts, entries));
    }
    let reason =
        if facts.next_offset < end.offset { "the file ends too early" } else { "a batch goes beyond the log's end" };
    Err(WalkError::Broken { position: walk.position(), offset: walk.offset(), reason })
}

/// Where a scan must end.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScanEnd {
    /// The offset behind the last batch, which must be reached exactly.
    pub(super) offset: Offset,
    /// The file has no more bytes than these.
    pub(super) bytes: u64,
}

/// The index file of a closed segment.
pub(super) fn encode(facts: &SegmentFacts, entries: &[IndexEntry]) -> Vec<u8> {
    let mut out = Vec::with_capacity(INDEX_HEADER_BYTES + entries.len() * ENTRY_BYTES + CRC_BYTES);
    out.extend(MAGIC);
    put_facts(&mut out, facts);
    // A segment has at most 2^32 / interval entries.
    out.extend(u32::try_from(entries.len()).unwrap_or(u32::MAX).to_be_bytes());
    put_crc(&mut out);
    for entry in entries {
        out.extend(entry.relative_offset.to_be_bytes());
        out.extend(entry.position.to_be_bytes());
        out.extend(entry.largest_before.0.to_be_bytes());
    }
    put_crc(&mut out);
    out
}

/// Reads the header of an index file; `None` if it cannot be trusted.
pub(super) fn decode_header(bytes: &[u8]) -> Option<(SegmentFacts, usize)> {
    let header: &[u8; INDEX_HEADER_BYTES] = bytes.first_chunk()?;
    let mut cursor = Cursor(checked(header)?);
    if cursor.array()? != MAGIC {
        return None;
    }
    Some((cursor.facts()?, cursor.u32()? as usize))
}

/// Reads a whole index file; `None` if it cannot be trusted.
pub(super) fn decode(bytes: &[u8]) -> Option<(SegmentFacts, Vec<IndexEntry>)> {
    let (facts, count) = decode_header(bytes)?;
    let mut cursor = Cursor(checked(bytes)?.get(INDEX_HEADER_BYTES..)?);
    if count.checked_mul(ENTRY_BYTES)? != cursor.0.len() {
        return None;
    }
    let mut entries: Vec<IndexEntry> = Vec::with_capacity(count);
    for _ in 0..count {
        let entry = IndexEntry {
            relative_offset: cursor.u32()?,
            position: cursor.u32()?,
            largest_before: TimestampMs(cursor.i64()?),
        };
        let is_in_order = entries.last().is_none_or(|last| {
            last.relative_offset < entry.relative_offset
                && last.position < entry.position
                && last.largest_before <= entry.largest_before
        });
        if !is_in_order || u64::from(entry.position) >= facts.bytes {
            return None;
        }
        entries.push(entry);
    }
    Some((facts, entries))
}
