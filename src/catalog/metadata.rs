//! Metadata, `DescribeTopicPartitions` and `DescribeCluster`, answered from an image: one broker that leads everything.
//!
//! Answers to Kafka's `KafkaApis` and `KRaftMetadataCache`. There is no authorizer: whoever asks for the operations
//! allowed gets all of them.

use std::collections::BTreeSet;
use std::ops::Bound;

use super::names;
use crate::config::Config;
use crate::protocol::messages::describe_cluster_response::DescribeClusterBroker;
use crate::protocol::messages::describe_topic_partitions_response::{
    Cursor, DescribeTopicPartitionsResponsePartition, DescribeTopicPartitionsResponseTopic,
};
use crate::protocol::messages::metadata_response::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use crate::protocol::messages::{
    DescribeClusterRequest, DescribeClusterResponse, DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse,
    MetadataRequest, MetadataResponse,
};
use crate::protocol::{StrBytes, message, topic_id, wire_uuid};
use crate::types::{ErrorCode, Image, TopicId, TopicImage, TopicName};

/// The operations on a topic, as bits: all that are defined for one.
const TOPIC_OPERATIONS: i32 = 3576;

/// The operations on the cluster, as bits: all that are defined for it.
const CLUSTER_OPERATIONS: i32 = 8096;

/// What stands for the operations if nobody asked.
const NOT_ASKED: i32 = i32::MIN;

/// Every partition has had one leader from the start.
const LEADER_EPOCH: i32 = 0;

const BROKERS: i8 = 1;
const CONTROLLERS: i8 = 2;

/// Answers a Metadata request. `host` and `port` are what this listener's clients are told.
///
/// The second result names the topics to create: those that do not exist, where request and settings allow it. They are
/// unknown in this answer.
pub(crate) fn metadata(
    image: &Image,
    config: &Config,
    (host, port): (&str, u16),
    request: &MetadataRequest,
    version: i16,
) -> (MetadataResponse, Vec<TopicName>) {
    if let Some(refused) = refused(request, version) {
        return (refused, Vec::new());
    }
    let (topics, unknown) = match &request.topics {
        None => (all_topics(image), Vec::new()),
        // Version 0 has no other way to ask for all.
        Some(topics) if topics.is_empty() && version == 0 => (all_topics(image), Vec::new()),
        Some(_) => named_topics(image, request),
    };
    let allows_creation = version < 4 || request.allow_auto_topic_creation;
    let wanted = if allows_creation && config.auto_create_topics_enable { unknown } else { Vec::new() };
    let asks = |asked: bool, operations: i32| if asked { operations } else { NOT_ASKED };
    let is_topic_asked = version >= 8 && request.include_topic_authorized_operations;
    let topics = topics.into_iter().map(|mut topic| {
        topic.topic_authorized_operations = asks(is_topic_asked && topic.name.is_some(), TOPIC_OPERATIONS);
        topic
    });
    let is_cluster_asked = (8..=10).contains(&version) && request.include_cluster_authorized_operations;
    let broker = message!(MetadataResponseBroker {
        node_id: image.node_id,
        host: host.into(),
        port: i32::from(port),
        rack: config.broker_rack.as_deref().map(StrBytes::from),
    });
    let response = message!(MetadataResponse {
        brokers: vec![broker],
        cluster_id: Some(StrBytes::from(image.cluster_id.as_str())),
        controller_id: image.node_id,
        topics: topics.collect(),
        cluster_authorized_operations: asks(is_cluster_asked, CLUSTER_OPERATIONS),
    });
    (response, wanted)
}

/// Topic ids came with version 12, although 10 has the field; and from then on a topic needs one or the other.
fn refused(request: &MetadataRequest, version: i16) -> Option<MetadataResponse> {
    let topics = request.topics.as_ref()?;
    let is_wrong = topics.iter().any(|topic| {
        let has_id = !topic_id(topic.topic_id).is_zero();
        if version < 12 { has_id || topic.name.is_none() } else { !has_id && topic.name.is_none() }
    });
    let refuse = |topic: &crate::protocol::messages::metadata_request::MetadataRequestTopic| {
        message!(MetadataResponseTopic {
            error_code: ErrorCode::InvalidRequest.code(),
            name: Some(topic.name.clone().unwrap_or_default()),
            topic_id: topic.topic_id,
            topic_authorized_operations: NOT_ASKED,
        })
    };
    is_wrong.then(|| {
        message!(MetadataResponse {
            controller_id: -1,
            topics: topics.iter().map(refuse).collect(),
            error_code: ErrorCode::InvalidRequest.code(),
        })
    })
}

