//! Finding the group and the member that a heartbeat speaks for, and fencing those that speak for nobody
//! (Kafka's `GroupMetadataManager.getOrMaybeCreateStaticMember` and what surrounds it).

use std::borrow::Cow;

use super::{JOIN_EPOCH, LEAVE_STATIC_EPOCH, View};
use crate::coordinator::streams::StreamsGroup;
use crate::coordinator::streams::group::blank_current;
use crate::coordinator::streams::member;
use crate::coordinator::streams::records::{StreamsGroupCurrentMemberAssignmentValue, StreamsGroupMemberMetadataValue};
use crate::coordinator::streams::tasks::{ActiveTasks, Tasks};
use crate::coordinator::{Coordinator, GroupError, GroupKind};
use crate::protocol::messages::StreamsGroupHeartbeatRequest;
use crate::types::{ErrorCode, MemberId};

/// The member a heartbeat speaks for, as it was before.
pub(in crate::coordinator::streams) struct Resolved<'a> {
    pub(in crate::coordinator::streams) member_id: MemberId,
    /// Its metadata; of the one it takes the place of, for a static member that returns.
    pub(in crate::coordinator::streams) metadata: Cow<'a, StreamsGroupMemberMetadataValue>,
    /// Its tasks; of the one it takes the place of, for a static member that returns.
    pub(in crate::coordinator::streams) current: Cow<'a, StreamsGroupCurrentMemberAssignmentValue>,
    /// Its target, if one was computed for it or for the one it takes the place of.
    pub(in crate::coordinator::streams) target: Option<&'a Tasks>,
    /// The member it takes the place of.
    pub(in crate::coordinator::streams) replaces: Option<MemberId>,
    /// Whether it speaks at the epoch before its own: it never got the last answer.
    pub(in crate::coordinator::streams) lost_an_answer: bool,
}

/// The streams group of an id; `None` if there is none and one may be made.
pub(super) fn group<'a>(
    coordinator: &'a Coordinator,
    request: &StreamsGroupHeartbeatRequest,
) -> Result<Option<&'a StreamsGroup>, GroupError> {
    let group_id = &*request.group_id;
    let joins = request.member_epoch == JOIN_EPOCH;
    match coordinator.groups.get(group_id).map(|group| &group.kind) {
        Some(GroupKind::Streams(group)) => Ok(Some(group)),
        None | Some(GroupKind::Simple) if joins => Ok(None),
        Some(GroupKind::Simple) => not_found(format!("Group {group_id} is not a streams group.")),
        None if request.member_epoch < JOIN_EPOCH => not_found(format!("Group {group_id} not found.")),
        None => not_found(format!("Streams group {group_id} not found.")),
    }
}

/// Refuses one member too many. Whoever is in already, or has a static place, is not one more.
pub(super) fn check_size(view: &View<'_, '_>, request: &StreamsGroupHeartbeatRequest) -> Result<(), GroupError> {
    let size_max = view.env.config.group_streams_max_size;
    let is_full = usize::try_from(size_max).is_ok_and(|max| view.group.members.len() >= max);
    let has_static_place =
        request.instance_id.as_deref().is_some_and(|instance_id| view.group.instances.contains_key(instance_id));
    let is_more = request.member_epoch == JOIN_EPOCH
        && !view.group.members.contains_key(&*request.member_id)
        && !has_static_place;
    if is_full && is_more {
        let text = format!("The streams group has reached its maximum capacity of {size_max} members.");
        return Err(GroupError::new(ErrorCode::GroupMaxSizeReached, text));
    }
    Ok(())
}

/// The member that a join or a regular heartbeat speaks for.
pub(super) fn member<'a>(
    view: &View<'a, '_>,
    request: &StreamsGroupHeartbeatRequest,
    owned: Option<&Tasks>,
) -> Result<Resolved<'a>, GroupError> {
    let joins = request.member_epoch == JOIN_EPOCH;
    let Some(instance_id) = request.instance_id.as_deref() else { return by_member_id(view, request, owned) };
    let Some(holder) = view.group.instances.get(instance_id) else {
        return if joins { by_member_id(view, request, owned) } else { Err(unknown_instance(instance_id)) };
    };
    if !joins {
        check_holder(instance_id, holder, &request.member_id)?;
        return by_member_id(view, request, owned);
    }
    let current = current_of(view.group, holder);
    if current.member_epoch != LEAVE_STATIC_EPOCH {
        let text = format!(
            "Static member {} with instance id {instance_id} cannot join the group because the instance id is owned by {holder} member.",
            request.member_id
        );
        return Err(GroupError::new(ErrorCode::UnreleasedInstanceId, text));
    }
    Ok(take_over(view.group, holder, current, &request.member_id))
}

