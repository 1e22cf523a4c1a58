//! Why bytes are no record batch.

use super::Compression;
use crate::types::ErrorCode;

/// Why bytes are no record batch, or its records cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// The bytes end too early.
    #[error("the batch ends too early")]
    Truncated,
    /// The batch's length field cannot be right.
    #[error("batch length {0} is impossible")]
    BadLength(i32),
    /// Not format v2.
    #[error("magic {0} is not served; only record batch format 2 is")]
    UnsupportedMagic(i8),
    /// The CRC does not match the bytes.
    #[error("the batch carries CRC {stored:#010x}, its bytes have {computed:#010x}")]
    BadCrc {
        /// The CRC in the header.
        stored: u32,
        /// The CRC of the bytes.
        computed: u32,
    },
    /// The attributes name a codec that does not exist.
    #[error("compression codec {0} does not exist")]
    UnknownCompression(i16),
    /// The records cannot be decompressed.
    #[error("the records are not valid {}: {reason}", codec.name())]
    Decompress {
        /// The codec the batch names.
        codec: Compression,
        /// What the codec says.
        reason: String,
    },
    /// The records take more than the cap once decompressed.
    #[error("the records take more than {max} bytes when decompressed")]
    DecompressedTooLarge {
        /// The cap.
        max: usize,
    },
    /// One record takes more than its cap once decompressed.
    #[error("a record of {size} bytes is larger than {max} bytes")]
    RecordTooLarge {
        /// What the record claims.
        size: usize,
        /// The cap.
        max: usize,
    },
    /// A record is not built as records are.
    #[error("not a valid record: {0}")]
    MalformedRecord(&'static str),
    /// The batch has another number of records than its header says.
    #[error("the header counts {0} records, the batch has another number")]
    WrongCount(i32),
    /// What is to be written does not fit the format.
    #[error("a batch cannot hold this: {0}")]
    Unrepresentable(&'static str),
}

impl BatchError {
    /// The error that a client's batch of this kind is answered with.
    ///
    /// Where Kafka 4.4.0 fails with `UNKNOWN_SERVER_ERROR` (a codec that does not exist, a compressed stream that is
    /// none), the client is told what is wrong instead. All of these are final for a producer, but `MESSAGE_TOO_LARGE`:
    /// there the Java producer splits the batch and sends the halves, which is what helps here.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::BadLength(_) | Self::BadCrc { .. } => ErrorCode::CorruptMessage,
            Self::UnknownCompression(_) => ErrorCode::UnsupportedCompressionType,
            Self::DecompressedTooLarge { .. } => ErrorCode::MessageTooLarge,
            Self::Truncated
            | Self::UnsupportedMagic(_)
            | Self::Decompress { .. }
            | Self::RecordTooLarge { .. }
            | Self::MalformedRecord(_)
            | Self::WrongCount(_)
            | Self::Unrepresentable(_) => ErrorCode::InvalidRecord,
        }
    }
}
