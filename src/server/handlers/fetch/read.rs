//! One look at all partitions of a fetch, and one read of what is there.

use std::sync::Arc;

use bytes::Bytes;

use super::partition::{Missing, Partition};
use crate::log::{Bounds, PartitionLog, ReadBatches, ReadError, ReadLimit};
use crate::protocol::message;
use crate::protocol::messages::fetch_response::{EpochEndOffset, PartitionData};
use crate::server::context::Context;
use crate::server::handlers::topics::{self, LEADER_EPOCH};
use crate::server::memory::Share;
use crate::types::{ErrorCode, Offset};

/// A read waits for so much memory, if it wants as much; with less it would give too little.
const SHARE_BYTES_MIN: usize = 1024 * 1024;

/// What holds for the whole fetch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) max_bytes: usize,
    /// Only what no open transaction can change.
    pub(super) is_committed: bool,
    /// Whether the sizes of the logs matter, to tell later by how much they have grown.
    pub(super) with_sizes: bool,
}

/// What a partition has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// There is no such partition.
    Unknown(ErrorCode),
    /// It cannot be read as asked.
    Failed(ErrorCode),
    /// The client's log and this one went apart.
    Diverging(Bounds),
    /// Batches, or none.
    Records(Bounds, Bytes),
}

/// What a partition looked like before it was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) bounds: Bounds,
    pub(super) size_bytes: u64,
}

/// One read of all partitions.
pub(super) struct Pass {
    pub(super) readings: Vec<Reading>,
    pub(super) seen: Vec<Seen>,
    /// Of all batches together.
    pub(super) bytes: usize,
    /// Whether more time would change nothing.
    pub(super) is_final: bool,
    /// The memory that the batches take.
    pub(super) share: Option<Share>,
}

enum Look {
    Settled(Reading),
    Readable(Bounds, Offset),
}

/// Reads what is there, up to the limits and as far as there is memory for it.
pub(super) async fn pass(context: &Context, partitions: &Arc<[Partition]>, limits: Limits) -> Pass {
    let (looks, seen): (Vec<Look>, Vec<Seen>) = partitions.iter().map(|partition| look(partition, limits)).unzip();
    let readable = partitions.iter().zip(&looks).filter(|(_, look)| matches!(look, Look::Readable(..)));
    let wanted = readable.fold(0usize, |sum, (partition, _)| sum.saturating_add(partition.ask.max_bytes.max(1)));
    let wanted = wanted.min(limits.max_bytes.max(1));
    if looks.iter().all(|look| matches!(look, Look::Settled(_))) {
        let readings = looks.into_iter().filter_map(settled).collect();
        return Pass::new(readings, seen, None);
    }
    let mut share = context.shared.fetch_memory.take_up_to(wanted, SHARE_BYTES_MIN).await;
    let max_bytes = limits.max_bytes.min(share.bytes());
    let read = match read_all(partitions, &looks, max_bytes, PartitionLog::read_from_memory) {
        Some(read) => read,
        None => read_files(context, Arc::clone(partitions), looks, max_bytes).await,
    };
    let mut pass = Pass::new(read.readings, seen, None);
    // There is more already: waiting would not bring what a limit keeps back.
    pass.is_final |= read.is_cut;
    share.shrink_to(pass.bytes);
    pass.share = Some(share);
    pass
}

/// What reading gave.
struct Read {
    readings: Vec<Reading>,
    /// Whether something that could be read was left.
    is_cut: bool,
}

async fn read_files(context: &Context, partitions: Arc<[Partition]>, looks: Vec<Look>, max_bytes: usize) -> Read {
    let count = partitions.len();
    let read = move || {
        let from_files = |log: &PartitionLog, offset, limit, upper| log.read(offset, limit, upper).map(Some);
        read_all(&partitions, &looks, max_bytes, from_files)
    };
    context
        .shared
        .read_pool
        .run(read)
        .await
        .flatten()
        .unwrap_or_else(|| Read { readings: vec![Reading::Failed(ErrorCode::UnknownServerError); count], is_cut: true })
}

/// Looks at a partition without reading records.
fn look(partition: &Partition, limits: Limits) -> (Look, Seen) {
    let ask = &partition.ask;
    let log = match &partition.log {
        Ok(log) => log,
        Err(Missing::Unknown(error)) => return (Look::Settled(Reading::Unknown(*error)), Seen::default()),
        Err(Missing::Refused(error)) => return (Look::Settled(Reading::Failed(*error)), Seen::default()),
    };
    let size_bytes = if limits.with_sizes { log.size_bytes() } else { 0 };
    let bounds = log.bounds();
    let end = readable_end(bounds, limits.is_committed);
    let seen = Seen { bounds, size_bytes };
    let settled = |reading| (Look::Settled(reading), seen);
    if let Err(error) = topics::check_leader_epoch(ask.current_leader_epoch) {
        return settled(Reading::Failed(error));
    }
    if ask.last_fetched_epoch > LEADER_EPOCH {
        return settled(Reading::Failed(ErrorCode::OffsetOutOfRange));
    }
    if ask.last_fetched_epoch == LEADER_EPOCH && ask.fetch_offset > bounds.high_watermark {
        return settled(Reading::Diverging(bounds));
    }
    if ask.fetch_offset >= bounds.log_start && ask.fetch_offset < end {
        return (Look::Readable(bounds, end), seen);
    }
    // Nothing to read; but the log says whether the offset is in range, and whether the topic still exists.
    let nothing = ReadLimit { max_bytes: 0, at_least_one: false };
    settled(match log.read(ask.fetch_offset, nothing, end) {
        Ok(_) => Reading::Records(bounds, Bytes::new()),
        Err(error) => failed(partition, &error),
    })
}

