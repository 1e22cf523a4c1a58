//! What a member reports of its tasks: that they exist, and how far its copies of them are.

use crate::coordinator::GroupError;
use crate::coordinator::streams::configure::ConfiguredTopology;
use crate::coordinator::streams::soft::TaskOffsets;
use crate::coordinator::streams::tasks::{TaskSet, Tasks};
use crate::coordinator::streams::wire;
use crate::protocol::messages::StreamsGroupHeartbeatRequest;
use crate::types::ErrorCode;

/// Offsets as reported; a list that is left out keeps what was reported before.
#[derive(Default)]
pub(in crate::coordinator::streams) struct ReportedOffsets {
    pub(in crate::coordinator::streams) offsets: Option<TaskOffsets>,
    pub(in crate::coordinator::streams) end_offsets: Option<TaskOffsets>,
}

/// Refuses tasks that the topology does not have. Without topics in order nobody can tell, and nothing is checked.
pub(super) fn check_owned(owned: &Tasks, configured: &ConfiguredTopology) -> Result<(), GroupError> {
    if !configured.is_ready() {
        return Ok(());
    }
    check_tasks(&owned.active, configured)?;
    check_tasks(&owned.standby, configured)?;
    check_tasks(&owned.warmup, configured)
}

fn check_tasks(tasks: &TaskSet, configured: &ConfiguredTopology) -> Result<(), GroupError> {
    for (id, partition) in tasks.iter() {
        let Some(count) = configured.task_count(id) else {
            return invalid(format!("Subtopology {id} does not exist in the topology."));
        };
        if !(0..count).contains(&partition) {
            return invalid(format!(
                "Task {partition} for subtopology {id} is invalid. Number of tasks for this subtopology: {count}"
            ));
        }
    }
    Ok(())
}

/// Reads the offsets of a heartbeat. Those of tasks that do not exist are kept too: they may be of a later topology.
pub(super) fn offsets(request: &StreamsGroupHeartbeatRequest) -> Result<ReportedOffsets, GroupError> {
    let read = |list: Option<&Vec<_>>| list.map(|list| wire::task_offsets(list)).transpose();
    Ok(ReportedOffsets {
        offsets: read(request.task_offsets.as_ref())?,
        end_offsets: read(request.task_end_offsets.as_ref())?,
    })
}

fn invalid(text: String) -> Result<(), GroupError> {
    Err(GroupError::new(ErrorCode::InvalidRequest, text))
}
