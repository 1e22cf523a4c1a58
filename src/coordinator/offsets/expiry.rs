//! Expiry of offsets nobody uses, and removal of groups that have none left and no members (KIP-211, KIP-496; Kafka's
//! `OffsetExpirationConditionImpl` and `GroupCoordinatorShard::cleanupGroupMetadata`).
//!
//! A timer starts a sweep over all groups. The sweep goes in steps, one millisecond apart, so that requests come in
//! between; where it stands is soft state, and a restart simply starts the next sweep one interval later.

use std::ops::Bound;

use super::kinds;
use super::slots::CommittedOffset;
use super::state::{Position, TopicKey};
use super::step::Step;
use crate::coordinator::{Coordinator, Group, Record, Soft, TimerKey};
use crate::machine::{Decision, Env};
use crate::types::{GroupId, Image, TimestampMs};

const MS_PER_MINUTE: i64 = 60_000;
/// The pause between two steps of a sweep.
const STEP_INTERVAL_MS: i64 = 1;

/// Where a sweep goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// The last group that was looked at.
    group: GroupId,
    /// Where to go on within it; nothing if it is done.
    before: Option<Position>,
}

/// Arms the timer of the next sweep.
pub(crate) fn arm(soft: &mut Soft, env: &Env) {
    let deadline = env.now.plus_ms(env.config.offsets_retention_check_interval_ms);
    soft.timers.set(TimerKey::OffsetRetention, deadline);
}

/// Does one step of a sweep.
pub(crate) fn decide(coordinator: &Coordinator, soft: &mut Soft, env: &Env) -> Decision<Coordinator> {
    arm(soft, env);
    let sweep = Sweep {
        image: &env.image,
        now: env.now,
        retention_ms: i64::from(env.config.offsets_retention_minutes) * MS_PER_MINUTE,
    };
    let start = soft.expiry_cursor.take();
    let from = match &start {
        None => Bound::Unbounded,
        Some(Cursor { group, before: None }) => Bound::Excluded(group),
        Some(Cursor { group, before: Some(_) }) => Bound::Included(group),
    };
    let mut step = Step::new();
    let mut cursor = None;
    for (id, group) in coordinator.groups.range::<GroupId, _>((from, Bound::Unbounded)) {
        if step.is_spent() {
            break;
        }
        let before = start.as_ref().filter(|cursor| cursor.group == *id).and_then(|cursor| cursor.before.as_ref());
        let stopped_at = sweep.group(id, group, before, &mut step);
        cursor = Some(Cursor { group: id.clone(), before: stopped_at });
    }
    if step.is_spent() {
        soft.expiry_cursor = cursor;
        soft.timers.set(TimerKey::OffsetRetention, env.now.plus_ms(STEP_INTERVAL_MS));
    }
    Decision { records: step.records, ..Decision::nothing() }
}

struct Sweep<'a> {
    image: &'a Image,
    now: TimestampMs,
    retention_ms: i64,
}

impl Sweep<'_> {
    /// Goes through one group, and removes it if nothing of it is left. Returns where it had to stop, if it had to.
    fn group(&self, id: &GroupId, group: &Group, before: Option<&Position>, step: &mut Step) -> Option<Position> {
        step.spend(1);
        let removed_before = step.records.len();
        let mut last_topic: Option<(&TopicKey, bool)> = None;
        for (topic, offset) in group.offsets.iter_back(before) {
            let is_kept = match last_topic {
                Some((last, is_kept)) if std::ptr::eq(last, topic) => is_kept,
                _ => self.is_in_use(group, topic),
            };
            last_topic = Some((topic, is_kept));
            step.spend(1);
            if !is_kept && self.is_expired(offset) {
                step.remove(id, &topic.name, offset.partition);
            }
            if step.is_spent() {
                return Some(Position { topic: topic.clone(), partition: offset.partition });
            }
        }
        let removed = step.records.len() - removed_before;
        if removed == group.offsets.len() && kinds::is_removable(group) {
            step.records.push(Record::GroupDeleted { group: id.clone() });
        }
        None
    }

    /// Whether the group reads this topic now. An earlier topic of the name is not what it reads.
    fn is_in_use(&self, group: &Group, topic: &TopicKey) -> bool {
        let is_of_earlier_topic =
            !topic.id.is_zero() && self.image.topic(&topic.name).is_none_or(|current| current.id != topic.id);
        !is_of_earlier_topic && kinds::is_subscribed_to(group, &topic.name)
    }

    fn is_expired(&self, offset: &CommittedOffset) -> bool {
        match offset.expire_timestamp() {
            Some(at) => self.now >= at,
            None => self.now.0.saturating_sub(offset.commit_timestamp.0) >= self.retention_ms,
        }
    }
}
