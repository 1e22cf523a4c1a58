//! What a partition remembers of an idempotent producer, and what it makes of the producer's next batch.
//!
//! Answers to Kafka's `ProducerStateEntry` and `ProducerAppendInfo`; each rule was observed on 4.4.0.

use std::collections::VecDeque;

use super::records::{ProducerBatch, ProducerStateValue};
use crate::protocol::batch::{BatchMeta, add_to_sequence};
use crate::types::{ErrorCode, Lsn, Offset, ProducerEpoch, TimestampMs};

/// How many batches are remembered. A producer has at most so many on their way, so a repeated one is among them.
const BATCHES_MAX: usize = 5;

const NO_EPOCH: ProducerEpoch = ProducerEpoch(-1);
const NO_SEQUENCE: i32 = -1;

/// A producer in a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProducerState {
    epoch: ProducerEpoch,
    last_timestamp: TimestampMs,
    /// The last batches of this epoch, oldest first, each with the lsn it was appended at.
    batches: VecDeque<(ProducerBatch, Lsn)>,
    /// The last change.
    lsn: Lsn,
}

impl Default for ProducerState {
    fn default() -> Self {
        Self { epoch: NO_EPOCH, last_timestamp: TimestampMs(-1), batches: VecDeque::new(), lsn: Lsn(0) }
    }
}

/// What a producer's next batch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The next one in order.
    Next,
    /// One that was appended before, at this lsn.
    Duplicate(ProducerBatch, Lsn),
    /// Not to be appended.
    Refused(ErrorCode),
}

impl ProducerState {
    pub(super) fn from_value(lsn: Lsn, value: &ProducerStateValue) -> Self {
        let surplus = value.batches.len().saturating_sub(BATCHES_MAX);
        Self {
            epoch: value.producer_epoch,
            last_timestamp: value.last_timestamp,
            batches: value.batches.iter().skip(surplus).map(|batch| (*batch, lsn)).collect(),
            lsn,
        }
    }

    pub(super) fn to_value(&self) -> ProducerStateValue {
        ProducerStateValue {
            producer_epoch: self.epoch,
            last_timestamp: self.last_timestamp,
            batches: self.batches.iter().map(|(batch, _)| *batch).collect(),
        }
    }

    /// The last change.
    pub(super) fn lsn(&self) -> Lsn {
        self.lsn
    }

    /// The largest timestamp of its last batch.
    pub(super) fn last_timestamp(&self) -> TimestampMs {
        self.last_timestamp
    }

    /// Says what a batch is to this producer.
    pub(super) fn judge(&self, meta: &BatchMeta) -> Verdict {
        if meta.producer_epoch < self.epoch {
            return Verdict::Refused(ErrorCode::InvalidProducerEpoch);
        }
        let is_same_epoch = meta.producer_epoch == self.epoch;
        if is_same_epoch {
            let sequences = (meta.base_sequence, last_sequence(meta));
            let duplicate =
                self.batches.iter().find(|(batch, _)| (batch.base_sequence, batch.last_sequence) == sequences);
            if let Some((batch, lsn)) = duplicate {
                return Verdict::Duplicate(*batch, *lsn);
            }
        }
        // Of a producer that is not known, or known without an epoch, any sequence is the next one: its batches may be
        // gone with the log's start, or it was forgotten while it was idle.
        let is_next = self.epoch == NO_EPOCH || {
            let last = if is_same_epoch { self.last_sequence() } else { NO_SEQUENCE };
            meta.base_sequence == if last == NO_SEQUENCE { 0 } else { add_to_sequence(last, 1) }
        };
        if is_next { Verdict::Next } else { Verdict::Refused(ErrorCode::OutOfOrderSequenceNumber) }
    }

    /// Remembers a batch that was appended. A new epoch begins with nothing remembered.
    pub(super) fn remember(&mut self, lsn: Lsn, base_offset: Offset, meta: &BatchMeta) {
        if self.epoch != meta.producer_epoch {
            self.epoch = meta.producer_epoch;
            self.batches.clear();
        }
        while self.batches.len() >= BATCHES_MAX {
            self.batches.pop_front();
        }
        let batch = ProducerBatch {
            base_sequence: meta.base_sequence,
            last_sequence: last_sequence(meta),
            base_offset,
            timestamp: meta.max_timestamp,
        };
        self.batches.push_back((batch, lsn));
        self.last_timestamp = meta.max_timestamp;
        self.lsn = lsn;
    }

    fn last_sequence(&self) -> i32 {
        self.batches.back().map_or(NO_SEQUENCE, |(batch, _)| batch.last_sequence)
    }
}

fn last_sequence(meta: &BatchMeta) -> i32 {
    add_to_sequence(meta.base_sequence, meta.offset_count.saturating_sub(1))
}
