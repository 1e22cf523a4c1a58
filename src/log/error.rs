//! What can go wrong in a partition log: for the process ([`LogError`]) and for one read ([`ReadError`]).

use std::io;
use std::path::{Path, PathBuf};

use super::Bounds;
use crate::types::{ErrorCode, Offset, TopicPartition};

/// A log cannot be opened, written or trusted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LogError {
    /// The operating system refused.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    /// Bytes that were durable are gone or changed.
    #[error(
        "partition log {} is damaged at offset {offset} (byte {position}): {reason}. Nothing was changed and nothing \
         from there on is served; put the file or folder back as it was, for instance from a backup, and start again",
        path.display()
    )]
    Damaged { path: PathBuf, offset: Offset, position: u64, reason: &'static str },
    /// The caller's batch does not follow the last one.
    #[error("{partition:?}: a batch for offset {got} came where {expected} is next")]
    OutOfOrder { partition: TopicPartition, expected: Offset, got: Offset },
    /// The caller's bytes are not one record batch.
    #[error("{partition:?}: not a record batch: {reason}")]
    InvalidBatch { partition: TopicPartition, reason: &'static str },
}

impl LogError {
    /// For `map_err`: says what was being done to which file.
    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { doing, path, source }
    }

    /// Whether the file was not there.
    pub(super) fn is_not_found(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// A read gives nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    /// The offset is below the log start or above the high watermark.
    #[error("offset is outside {0:?}")]
    OffsetOutOfRange(Bounds),
    /// The topic was deleted meanwhile.
    #[error("the topic was deleted")]
    Deleted,
    /// The log itself failed; what it has is not served.
    #[error(transparent)]
    Log(#[from] LogError),
}

impl ReadError {
    /// What a client is told.
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::OffsetOutOfRange(_) => ErrorCode::OffsetOutOfRange,
            Self::Deleted => ErrorCode::UnknownTopicOrPartition,
            Self::Log(_) => ErrorCode::KafkaStorageError,
        }
    }
}
