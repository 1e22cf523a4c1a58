//! Writing: appends, what readers may see, rolling, dropping. One thread owns it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use bytes::Bytes;

use super::batch::BatchSpan;
use super::checkpoint::{Checkpoint, Doomed, NewManifest};
use super::error::LogError;
use super::facts::SegmentFacts;
use super::manifest::{ListedPartition, Manifest, Slot};
use super::names::{DELETE_SUFFIX, folder_name};
use super::partition::PartitionLog;
use super::recovery::{self, FolderFate, RecoveredHead};
use super::segment::{Segment, write_index_file};
use super::tail::TailBudget;
use super::writer_files::WriterFiles;
use super::{LogOptions, Logs, Shared, write};
use crate::disk::Open;
use crate::types::{Lsn, Offset, TimestampMs, TopicId, TopicPartition};

/// No segment is larger, whatever is configured: a place in it must fit 32 bits. Kafka's setting has the same limit.
const SEGMENT_BYTES_MAX: u32 = i32::MAX as u32;

/// How a topic's segments are cut: Kafka's `segment.bytes`, `segment.ms` and `index.interval.bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentSettings {
    /// A segment is closed before it would become larger.
    pub(crate) segment_bytes: u32,
    /// A segment is closed when a batch is this much younger than its first one.
    pub(crate) segment_ms: i64,
    /// An index entry every so many bytes.
    pub(crate) index_interval_bytes: u32,
}

/// The one who changes the logs.
pub(crate) struct LogWriter {
    pub(super) shared: Arc<Shared>,
    pub(super) logs: Arc<Logs>,
    pub(super) partitions: BTreeMap<TopicPartition, WrittenPartition>,
    pub(super) files: WriterFiles,
    pub(super) tail: TailBudget,
    pub(super) last_segment_id: u64,
    pub(super) manifests: ManifestState,
    pub(super) dirty_folders: BTreeSet<TopicPartition>,
    pub(super) is_root_dirty: bool,
    /// The folder of all logs itself may not be durable yet.
    pub(super) is_root_new: bool,
    pub(super) doomed: Vec<Doomed>,
}

/// Where the next list of segments goes.
pub(super) struct ManifestState {
    pub(super) next_slot: Slot,
    pub(super) generation: u64,
}

/// What only the writer knows of a partition.
pub(super) struct WrittenPartition {
    pub(super) log: Arc<PartitionLog>,
    /// The next batch must begin here.
    pub(super) next_offset: Offset,
    pub(super) growing: Option<Growing>,
    pub(super) has_folder: bool,
}

/// The segment that is appended to.
pub(super) struct Growing {
    pub(super) segment: Arc<Segment>,
    /// When it was begun; `None` after a restart, until the first append.
    pub(super) since: Option<TimestampMs>,
}

impl LogWriter {
    /// Opens all logs and cuts each to its head. If damage is found, nothing was changed on disk.
    ///
    /// `heads` are the heads as of the state store's checkpoint at `checkpoint`, but with the log starts that hold after the journal
    /// is applied: segments below those may be gone already. `fate` says what the catalogue, after the journal, knows.
    /// The journal's appends behind the checkpoint have to follow before anything is read.
    pub(crate) fn open(
        options: &LogOptions,
        checkpoint: Lsn,
        heads: impl Iterator<Item = RecoveredHead>,
        fate: &dyn Fn(TopicPartition) -> FolderFate,
    ) -> Result<(Self, Arc<Logs>), LogError> {
        recovery::open(options, checkpoint, heads, fate)
    }

    /// Writes a batch behind the last one of its partition. Nothing is durable and nobody sees it yet.
    pub(crate) fn append(
        &mut self,
        partition: TopicPartition,
        base_offset: Offset,
        batch: &Bytes,
        settings: &SegmentSettings,
        now: TimestampMs,
    ) -> Result<(), LogError> {
        let span = BatchSpan::parse(batch).map_err(|reason| LogError::InvalidBatch { partition, reason })?;
        if span.bytes as usize != batch.len() {
            return Err(LogError::InvalidBatch { partition, reason: "its length field differs from its length" });
        }
        let expected = self.next_offset(partition);
        for got in [base_offset, span.base_offset] {
            if got != expected {
                return Err(LogError::OutOfOrder { partition, expected, got });
            }
        }
        let segment = self.segment_for(partition, &span, settings, now)?;
        let log = Arc::clone(self.log(partition));
        let file = match self.files.get(segment.id) {
            Some(file) => file,
            None => self.files.open(segment.id, segment.log_path(log.folder()), Open::ReadWrite)?,
        };
        let position = segment.facts().bytes;
        let written = file.write_all_at(batch, position);
        written.map_err(|source| LogError::io("write", &segment.log_path(log.folder()))(source))?;
        segment.note_written(&span, settings.index_interval_bytes);
        self.tail.push(&log, &span, batch);
        if let Some(written) = self.partitions.get_mut(&partition) {
            written.next_offset = span.next_offset;
        }
        Ok(())
    }

