//! The journal: what makes an answer true after a crash. One frame a round, one fsync.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;

use crate::disk::Disk;
use crate::types::{Lsn, TopicPartition};

/// One change in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// A key of the state store has this value now.
    Put { key: Bytes, value: Bytes },
    /// A key of the state store is gone.
    Delete { key: Bytes },
    /// All keys with this prefix are gone.
    DeletePrefix { prefix: Bytes },
    /// A record batch at its place in a partition.
    Append { partition: TopicPartition, base_offset: i64, batch: Bytes },
}

/// What one decision changes: all of it or nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its place in the one order of all changes; each entry has the next.
    pub(crate) lsn: Lsn,
    /// Its changes, in order.
    pub(crate) items: Vec<Item>,
}

/// Where the journal lies and how it behaves.
#[derive(Clone)]
pub(crate) struct Options {
    /// The files' disk.
    pub(crate) disk: Arc<dyn Disk>,
    /// Their folder.
    pub(crate) dir: PathBuf,
    /// A file is full at this size.
    pub(crate) file_bytes: u64,
}
