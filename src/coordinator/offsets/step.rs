//! How much a sweep over many groups does in one turn. All tombstones of a sweep in one write is what broke others:
//! past some size it never succeeds again.

use crate::coordinator::Record;
use crate::types::{GroupId, TopicName};

/// How much one step may do. Looking at an offset is one unit, removing it about ten.
pub(super) const STEP_WORK_MAX: usize = 10_000;

/// One step of a sweep: what it has removed and what it may still do.
#[derive(Debug)]
pub(super) struct Step {
    work_left: usize,
    pub(super) records: Vec<Record>,
}

impl Step {
    pub(super) fn new() -> Self {
        Self { work_left: STEP_WORK_MAX, records: Vec::new() }
    }

    pub(super) fn is_spent(&self) -> bool {
        self.work_left == 0
    }

    pub(super) fn spend(&mut self, work: usize) {
        self.work_left = self.work_left.saturating_sub(work);
    }

    /// Removes a partition's offset. Long names make long records, so they count too.
    pub(super) fn remove(&mut self, group: &GroupId, topic: &TopicName, partition: i32) {
        self.spend(10 + (group.len() + topic.len()) / 32);
        self.records.push(Record::OffsetCommit { group: group.clone(), topic: topic.clone(), partition, value: None });
    }
}
