//! One request of every API and version, with something in every list: for tests.

use bytes::Bytes;
use kafka_wire_core::Uuid;

use super::apis::{ApiKey, Request};
use super::messages::{
    ApiVersionsRequest, CreatePartitionsRequest, CreateTopicsRequest, DeleteGroupsRequest, DeleteRecordsRequest,
    DeleteTopicsRequest, DescribeClusterRequest, DescribeConfigsRequest, DescribeGroupsRequest,
    DescribeTopicPartitionsRequest, FetchRequest, FindCoordinatorRequest, IncrementalAlterConfigsRequest,
    InitProducerIdRequest, ListGroupsRequest, ListOffsetsRequest, MetadataRequest, OffsetCommitRequest,
    OffsetDeleteRequest, OffsetFetchRequest, OffsetForLeaderEpochRequest, ProduceRequest, SaslAuthenticateRequest,
    SaslHandshakeRequest, StreamsGroupDescribeRequest, StreamsGroupHeartbeatRequest, create_partitions_request,
    create_topics_request, delete_records_request, delete_topics_request, describe_configs_request,
    describe_topic_partitions_request, fetch_request, incremental_alter_configs_request, list_offsets_request,
    metadata_request, offset_commit_request, offset_delete_request, offset_fetch_request,
    offset_for_leader_epoch_request, produce_request, streams_group_heartbeat_request,
};
use super::{StrBytes, message};

/// Every API in every version that is served.
pub(crate) fn all_versions() -> impl Iterator<Item = (ApiKey, i16)> {
    ApiKey::ALL.iter().flat_map(|api| (api.served().0..=api.served().1).map(move |version| (*api, version)))
}

/// The topic of all samples, in the versions that name topics by name, else "".
fn name(is_named: bool) -> StrBytes {
    if is_named { "orders".into() } else { StrBytes::default() }
}

/// The topic of all samples, in the versions that name topics by id, else no id.
fn id(is_id: bool) -> Uuid {
    Uuid::from_bytes([if is_id { 7 } else { 0 }; 16])
}

/// A request with two partitions, groups or whatever it is about.
pub(crate) fn request(api: ApiKey, version: i16) -> Request {
    match api {
        ApiKey::Produce => produce(version).into(),
        ApiKey::Fetch => fetch(version).into(),
        ApiKey::ListOffsets => list_offsets().into(),
        ApiKey::Metadata => metadata(version).into(),
        ApiKey::OffsetCommit => offset_commit(version).into(),
        ApiKey::OffsetFetch => offset_fetch(version).into(),
        ApiKey::FindCoordinator => find_coordinator(version).into(),
        ApiKey::DescribeGroups => message!(DescribeGroupsRequest { groups: vec!["g1".into(), "g2".into()] }).into(),
        ApiKey::ListGroups => ListGroupsRequest::default().into(),
        ApiKey::SaslHandshake => message!(SaslHandshakeRequest { mechanism: "PLAIN".into() }).into(),
        ApiKey::SaslAuthenticate => message!(SaslAuthenticateRequest { auth_bytes: Bytes::from_static(b"x") }).into(),
        ApiKey::ApiVersions => api_versions(version).into(),
        ApiKey::CreateTopics => create_topics().into(),
        ApiKey::DeleteTopics => delete_topics(version).into(),
        ApiKey::DeleteRecords => delete_records().into(),
        ApiKey::InitProducerId => InitProducerIdRequest::default().into(),
        ApiKey::OffsetForLeaderEpoch => offset_for_leader_epoch().into(),
        ApiKey::DescribeConfigs => describe_configs().into(),
        ApiKey::CreatePartitions => create_partitions().into(),
        ApiKey::DeleteGroups => message!(DeleteGroupsRequest { groups_names: vec!["g1".into(), "g2".into()] }).into(),
        ApiKey::IncrementalAlterConfigs => incremental_alter_configs().into(),
        ApiKey::OffsetDelete => offset_delete().into(),
        ApiKey::DescribeCluster => DescribeClusterRequest::default().into(),
        ApiKey::DescribeTopicPartitions => describe_topic_partitions().into(),
        ApiKey::StreamsGroupHeartbeat => streams_group_heartbeat().into(),
        ApiKey::StreamsGroupDescribe => {
            message!(StreamsGroupDescribeRequest { group_ids: vec!["g1".into(), "g2".into()] }).into()
        }
    }
}

