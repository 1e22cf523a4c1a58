//! Timers of streams groups: sessions, revocations, and the delay of a first assignment. All soft: armed anew with their
//! full time after a load, but for the initial delay, which a restart ends.

use super::StreamsGroup;
use super::config;
use super::leave;
use super::reconcile::MemberState;
use super::records::StreamsGroupTargetAssignmentMetadataValue;
use super::soft::SoftGroup;
use super::target;
use crate::coordinator::{Coordinator, GroupKind, Record, Soft, TimerKey};
use crate::machine::{Decision, Env};
use crate::types::{GroupId, MemberId};

/// Arms the timers of a group that was just loaded.
pub(in crate::coordinator) fn arm_all(soft: &mut Soft, env: &Env, group_id: &GroupId, group: &StreamsGroup) {
    let session_timeout_ms = i64::from(config::of_group(env, group_id).streams_session_timeout_ms);
    for (member_id, metadata) in &group.members {
        let session = TimerKey::StreamsSession(group_id.clone(), member_id.clone());
        soft.timers.set(session, env.now.plus_ms(session_timeout_ms));
        let Some(current) = group.current.get(member_id) else { continue };
        if MemberState::from_byte(current.state) == MemberState::UnrevokedTasks {
            let rebalance = TimerKey::StreamsRebalance(group_id.clone(), member_id.clone());
            soft.timers.set(rebalance, env.now.plus_ms(i64::from(metadata.rebalance_timeout_ms)));
            let soft_group = soft.streams.entry(group_id.clone()).or_default();
            soft_group.members.entry(member_id.clone()).or_default().rebalance_epoch = Some(current.member_epoch);
        }
    }
}

/// Whether the group's first assignment is being delayed.
pub(super) fn initial_delay_is_running(soft: &Soft, group_id: &GroupId) -> bool {
    soft.timers.deadline(&TimerKey::StreamsInitialRebalance(group_id.clone())).is_some()
}

/// Nothing is waited for any more from a member that is gone.
pub(super) fn forget_member(soft: &mut Soft, group_id: &GroupId, member_id: &MemberId) {
    soft.timers.cancel(&TimerKey::StreamsSession(group_id.clone(), member_id.clone()));
    soft.timers.cancel(&TimerKey::StreamsRebalance(group_id.clone(), member_id.clone()));
    if let Some(group) = soft.streams.get_mut(group_id) {
        group.members.remove(member_id);
    }
}

/// Nothing is waited for any more in an empty group that is gone.
pub(in crate::coordinator) fn forget_group(soft: &mut Soft, group_id: &GroupId) {
    soft.timers.cancel(&TimerKey::StreamsInitialRebalance(group_id.clone()));
    soft.streams.remove(group_id);
}

/// A member was silent for the session timeout.
pub(in crate::coordinator) fn session_expired(
    coordinator: &Coordinator,
    soft: &mut Soft,
    group_id: &GroupId,
    member_id: &MemberId,
) -> Decision<Coordinator> {
    let key = TimerKey::StreamsSession(group_id.clone(), member_id.clone());
    let Some(group) = group_with(coordinator, group_id, member_id) else { return Decision::nothing() };
    if soft.timers.deadline(&key).is_some() {
        // The member was heard between the end of its time and this turn.
        return Decision::nothing();
    }
    Decision { records: leave::remove(group, soft, group_id, member_id), ..Decision::nothing() }
}

/// A member did not give its tasks up in time. One that has moved on since the timer was armed is left alone.
pub(in crate::coordinator) fn rebalance_expired(
    coordinator: &Coordinator,
    soft: &mut Soft,
    group_id: &GroupId,
    member_id: &MemberId,
) -> Decision<Coordinator> {
    let key = TimerKey::StreamsRebalance(group_id.clone(), member_id.clone());
    let Some(group) = group_with(coordinator, group_id, member_id) else { return Decision::nothing() };
    let told = soft.streams.get(group_id).and_then(|group| group.members.get(member_id));
    let armed_at = told.and_then(|member| member.rebalance_epoch);
    let epoch = group.current.get(member_id).map(|current| current.member_epoch);
    if soft.timers.deadline(&key).is_some() || armed_at.is_none() || armed_at != epoch {
        return Decision::nothing();
    }
    Decision { records: leave::remove(group, soft, group_id, member_id), ..Decision::nothing() }
}

fn group_with<'a>(coordinator: &'a Coordinator, group_id: &str, member_id: &str) -> Option<&'a StreamsGroup> {
    streams_group(coordinator, group_id).filter(|group| group.members.contains_key(member_id))
}

fn streams_group<'a>(coordinator: &'a Coordinator, group_id: &str) -> Option<&'a StreamsGroup> {
    match &coordinator.groups.get(group_id)?.kind {
        GroupKind::Streams(group) => Some(group),
        GroupKind::Simple => None,
    }
}

/// The first assignment has waited long enough: it is computed now, and members get it with their next heartbeats.
pub(in crate::coordinator) fn initial_delay_expired(
    coordinator: &Coordinator,
    soft: &Soft,
    env: &Env,
    group_id: &GroupId,
) -> Decision<Coordinator> {
    let is_armed_again = initial_delay_is_running(soft, group_id);
    let Some(group) = streams_group(coordinator, group_id).filter(|_| !is_armed_again) else {
        return Decision::nothing();
    };
    let soft_group = soft.streams.get(group_id);
    Decision { records: first_assignment(group, soft_group, env, group_id).unwrap_or_default(), ..Decision::nothing() }
}

/// `None` if there is nothing to compute, or nothing to compute it from: then the next heartbeat does it.
fn first_assignment(
    group: &StreamsGroup,
    soft: Option<&SoftGroup>,
    env: &Env,
    group_id: &GroupId,
) -> Option<Vec<Record>> {
    let metadata = group.metadata.as_ref()?;
    if group.is_empty() || metadata.epoch <= group.assignment_epoch() {
        return None;
    }
    let configured = &soft?.configured.as_ref()?.topology;
    let config = config::of_group(env, group_id);
    let candidates = target::candidates(group, soft);
    let targets = target::compute(&candidates, configured, &metadata.last_assignment_configs, &config).ok()?;
    let target_metadata =
        StreamsGroupTargetAssignmentMetadataValue { assignment_epoch: metadata.epoch, assignment_timestamp: env.now };
    Some(target::records(group_id, &targets, |member_id| group.target_of(member_id), &target_metadata))
}