fn all_topics(image: &Image) -> Vec<MetadataResponseTopic> {
    image.topics.values().map(|topic| described_topic(topic, image.node_id)).collect()
}

/// The topics that are asked for, each once, and those of them that could be created. Where there is an id, only the
/// ids count, as in Kafka.
fn named_topics(image: &Image, request: &MetadataRequest) -> (Vec<MetadataResponseTopic>, Vec<TopicName>) {
    let topics = request.topics.as_deref().unwrap_or_default();
    let ids: BTreeSet<TopicId> = topics.iter().map(|topic| topic_id(topic.topic_id)).collect();
    let ids: Vec<TopicId> = ids.into_iter().filter(|id| !id.is_zero()).collect();
    if !ids.is_empty() {
        let answer = |id: TopicId| {
            let known = image.topic_by_id(id).map(|topic| described_topic(topic, image.node_id));
            known.unwrap_or_else(|| unknown_id(id))
        };
        return (ids.into_iter().map(answer).collect(), Vec::new());
    }
    let names: BTreeSet<&str> = topics.iter().filter_map(|topic| topic.name.as_deref()).collect();
    let mut wanted = Vec::new();
    let mut answers = Vec::with_capacity(names.len());
    for name in names {
        if let Some(topic) = image.topic(name) {
            answers.push(described_topic(topic, image.node_id));
            continue;
        }
        let error = unknown_topic(name);
        // Kafka's own topics have their own way of coming into being, and here none.
        if error == ErrorCode::UnknownTopicOrPartition && !names::is_internal(name) {
            wanted.push(TopicName::from(name));
        }
        answers.push(message!(MetadataResponseTopic {
            error_code: error.code(),
            name: Some(name.into()),
            is_internal: names::is_internal(name),
        }));
    }
    (answers, wanted)
}

fn unknown_id(id: TopicId) -> MetadataResponseTopic {
    message!(MetadataResponseTopic {
        error_code: ErrorCode::UnknownTopicId.code(),
        name: None,
        topic_id: wire_uuid(id),
    })
}

fn unknown_topic(name: &str) -> ErrorCode {
    if names::check(name).is_ok() { ErrorCode::UnknownTopicOrPartition } else { ErrorCode::InvalidTopicException }
}

fn described_topic(topic: &TopicImage, node_id: i32) -> MetadataResponseTopic {
    let partition = |index: i32| {
        message!(MetadataResponsePartition {
            partition_index: index,
            leader_id: node_id,
            leader_epoch: LEADER_EPOCH,
            replica_nodes: vec![node_id],
            isr_nodes: vec![node_id],
        })
    };
    message!(MetadataResponseTopic {
        name: Some(topic.name.as_str().into()),
        topic_id: wire_uuid(topic.id),
        is_internal: names::is_internal(&topic.name),
        partitions: (0..topic.partition_count).map(partition).collect(),
    })
}

/// Answers `DescribeTopicPartitions` (KIP-966): topics in order of name, as many partitions as one answer may carry, and
/// the place to go on from.
pub(crate) fn describe_topic_partitions(
    image: &Image,
    config: &Config,
    request: &DescribeTopicPartitionsRequest,
) -> DescribeTopicPartitionsResponse {
    let mut names: BTreeSet<&str> = request.topics.iter().map(|topic| &*topic.name).collect();
    let from = request.cursor.as_ref().map(|cursor| (&*cursor.topic_name, cursor.partition_index));
    // Without names all topics are meant, and the cursor may stand between two of them.
    if names.is_empty() {
        let start = from.map_or(Bound::Unbounded, |(name, _)| Bound::Included(name));
        names.extend(image.topics.range::<str, _>((start, Bound::Unbounded)).map(|(name, _)| name.as_str()));
    } else if let Some((name, index)) = from
        && (index < 0 || !names.contains(name))
    {
        return refused_partitions(request);
    }
    if from.is_some_and(|(_, index)| index < 0) {
        return refused_partitions(request);
    }
    let limit = request.response_partition_limit.min(config.max_request_partition_size_limit).max(1);
    let mut left = usize::try_from(limit).unwrap_or(1);
    let mut topics = Vec::new();
    let mut next_cursor = None;
    let start = from.map_or(Bound::Unbounded, |(name, _)| Bound::Included(name));
    for name in names.range::<str, _>((start, Bound::Unbounded)) {
        let first = from.filter(|(cursor, _)| cursor == name).map_or(0, |(_, index)| index);
        if left == 0 {
            next_cursor = Some(cursor(name, first));
            break;
        }
        let (topic, next) = partitions_of(image, name, first, left);
        left = left.saturating_sub(topic.partitions.len());
        topics.push(topic);
        if let Some(index) = next {
            next_cursor = Some(cursor(name, index));
            break;
        }
    }
    message!(DescribeTopicPartitionsResponse { topics: topics, next_cursor: next_cursor })
}

