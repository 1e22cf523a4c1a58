//! The fixed 61 bytes in front of the records, and what may be patched in them.
//!
//! Layout: base offset i64, length i32 (of all behind it), leader epoch i32, magic i8, CRC-32C u32 (of all behind it),
//! attributes i16, last offset delta i32, base timestamp i64, max timestamp i64, producer id i64, producer epoch i16,
//! base sequence i32, record count i32. So base offset and leader epoch can change without touching the CRC.

use bytes::{Buf, BufMut, BytesMut};

use super::{BatchError, Compression};
use crate::types::{Offset, ProducerEpoch, ProducerId, TimestampMs};

/// Bytes in front of what the length field counts: base offset and length.
const LOG_OVERHEAD: usize = 12;
const LEADER_EPOCH_AT: usize = 12;
const CRC_AT: usize = 17;
const ATTRIBUTES_AT: usize = 21;
const MAX_TIMESTAMP_AT: usize = 35;
const MAGIC: i8 = 2;

/// Whose clock a batch's timestamps come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimestampType {
    /// The producer's.
    #[default]
    CreateTime,
    /// The broker's, at the append; the batch's max timestamp holds for all its records.
    LogAppendTime,
}

/// A batch's attribute bits. Bits without a meaning are kept until the bits are written anew, as in Kafka.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes(pub i16);

impl Attributes {
    const COMPRESSION: i16 = 0x07;
    const LOG_APPEND_TIME: i16 = 0x08;
    const TRANSACTIONAL: i16 = 0x10;
    const CONTROL: i16 = 0x20;
    const DELETE_HORIZON: i16 = 0x40;
    const KNOWN: i16 = 0x7f;

    /// The codec of the records.
    ///
    /// # Errors
    /// [`BatchError::UnknownCompression`] for a number without a codec.
    pub fn compression(self) -> Result<Compression, BatchError> {
        let id = self.0 & Self::COMPRESSION;
        Compression::from_id(id).ok_or(BatchError::UnknownCompression(id))
    }

    /// Whose clock the timestamps come from.
    #[must_use]
    pub const fn timestamp_type(self) -> TimestampType {
        if self.has(Self::LOG_APPEND_TIME) { TimestampType::LogAppendTime } else { TimestampType::CreateTime }
    }

    /// Whether the batch belongs to a transaction.
    #[must_use]
    pub const fn is_transactional(self) -> bool {
        self.has(Self::TRANSACTIONAL)
    }

    /// Whether the batch holds control records (transaction markers), which no consumer sees.
    #[must_use]
    pub const fn is_control(self) -> bool {
        self.has(Self::CONTROL)
    }

    /// Whether the base timestamp is the time at which compaction may drop the batch's tombstones.
    #[must_use]
    pub const fn has_delete_horizon(self) -> bool {
        self.has(Self::DELETE_HORIZON)
    }

    /// The same bits with another codec.
    #[must_use]
    pub const fn with_compression(self, codec: Compression) -> Self {
        Self((self.0 & !Self::COMPRESSION) | codec.id())
    }

    /// The same bits with another timestamp type.
    #[must_use]
    pub const fn with_timestamp_type(self, timestamp_type: TimestampType) -> Self {
        self.with(Self::LOG_APPEND_TIME, matches!(timestamp_type, TimestampType::LogAppendTime))
    }

    /// The same bits, in a transaction or not.
    #[must_use]
    pub const fn with_transactional(self, is_transactional: bool) -> Self {
        self.with(Self::TRANSACTIONAL, is_transactional)
    }

    /// The same bits, a control batch or not.
    #[must_use]
    pub const fn with_control(self, is_control: bool) -> Self {
        self.with(Self::CONTROL, is_control)
    }

    /// Without the bits that have no meaning.
    #[must_use]
    pub const fn known(self) -> Self {
        Self(self.0 & Self::KNOWN)
    }

    const fn has(self, bit: i16) -> bool {
        self.0 & bit != 0
    }

    const fn with(self, bit: i16, on: bool) -> Self {
        Self(if on { self.0 | bit } else { self.0 & !bit })
    }
}

