//! The records of a batch, one after the other.

use std::borrow::Cow;

use super::record::{Headers, Record, walk};
use super::varint::{Input, Stream};
use super::{BatchError, BatchHeader, TimestampType};
use crate::types::TimestampMs;

/// The decompressed records of a whole batch, to be read with [`RecordIter`]. Memory grows with what really comes out
/// of the decompressor; more than `max` bytes are refused.
///
/// # Errors
/// [`BatchError`] if the batch is cut short or its records cannot be decompressed.
pub fn records<'a>(header: &BatchHeader, batch: &'a [u8], max: usize) -> Result<Cow<'a, [u8]>, BatchError> {
    header.attributes.compression()?.decompress(header.payload(batch)?, max)
}

/// Where an iterator stands in a batch, and what the batch says of its timestamps.
struct Progress {
    record_count: i32,
    records_left: i32,
    base_timestamp: i64,
    log_append_time: Option<TimestampMs>,
    has_failed: bool,
}

impl Progress {
    fn new(header: &BatchHeader) -> Self {
        let log_append_time = match header.attributes.timestamp_type() {
            TimestampType::CreateTime => None,
            TimestampType::LogAppendTime => Some(header.max_timestamp),
        };
        Self {
            record_count: header.record_count,
            records_left: header.record_count,
            base_timestamp: header.base_timestamp.0,
            log_append_time,
            has_failed: false,
        }
    }

    /// Reads the next record with `read`, or checks at the end that no bytes are left. Ends with the first error.
    fn step<I: Input, R>(
        &mut self,
        input: &mut I,
        read: impl FnOnce(&Self, &mut I) -> Result<R, BatchError>,
    ) -> Option<Result<R, BatchError>> {
        if self.has_failed {
            return None;
        }
        let step = if self.records_left > 0 {
            self.records_left -= 1;
            Some(read(self, input).map_err(|error| match error {
                BatchError::Truncated => BatchError::WrongCount(self.record_count),
                other => other,
            }))
        } else {
            match input.is_at_end() {
                Ok(true) => None,
                Ok(false) => Some(Err(BatchError::WrongCount(self.record_count))),
                Err(error) => Some(Err(error)),
            }
        };
        self.has_failed = !matches!(step, Some(Ok(_)));
        step
    }

    fn timestamp(&self, delta: i64) -> TimestampMs {
        // Java's arithmetic: a client that makes it wrap gets the wrapped timestamp, and its bounds are checked then.
        self.log_append_time.unwrap_or(TimestampMs(self.base_timestamp.wrapping_add(delta)))
    }
}

/// The records of a batch from their decompressed bytes. An error is the last item; a batch with more or fewer records
/// than its header says ends with one.
pub struct RecordIter<'a> {
    progress: Progress,
    bytes: &'a [u8],
}

impl<'a> RecordIter<'a> {
    /// Reads `bytes`, which [`records`] has given for the batch of this header.
    #[must_use]
    pub fn new(header: &BatchHeader, bytes: &'a [u8]) -> Self {
        Self { progress: Progress::new(header), bytes }
    }
}

impl<'a> Iterator for RecordIter<'a> {
    type Item = Result<Record<'a>, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.progress.step(&mut self.bytes, |progress, bytes| {
            let all = *bytes;
            let walked = walk(bytes, usize::MAX)?;
            let headers_end = all.len() - bytes.len();
            let headers = all.get(headers_end - walked.headers_len..headers_end).unwrap_or_default();
            Ok(Record {
                offset_delta: walked.offset_delta,
                timestamp: progress.timestamp(walked.timestamp_delta),
                key: walked.key,
                value: walked.value,
                headers: Headers { count: walked.header_count, bytes: headers },
            })
        })
    }
}

/// What is known of a record when its content is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordShape {
    /// Its offset minus the batch's base offset.
    pub offset_delta: i32,
    /// Its timestamp; with `LogAppendTime` that of the append.
    pub timestamp: TimestampMs,
    /// Whether it has a key.
    pub has_key: bool,
}

/// Walks through the records of a batch while it is decompressed. Takes a fixed amount of memory, however large the
/// records are. Errors as [`RecordIter`] gives them.
pub struct RecordShapes<'a> {
    progress: Progress,
    stream: Stream<'a>,
    record_bytes_max: usize,
}

impl<'a> RecordShapes<'a> {
    /// Walks through a whole batch that starts with this header. More than `max` decompressed bytes are refused, and
    /// of a compressed batch any single record larger than `record_bytes_max`.
    ///
    /// # Errors
    /// [`BatchError`] if the batch is cut short or its codec refuses it at once.
    pub fn new(header: &BatchHeader, batch: &'a [u8], max: usize, record_bytes_max: usize) -> Result<Self, BatchError> {
        let codec = header.attributes.compression()?;
        let payload = header.payload(batch)?;
        // What is not compressed is already here, and as large as it is.
        let (max, record_bytes_max) =
            if codec.is_none() { (payload.len(), usize::MAX) } else { (max, record_bytes_max) };
        Ok(Self { progress: Progress::new(header), stream: Stream::new(codec, payload, max)?, record_bytes_max })
    }
}

impl Iterator for RecordShapes<'_> {
    type Item = Result<RecordShape, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        let record_bytes_max = self.record_bytes_max;
        self.progress.step(&mut self.stream, |progress, stream| {
            let walked = walk(stream, record_bytes_max)?;
            Ok(RecordShape {
                offset_delta: walked.offset_delta,
                timestamp: progress.timestamp(walked.timestamp_delta),
                has_key: walked.key.is_some(),
            })
        })
    }
}
