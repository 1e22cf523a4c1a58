//! What a heartbeat leaves in the soft state: timers, reported offsets, the endpoint epoch, topics that were asked for.

use super::plan::Plan;
use crate::config::GroupConfig;
use crate::coordinator::streams::reconcile::MemberState;
use crate::coordinator::streams::soft::{CachedTopology, SoftGroup};
use crate::coordinator::{Effect, Soft, TimerKey};
use crate::machine::{Env, Timers};
use crate::types::GroupId;
use std::sync::Arc;

/// Writes a plan into the soft state. Returns what somebody else has to do for it.
pub(super) fn to_soft(
    soft: &mut Soft,
    env: &Env,
    config: &GroupConfig,
    group_id: &GroupId,
    plan: &Plan<'_>,
    shutdown_application: bool,
) -> Vec<Effect> {
    let member_id = &plan.member.member_id;
    if plan.is_new_group || !soft.streams.contains_key(group_id) {
        soft.streams.insert(group_id.clone(), SoftGroup::default());
    }
    let Some(group) = soft.streams.get_mut(group_id) else { return Vec::new() };
    take_place(&mut soft.timers, group, group_id, plan);
    group.configured =
        Some(CachedTopology { topics_version: env.image.topics_version, topology: Arc::clone(&plan.configured) });
    keep_offsets(group, plan);
    if shutdown_application && group.shutdown_requested_by.is_none() {
        group.shutdown_requested_by = Some(member_id.clone());
    }
    if endpoints_change(plan) {
        group.endpoint_epoch = group.endpoint_epoch.wrapping_add(1);
    }
    if plan.starts_initial_delay {
        let delay_ms = i64::from(config.streams_initial_rebalance_delay_ms);
        soft.timers.set(TimerKey::StreamsInitialRebalance(group_id.clone()), env.now.plus_ms(delay_ms));
    }
    watch_revocation(&mut soft.timers, env, group, group_id, plan);
    let session = TimerKey::StreamsSession(group_id.clone(), member_id.clone());
    soft.timers.set(session, env.now.plus_ms(i64::from(config.streams_session_timeout_ms)));
    group.creations.ask(group_id, &plan.configured.missing_internal, env.now).into_iter().collect()
}

/// A static member that is back: what the one that went away reported is its own now, and nobody waits for that one.
fn take_place(timers: &mut Timers<TimerKey>, group: &mut SoftGroup, group_id: &GroupId, plan: &Plan<'_>) {
    let Some(holder) = &plan.member.replaces else { return };
    timers.cancel(&TimerKey::StreamsSession(group_id.clone(), holder.clone()));
    timers.cancel(&TimerKey::StreamsRebalance(group_id.clone(), holder.clone()));
    match group.members.remove(holder) {
        Some(told) => drop(group.members.insert(plan.member.member_id.clone(), told)),
        None => drop(group.members.remove(&plan.member.member_id)),
    }
}

fn keep_offsets(group: &mut SoftGroup, plan: &Plan<'_>) {
    let told = &plan.offsets;
    if told.offsets.is_none() && told.end_offsets.is_none() {
        return;
    }
    let member = group.members.entry(plan.member.member_id.clone()).or_default();
    if let Some(offsets) = &told.offsets {
        member.task_offsets.clone_from(offsets);
    }
    if let Some(end_offsets) = &told.end_offsets {
        member.task_end_offsets.clone_from(end_offsets);
    }
}

/// Whether others have to be told something new. The first member of a new group has nobody to tell.
fn endpoints_change(plan: &Plan<'_>) -> bool {
    if plan.is_new_group {
        return false;
    }
    let (before, after) = (&plan.member.metadata.user_endpoint, &plan.metadata().user_endpoint);
    let leaves_a_place = plan.member.replaces.as_ref().is_some_and(|holder| *holder != plan.member.member_id)
        && plan.group.members.get(&plan.member.member_id).is_some_and(|left| left.user_endpoint.is_some());
    before != after || leaves_a_place || (after.is_some() && plan.assigned_tasks_change())
}

/// Gives a member that is to give up tasks its time for it; from the step that does not ask for it any more, none.
fn watch_revocation(
    timers: &mut Timers<TimerKey>,
    env: &Env,
    group: &mut SoftGroup,
    group_id: &GroupId,
    plan: &Plan<'_>,
) {
    let Some(next) = &plan.next_current else { return };
    let member_id = &plan.member.member_id;
    let key = TimerKey::StreamsRebalance(group_id.clone(), member_id.clone());
    if MemberState::from_byte(next.state) == MemberState::UnrevokedTasks {
        timers.set(key, env.now.plus_ms(i64::from(plan.metadata().rebalance_timeout_ms)));
        group.members.entry(member_id.clone()).or_default().rebalance_epoch = Some(next.member_epoch);
    } else {
        timers.cancel(&key);
        if let Some(member) = group.members.get_mut(member_id) {
            member.rebalance_epoch = None;
        }
    }
}
