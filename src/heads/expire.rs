//! Forgetting idle producers, a few at a time.
//!
//! Kafka takes a producer for idle when the timestamp of its last record is old; so one that writes old timestamps
//! (a stream that is processed anew) is forgotten while it is at work, and a batch it repeats then is stored twice.
//! Here what counts is when it last wrote. That is not stored: notes of which lsn was reached when tell it for all
//! producers at once. For what was written before the start there is no note, and the timestamps have to do; the
//! first search comes late enough for a producer that was at work to have written again.

use std::collections::VecDeque;
use std::ops::Bound;

use super::{Heads, Record};
use crate::machine::{Decision, Env};
use crate::types::{Lsn, ProducerId, TimestampMs, TopicPartition};

/// How many producers one step looks at.
const PRODUCERS_PER_STEP: usize = 500;
/// At most about so many notes are kept.
const NOTES_MAX: i64 = 100;

/// The search for idle producers.
#[derive(Debug, Default)]
pub(super) struct Sweep {
    /// When the next step is due; `None` while one is on its way.
    due: Option<TimestampMs>,
    /// The last producer that was looked at, in the middle of a search.
    cursor: Option<(TopicPartition, ProducerId)>,
    /// The lsn that was reached at a time, oldest first.
    notes: VecDeque<(TimestampMs, Lsn)>,
    /// The lsn of the load.
    loaded: Lsn,
}

impl Sweep {
    pub(super) fn on_loaded(lsn: Lsn, env: &Env) -> Self {
        Self { due: Some(next_search(env)), cursor: None, notes: VecDeque::from([(env.now, lsn)]), loaded: lsn }
    }

    pub(super) fn next_deadline(&self) -> Option<TimestampMs> {
        self.due
    }

    pub(super) fn pop_due(&mut self, now: TimestampMs) -> bool {
        self.due.take_if(|due| *due <= now).is_some()
    }

    /// Ends a search that went wrong; the next one comes as if it had not.
    pub(super) fn give_up(&mut self, env: &Env) {
        self.cursor = None;
        self.due = Some(next_search(env));
    }

    /// Notes that `lsn` was reached by now, and drops notes that are no longer needed.
    fn note(&mut self, lsn: Lsn, now: TimestampMs, expiration_ms: i64) {
        let is_time = self.notes.back().is_none_or(|(time, _)| ms_between(*time, now) >= expiration_ms / NOTES_MAX);
        if is_time {
            self.notes.push_back((now, lsn));
        }
        while self.notes.get(1).is_some_and(|(time, _)| ms_between(*time, now) >= expiration_ms) {
            self.notes.pop_front();
        }
    }

    /// The newest lsn that is known to have been reached `expiration_ms` ago; 0 if there is none.
    fn reached_before(&self, now: TimestampMs, expiration_ms: i64) -> Lsn {
        match self.notes.front() {
            Some((time, lsn)) if ms_between(*time, now) >= expiration_ms => *lsn,
            _ => Lsn(0),
        }
    }
}

impl Heads {
    pub(super) fn expire_producers(&self, sweep: &mut Sweep, env: &Env) -> Decision<Self> {
        let expiration_ms = expiration_ms(env);
        sweep.note(self.lsn, env.now, expiration_ms);
        let idle_up_to = sweep.reached_before(env.now, expiration_ms);
        let begin = sweep.cursor.take().map_or(Bound::Unbounded, Bound::Excluded);
        let mut rest = self.producers.range((begin, Bound::Unbounded));
        let mut decision = Decision::nothing();
        for (key, producer) in rest.by_ref().take(PRODUCERS_PER_STEP) {
            let was_loaded = producer.lsn() <= sweep.loaded;
            let is_old = ms_between(producer.last_timestamp(), env.now) >= expiration_ms;
            if producer.lsn() <= idle_up_to || (was_loaded && is_old) {
                let (partition, producer_id) = *key;
                decision.records.push(Record::Producer { partition, producer_id, value: None });
            }
            sweep.cursor = Some(*key);
        }
        if rest.next().is_some() {
            sweep.due = Some(env.now);
        } else {
            sweep.cursor = None;
            sweep.due = Some(next_search(env));
        }
        decision
    }
}

fn next_search(env: &Env) -> TimestampMs {
    env.now.plus_ms(i64::from(env.config.producer_id_expiration_check_interval_ms))
}

/// `producer.id.expiration.ms`, which can change while the server runs.
fn expiration_ms(env: &Env) -> i64 {
    let changed = env.image.broker_configs.get("producer.id.expiration.ms").and_then(|value| value.trim().parse().ok());
    changed.unwrap_or(i64::from(env.config.producer_id_expiration_ms))
}

fn ms_between(earlier: TimestampMs, later: TimestampMs) -> i64 {
    later.0.saturating_sub(earlier.0)
}
