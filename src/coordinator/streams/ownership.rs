//! Which processes hold which tasks of a group, derived from what its members are assigned and still have to give up
//! (Kafka's `StreamsGroup.currentActiveTaskToProcessId` and its fellows for standbys and warm-ups).
//!
//! Kafka keeps the last process seen for an active task, and a set of processes for the others. Here every member's
//! claim counts: whatever the order in which members are added and removed, the outcome is the same, and a claim that
//! another one has covered for a while is not lost with it (KAFKA-19862 is about that).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::records::StreamsGroupCurrentMemberAssignmentValue;
use super::tasks::SubtopologyId;
use crate::types::ProcessId;

/// The holders of all tasks of a group, by role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ownership {
    /// Of active tasks, those still to be given up among them.
    pub(super) active: Holders,
    /// Of standby tasks, likewise.
    pub(super) standby: Holders,
    /// Of warm-up tasks, likewise.
    pub(super) warmup: Holders,
}

impl Ownership {
    /// Adds what a member of this process holds.
    pub(crate) fn add(&mut self, process: &ProcessId, current: &StreamsGroupCurrentMemberAssignmentValue) {
        for_each_claim(self, current, |holders, id, partition| holders.add(id, partition, process));
    }

    /// Removes what a member of this process held. Claims that are not there are passed over.
    pub(crate) fn remove(&mut self, process: &ProcessId, current: &StreamsGroupCurrentMemberAssignmentValue) {
        for_each_claim(self, current, |holders, id, partition| holders.remove(id, partition, process));
    }
}

fn for_each_claim(
    ownership: &mut Ownership,
    current: &StreamsGroupCurrentMemberAssignmentValue,
    mut act: impl FnMut(&mut Holders, &SubtopologyId, i32),
) {
    for (id, partition, _) in current.assigned.active.iter().chain(current.active_pending_revocation.iter()) {
        act(&mut ownership.active, id, partition);
    }
    for (id, partition) in current.assigned.standby.iter().chain(current.standby_pending_revocation.iter()) {
        act(&mut ownership.standby, id, partition);
    }
    for (id, partition) in current.assigned.warmup.iter().chain(current.warmup_pending_revocation.iter()) {
        act(&mut ownership.warmup, id, partition);
    }
}

/// The processes that hold tasks of one role, once for each member that does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Holders(BTreeMap<SubtopologyId, BTreeMap<i32, Vec<ProcessId>>>);

impl Holders {
    /// Whether anyone holds the task.
    pub(super) fn is_held(&self, subtopology: &str, partition: i32) -> bool {
        !self.of(subtopology, partition).is_empty()
    }

    /// How many members of the process hold the task.
    pub(super) fn members_of(&self, process: &ProcessId, subtopology: &str, partition: i32) -> usize {
        self.of(subtopology, partition).iter().filter(|holder| *holder == process).count()
    }

    fn of(&self, subtopology: &str, partition: i32) -> &[ProcessId] {
        self.0.get(subtopology).and_then(|tasks| tasks.get(&partition)).map_or(&[], Vec::as_slice)
    }

    /// Kept in order, so that equal claims are equal values.
    fn add(&mut self, subtopology: &SubtopologyId, partition: i32, process: &ProcessId) {
        if !self.0.contains_key(subtopology) {
            self.0.insert(Arc::clone(subtopology), BTreeMap::new());
        }
        let Some(tasks) = self.0.get_mut(subtopology) else { return };
        let holders = tasks.entry(partition).or_default();
        let place = holders.partition_point(|holder| holder <= process);
        holders.insert(place, process.clone());
    }

    fn remove(&mut self, subtopology: &SubtopologyId, partition: i32, process: &ProcessId) {
        let Some(tasks) = self.0.get_mut(subtopology) else { return };
        let Some(holders) = tasks.get_mut(&partition) else { return };
        if let Ok(place) = holders.binary_search(process) {
            holders.remove(place);
        }
        if holders.is_empty() {
            tasks.remove(&partition);
        }
        if tasks.is_empty() {
            self.0.remove(subtopology);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coordinator::streams::tasks::{ActiveTasks, AssignedTasks, TaskSet};

    fn tasks(partitions: &[i32]) -> TaskSet {
        partitions.iter().map(|partition| (SubtopologyId::from("0"), *partition)).collect()
    }

    fn holding(active: &[i32], active_pending: &[i32], standby: &[i32]) -> StreamsGroupCurrentMemberAssignmentValue {
        let mut current = StreamsGroupCurrentMemberAssignmentValue {
            member_epoch: 2,
            previous_member_epoch: 1,
            state: 1,
            assigned: AssignedTasks::default(),
            active_pending_revocation: ActiveTasks::at_epoch(&tasks(active_pending), 2),
            standby_pending_revocation: TaskSet::default(),
            warmup_pending_revocation: TaskSet::default(),
        };
        current.assigned.active = ActiveTasks::at_epoch(&tasks(active), 2);
        current.assigned.standby = tasks(standby);
        current
    }

    #[test]
    fn a_task_stays_held_until_its_holder_has_given_it_up() {
        let process = ProcessId::from("p1");
        let mut ownership = Ownership::default();
        ownership.add(&process, &holding(&[0], &[1], &[2]));
        assert!(ownership.active.is_held("0", 0) && ownership.active.is_held("0", 1));
        assert!(!ownership.active.is_held("0", 2) && ownership.standby.is_held("0", 2));
        assert!(!ownership.active.is_held("1", 0));
        ownership.remove(&process, &holding(&[0], &[1], &[2]));
        assert_eq!(ownership, Ownership::default());
    }

    #[test]
    fn a_task_seen_at_two_processes_for_a_while_stays_with_the_one_that_keeps_it() {
        let (old, new) = (ProcessId::from("p1"), ProcessId::from("p2"));
        let mut ownership = Ownership::default();
        ownership.add(&old, &holding(&[0], &[], &[]));
        ownership.add(&new, &holding(&[0], &[], &[]));
        ownership.remove(&old, &holding(&[0], &[], &[]));
        assert_eq!(ownership.active.members_of(&new, "0", 0), 1);
        assert_eq!(ownership.active.members_of(&old, "0", 0), 0);
        // What is gone already is not taken from anyone else.
        ownership.remove(&old, &holding(&[0], &[], &[]));
        assert!(ownership.active.is_held("0", 0));
    }

    #[test]
    fn the_order_of_members_makes_no_difference() {
        let claims =
            [("p1", holding(&[0], &[], &[1])), ("p2", holding(&[1], &[0], &[])), ("p1", holding(&[], &[], &[1, 2]))];
        let (mut forth, mut back) = (Ownership::default(), Ownership::default());
        for (process, claim) in &claims {
            forth.add(&ProcessId::from(*process), claim);
        }
        for (process, claim) in claims.iter().rev() {
            back.add(&ProcessId::from(*process), claim);
        }
        assert_eq!(forth, back);
        assert_eq!(forth.standby.members_of(&ProcessId::from("p1"), "0", 1), 2);
    }
}
