//! Sets of tasks by subtopology, the currency of assignment and reconciliation.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A subtopology's id: an opaque text of the client's.
pub(crate) type SubtopologyId = Arc<str>;

/// Tasks of one role: partitions by subtopology. A subtopology without partitions is never in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct TaskSet(BTreeMap<SubtopologyId, BTreeSet<i32>>);

/// Active tasks with the target assignment epoch at which each was given to its member.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ActiveTasks(BTreeMap<SubtopologyId, BTreeMap<i32, i32>>);

/// Tasks of all three roles, without epochs: a target, or what a member says it owns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tasks {
    /// Tasks that process records.
    pub(crate) active: TaskSet,
    /// Copies that follow.
    pub(crate) standby: TaskSet,
    /// Copies that catch up in order to become active.
    pub(crate) warmup: TaskSet,
}

/// What a member may own: actives with their epochs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AssignedTasks {
    /// Tasks that process records.
    pub(crate) active: ActiveTasks,
    /// Copies that follow.
    pub(crate) standby: TaskSet,
    /// Copies that catch up in order to become active.
    pub(crate) warmup: TaskSet,
}

impl Tasks {
    /// No tasks of any role.
    pub(crate) fn is_empty(&self) -> bool {
        self.active.is_empty() && self.standby.is_empty() && self.warmup.is_empty()
    }
}

impl AssignedTasks {
    /// No tasks of any role.
    pub(crate) fn is_empty(&self) -> bool {
        self.active.is_empty() && self.standby.is_empty() && self.warmup.is_empty()
    }
}

impl TaskSet {
    /// The partitions of each subtopology.
    pub(crate) fn of_subtopologies(tasks: impl IntoIterator<Item = (SubtopologyId, BTreeSet<i32>)>) -> Self {
        Self(tasks.into_iter().filter(|(_, partitions)| !partitions.is_empty()).collect())
    }

    /// No tasks.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many tasks.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.values().map(BTreeSet::len).sum()
    }

    /// Adds a task. Tells whether it is new.
    pub(crate) fn insert(&mut self, subtopology: &SubtopologyId, partition: i32) -> bool {
        if let Some(partitions) = self.0.get_mut(subtopology) {
            return partitions.insert(partition);
        }
        self.0.insert(Arc::clone(subtopology), BTreeSet::from([partition]));
        true
    }

    /// Adds tasks of one subtopology.
    pub(crate) fn insert_all(&mut self, subtopology: &SubtopologyId, partitions: impl IntoIterator<Item = i32>) {
        let added: BTreeSet<i32> = partitions.into_iter().collect();
        if added.is_empty() {
            return;
        }
        if let Some(partitions) = self.0.get_mut(subtopology) {
            partitions.extend(added);
        } else {
            self.0.insert(Arc::clone(subtopology), added);
        }
    }

    /// Adds the tasks of another set.
    pub(crate) fn extend(&mut self, other: &Self) {
        for (id, partitions) in &other.0 {
            self.insert_all(id, partitions.iter().copied());
        }
    }

    /// Removes a task. Tells whether it was there.
    pub(crate) fn remove(&mut self, subtopology: &str, partition: i32) -> bool {
        let Some(partitions) = self.0.get_mut(subtopology) else { return false };
        let was_there = partitions.remove(&partition);
        if partitions.is_empty() {
            self.0.remove(subtopology);
        }
        was_there
    }

    /// Whether the task is in it.
    pub(crate) fn contains(&self, subtopology: &str, partition: i32) -> bool {
        self.0.get(subtopology).is_some_and(|partitions| partitions.contains(&partition))
    }

    /// The tasks that `wanted` says yes to.
    pub(crate) fn filter(&self, mut wanted: impl FnMut(&str, i32) -> bool) -> Self {
        let of_one = |(id, partitions): (&SubtopologyId, &BTreeSet<i32>)| {
            let kept: BTreeSet<i32> = partitions.iter().copied().filter(|partition| wanted(id, *partition)).collect();
            (!kept.is_empty()).then(|| (Arc::clone(id), kept))
        };
        Self(self.0.iter().filter_map(of_one).collect())
    }

    /// The tasks that are in both.
    pub(crate) fn intersection(&self, other: &Self) -> Self {
        self.filter(|id, partition| other.contains(id, partition))
    }

    /// The tasks that are not in `other`.
    pub(crate) fn difference(&self, other: &Self) -> Self {
        self.filter(|id, partition| !other.contains(id, partition))
    }

    /// The tasks, by subtopology and partition.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&SubtopologyId, i32)> {
        self.0.iter().flat_map(|(id, partitions)| partitions.iter().map(move |partition| (id, *partition)))
    }

    /// The partitions of each subtopology.
    pub(crate) fn by_subtopology(&self) -> impl Iterator<Item = (&SubtopologyId, &BTreeSet<i32>)> {
        self.0.iter()
    }

    /// Whether every task of it is in `other`.
    pub(crate) fn is_subset(&self, other: &Self) -> bool {
        self.iter().all(|(id, partition)| other.contains(id, partition))
    }

    /// Whether no task of it is in `other`.
    pub(crate) fn is_disjoint(&self, other: &Self) -> bool {
        !self.iter().any(|(id, partition)| other.contains(id, partition))
    }
}

impl FromIterator<(SubtopologyId, i32)> for TaskSet {
    fn from_iter<I: IntoIterator<Item = (SubtopologyId, i32)>>(tasks: I) -> Self {
        let mut set = Self::default();
        for (id, partition) in tasks {
            set.insert(&id, partition);
        }
        set
    }
}

