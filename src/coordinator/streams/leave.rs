//! Members that go: for good, for a while, or because they were silent or slow.

use super::StreamsGroup;
use super::group::blank_current;
use super::heartbeat::records::tombstones;
use super::heartbeat::{LEAVE_EPOCH, LEAVE_STATIC_EPOCH, lookup};
use super::reconcile::MemberState;
use super::records::{
    StreamsGroupCurrentMemberAssignmentValue, StreamsGroupMetadataValue, StreamsGroupTargetAssignmentMetadataValue,
};
use super::tasks::{ActiveTasks, TaskSet};
use super::{group, response, timers};
use crate::coordinator::{Coordinator, GroupError, Record, Soft, TimerKey};
use crate::machine::Decision;
use crate::protocol::messages::{StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse};
use crate::types::{GroupId, MemberId, TimestampMs};

/// Works a leave out.
pub(super) fn work_out(
    group: &StreamsGroup,
    soft: &mut Soft,
    request: &StreamsGroupHeartbeatRequest,
) -> Result<(StreamsGroupHeartbeatResponse, Decision<Coordinator>), GroupError> {
    let group_id = GroupId::from(&*request.group_id);
    let member_id = lookup::leaver(group, request)?;
    if request.shutdown_application {
        remember_shutdown(soft, &group_id, &member_id);
    }
    let records = if request.member_epoch == LEAVE_STATIC_EPOCH {
        soft.timers.cancel(&TimerKey::StreamsRebalance(group_id.clone(), member_id.clone()));
        park(group, &group_id, &member_id)
    } else {
        remove(group, soft, &group_id, &member_id)
    };
    let epoch = if request.member_epoch == LEAVE_STATIC_EPOCH { LEAVE_STATIC_EPOCH } else { LEAVE_EPOCH };
    Ok((response::farewell(&member_id, epoch), Decision { records, ..Decision::nothing() }))
}

fn remember_shutdown(soft: &mut Soft, group_id: &GroupId, member_id: &MemberId) {
    let group = soft.streams.entry(group_id.clone()).or_default();
    if group.shutdown_requested_by.is_none() {
        group.shutdown_requested_by = Some(member_id.clone());
    }
}

/// Removes a member: its records go, the group epoch rises, and everything that waits for it is forgotten. The others
/// get its tasks with the assignment of their next heartbeat.
pub(super) fn remove(group: &StreamsGroup, soft: &mut Soft, group_id: &GroupId, member_id: &MemberId) -> Vec<Record> {
    let is_last = group.members.len() == 1;
    timers::forget_member(soft, group_id, member_id);
    if group.members.get(member_id).is_some_and(|metadata| metadata.user_endpoint.is_some()) {
        // Kafka 4.4.0 does not tell the others.
        let soft_group = soft.streams.entry(group_id.clone()).or_default();
        soft_group.endpoint_epoch = soft_group.endpoint_epoch.wrapping_add(1);
    }
    if is_last && let Some(soft_group) = soft.streams.get_mut(group_id) {
        soft_group.shutdown_requested_by = None;
    }
    let metadata = group.metadata.clone().unwrap_or_else(group::blank_metadata);
    let epoch = metadata.epoch.saturating_add(1);
    let mut records = Vec::from(tombstones(group_id, member_id));
    records.push(Record::StreamsGroupMetadata {
        group: group_id.clone(),
        value: Some(StreamsGroupMetadataValue { epoch, ..metadata }),
    });
    if is_last {
        // So that an empty group is not left with a target behind its epoch, and the next first member does not wait
        // for the assignment interval (KAFKA-20442).
        records.push(Record::StreamsGroupTargetAssignmentMetadata {
            group: group_id.clone(),
            value: Some(StreamsGroupTargetAssignmentMetadataValue {
                assignment_epoch: epoch,
                assignment_timestamp: TimestampMs(0),
            }),
        });
    }
    records
}

/// A static member that leaves for a while keeps its tasks until it is back or its session ends. What it was to give up
/// it has given up by leaving.
fn park(group: &StreamsGroup, group_id: &GroupId, member_id: &MemberId) -> Vec<Record> {
    let stored = group.current.get(member_id).cloned().unwrap_or_else(blank_current);
    let mut assigned = stored.assigned.clone();
    assigned.active = ActiveTasks::at_epoch(&assigned.active.to_set(), 0);
    let parked = StreamsGroupCurrentMemberAssignmentValue {
        member_epoch: LEAVE_STATIC_EPOCH,
        previous_member_epoch: stored.previous_member_epoch,
        state: MemberState::Stable.to_byte(),
        assigned,
        active_pending_revocation: ActiveTasks::default(),
        standby_pending_revocation: TaskSet::default(),
        warmup_pending_revocation: TaskSet::default(),
    };
    if parked == stored {
        return Vec::new();
    }
    vec![Record::StreamsGroupCurrentMemberAssignment {
        group: group_id.clone(),
        member: member_id.clone(),
        value: Some(parked),
    }]
}
