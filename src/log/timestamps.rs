//! `ListOffsets` by time: the first record at or after a timestamp, and the record with the largest one (Kafka's
//! `UnifiedLog.fetchOffsetByTimestamp`).
//!
//! Headers and the index find the batch; only that batch is decompressed. The answer is always a record that can be
//! read: not below the log start (Kafka may name one after `DeleteRecords`), not at or above the upper bound.

use super::batch::{BatchSpan, HeaderWalk, WALK_WINDOW_BYTES};
use super::error::{LogError, ReadError};
use super::facts::Largest;
use super::index::IndexEntry;
use super::partition::PartitionLog;
use super::segment::Segment;
use crate::protocol::batch::{BatchError, BatchHeader, RecordShapes};
use crate::types::{Offset, TimestampMs};

/// A record found by its timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimestampOffset {
    pub(crate) offset: Offset,
    pub(crate) timestamp: TimestampMs,
}

/// The offsets that may be answered: from `start`, below `end`.
#[derive(Clone, Copy)]
struct Range {
    start: Offset,
    end: Offset,
}

impl PartitionLog {
    /// The first record with a timestamp of at least `timestamp`, below `upper` and the high watermark.
    pub(crate) fn offset_for_timestamp(
        &self,
        timestamp: TimestampMs,
        upper: Offset,
    ) -> Result<Option<TimestampOffset>, ReadError> {
        self.within(upper, |range| {
            for segment in self.segments_from(range.start) {
                let facts = segment.facts();
                if facts.base_offset >= range.end {
                    break;
                }
                if facts.largest_timestamp() < timestamp {
                    continue;
                }
                let found = self.first_record_from(&segment, timestamp, range)?;
                if found.is_some() {
                    return Ok(found);
                }
            }
            Ok(None)
        })
    }

    /// The first record with the largest timestamp of all, below `upper` and the high watermark.
    pub(crate) fn max_timestamp(&self, upper: Offset) -> Result<Option<TimestampOffset>, ReadError> {
        self.within(upper, |range| {
            let mut best: Option<TimestampOffset> = None;
            for segment in self.segments_from(range.start) {
                let facts = segment.facts();
                let is_later = |timestamp| best.is_none_or(|best| timestamp > best.timestamp);
                if facts.base_offset >= range.end {
                    break;
                }
                if facts.largest.is_some_and(|largest| is_later(largest.timestamp)) {
                    let found = self.largest_in(&segment, facts.largest, range)?;
                    best = found.filter(|found| is_later(found.timestamp)).or(best);
                }
            }
            Ok(best)
        })
    }

    /// Searches what can be read; once more if segments were dropped under the search's hands.
    fn within<T>(&self, upper: Offset, search: impl Fn(Range) -> Result<T, LogError>) -> Result<T, ReadError> {
        loop {
            if self.is_deleted() {
                return Err(ReadError::Deleted);
            }
            let bounds = self.bounds();
            let searched = search(Range { start: bounds.log_start, end: upper.min(bounds.high_watermark) });
            let has_moved = self.bounds().log_start > bounds.log_start || self.is_deleted();
            if searched.is_ok() || !has_moved {
                return Ok(searched?);
            }
        }
    }

    fn first_record_from(
        &self,
        segment: &Segment,
        timestamp: TimestampMs,
        range: Range,
    ) -> Result<Option<TimestampOffset>, LogError> {
        let entry = segment.floor_of_timestamp(self.place(), timestamp)?;
        self.visit(segment, place_of(segment, entry), range)?.first_at_least(timestamp)
    }

    /// The largest timestamp within the range, in one segment.
    fn largest_in(
        &self,
        segment: &Segment,
        largest: Option<Largest>,
        range: Range,
    ) -> Result<Option<TimestampOffset>, LogError> {
        let Some(largest) = largest else { return Ok(None) };
        if range.start <= largest.batch_offset && largest.batch_offset < range.end {
            let file = segment.open(self.place())?;
            let batch = self.find_batch(segment, &file, largest.batch_offset)?;
            if let Some((position, batch)) = batch.filter(|(_, batch)| batch.next_offset <= range.end) {
                let only = Range { start: range.start, end: batch.next_offset };
                return self.visit(segment, (position, batch.base_offset), only)?.first_at_least(largest.timestamp);
            }
        }
        // It is outside the range: deleted, or so new that it is not visible yet.
        if range.start <= segment.base_offset() {
            return self.largest_before_end(segment, range);
        }
        let entry = segment.floor_of_offset(self.place(), range.start)?;
        self.visit(segment, place_of(segment, entry), range)?.largest()
    }

