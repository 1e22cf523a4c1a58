//! One step of a member towards its target (KIP-1071; Kafka's `CurrentAssignmentBuilder`).
//!
//! A member first gives up what it is to lose, then moves to the target's epoch, then gets what others have given up.
//! An active task is held by one member of the group at most, and a process holds one copy of a task at most.

use super::ownership::{Holders, Ownership};
use super::records::StreamsGroupCurrentMemberAssignmentValue;
use super::tasks::{ActiveTasks, AssignedTasks, TaskSet, Tasks};
use crate::coordinator::error::GroupError;
use crate::types::{ErrorCode, ProcessId};

/// Where the reconciliation of a member stands. The number is the one that is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i8)]
pub(crate) enum MemberState {
    /// Owns its target, or will be told a newer one.
    Stable = 1,
    /// Has tasks to give up, and stays at its epoch until it says they are gone.
    UnrevokedTasks = 2,
    /// Is at the target's epoch and waits for tasks that others still hold.
    UnreleasedTasks = 3,
    /// Written by a version that knows more states.
    Unknown = 127,
}

impl MemberState {
    /// The state of this number.
    pub(crate) const fn from_byte(byte: i8) -> Self {
        match byte {
            1 => Self::Stable,
            2 => Self::UnrevokedTasks,
            3 => Self::UnreleasedTasks,
            _ => Self::Unknown,
        }
    }

    /// The number that is stored.
    pub(crate) const fn to_byte(self) -> i8 {
        self as i8
    }
}

/// What a step is decided on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reconciling<'a> {
    /// The process of the member.
    pub(crate) process_id: &'a ProcessId,
    /// What the member has now.
    pub(crate) current: &'a StreamsGroupCurrentMemberAssignmentValue,
    /// The epoch of the target.
    pub(crate) target_epoch: i32,
    /// What the member is to have in the end.
    pub(crate) target: &'a Tasks,
    /// What the member says it owns, if it says so.
    pub(crate) owned: Option<&'a Tasks>,
    /// Who holds what in the whole group, this member's own share included.
    pub(crate) ownership: &'a Ownership,
}

/// What the member has after this step; equal to what it had if nothing can be done now.
pub(crate) fn reconcile(input: &Reconciling<'_>) -> Result<StreamsGroupCurrentMemberAssignmentValue, GroupError> {
    let current = input.current;
    match MemberState::from_byte(current.state) {
        MemberState::Stable if current.member_epoch == input.target_epoch => Ok(current.clone()),
        MemberState::Stable | MemberState::UnreleasedTasks => Ok(next(input, current.member_epoch)),
        MemberState::UnrevokedTasks if still_owns(input.owned, &pending(current)) => Ok(current.clone()),
        MemberState::UnrevokedTasks => Ok(next(input, current.member_epoch.saturating_add(1))),
        MemberState::Unknown if input.owned.is_some_and(Tasks::is_empty) => Ok(next(input, input.target_epoch)),
        MemberState::Unknown => Err(GroupError::new(
            ErrorCode::FencedMemberEpoch,
            "The streams group member is in a unknown state. The member must abandon all its tasks and rejoin.",
        )),
    }
}

/// The step itself. `epoch` is the member's while it still has tasks to give up.
fn next(input: &Reconciling<'_>, epoch: i32) -> StreamsGroupCurrentMemberAssignmentValue {
    let mut change = Change::towards_target(input);
    change.turn_active_into_standby(&input.current.assigned.active);
    change.turn_standby_and_warmup_around(&input.current.assigned);
    change.hold_on_to_what_becomes_active(input);

    let must_give_up = change.must_give_up_first(input.owned);
    let Change { mut keep, revoke, grant, is_unreleased } = change;
    if must_give_up {
        return StreamsGroupCurrentMemberAssignmentValue {
            member_epoch: epoch,
            previous_member_epoch: input.current.member_epoch,
            state: MemberState::UnrevokedTasks.to_byte(),
            assigned: keep,
            active_pending_revocation: revoke.active,
            standby_pending_revocation: revoke.standby,
            warmup_pending_revocation: revoke.warmup,
        };
    }
    for (id, partition) in grant.active.iter() {
        keep.active.insert(id, partition, input.target_epoch);
    }
    keep.standby.extend(&grant.standby);
    keep.warmup.extend(&grant.warmup);
    let state = if is_unreleased { MemberState::UnreleasedTasks } else { MemberState::Stable };
    StreamsGroupCurrentMemberAssignmentValue {
        member_epoch: input.target_epoch,
        previous_member_epoch: input.current.member_epoch,
        state: state.to_byte(),
        assigned: keep,
        active_pending_revocation: ActiveTasks::default(),
        standby_pending_revocation: TaskSet::default(),
        warmup_pending_revocation: TaskSet::default(),
    }
}

/// How what a member has differs from its target.
struct Change {
    /// What it has and is to have.
    keep: AssignedTasks,
    /// What it has and is not to have.
    revoke: AssignedTasks,
    /// What it is to have in addition and can get now.
    grant: Tasks,
    /// Whether there is something it cannot get yet.
    is_unreleased: bool,
}

