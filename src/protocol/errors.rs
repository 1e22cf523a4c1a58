//! The answer to a request that could not be served at all: one error code, in the places where each API carries it.
//!
//! Answers to what `AbstractRequest.getErrorResponse` of Kafka 4.4.0 does for each request. Some APIs have a code at
//! the top, others repeat it for everything that was asked for, and for a few it depends on the version.

mod data;
mod groups;
mod topics;

use super::messages::{
    ApiVersionsResponse, DescribeClusterResponse, InitProducerIdResponse, ListGroupsResponse, OffsetDeleteResponse,
    SaslAuthenticateResponse, SaslHandshakeResponse, StreamsGroupHeartbeatResponse,
};
use super::{Request, Response, message};
use crate::types::ErrorCode;

/// Answers `request`, which came in `version`, with `error` wherever its API has a place for one.
#[must_use]
pub fn error_response(request: &Request, version: i16, error: ErrorCode) -> Response {
    let code = error.code();
    match request {
        Request::Produce(request) => data::produce(request, code).into(),
        Request::Fetch(request) => data::fetch(request, version, code).into(),
        Request::ListOffsets(request) => data::list_offsets(request, code).into(),
        Request::DeleteRecords(request) => data::delete_records(request, code).into(),
        Request::OffsetForLeaderEpoch(request) => data::offset_for_leader_epoch(request, code).into(),
        Request::OffsetCommit(request) => groups::offset_commit(request, code).into(),
        Request::OffsetFetch(request) => groups::offset_fetch(request, version, code).into(),
        Request::FindCoordinator(request) => groups::find_coordinator(request, version, error).into(),
        Request::DescribeGroups(request) => groups::describe_groups(request, code).into(),
        Request::DeleteGroups(request) => groups::delete_groups(request, code).into(),
        Request::StreamsGroupDescribe(request) => groups::streams_group_describe(request, code).into(),
        Request::Metadata(request) => topics::metadata(request, version, code).into(),
        Request::CreateTopics(request) => topics::create_topics(request, code).into(),
        Request::DeleteTopics(request) => topics::delete_topics(request, version, code).into(),
        Request::CreatePartitions(request) => topics::create_partitions(request, code).into(),
        Request::DescribeConfigs(request) => topics::describe_configs(request, code).into(),
        Request::IncrementalAlterConfigs(request) => topics::incremental_alter_configs(request, code).into(),
        Request::DescribeTopicPartitions(request) => topics::describe_topic_partitions(request, code).into(),
        Request::ListGroups(_) => message!(ListGroupsResponse { error_code: code }).into(),
        Request::OffsetDelete(_) => message!(OffsetDeleteResponse { error_code: code }).into(),
        Request::StreamsGroupHeartbeat(_) => message!(StreamsGroupHeartbeatResponse { error_code: code }).into(),
        Request::DescribeCluster(_) => message!(DescribeClusterResponse { error_code: code }).into(),
        Request::ApiVersions(_) => message!(ApiVersionsResponse { error_code: code }).into(),
        Request::SaslHandshake(_) => message!(SaslHandshakeResponse { error_code: code }).into(),
        Request::SaslAuthenticate(_) => message!(SaslAuthenticateResponse { error_code: code }).into(),
        Request::InitProducerId(_) => {
            message!(InitProducerIdResponse { error_code: code, producer_id: -1, producer_epoch: -1 }).into()
        }
    }
}

/// The code at the top of an answer; 0 where the API has none there.
#[must_use]
pub fn top_level_error(response: &Response) -> i16 {
    match response {
        Response::Fetch(response) => response.error_code,
        Response::Metadata(response) => response.error_code,
        Response::OffsetFetch(response) => response.error_code,
        Response::FindCoordinator(response) => response.error_code,
        Response::ListGroups(response) => response.error_code,
        Response::SaslHandshake(response) => response.error_code,
        Response::SaslAuthenticate(response) => response.error_code,
        Response::ApiVersions(response) => response.error_code,
        Response::InitProducerId(response) => response.error_code,
        Response::OffsetDelete(response) => response.error_code,
        Response::DescribeCluster(response) => response.error_code,
        Response::StreamsGroupHeartbeat(response) => response.error_code,
        Response::Produce(_)
        | Response::ListOffsets(_)
        | Response::DeleteRecords(_)
        | Response::OffsetForLeaderEpoch(_)
        | Response::OffsetCommit(_)
        | Response::DescribeGroups(_)
        | Response::DeleteGroups(_)
        | Response::StreamsGroupDescribe(_)
        | Response::CreateTopics(_)
        | Response::DeleteTopics(_)
        | Response::CreatePartitions(_)
        | Response::DescribeConfigs(_)
        | Response::IncrementalAlterConfigs(_)
        | Response::DescribeTopicPartitions(_) => 0,
    }
}

#[cfg(test)]
mod tests;