impl ActiveTasks {
    /// All these tasks, given at one epoch.
    pub(crate) fn at_epoch(tasks: &TaskSet, epoch: i32) -> Self {
        let of_one = |(id, partitions): (&SubtopologyId, &BTreeSet<i32>)| {
            (Arc::clone(id), partitions.iter().map(|partition| (*partition, epoch)).collect())
        };
        Self(tasks.0.iter().map(of_one).collect())
    }

    /// No tasks.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many tasks.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.values().map(BTreeMap::len).sum()
    }

    /// Adds a task with its epoch, or gives it another epoch.
    pub(crate) fn insert(&mut self, subtopology: &SubtopologyId, partition: i32, epoch: i32) {
        if let Some(partitions) = self.0.get_mut(subtopology) {
            partitions.insert(partition, epoch);
        } else {
            self.0.insert(Arc::clone(subtopology), BTreeMap::from([(partition, epoch)]));
        }
    }

    /// The epoch at which the task was given, if it is in it.
    pub(crate) fn epoch(&self, subtopology: &str, partition: i32) -> Option<i32> {
        self.0.get(subtopology)?.get(&partition).copied()
    }

    /// Whether the task is in it.
    pub(crate) fn contains(&self, subtopology: &str, partition: i32) -> bool {
        self.epoch(subtopology, partition).is_some()
    }

    /// The tasks that `wanted` says yes to, with their epochs.
    pub(crate) fn filter(&self, mut wanted: impl FnMut(&str, i32) -> bool) -> Self {
        let of_one = |(id, tasks): (&SubtopologyId, &BTreeMap<i32, i32>)| {
            let each = tasks.iter().map(|(partition, epoch)| (*partition, *epoch));
            let kept: BTreeMap<i32, i32> = each.filter(|(partition, _)| wanted(id, *partition)).collect();
            (!kept.is_empty()).then(|| (Arc::clone(id), kept))
        };
        Self(self.0.iter().filter_map(of_one).collect())
    }

    /// The tasks that are also in `other`, with their epochs.
    pub(crate) fn intersection(&self, other: &TaskSet) -> Self {
        self.filter(|id, partition| other.contains(id, partition))
    }

    /// The tasks that are not in `other`, with their epochs.
    pub(crate) fn difference(&self, other: &TaskSet) -> Self {
        self.filter(|id, partition| !other.contains(id, partition))
    }

    /// Whether no task of it is in `other`.
    pub(crate) fn is_disjoint(&self, other: &TaskSet) -> bool {
        !self.iter().any(|(id, partition, _)| other.contains(id, partition))
    }

    /// Task and epoch, by subtopology and partition.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&SubtopologyId, i32, i32)> {
        self.0
            .iter()
            .flat_map(|(id, partitions)| partitions.iter().map(move |(partition, epoch)| (id, *partition, *epoch)))
    }

    /// The tasks without their epochs.
    pub(crate) fn to_set(&self) -> TaskSet {
        TaskSet(self.0.iter().map(|(id, tasks)| (Arc::clone(id), tasks.keys().copied().collect())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(tasks: &[(&str, i32)]) -> TaskSet {
        tasks.iter().map(|(id, partition)| (SubtopologyId::from(*id), *partition)).collect()
    }

    #[test]
    fn a_subtopology_without_partitions_is_never_in_a_set() {
        let empty = TaskSet::default();
        let mut tasks = set(&[("0", 1)]);
        assert!(tasks.remove("0", 1));
        assert!(!tasks.remove("0", 1));
        assert_eq!(tasks, empty);

        tasks.insert_all(&SubtopologyId::from("0"), []);
        assert_eq!(tasks, empty);
        assert_eq!(set(&[("0", 1)]).filter(|_, _| false), empty);
        let active = ActiveTasks::at_epoch(&set(&[("0", 1)]), 3);
        assert_eq!(active.filter(|_, _| false), ActiveTasks::default());
    }

    #[test]
    fn sets_meet_and_part_per_task() {
        let left = set(&[("0", 0), ("0", 1), ("1", 0)]);
        let right = set(&[("0", 1), ("2", 0)]);
        assert_eq!(left.intersection(&right), set(&[("0", 1)]));
        assert_eq!(left.difference(&right), set(&[("0", 0), ("1", 0)]));
        let mut both = left.clone();
        both.extend(&right);
        assert_eq!(both, set(&[("0", 0), ("0", 1), ("1", 0), ("2", 0)]));
        assert_eq!(both.len(), 4);
        assert!(left.is_subset(&both) && !both.is_subset(&left));
        assert!(!left.is_disjoint(&right) && left.is_disjoint(&set(&[("1", 1)])));
    }

    #[test]
    fn an_active_task_keeps_the_epoch_it_was_given_at() {
        let mut active = ActiveTasks::at_epoch(&set(&[("0", 0), ("0", 1)]), 2);
        active.insert(&SubtopologyId::from("1"), 0, 5);
        let kept = active.intersection(&set(&[("0", 1), ("1", 0), ("1", 1)]));
        assert_eq!(
            kept.iter().map(|(id, partition, epoch)| (&**id, partition, epoch)).collect::<Vec<_>>(),
            [("0", 1, 2), ("1", 0, 5)]
        );
        let lost = active.difference(&kept.to_set());
        assert_eq!((lost.len(), lost.epoch("0", 0)), (1, Some(2)));
        assert!(lost.is_disjoint(&kept.to_set()) && !lost.is_disjoint(&set(&[("0", 0)])));
    }
}
