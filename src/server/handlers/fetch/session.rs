//! One incremental fetch session (KIP-227): what a client asks of which partitions, kept from fetch to fetch, so that
//! requests name only what changes and answers only what is new.
//!
//! Answers to Kafka's `FetchSession` and `CachedPartition`.

use std::collections::BTreeMap;

use super::partition::{Ask, Key};
use crate::protocol::messages::fetch_response::PartitionData;
use crate::types::ErrorCode;

/// A session.
#[derive(Debug)]
pub(super) struct Session {
    uses_topic_ids: bool,
    /// What the next fetch must carry.
    epoch: i32,
    partitions: BTreeMap<Key, Cached>,
    /// The order of reading: who was given records goes to the end, so that all get their turn under a tight limit.
    order: BTreeMap<u64, Key>,
    next_place: u64,
}

#[derive(Clone, Copy, Debug)]
struct Cached {
    ask: Ask,
    place: u64,
    /// What the client knows; -1 if it must be told whatever it is.
    high_watermark: i64,
    log_start: i64,
}

/// What of an answer decides whether the client must see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) has_records: bool,
    pub(super) has_error: bool,
    pub(super) is_diverging: bool,
    pub(super) high_watermark: i64,
    pub(super) log_start: i64,
}

impl Change {
    pub(super) fn of(data: &PartitionData) -> Self {
        Self {
            has_records: data.records.as_ref().is_some_and(|records| !records.is_empty()),
            has_error: data.error_code != 0,
            is_diverging: data.diverging_epoch.epoch >= 0,
            high_watermark: data.high_watermark,
            log_start: data.log_start_offset,
        }
    }
}

impl Session {
    /// A session whose first fetch was full: it had epoch 0, so the next one has epoch 1.
    pub(super) fn new(uses_topic_ids: bool, asks: &[(Key, Ask)], changes: &[Change]) -> Self {
        let mut session =
            Self { uses_topic_ids, epoch: 1, partitions: BTreeMap::new(), order: BTreeMap::new(), next_place: 0 };
        session.update(asks, &[]);
        for ((key, _), change) in asks.iter().zip(changes) {
            session.tell(key, change);
        }
        session
    }

    /// How many partitions it has.
    pub(super) fn len(&self) -> usize {
        self.partitions.len()
    }

    /// Checks whether a fetch may use the session.
    pub(super) fn check(&self, epoch: i32, uses_topic_ids: bool) -> Result<(), ErrorCode> {
        if epoch != self.epoch {
            return Err(ErrorCode::InvalidFetchSessionEpoch);
        }
        if uses_topic_ids != self.uses_topic_ids {
            return Err(ErrorCode::FetchSessionTopicIdError);
        }
        Ok(())
    }

    /// Takes over what the fetch changes.
    pub(super) fn update(&mut self, asks: &[(Key, Ask)], forgotten: &[Key]) {
        for (key, ask) in asks {
            self.ask(key, *ask);
        }
        for key in forgotten {
            if let Some(cached) = self.partitions.remove(key) {
                self.order.remove(&cached.place);
            }
        }
    }

    /// Moves on to the next epoch, which is returned.
    pub(super) fn advance(&mut self) -> i32 {
        self.epoch = self.epoch.checked_add(1).unwrap_or(1);
        self.epoch
    }

    /// The epoch that the next fetch must carry.
    pub(super) fn epoch(&self) -> i32 {
        self.epoch
    }

    /// All partitions with what is asked of them, in the order of reading.
    pub(super) fn asks(&self) -> Vec<(Key, Ask)> {
        let asks = self.order.values().filter_map(|key| Some((key.clone(), self.partitions.get(key)?.ask)));
        asks.collect()
    }

    /// Notes what the client is told of a partition. Tells whether there is anything to tell.
    pub(super) fn tell(&mut self, key: &Key, change: &Change) -> bool {
        let Some(cached) = self.partitions.get_mut(key) else { return false };
        let has_moved = change.high_watermark != cached.high_watermark || change.log_start != cached.log_start;
        cached.log_start = change.log_start;
        // After an error or a divergence the next answer must be seen even if it is as the last good one was.
        let must_repeat = change.has_error || change.is_diverging;
        cached.high_watermark = if must_repeat { -1 } else { change.high_watermark };
        if change.has_records {
            self.order.remove(&cached.place);
            cached.place = self.next_place;
            self.order.insert(self.next_place, key.clone());
            self.next_place += 1;
        }
        has_moved || change.has_records || must_repeat
    }

    fn ask(&mut self, key: &Key, ask: Ask) {
        if let Some(cached) = self.partitions.get_mut(key) {
            cached.ask = ask;
            return;
        }
        let place = self.next_place;
        self.next_place += 1;
        self.order.insert(place, key.clone());
        self.partitions.insert(key.clone(), Cached { ask, place, high_watermark: -1, log_start: -1 });
    }
}
