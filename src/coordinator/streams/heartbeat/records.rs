//! The records of a heartbeat, in the order Kafka writes them.

use super::plan::Plan;
use crate::coordinator::Record;
use crate::coordinator::streams::target;
use crate::types::{GroupId, MemberId};

/// What a heartbeat writes; nothing if nothing changes.
pub(super) fn of(group_id: &GroupId, plan: &Plan<'_>) -> Vec<Record> {
    let group = group_id.clone();
    let mut records = takeover(group_id, plan);
    if let Some(metadata) = &plan.next_metadata {
        let member = plan.member.member_id.clone();
        records.push(Record::StreamsGroupMemberMetadata {
            group: group.clone(),
            member,
            value: Some(metadata.clone()),
        });
    }
    if let Some(topology) = &plan.next_topology {
        records.push(Record::StreamsGroupTopology { group: group.clone(), value: Some(topology.clone()) });
    }
    if let Some(metadata) = &plan.next_group_metadata {
        records.push(Record::StreamsGroupMetadata { group: group.clone(), value: Some(metadata.clone()) });
    }
    if let Some((targets, metadata)) = &plan.target.computed {
        let stored = |member_id: &MemberId| {
            let is_own = *member_id == plan.member.member_id;
            if is_own { plan.member.target } else { plan.group.target_of(member_id) }
        };
        records.extend(target::records(group_id, targets, stored, metadata));
    }
    if let Some(current) = &plan.next_current {
        let member = plan.member.member_id.clone();
        records.push(Record::StreamsGroupCurrentMemberAssignment { group, member, value: Some(current.clone()) });
    }
    records
}

/// A static member that is back under another id, or its own: all records of the one that went away move over.
fn takeover(group_id: &GroupId, plan: &Plan<'_>) -> Vec<Record> {
    let Some(holder) = &plan.member.replaces else { return Vec::new() };
    let group = group_id.clone();
    let member = plan.member.member_id.clone();
    let mut records = Vec::from(tombstones(group_id, holder));
    records.extend([
        Record::StreamsGroupMemberMetadata {
            group: group.clone(),
            member: member.clone(),
            value: Some(plan.member.metadata.clone().into_owned()),
        },
        target::member_record(group_id, &member, plan.member.target.cloned().unwrap_or_default()),
        Record::StreamsGroupCurrentMemberAssignment {
            group,
            member,
            value: Some(plan.member.current.clone().into_owned()),
        },
    ]);
    records
}

/// Removes everything about a member.
pub(in crate::coordinator::streams) fn tombstones(group_id: &GroupId, member_id: &MemberId) -> [Record; 3] {
    let (group, member) = (group_id.clone(), member_id.clone());
    [
        Record::StreamsGroupCurrentMemberAssignment { group: group.clone(), member: member.clone(), value: None },
        Record::StreamsGroupTargetAssignmentMember { group: group.clone(), member: member.clone(), value: None },
        Record::StreamsGroupMemberMetadata { group, member, value: None },
    ]
}
