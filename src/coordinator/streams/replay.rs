//! What records 17 and 19 to 23 do to a streams group (Kafka's `GroupMetadataManager.replay`).
//!
//! The order of keys does not matter: a group exists while any of its records does, a member while its record 19 does,
//! and whatever is derived is undone and redone around each change. A tombstone for something unknown does nothing.

use std::collections::BTreeMap;

use super::group::{StreamsGroup, blank_current};
use super::reconcile::MemberState;
use super::records::StreamsGroupTopologyValue;
use super::tasks::SubtopologyId;
use crate::coordinator::{Group, GroupKind, Record};
use crate::types::{GroupId, Lsn, MemberId, TopicName};

/// Applies a record of a streams group; records of other kinds change nothing.
pub(in crate::coordinator) fn apply(groups: &mut BTreeMap<GroupId, Group>, lsn: Lsn, record: &Record) {
    let group_id = record.group();
    if !groups.contains_key(group_id) {
        if is_tombstone(record) {
            return;
        }
        groups.insert(group_id.clone(), Group::default());
    }
    let Some(group) = groups.get_mut(group_id) else { return };
    if let GroupKind::Simple = group.kind {
        if is_tombstone(record) {
            return;
        }
        // Offsets that came first made a placeholder; a real record gives the group its type.
        group.kind = GroupKind::Streams(Box::default());
    }
    let GroupKind::Streams(streams) = &mut group.kind else { return };
    streams.apply(record);
    group.lsn = group.lsn.max(lsn);
    if streams.is_gone() {
        group.kind = GroupKind::Simple;
    }
    if group.is_nothing() {
        groups.remove(group_id);
    }
}

fn is_tombstone(record: &Record) -> bool {
    match record {
        Record::StreamsGroupMetadata { value, .. } => value.is_none(),
        Record::StreamsGroupMemberMetadata { value, .. } => value.is_none(),
        Record::StreamsGroupTargetAssignmentMetadata { value, .. } => value.is_none(),
        Record::StreamsGroupTargetAssignmentMember { value, .. } => value.is_none(),
        Record::StreamsGroupCurrentMemberAssignment { value, .. } => value.is_none(),
        Record::StreamsGroupTopology { value, .. } => value.is_none(),
        Record::OffsetCommit { .. } | Record::GroupDeleted { .. } => true,
    }
}

impl StreamsGroup {
    fn apply(&mut self, record: &Record) {
        match record {
            Record::StreamsGroupMetadata { value, .. } => self.metadata.clone_from(value),
            Record::StreamsGroupTargetAssignmentMetadata { value, .. } => self.target.clone_from(value),
            Record::StreamsGroupTopology { value, .. } => {
                self.readers = value.as_ref().map(readers).unwrap_or_default();
                self.topology.clone_from(value);
            }
            Record::StreamsGroupTargetAssignmentMember { member, value, .. } => {
                put(&mut self.member_targets, member, value.as_ref());
            }
            Record::StreamsGroupMemberMetadata { member, value, .. } => {
                self.unlink(member);
                put(&mut self.members, member, value.as_ref());
                self.link(member);
            }
            Record::StreamsGroupCurrentMemberAssignment { member, value, .. } => {
                self.unlink(member);
                put(&mut self.current, member, value.as_ref());
                self.link(member);
            }
            Record::OffsetCommit { .. } | Record::GroupDeleted { .. } => {}
        }
    }

    /// Adds what a member contributes to the derived state.
    fn link(&mut self, member_id: &MemberId) {
        let Some(metadata) = self.members.get(member_id) else { return };
        if let Some(instance_id) = &metadata.instance_id {
            self.instances.insert(instance_id.clone(), member_id.clone());
        }
        let current = self.current.get(member_id);
        if let Some(epoch) = settled_epoch(current) {
            *self.settled.entry(epoch).or_default() += 1;
        }
        if let Some(current) = current {
            self.ownership.add(&metadata.process_id, current);
        }
    }

    /// Takes back what [`StreamsGroup::link`] added.
    fn unlink(&mut self, member_id: &MemberId) {
        let Some(metadata) = self.members.get(member_id) else { return };
        if let Some(instance_id) = &metadata.instance_id
            && self.instances.get(instance_id) == Some(member_id)
        {
            self.instances.remove(instance_id);
        }
        let current = self.current.get(member_id);
        if let Some(epoch) = settled_epoch(current)
            && let Some(count) = self.settled.get_mut(&epoch)
        {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.settled.remove(&epoch);
            }
        }
        if let Some(current) = current {
            self.ownership.remove(&metadata.process_id, current);
        }
    }
}

fn put<V: Clone>(values: &mut BTreeMap<MemberId, V>, member_id: &MemberId, value: Option<&V>) {
    match value {
        Some(value) => drop(values.insert(member_id.clone(), value.clone())),
        None => drop(values.remove(member_id)),
    }
}

/// The member epoch of a STABLE member.
fn settled_epoch(current: Option<&super::records::StreamsGroupCurrentMemberAssignmentValue>) -> Option<i32> {
    let (state, epoch) = match current {
        Some(current) => (current.state, current.member_epoch),
        None => (blank_current().state, blank_current().member_epoch),
    };
    (state == MemberState::Stable.to_byte()).then_some(epoch)
}

fn readers(topology: &StreamsGroupTopologyValue) -> BTreeMap<TopicName, Vec<SubtopologyId>> {
    let mut readers: BTreeMap<TopicName, Vec<SubtopologyId>> = BTreeMap::new();
    for subtopology in &topology.subtopologies {
        let repartition = subtopology.repartition_source_topics.iter().map(|topic| &topic.name);
        for topic in subtopology.source_topics.iter().chain(repartition) {
            readers.entry(topic.clone()).or_default().push(subtopology.subtopology_id.clone());
        }
    }
    readers
}