fn cursor(topic_name: &str, partition_index: i32) -> Cursor {
    message!(Cursor { topic_name: topic_name.into(), partition_index: partition_index })
}

/// At most `limit` partitions of a topic, and the first one that is left.
fn partitions_of(
    image: &Image,
    name: &str,
    first: i32,
    limit: usize,
) -> (DescribeTopicPartitionsResponseTopic, Option<i32>) {
    let Some(topic) = image.topic(name) else {
        let unknown = message!(DescribeTopicPartitionsResponseTopic {
            error_code: unknown_topic(name).code(),
            name: Some(name.into()),
            is_internal: names::is_internal(name),
            topic_authorized_operations: TOPIC_OPERATIONS,
        });
        return (unknown, None);
    };
    let node_id = image.node_id;
    let partition = |index: i32| {
        message!(DescribeTopicPartitionsResponsePartition {
            partition_index: index,
            leader_id: node_id,
            leader_epoch: LEADER_EPOCH,
            replica_nodes: vec![node_id],
            isr_nodes: vec![node_id],
            eligible_leader_replicas: Some(Vec::new()),
            last_known_elr: Some(Vec::new()),
        })
    };
    let partitions: Vec<_> = (first..topic.partition_count).take(limit).map(partition).collect();
    let next = i32::try_from(partitions.len()).ok().and_then(|count| first.checked_add(count));
    let next = next.filter(|next| *next < topic.partition_count);
    let described = message!(DescribeTopicPartitionsResponseTopic {
        name: Some(name.into()),
        topic_id: wire_uuid(topic.id),
        is_internal: names::is_internal(name),
        partitions: partitions,
        topic_authorized_operations: TOPIC_OPERATIONS,
    });
    (described, next)
}

fn refused_partitions(request: &DescribeTopicPartitionsRequest) -> DescribeTopicPartitionsResponse {
    let topics = request.topics.iter().map(|topic| {
        message!(DescribeTopicPartitionsResponseTopic {
            error_code: ErrorCode::InvalidRequest.code(),
            name: Some(topic.name.clone()),
            topic_authorized_operations: NOT_ASKED,
        })
    });
    message!(DescribeTopicPartitionsResponse { topics: topics.collect() })
}

/// Answers `DescribeCluster`. Controllers are not to be found on a broker's listener.
pub(crate) fn describe_cluster(
    image: &Image,
    config: &Config,
    (host, port): (&str, u16),
    request: &DescribeClusterRequest,
) -> DescribeClusterResponse {
    let refused = |code: ErrorCode, text: String| {
        message!(DescribeClusterResponse {
            error_code: code.code(),
            error_message: Some(text.into()),
            controller_id: -1,
            cluster_authorized_operations: NOT_ASKED,
        })
    };
    match request.endpoint_type {
        BROKERS => {}
        CONTROLLERS => {
            let text =
                "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER";
            return refused(ErrorCode::MismatchedEndpointType, text.to_owned());
        }
        other => return refused(ErrorCode::UnsupportedEndpointType, format!("Unsupported endpoint type {other}")),
    }
    let operations = if request.include_cluster_authorized_operations { CLUSTER_OPERATIONS } else { NOT_ASKED };
    let broker = message!(DescribeClusterBroker {
        broker_id: image.node_id,
        host: host.into(),
        port: i32::from(port),
        rack: config.broker_rack.as_deref().map(StrBytes::from),
    });
    message!(DescribeClusterResponse {
        endpoint_type: BROKERS,
        cluster_id: image.cluster_id.as_str().into(),
        controller_id: image.node_id,
        brokers: vec![broker],
        cluster_authorized_operations: operations,
    })
}
