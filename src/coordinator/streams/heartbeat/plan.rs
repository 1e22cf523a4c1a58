//! What a heartbeat comes to, step by step. Each step takes what the steps before it found, not what is stored.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::lookup::{self, Resolved};
use super::report::{self, ReportedOffsets};
use super::{JOIN_EPOCH, View};
use crate::coordinator::GroupError;
use crate::coordinator::streams::StreamsGroup;
use crate::coordinator::streams::config;
use crate::coordinator::streams::configure::ConfiguredTopology;
use crate::coordinator::streams::group::{NO_TOPOLOGY_EPOCH, blank_metadata};
use crate::coordinator::streams::member;
use crate::coordinator::streams::ownership::Ownership;
use crate::coordinator::streams::reconcile::{MemberState, Reconciling, reconcile};
use crate::coordinator::streams::records::{
    StreamsGroupCurrentMemberAssignmentValue, StreamsGroupMemberMetadataValue, StreamsGroupMetadataValue,
    StreamsGroupTargetAssignmentMetadataValue, StreamsGroupTopologyValue,
};
use crate::coordinator::streams::soft::configured;
use crate::coordinator::streams::target::{self, Candidate, Delay};
use crate::coordinator::streams::tasks::Tasks;
use crate::coordinator::streams::topology;
use crate::coordinator::streams::wire;
use crate::machine::Asked;
use crate::protocol::messages::StreamsGroupHeartbeatRequest;
use crate::types::{ErrorCode, MemberId};

/// What a heartbeat comes to. `None` in a `next_` field means that nothing is written there.
pub(in crate::coordinator::streams) struct Plan<'a> {
    pub(in crate::coordinator::streams) group: &'a StreamsGroup,
    pub(in crate::coordinator::streams) is_new_group: bool,
    pub(in crate::coordinator::streams) joins: bool,
    pub(in crate::coordinator::streams) member: Resolved<'a>,
    pub(in crate::coordinator::streams) next_metadata: Option<StreamsGroupMemberMetadataValue>,
    pub(in crate::coordinator::streams) next_topology: Option<StreamsGroupTopologyValue>,
    pub(in crate::coordinator::streams) topology_epoch: i32,
    pub(in crate::coordinator::streams) configured: Arc<ConfiguredTopology>,
    pub(in crate::coordinator::streams) owned: Option<Tasks>,
    pub(in crate::coordinator::streams) offsets: ReportedOffsets,
    pub(in crate::coordinator::streams) next_group_metadata: Option<StreamsGroupMetadataValue>,
    pub(in crate::coordinator::streams) starts_initial_delay: bool,
    pub(in crate::coordinator::streams) target: TargetStep,
    pub(in crate::coordinator::streams) next_current: Option<StreamsGroupCurrentMemberAssignmentValue>,
}

/// What becomes of the target assignment.
pub(in crate::coordinator::streams) struct TargetStep {
    /// Its epoch.
    pub(in crate::coordinator::streams) epoch: i32,
    /// The targets of all members, and what is stored with them, if they were computed.
    pub(in crate::coordinator::streams) computed:
        Option<(BTreeMap<MemberId, Tasks>, StreamsGroupTargetAssignmentMetadataValue)>,
    /// Why a target that is due was not computed.
    pub(in crate::coordinator::streams) delay: Option<Delay>,
}

impl Plan<'_> {
    /// The member's metadata as it will be.
    pub(in crate::coordinator::streams) fn metadata(&self) -> &StreamsGroupMemberMetadataValue {
        self.next_metadata.as_ref().unwrap_or(&self.member.metadata)
    }

    /// The member's tasks as they will be.
    pub(in crate::coordinator::streams) fn current(&self) -> &StreamsGroupCurrentMemberAssignmentValue {
        self.next_current.as_ref().unwrap_or(&self.member.current)
    }

    /// Whether what the member may own changes.
    pub(in crate::coordinator::streams) fn assigned_tasks_change(&self) -> bool {
        self.current().assigned != self.member.current.assigned
    }
}

