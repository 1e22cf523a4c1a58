//! Tests of the partition logs; here is what they share.

mod checkpoint;
mod concurrent;
mod damage;
mod model;
mod reading;
mod recovery;
mod timestamps;
mod writing;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

use super::*;
use crate::disk::sim::SimDisk;
use crate::disk::{DirEntry, Open};
use crate::protocol::batch::{BatchBuilder, BatchHeader, NewRecord};
use crate::types::{Lsn, Offset, TimestampMs, TopicId};

pub(super) const ROOT: &str = "/logs";

pub(super) const SETTINGS: SegmentSettings =
    SegmentSettings { segment_bytes: 1_000_000, segment_ms: 1_000_000, index_interval_bytes: 300 };

pub(super) fn topic(number: u8) -> TopicId {
    TopicId::from_bytes([number; 16])
}

pub(super) fn partition(number: i32) -> TopicPartition {
    TopicPartition { topic_id: topic(1), partition: number }
}

/// A batch with one record per timestamp; each value has so many bytes.
pub(super) fn batch(base_offset: i64, timestamps: &[i64], value_bytes: usize) -> Bytes {
    let value = vec![b'v'; value_bytes];
    let mut builder = BatchBuilder::new().at(Offset(base_offset), 0);
    for timestamp in timestamps {
        let record = NewRecord { timestamp: TimestampMs(*timestamp), value: Some(&value), ..NewRecord::default() };
        builder.push(&record).unwrap();
    }
    builder.build().unwrap().freeze()
}

/// The base offsets of the batches that a read gave, each checked to be whole and right.
pub(super) fn base_offsets(mut bytes: &[u8]) -> Vec<i64> {
    let mut offsets = Vec::new();
    while !bytes.is_empty() {
        let header = BatchHeader::parse(bytes).unwrap();
        header.check_crc(bytes).unwrap();
        offsets.push(header.base_offset.0);
        bytes = &bytes[header.total_len()..];
    }
    offsets
}

/// Logs on a disk of their own, with what a runtime would know of them.
pub(super) struct Bench {
    pub(super) disk: SimDisk,
    pub(super) options: LogOptions,
    pub(super) writer: LogWriter,
    pub(super) logs: Arc<Logs>,
    pub(super) settings: SegmentSettings,
    pub(super) lsn: Lsn,
}

impl Bench {
    pub(super) fn new() -> Self {
        Self::open_all(SimDisk::new(), Lsn(0), &[]).unwrap()
    }

    /// Nothing stays in memory, so that every read goes to the files.
    pub(super) fn without_tail() -> Self {
        let mut bench = Self::new();
        bench.options.tail_bytes_max = 0;
        bench.reopen(&[]).unwrap();
        bench
    }

    /// Opens what is on a disk. All partitions are live.
    pub(super) fn open_all(disk: SimDisk, lsn: Lsn, heads: &[RecoveredHead]) -> Result<Self, LogError> {
        let options = LogOptions::new(Arc::new(disk.clone()), PathBuf::from(ROOT));
        let (writer, logs) = LogWriter::open(&options, lsn, heads.iter().copied(), &|_| FolderFate::Live)?;
        Ok(Self { disk, options, writer, logs, settings: SETTINGS, lsn })
    }

    /// The process was killed and starts again; the store has these heads.
    pub(super) fn reopen(&mut self, heads: &[RecoveredHead]) -> Result<(), LogError> {
        let disk = self.disk.process_kill();
        self.options.disk = Arc::new(disk.clone());
        let heads = heads.iter().copied();
        (self.writer, self.logs) = LogWriter::open(&self.options, self.lsn, heads, &|_| FolderFate::Live)?;
        self.disk = disk;
        Ok(())
    }

    pub(super) fn append(&mut self, partition: TopicPartition, batch: &Bytes) {
        let base_offset = BatchHeader::parse(batch).unwrap().base_offset;
        self.writer.append(partition, base_offset, batch, &self.settings, TimestampMs(0)).unwrap();
    }

    /// Appends a batch of so many records at the end and lets readers see it.
    pub(super) fn write(&mut self, partition: TopicPartition, records: usize) {
        let base = self.writer.next_offset(partition);
        let timestamps: Vec<_> = (0..records).map(|place| 1000 + base.0 + i64::try_from(place).unwrap()).collect();
        self.append(partition, &batch(base.0, &timestamps, 20));
        self.publish(partition);
    }

    pub(super) fn publish(&mut self, partition: TopicPartition) {
        self.writer.publish(partition, self.writer.next_offset(partition));
    }

    pub(super) fn sync(&mut self) {
        self.lsn = self.lsn.next();
        self.writer.sync(self.lsn).unwrap();
    }

    pub(super) fn log(&self, partition: TopicPartition) -> Arc<PartitionLog> {
        self.logs.get(partition).unwrap()
    }

    /// The base offsets of what one read gives.
    pub(super) fn read(&self, partition: TopicPartition, offset: i64, max_bytes: usize) -> Vec<i64> {
        let found = self.log(partition).read(Offset(offset), at_least_one(max_bytes), Offset(i64::MAX)).unwrap();
        base_offsets(&found.bytes)
    }

