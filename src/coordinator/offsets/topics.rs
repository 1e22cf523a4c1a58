//! What a deleted topic leaves behind: its offsets in every group, removed a bounded number at a time.
//!
//! Until the sweep has come by, they read as absent, because the catalogue no longer has the id they were committed
//! under. A topic made again under the same name keeps what was committed for it since.

use std::ops::Bound;

use super::step::Step;
use crate::coordinator::{Coordinator, Effect, Group};
use crate::machine::Decision;
use crate::types::{GroupId, TopicId, TopicName};

/// How many topics one pass over the groups looks for; further ones have passes of their own.
const TOPICS_MAX: usize = 500;

/// Removes offsets of `topics` from the groups behind `after`, and asks to be continued where there is more.
pub(crate) fn decide(
    coordinator: &Coordinator,
    mut topics: Vec<(TopicId, TopicName)>,
    after: Option<GroupId>,
) -> Decision<Coordinator> {
    if after.is_none() {
        // Nothing can be committed under a deleted id, so a name without offsets is done with. Only at the start of a
        // pass: topics that moved up in the middle of one would miss the groups before.
        topics.retain(|(_, name)| coordinator.offset_totals.knows(name));
    }
    if topics.is_empty() {
        return Decision::nothing();
    }
    let of_this_pass = topics.get(..TOPICS_MAX).unwrap_or(&topics);
    let start = after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
    let mut step = Step::new();
    let mut done = None;
    let mut is_pass_complete = true;
    for (id, group) in coordinator.groups.range::<GroupId, _>((start, Bound::Unbounded)) {
        if step.is_spent() || !sweep(id, group, of_this_pass, &mut step) {
            is_pass_complete = false;
            break;
        }
        done = Some(id.clone());
    }

    let records = step.records;
    let effects = if !is_pass_complete {
        vec![Effect::ContinueTopicsDeleted { topics, after: done.or(after) }]
    } else if topics.len() > TOPICS_MAX {
        vec![Effect::ContinueTopicsDeleted { topics: topics.split_off(TOPICS_MAX), after: None }]
    } else {
        Vec::new()
    };
    Decision { records, effects, ..Decision::nothing() }
}

/// Removes what a group has of these topics. Tells whether that was all of it.
fn sweep(id: &GroupId, group: &Group, topics: &[(TopicId, TopicName)], step: &mut Step) -> bool {
    for (topic_id, name) in topics {
        step.spend(1);
        let of_topic = group.offsets.named(name).filter(|(key, _)| key.id == *topic_id || key.id.is_zero());
        // Last first, so that what stays is not moved in memory.
        for offset in of_topic.flat_map(|(_, offsets)| offsets.iter().rev()) {
            if step.is_spent() {
                return false;
            }
            step.remove(id, name, offset.partition);
        }
    }
    true
}
