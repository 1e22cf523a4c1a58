//! Tests: every API has its place for an error, in every version.

use super::*;
use crate::protocol::{ApiKey, samples};

/// How often the code stands in the answer to the sample request, which is about two things, in the given version.
fn count_of_codes(response: &Response) -> usize {
    let code = ErrorCode::CoordinatorNotAvailable.code();
    format!("{response:?}").matches(&format!("error_code: {code},")).count()
}

fn count_expected(api: ApiKey, version: i16) -> usize {
    let per_thing_and_top = |per_thing: usize, top: bool| per_thing + usize::from(top);
    match api {
        ApiKey::Fetch if version >= 13 => 1,
        ApiKey::Fetch => per_thing_and_top(2, version >= 7),
        ApiKey::Metadata => per_thing_and_top(if version >= 12 { 2 } else { 1 }, version >= 13),
        ApiKey::OffsetFetch if version < 2 => 2,
        ApiKey::FindCoordinator if version >= 4 => 2,
        ApiKey::Produce
        | ApiKey::ListOffsets
        | ApiKey::DeleteRecords
        | ApiKey::OffsetForLeaderEpoch
        | ApiKey::OffsetCommit
        | ApiKey::DescribeGroups
        | ApiKey::DeleteGroups
        | ApiKey::StreamsGroupDescribe
        | ApiKey::DeleteTopics
        | ApiKey::DescribeTopicPartitions => 2,
        _ => 1,
    }
}

#[test]
fn an_error_stands_wherever_the_api_has_a_place_for_it_and_fits_each_version() {
    for (api, version) in samples::all_versions() {
        let request = samples::request(api, version);
        let response = error_response(&request, version, ErrorCode::CoordinatorNotAvailable);
        assert_eq!(response.api(), api);
        assert_eq!(count_of_codes(&response), count_expected(api, version), "{api:?} v{version}: {response:?}");

        let frame = response.encode(version, 7).unwrap_or_else(|error| panic!("{api:?} v{version}: {error}"));
        let (correlation_id, decoded) = Response::decode(api, version, frame.slice(4..)).unwrap();
        assert_eq!(correlation_id, 7);
        assert_eq!(count_of_codes(&decoded), count_expected(api, version), "{api:?} v{version}: {decoded:?}");
    }
}

#[test]
fn a_refused_produce_has_no_offsets_and_a_refused_producer_no_id() {
    let produce = samples::request(ApiKey::Produce, 9);
    let Response::Produce(response) = error_response(&produce, 9, ErrorCode::KafkaStorageError) else { panic!() };
    let partition = &response.responses[0].partition_responses[1];
    assert_eq!((partition.index, partition.base_offset, partition.log_start_offset), (1, -1, -1));

    let init = samples::request(ApiKey::InitProducerId, 4);
    let Response::InitProducerId(response) = error_response(&init, 4, ErrorCode::NotCoordinator) else { panic!() };
    assert_eq!((response.producer_id, response.producer_epoch), (-1, -1));
}

#[test]
fn the_code_at_the_top_is_found() {
    let heartbeat = samples::request(ApiKey::StreamsGroupHeartbeat, 1);
    let response = error_response(&heartbeat, 1, ErrorCode::NotCoordinator);
    assert_eq!(top_level_error(&response), ErrorCode::NotCoordinator.code());
    assert_eq!(top_level_error(&StreamsGroupHeartbeatResponse::default().into()), 0);
}