/// What stands in front of a batch's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchHeader {
    /// The offset of the first record.
    pub base_offset: Offset,
    /// The length of all behind this field; at least 49 once parsed.
    pub batch_length: i32,
    /// The leader epoch at the append; -1 from a client.
    pub leader_epoch: i32,
    /// The format: 2.
    pub magic: i8,
    /// CRC-32C of all behind this field.
    pub crc: u32,
    /// Codec, timestamp type and flags.
    pub attributes: Attributes,
    /// The last offset minus the base offset.
    pub last_offset_delta: i32,
    /// What the records' timestamps count from.
    pub base_timestamp: TimestampMs,
    /// The largest timestamp of the records, or the append time of all of them.
    pub max_timestamp: TimestampMs,
    /// The producer; -1 if it is not idempotent.
    pub producer_id: ProducerId,
    /// The producer's epoch.
    pub producer_epoch: ProducerEpoch,
    /// The sequence number of the first record; -1 without a producer.
    pub base_sequence: i32,
    /// How many records there are; after compaction fewer than offsets.
    pub record_count: i32,
}

impl BatchHeader {
    /// How many bytes it takes.
    pub const LEN: usize = 61;

    /// Reads the header at the start of `bytes`; more may follow. Neither the CRC nor the records are looked at.
    ///
    /// # Errors
    /// [`BatchError::Truncated`] under 61 bytes, [`BatchError::UnsupportedMagic`], and [`BatchError::BadLength`] if the
    /// length field leaves no room for a header.
    pub fn parse(bytes: &[u8]) -> Result<Self, BatchError> {
        let mut fields: &[u8] = bytes.first_chunk::<{ Self::LEN }>().ok_or(BatchError::Truncated)?;
        let header = Self {
            base_offset: Offset(fields.get_i64()),
            batch_length: fields.get_i32(),
            leader_epoch: fields.get_i32(),
            magic: fields.get_i8(),
            crc: fields.get_u32(),
            attributes: Attributes(fields.get_i16()),
            last_offset_delta: fields.get_i32(),
            base_timestamp: TimestampMs(fields.get_i64()),
            max_timestamp: TimestampMs(fields.get_i64()),
            producer_id: ProducerId(fields.get_i64()),
            producer_epoch: ProducerEpoch(fields.get_i16()),
            base_sequence: fields.get_i32(),
            record_count: fields.get_i32(),
        };
        if header.magic != MAGIC {
            return Err(BatchError::UnsupportedMagic(header.magic));
        }
        if header.total_len() < Self::LEN {
            return Err(BatchError::BadLength(header.batch_length));
        }
        Ok(header)
    }

    /// How many bytes the whole batch takes, this header included.
    #[must_use]
    pub fn total_len(&self) -> usize {
        usize::try_from(self.batch_length).map_or(0, |length| length.saturating_add(LOG_OVERHEAD))
    }

    /// The offset of the last record.
    #[must_use]
    pub fn last_offset(&self) -> Offset {
        Offset(self.base_offset.0.saturating_add(i64::from(self.last_offset_delta)))
    }

    /// Whether the batch has an idempotent producer.
    #[must_use]
    pub const fn has_producer(&self) -> bool {
        self.producer_id.0 >= 0
    }

    /// Checks the CRC of a whole batch that starts with this header.
    ///
    /// # Errors
    /// [`BatchError::Truncated`] or [`BatchError::BadCrc`].
    pub fn check_crc(&self, batch: &[u8]) -> Result<(), BatchError> {
        let computed = crc_of(batch.get(..self.total_len()).ok_or(BatchError::Truncated)?)?;
        if computed == self.crc { Ok(()) } else { Err(BatchError::BadCrc { stored: self.crc, computed }) }
    }

    /// The compressed records of a whole batch that starts with this header.
    ///
    /// # Errors
    /// [`BatchError::Truncated`] if the batch is shorter than the header says.
    pub fn payload<'a>(&self, batch: &'a [u8]) -> Result<&'a [u8], BatchError> {
        batch.get(Self::LEN..self.total_len()).ok_or(BatchError::Truncated)
    }

    fn write(&self, out: &mut BytesMut) {
        out.put_i64(self.base_offset.0);
        out.put_i32(self.batch_length);
        out.put_i32(self.leader_epoch);
        out.put_i8(self.magic);
        out.put_u32(self.crc);
        out.put_i16(self.attributes.0);
        out.put_i32(self.last_offset_delta);
        out.put_i64(self.base_timestamp.0);
        out.put_i64(self.max_timestamp.0);
        out.put_i64(self.producer_id.0);
        out.put_i16(self.producer_epoch.0);
        out.put_i32(self.base_sequence);
        out.put_i32(self.record_count);
    }
}

