//! Partition heads: next offsets, log starts and producer states. A core (see [`crate::machine`]).
//!
//! Offsets are given out here, before a batch is journaled; so the journal, the segments and every reader agree on
//! them. A partition that was never written to has no entry: its head is all zeros. Whether a partition exists is the
//! catalogue's to say ([`Env::image`]).
//!
//! Load: first what a checkpoint stores (`HeadStart`, `HeadEnd`, `Producer`), in any order; then the journal's records
//! behind it, appends and expired producers among each other in order of lsn.

mod append;
mod expire;
mod producer;
mod records;

#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};

use producer::ProducerState;
pub(crate) use records::{HeadEndValue, HeadStartValue, ProducerStateValue, Record};

use crate::machine::{Core, Decision, Env, ReplyTo};
pub(crate) use crate::protocol::batch::BatchMeta;
use crate::types::{ErrorCode, Image, Lsn, Offset, ProducerId, TimestampMs, TopicId, TopicPartition};

/// Hard state.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    partitions: BTreeMap<TopicPartition, Head>,
    /// Idempotent producers, by where they wrote.
    producers: BTreeMap<(TopicPartition, ProducerId), ProducerState>,
    /// The last change of anything here.
    lsn: Lsn,
}

/// The head of one partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    /// The offset the next record gets: the log end.
    pub(crate) next_offset: Offset,
    /// The first offset that can still be read.
    pub(crate) log_start: Offset,
    /// The last change of the log start.
    pub(crate) log_start_lsn: Lsn,
    /// The last change.
    pub(crate) lsn: Lsn,
}

/// State that a restart may lose: the search for idle producers.
#[derive(Debug, Default)]
pub(crate) struct Soft {
    sweep: expire::Sweep,
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
    /// Raise the log start (`DeleteRecords`, retention). -1 means the log end.
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
    /// Refused. The log start is -1 where Kafka's answer does not tell it.
    Refused { error: ErrorCode, log_start: Offset },
}

impl Core for Heads {
    type Input = Input;
    type Record = Record;
    type Reply = Reply;
    type Effect = std::convert::Infallible;
    type Soft = Soft;
    type Scope = Option<TopicPartition>;

    fn decide(&self, soft: &mut Soft, env: &mut Env, input: Input) -> Decision<Self> {
        match input {
            Input::Append { to, partition, meta, batch } => self.append(env, to, partition, &meta, batch),
            Input::RaiseLogStart { to, partition, offset } => self.raise_log_start(env, to, partition, offset),
            Input::ExpireProducers => self.expire_producers(&mut soft.sweep, env),
        }
    }

    fn replay(&mut self, lsn: Lsn, record: &Record) {
        self.lsn = self.lsn.max(lsn);
        match record {
            Record::Append { partition, base_offset, meta, .. } => {
                self.replay_append(lsn, *partition, *base_offset, meta);
            }
            Record::HeadStart { partition, value } => {
                self.replay_head(lsn, *partition, value.is_some(), |head| {
                    head.log_start = value.map_or(Offset(0), |value| head.log_start.max(value.log_start));
                    head.log_start_lsn = lsn;
                });
            }
            Record::HeadEnd { partition, value } => {
                self.replay_head(lsn, *partition, value.is_some(), |head| {
                    head.next_offset = value.map_or(Offset(0), |value| head.next_offset.max(value.next_offset));
                });
            }
            Record::Producer { partition, producer_id, value } => {
                let key = (*partition, *producer_id);
                match value {
                    Some(value) => drop(self.producers.insert(key, ProducerState::from_value(lsn, value))),
                    None => drop(self.producers.remove(&key)),
                }
            }
        }
    }

    fn on_loaded(&self, env: &mut Env) -> Soft {
        Soft { sweep: expire::Sweep::on_loaded(self.lsn, env) }
    }

    fn next_deadline(soft: &Soft) -> Option<TimestampMs> {
        soft.sweep.next_deadline()
    }

    fn pop_due(soft: &mut Soft, now: TimestampMs) -> Option<Input> {
        soft.sweep.pop_due(now).then_some(Input::ExpireProducers)
    }

    fn scope(input: &Input) -> Option<TopicPartition> {
        match input {
            Input::Append { partition, .. } | Input::RaiseLogStart { partition, .. } => Some(*partition),
            Input::ExpireProducers => None,
        }
    }

    fn reset(&self, soft: &mut Soft, env: &mut Env, scope: Option<TopicPartition>) -> Vec<ReplyTo> {
        if scope.is_none() {
            soft.sweep.give_up(env);
        }
        Vec::new()
    }
}

impl Heads {
    /// The head of a partition; all zeros if nothing was ever stored.
    pub(crate) fn head(&self, partition: TopicPartition) -> Head {
        self.partitions.get(&partition).copied().unwrap_or_default()
    }

    /// What a checkpoint stores of a partition: where its log ends.
    pub(crate) fn end_value(&self, partition: TopicPartition) -> Option<HeadEndValue> {
        let head = self.partitions.get(&partition)?;
        Some(HeadEndValue { next_offset: head.next_offset })
    }

    /// What a checkpoint stores of a producer; `None` if it is forgotten.
    pub(crate) fn producer_value(&self, partition: TopicPartition, producer: ProducerId) -> Option<ProducerStateValue> {
        self.producers.get(&(partition, producer)).map(ProducerState::to_value)
    }

    /// All partitions that have a head, for the log's recovery.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (TopicPartition, &Head)> {
        self.partitions.iter().map(|(partition, head)| (*partition, head))
    }

    /// Removes everything of a topic; the runtime calls it when it replays the topic's deletion.
    pub(crate) fn forget_topic(&mut self, topic: TopicId) {
        let first = TopicPartition { topic_id: topic, partition: i32::MIN };
        let last = TopicPartition { topic_id: topic, partition: i32::MAX };
        self.partitions.extract_if(first..=last, |_, _| true).for_each(drop);
        let (first, last) = ((first, ProducerId(i64::MIN)), (last, ProducerId(i64::MAX)));
        self.producers.extract_if(first..=last, |_, _| true).for_each(drop);
    }

    /// Changes a head. One that does not exist is made if `makes` says so; one that is all zeros does not exist.
    fn replay_head(&mut self, lsn: Lsn, partition: TopicPartition, makes: bool, change: impl FnOnce(&mut Head)) {
        if !makes && !self.partitions.contains_key(&partition) {
            return;
        }
        let head = self.partitions.entry(partition).or_default();
        change(head);
        head.lsn = head.lsn.max(lsn);
        if head.next_offset == Offset(0) && head.log_start == Offset(0) {
            self.partitions.remove(&partition);
        }
    }
}

/// Whether the catalogue has this partition.
fn exists(image: &Image, partition: TopicPartition) -> bool {
    let topic = image.topic_by_id(partition.topic_id);
    topic.is_some_and(|topic| (0..topic.partition_count).contains(&partition.partition))
}

/// Refuses. Every refusal rests on the catalogue too: that the partition exists, or that it does not.
fn refuse(env: &Env, to: ReplyTo, error: ErrorCode, log_start: Offset, rests_on: Lsn) -> Decision<Heads> {
    Decision::answer(to, Reply::Refused { error, log_start }, rests_on.max(env.image.lsn))
}

/// A frozen batch: what the journal and the segments store.
pub(crate) type Batch = Bytes;
