//! Kafka's variable-length integers (zigzag, seven bits a byte), and where record bytes come from.

use std::io::BufRead;

use super::{BatchError, Compression};

/// Bytes of records, from a slice or from a decompressor.
pub(super) trait Input {
    /// What is left of bytes that were passed: a slice, or nothing when they are not kept.
    type Bytes;

    /// The next byte.
    fn byte(&mut self) -> Result<u8, BatchError>;

    /// Passes `len` bytes.
    fn bytes(&mut self, len: usize) -> Result<Self::Bytes, BatchError>;

    /// Whether nothing is left.
    fn is_at_end(&mut self) -> Result<bool, BatchError>;
}

impl<'a> Input for &'a [u8] {
    type Bytes = &'a [u8];

    fn byte(&mut self) -> Result<u8, BatchError> {
        let (first, rest) = self.split_first().ok_or(BatchError::Truncated)?;
        *self = rest;
        Ok(*first)
    }

    fn bytes(&mut self, len: usize) -> Result<&'a [u8], BatchError> {
        let (taken, rest) = self.split_at_checked(len).ok_or(BatchError::Truncated)?;
        *self = rest;
        Ok(taken)
    }

    fn is_at_end(&mut self) -> Result<bool, BatchError> {
        Ok(self.is_empty())
    }
}

/// A decompressor whose output is looked at once and not kept; more than `max` bytes of it are an error.
pub(super) struct Stream<'a> {
    reader: Box<dyn BufRead + 'a>,
    codec: Compression,
    max: usize,
    left: usize,
}

impl<'a> Stream<'a> {
    pub(super) fn new(codec: Compression, payload: &'a [u8], max: usize) -> Result<Self, BatchError> {
        Ok(Self { reader: codec.reader(payload, max)?, codec, max, left: max })
    }

    fn fill(&mut self) -> Result<&[u8], BatchError> {
        let (codec, max) = (self.codec, self.max);
        self.reader.fill_buf().map_err(|error| codec.error(&error, max))
    }

    fn pass(&mut self, len: usize) -> Result<(), BatchError> {
        self.left = self.left.checked_sub(len).ok_or(BatchError::DecompressedTooLarge { max: self.max })?;
        self.reader.consume(len);
        Ok(())
    }
}

impl Input for Stream<'_> {
    type Bytes = ();

    fn byte(&mut self) -> Result<u8, BatchError> {
        let byte = *self.fill()?.first().ok_or(BatchError::Truncated)?;
        self.pass(1)?;
        Ok(byte)
    }

    fn bytes(&mut self, mut len: usize) -> Result<(), BatchError> {
        while len > 0 {
            let ready = self.fill()?.len().min(len);
            if ready == 0 {
                return Err(BatchError::Truncated);
            }
            self.pass(ready)?;
            len -= ready;
        }
        Ok(())
    }

    fn is_at_end(&mut self) -> Result<bool, BatchError> {
        Ok(self.fill()?.is_empty())
    }
}

/// Reads an i32. As in Kafka, five bytes at most, and bits that do not fit are dropped.
pub(super) fn read_varint(input: &mut impl Input) -> Result<i32, BatchError> {
    let mut bits = 0u32;
    for shift in (0..32).step_by(7) {
        let byte = input.byte()?;
        bits |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok((bits >> 1).cast_signed() ^ -((bits & 1).cast_signed()));
        }
    }
    Err(BatchError::MalformedRecord("a varint of more than five bytes"))
}

/// Reads an i64: ten bytes at most.
pub(super) fn read_varlong(input: &mut impl Input) -> Result<i64, BatchError> {
    let mut bits = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = input.byte()?;
        bits |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok((bits >> 1).cast_signed() ^ -((bits & 1).cast_signed()));
        }
    }
    Err(BatchError::MalformedRecord("a varlong of more than ten bytes"))
}

/// Writes an i32 or i64; both have the same form.
pub(super) fn write_varlong(out: &mut Vec<u8>, value: i64) {
    let mut bits = ((value << 1) ^ (value >> 63)).cast_unsigned();
    while bits >= 0x80 {
        out.push(u8::try_from(bits & 0x7f).unwrap_or(0) | 0x80);
        bits >>= 7;
    }
    out.push(u8::try_from(bits).unwrap_or(0));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: i64) -> Vec<u8> {
        let mut out = Vec::new();
        write_varlong(&mut out, value);
        out
    }

    #[test]
    fn small_numbers_of_either_sign_take_one_byte() {
        assert_eq!(written(0), [0x00]);
        assert_eq!(written(-1), [0x01]);
        assert_eq!(written(1), [0x02]);
        assert_eq!(written(63), [0x7e]);
        assert_eq!(written(-64), [0x7f]);
        assert_eq!(written(64), [0x80, 0x01]);
        assert_eq!(written(i64::from(i32::MAX)), [0xfe, 0xff, 0xff, 0xff, 0x0f]);
        assert_eq!(written(i64::from(i32::MIN)), [0xff, 0xff, 0xff, 0xff, 0x0f]);
        assert_eq!(written(i64::MIN), [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
    }

    #[test]
    fn what_is_written_is_read() {
        for value in [0, 1, -1, 300, -300, i32::MAX, i32::MIN] {
            assert_eq!(read_varint(&mut &*written(i64::from(value))), Ok(value));
        }
        for value in [0, -7, 1 << 40, i64::MAX, i64::MIN] {
            assert_eq!(read_varlong(&mut &*written(value)), Ok(value));
        }
    }

    #[test]
    fn long_and_cut_numbers_are_read_as_kafka_reads_them() {
        // Observed with Kafka 4.4.0: needless bytes and bits beyond the 32nd pass, a sixth byte does not.
        assert_eq!(read_varint(&mut &[0x82, 0x80, 0x80, 0x80, 0x00][..]), Ok(1));
        assert_eq!(read_varint(&mut &[0x80, 0x80, 0x80, 0x80, 0x10][..]), Ok(0));
        assert!(read_varint(&mut &[0xff; 11][..]).is_err());
        assert!(read_varlong(&mut &[0xff; 11][..]).is_err());
        assert_eq!(read_varint(&mut &[0x80][..]), Err(BatchError::Truncated));
    }
}