/// Up to where a client may read.
pub(super) fn readable_end(bounds: Bounds, is_committed: bool) -> Offset {
    if is_committed { bounds.last_stable_offset } else { bounds.high_watermark }
}

fn settled(look: Look) -> Option<Reading> {
    match look {
        Look::Settled(reading) => Some(reading),
        Look::Readable(..) => None,
    }
}

/// Reads each partition that has something, in order. `None` if `read` cannot tell for one of them.
fn read_all(
    partitions: &[Partition],
    looks: &[Look],
    max_bytes: usize,
    read: impl Fn(&PartitionLog, Offset, ReadLimit, Offset) -> Result<Option<ReadBatches>, ReadError>,
) -> Option<Read> {
    let mut left = max_bytes;
    let mut is_first = true;
    let mut is_cut = false;
    let mut readings = Vec::with_capacity(partitions.len());
    for (partition, look) in partitions.iter().zip(looks) {
        let reading = match (look, &partition.log) {
            (Look::Readable(bounds, end), Ok(log)) => {
                // The first batch of all is given even if it is larger, or its consumer would be stuck.
                let limit = ReadLimit { max_bytes: partition.ask.max_bytes.min(left), at_least_one: is_first };
                match read(log, partition.ask.fetch_offset, limit, *end) {
                    Ok(batches) => {
                        let ReadBatches { bytes, next_offset } = batches?;
                        is_cut |= next_offset < *end;
                        is_first &= bytes.is_empty();
                        left = left.saturating_sub(bytes.len());
                        Reading::Records(*bounds, bytes)
                    }
                    Err(error) => failed(partition, &error),
                }
            }
            (Look::Settled(reading), _) => reading.clone(),
            (Look::Readable(..), Err(_)) => Reading::Failed(ErrorCode::UnknownServerError),
        };
        readings.push(reading);
    }
    Some(Read { readings, is_cut })
}

fn failed(partition: &Partition, error: &ReadError) -> Reading {
    match error {
        ReadError::Deleted => Reading::Unknown(partition.deleted_error()),
        ReadError::OffsetOutOfRange(_) => Reading::Failed(error.code()),
        ReadError::Log(cause) => {
            tracing::error!(error = %cause, "a partition log could not be read");
            Reading::Failed(error.code())
        }
    }
}

impl Pass {
    fn new(readings: Vec<Reading>, seen: Vec<Seen>, share: Option<Share>) -> Self {
        let is_wrong = |reading: &Reading| matches!(reading, Reading::Failed(_) | Reading::Diverging(_));
        let can_grow = |reading: &Reading| matches!(reading, Reading::Records(..));
        let is_final = readings.iter().any(is_wrong) || !readings.iter().any(can_grow);
        let bytes = readings.iter().fold(0usize, |sum, reading| sum.saturating_add(reading.bytes()));
        Self { readings, seen, bytes, is_final, share }
    }
}

impl Reading {
    fn bytes(&self) -> usize {
        match self {
            Self::Records(_, bytes) => bytes.len(),
            Self::Unknown(_) | Self::Failed(_) | Self::Diverging(_) => 0,
        }
    }

    /// The partition's part of the answer.
    pub(super) fn into_data(self, partition: i32, is_committed: bool) -> PartitionData {
        // Without transactions none can be aborted: with read_committed the list is empty, otherwise there is none.
        let aborted = is_committed.then(Vec::new);
        let (bounds, records, aborted, error) = match self {
            // Kafka leaves the schema's default, an empty list, where it does not even look for the partition.
            Self::Unknown(error) => (None, Bytes::new(), Some(Vec::new()), error),
            Self::Failed(error) => (None, Bytes::new(), None, error),
            Self::Diverging(bounds) => {
                let mut data = Self::Records(bounds, Bytes::new()).into_data(partition, is_committed);
                data.diverging_epoch =
                    message!(EpochEndOffset { epoch: LEADER_EPOCH, end_offset: bounds.high_watermark.0 });
                return data;
            }
            Self::Records(bounds, records) => (Some(bounds), records, aborted, ErrorCode::None),
        };
        let offset = |offset: fn(Bounds) -> Offset| bounds.map_or(-1, |bounds| offset(bounds).0);
        message!(PartitionData {
            partition_index: partition,
            error_code: error.code(),
            high_watermark: offset(|bounds| bounds.high_watermark),
            last_stable_offset: offset(|bounds| bounds.last_stable_offset),
            log_start_offset: offset(|bounds| bounds.log_start),
            aborted_transactions: aborted,
            records: Some(records),
        })
    }
}
