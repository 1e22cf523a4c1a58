//! `DescribeGroups` and `StreamsGroupDescribe`: what each group looks like, one answer for each id asked for.

use super::{Coordinator, GroupError, GroupKind, Soft, streams};
use crate::machine::{Asked, Decision, Env};
use crate::protocol::messages::describe_groups_response::DescribedGroup;
use crate::protocol::messages::{
    DescribeGroupsRequest, DescribeGroupsResponse, DescribedStreamsGroup, StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
};
use crate::protocol::{StrBytes, message};
use crate::types::ErrorCode;

/// `READ`, `DELETE`, `DESCRIBE`, `DESCRIBE_CONFIGS` and `ALTER_CONFIGS`: what can be done with a group where nothing is
/// forbidden.
const ALL_GROUP_OPERATIONS: i32 = 3400;
/// "Not asked for", and what goes with an error.
const NO_OPERATIONS: i32 = i32::MIN;
/// The first version of `DescribeGroups` that tells an unknown group by an error.
const FIRST_VERSION_WITH_NOT_FOUND: i16 = 6;

/// Answers `DescribeGroups`, which is for classic groups only.
pub(super) fn classic(coordinator: &Coordinator, asked: &Asked<DescribeGroupsRequest>) -> Decision<Coordinator> {
    let request = &asked.request;
    let describe = |group_id: &StrBytes| {
        let mut described = match coordinator.groups.get(&**group_id).map(|group| &group.kind) {
            Some(GroupKind::Simple) => message!(DescribedGroup { group_state: "Empty".into() }),
            Some(GroupKind::Streams(_)) => dead(asked.version, format!("Group {group_id} is not a classic group.")),
            None => dead(asked.version, format!("Group {group_id} not found.")),
        };
        described.group_id = group_id.clone();
        let is_error = described.error_code != ErrorCode::None.code();
        described.authorized_operations = operations(request.include_authorized_operations, is_error);
        described
    };
    let answer = message!(DescribeGroupsResponse { groups: request.groups.iter().map(describe).collect() });
    Decision::answer(asked.to, answer.into(), coordinator.last_lsn)
}

/// A group that this API does not know is `Dead`; only version 6 says so by an error as well.
fn dead(version: i16, text: String) -> DescribedGroup {
    if version < FIRST_VERSION_WITH_NOT_FOUND {
        return message!(DescribedGroup { group_state: "Dead".into() });
    }
    message!(DescribedGroup {
        error_code: ErrorCode::GroupIdNotFound.code(),
        error_message: Some(text.into()),
        group_state: "Dead".into(),
    })
}

/// Answers `StreamsGroupDescribe`.
pub(super) fn streams(
    coordinator: &Coordinator,
    soft: &Soft,
    env: &Env,
    asked: &Asked<StreamsGroupDescribeRequest>,
) -> Decision<Coordinator> {
    let request = &asked.request;
    let describe = |group_id: &StrBytes| {
        let mut described = match streams_group(coordinator, soft, env, group_id) {
            Ok(described) => described,
            Err(error) => message!(DescribedStreamsGroup {
                error_code: error.code.code(),
                error_message: error.message.map(Into::into),
            }),
        };
        described.group_id = group_id.clone();
        let is_error = described.error_code != ErrorCode::None.code();
        described.authorized_operations = operations(request.include_authorized_operations, is_error);
        described.topology_description_status = i8::from(request.include_topology_description && !is_error);
        described
    };
    let answer = message!(StreamsGroupDescribeResponse { groups: request.group_ids.iter().map(describe).collect() });
    Decision::answer(asked.to, answer.into(), coordinator.last_lsn.max(env.image.lsn))
}

fn streams_group(
    coordinator: &Coordinator,
    soft: &Soft,
    env: &Env,
    group_id: &str,
) -> Result<DescribedStreamsGroup, GroupError> {
    if group_id.trim().is_empty() {
        return Err(GroupError { code: ErrorCode::InvalidGroupId, message: None });
    }
    match coordinator.groups.get(group_id).map(|group| &group.kind) {
        Some(GroupKind::Streams(group)) => {
            Ok(streams::describe::group(group_id, group, soft.streams.get(group_id), env))
        }
        Some(GroupKind::Simple) => {
            Err(GroupError::new(ErrorCode::GroupIdNotFound, format!("Group {group_id} is not a streams group.")))
        }
        None => Err(GroupError::new(ErrorCode::GroupIdNotFound, format!("Group {group_id} not found."))),
    }
}

const fn operations(asked_for: bool, is_error: bool) -> i32 {
    if asked_for && !is_error { ALL_GROUP_OPERATIONS } else { NO_OPERATIONS }
}