    /// The base offsets of all batches from an offset on, however many reads it takes.
    pub(super) fn read_all(&self, partition: TopicPartition, offset: i64) -> Vec<i64> {
        let log = self.log(partition);
        let mut offset = Offset(offset);
        let mut offsets = Vec::new();
        loop {
            let found = log.read(offset, at_least_one(4000), Offset(i64::MAX)).unwrap();
            if found.bytes.is_empty() {
                return offsets;
            }
            offsets.extend(base_offsets(&found.bytes));
            offset = found.next_offset;
        }
    }

    /// The names of the files in a partition's folder.
    pub(super) fn files(&self, partition: TopicPartition) -> Vec<String> {
        let dir = Path::new(ROOT).join(names::folder_name(partition));
        self.disk.list(&dir).unwrap_or_default().into_iter().map(|entry| entry.name).collect()
    }
}

pub(super) fn at_least_one(max_bytes: usize) -> ReadLimit {
    ReadLimit { max_bytes, at_least_one: true }
}

pub(super) fn head(partition: TopicPartition, next_offset: i64, log_start: i64) -> RecoveredHead {
    RecoveredHead { partition, next_offset: Offset(next_offset), log_start: Offset(log_start) }
}

pub(super) fn log_path(partition: TopicPartition, base_offset: i64) -> PathBuf {
    names::file_path(&Path::new(ROOT).join(names::folder_name(partition)), Offset(base_offset), names::FileKind::Log)
}

pub(super) fn index_path(partition: TopicPartition, base_offset: i64) -> PathBuf {
    names::file_path(&Path::new(ROOT).join(names::folder_name(partition)), Offset(base_offset), names::FileKind::Index)
}

/// A disk that counts what it is asked for.
pub(super) struct CountingDisk {
    inner: SimDisk,
    pub(super) opens: AtomicUsize,
    pub(super) lists: AtomicUsize,
    pub(super) syncs: Arc<AtomicUsize>,
    pub(super) open_now: Arc<AtomicUsize>,
    pub(super) open_most: AtomicUsize,
}

struct CountingFile {
    inner: Arc<dyn DiskFile>,
    syncs: Arc<AtomicUsize>,
    open_now: Arc<AtomicUsize>,
}

impl CountingDisk {
    pub(super) fn new(inner: SimDisk) -> Self {
        Self {
            inner,
            opens: AtomicUsize::default(),
            lists: AtomicUsize::default(),
            syncs: Arc::default(),
            open_now: Arc::default(),
            open_most: AtomicUsize::default(),
        }
    }
}

impl Disk for CountingDisk {
    fn open(&self, path: &Path, how: Open) -> std::io::Result<Arc<dyn DiskFile>> {
        self.opens.fetch_add(1, Ordering::SeqCst);
        let inner = self.inner.open(path, how)?;
        let now = self.open_now.fetch_add(1, Ordering::SeqCst) + 1;
        self.open_most.fetch_max(now, Ordering::SeqCst);
        let (syncs, open_now) = (Arc::clone(&self.syncs), Arc::clone(&self.open_now));
        Ok(Arc::new(CountingFile { inner, syncs, open_now }))
    }

    fn list(&self, dir: &Path) -> std::io::Result<Vec<DirEntry>> {
        self.lists.fetch_add(1, Ordering::SeqCst);
        self.inner.list(dir)
    }

    fn exists(&self, path: &Path) -> std::io::Result<bool> {
        self.inner.exists(path)
    }

    fn create_dir_all(&self, dir: &Path) -> std::io::Result<()> {
        self.inner.create_dir_all(dir)
    }

    fn rename(&self, from: &Path, to: &Path) -> std::io::Result<()> {
        self.inner.rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> std::io::Result<()> {
        self.inner.remove_file(path)
    }

    fn remove_dir_all(&self, dir: &Path) -> std::io::Result<()> {
        self.inner.remove_dir_all(dir)
    }

    fn sync_dir(&self, dir: &Path) -> std::io::Result<()> {
        self.syncs.fetch_add(1, Ordering::SeqCst);
        self.inner.sync_dir(dir)
    }
}

impl DiskFile for CountingFile {
    fn read_exact_at(&self, buffer: &mut [u8], position: u64) -> std::io::Result<()> {
        self.inner.read_exact_at(buffer, position)
    }

    fn write_all_at(&self, bytes: &[u8], position: u64) -> std::io::Result<()> {
        self.inner.write_all_at(bytes, position)
    }

    fn len(&self) -> std::io::Result<u64> {
        self.inner.len()
    }

    fn set_len(&self, len: u64) -> std::io::Result<()> {
        self.inner.set_len(len)
    }

    fn sync_data(&self) -> std::io::Result<()> {
        self.syncs.fetch_add(1, Ordering::SeqCst);
        self.inner.sync_data()
    }
}

impl Drop for CountingFile {
    fn drop(&mut self) {
        self.open_now.fetch_sub(1, Ordering::SeqCst);
    }
}