fn produce(version: i16) -> ProduceRequest {
    use produce_request::{PartitionProduceData, TopicProduceData};
    let partition = |index| message!(PartitionProduceData { index: index, records: Some(Bytes::from_static(b"?")) });
    let topic = message!(TopicProduceData {
        name: name(version < 13),
        topic_id: id(version >= 13),
        partition_data: vec![partition(0), partition(1)],
    });
    message!(ProduceRequest { acks: -1, timeout_ms: 1000, topic_data: vec![topic] })
}

fn fetch(version: i16) -> FetchRequest {
    use fetch_request::{FetchPartition, FetchTopic};
    let partition = |index| message!(FetchPartition { partition: index, partition_max_bytes: 1000 });
    let topic = message!(FetchTopic {
        topic: name(version < 13),
        topic_id: id(version >= 13),
        partitions: vec![partition(0), partition(1)],
    });
    message!(FetchRequest { min_bytes: 1, topics: vec![topic] })
}

fn list_offsets() -> ListOffsetsRequest {
    use list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
    let partition = |index| message!(ListOffsetsPartition { partition_index: index, timestamp: -1 });
    let topic = message!(ListOffsetsTopic { name: name(true), partitions: vec![partition(0), partition(1)] });
    message!(ListOffsetsRequest { replica_id: -1, topics: vec![topic] })
}

fn metadata(version: i16) -> MetadataRequest {
    use metadata_request::MetadataRequestTopic;
    let mut topics = vec![message!(MetadataRequestTopic { name: Some(name(true)) })];
    if version >= 12 {
        topics.push(message!(MetadataRequestTopic { name: None, topic_id: id(true) }));
    }
    message!(MetadataRequest { topics: Some(topics) })
}

fn offset_commit(version: i16) -> OffsetCommitRequest {
    use offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
    let partition = |index| {
        message!(OffsetCommitRequestPartition {
            partition_index: index,
            committed_offset: 5,
            committed_metadata: Some("note".into()),
        })
    };
    let topic = message!(OffsetCommitRequestTopic {
        name: name(version < 10),
        topic_id: id(version >= 10),
        partitions: vec![partition(0), partition(1)],
    });
    message!(OffsetCommitRequest { group_id: "g1".into(), topics: vec![topic] })
}

fn offset_fetch(version: i16) -> OffsetFetchRequest {
    use offset_fetch_request::{OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics};
    if version < 8 {
        let topic = message!(OffsetFetchRequestTopic { name: name(true), partition_indexes: vec![0, 1] });
        return message!(OffsetFetchRequest { group_id: "g1".into(), topics: Some(vec![topic]) });
    }
    let topic = message!(OffsetFetchRequestTopics {
        name: name(version < 10),
        topic_id: id(version >= 10),
        partition_indexes: vec![0, 1],
    });
    let group = message!(OffsetFetchRequestGroup { group_id: "g1".into(), topics: Some(vec![topic]) });
    message!(OffsetFetchRequest { groups: vec![group] })
}

fn find_coordinator(version: i16) -> FindCoordinatorRequest {
    if version < 4 {
        return message!(FindCoordinatorRequest { key: "g1".into() });
    }
    message!(FindCoordinatorRequest { coordinator_keys: vec!["g1".into(), "g2".into()] })
}

fn api_versions(version: i16) -> ApiVersionsRequest {
    if version < 3 {
        return ApiVersionsRequest::default();
    }
    message!(ApiVersionsRequest { client_software_name: "test".into(), client_software_version: "1".into() })
}

fn create_topics() -> CreateTopicsRequest {
    use create_topics_request::{CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig};
    let config = message!(CreatableTopicConfig { name: "retention.ms".into(), value: Some("1".into()) });
    let assignment = message!(CreatableReplicaAssignment { broker_ids: vec![1] });
    let topic = message!(CreatableTopic {
        name: name(true),
        num_partitions: 2,
        replication_factor: 1,
        assignments: vec![assignment],
        configs: vec![config],
    });
    message!(CreateTopicsRequest { topics: vec![topic], timeout_ms: 1000 })
}

