//! One partition's log as readers of any thread hold it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use tokio::sync::watch;

use super::error::{LogError, ReadError};
use super::facts::SegmentFacts;
use super::names::folder_name;
use super::segment::{Place, Segment};
use super::tail::Tail;
use super::{Shared, lock, read, write};
use crate::types::{Offset, TopicPartition};

/// What of a log can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// The first offset.
    pub(crate) log_start: Offset,
    /// The offset behind the last one.
    pub(crate) high_watermark: Offset,
    /// The offset behind the last one that no open transaction can change. Without transactions the high watermark.
    pub(crate) last_stable_offset: Offset,
}

/// A partition's log. The writer changes it, everybody reads it.
pub(crate) struct PartitionLog {
    partition: TopicPartition,
    shared: Arc<Shared>,
    folder: PathBuf,
    bounds: watch::Sender<Bounds>,
    /// In order of offset; the last one may still grow. Changed by the writer only.
    segments: RwLock<Vec<Arc<Segment>>>,
    tail: Mutex<Tail>,
    is_deleted: AtomicBool,
}

impl PartitionLog {
    /// A log that holds nothing; it takes no place on disk.
    pub(super) fn empty(partition: TopicPartition, shared: Arc<Shared>) -> Self {
        Self::new(partition, shared, Bounds::default(), Vec::new())
    }

    pub(super) fn new(
        partition: TopicPartition,
        shared: Arc<Shared>,
        bounds: Bounds,
        segments: Vec<Arc<Segment>>,
    ) -> Self {
        let folder = shared.dir.join(folder_name(partition));
        Self {
            partition,
            shared,
            folder,
            bounds: watch::Sender::new(bounds),
            segments: RwLock::new(segments),
            tail: Mutex::default(),
            is_deleted: AtomicBool::new(false),
        }
    }

    /// Whose log it is.
    pub(crate) fn partition(&self) -> TopicPartition {
        self.partition
    }

    /// What can be read now.
    pub(crate) fn bounds(&self) -> Bounds {
        *self.bounds.borrow()
    }

    /// Wakes whenever the bounds move, and once when the topic is deleted (a read says so then).
    pub(crate) fn subscribe(&self) -> watch::Receiver<Bounds> {
        self.bounds.subscribe()
    }

    /// The facts of all segments, oldest first: for retention and `DescribeLogDirs`.
    pub(crate) fn segment_facts(&self) -> Vec<SegmentFacts> {
        read(&self.segments).iter().map(|segment| segment.facts()).collect()
    }

    /// The size of all segments' batches in bytes.
    pub(crate) fn size_bytes(&self) -> u64 {
        read(&self.segments).iter().map(|segment| segment.facts().bytes).sum()
    }

    pub(super) fn folder(&self) -> &std::path::Path {
        &self.folder
    }

    pub(super) fn place(&self) -> Place<'_> {
        Place { shared: &self.shared, folder: &self.folder }
    }

    /// The segments from the one that has `offset` on.
    pub(super) fn segments_from(&self, offset: Offset) -> Vec<Arc<Segment>> {
        let segments = read(&self.segments);
        let behind = segments.partition_point(|segment| segment.base_offset() <= offset);
        segments.get(behind.saturating_sub(1)..).unwrap_or_default().to_vec()
    }

    /// The segment that has `offset`.
    pub(super) fn segment_of(&self, offset: Offset) -> Option<Arc<Segment>> {
        let segments = read(&self.segments);
        let behind = segments.partition_point(|segment| segment.base_offset() <= offset);
        segments.get(behind.checked_sub(1)?).cloned()
    }

    pub(super) fn with_tail<T>(&self, act: impl FnOnce(&mut Tail) -> T) -> T {
        act(&mut lock(&self.tail))
    }

    /// The bounds, if a read at `offset` makes sense.
    pub(super) fn bounds_for(&self, offset: Offset) -> Result<Bounds, ReadError> {
        if self.is_deleted() {
            return Err(ReadError::Deleted);
        }
        let bounds = self.bounds();
        if offset < bounds.log_start || offset > bounds.high_watermark {
            return Err(ReadError::OffsetOutOfRange(bounds));
        }
        Ok(bounds)
    }

    /// What a failed read at `offset` means: a segment may have been dropped under the reader's hands.
    pub(super) fn explain(&self, offset: Offset, error: LogError) -> ReadError {
        match self.bounds_for(offset) {
            Err(moved) => moved,
            Ok(_) => ReadError::Log(error),
        }
    }

    pub(super) fn is_deleted(&self) -> bool {
        self.is_deleted.load(Ordering::Acquire)
    }

    // What follows is the writer's.

    pub(super) fn add_segment(&self, segment: Arc<Segment>) {
        write(&self.segments).push(segment);
    }

    /// Takes out the segments that lie wholly below `log_start`, but never the last one.
    pub(super) fn take_segments_below(&self, log_start: Offset) -> Vec<Arc<Segment>> {
        let mut segments = write(&self.segments);
        // A segment ends where the next one begins.
        let count = segments.iter().skip(1).take_while(|next| next.base_offset() <= log_start).count();
        segments.drain(..count).collect()
    }

    pub(super) fn set_high_watermark(&self, offset: Offset) {
        self.bounds.send_if_modified(|bounds| {
            let has_moved = offset > bounds.high_watermark;
            if has_moved {
                bounds.high_watermark = offset;
                bounds.last_stable_offset = offset;
            }
            has_moved
        });
    }

    pub(super) fn raise_log_start(&self, offset: Offset) -> Bounds {
        self.bounds.send_if_modified(|bounds| {
            let has_moved = offset > bounds.log_start;
            if has_moved {
                bounds.log_start = offset;
                bounds.high_watermark = bounds.high_watermark.max(offset);
                bounds.last_stable_offset = bounds.last_stable_offset.max(offset);
            }
            has_moved
        });
        self.bounds()
    }

    /// From here on reads say `Deleted`; who waits is woken.
    pub(super) fn mark_deleted(&self) {
        self.is_deleted.store(true, Ordering::Release);
        lock(&self.tail).clear();
        self.bounds.send_modify(|_| ());
        for segment in write(&self.segments).drain(..) {
            self.shared.files.remove(segment.id);
            self.shared.indexes.remove(segment.id);
        }
    }
}
