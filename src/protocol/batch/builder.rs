//! Writing batches: for the client, for control batches, for compaction, and for tests.

use bytes::BytesMut;

use super::header::assemble;
use super::record::{self, Parts};
use super::{Attributes, BatchError, BatchHeader, Compression, TimestampType};
use crate::types::{Offset, ProducerEpoch, ProducerId, TimestampMs};

/// One record to be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewRecord<'a> {
    /// Its timestamp.
    pub timestamp: TimestampMs,
    /// Its key, if it has one.
    pub key: Option<&'a [u8]>,
    /// Its value; without one it is a tombstone.
    pub value: Option<&'a [u8]>,
    /// Its headers.
    pub headers: &'a [(&'a [u8], Option<&'a [u8]>)],
}

/// Collects records and writes a batch of them.
#[derive(Clone, Debug)]
pub struct BatchBuilder {
    header: BatchHeader,
    compression: Compression,
    records: Vec<u8>,
    scratch: Vec<u8>,
    has_log_append_time: bool,
    next_offset_delta: i64,
}

impl Default for BatchBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl BatchBuilder {
    /// An empty batch as a client begins it: base offset 0, leader epoch -1, no producer.
    #[must_use]
    pub fn new() -> Self {
        let header = BatchHeader {
            base_offset: Offset(0),
            batch_length: 0,
            leader_epoch: -1,
            magic: 0,
            crc: 0,
            attributes: Attributes(0),
            last_offset_delta: -1,
            base_timestamp: TimestampMs(-1),
            max_timestamp: TimestampMs(-1),
            producer_id: ProducerId(-1),
            producer_epoch: ProducerEpoch(-1),
            base_sequence: -1,
            record_count: 0,
        };
        Self {
            header,
            compression: Compression::None,
            records: Vec::new(),
            scratch: Vec::new(),
            has_log_append_time: false,
            next_offset_delta: 0,
        }
    }

    /// Compresses the records.
    #[must_use]
    pub const fn compression(mut self, codec: Compression) -> Self {
        self.compression = codec;
        self
    }

    /// Writes in the name of an idempotent producer; the first record gets the sequence number.
    #[must_use]
    pub const fn producer(mut self, id: ProducerId, epoch: ProducerEpoch, base_sequence: i32) -> Self {
        self.header.producer_id = id;
        self.header.producer_epoch = epoch;
        self.header.base_sequence = base_sequence;
        self
    }

    /// Makes the batch a part of a transaction.
    #[must_use]
    pub const fn transactional(mut self) -> Self {
        self.header.attributes = self.header.attributes.with_transactional(true);
        self
    }

    /// Makes the batch one of control records.
    #[must_use]
    pub const fn control(mut self) -> Self {
        self.header.attributes = self.header.attributes.with_control(true);
        self
    }

    /// Puts the batch at its place at once.
    #[must_use]
    pub const fn at(mut self, base_offset: Offset, leader_epoch: i32) -> Self {
        self.header.base_offset = base_offset;
        self.header.leader_epoch = leader_epoch;
        self
    }

    /// Sets the time of the append, which then holds for all records.
    #[must_use]
    pub const fn log_append_time(mut self, time: TimestampMs) -> Self {
        self.header.attributes = self.header.attributes.with_timestamp_type(TimestampType::LogAppendTime);
        self.header.max_timestamp = time;
        self.has_log_append_time = true;
        self
    }

    /// Ends the batch at this offset delta, as compaction keeps it when the last records are gone.
    #[must_use]
    pub const fn last_offset_delta(mut self, delta: i32) -> Self {
        self.header.last_offset_delta = delta;
        self
    }

    /// Adds a record at the next offset.
    ///
    /// # Errors
    /// [`BatchError::Unrepresentable`]; the record is not added.
    pub fn push(&mut self, record: &NewRecord<'_>) -> Result<(), BatchError> {
        let delta = i32::try_from(self.next_offset_delta)
            .map_err(|_| BatchError::Unrepresentable("more than 2147483648 offsets"))?;
        self.push_at(delta, record)
    }

    /// Adds a record at an offset behind those that are there, leaving a hole between them.
    ///
    /// # Errors
    /// [`BatchError::Unrepresentable`]; the record is not added.
    pub fn push_at(&mut self, offset_delta: i32, record: &NewRecord<'_>) -> Result<(), BatchError> {
        if i64::from(offset_delta) < self.next_offset_delta {
            return Err(BatchError::Unrepresentable("offsets that go back"));
        }
        let record_count = self
            .header
            .record_count
            .checked_add(1)
            .ok_or(BatchError::Unrepresentable("more than 2147483647 records"))?;
        let is_first = self.header.record_count == 0;
        let base_timestamp = if is_first { record.timestamp } else { self.header.base_timestamp };
        let parts = Parts {
            timestamp_delta: record.timestamp.0.wrapping_sub(base_timestamp.0),
            offset_delta,
            key: record.key,
            value: record.value,
            headers: record.headers,
        };
        record::write(&parts, &mut self.scratch, &mut self.records)?;
        self.header.base_timestamp = base_timestamp;
        self.header.record_count = record_count;
        self.header.last_offset_delta = self.header.last_offset_delta.max(offset_delta);
        self.next_offset_delta = i64::from(offset_delta) + 1;
        if !self.has_log_append_time {
            self.header.max_timestamp = self.header.max_timestamp.max(record.timestamp);
        }
        Ok(())
    }

    /// How many records were added.
    #[must_use]
    pub const fn record_count(&self) -> i32 {
        self.header.record_count
    }

    /// How many bytes the records take before compression.
    #[must_use]
    pub fn records_len(&self) -> usize {
        self.records.len()
    }

    /// Writes the batch.
    ///
    /// # Errors
    /// [`BatchError::Unrepresentable`] if it takes more than 2 GiB.
    pub fn build(&self) -> Result<BytesMut, BatchError> {
        // Without records there is nothing to compress, and the batch says so.
        let codec = if self.records.is_empty() { Compression::None } else { self.compression };
        let header = BatchHeader { attributes: self.header.attributes.with_compression(codec), ..self.header };
        if codec.is_none() {
            return assemble(&header, &self.records);
        }
        let payload = codec
            .compress(&mut self.records.as_slice(), usize::MAX)
            .map_err(|_| BatchError::Unrepresentable("what does not compress"))?;
        assemble(&header, &payload)
    }
}
