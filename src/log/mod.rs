//! Partition logs: segments of record batches as received, with their indexes.
//!
//! [`LogWriter`] belongs to one thread: it appends what the journal makes durable, moves what readers may see, rolls
//! and drops segments. [`PartitionLog`] is what readers of any thread hold. The journal, not this room, decides what
//! is durable between checkpoints; at a checkpoint [`LogWriter::begin_checkpoint`] does. What is on disk is described
//! byte by byte in `migrations/logs.md`.
//!
//! Damage is never served: lengths and names are checked when the log opens, every batch read from a file has its
//! place in the chain of offsets and its checksum checked before it leaves. The tail in memory needs neither.

mod batch;
mod checkpoint;
mod codec;
mod error;
mod facts;
mod index;
mod lru;
mod manifest;
mod names;
mod partition;
mod read;
mod recovery;
mod segment;
mod tail;
mod timestamps;
mod writer;
mod writer_files;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

pub(crate) use checkpoint::Checkpoint;
pub(crate) use error::{LogError, ReadError};
pub(crate) use facts::{Largest, SegmentFacts};
pub(crate) use partition::{Bounds, PartitionLog};
pub(crate) use read::{ReadBatches, ReadLimit};
pub(crate) use recovery::{FolderFate, RecoveredHead};
pub(crate) use timestamps::TimestampOffset;
pub(crate) use writer::{LogWriter, SegmentSettings};

use crate::disk::{Disk, DiskFile};
use crate::types::{Offset, TopicPartition};
use index::IndexEntry;
use lru::Lru;

/// Where the logs lie and how much they may hold open.
#[derive(Clone)]
pub(crate) struct LogOptions {
    /// The files' disk.
    pub(crate) disk: Arc<dyn Disk>,
    /// The folder of all partitions' folders.
    pub(crate) dir: PathBuf,
    /// How many files may be open at a time; readers and the writer get half each.
    pub(crate) open_files_max: usize,
    /// The newest batches of all partitions stay in memory up to this size, so that who reads along touches no file.
    pub(crate) tail_bytes_max: usize,
    /// Loaded indexes of closed segments stay in memory up to this size.
    pub(crate) index_bytes_max: usize,
}

impl LogOptions {
    /// The usual limits.
    pub(crate) fn new(disk: Arc<dyn Disk>, dir: PathBuf) -> Self {
        const MIB: usize = 1024 * 1024;
        Self { disk, dir, open_files_max: 512, tail_bytes_max: 24 * MIB, index_bytes_max: 16 * MIB }
    }
}

/// All partition logs, for readers.
pub(crate) struct Logs {
    shared: Arc<Shared>,
    partitions: RwLock<BTreeMap<TopicPartition, Arc<PartitionLog>>>,
}

/// What all logs share.
struct Shared {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    /// Files that readers hold open.
    files: Lru<Arc<dyn DiskFile>>,
    /// Indexes of closed segments.
    indexes: Lru<Arc<[IndexEntry]>>,
}

impl Logs {
    /// The log of a partition; `None` if nothing was ever stored and nobody asked for it.
    pub(crate) fn get(&self, partition: TopicPartition) -> Option<Arc<PartitionLog>> {
        read(&self.partitions).get(&partition).cloned()
    }

    /// The log of a partition that the catalogue has, an empty one if nothing was ever stored: something to wait on.
    pub(crate) fn get_or_empty(&self, partition: TopicPartition) -> Arc<PartitionLog> {
        if let Some(log) = self.get(partition) {
            return log;
        }
        let mut partitions = write(&self.partitions);
        let log = partitions.entry(partition);
        Arc::clone(log.or_insert_with(|| Arc::new(PartitionLog::empty(partition, Arc::clone(&self.shared)))))
    }

    /// Lets readers see everything below `high_watermark`, which must be durable and written.
    pub(crate) fn publish(&self, partition: TopicPartition, high_watermark: Offset) {
        if let Some(log) = self.get(partition) {
            log.set_high_watermark(high_watermark);
        }
    }

    /// Hides everything below `offset` from readers, which must be durable. The writer drops the segments later.
    pub(crate) fn raise_log_start(&self, partition: TopicPartition, offset: Offset) {
        if let Some(log) = self.get(partition) {
            log.raise_log_start(offset);
        }
    }
}

// A thread that panicked while it held one of these locks left no half-done change behind: each critical section
// makes a single change. So poison is of no interest.

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
