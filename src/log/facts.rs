//! What is known of a segment without reading it: what retention, rolling and searches go by.

use super::batch::BatchSpan;
use crate::types::{Offset, TimestampMs};

/// The largest timestamp of a segment and the first batch that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Largest {
    pub(crate) timestamp: TimestampMs,
    /// The base offset of that batch.
    pub(crate) batch_offset: Offset,
}

/// One segment's content in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentFacts {
    /// The offset it begins with, which is its name.
    pub(crate) base_offset: Offset,
    /// The offset behind its last record.
    pub(crate) next_offset: Offset,
    /// The length of its batches.
    pub(crate) bytes: u64,
    /// `None` as long as no batch has a timestamp.
    pub(crate) largest: Option<Largest>,
    /// The largest timestamp of the first batch; `segment.ms` counts from it. -1 without one.
    pub(crate) first_timestamp: TimestampMs,
}

impl SegmentFacts {
    /// A segment that holds nothing yet.
    pub(super) fn empty(base_offset: Offset) -> Self {
        Self { base_offset, next_offset: base_offset, bytes: 0, largest: None, first_timestamp: TimestampMs(-1) }
    }

    /// Counts a batch at the end.
    pub(super) fn add(&mut self, batch: &BatchSpan) {
        let timestamp = batch.max_timestamp;
        if self.bytes == 0 {
            self.first_timestamp = timestamp;
        }
        if timestamp.0 >= 0 && timestamp > self.largest_timestamp() {
            self.largest = Some(Largest { timestamp, batch_offset: batch.base_offset });
        }
        self.next_offset = batch.next_offset;
        self.bytes += u64::from(batch.bytes);
    }

    /// The largest timestamp; -1 without one.
    pub(crate) fn largest_timestamp(&self) -> TimestampMs {
        self.largest.map_or(TimestampMs(-1), |largest| largest.timestamp)
    }
}
