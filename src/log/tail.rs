//! The newest batches in memory, so that whoever reads along with the writers touches no file.
//!
//! Each partition has the last part of its log, without gaps; one budget for all of them decides how much. Batches
//! are copied: a batch cut from a request frame would keep the whole frame alive.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::batch::BatchSpan;
use super::partition::PartitionLog;
use super::read::{ReadBatches, ReadLimit};
use crate::types::Offset;

/// What a batch costs beside its bytes.
const BATCH_OVERHEAD_BYTES: usize = 160;

/// The tail of one partition.
#[derive(Default)]
pub(super) struct Tail {
    batches: VecDeque<TailBatch>,
}

struct TailBatch {
    base_offset: Offset,
    next_offset: Offset,
    bytes: Bytes,
}

impl Tail {
    /// Whole batches from the one that contains `offset`, all below `end`. `None` if that one is not in memory.
    pub(super) fn read(&self, offset: Offset, limit: ReadLimit, end: Offset) -> Option<ReadBatches> {
        if self.batches.front()?.base_offset > offset {
            return None;
        }
        let first = self.batches.partition_point(|batch| batch.next_offset <= offset);
        let mut total = 0usize;
        let mut next_offset = offset;
        let mut count = 0usize;
        for batch in self.batches.iter().skip(first).take_while(|batch| batch.next_offset <= end) {
            if !limit.admits(total, batch.bytes.len()) {
                break;
            }
            total += batch.bytes.len();
            next_offset = batch.next_offset;
            count += 1;
        }
        let chosen = self.batches.range(first..first + count);
        let bytes = match count {
            0 => Bytes::new(),
            1 => chosen.map(|batch| batch.bytes.clone()).next().unwrap_or_default(),
            _ => {
                let mut joined = BytesMut::with_capacity(total);
                chosen.for_each(|batch| joined.extend_from_slice(&batch.bytes));
                joined.freeze()
            }
        };
        Some(ReadBatches { bytes, next_offset })
    }

    fn push(&mut self, span: &BatchSpan, batch: &[u8]) {
        let bytes = Bytes::copy_from_slice(batch);
        self.batches.push_back(TailBatch { base_offset: span.base_offset, next_offset: span.next_offset, bytes });
    }

    fn drop_oldest_if(&mut self, base_offset: Offset) {
        if self.batches.front().is_some_and(|oldest| oldest.base_offset == base_offset) {
            self.batches.pop_front();
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.batches = VecDeque::new();
    }
}

/// What all tails may hold together. The writer owns it.
pub(super) struct TailBudget {
    bytes_max: usize,
    bytes: usize,
    /// Every batch in a tail, oldest first. Those of a cleared tail count until their turn comes.
    queue: VecDeque<Queued>,
}

struct Queued {
    log: Arc<PartitionLog>,
    base_offset: Offset,
    weight: usize,
}

impl TailBudget {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { bytes_max, bytes: 0, queue: VecDeque::new() }
    }

    /// Keeps a batch at the end of its partition's tail; the oldest of all make room.
    pub(super) fn push(&mut self, log: &Arc<PartitionLog>, span: &BatchSpan, batch: &[u8]) {
        let weight = batch.len().saturating_add(BATCH_OVERHEAD_BYTES);
        if weight > self.bytes_max / 2 {
            // It would push out everybody else's. The tail must not have a gap, so it starts anew behind this one.
            log.with_tail(Tail::clear);
            return;
        }
        log.with_tail(|tail| tail.push(span, batch));
        self.bytes += weight;
        self.queue.push_back(Queued { log: Arc::clone(log), base_offset: span.base_offset, weight });
        while self.bytes > self.bytes_max {
            let Some(oldest) = self.queue.pop_front() else { break };
            self.bytes -= oldest.weight;
            oldest.log.with_tail(|tail| tail.drop_oldest_if(oldest.base_offset));
        }
    }
}