    /// Lets readers see everything below `high_watermark`: it is durable and written.
    pub(crate) fn publish(&mut self, partition: TopicPartition, high_watermark: Offset) {
        let Some(written) = self.partitions.get(&partition) else { return };
        assert!(high_watermark <= written.next_offset, "published beyond what is written");
        written.log.set_high_watermark(high_watermark);
    }

    /// Hides everything below `offset`, which the journal has made durable, and drops the segments that lie below.
    /// Their files go with the next checkpoint.
    pub(crate) fn raise_log_start(&mut self, partition: TopicPartition, offset: Offset) {
        let Some(written) = self.partitions.get(&partition) else { return };
        written.log.raise_log_start(offset);
        self.drop_below_start(partition);
    }

    /// Forgets a topic whose deletion is durable. Its folders are renamed now and go with the next checkpoint; readers
    /// that hold a file read on.
    pub(crate) fn delete_topic(&mut self, topic_id: TopicId) -> Result<(), LogError> {
        {
            let mut partitions = write(&self.logs.partitions);
            let gone: Vec<_> = partitions.range(all_of(topic_id)).map(|(partition, _)| *partition).collect();
            // An empty log that only readers know of has no counterpart in `self.partitions`.
            for log in gone.iter().filter_map(|partition| partitions.remove(partition)) {
                log.mark_deleted();
            }
        }
        let gone: Vec<_> = self.partitions.range(all_of(topic_id)).map(|(partition, _)| *partition).collect();
        for partition in gone {
            let Some(written) = self.partitions.remove(&partition) else { continue };
            self.dirty_folders.remove(&partition);
            if let Some(growing) = &written.growing {
                self.files.forget(growing.segment.id);
            }
            if written.has_folder {
                let from = written.log.folder();
                let to = self.shared.dir.join(folder_name(partition) + DELETE_SUFFIX);
                self.shared.disk.rename(from, &to).map_err(LogError::io("rename", from))?;
                self.is_root_dirty = true;
                self.doomed.push(Doomed::Folder(to));
            }
        }
        Ok(())
    }

    /// Where the next batch of a partition must begin: its log end.
    pub(crate) fn next_offset(&self, partition: TopicPartition) -> Offset {
        self.partitions.get(&partition).map_or(Offset(0), |written| written.next_offset)
    }

    /// Takes down what has to be synced for all that was called so far to be durable.
    ///
    /// `lsn` is the one that the state store's checkpoint will carry. If exactly the appends up to there were made,
    /// the next start reads no batches. [`Checkpoint::run`] may be called on another thread while this one goes on
    /// appending; only one checkpoint may be under way at a time.
    pub(crate) fn begin_checkpoint(&mut self, lsn: Lsn) -> Checkpoint {
        let dirty_folders = std::mem::take(&mut self.dirty_folders);
        let folders = dirty_folders.iter().filter_map(|partition| self.partitions.get(partition));
        let folders = folders.map(|written| Arc::clone(&written.log)).collect();
        Checkpoint {
            shared: Arc::clone(&self.shared),
            files: self.files.take_dirty(),
            folders,
            is_root_dirty: std::mem::take(&mut self.is_root_dirty),
            is_root_new: std::mem::take(&mut self.is_root_new),
            manifest: self.next_manifest(lsn),
            doomed: std::mem::take(&mut self.doomed),
        }
    }

    /// Makes all that was called so far durable, on this thread.
    pub(crate) fn sync(&mut self, lsn: Lsn) -> Result<(), LogError> {
        self.begin_checkpoint(lsn).run()
    }

    fn next_manifest(&mut self, lsn: Lsn) -> NewManifest {
        let listed = self.partitions.iter().map(|(partition, written)| {
            let segments = written.log.segment_facts();
            (*partition, ListedPartition { next_offset: written.next_offset, segments })
        });
        let state = &mut self.manifests;
        state.generation += 1;
        let slot = state.next_slot;
        state.next_slot = slot.other();
        let manifest = Manifest { lsn, generation: state.generation, partitions: listed.collect() };
        NewManifest { slot, bytes: manifest.encode() }
    }

