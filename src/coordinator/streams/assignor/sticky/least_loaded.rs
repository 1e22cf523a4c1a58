//! Processes by load, and their members by number of tasks.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::coordinator::streams::assignor::roster::{MemberNo, ProcessNo, Roster, Row};

/// How many tasks a process has for each of its members: a fraction, compared without rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Load {
    tasks: u64,
    members: u64,
}

impl Load {
    /// No tasks yet.
    pub(super) fn none(members: usize) -> Self {
        Self { tasks: 0, members: u64::try_from(members).unwrap_or(u64::MAX) }
    }

    /// One task more.
    pub(super) fn add_one(&mut self) {
        self.tasks += 1;
    }

    /// Whether a member has less to do here than there.
    pub(super) fn is_less(self, other: Self) -> bool {
        self.compare(other) == Ordering::Less
    }

    fn compare(self, other: Self) -> Ordering {
        let (left, right) = (u128::from(self.tasks), u128::from(other.tasks));
        (left * u128::from(other.members)).cmp(&(right * u128::from(self.members)))
    }
}

impl PartialOrd for Load {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Load {
    /// Of equal loads, the one of the larger process comes first.
    fn cmp(&self, other: &Self) -> Ordering {
        self.compare(*other).then(other.members.cmp(&self.members))
    }
}

/// Finds the member that has least to do in the process that has least to do, again and again.
pub(super) struct LeastLoaded {
    processes: BinaryHeap<Reverse<(Load, ProcessNo)>>,
    members: Row<ProcessNo, BinaryHeap<Reverse<(usize, MemberNo)>>>,
}

impl LeastLoaded {
    /// Starts from these loads. Whoever gives out tasks otherwise must make a new one.
    pub(super) fn new(roster: &Roster<'_>, loads: &Row<ProcessNo, Load>, member_tasks: &Row<MemberNo, usize>) -> Self {
        let members_of =
            |members: &Vec<MemberNo>| members.iter().map(|member| Reverse((member_tasks[*member], *member))).collect();
        Self {
            processes: loads.iter().map(|(process, load)| Reverse((*load, process))).collect(),
            members: roster.processes.map(members_of),
        }
    }

    /// The member to give the next task to, and counts that task. `None` if no process is eligible.
    pub(super) fn take(&mut self, is_eligible: impl Fn(ProcessNo) -> bool) -> Option<MemberNo> {
        let mut passed_over = Vec::new();
        let mut found = None;
        while let Some(Reverse((mut load, process))) = self.processes.pop() {
            if !is_eligible(process) {
                passed_over.push(Reverse((load, process)));
                continue;
            }
            load.add_one();
            self.processes.push(Reverse((load, process)));
            found = Some(process);
            break;
        }
        self.processes.extend(passed_over);
        let members = &mut self.members[found?];
        let Reverse((tasks, member)) = members.pop()?;
        members.push(Reverse((tasks + 1, member)));
        Some(member)
    }
}
