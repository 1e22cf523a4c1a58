//! The fetch sessions of all clients, bounded in number and size (Kafka's `FetchManager` and `FetchSessionCache`).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::partition::{Ask, Key};
use super::session::{Change, Session};
use crate::machine::Rng;
use crate::types::{ErrorCode, TimestampMs};

/// The epoch of a fetch that names all its partitions and wants a session.
const INITIAL_EPOCH: i32 = 0;
/// The epoch of a fetch that names all its partitions and wants none.
const FINAL_EPOCH: i32 = -1;
/// The id of no session.
const NO_SESSION: i32 = 0;
/// A session that was not used for so long gives way to a new one; one that exists for so long, to a larger one.
const EVICTION_MS: i64 = 120_000;
/// How many partitions all sessions together may remember.
const PARTITIONS_MAX: usize = 500_000;

/// How a fetch begins: which session it means, and what it names.
pub(super) struct Start {
    pub(super) session_id: i32,
    pub(super) session_epoch: i32,
    pub(super) uses_topic_ids: bool,
    pub(super) asks: Vec<(Key, Ask)>,
    pub(super) forgotten: Vec<Key>,
}

/// A fetch that has begun.
pub(super) struct Begun {
    asks: Vec<(Key, Ask)>,
    kind: Kind,
}

enum Kind {
    Sessionless,
    WantsSession { uses_topic_ids: bool },
    Incremental { id: i32, epoch: i32, session: Arc<Mutex<Session>> },
}

/// All sessions.
pub(in crate::server) struct Sessions {
    slots: usize,
    partitions_max: usize,
    cache: Mutex<Cache>,
}

struct Cache {
    rng: Rng,
    entries: BTreeMap<i32, Entry>,
    /// The sum of the entries' sizes.
    partitions: usize,
}

struct Entry {
    session: Arc<Mutex<Session>>,
    size: usize,
    created: TimestampMs,
    last_used: TimestampMs,
}

impl Begun {
    /// The partitions to read, in order, with what is asked of each.
    pub(super) fn asks(&self) -> &[(Key, Ask)] {
        &self.asks
    }
}

impl Sessions {
    /// Room for so many sessions. Their ids come from `seed`.
    pub(in crate::server) fn new(slots: usize, seed: u64) -> Self {
        Self::bounded(slots, PARTITIONS_MAX, seed)
    }

    pub(super) fn bounded(slots: usize, partitions_max: usize, seed: u64) -> Self {
        let cache = Cache { rng: Rng::from_seed(seed), entries: BTreeMap::new(), partitions: 0 };
        Self { slots, partitions_max, cache: Mutex::new(cache) }
    }

    /// Finds out what a fetch is to read. A full fetch ends the session that it names.
    pub(super) fn begin(&self, start: Start, now: TimestampMs) -> Result<Begun, ErrorCode> {
        match start.session_epoch {
            INITIAL_EPOCH | FINAL_EPOCH => {
                if start.session_id != NO_SESSION {
                    lock(&self.cache).remove(start.session_id);
                }
                let kind = match start.session_epoch {
                    FINAL_EPOCH => Kind::Sessionless,
                    _ => Kind::WantsSession { uses_topic_ids: start.uses_topic_ids },
                };
                Ok(Begun { asks: start.asks, kind })
            }
            epoch => self.begin_incremental(&start, epoch, now),
        }
    }

    fn begin_incremental(&self, start: &Start, epoch: i32, now: TimestampMs) -> Result<Begun, ErrorCode> {
        let id = start.session_id;
        let session = lock(&self.cache).touch(id, now).ok_or(ErrorCode::FetchSessionIdNotFound)?;
        let (asks, size, next_epoch) = {
            let mut session = lock(&session);
            session.check(epoch, start.uses_topic_ids)?;
            session.update(&start.asks, &start.forgotten);
            (session.asks(), session.len(), session.advance())
        };
        if asks.is_empty() {
            // Nothing is left to remember.
            lock(&self.cache).remove(id);
            return Ok(Begun { asks, kind: Kind::Sessionless });
        }
        if !lock(&self.cache).resize(id, size, self.partitions_max) {
            return Err(ErrorCode::FetchSessionIdNotFound);
        }
        Ok(Begun { asks, kind: Kind::Incremental { id, epoch: next_epoch, session } })
    }

