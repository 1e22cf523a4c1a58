//! Reading batches: from memory where the tail has them, else from the segment's file.
//!
//! A read gives whole batches only (Kafka may cut the last one, clients skip it), from one segment at a time unless
//! the tail serves it. The first batch may begin before the offset asked for; clients skip its first records.

use std::sync::Arc;

use bytes::Bytes;

use super::batch::{BatchSpan, HEADER_BYTES, HeaderWalk, crc_is_right};
use super::error::{LogError, ReadError};
use super::partition::PartitionLog;
use super::segment::Segment;
use crate::disk::DiskFile;
use crate::types::Offset;

/// A read never takes more than this into memory, whatever is asked for, unless a single batch is larger.
pub(super) const READ_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The way from an index entry to a batch is about this long.
const SKIP_WINDOW_BYTES: usize = 4096 + HEADER_BYTES;

/// How much a read may give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadLimit {
    /// In bytes of batches.
    pub(crate) max_bytes: usize,
    /// Give the first batch even if it alone is larger, so that a consumer is never stuck before it.
    pub(crate) at_least_one: bool,
}

impl ReadLimit {
    /// Whether a batch of `bytes` may follow `total` bytes.
    pub(super) fn admits(self, total: usize, bytes: usize) -> bool {
        let is_forced = total == 0 && self.at_least_one;
        is_forced || total.saturating_add(bytes) <= self.max_bytes.min(READ_BYTES_MAX)
    }
}

/// What a read gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadBatches {
    /// Whole batches, as stored.
    pub(crate) bytes: Bytes,
    /// The offset behind the last one: where to read on. The offset asked for if there is none.
    pub(crate) next_offset: Offset,
}

impl ReadBatches {
    fn nothing(offset: Offset) -> Self {
        Self { bytes: Bytes::new(), next_offset: offset }
    }
}

impl PartitionLog {
    /// Whole batches from the one that contains `offset`, none that reaches `upper` or the high watermark.
    ///
    /// Blocks for the disk if the batches are not in memory.
    pub(crate) fn read(&self, offset: Offset, limit: ReadLimit, upper: Offset) -> Result<ReadBatches, ReadError> {
        if let Some(found) = self.read_from_memory(offset, limit, upper)? {
            return Ok(found);
        }
        let end = upper.min(self.bounds_for(offset)?.high_watermark);
        let Some(segment) = self.segment_of(offset) else {
            // It went away since the bounds were looked at, or else the log start would not have been there.
            return Err(self.bounds_for(offset).err().unwrap_or(ReadError::Deleted));
        };
        self.read_segment(&segment, offset, limit, end).map_err(|error| self.explain(offset, error))
    }

    /// As [`PartitionLog::read`], but never blocks: `None` if the batches have to be read from a file.
    pub(crate) fn read_from_memory(
        &self,
        offset: Offset,
        limit: ReadLimit,
        upper: Offset,
    ) -> Result<Option<ReadBatches>, ReadError> {
        let end = upper.min(self.bounds_for(offset)?.high_watermark);
        if offset >= end {
            return Ok(Some(ReadBatches::nothing(offset)));
        }
        Ok(self.with_tail(|tail| tail.read(offset, limit, end)))
    }

    fn read_segment(
        &self,
        segment: &Arc<Segment>,
        offset: Offset,
        limit: ReadLimit,
        end: Offset,
    ) -> Result<ReadBatches, LogError> {
        let file = segment.open(self.place())?;
        let available = segment.facts().bytes;
        let Some((position, first)) = self.find_batch(segment, &file, offset)? else {
            return Ok(ReadBatches::nothing(offset));
        };
        if first.next_offset > end {
            // Bounds lie between batches. So either the caller's does not, or the header lies: its checksum tells.
            self.read_batch(segment, &file, position, &first)?;
            return Ok(ReadBatches::nothing(offset));
        }
        let first_bytes = first.bytes as usize;
        if !limit.admits(0, first_bytes) {
            return Ok(ReadBatches::nothing(offset));
        }
        let left = usize::try_from(available.saturating_sub(position)).unwrap_or(usize::MAX);
        let chunk_bytes = limit.max_bytes.min(READ_BYTES_MAX).max(first_bytes).min(left);
        let path = segment.log_path(self.folder());
        let mut chunk = vec![0; chunk_bytes];
        file.read_exact_at(&mut chunk, position).map_err(LogError::io("read", &path))?;

        let damaged = |at: u64, offset, reason| LogError::Damaged { path: path.clone(), offset, position: at, reason };
        let mut used = 0usize;
        let mut next_offset = first.base_offset;
        while let Some(rest) = chunk.get(used..).filter(|rest| rest.len() >= HEADER_BYTES) {
            let at = position + used as u64;
            let span = BatchSpan::parse(rest).map_err(|reason| damaged(at, next_offset, reason))?;
            let bytes = span.bytes as usize;
            let Some(batch) = rest.get(..bytes).filter(|_| span.next_offset <= end && limit.admits(used, bytes)) else {
                break;
            };
            if span.base_offset != next_offset {
                return Err(damaged(at, next_offset, "the batch has another base offset"));
            }
            if !crc_is_right(batch) {
                return Err(damaged(at, next_offset, "the checksum of the batch is wrong"));
            }
            used += bytes;
            next_offset = span.next_offset;
        }
        if used == 0 {
            return Err(damaged(position, offset, "the batch changed while it was read"));
        }
        Ok(ReadBatches { bytes: cut(chunk, used), next_offset })
    }

    /// The batch that contains `offset` and its position; `None` if the segment ends before it.
    pub(super) fn find_batch(
        &self,
        segment: &Segment,
        file: &Arc<dyn DiskFile>,
        offset: Offset,
    ) -> Result<Option<(u64, BatchSpan)>, LogError> {
        let entry = segment.floor_of_offset(self.place(), offset)?;
        let start = Offset(segment.base_offset().0 + i64::from(entry.relative_offset));
        let end = segment.facts().bytes;
        let mut walk = HeaderWalk::new(Arc::clone(file), u64::from(entry.position), start, end, SKIP_WINDOW_BYTES);
        loop {
            let next = walk.next().map_err(|error| error.in_file(&segment.log_path(self.folder())))?;
            match next {
                Some((_, span)) if span.next_offset <= offset => {}
                found => return Ok(found),
            }
        }
    }

    /// One whole batch, checked.
    pub(super) fn read_batch(
        &self,
        segment: &Segment,
        file: &Arc<dyn DiskFile>,
        position: u64,
        span: &BatchSpan,
    ) -> Result<Bytes, LogError> {
        let path = segment.log_path(self.folder());
        let mut batch = vec![0; span.bytes as usize];
        file.read_exact_at(&mut batch, position).map_err(LogError::io("read", &path))?;
        if BatchSpan::parse(&batch).ok() != Some(*span) || !crc_is_right(&batch) {
            let reason = "the checksum of the batch is wrong";
            return Err(LogError::Damaged { path, offset: span.base_offset, position, reason });
        }
        Ok(batch.into())
    }
}

/// The first `used` bytes. What is much smaller than the chunk is copied, since an answer may wait long in a queue.
fn cut(mut chunk: Vec<u8>, used: usize) -> Bytes {
    if used < chunk.len() / 2 {
        return Bytes::copy_from_slice(chunk.get(..used).unwrap_or_default());
    }
    chunk.truncate(used);
    chunk.into()
}
