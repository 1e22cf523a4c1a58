//! The `sticky` assignor, Kafka's only built-in one (`StickyTaskAssignor` of 4.4.0).
//!
//! Tasks stay where they run or where their state is, as long as no member gets more than its share; the rest goes to
//! the process with the least load. Where Kafka's outcome hangs on the order of its hash maps, that is, on chance, things
//! are taken in the order of their ids here.
//!
//! Later: warm-ups, standbys placed by tags.

mod history;
mod queue;

use std::collections::BTreeMap;

use self::history::History;
use self::queue::{Load, MemberQueues, Queue};
use super::roster::{MemberNo, ProcessNo, Roster, Row, TaskNo};
use super::{AssignmentInput, AssignorError, TaskAssignor};
use crate::coordinator::streams::tasks::Tasks;
use crate::types::MemberId;

/// See the module.
#[derive(Debug)]
pub(super) struct StickyAssignor;

impl TaskAssignor for StickyAssignor {
    fn name(&self) -> &'static str {
        "sticky"
    }

    fn assign(&self, input: &AssignmentInput<'_>) -> Result<BTreeMap<MemberId, Tasks>, AssignorError> {
        let roster = Roster::new(input);
        let history = History::new(&roster);
        let mut plan = Plan::new(&roster, input.num_standby_replicas);
        plan.assign_active(&history)?;
        if input.num_standby_replicas > 0 {
            plan.assign_standbys(&history, input.num_standby_replicas);
        }
        Ok(plan.into_assignment())
    }
}

/// How many tasks a member should have, as far as can be told while tasks are being given out.
///
/// A member that has reached the share leaves with its tasks, and the share of the others is computed again: so the
/// remainder of the division goes to those who come first.
#[derive(Clone, Copy, Debug)]
struct Quota {
    tasks_left: usize,
    members_left: usize,
    per_member: usize,
}

impl Quota {
    fn new(tasks_left: usize, members_left: usize) -> Self {
        let per_member = if members_left == 0 { 0 } else { tasks_left.div_ceil(members_left) };
        Self { tasks_left, members_left, per_member }
    }

    /// A member has come to this number of tasks.
    fn count(&mut self, member_tasks: usize) {
        if member_tasks == self.per_member {
            *self = Self::new(self.tasks_left.saturating_sub(member_tasks), self.members_left.saturating_sub(1));
        }
    }
}

/// An assignment in the making.
struct Plan<'a> {
    roster: &'a Roster<'a>,
    /// How many tasks each member has, active and standby.
    member_tasks: Row<MemberNo, usize>,
    loads: Row<ProcessNo, Load>,
    member_queues: MemberQueues,
    active: Row<TaskNo, Option<MemberNo>>,
    standbys: Row<TaskNo, Vec<MemberNo>>,
    active_quota: Quota,
    total_quota: Quota,
}

impl<'a> Plan<'a> {
    fn new(roster: &'a Roster<'a>, num_standby_replicas: usize) -> Self {
        let (task_count, member_count) = (roster.task_count(), roster.members.len());
        let standby_count = roster.stateful_task_count().saturating_mul(num_standby_replicas);
        Self {
            roster,
            member_tasks: roster.members.map(|_| 0),
            loads: roster.processes.map(|members| Load::none(members.len())),
            member_queues: MemberQueues::new(roster),
            active: roster.per_task(|| None),
            standbys: roster.per_task(Vec::new),
            active_quota: Quota::new(task_count, member_count),
            total_quota: Quota::new(task_count.saturating_add(standby_count), member_count),
        }
    }

    /// First to who runs the task, then to who has its state, then to who has least to do.
    fn assign_active(&mut self, history: &History) -> Result<(), AssignorError> {
        let mut rest = self.roster.tasks_by_partition();
        rest.retain(|task| !self.keep_active(*task, history.active(*task)));
        rest.retain(|task| {
            let follower = self.least_loaded_of(history.followers(*task));
            !self.keep_active(*task, follower)
        });
        rest.sort_unstable();
        let mut processes = self.process_queue();
        for task in rest {
            let least = processes.pop().and_then(|(_, process)| Some((process, self.next_member(process)?)));
            let Some((process, member)) = least else {
                let task = self.roster.text(task);
                return Err(AssignorError(format!("No process available to assign active task {task}.")));
            };
            self.give_active(task, member);
            processes.push(self.loads[process], process);
        }
        Ok(())
    }

    /// Tells whether the member was there and had room.
    fn keep_active(&mut self, task: TaskNo, member: Option<MemberNo>) -> bool {
        let Some(member) = member.filter(|member| self.has_room(*member, self.active_quota)) else { return false };
        self.give_active(task, member);
        true
    }

