//! Who runs a task now, and who has its state.

use std::cmp::Reverse;
use std::ops::Range;

use crate::coordinator::streams::assignor::MemberSpec;
use crate::coordinator::streams::assignor::roster::{MemberNo, Roster, Row, TaskNo};

/// The past of each task.
pub(super) struct History {
    active: Row<TaskNo, Option<MemberNo>>,
    /// Of all tasks, one task after the other.
    followers: Vec<Follower>,
    followers_of: Row<TaskNo, Range<usize>>,
}

/// A member that has the state of a task.
#[derive(Clone, Copy)]
struct Follower {
    member: MemberNo,
    /// Whether it is assigned the task as a standby; otherwise it only says that it has the state.
    is_standby: bool,
    offset: i64,
}

impl History {
    /// Reads it from what the members are assigned and have said.
    pub(super) fn new(roster: &Roster<'_>) -> Self {
        let mut active = roster.per_task(|| None);
        let mut found = Vec::new();
        for (number, member) in roster.members.iter() {
            for task in roster.numbers(&member.spec.active) {
                active[task] = Some(number);
            }
            find_followed(number, member.spec, roster, &mut found);
        }
        let (mut followers, followers_of) = by_task(&found, roster);
        for (_, range) in followers_of.iter() {
            if let Some(followers) = followers.get_mut(range.clone()) {
                followers.sort_by_key(|follower| (!follower.is_standby, Reverse(follower.offset)));
            }
        }
        Self { active, followers, followers_of }
    }

    /// Who runs the task.
    pub(super) fn active(&self, task: TaskNo) -> Option<MemberNo> {
        self.active[task]
    }

    /// Who has its state besides, best first: those it is a standby of, then those who only say that they have it (after
    /// a restart a member has a new id and no tasks, but its disk is what it was; KAFKA-20719). Among either, who has
    /// come farther is better.
    pub(super) fn followers(&self, task: TaskNo) -> impl Iterator<Item = MemberNo> {
        let followers = self.followers.get(self.followers_of[task].clone());
        followers.into_iter().flatten().map(|follower| follower.member)
    }
}

/// Adds the tasks that a member has state of. Both what it is assigned and what it says come in the order of tasks.
fn find_followed(member: MemberNo, spec: &MemberSpec, roster: &Roster<'_>, found: &mut Vec<(TaskNo, Follower)>) {
    let standby = |offset| Follower { member, is_standby: true, offset };
    let mut standbys = roster.numbers(&spec.standby).peekable();
    for (task, offset) in roster.numbered_offsets(&spec.task_offsets) {
        while let Some(silent) = standbys.next_if(|standby| *standby < task) {
            found.push((silent, standby(0)));
        }
        let is_standby = standbys.next_if_eq(&task).is_some();
        found.push((task, Follower { member, is_standby, offset }));
    }
    found.extend(standbys.map(|silent| (silent, standby(0))));
}

/// Brings the followers of each task together, in the order in which they were found.
fn by_task(found: &[(TaskNo, Follower)], roster: &Roster<'_>) -> (Vec<Follower>, Row<TaskNo, Range<usize>>) {
    let mut ranges = roster.per_task(|| 0..0);
    for (task, _) in found {
        ranges[*task].end += 1;
    }
    let mut end = 0;
    for range in ranges.items_mut() {
        let count = range.end;
        *range = end..end;
        end += count;
    }
    let Some((_, any)) = found.first() else { return (Vec::new(), ranges) };
    let mut followers = vec![*any; found.len()];
    for (task, follower) in found {
        let range = &mut ranges[*task];
        if let Some(place) = followers.get_mut(range.end) {
            *place = *follower;
        }
        range.end += 1;
    }
    (followers, ranges)
}
