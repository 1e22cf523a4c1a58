//! The heartbeat (KIP-1071; Kafka's `GroupMetadataManager.streamsGroupHeartbeat`).
//!
//! A heartbeat is worked out in three parts. The first looks at the request, the group and the topics, and ends in a
//! [`Plan`](plan::Plan) or in an error; it changes nothing. The second writes the plan into the soft state. The third
//! makes the records and the answer. So a refused heartbeat leaves no trace at all.

mod apply;
pub(super) mod lookup;
pub(super) mod plan;
pub(super) mod records;
pub(super) mod report;
mod request;

use super::config;
use super::leave;
use super::response;
use super::soft::SoftGroup;
use super::{StreamsGroup, timers};
use crate::config::GroupConfig;
use crate::coordinator::{Coordinator, GroupError, Soft};
use crate::machine::{Asked, Decision, Env};
use crate::protocol::messages::{StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse};
use crate::types::GroupId;

/// The epoch of a join.
pub(super) const JOIN_EPOCH: i32 = 0;
/// The epoch of a member that leaves for good.
pub(super) const LEAVE_EPOCH: i32 = -1;
/// The epoch of a static member that leaves for a while.
pub(super) const LEAVE_STATIC_EPOCH: i32 = -2;

/// What a heartbeat is worked out on.
pub(super) struct View<'a, 's> {
    pub(super) env: &'s Env,
    pub(super) config: GroupConfig,
    pub(super) group_id: GroupId,
    /// The group, or an empty one if this heartbeat makes it.
    pub(super) group: &'a StreamsGroup,
    pub(super) is_new_group: bool,
    pub(super) soft: Option<&'s SoftGroup>,
    /// Whether the group waits for more members before its first assignment.
    pub(super) initial_delay_is_running: bool,
}

/// Answers a heartbeat, a join or a leave.
pub(in crate::coordinator) fn decide(
    coordinator: &Coordinator,
    soft: &mut Soft,
    env: &Env,
    asked: &Asked<StreamsGroupHeartbeatRequest>,
) -> Decision<Coordinator> {
    let rests_on = coordinator.lsn_of(&asked.request.group_id).max(env.image.lsn);
    match work_out(coordinator, soft, env, asked) {
        Ok((response, mut decision)) => {
            decision.replies.push((asked.to, response.into()));
            decision.rests_on = rests_on;
            decision
        }
        Err(error) => Decision::answer(asked.to, response::refusal(error).into(), rests_on),
    }
}

fn work_out(
    coordinator: &Coordinator,
    soft: &mut Soft,
    env: &Env,
    asked: &Asked<StreamsGroupHeartbeatRequest>,
) -> Result<(StreamsGroupHeartbeatResponse, Decision<Coordinator>), GroupError> {
    let request = &asked.request;
    request::check(request)?;
    let found = lookup::group(coordinator, request)?;
    if let Some(group) = found.filter(|_| request.member_epoch < JOIN_EPOCH) {
        return leave::work_out(group, soft, request);
    }
    let blank = StreamsGroup::default();
    let group_id = GroupId::from(&*request.group_id);
    let view = View {
        env,
        config: config::of_group(env, &group_id),
        group: found.unwrap_or(&blank),
        is_new_group: found.is_none(),
        // What may be left of an earlier group of that id is not this one's.
        soft: found.and_then(|_| soft.streams.get(&group_id)),
        initial_delay_is_running: found.is_some() && timers::initial_delay_is_running(soft, &group_id),
        group_id,
    };
    let plan = plan::make(&view, asked)?;
    let (config, group_id) = (view.config, view.group_id);
    let effects = apply::to_soft(soft, env, &config, &group_id, &plan, request.shutdown_application);
    let soft_group = soft.streams.get(&group_id);
    let response = response::compose(&plan, soft_group, env, &config, asked);
    let records = records::of(&group_id, &plan);
    Ok((response, Decision { records, effects, ..Decision::nothing() }))
}
