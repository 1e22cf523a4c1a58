//! Requests about topics and configs.

use crate::protocol::messages::{
    CreatePartitionsRequest, CreatePartitionsResponse, CreateTopicsRequest, CreateTopicsResponse, DeleteTopicsRequest,
    DeleteTopicsResponse, DescribeConfigsRequest, DescribeConfigsResponse, DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse, IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse, MetadataRequest,
    MetadataResponse, create_partitions_response, create_topics_response, delete_topics_response,
    describe_configs_response, describe_topic_partitions_response, incremental_alter_configs_response,
    metadata_response,
};
use crate::protocol::{StrBytes, message};

/// From this version on Metadata has a code at the top.
const METADATA_TOP_LEVEL: i16 = 13;
/// Before this version a topic in a Metadata answer must have a name.
const METADATA_NULL_NAMES: i16 = 12;
/// From this version on `DeleteTopics` names topics in `topics`, by name or id.
const DELETE_TOPICS_STATES: i16 = 6;

pub(super) fn metadata(request: &MetadataRequest, version: i16, code: i16) -> MetadataResponse {
    use metadata_response::MetadataResponseTopic;
    let topics = request.topics.iter().flatten().map(|topic| {
        let name = topic.name.clone().or_else(|| (version < METADATA_NULL_NAMES).then(StrBytes::default));
        message!(MetadataResponseTopic { error_code: code, name: name, topic_id: topic.topic_id })
    });
    let mut response = message!(MetadataResponse { topics: topics.collect() });
    if version >= METADATA_TOP_LEVEL {
        response.error_code = code;
    }
    response
}

pub(super) fn create_topics(request: &CreateTopicsRequest, code: i16) -> CreateTopicsResponse {
    use create_topics_response::CreatableTopicResult;
    let topics = request
        .topics
        .iter()
        .map(|topic| message!(CreatableTopicResult { name: topic.name.clone(), error_code: code }));
    message!(CreateTopicsResponse { topics: topics.collect() })
}

pub(super) fn delete_topics(request: &DeleteTopicsRequest, version: i16, code: i16) -> DeleteTopicsResponse {
    use delete_topics_response::DeletableTopicResult;
    let responses = if version >= DELETE_TOPICS_STATES {
        let states = request.topics.iter().map(|topic| {
            message!(DeletableTopicResult { name: topic.name.clone(), topic_id: topic.topic_id, error_code: code })
        });
        states.collect()
    } else {
        let names = request.topic_names.iter();
        names.map(|name| message!(DeletableTopicResult { name: Some(name.clone()), error_code: code })).collect()
    };
    message!(DeleteTopicsResponse { responses: responses })
}

pub(super) fn create_partitions(request: &CreatePartitionsRequest, code: i16) -> CreatePartitionsResponse {
    use create_partitions_response::CreatePartitionsTopicResult;
    let results = request
        .topics
        .iter()
        .map(|topic| message!(CreatePartitionsTopicResult { name: topic.name.clone(), error_code: code }));
    message!(CreatePartitionsResponse { results: results.collect() })
}

pub(super) fn describe_configs(request: &DescribeConfigsRequest, code: i16) -> DescribeConfigsResponse {
    use describe_configs_response::DescribeConfigsResult;
    let results = request.resources.iter().map(|resource| {
        message!(DescribeConfigsResult {
            error_code: code,
            resource_type: resource.resource_type,
            resource_name: resource.resource_name.clone(),
        })
    });
    message!(DescribeConfigsResponse { results: results.collect() })
}

pub(super) fn incremental_alter_configs(
    request: &IncrementalAlterConfigsRequest,
    code: i16,
) -> IncrementalAlterConfigsResponse {
    use incremental_alter_configs_response::AlterConfigsResourceResponse;
    let responses = request.resources.iter().map(|resource| {
        message!(AlterConfigsResourceResponse {
            error_code: code,
            resource_type: resource.resource_type,
            resource_name: resource.resource_name.clone(),
        })
    });
    message!(IncrementalAlterConfigsResponse { responses: responses.collect() })
}

pub(super) fn describe_topic_partitions(
    request: &DescribeTopicPartitionsRequest,
    code: i16,
) -> DescribeTopicPartitionsResponse {
    use describe_topic_partitions_response::DescribeTopicPartitionsResponseTopic;
    let topics = request.topics.iter().map(|topic| {
        message!(DescribeTopicPartitionsResponseTopic { name: Some(topic.name.clone()), error_code: code })
    });
    message!(DescribeTopicPartitionsResponse { topics: topics.collect() })
}
