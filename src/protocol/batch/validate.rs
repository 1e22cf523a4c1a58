//! What a client's batch must pass before it is appended, and what of it is changed.
//!
//! Answers to what Kafka 4.4.0 does before it looks at producer states: `ProduceRequest.validateRecords`, then
//! `UnifiedLog`'s size and CRC checks, then `LogValidator`. Order and codes were observed on a broker. Where Kafka is
//! more lenient than its own consumers, a batch is refused:
//! - offset deltas must be 0, 1, 2 …; Kafka stores an uncompressed batch with others, and its consumers then skip
//!   records or see them twice;
//! - the `LogAppendTime` flag is never a client's to set; Kafka clears it on a topic with create time and keeps a max
//!   timestamp that may not be one of the records';
//! - a record in a compressed batch must fill the length it claims, as in an uncompressed one;
//! - a compressed stream must decompress: `INVALID_RECORD` rather than `UNKNOWN_SERVER_ERROR`.

use bytes::{Buf, BytesMut};

use super::header::assemble;
use super::{
    BatchError, BatchHeader, BatchMeta, Compression, RecordShape, RecordShapes, TimestampType, set_max_timestamp,
};
use crate::types::{ErrorCode, TimestampMs};

/// A batch that takes more than this when decompressed is refused, unless its topic takes larger ones uncompressed.
const DECOMPRESSED_BYTES_CEILING: usize = 128 * 1024 * 1024;
/// How much larger than `max.message.bytes` the records of a batch may be once decompressed.
const DECOMPRESSION_RATIO: usize = 128;
/// An answer lists at most so many records. Clients treat the others as failed with their batch.
const RECORD_ERRORS_MAX: usize = 1000;
/// The first produce version that may carry zstd.
const PRODUCE_VERSION_OF_ZSTD: i16 = 7;

/// The topic's settings and the request's circumstances that a batch is checked against.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// The topic, for texts.
    pub topic: &'a str,
    /// The partition, for texts.
    pub partition: i32,
    /// `max.message.bytes`: of a whole batch as compressed.
    pub max_message_bytes: i32,
    /// `max.decompressed.message.bytes`: of one record of a compressed batch. Kafka's default is 2147483639.
    pub max_decompressed_message_bytes: i32,
    /// `segment.bytes`.
    pub segment_bytes: i32,
    /// Whether `cleanup.policy` has `compact`.
    pub is_compacted: bool,
    /// `message.timestamp.type`.
    pub timestamp_type: TimestampType,
    /// `message.timestamp.before.max.ms`.
    pub before_max_ms: i64,
    /// `message.timestamp.after.max.ms`.
    pub after_max_ms: i64,
    /// `compression.type`; `None` for `producer`. See [`Compression::of_topic`].
    pub compression_type: Option<Compression>,
    /// The time of the append.
    pub now: TimestampMs,
    /// The version of the produce request.
    pub produce_version: i16,
}

/// A batch that may be appended. Base offset and leader epoch are for the heads to set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validated {
    /// What the heads need to know.
    pub meta: BatchMeta,
    /// The batch, apart from the request it came in.
    pub batch: BytesMut,
}

/// Why a batch is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Invalid {
    /// The answer's error.
    pub error: ErrorCode,
    /// What is wrong, for the log.
    pub reason: String,
    /// The answer's error message. Kafka has one only along with record errors.
    pub message: Option<String>,
    /// The answer's record errors.
    pub record_errors: Vec<RecordError>,
    /// Whether the answer carries the log start. Kafka leaves it at -1 where it does not get as far as the records.
    pub tells_log_start: bool,
}

/// What is wrong with one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordError {
    /// Its place in the batch, from 0.
    pub batch_index: i32,
    /// What is wrong.
    pub message: String,
}

/// How many bytes the records of a batch may take when decompressed: 128 times `max.message.bytes`, but not more than
/// 128 MiB or, if that is larger, `max.message.bytes` itself. Walking through a batch takes little memory; the cap is
/// for the time it takes, which is under a second.
#[must_use]
pub fn decompressed_bytes_max(max_message_bytes: i32) -> usize {
    let max_message_bytes = usize::try_from(max_message_bytes).unwrap_or(0);
    max_message_bytes.saturating_mul(DECOMPRESSION_RATIO).min(DECOMPRESSED_BYTES_CEILING).max(max_message_bytes)
}

/// Checks what a produce request carries for one partition, and returns the batch as it is to be appended.
///
/// # Errors
/// [`Invalid`], with all that the answer needs.
pub fn validate(records: &[u8], rules: &Rules<'_>) -> Result<Validated, Invalid> {
    let (header, batch) = the_one_batch(records, rules)?;
    check_size_and_crc(&header, batch, rules)?;
    let codec = header.attributes.compression()?;
    check_header(&header)?;
    let max_timestamp = check_records(&header, batch, rules)?;
    let (timestamp_type, max_timestamp) = match rules.timestamp_type {
        TimestampType::CreateTime => (TimestampType::CreateTime, max_timestamp),
        TimestampType::LogAppendTime => (TimestampType::LogAppendTime, rules.now),
    };

    let mut batch = match rules.compression_type {
        Some(target) if target != codec => recompressed(&header, batch, target, rules)?,
        _ => BytesMut::from(batch),
    };
    if is_longer(&batch, rules.segment_bytes) {
        return Err(early(
            ErrorCode::RecordListTooLarge,
            format!("the batch has {} bytes, a segment fewer", batch.len()),
        ));
    }
    if (header.attributes.timestamp_type(), header.max_timestamp) != (timestamp_type, max_timestamp) {
        set_max_timestamp(&mut batch, timestamp_type, max_timestamp)?;
    }
    let meta = BatchMeta::from(&BatchHeader::parse(&batch)?);
    Ok(Validated { meta, batch })
}

