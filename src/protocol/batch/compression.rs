//! The codecs of record batches.
//!
//! Decompressors stream: what they hold is a window or a block, not the output, and the output is counted by whoever
//! reads it. zstd windows are limited to 128 MiB, what its highest level uses; their pages are taken as output comes.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};

use super::{BatchError, lz4, snappy};

/// A codec of record batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Records as they are.
    #[default]
    None,
    /// gzip.
    Gzip,
    /// snappy: written in the frames of Java's snappy library, read with or without them.
    Snappy,
    /// The lz4 frame format, blocks independent.
    Lz4,
    /// zstd.
    Zstd,
}

const ZSTD_WINDOW_LOG_MAX: u32 = 27;

impl Compression {
    /// All of them, in order of number.
    pub const ALL: [Self; 5] = [Self::None, Self::Gzip, Self::Snappy, Self::Lz4, Self::Zstd];

    /// The number in a batch's attributes.
    #[must_use]
    pub const fn id(self) -> i16 {
        match self {
            Self::None => 0,
            Self::Gzip => 1,
            Self::Snappy => 2,
            Self::Lz4 => 3,
            Self::Zstd => 4,
        }
    }

    /// The codec of this number.
    #[must_use]
    pub fn from_id(id: i16) -> Option<Self> {
        Self::ALL.into_iter().find(|codec| codec.id() == id)
    }

    /// Its name in clients' settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Snappy => "snappy",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }

    /// What a topic's `compression.type` asks for; `None` for `producer`, which keeps each batch's own codec.
    #[must_use]
    pub fn of_topic(compression_type: &str) -> Option<Self> {
        if compression_type == "uncompressed" {
            return Some(Self::None);
        }
        Self::ALL.into_iter().find(|codec| !codec.is_none() && codec.name() == compression_type)
    }

    /// Whether records stay as they are.
    #[must_use]
    pub const fn is_none(self) -> bool {
        matches!(self, Self::None)
    }

    /// Decompresses `payload`. Memory grows with what comes out; more than `max` bytes are refused.
    pub(super) fn decompress(self, payload: &[u8], max: usize) -> Result<Cow<'_, [u8]>, BatchError> {
        if self.is_none() {
            return Ok(Cow::Borrowed(payload));
        }
        let mut records = Vec::new();
        let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
        self.reader(payload, max)?.take(limit).read_to_end(&mut records).map_err(|error| self.error(&error, max))?;
        if records.len() > max {
            return Err(BatchError::DecompressedTooLarge { max });
        }
        Ok(Cow::Owned(records))
    }

    /// A reader of what `payload` holds. No single buffer of it is larger than `max`; the whole may be.
    pub(super) fn reader(self, payload: &[u8], max: usize) -> Result<Box<dyn BufRead + '_>, BatchError> {
        let failed = |error: io::Error| self.error(&error, max);
        Ok(match self {
            Self::None => Box::new(payload),
            Self::Gzip => Box::new(BufReader::new(flate2::bufread::MultiGzDecoder::new(payload))),
            Self::Snappy => Box::new(snappy::Reader::new(payload, max).map_err(failed)?),
            Self::Lz4 => Box::new(lz4::Reader::new(payload).map_err(failed)?),
            Self::Zstd => Box::new(zstd_reader(payload).map_err(failed)?),
        })
    }

    /// Compresses all of `records`. More than `max` bytes of output are an error, before they are held.
    pub(super) fn compress(self, records: &mut dyn BufRead, max: usize) -> io::Result<Vec<u8>> {
        let mut out = Bounded { bytes: Vec::new(), max };
        match self {
            Self::None => io::copy(records, &mut out).map(drop)?,
            Self::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(&mut out, flate2::Compression::default());
                io::copy(records, &mut encoder)?;
                encoder.finish().map(drop)?;
            }
            Self::Snappy => snappy::compress(records, &mut out)?,
            Self::Lz4 => lz4::compress(records, &mut out)?,
            Self::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(&mut out, zstd::DEFAULT_COMPRESSION_LEVEL)?;
                io::copy(records, &mut encoder)?;
                encoder.finish().map(drop)?;
            }
        }
        Ok(out.bytes)
    }

    /// What a failed read of this codec means.
    pub(super) fn error(self, error: &io::Error, max: usize) -> BatchError {
        if error.kind() == ErrorKind::FileTooLarge {
            return BatchError::DecompressedTooLarge { max };
        }
        BatchError::Decompress { codec: self, reason: error.to_string() }
    }
}

fn zstd_reader(payload: &[u8]) -> io::Result<BufReader<zstd::stream::read::Decoder<'_, &[u8]>>> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(payload)?;
    decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
    Ok(BufReader::new(decoder))
}

/// Output that may only grow to `max` bytes.
struct Bounded {
    bytes: Vec<u8>,
    max: usize,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.max.saturating_sub(self.bytes.len()) {
            return Err(ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_codec_gives_back_what_went_in() {
        for codec in Compression::ALL {
            for input in [Vec::new(), b"x".to_vec(), b"streamkeeper ".repeat(20_000)] {
                let payload = codec.compress(&mut &*input, usize::MAX).unwrap();
                let output = codec.decompress(&payload, input.len());
                if input.is_empty() && output.is_err() {
                    continue; // An empty batch has no payload at all.
                }
                assert_eq!(output.unwrap(), input, "{}", codec.name());
            }
        }
    }

    #[test]
    fn output_beyond_the_limit_is_refused_in_both_directions() {
        for codec in Compression::ALL {
            let input: Vec<u8> =
                (0..40_000u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
            assert!(codec.compress(&mut &*input, 100).is_err(), "{}", codec.name());
            let payload = codec.compress(&mut &*input, usize::MAX).unwrap();
            if !codec.is_none() {
                assert_eq!(
                    codec.decompress(&payload, input.len() - 1),
                    Err(BatchError::DecompressedTooLarge { max: input.len() - 1 }),
                    "{}",
                    codec.name()
                );
            }
        }
    }

    #[test]
    fn zstd_windows_have_a_bound() {
        for (window_log, is_fine) in [(27, true), (28, false)] {
            let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
            encoder.window_log(window_log).unwrap();
            encoder.write_all(b"x").unwrap();
            let payload = encoder.finish().unwrap();
            assert_eq!(Compression::Zstd.decompress(&payload, 10).is_ok(), is_fine, "2^{window_log} bytes");
        }
    }

    #[test]
    fn numbers_and_names_are_kafkas() {
        let names: Vec<_> = (0..8).map(|id| Compression::from_id(id).map(Compression::name)).collect();
        assert_eq!(names, [Some("none"), Some("gzip"), Some("snappy"), Some("lz4"), Some("zstd"), None, None, None]);
        assert_eq!(Compression::of_topic("producer"), None);
        assert_eq!(Compression::of_topic("uncompressed"), Some(Compression::None));
        assert_eq!(Compression::of_topic("zstd"), Some(Compression::Zstd));
    }
}