    /// The largest timestamp of a segment that can be read from its beginning but not to its end. The index knows the
    /// largest before its last entry below the end; what follows that is looked through.
    fn largest_before_end(&self, segment: &Segment, range: Range) -> Result<Option<TimestampOffset>, LogError> {
        let last = segment.floor_of_offset(self.place(), range.end)?;
        let in_rest = self.visit(segment, place_of(segment, last), range)?.largest()?;
        let before = last.largest_before;
        if before.0 < 0 || in_rest.is_some_and(|found| found.timestamp > before) {
            return Ok(in_rest);
        }
        let found = self.first_record_from(segment, before, range)?;
        Ok(found.or(in_rest))
    }

    fn visit<'a>(&'a self, segment: &'a Segment, from: (u64, Offset), range: Range) -> Result<Visit<'a>, LogError> {
        let file = segment.open(self.place())?;
        let (position, offset) = from;
        let walk = HeaderWalk::new(file, position, offset, segment.facts().bytes, WALK_WINDOW_BYTES);
        Ok(Visit { log: self, segment, walk, range })
    }
}

/// A walk through the batches of one segment that lie within a range.
struct Visit<'a> {
    log: &'a PartitionLog,
    segment: &'a Segment,
    walk: HeaderWalk,
    range: Range,
}

impl Visit<'_> {
    fn next(&mut self) -> Result<Option<(u64, BatchSpan)>, LogError> {
        loop {
            let next = self.walk.next().map_err(|error| error.in_file(&self.segment.log_path(self.log.folder())))?;
            match next {
                Some((_, batch)) if batch.next_offset <= self.range.start => {}
                next => return Ok(next.filter(|(_, batch)| batch.next_offset <= self.range.end)),
            }
        }
    }

    /// The first record of a batch that is within the range and wanted.
    fn find_record(
        &self,
        position: u64,
        span: &BatchSpan,
        wanted: impl FnMut(TimestampOffset) -> bool,
    ) -> Result<Option<TimestampOffset>, LogError> {
        let batch = self.log.read_batch(self.segment, self.walk.file(), position, span)?;
        find_record(&batch, self.range.start, wanted).map_err(|_| LogError::Damaged {
            path: self.segment.log_path(self.log.folder()),
            offset: span.base_offset,
            position,
            reason: "the records of the batch cannot be read",
        })
    }

    /// The first record that has at least this timestamp.
    fn first_at_least(mut self, timestamp: TimestampMs) -> Result<Option<TimestampOffset>, LogError> {
        while let Some((position, batch)) = self.next()? {
            if batch.max_timestamp < timestamp {
                continue;
            }
            // The header may promise more than the records hold; then the search goes on.
            let found = self.find_record(position, &batch, |record| record.timestamp >= timestamp)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The first record that has the largest timestamp.
    fn largest(mut self) -> Result<Option<TimestampOffset>, LogError> {
        let mut best: Option<TimestampOffset> = None;
        while let Some((position, batch)) = self.next()? {
            let better_than = |best: Option<TimestampOffset>| best.map_or(TimestampMs(-1), |best| best.timestamp);
            if batch.max_timestamp > better_than(best) {
                self.find_record(position, &batch, |record| {
                    if record.timestamp > better_than(best) {
                        best = Some(record);
                    }
                    false
                })?;
            }
        }
        Ok(best)
    }
}

fn place_of(segment: &Segment, entry: IndexEntry) -> (u64, Offset) {
    (u64::from(entry.position), Offset(segment.base_offset().0 + i64::from(entry.relative_offset)))
}

/// Walks through the records of a batch. Memory does not depend on how large they are.
fn find_record(
    batch: &[u8],
    start: Offset,
    mut wanted: impl FnMut(TimestampOffset) -> bool,
) -> Result<Option<TimestampOffset>, BatchError> {
    let header = BatchHeader::parse(batch)?;
    // What was appended was within the limits of its time; no other limit is needed here.
    for record in RecordShapes::new(&header, batch, usize::MAX, usize::MAX)? {
        let record = record?;
        let offset = Offset(header.base_offset.0.saturating_add(i64::from(record.offset_delta)));
        let found = TimestampOffset { offset, timestamp: record.timestamp };
        if offset >= start && wanted(found) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}