/// Cuts the batch from what the request carries, and sees that it is the only one.
fn the_one_batch<'a>(records: &'a [u8], rules: &Rules<'_>) -> Result<(BatchHeader, &'a [u8]), Invalid> {
    let no_batch = || early(ErrorCode::InvalidRecord, "there is no whole record batch".to_owned());
    let (batch, rest) = split_batch(records)?.ok_or_else(no_batch)?;
    let header = BatchHeader::parse(batch).map_err(|error| match error {
        // All of the batch is here, so it is its length that is too short for a header.
        BatchError::Truncated => early(ErrorCode::CorruptMessage, error.to_string()),
        _ => early(error.code(), error.to_string()),
    })?;
    if header.attributes.compression() == Ok(Compression::Zstd) && rules.produce_version < PRODUCE_VERSION_OF_ZSTD {
        let reason = format!("Produce version {} cannot carry zstd", rules.produce_version);
        return Err(early(ErrorCode::UnsupportedCompressionType, reason));
    }
    // Like Kafka, bytes behind the batch that are no whole batch are dropped.
    if split_batch(rest)?.is_some() {
        return Err(early(ErrorCode::InvalidRecord, "there is more than one record batch".to_owned()));
    }
    Ok((header, batch))
}

type BatchAndRest<'a> = (&'a [u8], &'a [u8]);

/// Splits off the first batch of any format. `None` if there is no whole one.
fn split_batch(records: &[u8]) -> Result<Option<BatchAndRest<'_>>, Invalid> {
    const LOG_OVERHEAD: usize = 12;
    const OLDEST_HEADER_LEN: i32 = 14;
    const UP_TO_MAGIC: usize = 17;
    const MAGIC_AT: usize = 16;

    let Some(mut length) = records.get(8..LOG_OVERHEAD) else { return Ok(None) };
    let length = length.get_i32();
    if length < OLDEST_HEADER_LEN {
        return Err(early(ErrorCode::CorruptMessage, BatchError::BadLength(length).to_string()));
    }
    if records.len() < UP_TO_MAGIC {
        return Ok(None);
    }
    let magic = records.get(MAGIC_AT).map_or(0, |byte| byte.cast_signed());
    if !(0..=2).contains(&magic) {
        return Err(early(ErrorCode::CorruptMessage, BatchError::UnsupportedMagic(magic).to_string()));
    }
    Ok(usize::try_from(length).ok().and_then(|length| records.split_at_checked(length.saturating_add(LOG_OVERHEAD))))
}

fn check_size_and_crc(header: &BatchHeader, batch: &[u8], rules: &Rules<'_>) -> Result<(), Invalid> {
    if header.base_offset.0 != 0 {
        let reason = format!("a client's batch begins at offset 0, this one at {}", header.base_offset);
        return Err(late(ErrorCode::InvalidRecord, reason));
    }
    check_max_message_bytes(batch, rules)?;
    header.check_crc(batch).map_err(|error| early(error.code(), error.to_string()))
}

fn check_max_message_bytes(batch: &[u8], rules: &Rules<'_>) -> Result<(), Invalid> {
    if is_longer(batch, rules.max_message_bytes) {
        let reason = format!("the batch has {} bytes, the topic takes {}", batch.len(), rules.max_message_bytes);
        return Err(early(ErrorCode::MessageTooLarge, reason));
    }
    Ok(())
}

fn is_longer(batch: &[u8], max: i32) -> bool {
    usize::try_from(max).map_or(true, |max| batch.len() > max)
}

fn check_header(header: &BatchHeader) -> Result<(), Invalid> {
    let offset_count = i64::from(header.last_offset_delta).saturating_add(1);
    let reason = if header.record_count <= 0 || offset_count != i64::from(header.record_count) {
        format!("{} records cannot take {offset_count} offsets", header.record_count)
    } else if header.attributes.is_control() {
        "control records are not a client's to write".to_owned()
    } else if header.has_producer() && header.base_sequence < 0 {
        format!("sequence {} of producer {} is negative", header.base_sequence, header.producer_id)
    } else {
        return Ok(());
    };
    Err(late(ErrorCode::InvalidRecord, reason))
}