fn delete_topics(version: i16) -> DeleteTopicsRequest {
    use delete_topics_request::DeleteTopicState;
    if version < 6 {
        return message!(DeleteTopicsRequest { topic_names: vec![name(true), "other".into()] });
    }
    let by_name = message!(DeleteTopicState { name: Some(name(true)) });
    let by_id = message!(DeleteTopicState { name: None, topic_id: id(true) });
    message!(DeleteTopicsRequest { topics: vec![by_name, by_id] })
}

fn delete_records() -> DeleteRecordsRequest {
    use delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic};
    let partition = |index| message!(DeleteRecordsPartition { partition_index: index, offset: 1 });
    let topic = message!(DeleteRecordsTopic { name: name(true), partitions: vec![partition(0), partition(1)] });
    message!(DeleteRecordsRequest { topics: vec![topic] })
}

fn offset_for_leader_epoch() -> OffsetForLeaderEpochRequest {
    use offset_for_leader_epoch_request::{OffsetForLeaderPartition, OffsetForLeaderTopic};
    let partition = |index| message!(OffsetForLeaderPartition { partition: index });
    let topic = message!(OffsetForLeaderTopic { topic: name(true), partitions: vec![partition(0), partition(1)] });
    message!(OffsetForLeaderEpochRequest { topics: vec![topic] })
}

fn describe_configs() -> DescribeConfigsRequest {
    use describe_configs_request::DescribeConfigsResource;
    let resource = message!(DescribeConfigsResource {
        resource_type: 2,
        resource_name: name(true),
        configuration_keys: Some(vec!["retention.ms".into()]),
    });
    message!(DescribeConfigsRequest { resources: vec![resource] })
}

fn create_partitions() -> CreatePartitionsRequest {
    use create_partitions_request::{CreatePartitionsAssignment, CreatePartitionsTopic};
    let assignment = message!(CreatePartitionsAssignment { broker_ids: vec![1] });
    let topic = message!(CreatePartitionsTopic { name: name(true), count: 3, assignments: Some(vec![assignment]) });
    message!(CreatePartitionsRequest { topics: vec![topic] })
}

fn incremental_alter_configs() -> IncrementalAlterConfigsRequest {
    use incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig};
    let config = message!(AlterableConfig { name: "retention.ms".into(), value: Some("1".into()) });
    let resource =
        message!(AlterConfigsResource { resource_type: 2, resource_name: name(true), configs: vec![config] });
    message!(IncrementalAlterConfigsRequest { resources: vec![resource] })
}

fn offset_delete() -> OffsetDeleteRequest {
    use offset_delete_request::{OffsetDeleteRequestPartition, OffsetDeleteRequestTopic};
    let partition = |index| message!(OffsetDeleteRequestPartition { partition_index: index });
    let topic = message!(OffsetDeleteRequestTopic { name: name(true), partitions: vec![partition(0), partition(1)] });
    message!(OffsetDeleteRequest { group_id: "g1".into(), topics: vec![topic] })
}

fn describe_topic_partitions() -> DescribeTopicPartitionsRequest {
    use describe_topic_partitions_request::TopicRequest;
    let topic = |name: &str| message!(TopicRequest { name: name.into() });
    message!(DescribeTopicPartitionsRequest { topics: vec![topic("orders"), topic("other")] })
}

fn streams_group_heartbeat() -> StreamsGroupHeartbeatRequest {
    use streams_group_heartbeat_request::{KeyValue, Subtopology, TaskIds, TopicInfo, Topology};
    let config = message!(KeyValue { key: "cleanup.policy".into(), value: "compact".into() });
    let changelog = message!(TopicInfo { name: "g1-store-changelog".into(), topic_configs: vec![config] });
    let subtopology = message!(Subtopology {
        subtopology_id: "0".into(),
        source_topics: vec![name(true)],
        state_changelog_topics: vec![changelog],
    });
    let tasks = message!(TaskIds { subtopology_id: "0".into(), partitions: vec![0, 1] });
    message!(StreamsGroupHeartbeatRequest {
        group_id: "g1".into(),
        member_id: "m1".into(),
        topology: Some(message!(Topology { subtopologies: vec![subtopology] })),
        active_tasks: Some(vec![tasks]),
        process_id: Some("p1".into()),
    })
}
