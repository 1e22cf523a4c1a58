//! Metadata, `DescribeTopicPartitions`, `DescribeCluster`. Answers as observed with Kafka 4.4.0.

use super::*;
use crate::protocol::messages::describe_topic_partitions_request::{Cursor, TopicRequest};
use crate::protocol::messages::metadata_request::MetadataRequestTopic;
use crate::protocol::messages::{
    DescribeClusterRequest, DescribeClusterResponse, DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse,
    MetadataRequest, MetadataResponse,
};
use crate::protocol::{topic_id, wire_uuid};

const HERE: (&str, u16) = ("broker.example", 9092);
const UNKNOWN: TopicId = TopicId::from_bytes([5; 16]);

fn by_name(names: &[&str]) -> MetadataRequest {
    let topics = names.iter().map(|name| message!(MetadataRequestTopic { name: Some((*name).into()) }));
    message!(MetadataRequest { topics: Some(topics.collect()), allow_auto_topic_creation: false })
}

fn by_id(ids: &[TopicId]) -> MetadataRequest {
    let topics = ids.iter().map(|id| message!(MetadataRequestTopic { topic_id: wire_uuid(*id), name: None }));
    message!(MetadataRequest { topics: Some(topics.collect()), allow_auto_topic_creation: false })
}

fn ask(world: &World, version: i16, request: &MetadataRequest) -> (MetadataResponse, Vec<TopicName>) {
    let (response, wanted) = metadata(world.image(), world.config(), HERE, request, version);
    Response::from(response.clone()).encode(version, 1).expect("an answer that fits its version");
    (response, wanted)
}

fn names_and_codes(response: &MetadataResponse) -> Vec<(&str, i16)> {
    response.topics.iter().map(|topic| (topic.name.as_deref().unwrap_or("null"), topic.error_code)).collect()
}

#[test]
fn topics_are_told_by_name_and_unknown_ones_get_an_error_each() {
    let mut world = World::new();
    world.topics(&[("in", 2)]);
    let (response, _) = ask(&world, 12, &by_name(&["in", "none", "bad/name", "", "in"]));
    assert_eq!(names_and_codes(&response), [("", 17), ("bad/name", 17), ("in", 0), ("none", 3)], "each once");
    let topic = &response.topics[2];
    assert_eq!((topic_id(topic.topic_id), topic.is_internal), (world.id("in"), false));
    let indexes: Vec<i32> = topic.partitions.iter().map(|partition| partition.partition_index).collect();
    assert_eq!(indexes, [0, 1]);
    for partition in &topic.partitions {
        assert_eq!((partition.error_code, partition.leader_id, partition.leader_epoch), (0, 1, 0));
        assert_eq!((&partition.replica_nodes, &partition.isr_nodes), (&vec![1], &vec![1]));
        assert!(partition.offline_replicas.is_empty());
    }
    let broker = &response.brokers[0];
    assert_eq!((broker.node_id, &*broker.host, broker.port, &broker.rack), (1, "broker.example", 9092, &None));
    assert_eq!(response.cluster_id.as_deref(), Some("Th7OUTvPTheopy8dM_ffUA"));
    assert_eq!((response.controller_id, response.brokers.len()), (1, 1));
}

#[test]
fn topics_are_told_by_id_and_unknown_ones_get_an_error_each() {
    let mut world = World::new();
    world.topics(&[("in", 1), ("other", 1)]);
    let (response, wanted) = ask(&world, 12, &by_id(&[world.id("in"), UNKNOWN, UNKNOWN]));
    let mut told: Vec<(Option<&str>, TopicId, i16)> = response
        .topics
        .iter()
        .map(|topic| (topic.name.as_deref(), topic_id(topic.topic_id), topic.error_code))
        .collect();
    told.sort();
    assert_eq!(told, [(None, UNKNOWN, 100), (Some("in"), world.id("in"), 0)]);
    assert_eq!(wanted, []);
    let mut mixed = by_id(&[UNKNOWN]);
    mixed.topics.as_mut().unwrap().push(message!(MetadataRequestTopic { name: Some("in".into()) }));
    assert_eq!(names_and_codes(&ask(&world, 13, &mixed).0), [("null", 100)], "where there are ids, only they count");
}

#[test]
fn ids_before_version_12_and_topics_without_either_are_refused() {
    let mut world = World::new();
    world.topics(&[("in", 1)]);
    for (version, request) in [(10, by_id(&[UNKNOWN])), (11, by_id(&[UNKNOWN])), (13, by_id(&[TopicId::ZERO]))] {
        let (response, wanted) = ask(&world, version, &request);
        assert_eq!(names_and_codes(&response), [("", 42)]);
        assert_eq!((response.brokers.len(), response.controller_id, response.cluster_id), (0, -1, None));
        assert_eq!(wanted, []);
    }
}

