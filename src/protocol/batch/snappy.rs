//! snappy, as Kafka's clients write it: Java's in frames of its snappy library, librdkafka's as one bare block.
//!
//! A frame: 0x82 `SNAPPY` 0x00, version i32, lowest compatible version i32, then blocks of length i32 and bytes. A bare
//! block cannot begin like that: read as one, the first element would point before the block's start.

use std::io::{self, BufRead, ErrorKind, Read, Write};

use bytes::Buf;

const MAGIC: &[u8; 8] = b"\x82SNAPPY\0";
const VERSION: i32 = 1;
const BLOCK_BYTES: u64 = 32 * 1024;

/// The most that one byte of a snappy block can become: the element of 3 bytes that copies 64.
const EXPANSION_MAX: usize = 22;

/// Decompresses block by block.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    is_framed: bool,
    block: Vec<u8>,
    read: usize,
    block_bytes_max: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(payload: &'a [u8], block_bytes_max: usize) -> io::Result<Self> {
        let mut rest = payload.strip_prefix(MAGIC).unwrap_or(payload);
        let is_framed = rest.len() < payload.len();
        if is_framed {
            let version = rest.try_get_i32().map_err(|_| invalid("a frame header cut short"))?;
            rest.try_get_i32().map_err(|_| invalid("a frame header cut short"))?;
            if version < VERSION {
                return Err(invalid("an unknown frame version"));
            }
        }
        Ok(Self { rest, is_framed, block: Vec::new(), read: 0, block_bytes_max })
    }

    fn next_block(&mut self) -> io::Result<()> {
        let len = if self.is_framed {
            let len = self.rest.try_get_i32().map_err(|_| invalid("a block cut short"))?;
            usize::try_from(len).map_err(|_| invalid("a negative block length"))?
        } else {
            self.rest.len()
        };
        let (compressed, rest) = self.rest.split_at_checked(len).ok_or_else(|| invalid("a block cut short"))?;
        self.rest = rest;
        // The block says itself how large it becomes; the decoder allocates that at once.
        let claimed = snap::raw::decompress_len(compressed)?;
        if claimed > compressed.len().saturating_mul(EXPANSION_MAX) {
            return Err(invalid("a block that claims more than it can hold"));
        }
        if claimed > self.block_bytes_max {
            return Err(ErrorKind::FileTooLarge.into());
        }
        self.block = snap::raw::Decoder::new().decompress_vec(compressed)?;
        self.read = 0;
        Ok(())
    }
}

impl BufRead for Reader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.read >= self.block.len() && !self.rest.is_empty() {
            self.next_block()?;
        }
        Ok(self.block.get(self.read..).unwrap_or_default())
    }

    fn consume(&mut self, amount: usize) {
        self.read = self.read.saturating_add(amount);
    }
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

/// Writes frames as Java's library does.
pub(super) fn compress(records: &mut dyn BufRead, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(MAGIC)?;
    out.write_all(&VERSION.to_be_bytes())?;
    out.write_all(&VERSION.to_be_bytes())?;
    let mut encoder = snap::raw::Encoder::new();
    let mut block = Vec::new();
    loop {
        block.clear();
        records.take(BLOCK_BYTES).read_to_end(&mut block)?;
        if block.is_empty() {
            return Ok(());
        }
        let compressed = encoder.compress_vec(&block)?;
        let len = i32::try_from(compressed.len()).map_err(|_| io::Error::from(ErrorKind::FileTooLarge))?;
        out.write_all(&len.to_be_bytes())?;
        out.write_all(&compressed)?;
    }
}

fn invalid(reason: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decompress(payload: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        Reader::new(payload, 1 << 20)?.read_to_end(&mut out)?;
        Ok(out)
    }

    #[test]
    fn a_bare_block_is_read_too() {
        let records = b"librdkafka ".repeat(1000);
        let block = snap::raw::Encoder::new().compress_vec(&records).unwrap();
        assert_eq!(decompress(&block).unwrap(), records);
    }

    #[test]
    fn a_block_that_claims_gigabytes_allocates_nothing() {
        // 4 GiB - 1 as the length, then one literal byte.
        let block = [0xff, 0xff, 0xff, 0xff, 0x0f, 0x00, b'x'];
        assert_eq!(decompress(&block).unwrap_err().kind(), ErrorKind::InvalidData);
        // Within what a block can hold, but not within what is wanted of it.
        let block = snap::raw::Encoder::new().compress_vec(&vec![0; (1 << 20) + 1]).unwrap();
        assert_eq!(decompress(&block).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }

    #[test]
    fn lying_frames_are_refused() {
        let mut frame = Vec::new();
        compress(&mut &b"hello hello hello"[..], &mut frame).unwrap();
        assert_eq!(decompress(&frame).unwrap(), b"hello hello hello");
        for cut in 1..frame.len() {
            // Cut right behind the header it is a frame without blocks.
            let cut_frame = frame.get(..cut).unwrap();
            assert!(cut == 16 || decompress(cut_frame).is_err(), "cut at {cut}");
        }
        let mut negative = frame.clone();
        negative[16] = 0xff;
        assert!(decompress(&negative).is_err());
        let mut old_version = frame;
        old_version[11] = 0;
        assert!(decompress(&old_version).is_err());
    }
}