/// Writes the header and the records of a batch; its length, magic and CRC are filled in.
pub(super) fn assemble(header: &BatchHeader, payload: &[u8]) -> Result<BytesMut, BatchError> {
    let total_len = BatchHeader::LEN.saturating_add(payload.len());
    let batch_length =
        i32::try_from(total_len - LOG_OVERHEAD).map_err(|_| BatchError::Unrepresentable("its length"))?;
    let mut batch = BytesMut::with_capacity(total_len);
    BatchHeader { batch_length, magic: MAGIC, ..*header }.write(&mut batch);
    batch.extend_from_slice(payload);
    set_crc(&mut batch)?;
    Ok(batch)
}

/// What the partition heads need to know of a batch. It follows from the header alone, so a batch that is read back
/// from the journal gives the same as when it came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchMeta {
    /// Negative for a producer that is not idempotent.
    pub producer_id: ProducerId,
    /// The producer's epoch.
    pub producer_epoch: ProducerEpoch,
    /// The sequence number of the first record; -1 without a producer.
    pub base_sequence: i32,
    /// How many offsets the batch takes: last offset delta + 1.
    pub offset_count: i32,
    /// The largest timestamp in it.
    pub max_timestamp: TimestampMs,
    /// Whether it belongs to a transaction.
    pub is_transactional: bool,
    /// What the answer carries as log append time: -1 for topics with create time.
    pub log_append_time: TimestampMs,
}

impl From<&BatchHeader> for BatchMeta {
    fn from(header: &BatchHeader) -> Self {
        Self {
            producer_id: header.producer_id,
            producer_epoch: header.producer_epoch,
            base_sequence: header.base_sequence,
            offset_count: header.last_offset_delta.saturating_add(1),
            max_timestamp: header.max_timestamp,
            is_transactional: header.attributes.is_transactional(),
            log_append_time: match header.attributes.timestamp_type() {
                TimestampType::CreateTime => TimestampMs(-1),
                TimestampType::LogAppendTime => header.max_timestamp,
            },
        }
    }
}

/// The sequence number `increment` behind another: after 2147483647 comes 0.
#[must_use]
pub fn add_to_sequence(sequence: i32, increment: i32) -> i32 {
    let sum = i64::from(sequence).saturating_add(i64::from(increment)) & i64::from(i32::MAX);
    i32::try_from(sum).unwrap_or(0)
}

/// Puts a batch at its place in a partition. The CRC does not cover it.
///
/// # Errors
/// [`BatchError::Truncated`]; nothing is changed.
pub fn set_base_offset(batch: &mut [u8], base_offset: Offset) -> Result<(), BatchError> {
    put(batch, 0, base_offset.0.to_be_bytes())
}

/// Notes the leader epoch of the append. The CRC does not cover it.
///
/// # Errors
/// [`BatchError::Truncated`]; nothing is changed.
pub fn set_leader_epoch(batch: &mut [u8], leader_epoch: i32) -> Result<(), BatchError> {
    put(batch, LEADER_EPOCH_AT, leader_epoch.to_be_bytes())
}

/// Sets timestamp type and max timestamp of a whole batch, and its CRC anew.
///
/// # Errors
/// [`BatchError`] if this is no batch; nothing is changed.
pub fn set_max_timestamp(
    batch: &mut [u8],
    timestamp_type: TimestampType,
    max_timestamp: TimestampMs,
) -> Result<(), BatchError> {
    let attributes = BatchHeader::parse(batch)?.attributes.known().with_timestamp_type(timestamp_type);
    put(batch, ATTRIBUTES_AT, attributes.0.to_be_bytes())?;
    put(batch, MAX_TIMESTAMP_AT, max_timestamp.0.to_be_bytes())?;
    set_crc(batch)
}

fn set_crc(batch: &mut [u8]) -> Result<(), BatchError> {
    let crc = crc_of(batch)?;
    put(batch, CRC_AT, crc.to_be_bytes())
}

fn crc_of(batch: &[u8]) -> Result<u32, BatchError> {
    Ok(crc32c::crc32c(batch.get(ATTRIBUTES_AT..).ok_or(BatchError::Truncated)?))
}

fn put<const N: usize>(batch: &mut [u8], at: usize, bytes: [u8; N]) -> Result<(), BatchError> {
    let place = batch.get_mut(at..).and_then(|tail| tail.first_chunk_mut::<N>()).ok_or(BatchError::Truncated)?;
    *place = bytes;
    Ok(())
}

#[cfg(test)]
mod tests;
