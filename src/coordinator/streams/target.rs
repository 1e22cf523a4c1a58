//! When a target assignment is computed, from what, and what of it is written (Kafka's `TargetAssignmentBuilder`).

use std::collections::BTreeMap;

use super::StreamsGroup;
use super::assignor::{AssignmentInput, MemberSpec};
use super::configure::ConfiguredTopology;
use super::records::{
    StreamsGroupCurrentMemberAssignmentValue, StreamsGroupMemberMetadataValue, StreamsGroupTargetAssignmentMemberValue,
    StreamsGroupTargetAssignmentMetadataValue,
};
use super::soft::{SoftGroup, SoftMember, TaskOffsets};
use super::tasks::Tasks;
use crate::config::GroupConfig;
use crate::coordinator::{GroupError, Record};
use crate::types::{ErrorCode, GroupId, MemberId, TimestampMs};

/// Why a target that is due is not computed yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delay {
    /// The group has just got its first member; more may come.
    Initial,
    /// The last assignment is too recent.
    Interval,
}

/// What an assignment knows of one member.
pub(super) struct Candidate<'a> {
    pub(super) metadata: &'a StreamsGroupMemberMetadataValue,
    pub(super) current: Option<&'a StreamsGroupCurrentMemberAssignmentValue>,
    pub(super) task_offsets: Option<&'a TaskOffsets>,
    pub(super) task_end_offsets: Option<&'a TaskOffsets>,
}

/// Whether enough time has passed since the last assignment. After the last member left its time counts as never.
pub(super) fn is_interval_over(last: TimestampMs, interval_ms: i32, now: TimestampMs) -> bool {
    last == TimestampMs(0) || interval_ms == 0 || now >= last.plus_ms(i64::from(interval_ms))
}

/// The members of a group as an assignment sees them.
pub(super) fn candidates<'a>(
    group: &'a StreamsGroup,
    soft: Option<&'a SoftGroup>,
) -> BTreeMap<MemberId, Candidate<'a>> {
    let of_member = |(member_id, metadata): (&MemberId, &'a StreamsGroupMemberMetadataValue)| {
        let told: Option<&SoftMember> = soft.and_then(|soft| soft.members.get(member_id));
        let candidate = Candidate {
            metadata,
            current: group.current.get(member_id),
            task_offsets: told.map(|member| &member.task_offsets),
            task_end_offsets: told.map(|member| &member.task_end_offsets),
        };
        (member_id.clone(), candidate)
    };
    group.members.iter().map(of_member).collect()
}

/// Computes the target of every member. While topics are missing nobody is to have any task.
pub(super) fn compute(
    candidates: &BTreeMap<MemberId, Candidate<'_>>,
    configured: &ConfiguredTopology,
    assignment_configs: &BTreeMap<String, String>,
    config: &GroupConfig,
) -> Result<BTreeMap<MemberId, Tasks>, GroupError> {
    let Some(subtopologies) = configured.subtopologies.as_ref().filter(|_| configured.is_ready()) else {
        return Ok(candidates.keys().map(|member_id| (member_id.clone(), Tasks::default())).collect());
    };
    let input = AssignmentInput {
        members: candidates.iter().map(|(member_id, candidate)| (member_id.clone(), candidate.spec())).collect(),
        subtopologies,
        num_standby_replicas: super::config::num_standby_replicas(assignment_configs),
    };
    let assignor = super::config::assignor(config).ok_or_else(failed)?;
    let mut targets = assignor.assign(&input).map_err(|_| failed())?;
    // The records name exactly the members there are, whatever an assignor thinks of them.
    targets.retain(|member_id, _| candidates.contains_key(member_id));
    for member_id in candidates.keys() {
        if !targets.contains_key(member_id) {
            targets.insert(member_id.clone(), Tasks::default());
        }
    }
    Ok(targets)
}

/// The records of a computed target: that of each member whose target is new or another one, then the epoch.
pub(super) fn records<'a>(
    group_id: &GroupId,
    targets: &BTreeMap<MemberId, Tasks>,
    stored: impl Fn(&MemberId) -> Option<&'a Tasks>,
    metadata: &StreamsGroupTargetAssignmentMetadataValue,
) -> Vec<Record> {
    let changed = targets.iter().filter(|(member_id, tasks)| stored(member_id) != Some(*tasks));
    let mut records: Vec<Record> =
        changed.map(|(member_id, tasks)| member_record(group_id, member_id, tasks.clone())).collect();
    records
        .push(Record::StreamsGroupTargetAssignmentMetadata { group: group_id.clone(), value: Some(metadata.clone()) });
    records
}

/// The record of one member's target.
pub(super) fn member_record(group_id: &GroupId, member_id: &MemberId, tasks: Tasks) -> Record {
    Record::StreamsGroupTargetAssignmentMember {
        group: group_id.clone(),
        member: member_id.clone(),
        value: Some(StreamsGroupTargetAssignmentMemberValue { tasks }),
    }
}

/// Kafka keeps the reason to itself.
fn failed() -> GroupError {
    GroupError { code: ErrorCode::UnknownServerError, message: None }
}

impl Candidate<'_> {
    fn spec(&self) -> MemberSpec {
        let assigned = self.current.map(|current| &current.assigned);
        MemberSpec {
            process_id: self.metadata.process_id.clone(),
            rack_id: self.metadata.rack_id.clone(),
            client_tags: self.metadata.client_tags.clone(),
            active: assigned.map(|tasks| tasks.active.to_set()).unwrap_or_default(),
            standby: assigned.map(|tasks| tasks.standby.clone()).unwrap_or_default(),
            warmup: assigned.map(|tasks| tasks.warmup.clone()).unwrap_or_default(),
            task_offsets: self.task_offsets.cloned().unwrap_or_default(),
            task_end_offsets: self.task_end_offsets.cloned().unwrap_or_default(),
        }
    }
}
