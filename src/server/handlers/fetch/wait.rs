//! Waiting until a fetch may have enough (Kafka's `DelayedFetch`), woken by the partitions themselves.

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::watch;

use super::partition::Partition;
use super::read::{Seen, readable_end};
use crate::log::{Bounds, PartitionLog, ReadLimit};
use crate::server::context::Context;
use crate::types::TimestampMs;

/// What a fetch waits for.
pub(super) struct Waiting<'a> {
    pub(super) partitions: &'a [Partition],
    /// What the partitions looked like at the last read.
    pub(super) seen: Vec<Seen>,
    /// So many more bytes are needed; with 1 any will do.
    pub(super) missing: usize,
    pub(super) is_committed: bool,
    pub(super) deadline: TimestampMs,
}

/// What a partition's move means.
enum Move {
    /// The fetch must read again, whatever the sizes say.
    Matters,
    /// There are so many more bytes now than at the last read.
    Grown(usize),
}

impl Waiting<'_> {
    /// Returns when a read may give enough, when the time is over, or when the server stops.
    pub(super) async fn until_more(self, context: &Context) {
        let mut growth = Growth { by_partition: vec![0; self.partitions.len()], missing: self.missing };
        let moves = FuturesUnordered::new();
        for (index, (partition, seen)) in self.partitions.iter().zip(&self.seen).enumerate() {
            let Ok(log) = &partition.log else { continue };
            let mut bounds = log.subscribe();
            let now = *bounds.borrow_and_update();
            // What happened between the read and now wakes nobody any more.
            let has_moved = now != seen.bounds || !is_readable(log, partition);
            if has_moved && growth.is_enough(index, &self.meaning(partition, log, seen, now)) {
                return;
            }
            moves.push(next_move(index, now, bounds));
        }
        tokio::select! {
            () = self.watch(moves, growth, next_move) => {}
            () = context.handle().sleep_until(self.deadline) => {}
            () = context.stop.cancelled() => {}
        }
    }

    async fn watch<F: Future<Output = Moved>>(
        &self,
        mut moves: FuturesUnordered<F>,
        mut growth: Growth,
        next_move: impl Fn(usize, Bounds, watch::Receiver<Bounds>) -> F,
    ) {
        while let Some(Moved { index, before, mut bounds, is_open }) = moves.next().await {
            let (Some(partition), Some(seen)) = (self.partitions.get(index), self.seen.get(index)) else { return };
            let Ok(log) = &partition.log else { return };
            let now = *bounds.borrow_and_update();
            // A wake-up without a move says that the topic was deleted.
            if !is_open || now == before || growth.is_enough(index, &self.meaning(partition, log, seen, now)) {
                return;
            }
            moves.push(next_move(index, now, bounds));
        }
        // Nothing can move, so only time can end this.
        std::future::pending::<()>().await;
    }

    fn meaning(&self, partition: &Partition, log: &PartitionLog, seen: &Seen, now: Bounds) -> Move {
        if now.log_start > partition.ask.fetch_offset || !is_readable(log, partition) {
            return Move::Matters;
        }
        let has_grown = readable_end(now, self.is_committed) > readable_end(seen.bounds, self.is_committed);
        match has_grown {
            false => Move::Grown(0),
            true if self.missing <= 1 => Move::Matters,
            true => {
                let bytes = log.size_bytes().saturating_sub(seen.size_bytes);
                Move::Grown(usize::try_from(bytes).unwrap_or(usize::MAX).min(partition.ask.max_bytes))
            }
        }
    }
}

/// By how much the partitions have grown since the last read.
struct Growth {
    by_partition: Vec<usize>,
    missing: usize,
}

impl Growth {
    fn is_enough(&mut self, index: usize, meaning: &Move) -> bool {
        let Move::Grown(bytes) = meaning else { return true };
        if let Some(of_partition) = self.by_partition.get_mut(index) {
            *of_partition = *bytes;
        }
        self.by_partition.iter().fold(0usize, |sum, bytes| sum.saturating_add(*bytes)) >= self.missing.max(1)
    }
}

struct Moved {
    index: usize,
    before: Bounds,
    bounds: watch::Receiver<Bounds>,
    is_open: bool,
}

async fn next_move(index: usize, before: Bounds, mut bounds: watch::Receiver<Bounds>) -> Moved {
    let is_open = bounds.changed().await.is_ok();
    Moved { index, before, bounds, is_open }
}

/// Whether a read at the fetch offset would not fail.
fn is_readable(log: &PartitionLog, partition: &Partition) -> bool {
    let nothing = ReadLimit { max_bytes: 0, at_least_one: false };
    let offset = partition.ask.fetch_offset;
    log.read_from_memory(offset, nothing, offset).is_ok()
}
