//! The lz4 frame format, within the bounds that Kafka's Java reader sets (`Lz4BlockInputStream`).
//!
//! What is stored here must be readable by every consumer, so a frame that ours could read but Java's cannot (blocks
//! that build on each other, a dictionary, the legacy format, no end mark) is refused before anything is decompressed.
//! Like there, one frame is read and what follows it is left alone.

use std::io::{self, BufRead, ErrorKind, Read, Write};

use bytes::Buf;
use lz4_flex::frame::{BlockMode, BlockSize, FrameDecoder, FrameEncoder, FrameInfo};

const MAGIC: u32 = 0x184d_2204;
const VERSION_MASK: u8 = 0b1100_0000;
const VERSION: u8 = 0b0100_0000;
const INDEPENDENT_BLOCKS: u8 = 0b0010_0000;
const BLOCK_CHECKSUMS: u8 = 0b0001_0000;
const CONTENT_SIZE: u8 = 0b0000_1000;
const CONTENT_CHECKSUM: u8 = 0b0000_0100;
const DICTIONARY: u8 = 0b0000_0001;
const NOT_COMPRESSED: u32 = 0x8000_0000;

/// Decompresses block by block; a block is 4 MiB at most.
pub(super) struct Reader<'a> {
    decoder: FrameDecoder<&'a [u8]>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(payload: &'a [u8]) -> io::Result<Self> {
        let mut rest = payload;
        pass_frame(&mut rest).ok_or_else(|| invalid("not a whole frame of independent blocks"))?;
        let frame = payload.get(..payload.len() - rest.len()).unwrap_or_default();
        Ok(Self { decoder: FrameDecoder::new(frame) })
    }
}

/// Passes one frame by the lengths of its blocks. `None` if it is not whole or not of the kind that is read.
fn pass_frame(rest: &mut &[u8]) -> Option<()> {
    if rest.try_get_u32_le().ok()? != MAGIC {
        return None;
    }
    let flags = rest.try_get_u8().ok()?;
    let _block_size = rest.try_get_u8().ok()?;
    if flags & VERSION_MASK != VERSION || flags & INDEPENDENT_BLOCKS == 0 || flags & DICTIONARY != 0 {
        return None;
    }
    let header_checksum_len = 1;
    pass(rest, if flags & CONTENT_SIZE == 0 { 0 } else { 8 } + header_checksum_len)?;
    loop {
        let len = rest.try_get_u32_le().ok()?;
        if len == 0 {
            break;
        }
        pass(rest, usize::try_from(len & !NOT_COMPRESSED).ok()?)?;
        pass(rest, if flags & BLOCK_CHECKSUMS == 0 { 0 } else { 4 })?;
    }
    pass(rest, if flags & CONTENT_CHECKSUM == 0 { 0 } else { 4 })
}

fn pass(rest: &mut &[u8], len: usize) -> Option<()> {
    *rest = rest.get(len..)?;
    Some(())
}

impl BufRead for Reader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.decoder.fill_buf()?.is_empty() && !self.decoder.get_ref().is_empty() {
            // The decoder takes a block without content for the end of the frame.
            return Err(invalid("a block without content"));
        }
        self.decoder.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.decoder.consume(amount);
    }
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

/// Writes one frame of independent blocks of 64 KiB, as Java's client does.
pub(super) fn compress(records: &mut dyn BufRead, out: &mut dyn Write) -> io::Result<()> {
    let frame = FrameInfo::new().block_size(BlockSize::Max64KB).block_mode(BlockMode::Independent);
    let mut encoder = FrameEncoder::with_frame_info(frame, out);
    io::copy(records, &mut encoder)?;
    encoder.finish()?;
    Ok(())
}

fn invalid(reason: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decompress(payload: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        Reader::new(payload)?.read_to_end(&mut out)?;
        Ok(out)
    }

    fn frame_of(info: FrameInfo, records: &[u8]) -> Vec<u8> {
        let mut encoder = FrameEncoder::with_frame_info(info.block_size(BlockSize::Max64KB), Vec::new());
        encoder.write_all(records).unwrap();
        encoder.finish().unwrap()
    }

    fn independent() -> FrameInfo {
        FrameInfo::new().block_mode(BlockMode::Independent)
    }

    #[test]
    fn checksums_and_content_sizes_of_other_clients_are_fine() {
        let records = b"sarama and friends ".repeat(9000);
        for info in [
            independent(),
            independent().block_checksums(true),
            independent().content_checksum(true),
            independent().content_size(Some(u64::try_from(records.len()).unwrap())).block_checksums(true),
        ] {
            assert_eq!(decompress(&frame_of(info, &records)).unwrap(), records);
        }
    }

    #[test]
    fn frames_that_javas_reader_refuses_are_refused() {
        let records = b"0123456789".repeat(10_000);
        assert!(decompress(&frame_of(FrameInfo::new().block_mode(BlockMode::Linked), &records)).is_err(), "linked");
        let legacy = frame_of(independent().legacy_frame(true), b"x");
        assert!(decompress(&legacy).is_ok(), "the encoder ignores the wish for the legacy format");
        let mut legacy = legacy;
        legacy[..4].copy_from_slice(&0x184c_2102_u32.to_le_bytes());
        assert!(decompress(&legacy).is_err(), "legacy");
        let frame = frame_of(independent(), &records);
        for cut in 0..frame.len() {
            assert!(decompress(&frame[..cut]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn what_follows_the_frame_is_left_alone() {
        let mut payload = frame_of(independent(), b"first");
        payload.extend(frame_of(independent(), b"second"));
        assert_eq!(decompress(&payload).unwrap(), b"first");
        payload.extend(b"xyz");
        assert_eq!(decompress(&payload).unwrap(), b"first");
    }

    #[test]
    fn a_block_without_content_does_not_hide_those_behind_it() {
        let frame = frame_of(independent(), b"secret");
        let header_len = 7;
        for empty in [&[0x00, 0x00, 0x00, 0x80][..], &[0x01, 0x00, 0x00, 0x00, 0x00][..]] {
            let mut payload = frame[..header_len].to_vec();
            payload.extend(empty);
            payload.extend(&frame[header_len..]);
            assert!(decompress(&payload).is_err());
        }
    }
}