    /// First to who runs or follows the task, then to who has least to do; never beside another copy.
    fn assign_standbys(&mut self, history: &History, num_standby_replicas: usize) {
        let mut missing = Vec::new();
        for task in self.roster.stateful_tasks_by_partition().into_iter().rev() {
            let placed = self.assign_standbys_by_history(task, history, num_standby_replicas);
            if placed < num_standby_replicas {
                missing.push((task, num_standby_replicas - placed));
            }
        }
        missing.sort_unstable_by(|left, right| right.cmp(left));
        let mut processes = self.process_queue();
        let mut tasks_short = 0;
        for (task, count) in missing {
            for _ in 0..count {
                if !self.assign_standby_to_least_loaded(task, &mut processes) {
                    tasks_short += 1;
                    break;
                }
            }
        }
        if tasks_short > 0 {
            tracing::debug!(tasks_short, num_standby_replicas, "not enough processes for all standbys");
        }
    }

    /// Tells how many standbys have been placed.
    fn assign_standbys_by_history(&mut self, task: TaskNo, history: &History, num_standby_replicas: usize) -> usize {
        for placed in 0..num_standby_replicas {
            let is_free = |member: &MemberNo| !self.is_hosting(self.roster.members[*member].process, task);
            let has_room = |member: &MemberNo| self.has_room(*member, self.total_quota);
            // A task that was moved away leaves its state behind.
            let moved_from = history.active(task).filter(is_free).filter(has_room);
            let follower = || self.least_loaded_of(history.followers(task).filter(is_free)).filter(has_room);
            let member = moved_from.or_else(follower);
            let Some(member) = member else { return placed };
            self.give_standby(task, member);
            self.member_queues.forget(self.roster.members[member].process);
        }
        num_standby_replicas
    }

    /// Tells whether there is a process for it.
    fn assign_standby_to_least_loaded(&mut self, task: TaskNo, processes: &mut Queue<Load, ProcessNo>) -> bool {
        let mut passed_over = Vec::new();
        let mut is_placed = false;
        while let Some((_, process)) = processes.pop() {
            passed_over.push(process);
            if self.is_hosting(process, task) {
                continue;
            }
            if let Some(member) = self.next_member(process) {
                self.give_standby(task, member);
                is_placed = true;
            }
            break;
        }
        for process in passed_over.into_iter().rev() {
            processes.push(self.loads[process], process);
        }
        is_placed
    }

    fn process_queue(&self) -> Queue<Load, ProcessNo> {
        Queue::new(self.loads.iter().map(|(process, load)| (*load, process)))
    }

    /// Of a process, the member to be given the next task.
    fn next_member(&mut self, process: ProcessNo) -> Option<MemberNo> {
        self.member_queues.next(process, self.roster, &self.member_tasks)
    }

    fn has_room(&self, member: MemberNo, quota: Quota) -> bool {
        self.member_tasks[member] < quota.per_member
    }

    fn is_hosting(&self, process: ProcessNo, task: TaskNo) -> bool {
        let mut copies = self.active[task].iter().chain(&self.standbys[task]);
        copies.any(|member| self.roster.members[*member].process == process)
    }

    /// The first of a ranking, unless a later one has less to do both as a process and as a member.
    fn least_loaded_of(&self, ranking: impl Iterator<Item = MemberNo>) -> Option<MemberNo> {
        let load = |member: MemberNo| self.loads[self.roster.members[member].process];
        ranking.reduce(|best, other| {
            let is_less = load(other) < load(best) && self.member_tasks[other] < self.member_tasks[best];
            if is_less { other } else { best }
        })
    }

    fn give_active(&mut self, task: TaskNo, member: MemberNo) {
        self.active[task] = Some(member);
        let member_tasks = self.count_task(member);
        self.active_quota.count(member_tasks);
        self.total_quota.count(member_tasks);
    }

    fn give_standby(&mut self, task: TaskNo, member: MemberNo) {
        self.standbys[task].push(member);
        let member_tasks = self.count_task(member);
        self.total_quota.count(member_tasks);
    }

    fn count_task(&mut self, member: MemberNo) -> usize {
        self.loads[self.roster.members[member].process].add_one();
        self.member_tasks[member] += 1;
        self.member_tasks[member]
    }

    fn into_assignment(self) -> BTreeMap<MemberId, Tasks> {
        let of_each = || self.roster.members.map(|_| Vec::new());
        let (mut active, mut standby): (Row<MemberNo, Vec<TaskNo>>, Row<MemberNo, Vec<TaskNo>>) =
            (of_each(), of_each());
        for (task, member) in self.active.iter() {
            if let Some(member) = member {
                active[*member].push(task);
            }
        }
        for (task, members) in self.standbys.iter() {
            for member in members {
                standby[*member].push(task);
            }
        }
        let of_member = |(number, member): (MemberNo, &super::roster::Member<'_>)| {
            let tasks = Tasks {
                active: self.roster.task_set(&active[number]),
                standby: self.roster.task_set(&standby[number]),
                ..Tasks::default()
            };
            (member.id.clone(), tasks)
        };
        self.roster.members.iter().map(of_member).collect()
    }
}

#[cfg(test)]
mod tests;