#[test]
fn all_topics_are_told_for_null_and_none_for_an_empty_list() {
    let mut world = World::new();
    world.topics(&[("a", 1), ("b", 1)]);
    let null = message!(MetadataRequest { topics: None });
    let empty = message!(MetadataRequest { topics: Some(Vec::new()) });
    for version in 1..=13 {
        assert_eq!(ask(&world, version, &null).0.topics.len(), 2, "version {version}");
        assert_eq!(ask(&world, version, &empty).0.topics.len(), 0, "version {version}");
    }
    assert_eq!(ask(&world, 0, &empty).0.topics.len(), 2, "version 0 has no null");
}

#[test]
fn unknown_topics_are_to_be_created_where_request_and_settings_allow_it() {
    let mut world = World::new();
    world.topics(&[("in", 1)]);
    let request = |allow: bool| {
        let mut request = by_name(&["new", "in", "bad/name", "__consumer_offsets", "new"]);
        request.allow_auto_topic_creation = allow;
        request
    };
    let (response, wanted) = ask(&world, 13, &request(true));
    assert_eq!(wanted, [TopicName::from("new")]);
    assert_eq!(names_and_codes(&response)[3], ("new", 3), "this answer does not have it yet");
    let internal = response.topics.iter().find(|topic| topic.name.as_deref() == Some("__consumer_offsets")).unwrap();
    assert_eq!((internal.error_code, internal.is_internal), (3, true));
    assert_eq!(ask(&world, 13, &request(false)).1, []);
    assert_eq!(ask(&world, 3, &request(false)).1, [TopicName::from("new")], "older clients have no say");
    let world = World::with(&[("auto.create.topics.enable", "false")]);
    assert_eq!(ask(&world, 13, &request(true)).1, []);
}

#[test]
fn every_version_can_carry_every_answer() {
    let mut world = World::with(&[("broker.rack", "r1")]);
    world.topics(&[("in", 2)]);
    for version in 0..=13 {
        let mut request = by_name(&["in", "none", "bad/name"]);
        request.include_cluster_authorized_operations = (8..=10).contains(&version);
        request.include_topic_authorized_operations = version >= 8;
        let (response, _) = ask(&world, version, &request);
        assert_eq!(names_and_codes(&response), [("bad/name", 17), ("in", 0), ("none", 3)]);
        if version >= 8 {
            assert!(response.topics.iter().all(|topic| topic.topic_authorized_operations == 3576));
        }
        if (8..=10).contains(&version) {
            assert_eq!(response.cluster_authorized_operations, 8096);
        }
    }
    for version in 12..=13 {
        let mut request = by_id(&[UNKNOWN]);
        request.include_topic_authorized_operations = true;
        let (response, _) = ask(&world, version, &request);
        assert_eq!(response.topics[0].topic_authorized_operations, i32::MIN, "an unknown id has no operations");
    }
    let (response, _) = ask(&world, 8, &by_name(&["in"]));
    assert_eq!(
        (response.topics[0].topic_authorized_operations, response.cluster_authorized_operations),
        (i32::MIN, i32::MIN)
    );
}

// DescribeTopicPartitions

fn page(world: &World, names: &[&str], limit: i32, from: Option<(&str, i32)>) -> DescribeTopicPartitionsResponse {
    let topics = names.iter().map(|name| message!(TopicRequest { name: (*name).into() }));
    let cursor = from.map(|(name, index)| message!(Cursor { topic_name: name.into(), partition_index: index }));
    let request = message!(DescribeTopicPartitionsRequest {
        topics: topics.collect(),
        response_partition_limit: limit,
        cursor: cursor,
    });
    let response = describe_topic_partitions(world.image(), world.config(), &request);
    Response::from(response.clone()).encode(0, 1).expect("an answer that fits its version");
    response
}

/// A page as `name/error: indexes; …` and where it goes on.
fn told(response: &DescribeTopicPartitionsResponse) -> (String, Option<(String, i32)>) {
    let topics = response.topics.iter().map(|topic| {
        let indexes: Vec<i32> = topic.partitions.iter().map(|partition| partition.partition_index).collect();
        format!("{}/{}: {indexes:?}", topic.name.as_deref().unwrap_or("null"), topic.error_code)
    });
    let next = response.next_cursor.as_ref().map(|cursor| (cursor.topic_name.to_string(), cursor.partition_index));
    (topics.collect::<Vec<_>>().join("; "), next)
}

fn at(name: &str, index: i32) -> (String, i32) {
    (name.to_owned(), index)
}