/// The member that leaves.
pub(in crate::coordinator::streams) fn leaver(
    group: &StreamsGroup,
    request: &StreamsGroupHeartbeatRequest,
) -> Result<MemberId, GroupError> {
    if let Some(instance_id) = request.instance_id.as_deref() {
        let holder = group.instances.get(instance_id).ok_or_else(|| unknown_instance(instance_id))?;
        check_holder(instance_id, holder, &request.member_id)?;
        return Ok(holder.clone());
    }
    match group.members.get_key_value(&*request.member_id) {
        Some((member_id, _)) => Ok(member_id.clone()),
        None => Err(unknown_member(&request.member_id, &request.group_id)),
    }
}

fn by_member_id<'a>(
    view: &View<'a, '_>,
    request: &StreamsGroupHeartbeatRequest,
    owned: Option<&Tasks>,
) -> Result<Resolved<'a>, GroupError> {
    let group = view.group;
    let Some((member_id, metadata)) = group.members.get_key_value(&*request.member_id) else {
        if request.member_epoch != JOIN_EPOCH {
            return Err(unknown_member(&request.member_id, &request.group_id));
        }
        return Ok(Resolved {
            member_id: MemberId::from(&*request.member_id),
            metadata: Cow::Owned(member::blank()),
            current: Cow::Owned(blank_current()),
            target: None,
            replaces: None,
            lost_an_answer: false,
        });
    };
    let current = current_of(group, member_id);
    let lost_an_answer = check_fencing(request.member_epoch, &current, owned)?;
    Ok(Resolved {
        member_id: member_id.clone(),
        metadata: Cow::Borrowed(metadata),
        current,
        target: group.target_of(member_id),
        replaces: None,
        lost_an_answer,
    })
}

/// A static member that is back takes over metadata, tasks and target of the one that went away under its instance id.
fn take_over<'a>(
    group: &'a StreamsGroup,
    holder: &MemberId,
    current: Cow<'a, StreamsGroupCurrentMemberAssignmentValue>,
    member_id: &str,
) -> Resolved<'a> {
    let metadata = group.members.get(holder).map_or_else(|| Cow::Owned(member::blank()), Cow::Borrowed);
    let current = StreamsGroupCurrentMemberAssignmentValue {
        member_epoch: JOIN_EPOCH,
        previous_member_epoch: JOIN_EPOCH,
        ..current.into_owned()
    };
    Resolved {
        member_id: MemberId::from(member_id),
        metadata,
        current: Cow::Owned(current),
        target: group.target_of(holder),
        replaces: Some(holder.clone()),
        lost_an_answer: false,
    }
}

fn current_of<'a>(group: &'a StreamsGroup, member_id: &str) -> Cow<'a, StreamsGroupCurrentMemberAssignmentValue> {
    group.current.get(member_id).map_or_else(|| Cow::Owned(blank_current()), Cow::Borrowed)
}

/// Checks the epoch a member speaks at. Tells whether it is the one before its own: then the last answer got lost, and
/// the member is let in as long as it owns nothing that was taken from it meanwhile.
fn check_fencing(
    epoch: i32,
    current: &StreamsGroupCurrentMemberAssignmentValue,
    owned: Option<&Tasks>,
) -> Result<bool, GroupError> {
    let stored = current.member_epoch;
    if epoch == JOIN_EPOCH || epoch == stored {
        return Ok(false);
    }
    if epoch > stored {
        return Err(GroupError::new(
            ErrorCode::FencedMemberEpoch,
            format!(
                "The streams group member has a greater member epoch ({epoch}) than the one known by the group coordinator ({stored}). The member must abandon all its partitions and rejoin."
            ),
        ));
    }
    if epoch == current.previous_member_epoch && owned.is_some_and(|owned| holds(current, owned)) {
        return Ok(true);
    }
    Err(GroupError::new(
        ErrorCode::FencedMemberEpoch,
        format!(
            "The streams group member has a smaller member epoch ({epoch}) than the one known by the group coordinator ({stored}). The member must abandon all its partitions and rejoin."
        ),
    ))
}

/// Whether every owned task is assigned to the member in the same role.
fn holds(current: &StreamsGroupCurrentMemberAssignmentValue, owned: &Tasks) -> bool {
    let assigned = &current.assigned;
    owned.active.iter().all(|(id, partition)| ActiveTasks::contains(&assigned.active, id, partition))
        && owned.standby.is_subset(&assigned.standby)
        && owned.warmup.is_subset(&assigned.warmup)
}

fn check_holder(instance_id: &str, holder: &MemberId, member_id: &str) -> Result<(), GroupError> {
    if **holder == *member_id {
        return Ok(());
    }
    let text = format!("Static member {member_id} with instance id {instance_id} was fenced by member {holder}.");
    Err(GroupError::new(ErrorCode::FencedInstanceId, text))
}

fn unknown_instance(instance_id: &str) -> GroupError {
    GroupError::new(ErrorCode::UnknownMemberId, format!("Instance id {instance_id} is unknown."))
}

fn unknown_member(member_id: &str, group_id: &str) -> GroupError {
    GroupError::new(ErrorCode::UnknownMemberId, format!("Member {member_id} is not a member of group {group_id}."))
}

fn not_found<T>(text: String) -> Result<T, GroupError> {
    Err(GroupError::new(ErrorCode::GroupIdNotFound, text))
}
