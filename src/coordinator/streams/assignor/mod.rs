//! Task assignors: who is to run which task (KIP-1071; Kafka's `TaskAssignor`).
//!
//! An assignor is a function of its input. It knows nothing of epochs, of what may move when, or of who still holds
//! what: that is [`super::reconcile`]'s. The same input gives the same answer, on every machine.

mod roster;
mod sticky;

use std::collections::BTreeMap;

use super::configure::ConfiguredSubtopology;
use super::tasks::{SubtopologyId, TaskSet, Tasks};
use crate::types::{MemberId, ProcessId};

/// Offsets, or sums of offsets, by task.
pub(crate) type TaskOffsets = BTreeMap<(SubtopologyId, i32), i64>;

/// What an assignor may know of a member.
#[derive(Clone, Debug, Default)]
#[allow(dead_code, reason = "what every assignor is told, though sticky does not look at all of it")]
pub(crate) struct MemberSpec {
    /// The process it belongs to. Two copies of a task in one process are of no use.
    pub(crate) process_id: ProcessId,
    /// Its rack, if told.
    pub(crate) rack_id: Option<String>,
    /// Its tags.
    pub(crate) client_tags: BTreeMap<String, String>,
    /// The active tasks it is assigned now.
    pub(crate) active: TaskSet,
    /// The standby tasks it is assigned now.
    pub(crate) standby: TaskSet,
    /// The warm-up tasks it is assigned now.
    pub(crate) warmup: TaskSet,
    /// How far the state of tasks on its disk has come, as it last said.
    pub(crate) task_offsets: TaskOffsets,
    /// Where the changelogs of those tasks end, as it last said.
    pub(crate) task_end_offsets: TaskOffsets,
}

/// What an assignment is made from.
#[derive(Clone, Debug)]
pub(crate) struct AssignmentInput<'a> {
    /// The members.
    pub(crate) members: BTreeMap<MemberId, MemberSpec>,
    /// The subtopologies.
    pub(crate) subtopologies: &'a BTreeMap<SubtopologyId, ConfiguredSubtopology>,
    /// How many standbys each stateful task is to have.
    pub(crate) num_standby_replicas: usize,
}

/// Why there is no assignment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct AssignorError(pub(crate) String);

/// A way to give tasks to members.
pub(crate) trait TaskAssignor: Send + Sync {
    /// The name that `group.streams.assignors` and `streams.assignor.name` know it by.
    fn name(&self) -> &str;

    /// Gives every task to a member. Every member is in the answer, if need be without tasks.
    fn assign(&self, input: &AssignmentInput<'_>) -> Result<BTreeMap<MemberId, Tasks>, AssignorError>;
}

/// The assignor of this name.
pub(crate) fn by_name(name: &str) -> Option<&'static dyn TaskAssignor> {
    let all: [&'static dyn TaskAssignor; 1] = [&sticky::StickyAssignor];
    all.into_iter().find(|assignor| assignor.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignors_are_found_by_the_names_that_the_configuration_uses() {
        assert_eq!(by_name("sticky").map(TaskAssignor::name), Some("sticky"));
        assert!(by_name("mock").is_none());
    }
}