#[test]
fn partitions_are_told_page_by_page_in_order_of_name() {
    let mut world = World::new();
    world.topics(&[("b", 4), ("a", 2)]);
    let pages = [
        (page(&world, &["b", "a"], 2000, None), "a/0: [0, 1]; b/0: [0, 1, 2, 3]", None),
        (page(&world, &["b", "a"], 1, None), "a/0: [0]", Some(at("a", 1))),
        (page(&world, &["b", "a"], 2, None), "a/0: [0, 1]", Some(at("b", 0))),
        (page(&world, &["b", "a"], 3, None), "a/0: [0, 1]; b/0: [0]", Some(at("b", 1))),
        (page(&world, &["b", "a"], 2, Some(("b", 1))), "b/0: [1, 2]", Some(at("b", 3))),
        (page(&world, &["b", "a"], 2, Some(("b", 3))), "b/0: [3]", None),
        (page(&world, &["b", "a"], 9, Some(("a", 2))), "a/0: []; b/0: [0, 1, 2, 3]", None),
        (page(&world, &["b"], 9, Some(("b", 99))), "b/0: []", None),
        (page(&world, &["b", "b"], 0, None), "b/0: [0]", Some(at("b", 1))),
        (page(&world, &["b"], -5, None), "b/0: [0]", Some(at("b", 1))),
        (page(&world, &[], 3, None), "a/0: [0, 1]; b/0: [0]", Some(at("b", 1))),
        (page(&world, &[], 3, Some(("aa", 0))), "b/0: [0, 1, 2]", Some(at("b", 3))),
    ];
    for (response, topics, next) in pages {
        assert_eq!(told(&response), (topics.to_owned(), next));
    }
}

#[test]
fn unknown_topics_get_an_error_each_and_take_no_room() {
    let mut world = World::new();
    world.topics(&[("b", 2)]);
    let response = page(&world, &["none", "b", "bad/name", "a"], 1, None);
    assert_eq!(told(&response), ("a/3: []; b/0: [0]".to_owned(), Some(at("b", 1))));
    let response = page(&world, &["none", "b", "bad/name", "a"], 9, None);
    assert_eq!(told(&response).0, "a/3: []; b/0: [0, 1]; bad/name/17: []; none/3: []");
    assert!(response.topics.iter().all(|topic| topic.topic_authorized_operations == 3576));
    let partition = &response.topics[1].partitions[0];
    assert_eq!((partition.leader_id, partition.leader_epoch), (1, 0));
    assert_eq!(
        (&partition.eligible_leader_replicas, &partition.last_known_elr),
        (&Some(Vec::new()), &Some(Vec::new()))
    );
}

#[test]
fn a_cursor_that_points_nowhere_is_refused_for_each_topic() {
    let mut world = World::new();
    world.topics(&[("a", 2), ("b", 2)]);
    for from in [("a", -1), ("zzz", 0), ("bad/name", 5)] {
        let response = page(&world, &["b", "a"], 9, Some(from));
        assert_eq!(told(&response), ("b/42: []; a/42: []".to_owned(), None));
        assert!(response.topics.iter().all(|topic| topic.topic_authorized_operations == i32::MIN));
    }
}

#[test]
fn a_page_is_no_longer_than_the_server_allows() {
    let mut world = World::with(&[("max.request.partition.size.limit", "5")]);
    world.topics(&[("a", 7)]);
    assert_eq!(told(&page(&world, &["a"], i32::MAX, None)), ("a/0: [0, 1, 2, 3, 4]".to_owned(), Some(at("a", 5))));
}

// DescribeCluster

fn cluster(world: &World, version: i16, request: &DescribeClusterRequest) -> DescribeClusterResponse {
    let response = describe_cluster(world.image(), world.config(), HERE, request);
    Response::from(response.clone()).encode(version, 1).expect("an answer that fits its version");
    response
}

#[test]
fn the_cluster_is_this_one_broker() {
    let world = World::with(&[("broker.rack", "r1")]);
    for version in 0..=2 {
        let request = message!(DescribeClusterRequest { include_cluster_authorized_operations: version == 2 });
        let response = cluster(&world, version, &request);
        assert_eq!((response.error_code, response.error_message, response.endpoint_type), (0, None, 1));
        assert_eq!((&*response.cluster_id, response.controller_id), ("Th7OUTvPTheopy8dM_ffUA", 1));
        let broker = &response.brokers[0];
        assert_eq!((broker.broker_id, &*broker.host, broker.port), (1, "broker.example", 9092));
        assert_eq!((broker.rack.as_deref(), broker.is_fenced), (Some("r1"), false));
        assert_eq!(response.cluster_authorized_operations, if version == 2 { 8096 } else { i32::MIN });
    }
}

#[test]
fn controllers_are_not_found_here() {
    let world = World::new();
    let of = |kind: i8| {
        let response = cluster(&world, 1, &message!(DescribeClusterRequest { endpoint_type: kind }));
        assert_eq!((&*response.cluster_id, response.controller_id, response.brokers.len()), ("", -1, 0));
        assert_eq!((response.endpoint_type, response.cluster_authorized_operations), (1, i32::MIN));
        (response.error_code, response.error_message.unwrap().to_string())
    };
    let mismatch = "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER";
    assert_eq!(of(2), (114, mismatch.to_owned()));
    assert_eq!(of(3), (115, "Unsupported endpoint type 3".to_owned()));
    assert_eq!(of(0), (115, "Unsupported endpoint type 0".to_owned()));
}
