//! The records of partition heads.
//!
//! An append is journaled as the batch itself. What it changes here (`HeadEnd`, `Producer`) is stored by checkpoints
//! only, from the state at the checkpoint's lsn; the journal's appends behind it bring it up to date. The value
//! structs are written to disk: a released one is never edited.

use serde::{Deserialize, Serialize};

use super::{Batch, BatchMeta};
use crate::types::{Offset, ProducerEpoch, ProducerId, TimestampMs, TopicPartition};

/// One change of the heads' hard state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// A batch at its place. Journaled as bytes; never in the store.
    Append { partition: TopicPartition, base_offset: Offset, meta: BatchMeta, batch: Batch },
    /// The log start was raised.
    HeadStart { partition: TopicPartition, value: Option<HeadStartValue> },
    /// Where the log ends, from a checkpoint.
    HeadEnd { partition: TopicPartition, value: Option<HeadEndValue> },
    /// A producer's state in a partition, from a checkpoint; or its expiry (`None`), which is journaled.
    Producer { partition: TopicPartition, producer_id: ProducerId, value: Option<ProducerStateValue> },
}

impl Record {
    /// The partition it changes, and the producer if it changes one: what a checkpoint has to store anew.
    #[cfg(test)]
    pub(crate) fn touched(&self) -> (TopicPartition, Option<ProducerId>) {
        match self {
            Self::Append { partition, meta, .. } => {
                (*partition, Some(meta.producer_id).filter(|producer| *producer >= ProducerId(0)))
            }
            Self::HeadStart { partition, .. } | Self::HeadEnd { partition, .. } => (*partition, None),
            Self::Producer { partition, producer_id, .. } => (*partition, Some(*producer_id)),
        }
    }
}

/// The first offset that can still be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HeadStartValue {
    pub(crate) log_start: Offset,
}

/// Where a log ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HeadEndValue {
    pub(crate) next_offset: Offset,
}

/// What is remembered of a producer in a partition: its epoch and its last batches, at most five, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProducerStateValue {
    pub(crate) producer_epoch: ProducerEpoch,
    pub(crate) last_timestamp: TimestampMs,
    pub(crate) batches: Vec<ProducerBatch>,
}

/// One remembered batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProducerBatch {
    pub(crate) base_sequence: i32,
    pub(crate) last_sequence: i32,
    pub(crate) base_offset: Offset,
    pub(crate) timestamp: TimestampMs,
}
