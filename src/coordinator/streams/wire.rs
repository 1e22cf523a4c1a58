//! Tasks and offsets between our own types and the message structs.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::soft::TaskOffsets;
use super::tasks::{SubtopologyId, TaskSet, Tasks};
use crate::coordinator::GroupError;
use crate::protocol::message;
use crate::protocol::messages::{
    StreamsGroupHeartbeatRequest, streams_group_describe_response as describe,
    streams_group_heartbeat_request as request, streams_group_heartbeat_response as response,
};
use crate::types::ErrorCode;

/// What a member says it owns; `None` unless it names all three roles.
pub(super) fn owned_tasks(request: &StreamsGroupHeartbeatRequest) -> Option<Tasks> {
    Some(Tasks {
        active: task_set(request.active_tasks.as_ref()?),
        standby: task_set(request.standby_tasks.as_ref()?),
        warmup: task_set(request.warmup_tasks.as_ref()?),
    })
}

fn task_set(tasks: &[request::TaskIds]) -> TaskSet {
    let mut set = TaskSet::default();
    for task in tasks {
        set.insert_all(&SubtopologyId::from(&*task.subtopology_id), task.partitions.iter().copied());
    }
    set
}

/// Reads reported offsets. A task must not be named twice.
pub(super) fn task_offsets(offsets: &[request::TaskOffset]) -> Result<TaskOffsets, GroupError> {
    let mut read = BTreeMap::new();
    for offset in offsets {
        let (id, partition) = (&*offset.subtopology_id, offset.partition);
        if read.insert((SubtopologyId::from(id), partition), offset.offset).is_some() {
            let text =
                format!("Task offsets contain a duplicate entry for subtopology {id} and partition {partition}.");
            return Err(GroupError::new(ErrorCode::InvalidRequest, text));
        }
    }
    Ok(read)
}

/// Tasks for a heartbeat's answer.
pub(super) fn heartbeat_tasks(tasks: &TaskSet) -> Vec<response::TaskIds> {
    let of_one = |(id, partitions): (&SubtopologyId, &std::collections::BTreeSet<i32>)| {
        message!(response::TaskIds { subtopology_id: text(id), partitions: partitions.iter().copied().collect() })
    };
    tasks.by_subtopology().map(of_one).collect()
}

/// Tasks for a description.
pub(super) fn described_tasks(tasks: &TaskSet) -> Vec<describe::TaskIds> {
    let of_one = |(id, partitions): (&SubtopologyId, &std::collections::BTreeSet<i32>)| {
        message!(describe::TaskIds { subtopology_id: text(id), partitions: partitions.iter().copied().collect() })
    };
    tasks.by_subtopology().map(of_one).collect()
}

/// Offsets for a description.
pub(super) fn described_offsets(offsets: &TaskOffsets) -> Vec<describe::TaskOffset> {
    let of_one = |((id, partition), offset): (&(SubtopologyId, i32), &i64)| {
        message!(describe::TaskOffset { subtopology_id: text(id), partition: *partition, offset: *offset })
    };
    offsets.iter().map(of_one).collect()
}

fn text(id: &Arc<str>) -> crate::protocol::StrBytes {
    (&**id).into()
}