impl Change {
    fn towards_target(input: &Reconciling<'_>) -> Self {
        let (has, target) = (&input.current.assigned, input.target);
        let wanted = Tasks {
            active: target.active.filter(|id, partition| !has.active.contains(id, partition)),
            standby: target.standby.difference(&has.standby),
            warmup: target.warmup.difference(&has.warmup),
        };
        let grant = Tasks {
            active: wanted.active.filter(|id, partition| !is_active_blocked(input, id, partition)),
            standby: wanted.standby.filter(|id, partition| !is_standby_blocked(input, id, partition)),
            warmup: wanted.warmup.filter(|id, partition| !is_warmup_blocked(input, id, partition)),
        };
        Self {
            keep: AssignedTasks {
                active: has.active.intersection(&target.active),
                standby: has.standby.intersection(&target.standby),
                warmup: has.warmup.intersection(&target.warmup),
            },
            revoke: AssignedTasks {
                active: has.active.difference(&target.active),
                standby: has.standby.difference(&target.standby),
                warmup: has.warmup.difference(&target.warmup),
            },
            is_unreleased: grant != wanted,
            grant,
        }
    }

    /// An active task that becomes a standby on the same member is one at once: its state is there already.
    fn turn_active_into_standby(&mut self, has: &ActiveTasks) {
        for (id, partition, _) in has.iter() {
            if self.grant.standby.remove(id, partition) {
                self.keep.standby.insert(id, partition);
            }
        }
    }

    /// A standby that becomes a warm-up, or the other way round, changes its name only.
    fn turn_standby_and_warmup_around(&mut self, has: &AssignedTasks) {
        for (id, partition) in has.standby.iter() {
            if self.grant.warmup.remove(id, partition) {
                self.keep.warmup.insert(id, partition);
                self.revoke.standby.remove(id, partition);
            }
        }
        for (id, partition) in has.warmup.iter() {
            if self.grant.standby.remove(id, partition) {
                self.keep.standby.insert(id, partition);
                self.revoke.warmup.remove(id, partition);
            }
        }
    }

    /// A standby or warm-up that becomes active is never given up for it: it keeps its role until the step that grants
    /// the active task (KAFKA-20665).
    fn hold_on_to_what_becomes_active(&mut self, input: &Reconciling<'_>) {
        let becomes_active = |id: &str, partition: i32| input.target.active.contains(id, partition);
        let has = &input.current.assigned;
        self.revoke.standby = self.revoke.standby.filter(|id, partition| !becomes_active(id, partition));
        self.revoke.warmup = self.revoke.warmup.filter(|id, partition| !becomes_active(id, partition));

        let must_give_up = self.must_give_up_first(input.owned);
        let granted = &self.grant.active;
        let waits = |id: &str, partition: i32| {
            becomes_active(id, partition) && (must_give_up || !granted.contains(id, partition))
        };
        self.keep.standby.extend(&has.standby.filter(waits));
        self.keep.warmup.extend(&has.warmup.filter(waits));
    }

    /// Whether there are tasks to give up that the member has not said are gone.
    fn must_give_up_first(&self, owned: Option<&Tasks>) -> bool {
        !self.revoke.is_empty() && still_owns(owned, &self.revoke)
    }
}

fn pending(current: &StreamsGroupCurrentMemberAssignmentValue) -> AssignedTasks {
    AssignedTasks {
        active: current.active_pending_revocation.clone(),
        standby: current.standby_pending_revocation.clone(),
        warmup: current.warmup_pending_revocation.clone(),
    }
}

/// Whether a member may still own some of these tasks: it says so, or it says nothing.
fn still_owns(owned: Option<&Tasks>, tasks: &AssignedTasks) -> bool {
    let Some(owned) = owned else { return true };
    !tasks.active.is_disjoint(&owned.active)
        || !tasks.standby.is_disjoint(&owned.standby)
        || !tasks.warmup.is_disjoint(&owned.warmup)
}

fn is_active_blocked(input: &Reconciling<'_>, id: &str, partition: i32) -> bool {
    let (ownership, has) = (input.ownership, &input.current.assigned);
    ownership.active.is_held(id, partition)
        || is_held_beside(input, &ownership.standby, has.standby.contains(id, partition), id, partition)
        || is_held_beside(input, &ownership.warmup, has.warmup.contains(id, partition), id, partition)
}

fn is_standby_blocked(input: &Reconciling<'_>, id: &str, partition: i32) -> bool {
    let (ownership, has) = (input.ownership, &input.current.assigned);
    is_held_beside(input, &ownership.active, has.active.contains(id, partition), id, partition)
        || is_held_beside(input, &ownership.standby, false, id, partition)
        || is_held_beside(input, &ownership.warmup, has.warmup.contains(id, partition), id, partition)
}

fn is_warmup_blocked(input: &Reconciling<'_>, id: &str, partition: i32) -> bool {
    let (ownership, has) = (input.ownership, &input.current.assigned);
    is_held_beside(input, &ownership.active, false, id, partition)
        || is_held_beside(input, &ownership.standby, has.standby.contains(id, partition), id, partition)
        || is_held_beside(input, &ownership.warmup, false, id, partition)
}

/// Whether the member's process holds the task in some role, not counting the member's own share if that does not
/// stand in the way.
fn is_held_beside(input: &Reconciling<'_>, holders: &Holders, is_own: bool, id: &str, partition: i32) -> bool {
    holders.members_of(input.process_id, id, partition) > usize::from(is_own)
}

#[cfg(test)]
mod tests;
