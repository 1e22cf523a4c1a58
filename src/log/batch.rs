//! What a log needs to know of a record batch, and walking from header to header through a file.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::error::LogError;
use crate::disk::DiskFile;
use crate::protocol::batch::{BatchError, BatchHeader};
use crate::types::{Offset, TimestampMs};

/// A batch's header, in bytes.
pub(super) const HEADER_BYTES: usize = BatchHeader::LEN;

/// How many bytes a walk reads at a time: large enough that small batches cost no system call each.
pub(super) const WALK_WINDOW_BYTES: usize = 64 * 1024;

/// Where one batch lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BatchSpan {
    /// The offset of the first record.
    pub(super) base_offset: Offset,
    /// The offset behind the last record.
    pub(super) next_offset: Offset,
    /// All of it, header included.
    pub(super) bytes: u32,
    /// The largest timestamp in it, as the header says; -1 for none.
    pub(super) max_timestamp: TimestampMs,
}

impl BatchSpan {
    /// Reads the header that `bytes` begins with. The records are not looked at.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        let header = BatchHeader::parse(bytes).map_err(|error| match error {
            BatchError::Truncated => "shorter than a batch header",
            BatchError::UnsupportedMagic(_) => "the batch's magic is not 2",
            _ => "the batch's length cannot be right",
        })?;
        let offset_count = i64::from(header.last_offset_delta) + 1;
        let next_offset = header.base_offset.0.checked_add(offset_count);
        let (Some(next_offset), 0.., 1..) = (next_offset, header.base_offset.0, offset_count) else {
            return Err("the batch's offsets cannot be right");
        };
        Ok(Self {
            base_offset: header.base_offset,
            next_offset: Offset(next_offset),
            bytes: u32::try_from(header.total_len()).map_err(|_| "the batch's length cannot be right")?,
            max_timestamp: header.max_timestamp,
        })
    }
}

/// Whether a whole batch's checksum holds.
pub(super) fn crc_is_right(batch: &[u8]) -> bool {
    BatchHeader::parse(batch).is_ok_and(|header| header.check_crc(batch).is_ok())
}

/// Walks the headers of a file's batches in order. Every step checks that the batch is where and what it must be.
pub(super) struct HeaderWalk {
    file: Arc<dyn DiskFile>,
    /// The next batch begins here.
    position: u64,
    /// And has this base offset.
    offset: Offset,
    /// No batch goes beyond this position.
    end: u64,
    window: Vec<u8>,
    window_start: u64,
    window_bytes: usize,
}

/// A walk cannot go on.
#[derive(Debug)]
pub(super) enum WalkError {
    Io(io::Error),
    /// The bytes at this place are not the batch that must be there.
    Broken {
        position: u64,
        offset: Offset,
        reason: &'static str,
    },
}

impl WalkError {
    /// Says which file it was.
    pub(super) fn in_file(self, path: &Path) -> LogError {
        match self {
            Self::Io(source) => LogError::io("read", path)(source),
            Self::Broken { position, offset, reason } => {
                LogError::Damaged { path: path.to_path_buf(), offset, position, reason }
            }
        }
    }
}

impl HeaderWalk {
    /// Starts at the batch at `position`, which has `offset`; `window_bytes` are read at a time.
    pub(super) fn new(file: Arc<dyn DiskFile>, position: u64, offset: Offset, end: u64, window_bytes: usize) -> Self {
        Self { file, position, offset, end, window: Vec::new(), window_start: 0, window_bytes }
    }

    /// The file that is walked through.
    pub(super) fn file(&self) -> &Arc<dyn DiskFile> {
        &self.file
    }

    /// Where the next batch begins.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// The next batch's base offset.
    pub(super) fn offset(&self) -> Offset {
        self.offset
    }

    /// The next batch and its position; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u64, BatchSpan)>, WalkError> {
        let position = self.position;
        if position >= self.end {
            return Ok(None);
        }
        let offset = self.offset;
        let broken = |reason| WalkError::Broken { position, offset, reason };
        let left = self.end - position;
        if left < HEADER_BYTES as u64 {
            return Err(broken("the file ends within a batch header"));
        }
        let span = BatchSpan::parse(self.header_at(position, left)?).map_err(broken)?;
        // Offsets have no gaps: the heads give them out one after the other. A changed base offset, which the
        // batch's own checksum does not cover, shows here.
        if span.base_offset != offset {
            return Err(broken("the batch has another base offset"));
        }
        if u64::from(span.bytes) > left {
            return Err(broken("the file ends within a batch"));
        }
        self.position = position + u64::from(span.bytes);
        self.offset = span.next_offset;
        Ok(Some((position, span)))
    }

    /// The bytes from `position`, at least a header of them.
    fn header_at(&mut self, position: u64, left: u64) -> Result<&[u8], WalkError> {
        let in_window = position.checked_sub(self.window_start).and_then(|at| usize::try_from(at).ok());
        let at = in_window.filter(|at| at.saturating_add(HEADER_BYTES) <= self.window.len());
        let at = if let Some(at) = at {
            at
        } else {
            let len = usize::try_from(left).unwrap_or(usize::MAX).min(self.window_bytes.max(HEADER_BYTES));
            self.window.resize(len, 0);
            self.file.read_exact_at(&mut self.window, position).map_err(WalkError::Io)?;
            self.window_start = position;
            0
        };
        Ok(self.window.get(at..).unwrap_or_default())
    }
}