    /// The segment that a batch goes to: the growing one, or a new one if that is full, too old, or not there.
    fn segment_for(
        &mut self,
        partition: TopicPartition,
        batch: &BatchSpan,
        settings: &SegmentSettings,
        now: TimestampMs,
    ) -> Result<Arc<Segment>, LogError> {
        let growing = self.partitions.get_mut(&partition).and_then(|written| written.growing.as_mut());
        if let Some(growing) = growing {
            if growing.since.is_none() {
                // Names that an earlier process changed and did not sync are as they should be, but a power loss may
                // still bring back a segment that this log has done without since. Behind the head it does no harm,
                // so it is time enough when the head moves.
                self.dirty_folders.insert(partition);
            }
            let since = *growing.since.get_or_insert(now);
            if !must_roll(&growing.segment.facts(), batch, settings, since, now) {
                return Ok(Arc::clone(&growing.segment));
            }
            self.close_growing(partition)?;
        }
        self.begin_segment(partition, batch.base_offset, now)
    }

    fn begin_segment(
        &mut self,
        partition: TopicPartition,
        base_offset: Offset,
        now: TimestampMs,
    ) -> Result<Arc<Segment>, LogError> {
        let log = Arc::clone(self.log(partition));
        let has_folder = self.partitions.get(&partition).is_some_and(|written| written.has_folder);
        if !has_folder {
            self.shared.disk.create_dir_all(log.folder()).map_err(LogError::io("create", log.folder()))?;
            self.is_root_dirty = true;
        }
        self.dirty_folders.insert(partition);
        self.last_segment_id += 1;
        let segment = Arc::new(Segment::new(self.last_segment_id, base_offset));
        self.files.open(segment.id, segment.log_path(log.folder()), Open::CreateNew)?;
        log.add_segment(Arc::clone(&segment));
        if let Some(written) = self.partitions.get_mut(&partition) {
            written.has_folder = true;
            written.growing = Some(Growing { segment: Arc::clone(&segment), since: Some(now) });
        }
        // What was the last segment may lie below the log start for long.
        self.drop_below_start(partition);
        Ok(segment)
    }

    fn close_growing(&mut self, partition: TopicPartition) -> Result<(), LogError> {
        let Some(written) = self.partitions.get_mut(&partition) else { return Ok(()) };
        let Some(Growing { segment, .. }) = written.growing.take() else { return Ok(()) };
        self.files.close(segment.id);
        // Readers use the entries in memory until `close`, so they never see the file half written. If the index is
        // not known yet (nobody read back since the restart), whoever needs it builds it: not this thread's time.
        if let Some(bytes) = segment.encoded_index() {
            let path = segment.index_path(written.log.folder());
            let file = write_index_file(&self.shared, &path, &bytes).map_err(LogError::io("write", &path))?;
            self.last_segment_id += 1;
            self.files.add_whole(self.last_segment_id, path, file)?;
        }
        segment.close(&self.shared);
        Ok(())
    }

    fn drop_below_start(&mut self, partition: TopicPartition) {
        let Some(written) = self.partitions.get(&partition) else { return };
        let log = &written.log;
        for segment in log.take_segments_below(log.bounds().log_start) {
            self.files.forget(segment.id);
            self.shared.files.remove(segment.id);
            self.shared.indexes.remove(segment.id);
            self.doomed.push(Doomed::File(segment.log_path(log.folder())));
            self.doomed.push(Doomed::File(segment.index_path(log.folder())));
        }
    }

    /// The log of a partition, which from now on is written to.
    fn log(&mut self, partition: TopicPartition) -> &Arc<PartitionLog> {
        let written = self.partitions.entry(partition).or_insert_with(|| {
            let log = self.logs.get_or_empty(partition);
            WrittenPartition { log, next_offset: Offset(0), growing: None, has_folder: false }
        });
        &written.log
    }
}

/// All partitions of a topic.
fn all_of(topic_id: TopicId) -> RangeInclusive<TopicPartition> {
    TopicPartition { topic_id, partition: i32::MIN }..=TopicPartition { topic_id, partition: i32::MAX }
}

/// Whether a batch begins a new segment (Kafka's `LogSegment.shouldRoll`).
fn must_roll(
    facts: &SegmentFacts,
    batch: &BatchSpan,
    settings: &SegmentSettings,
    since: TimestampMs,
    now: TimestampMs,
) -> bool {
    if facts.bytes == 0 {
        return false;
    }
    let segment_bytes = settings.segment_bytes.min(SEGMENT_BYTES_MAX);
    let is_full = facts.bytes + u64::from(batch.bytes) > u64::from(segment_bytes);
    let last_relative_offset = batch.next_offset.0 - 1 - facts.base_offset.0;
    let is_too_far = i32::try_from(last_relative_offset).is_err();
    // Time is what the records say, so that a log written again is cut at the same places.
    let age_ms = if facts.first_timestamp.0 >= 0 {
        batch.max_timestamp.0.saturating_sub(facts.first_timestamp.0)
    } else {
        now.0.saturating_sub(since.0)
    };
    is_full || is_too_far || age_ms > settings.segment_ms
}