    /// Notes what was read. Returns the id of the session, and for each partition whether the client must see it.
    pub(super) fn finish(
        &self,
        begun: &Begun,
        changes: &[Change],
        now: TimestampMs,
    ) -> Result<(i32, Vec<bool>), ErrorCode> {
        match &begun.kind {
            Kind::Sessionless => Ok((NO_SESSION, vec![true; changes.len()])),
            Kind::WantsSession { uses_topic_ids } => {
                // Partitions that are named twice count twice here: the check is only stricter.
                let has_room = lock(&self.cache).make_room(self, changes.len(), now);
                let id = if has_room {
                    let session = Session::new(*uses_topic_ids, &begun.asks, changes);
                    lock(&self.cache).insert(session, now)
                } else {
                    NO_SESSION
                };
                Ok((id, vec![true; changes.len()]))
            }
            Kind::Incremental { id, epoch, session } => {
                let mut session = lock(session);
                // Another fetch of the same session came between: this answer would confuse its client.
                if session.epoch() != *epoch {
                    return Err(ErrorCode::InvalidFetchSessionEpoch);
                }
                let answered = begun.asks.iter().zip(changes);
                Ok((*id, answered.map(|((key, _), change)| session.tell(key, change)).collect()))
            }
        }
    }

    #[cfg(test)]
    pub(super) fn sizes(&self) -> (usize, usize) {
        let cache = lock(&self.cache);
        (cache.entries.len(), cache.partitions)
    }
}

impl Cache {
    fn touch(&mut self, id: i32, now: TimestampMs) -> Option<Arc<Mutex<Session>>> {
        let entry = self.entries.get_mut(&id)?;
        entry.last_used = now;
        Some(Arc::clone(&entry.session))
    }

    fn remove(&mut self, id: i32) {
        if let Some(entry) = self.entries.remove(&id) {
            self.partitions = self.partitions.saturating_sub(entry.size);
        }
    }

    /// Notes the size of a session; one that makes all together too large is dropped.
    fn resize(&mut self, id: i32, size: usize, partitions_max: usize) -> bool {
        let Some(entry) = self.entries.get_mut(&id) else { return true };
        self.partitions = self.partitions.saturating_sub(entry.size).saturating_add(size);
        entry.size = size;
        let fits = self.partitions <= partitions_max;
        if !fits {
            self.remove(id);
        }
        fits
    }

    /// Makes room for one more session of `size` partitions, if another one may be dropped for it.
    fn make_room(&mut self, limits: &Sessions, size: usize, now: TimestampMs) -> bool {
        if limits.slots == 0 || self.partitions.saturating_add(size) > limits.partitions_max {
            return false;
        }
        if self.entries.len() < limits.slots {
            return true;
        }
        let is_old = |since: TimestampMs| now.0.saturating_sub(since.0) > EVICTION_MS;
        let unused = self.entries.iter().min_by_key(|(_, entry)| entry.last_used);
        let smallest =
            self.entries.iter().filter(|(_, entry)| is_old(entry.created)).min_by_key(|(_, entry)| entry.size);
        let victim = unused
            .filter(|(_, entry)| is_old(entry.last_used))
            .or_else(|| smallest.filter(|(_, entry)| entry.size < size))
            .map(|(id, _)| *id);
        if let Some(victim) = victim {
            self.remove(victim);
        }
        victim.is_some()
    }

    fn insert(&mut self, session: Session, now: TimestampMs) -> i32 {
        let id = loop {
            let id = i32::try_from(self.rng.next_u64() >> 33).unwrap_or(NO_SESSION);
            if id != NO_SESSION && !self.entries.contains_key(&id) {
                break id;
            }
        };
        let size = session.len();
        self.partitions = self.partitions.saturating_add(size);
        self.entries.insert(id, Entry { session: Arc::new(Mutex::new(session)), size, created: now, last_used: now });
        id
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic under one of these locks costs a client its session at worst: the next fetch finds another epoch.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
