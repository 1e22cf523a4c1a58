//! Appending batches and raising log starts.

use bytes::BytesMut;

use super::producer::{ProducerState, Verdict};
use super::{HeadStartValue, Heads, Record, Reply, exists, refuse};
use crate::machine::{Decision, Env, ReplyTo};
use crate::protocol::batch::{BatchMeta, set_base_offset, set_leader_epoch};
use crate::types::{ErrorCode, Lsn, Offset, ProducerId, TopicPartition};

/// There is one node, which has led every partition from the beginning.
const LEADER_EPOCH: i32 = 0;

/// What an answer carries where the log start is not told.
const NO_OFFSET: Offset = Offset(-1);

impl Heads {
    pub(super) fn append(
        &self,
        env: &Env,
        to: ReplyTo,
        partition: TopicPartition,
        meta: &BatchMeta,
        mut batch: BytesMut,
    ) -> Decision<Self> {
        if !exists(&env.image, partition) {
            return refuse(env, to, ErrorCode::UnknownTopicOrPartition, NO_OFFSET, Lsn(0));
        }
        if meta.is_transactional {
            // No transactional id is known here yet. With transaction.version 0, Kafka 4.4.0 answers a batch of an
            // unknown transactional id with this error in every version (observed with 7, 9, 10, 11 and 12), and
            // clients give up. Only for a known id whose transaction does not have the partition would it be
            // INVALID_TXN_STATE up to version 10, TRANSACTION_ABORTABLE in 11, UNSUPPORTED_VERSION from 12 on.
            return refuse(env, to, ErrorCode::InvalidProducerIdMapping, NO_OFFSET, Lsn(0));
        }

        let head = self.head(partition);
        if meta.producer_id >= ProducerId(0) {
            let unknown = ProducerState::default();
            let producer = self.producers.get(&(partition, meta.producer_id)).unwrap_or(&unknown);
            match producer.judge(meta) {
                Verdict::Next => {}
                Verdict::Duplicate(original, lsn) => {
                    let reply = Reply::Appended {
                        base_offset: original.base_offset,
                        // Kafka tells the original's timestamp here, whatever clock it comes from.
                        log_append_time: original.timestamp,
                        log_start: head.log_start,
                    };
                    return Decision::answer(to, reply, lsn.max(head.log_start_lsn));
                }
                Verdict::Refused(error) => {
                    return refuse(env, to, error, head.log_start, producer.lsn().max(head.log_start_lsn));
                }
            }
        }

        if meta.offset_count <= 0 {
            return refuse(env, to, ErrorCode::InvalidRecord, head.log_start, head.lsn);
        }
        if head.next_offset.0.checked_add(i64::from(meta.offset_count)).is_none() {
            return refuse(env, to, ErrorCode::OffsetOutOfRange, head.log_start, head.lsn);
        }
        let placed =
            set_base_offset(&mut batch, head.next_offset).and_then(|()| set_leader_epoch(&mut batch, LEADER_EPOCH));
        if let Err(error) = placed {
            return refuse(env, to, error.code(), head.log_start, head.lsn);
        }

        let record = Record::Append { partition, base_offset: head.next_offset, meta: *meta, batch: batch.freeze() };
        let reply = Reply::Appended {
            base_offset: head.next_offset,
            log_append_time: meta.log_append_time,
            log_start: head.log_start,
        };
        Decision { records: vec![record], replies: vec![(to, reply)], ..Decision::nothing() }
    }

    pub(super) fn replay_append(&mut self, lsn: Lsn, partition: TopicPartition, base_offset: Offset, meta: &BatchMeta) {
        let next_offset = Offset(base_offset.0.saturating_add(i64::from(meta.offset_count.max(0))));
        if next_offset <= self.head(partition).next_offset {
            return; // The checkpoint has it.
        }
        self.replay_head(lsn, partition, true, |head| head.next_offset = next_offset);
        if meta.producer_id >= ProducerId(0) {
            self.producers.entry((partition, meta.producer_id)).or_default().remember(lsn, base_offset, meta);
        }
    }

    pub(super) fn raise_log_start(
        &self,
        env: &Env,
        to: ReplyTo,
        partition: TopicPartition,
        offset: Offset,
    ) -> Decision<Self> {
        const LOG_END: Offset = Offset(-1);

        if !exists(&env.image, partition) {
            return refuse(env, to, ErrorCode::UnknownTopicOrPartition, NO_OFFSET, Lsn(0));
        }
        let head = self.head(partition);
        let log_start = if offset == LOG_END { head.next_offset } else { offset };
        if log_start < Offset(0) || log_start > head.next_offset {
            return refuse(env, to, ErrorCode::OffsetOutOfRange, head.log_start, head.lsn);
        }
        if log_start <= head.log_start {
            let reply = Reply::LogStart { low_watermark: head.log_start };
            return Decision::answer(to, reply, head.lsn.max(env.image.lsn));
        }
        let record = Record::HeadStart { partition, value: Some(HeadStartValue { log_start }) };
        let reply = Reply::LogStart { low_watermark: log_start };
        Decision { records: vec![record], replies: vec![(to, reply)], ..Decision::nothing() }
    }
}
