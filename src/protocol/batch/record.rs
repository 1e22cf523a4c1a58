//! One record: length, attributes, timestamp and offset deltas, key, value, headers.

use super::BatchError;
use super::varint::{Input, read_varint, read_varlong, write_varlong};
use crate::types::TimestampMs;

/// One record of a batch, cut from its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Its offset minus the batch's base offset.
    pub offset_delta: i32,
    /// Its timestamp; with `LogAppendTime` that of the append.
    pub timestamp: TimestampMs,
    /// Its key, if it has one.
    pub key: Option<&'a [u8]>,
    /// Its value; without one it is a tombstone.
    pub value: Option<&'a [u8]>,
    /// Its headers.
    pub headers: Headers<'a>,
}

/// The headers of a record, read as they are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers<'a> {
    pub(super) count: u32,
    pub(super) bytes: &'a [u8],
}

impl Headers<'_> {
    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> u32 {
        self.count
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl<'a> Iterator for Headers<'a> {
    type Item = (&'a [u8], Option<&'a [u8]>);

    fn next(&mut self) -> Option<Self::Item> {
        self.count = self.count.checked_sub(1)?;
        read_header(&mut self.bytes).ok()
    }
}

/// A record as it was walked through; `B` is what is kept of its bytes.
pub(super) struct Walked<B> {
    pub(super) timestamp_delta: i64,
    pub(super) offset_delta: i32,
    pub(super) key: Option<B>,
    pub(super) value: Option<B>,
    pub(super) header_count: u32,
    /// How many bytes the headers take; they are the record's last.
    pub(super) headers_len: usize,
}

/// Walks through one record and checks that it fills exactly the length it claims.
pub(super) fn walk<I: Input>(input: &mut I, record_bytes_max: usize) -> Result<Walked<I::Bytes>, BatchError> {
    let size = read_varint(input)?;
    let size = usize::try_from(size).map_err(|_| BatchError::MalformedRecord("a negative length"))?;
    if size > record_bytes_max {
        return Err(BatchError::RecordTooLarge { size, max: record_bytes_max });
    }
    let mut body = Body { input, left: size };
    // Bits of a record's attributes have no meaning yet; clients that set some are let through, as by Kafka.
    let _attributes = body.byte()?;
    let timestamp_delta = read_varlong(&mut body)?;
    let offset_delta = read_varint(&mut body)?;
    let key = read_nullable(&mut body)?;
    let value = read_nullable(&mut body)?;
    let header_count = read_varint(&mut body)?;
    let header_count =
        u32::try_from(header_count).map_err(|_| BatchError::MalformedRecord("a negative number of headers"))?;
    let headers_len = body.left;
    for _ in 0..header_count {
        // A header takes at least two bytes, so a lying count ends here with the record's bytes.
        read_header(&mut body)?;
    }
    if body.left > 0 {
        return Err(BatchError::MalformedRecord("bytes behind its end"));
    }
    Ok(Walked { timestamp_delta, offset_delta, key, value, header_count, headers_len })
}

fn read_header<I: Input>(input: &mut I) -> Result<(I::Bytes, Option<I::Bytes>), BatchError> {
    let key_len = read_varint(input)?;
    let key_len = usize::try_from(key_len).map_err(|_| BatchError::MalformedRecord("a header without a key"))?;
    let key = input.bytes(key_len)?;
    Ok((key, read_nullable(input)?))
}

/// Any negative length means null, as Kafka reads it.
fn read_nullable<I: Input>(input: &mut I) -> Result<Option<I::Bytes>, BatchError> {
    let len = read_varint(input)?;
    usize::try_from(len).ok().map(|len| input.bytes(len)).transpose()
}

/// The bytes of one record: reading past its claimed length is an error, whatever follows.
struct Body<'i, I> {
    input: &'i mut I,
    left: usize,
}

impl<I> Body<'_, I> {
    fn pass(&mut self, len: usize) -> Result<(), BatchError> {
        self.left = self.left.checked_sub(len).ok_or(BatchError::MalformedRecord("a field longer than its record"))?;
        Ok(())
    }
}

impl<I: Input> Input for Body<'_, I> {
    type Bytes = I::Bytes;

    fn byte(&mut self) -> Result<u8, BatchError> {
        self.pass(1)?;
        self.input.byte()
    }

    fn bytes(&mut self, len: usize) -> Result<I::Bytes, BatchError> {
        self.pass(len)?;
        self.input.bytes(len)
    }

    fn is_at_end(&mut self) -> Result<bool, BatchError> {
        Ok(self.left == 0)
    }
}

/// What a record to be written consists of.
pub(super) struct Parts<'a> {
    pub(super) timestamp_delta: i64,
    pub(super) offset_delta: i32,
    pub(super) key: Option<&'a [u8]>,
    pub(super) value: Option<&'a [u8]>,
    pub(super) headers: &'a [(&'a [u8], Option<&'a [u8]>)],
}

/// Writes one record. `scratch` is only there to be used again.
pub(super) fn write(parts: &Parts<'_>, scratch: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<(), BatchError> {
    scratch.clear();
    scratch.push(0);
    write_varlong(scratch, parts.timestamp_delta);
    write_varlong(scratch, i64::from(parts.offset_delta));
    write_nullable(scratch, parts.key)?;
    write_nullable(scratch, parts.value)?;
    write_varlong(scratch, i64::from(len_i32(parts.headers.len())?));
    for (key, value) in parts.headers {
        write_nullable(scratch, Some(key))?;
        write_nullable(scratch, *value)?;
    }
    write_varlong(out, i64::from(len_i32(scratch.len())?));
    out.extend_from_slice(scratch);
    Ok(())
}

fn write_nullable(out: &mut Vec<u8>, bytes: Option<&[u8]>) -> Result<(), BatchError> {
    let Some(bytes) = bytes else {
        write_varlong(out, -1);
        return Ok(());
    };
    write_varlong(out, i64::from(len_i32(bytes.len())?));
    out.extend_from_slice(bytes);
    Ok(())
}

fn len_i32(len: usize) -> Result<i32, BatchError> {
    i32::try_from(len).map_err(|_| BatchError::Unrepresentable("a record of more than 2 GiB"))
}
