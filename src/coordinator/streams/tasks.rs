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

impl TaskSet {
    /// No tasks.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many tasks.
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
    /// No tasks.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
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
