//! Committed offsets of groups of every type: `OffsetCommit`, `OffsetFetch`, `OffsetDelete`, and how offsets go away by
//! themselves (Kafka's `OffsetMetadataManager`).
//!
//! The rules that differ by type of group are in [`kinds`]; everything else does not know types.

pub(crate) mod commit;
pub(crate) mod delete;
mod entry;
pub(crate) mod expiry;
pub(crate) mod fetch;
mod kinds;
mod resolve;
mod slots;
mod state;
mod step;
pub(crate) mod topics;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub(crate) use state::{GroupOffsets, Totals};

use super::{Coordinator, OffsetCommitValue};
use crate::types::{GroupId, Lsn, TopicName};

/// Applies [`Record::OffsetCommit`](super::Record::OffsetCommit). A value may be the first of its group, which then is a
/// simple one; with its last offset a simple group is gone.
pub(super) fn replay(
    coordinator: &mut Coordinator,
    lsn: Lsn,
    group_id: &GroupId,
    topic: &TopicName,
    partition: i32,
    value: Option<&OffsetCommitValue>,
) {
    if value.is_some() && !coordinator.groups.contains_key(group_id) {
        coordinator.groups.insert(group_id.clone(), super::Group::default());
    }
    let Some(group) = coordinator.groups.get_mut(group_id) else { return };
    group.lsn = group.lsn.max(lsn);
    coordinator.offset_totals.apply(&mut group.offsets, topic, partition, value);
    if group.is_nothing() {
        coordinator.groups.remove(group_id);
    }
}
