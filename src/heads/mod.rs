//! Partition heads: next offsets, log starts and producer states. A core (see [`crate::machine`]).
//!
//! Offsets are given out here, before a batch is journaled; so the journal, the segments and every reader agree on
//! them. A partition that was never written to has no entry: its head is all zeros. Whether a partition exists is the
//! catalogue's to say ([`Env::image`]).

mod records;

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};

pub(crate) use records::{HeadEndValue, HeadStartValue, ProducerStateValue, Record};

use crate::machine::{Core, Decision, Env, ReplyTo};
use crate::types::{ErrorCode, Lsn, Offset, ProducerEpoch, ProducerId, TimestampMs, TopicId, TopicPartition};

/// Hard state.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    partitions: BTreeMap<TopicPartition, Head>,
}

/// The head of one partition.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    /// The offset the next record gets: the log end.
    pub(crate) next_offset: Offset,
    /// The first offset that can still be read.
    pub(crate) log_start: Offset,
    /// The last change.
    pub(crate) lsn: Lsn,
}

/// State that a restart may lose.
#[derive(Debug, Default)]
pub(crate) struct Soft {}

/// What is known of a batch once its bytes have been checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BatchMeta {
    /// -1 for a producer that is not idempotent.
    pub(crate) producer_id: ProducerId,
    /// The producer's epoch.
    pub(crate) producer_epoch: ProducerEpoch,
    /// The sequence number of the first record; -1 without a producer.
    pub(crate) base_sequence: i32,
    /// How many offsets the batch takes: last offset delta + 1.
    pub(crate) offset_count: i32,
    /// The largest timestamp in it.
    pub(crate) max_timestamp: TimestampMs,
    /// Whether it belongs to a transaction.
    pub(crate) is_transactional: bool,
    /// What the answer carries as log append time: -1 for topics with create time.
    pub(crate) log_append_time: TimestampMs,
}

/// What the heads are asked.
#[derive(Debug)]
pub(crate) enum Input {
    /// Append one checked batch.
    Append {
        to: ReplyTo,
        partition: TopicPartition,
        meta: BatchMeta,
        /// The batch; its base offset is filled in here.
        batch: BytesMut,
    },
    /// Raise the log start (DeleteRecords, retention). -1 means the log end.
    RaiseLogStart { to: ReplyTo, partition: TopicPartition, offset: Offset },
    /// Forget producers that have been idle for `producer.id.expiration.ms`, a bounded number at a time.
    ExpireProducers,
}

/// What an asker of the heads gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The batch has its place, now or earlier (a duplicate).
    Appended { base_offset: Offset, log_append_time: TimestampMs, log_start: Offset },
    /// The log start is now this.
    LogStart { low_watermark: Offset },
    /// Refused.
    Refused { error: ErrorCode, log_start: Offset },
}

impl Core for Heads {
    type Input = Input;
    type Record = Record;
    type Reply = Reply;
    type Effect = std::convert::Infallible;
    type Soft = Soft;
    type Scope = Option<TopicPartition>;

    fn decide(&self, _soft: &mut Soft, _env: &mut Env, _input: Input) -> Decision<Self> {
        Decision::nothing()
    }

    fn replay(&mut self, _lsn: Lsn, _record: &Record) {}

    fn on_loaded(&self, _env: &mut Env) -> Soft {
        Soft::default()
    }

    fn next_deadline(_soft: &Soft) -> Option<TimestampMs> {
        None
    }

    fn pop_due(_soft: &mut Soft, _now: TimestampMs) -> Option<Input> {
        None
    }

    fn scope(_input: &Input) -> Option<TopicPartition> {
        None
    }

    fn reset(&self, _soft: &mut Soft, _env: &mut Env, _scope: Option<TopicPartition>) -> Vec<ReplyTo> {
        Vec::new()
    }
}

impl Heads {
    /// The head of a partition; all zeros if nothing was ever stored.
    pub(crate) fn head(&self, partition: TopicPartition) -> Head {
        self.partitions.get(&partition).cloned().unwrap_or_default()
    }

    /// What a checkpoint stores of a partition: where its log ends.
    pub(crate) fn end_value(&self, partition: TopicPartition) -> Option<HeadEndValue> {
        let head = self.partitions.get(&partition)?;
        Some(HeadEndValue { next_offset: head.next_offset })
    }

    /// What a checkpoint stores of a producer; `None` if it is forgotten.
    pub(crate) fn producer_value(
        &self,
        _partition: TopicPartition,
        _producer: ProducerId,
    ) -> Option<ProducerStateValue> {
        None
    }

    /// All partitions that have a head, for the log's recovery.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (TopicPartition, &Head)> {
        self.partitions.iter().map(|(partition, head)| (*partition, head))
    }

    /// Removes everything of a topic; the runtime calls it when it replays the topic's deletion.
    pub(crate) fn forget_topic(&mut self, _topic: TopicId) {}
}

/// A frozen batch: what the journal and the segments store.
pub(crate) type Batch = Bytes;
