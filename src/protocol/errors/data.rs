//! Requests for records and offsets of topics: the code is repeated for each partition.

use crate::protocol::message;
use crate::protocol::messages::{
    DeleteRecordsRequest, DeleteRecordsResponse, FetchRequest, FetchResponse, ListOffsetsRequest, ListOffsetsResponse,
    OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse, ProduceRequest, ProduceResponse,
    delete_records_response, fetch_response, list_offsets_response, offset_for_leader_epoch_response, produce_response,
};

/// From this version on Fetch has the code at the top and no partitions.
const FETCH_TOP_LEVEL_ONLY: i16 = 13;
/// Before this version Fetch has no code at the top.
const FETCH_TOP_LEVEL: i16 = 7;

pub(super) fn produce(request: &ProduceRequest, code: i16) -> ProduceResponse {
    use produce_response::{PartitionProduceResponse, TopicProduceResponse};
    let responses = request.topic_data.iter().map(|topic| {
        let partitions = topic.partition_data.iter().map(|partition| {
            message!(PartitionProduceResponse { index: partition.index, error_code: code, base_offset: -1 })
        });
        message!(TopicProduceResponse {
            name: topic.name.clone(),
            topic_id: topic.topic_id,
            partition_responses: partitions.collect(),
        })
    });
    message!(ProduceResponse { responses: responses.collect() })
}

pub(super) fn fetch(request: &FetchRequest, version: i16, code: i16) -> FetchResponse {
    use fetch_response::{FetchableTopicResponse, PartitionData};
    if version >= FETCH_TOP_LEVEL_ONLY {
        return message!(FetchResponse { error_code: code, session_id: request.session_id });
    }
    let responses = request.topics.iter().map(|topic| {
        let partitions = topic.partitions.iter().map(|partition| {
            message!(PartitionData { partition_index: partition.partition, error_code: code, high_watermark: -1 })
        });
        message!(FetchableTopicResponse { topic: topic.topic.clone(), partitions: partitions.collect() })
    });
    let mut response = message!(FetchResponse { responses: responses.collect() });
    if version >= FETCH_TOP_LEVEL {
        response.error_code = code;
        response.session_id = request.session_id;
    }
    response
}

pub(super) fn list_offsets(request: &ListOffsetsRequest, code: i16) -> ListOffsetsResponse {
    use list_offsets_response::{ListOffsetsPartitionResponse, ListOffsetsTopicResponse};
    let topics = request.topics.iter().map(|topic| {
        let partitions = topic.partitions.iter().map(|partition| {
            message!(ListOffsetsPartitionResponse { partition_index: partition.partition_index, error_code: code })
        });
        message!(ListOffsetsTopicResponse { name: topic.name.clone(), partitions: partitions.collect() })
    });
    message!(ListOffsetsResponse { topics: topics.collect() })
}

pub(super) fn delete_records(request: &DeleteRecordsRequest, code: i16) -> DeleteRecordsResponse {
    use delete_records_response::{DeleteRecordsPartitionResult, DeleteRecordsTopicResult};
    let topics = request.topics.iter().map(|topic| {
        let partitions = topic.partitions.iter().map(|partition| {
            message!(DeleteRecordsPartitionResult {
                partition_index: partition.partition_index,
                low_watermark: -1,
                error_code: code,
            })
        });
        message!(DeleteRecordsTopicResult { name: topic.name.clone(), partitions: partitions.collect() })
    });
    message!(DeleteRecordsResponse { topics: topics.collect() })
}

pub(super) fn offset_for_leader_epoch(
    request: &OffsetForLeaderEpochRequest,
    code: i16,
) -> OffsetForLeaderEpochResponse {
    use offset_for_leader_epoch_response::{EpochEndOffset, OffsetForLeaderTopicResult};
    let topics = request.topics.iter().map(|topic| {
        let partitions = topic
            .partitions
            .iter()
            .map(|partition| message!(EpochEndOffset { partition: partition.partition, error_code: code }));
        message!(OffsetForLeaderTopicResult { topic: topic.topic.clone(), partitions: partitions.collect() })
    });
    message!(OffsetForLeaderEpochResponse { topics: topics.collect() })
}