/// Walks through the records. Returns their largest timestamp, -1 at least.
fn check_records(header: &BatchHeader, batch: &[u8], rules: &Rules<'_>) -> Result<TimestampMs, Invalid> {
    let bytes_max = decompressed_bytes_max(rules.max_message_bytes);
    let record_bytes_max = usize::try_from(rules.max_decompressed_message_bytes).unwrap_or(0);
    let shapes = RecordShapes::new(header, batch, bytes_max, record_bytes_max)?;
    let mut max_timestamp = TimestampMs(-1);
    let mut faults = Faults::default();
    for (index, shape) in (0..).zip(shapes) {
        let shape = shape?;
        if shape.offset_delta != index {
            let reason = format!("record {index} has offset delta {}", shape.offset_delta);
            return Err(late(ErrorCode::InvalidRecord, reason));
        }
        max_timestamp = max_timestamp.max(shape.timestamp);
        if let Some(fault) = fault_of(header, &shape, rules) {
            faults.add(index, fault, rules);
        }
    }
    faults.into_result().map(|()| max_timestamp)
}

/// What can be wrong with a record by itself.
#[derive(Clone, Copy)]
enum Fault {
    NoKey,
    LogAppendTime,
    TimestampOutOfRange(TimestampMs),
}

impl Fault {
    fn text(self, rules: &Rules<'_>) -> String {
        match self {
            Self::NoKey => {
                format!("a record without a key in compacted topic partition {}-{}", rules.topic, rules.partition)
            }
            Self::LogAppendTime => "timestamp type LogAppendTime is not a producer's to set".to_owned(),
            Self::TimestampOutOfRange(timestamp) => format!(
                "timestamp {timestamp} is more than {} ms before or {} ms after {}",
                rules.before_max_ms, rules.after_max_ms, rules.now
            ),
        }
    }
}

/// The first thing that is wrong with a record by itself.
fn fault_of(header: &BatchHeader, shape: &RecordShape, rules: &Rules<'_>) -> Option<Fault> {
    if rules.is_compacted && !shape.has_key {
        return Some(Fault::NoKey);
    }
    if header.attributes.timestamp_type() == TimestampType::LogAppendTime {
        return Some(Fault::LogAppendTime);
    }
    if rules.timestamp_type == TimestampType::CreateTime && !is_timestamp_in_range(shape.timestamp, rules) {
        return Some(Fault::TimestampOutOfRange(shape.timestamp));
    }
    None
}

fn is_timestamp_in_range(timestamp: TimestampMs, rules: &Rules<'_>) -> bool {
    // Java's arithmetic, which wraps: so the oldest timestamps count as future ones there, and here.
    let age_ms = rules.now.0.wrapping_sub(timestamp.0);
    timestamp.0 == -1 || (age_ms <= rules.before_max_ms && age_ms.wrapping_neg() <= rules.after_max_ms)
}

/// The faults of single records, as the answer tells them.
#[derive(Default)]
struct Faults {
    count: u64,
    has_timestamp_fault: bool,
    record_errors: Vec<RecordError>,
}

impl Faults {
    fn add(&mut self, batch_index: i32, fault: Fault, rules: &Rules<'_>) {
        self.count += 1;
        self.has_timestamp_fault |= !matches!(fault, Fault::NoKey);
        if self.record_errors.len() < RECORD_ERRORS_MAX {
            self.record_errors.push(RecordError { batch_index, message: fault.text(rules) });
        }
    }

    fn into_result(self) -> Result<(), Invalid> {
        let Some(first) = self.record_errors.first() else { return Ok(()) };
        let error = if self.has_timestamp_fault { ErrorCode::InvalidTimestamp } else { ErrorCode::InvalidRecord };
        let message = format!("{} records are refused; record {}: {}", self.count, first.batch_index, first.message);
        Err(Invalid {
            error,
            reason: message.clone(),
            message: Some(message),
            record_errors: self.record_errors,
            tells_log_start: true,
        })
    }
}

/// The same records under the topic's own codec.
fn recompressed(
    header: &BatchHeader,
    batch: &[u8],
    target: Compression,
    rules: &Rules<'_>,
) -> Result<BytesMut, Invalid> {
    let source = header.attributes.compression()?;
    let max = decompressed_bytes_max(rules.max_message_bytes);
    let mut records = source.reader(header.payload(batch)?, max)?;
    let payload_bytes_max = usize::try_from(rules.max_message_bytes).unwrap_or(0);
    let payload = target
        .compress(&mut records, payload_bytes_max)
        .map_err(|error| early(ErrorCode::MessageTooLarge, format!("compressed anew as {}: {error}", target.name())))?;
    let header = BatchHeader { attributes: header.attributes.known().with_compression(target), ..*header };
    let batch = assemble(&header, &payload)?;
    check_max_message_bytes(&batch, rules)?;
    Ok(batch)
}

impl From<BatchError> for Invalid {
    fn from(error: BatchError) -> Self {
        let code = error.code();
        Self { tells_log_start: code != ErrorCode::MessageTooLarge, ..late(code, error.to_string()) }
    }
}

fn early(error: ErrorCode, reason: String) -> Invalid {
    Invalid { tells_log_start: false, ..late(error, reason) }
}

fn late(error: ErrorCode, reason: String) -> Invalid {
    Invalid { error, reason, message: None, record_errors: Vec::new(), tells_log_start: true }
}

#[cfg(test)]
mod tests;