/// Works a join or a regular heartbeat out.
pub(super) fn make<'a>(
    view: &View<'a, '_>,
    asked: &Asked<StreamsGroupHeartbeatRequest>,
) -> Result<Plan<'a>, GroupError> {
    let request = &asked.request;
    lookup::check_size(view, request)?;
    let owned = wire::owned_tasks(request);
    let member = lookup::member(view, request, owned.as_ref())?;
    let next_metadata = member::updated(&member.metadata, asked);
    let next_topology = first_topology(view.group, request)?;
    let stored_topology = view.group.topology.as_ref();
    let Some(topology) = next_topology.as_ref().or(stored_topology) else { return Err(no_topology()) };
    let configured = configured(view.soft, topology, &view.env.image)?;
    if let Some(owned) = &owned {
        report::check_owned(owned, &configured)?;
    }
    let offsets = report::offsets(request)?;
    let metadata = next_metadata.as_ref().unwrap_or(&member.metadata);
    let speaks_as_static = request.instance_id.is_some();
    let member_asks = member::asks_for_assignment(&member.metadata, metadata, speaks_as_static)
        || leaves_a_place(view.group, &member);
    let next_group_metadata = group_metadata(view, &configured, topology.epoch, member_asks);
    let starts_initial_delay =
        view.group.is_empty() && view.config.streams_initial_rebalance_delay_ms > 0 && !view.initial_delay_is_running;

    let mut plan = Plan {
        group: view.group,
        is_new_group: view.is_new_group,
        joins: request.member_epoch == JOIN_EPOCH,
        topology_epoch: topology.epoch,
        next_metadata,
        next_topology,
        configured,
        owned,
        offsets,
        next_group_metadata,
        starts_initial_delay,
        target: TargetStep { epoch: view.group.assignment_epoch(), computed: None, delay: None },
        next_current: None,
        member,
    };
    plan.target = target_step(view, &plan)?;
    plan.next_current = next_current(&plan)?;
    Ok(plan)
}

/// Cannot happen with the released protocol: a group gets its topology with its first member.
fn no_topology() -> GroupError {
    GroupError { code: ErrorCode::UnknownServerError, message: None }
}

/// The topology that a join brings into a group without one. Into a group that has one, a join may bring the same
/// again, or an older one: then the member works on the group's, and is told.
fn first_topology(
    group: &StreamsGroup,
    request: &StreamsGroupHeartbeatRequest,
) -> Result<Option<StreamsGroupTopologyValue>, GroupError> {
    let Some(brought) = request.topology.as_ref().filter(|_| request.member_epoch == JOIN_EPOCH) else {
        return Ok(None);
    };
    let brought = topology::from_wire(brought)?;
    let Some(stored) = &group.topology else { return Ok(Some(brought)) };
    if brought.epoch >= stored.epoch && brought != *stored {
        return Err(GroupError::new(ErrorCode::InvalidRequest, "Topology updates are not supported yet."));
    }
    Ok(None)
}

/// Whether a member takes a static place and gives up one it had of its own, and with it that place's tasks. (Kafka 4.4.0
/// forgets those tasks until something else asks for an assignment.)
fn leaves_a_place(group: &StreamsGroup, member: &Resolved<'_>) -> bool {
    member
        .replaces
        .as_ref()
        .is_some_and(|holder| *holder != member.member_id && group.members.contains_key(&member.member_id))
}

/// Record 17 if the group epoch rises: because of the member, of topics, of their being in order, or of settings.
fn group_metadata(
    view: &View<'_, '_>,
    configured: &ConfiguredTopology,
    topology_epoch: i32,
    member_asks: bool,
) -> Option<StreamsGroupMetadataValue> {
    let stored = view.group.metadata.as_ref().map_or_else(|| Cow::Owned(blank_metadata()), Cow::Borrowed);
    let validated_topology_epoch = if configured.is_ready() { topology_epoch } else { NO_TOPOLOGY_EPOCH };
    let assignment_configs = config::assignment_configs(&view.config);
    let rises = member_asks
        || configured.metadata_hash != stored.metadata_hash
        || validated_topology_epoch != stored.validated_topology_epoch
        || assignment_configs != stored.last_assignment_configs;
    rises.then(|| StreamsGroupMetadataValue {
        epoch: stored.epoch.saturating_add(1),
        metadata_hash: configured.metadata_hash,
        validated_topology_epoch,
        last_assignment_configs: assignment_configs,
        stored_description_topology_epoch: stored.stored_description_topology_epoch,
        failed_description_topology_epoch: stored.failed_description_topology_epoch,
    })
}

