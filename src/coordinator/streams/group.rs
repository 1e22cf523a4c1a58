//! A streams group's hard state: its records, and what is derived from them.
//!
//! Kafka's `StreamsGroup`. Every field is either the value of a record or a function of such values, whatever the
//! order they were replayed in. The state of the group is never stored.

use std::collections::BTreeMap;

use super::ownership::Ownership;
use super::reconcile::MemberState;
use super::records::{
    StreamsGroupCurrentMemberAssignmentValue, StreamsGroupMemberMetadataValue, StreamsGroupMetadataValue,
    StreamsGroupTargetAssignmentMemberValue, StreamsGroupTargetAssignmentMetadataValue, StreamsGroupTopologyValue,
};
use super::state::StreamsGroupState;
use super::tasks::{ActiveTasks, AssignedTasks, SubtopologyId, TaskSet, Tasks};
use crate::types::{InstanceId, MemberId, TimestampMs, TopicName};

/// The epoch that a new group, and the empty target of a new group, start at (KAFKA-20268).
pub(super) const FIRST_EPOCH: i32 = 1;
/// "No topology epoch".
pub(super) const NO_TOPOLOGY_EPOCH: i32 = -1;

/// A streams group's hard state.
///
/// A member is one that has a record 19; values of types 21 and 22 for other ids wait for theirs and count for nothing.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct StreamsGroup {
    /// Record 17.
    pub(super) metadata: Option<StreamsGroupMetadataValue>,
    /// Record 23.
    pub(super) topology: Option<StreamsGroupTopologyValue>,
    /// Records 19.
    pub(super) members: BTreeMap<MemberId, StreamsGroupMemberMetadataValue>,
    /// Record 20.
    pub(super) target: Option<StreamsGroupTargetAssignmentMetadataValue>,
    /// Records 21.
    pub(super) member_targets: BTreeMap<MemberId, StreamsGroupTargetAssignmentMemberValue>,
    /// Records 22.
    pub(super) current: BTreeMap<MemberId, StreamsGroupCurrentMemberAssignmentValue>,
    /// Which process holds which task, over all members.
    pub(super) ownership: Ownership,
    /// The member of each instance id.
    pub(super) instances: BTreeMap<InstanceId, MemberId>,
    /// How many members are STABLE at each member epoch.
    pub(super) settled: BTreeMap<i32, usize>,
    /// The subtopologies that read each source or repartition source topic.
    pub(super) readers: BTreeMap<TopicName, Vec<SubtopologyId>>,
}

/// The metadata of a group that has no record 17 yet.
pub(super) fn blank_metadata() -> StreamsGroupMetadataValue {
    StreamsGroupMetadataValue {
        epoch: FIRST_EPOCH,
        metadata_hash: 0,
        validated_topology_epoch: NO_TOPOLOGY_EPOCH,
        last_assignment_configs: BTreeMap::new(),
        stored_description_topology_epoch: NO_TOPOLOGY_EPOCH,
        failed_description_topology_epoch: NO_TOPOLOGY_EPOCH,
    }
}

/// The state of a member that has no record 22 yet.
pub(super) fn blank_current() -> StreamsGroupCurrentMemberAssignmentValue {
    StreamsGroupCurrentMemberAssignmentValue {
        member_epoch: 0,
        previous_member_epoch: 0,
        state: MemberState::Stable.to_byte(),
        assigned: AssignedTasks::default(),
        active_pending_revocation: ActiveTasks::default(),
        standby_pending_revocation: TaskSet::default(),
        warmup_pending_revocation: TaskSet::default(),
    }
}

impl StreamsGroup {
    /// Whether it has no members.
    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Whether it reads a topic, as a source or a repartition source. An empty group reads nothing.
    pub(crate) fn is_subscribed_to(&self, topic: &str) -> bool {
        !self.is_empty() && self.readers.contains_key(topic)
    }

    /// The group epoch.
    pub(super) fn epoch(&self) -> i32 {
        self.metadata.as_ref().map_or(FIRST_EPOCH, |metadata| metadata.epoch)
    }

    /// The epoch of the target assignment.
    pub(super) fn assignment_epoch(&self) -> i32 {
        self.target.as_ref().map_or(FIRST_EPOCH, |target| target.assignment_epoch)
    }

    /// When the target was computed; 0 if never, or if the group has been empty since.
    pub(super) fn assignment_timestamp(&self) -> TimestampMs {
        self.target.as_ref().map_or(TimestampMs(0), |target| target.assignment_timestamp)
    }

    /// The target of a member, if one was computed for it.
    pub(super) fn target_of(&self, member_id: &str) -> Option<&Tasks> {
        self.member_targets.get(member_id).map(|target| &target.tasks)
    }

    /// The epoch of the topology, -1 without one.
    #[cfg(test)]
    pub(super) fn topology_epoch(&self) -> i32 {
        self.topology.as_ref().map_or(NO_TOPOLOGY_EPOCH, |topology| topology.epoch)
    }

    /// The state, from the records as they are.
    pub(crate) fn state(&self) -> StreamsGroupState {
        if self.is_empty() {
            return StreamsGroupState::Empty;
        }
        let Some(topology) = &self.topology else { return StreamsGroupState::Initializing };
        let validated = self.metadata.as_ref().map_or(NO_TOPOLOGY_EPOCH, |metadata| metadata.validated_topology_epoch);
        if validated != topology.epoch {
            return StreamsGroupState::NotReady;
        }
        if self.epoch() > self.assignment_epoch() {
            return StreamsGroupState::Assigning;
        }
        let arrived = self.settled.get(&self.assignment_epoch()).copied().unwrap_or(0);
        if arrived < self.members.len() { StreamsGroupState::Reconciling } else { StreamsGroupState::Stable }
    }

    /// Whether no record of it is left, so that it is no group any more.
    pub(super) fn is_gone(&self) -> bool {
        self.metadata.is_none()
            && self.topology.is_none()
            && self.target.is_none()
            && self.members.is_empty()
            && self.member_targets.is_empty()
            && self.current.is_empty()
    }
}
