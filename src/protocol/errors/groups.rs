//! Requests about groups and their offsets.

use crate::protocol::messages::{
    DeleteGroupsRequest, DeleteGroupsResponse, DescribeGroupsRequest, DescribeGroupsResponse, DescribedStreamsGroup,
    FindCoordinatorRequest,
    FindCoordinatorResponse, OffsetCommitRequest, OffsetCommitResponse, OffsetFetchRequest, OffsetFetchResponse,
    StreamsGroupDescribeRequest, StreamsGroupDescribeResponse, delete_groups_response, describe_groups_response,
    find_coordinator_response, offset_commit_response, offset_fetch_response,
};
use crate::protocol::{StrBytes, message};
use crate::types::ErrorCode;

/// Before this version `OffsetFetch` has no code at the top.
const OFFSET_FETCH_TOP_LEVEL: i16 = 2;
/// From this version on `OffsetFetch` asks for several groups.
const OFFSET_FETCH_GROUPS: i16 = 8;
/// From this version on FindCoordinator asks for several keys.
const FIND_COORDINATOR_KEYS: i16 = 4;

pub(super) fn offset_commit(request: &OffsetCommitRequest, code: i16) -> OffsetCommitResponse {
    use offset_commit_response::{OffsetCommitResponsePartition, OffsetCommitResponseTopic};
    let topics = request.topics.iter().map(|topic| {
        let partitions = topic.partitions.iter().map(|partition| {
            message!(OffsetCommitResponsePartition { partition_index: partition.partition_index, error_code: code })
        });
        message!(OffsetCommitResponseTopic {
            name: topic.name.clone(),
            topic_id: topic.topic_id,
            partitions: partitions.collect(),
        })
    });
    message!(OffsetCommitResponse { topics: topics.collect() })
}

pub(super) fn offset_fetch(request: &OffsetFetchRequest, version: i16, code: i16) -> OffsetFetchResponse {
    use offset_fetch_response::{OffsetFetchResponseGroup, OffsetFetchResponsePartition, OffsetFetchResponseTopic};
    if version >= OFFSET_FETCH_GROUPS {
        let groups = request
            .groups
            .iter()
            .map(|group| message!(OffsetFetchResponseGroup { group_id: group.group_id.clone(), error_code: code }));
        return message!(OffsetFetchResponse { groups: groups.collect() });
    }
    if version >= OFFSET_FETCH_TOP_LEVEL {
        return message!(OffsetFetchResponse { error_code: code });
    }
    let topics = request.topics.iter().flatten().map(|topic| {
        let partitions = topic.partition_indexes.iter().map(|index| {
            message!(OffsetFetchResponsePartition {
                partition_index: *index,
                committed_offset: -1,
                metadata: Some(StrBytes::default()),
                error_code: code,
            })
        });
        message!(OffsetFetchResponseTopic { name: topic.name.clone(), partitions: partitions.collect() })
    });
    message!(OffsetFetchResponse { topics: topics.collect() })
}

pub(super) fn find_coordinator(
    request: &FindCoordinatorRequest,
    version: i16,
    error: ErrorCode,
) -> FindCoordinatorResponse {
    use find_coordinator_response::Coordinator;
    let (code, text) = (error.code(), Some(StrBytes::from(error.name())));
    if version < FIND_COORDINATOR_KEYS {
        return message!(FindCoordinatorResponse { error_code: code, error_message: text, node_id: -1, port: -1 });
    }
    let coordinators = request.coordinator_keys.iter().map(|key| {
        message!(Coordinator { key: key.clone(), node_id: -1, port: -1, error_code: code, error_message: text.clone() })
    });
    message!(FindCoordinatorResponse { coordinators: coordinators.collect() })
}

pub(super) fn describe_groups(request: &DescribeGroupsRequest, code: i16) -> DescribeGroupsResponse {
    use describe_groups_response::DescribedGroup;
    let groups =
        request.groups.iter().map(|group| message!(DescribedGroup { group_id: group.clone(), error_code: code }));
    message!(DescribeGroupsResponse { groups: groups.collect() })
}

pub(super) fn delete_groups(request: &DeleteGroupsRequest, code: i16) -> DeleteGroupsResponse {
    use delete_groups_response::DeletableGroupResult;
    let results = request
        .groups_names
        .iter()
        .map(|group| message!(DeletableGroupResult { group_id: group.clone(), error_code: code }));
    message!(DeleteGroupsResponse { results: results.collect() })
}

pub(super) fn streams_group_describe(request: &StreamsGroupDescribeRequest, code: i16) -> StreamsGroupDescribeResponse {
    let groups = request
        .group_ids
        .iter()
        .map(|group| message!(DescribedStreamsGroup { group_id: group.clone(), error_code: code }));
    message!(StreamsGroupDescribeResponse { groups: groups.collect() })
}