fn target_step(view: &View<'_, '_>, plan: &Plan<'_>) -> Result<TargetStep, GroupError> {
    let group = view.group;
    let stored_epoch = group.assignment_epoch();
    let group_metadata = plan.next_group_metadata.as_ref().or(group.metadata.as_ref());
    let Some(group_metadata) = group_metadata.filter(|metadata| metadata.epoch > stored_epoch) else {
        return Ok(TargetStep { epoch: stored_epoch, computed: None, delay: None });
    };
    let interval_ms = view.config.streams_assignment_interval_ms;
    let delay = if view.initial_delay_is_running || plan.starts_initial_delay {
        Some(Delay::Initial)
    } else if !target::is_interval_over(group.assignment_timestamp(), interval_ms, view.env.now) {
        Some(Delay::Interval)
    } else {
        None
    };
    if delay.is_some() {
        return Ok(TargetStep { epoch: stored_epoch, computed: None, delay });
    }
    let targets = target::compute(
        &candidates(view, plan),
        &plan.configured,
        &group_metadata.last_assignment_configs,
        &view.config,
    )?;
    let metadata = StreamsGroupTargetAssignmentMetadataValue {
        assignment_epoch: group_metadata.epoch,
        assignment_timestamp: view.env.now,
    };
    Ok(TargetStep { epoch: group_metadata.epoch, computed: Some((targets, metadata)), delay: None })
}

/// The group's members with this one as it will be.
fn candidates<'p>(view: &View<'p, 'p>, plan: &'p Plan<'p>) -> BTreeMap<MemberId, Candidate<'p>> {
    let mut candidates = target::candidates(view.group, view.soft);
    if let Some(holder) = &plan.member.replaces {
        candidates.remove(holder);
    }
    let told_as = plan.member.replaces.as_ref().unwrap_or(&plan.member.member_id);
    let told = view.soft.and_then(|soft| soft.members.get(told_as));
    let told_offsets = told.map(|told| &told.task_offsets);
    let told_end_offsets = told.map(|told| &told.task_end_offsets);
    let candidate = Candidate {
        metadata: plan.metadata(),
        current: Some(&plan.member.current),
        task_offsets: plan.offsets.offsets.as_ref().or(told_offsets),
        task_end_offsets: plan.offsets.end_offsets.as_ref().or(told_end_offsets),
    };
    candidates.insert(plan.member.member_id.clone(), candidate);
    candidates
}

/// The member's next step towards its target.
fn next_current(plan: &Plan<'_>) -> Result<Option<StreamsGroupCurrentMemberAssignmentValue>, GroupError> {
    let current = &*plan.member.current;
    let target_epoch = plan.target.epoch;
    if MemberState::from_byte(current.state) == MemberState::Stable && current.member_epoch == target_epoch {
        return Ok(None);
    }
    let nothing = Tasks::default();
    let computed = plan.target.computed.as_ref().and_then(|(targets, _)| targets.get(&plan.member.member_id));
    let adjusted = adjusted_ownership(plan);
    let next = reconcile(&Reconciling {
        process_id: &plan.metadata().process_id,
        current,
        target_epoch,
        target: computed.or(plan.member.target).unwrap_or(&nothing),
        owned: plan.owned.as_ref(),
        ownership: adjusted.as_ref().unwrap_or(&plan.group.ownership),
    })?;
    Ok((next != *current).then_some(next))
}

/// Who holds what once this member is the one it will be. `None` if that is as stored: the member stays in its process
/// and in its place.
fn adjusted_ownership(plan: &Plan<'_>) -> Option<Ownership> {
    let (group, member) = (plan.group, &plan.member);
    let process_id = &plan.metadata().process_id;
    let stored_process = group.members.get(&member.member_id).map(|metadata| &metadata.process_id);
    let stays = member.replaces.is_none() && stored_process.is_none_or(|stored| stored == process_id);
    if stays {
        return None;
    }
    let mut ownership = group.ownership.clone();
    let former: BTreeSet<&MemberId> = member.replaces.iter().chain([&member.member_id]).collect();
    for former_id in former {
        if let (Some(metadata), Some(current)) = (group.members.get(former_id), group.current.get(former_id)) {
            ownership.remove(&metadata.process_id, current);
        }
    }
    ownership.add(process_id, &member.current);
    Some(ownership)
}
