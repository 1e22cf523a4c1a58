//! `CreateTopics`, `CreatePartitions` and the topics the server makes itself. Codes and texts as observed with Kafka 4.4.0.

use super::*;
use crate::protocol::messages::create_partitions_request::{CreatePartitionsAssignment, CreatePartitionsTopic};
use crate::protocol::messages::create_topics_request::CreatableReplicaAssignment;
use crate::protocol::topic_id;

/// Code and text of a topic that is alone in its request.
fn outcome(world: &mut World, topic: CreatableTopic) -> (i16, String) {
    let answer = world.create(vec![topic]).remove(0);
    (answer.error_code, answer.error_message.map(|text| text.to_string()).unwrap_or_default())
}

fn with_counts(name: &str, partition_count: i32, replication_factor: i16) -> CreatableTopic {
    let mut topic = new_topic(name, partition_count, &[]);
    topic.replication_factor = replication_factor;
    topic
}

fn assigned(name: &str, assignments: &[(i32, &[i32])]) -> CreatableTopic {
    let mut topic = with_counts(name, -1, -1);
    let assignments = assignments
        .iter()
        .map(|(index, ids)| message!(CreatableReplicaAssignment { partition_index: *index, broker_ids: ids.to_vec() }));
    topic.assignments = assignments.collect();
    topic
}

#[test]
fn each_topic_of_a_request_stands_for_itself() {
    let mut world = World::new();
    world.topics(&[("in", 1)]);
    let answers = world.create(vec![
        new_topic("in", 1, &[]),
        new_topic("bad/name", 1, &[]),
        new_topic("none", 0, &[]),
        new_topic("twice", 1, &[]),
        new_topic("twice", 1, &[]),
        with_counts("default", -1, -1),
        assigned("assigned", &[(0, &[1]), (1, &[1])]),
    ]);
    let codes: Vec<(&str, i16)> = answers.iter().map(|answer| (&*answer.name, answer.error_code)).collect();
    assert_eq!(
        codes,
        [("in", 36), ("bad/name", 17), ("none", 37), ("twice", 42), ("default", 0), ("assigned", 0)],
        "a topic named twice is answered once"
    );
    assert_eq!((answers[4].num_partitions, answers[4].replication_factor), (1, 1));
    assert_eq!((answers[5].num_partitions, answers[5].replication_factor), (2, 1));
    assert_eq!((answers[0].num_partitions, answers[0].replication_factor), (-1, -1));
    let names: Vec<&str> = world.image().topics.keys().map(TopicName::as_str).collect();
    assert_eq!(names, ["assigned", "default", "in"]);
    assert_eq!(topic_id(answers[4].topic_id), world.id("default"));
}

#[test]
fn a_refused_topic_is_told_in_kafkas_words() {
    let mut world = World::new();
    world.topics(&[("p.a", 1)]);
    let replicas = "Unable to replicate the partition 3 time(s): The target replication factor of 3 cannot be reached \
                    because only 1 broker(s) are registered or some brokers have all their log directories cordoned.";
    let factor = "Replication factor must be larger than 0, or -1 to use the default value.";
    let count = "Number of partitions was set to an invalid non-positive value.";
    for (topic, code, text) in [
        (new_topic("p.a", 1, &[]), 36, "Topic 'p.a' already exists."),
        (new_topic("p_a", 1, &[]), 17, "Topic 'p_a' collides with existing topic: p.a"),
        (new_topic("", 1, &[]), 17, "Topic name is invalid: the empty string is not allowed"),
        (new_topic("..", 1, &[]), 17, "Topic name is invalid: '..' is not allowed"),
        (with_counts("b", 0, 1), 37, count),
        (with_counts("b", -2, 1), 37, count),
        (with_counts("b", 1, 0), 38, factor),
        (with_counts("b", 1, -2), 38, factor),
        (with_counts("b", 1, 3), 38, replicas),
        (with_counts("b", 0, 0), 38, factor),
        (with_counts("b", -5, 7), 37, count),
        (new_topic("b", 0, &[("nonsense", "x")]), 40, "Unknown topic config name: nonsense"),
        (
            new_topic("b", 1, &[("retention.ms", "soon")]),
            40,
            "Invalid value soon for configuration retention.ms: Not a number of type LONG",
        ),
        (new_topic("p.a", 1, &[("nonsense", "x")]), 36, "Topic 'p.a' already exists."),
        (new_topic("__cluster_metadata", 1, &[]), 42, "Creation of internal topic __cluster_metadata is prohibited."),
    ] {
        assert_eq!(outcome(&mut world, topic.clone()), (code, text.to_owned()), "{topic:?}");
    }
    assert_eq!(world.image().topics.len(), 1);
}

#[test]
fn a_config_without_a_value_is_refused_and_of_two_the_last_holds() {
    let mut world = World::new();
    let mut topic = new_topic("t", 1, &[("cleanup.policy", "compact")]);
    topic.configs.push(message!(CreatableTopicConfig { name: "retention.ms".into(), value: None }));
    topic.configs.push(message!(CreatableTopicConfig { name: "nonsense".into(), value: None }));
    let text = "Null value not supported for topic configs: nonsense,retention.ms";
    assert_eq!(outcome(&mut world, topic), (40, text.to_owned()));
    let topic = new_topic("t", 1, &[("retention.ms", "1"), ("retention.ms", " 2 ")]);
    assert_eq!(outcome(&mut world, topic), (0, String::new()));
    assert_eq!(*world.image().topic("t").unwrap().configs, configs(&[("retention.ms", " 2 ")]));
}

#[test]
fn a_manual_assignment_names_this_broker_for_each_partition() {
    let mut world = World::new();
    let consecutive = "partitions should be a consecutive 0-based integer sequence";
    for (topic, text) in [
        (
            assigned("t", &[(0, &[7])]),
            "The manual partition assignment includes broker 7, but no such broker is registered.",
        ),
        (assigned("t", &[(0, &[1]), (2, &[1])]), consecutive),
        (assigned("t", &[(1, &[1])]), consecutive),
        (assigned("t", &[(-1, &[1])]), consecutive),
        (assigned("t", &[(0, &[1, 1])]), "The manual partition assignment includes the broker 1 more than once."),
        (assigned("t", &[(0, &[])]), "The manual partition assignment includes an empty replica list."),
        (assigned("t", &[(0, &[1]), (0, &[1])]), "Found multiple manual partition assignments for partition 0"),
    ] {
        assert_eq!(outcome(&mut world, topic), (39, text.to_owned()));
    }
    let mut counted = assigned("t", &[(0, &[1])]);
    counted.num_partitions = 1;
    let text = "A manual partition assignment was specified, but numPartitions was not set to -1.";
    assert_eq!(outcome(&mut world, counted), (42, text.to_owned()));
    let mut counted = assigned("t", &[(0, &[1])]);
    counted.replication_factor = 1;
    let text = "A manual partition assignment was specified, but replication factor was not set to -1.";
    assert_eq!(outcome(&mut world, counted), (42, text.to_owned()));
}

#[test]
fn names_that_collide_within_one_request_are_told_apart() {
    let mut world = World::new();
    let answers =
        world.create(vec![new_topic("p.new", 1, &[]), new_topic("p_new", 1, &[]), new_topic("p-new", 1, &[])]);
    let codes: Vec<i16> = answers.iter().map(|answer| answer.error_code).collect();
    assert_eq!(codes, [0, 17, 0]);
}

#[test]
fn a_name_is_free_of_collisions_once_the_other_topic_is_gone() {
    let mut world = World::new();
    world.topics(&[("p.a", 1)]);
    let id = world.id("p.a");
    world.replay(vec![Record::Topic { topic_id: id, value: None }]);
    world.topics(&[("p_a", 1)]);
}

#[test]
fn validate_only_answers_in_full_and_creates_nothing() {
    let mut world = World::new();
    let answer = world.create_in(7, true, vec![new_topic("dry", 4, &[])]).remove(0);
    assert_eq!((answer.error_code, answer.error_message, answer.num_partitions), (0, None, 4));
    assert!(!topic_id(answer.topic_id).is_zero(), "a throw-away id");
    assert!(world.image().topics.is_empty());
}

#[test]
fn the_answer_tells_what_holds_for_the_new_topic() {
    let mut world = World::with(&[("log.retention.hours", "1")]);
    world.set(BROKER, "", "log.cleanup.policy", "compact");
    let answer = world.create(vec![new_topic("t", 1, &[("segment.ms", " 55 ")])]).remove(0);
    let configs = answer.configs.unwrap();
    assert_eq!(configs.len(), 37);
    let told = |name: &str| {
        let config = configs.iter().find(|config| &*config.name == name).unwrap();
        (config.value.as_deref().unwrap().to_owned(), config.config_source, config.read_only)
    };
    assert_eq!(told("segment.ms"), ("55".to_owned(), 1, false));
    assert_eq!(told("cleanup.policy"), ("compact".to_owned(), 3, false));
    assert_eq!(told("retention.ms"), ("3600000".to_owned(), 4, false));
    assert_eq!(told("max.message.bytes"), ("1048588".to_owned(), 5, false));
}

#[test]
fn every_version_can_carry_every_answer() {
    for version in 2..=7 {
        let mut world = World::new();
        let topics =
            vec![new_topic("a", 1, &[("retention.ms", "9")]), new_topic("a/b", 1, &[]), with_counts("c", -1, -1)];
        let answers = world.create_in(version, false, topics);
        let codes: Vec<i16> = answers.iter().map(|answer| answer.error_code).collect();
        assert_eq!(codes, [0, 17, 0], "version {version}");
    }
}

#[test]
fn too_many_partitions_in_one_request_are_refused_all_together() {
    let mut world = World::new();
    let text = "Excessively large number of partitions per request.";
    for topics in [
        vec![new_topic("a", 10_001, &[])],
        vec![new_topic("a", i32::MAX, &[]), new_topic("b", i32::MAX, &[]), new_topic("c", 1, &[])],
        vec![new_topic("a", 6_000, &[]), new_topic("b", 6_000, &[])],
    ] {
        for answer in world.create(topics) {
            assert_eq!((answer.error_code, answer.error_message.as_deref()), (44, Some(text)));
        }
    }
    world.topics(&[("a", 10_000)]);
}

#[test]
fn the_server_holds_only_so_many_partitions() {
    let mut world = World::with(&[("max.partitions", "10")]);
    world.topics(&[("a", 6)]);
    let answers = world.create(vec![new_topic("b", 5, &[]), new_topic("c", 4, &[]), new_topic("d", 1, &[])]);
    let codes: Vec<i16> = answers.iter().map(|answer| answer.error_code).collect();
    assert_eq!(codes, [37, 0, 37]);
    assert_eq!(
        answers[0].error_message.as_deref(),
        Some("5 more partition(s) would make 11, but max.partitions of this server is 10.")
    );
    assert_eq!(grow(&mut world, vec![to("a", 7)])[0].0, 37);
}

#[test]
fn what_does_not_fit_one_journal_entry_is_refused() {
    let mut world = World::new();
    let key = "leader.replication.throttled.replicas";
    let long = format!("{}:1", "0".repeat(32_000));
    let answers = world.create((0..300).map(|n| new_topic(&format!("t{n}"), 1, &[(key, &long)])).collect());
    let refused: Vec<&CreatableTopicResult> = answers.iter().filter(|answer| answer.error_code == 44).collect();
    assert_eq!(refused[0].error_message.as_deref(), Some("Unable to perform excessively large batch operation."));
    assert_eq!(world.image().topics.len(), 300 - refused.len());
    assert!((200..300).contains(&world.image().topics.len()), "8 MiB of them fit");
    let longer = format!("{}:1", "0".repeat(33_000));
    let (code, text) = outcome(&mut world, new_topic("long", 1, &[(key, &longer)]));
    assert_eq!(code, 40, "a value beyond what all versions carry: {text}");
}

#[test]
fn no_topic_id_is_zero_taken_or_begins_with_a_dash() {
    let mut world = World::new();
    let topics = (0..3_000).map(|n| new_topic(&format!("t{n}"), 1, &[]));
    assert!(world.create_in(4, false, topics.collect()).iter().all(|answer| answer.error_code == 0));
    assert_eq!(world.image().topic_names.len(), 3_000);
    for id in world.image().topic_names.keys() {
        assert!(!id.is_zero() && !id.to_string().starts_with('-'));
        assert_eq!(id.to_bytes()[6] >> 4, 4, "a version 4 uuid");
    }
}

#[test]
fn a_request_that_names_too_many_topics_gets_a_small_refusal() {
    let mut world = World::new();
    let answers = world.create_in(4, false, (0..10_001).map(|_| new_topic("", 0, &[])).collect());
    assert!(answers.len() == 10_001 && answers.iter().all(|answer| answer.error_code == 44));
    assert!(answers[0].error_message.is_some() && answers[1].error_message.is_none());
    let told = grow(&mut world, (0..10_001).map(|_| to("none", 2)).collect());
    assert!(told.len() == 10_001 && told.iter().all(|(code, _)| *code == 44));
}

// CreatePartitions

fn to(name: &str, count: i32) -> CreatePartitionsTopic {
    message!(CreatePartitionsTopic { name: name.into(), count: count, assignments: None })
}

fn to_assigned(name: &str, count: i32, assignments: &[&[i32]]) -> CreatePartitionsTopic {
    let assignments = assignments.iter().map(|ids| message!(CreatePartitionsAssignment { broker_ids: ids.to_vec() }));
    message!(CreatePartitionsTopic { name: name.into(), count: count, assignments: Some(assignments.collect()) })
}

fn grow_in(
    world: &mut World,
    version: i16,
    validate_only: bool,
    topics: Vec<CreatePartitionsTopic>,
) -> Vec<(i16, Option<String>)> {
    let request = message!(CreatePartitionsRequest { topics: topics, validate_only: validate_only });
    let response = world.ask(version, |version| Input::CreatePartitions(asked(version, request.clone())));
    let Response::CreatePartitions(response) = response else { panic!("{response:?}") };
    let results = response.results.into_iter();
    results.map(|result| (result.error_code, result.error_message.map(|text| text.to_string()))).collect()
}

fn grow(world: &mut World, topics: Vec<CreatePartitionsTopic>) -> Vec<(i16, Option<String>)> {
    grow_in(world, 3, false, topics)
}

#[test]
fn a_topic_only_grows() {
    let mut world = World::new();
    world.topics(&[("a", 2), ("same", 2), ("less", 2)]);
    let told = grow(&mut world, vec![to("a", 5), to("same", 2), to("less", 1), to("none", 2)]);
    assert_eq!(
        told,
        [
            (0, None),
            (37, Some("Topic already has 2 partition(s).".to_owned())),
            (37, Some("The topic less currently has 2 partition(s); 1 would not be an increase.".to_owned())),
            (3, None),
        ]
    );
    assert_eq!(world.image().topic("a").unwrap().partition_count, 5);
    let (id, configs) = (world.id("a"), world.image().topic("a").unwrap().configs.clone());
    assert_eq!(grow_in(&mut world, 3, true, vec![to("a", 8)]), [(0, None)]);
    let topic = world.image().topic("a").unwrap();
    assert_eq!((topic.partition_count, topic.id, &topic.configs), (5, id, &configs), "only validated");
    for version in 0..=3 {
        assert_eq!(grow_in(&mut world, version, false, vec![to("none", 2)])[0].0, 3);
    }
}

#[test]
fn refused_growth_is_told_in_kafkas_words() {
    let mut world = World::new();
    world.topics(&[("a", 2), ("b", 2)]);
    for (topics, code, text) in [
        (vec![to("a", 5), to("a", 6)], 42, "Duplicate topic name."),
        (
            vec![to_assigned("a", 4, &[&[1]])],
            39,
            "Attempted to add 2 additional partition(s), but only 1 assignment(s) were specified.",
        ),
        (
            vec![to_assigned("a", 4, &[&[7], &[1]])],
            39,
            "The manual partition assignment includes broker 7, but no such broker is registered.",
        ),
        (
            vec![to_assigned("a", 4, &[&[], &[1]])],
            39,
            "The manual partition assignment includes an empty replica list.",
        ),
        (
            vec![to_assigned("a", 4, &[&[1, 1], &[1]])],
            39,
            "The manual partition assignment includes the broker 1 more than once.",
        ),
        (vec![to("a", -1)], 37, "The topic a currently has 2 partition(s); -1 would not be an increase."),
        (vec![to("a", i32::MAX)], 44, "Excessively large number of additional partitions per request."),
        (vec![to("a", 10_003)], 44, "Excessively large number of additional partitions per request."),
        (vec![to("a", 6_000), to("b", 6_000)], 44, "Excessively large number of additional partitions per request."),
    ] {
        let told = grow(&mut world, topics);
        assert_eq!(told[0], (code, Some(text.to_owned())));
        assert!(code == 44 || told.len() == 1);
    }
    assert_eq!(grow(&mut world, vec![to_assigned("a", 4, &[&[1], &[1]])]), [(0, None)]);
    assert_eq!(grow(&mut world, vec![to("a", 10_004)]), [(0, None)], "10,000 more in one request are allowed");
}

// Topics the server makes

fn wanted(name: &str, partition_count: i32, configs: &[(&str, &str)]) -> WantedTopic {
    let configs = configs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    WantedTopic { name: name.into(), partition_count, replication_factor: -1, configs: configs.collect() }
}

fn create_internal(world: &mut World, topics: Vec<WantedTopic>) -> Vec<(String, Option<String>)> {
    let group = GroupId::from("app");
    let (answer, mut effects) = world.decide(Input::CreateInternalTopics { group: group.clone(), topics });
    assert!(answer.is_none() && effects.len() == 1);
    match effects.remove(0) {
        Effect::WantedTopics { group: for_group, outcome } if for_group == group => {
            outcome.into_iter().map(|(name, error)| (name.to_string(), error)).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_internal_topics_of_a_streams_group_get_what_the_client_asked_for() {
    let mut world = World::new();
    let changelog = [("cleanup.policy", "compact"), ("message.timestamp.type", "CreateTime")];
    let outcome = create_internal(&mut world, vec![wanted("app-store-changelog", 3, &changelog)]);
    assert_eq!(outcome, [("app-store-changelog".to_owned(), None)]);
    let topic = world.image().topic("app-store-changelog").unwrap();
    assert_eq!((topic.partition_count, &*topic.configs), (3, &configs(&changelog)));
}

#[test]
fn an_internal_topic_that_is_there_counts_as_created_if_it_fits() {
    let mut world = World::new();
    world.topics(&[("fits", 3), ("differs", 2)]);
    let before = world.history.len();
    let outcome = create_internal(
        &mut world,
        vec![
            wanted("fits", 3, &[]),
            wanted("differs", 3, &[]),
            wanted("bad/name", 1, &[]),
            wanted("c", 1, &[("x", "1")]),
        ],
    );
    assert_eq!(outcome[0].1, None);
    assert_eq!(outcome[1].1.as_deref(), Some("Topic 'differs' already exists with 2 partition(s) instead of 3."));
    assert!(outcome[2].1.as_deref().unwrap().contains("contains one or more characters"));
    assert_eq!(outcome[3].1.as_deref(), Some("Unknown topic config name: x"));
    assert_eq!(world.history.len(), before);
}

#[test]
fn a_default_replication_factor_may_be_asked_for_as_zero_but_three_replicas_are_refused() {
    let mut world = World::new();
    let mut topic = wanted("a", 1, &[]);
    topic.replication_factor = 0;
    assert_eq!(create_internal(&mut world, vec![topic])[0].1, None);
    let mut topic = wanted("b", 1, &[]);
    topic.replication_factor = 3;
    assert!(create_internal(&mut world, vec![topic])[0].1.as_deref().unwrap().contains("Unable to replicate"));
}

#[test]
fn a_topic_named_in_a_metadata_request_is_made_with_the_defaults() {
    let mut world = World::with(&[("num.partitions", "3")]);
    world.topics(&[("old.one", 1)]);
    let names = ["fresh", "old.one", "old_one", "bad/name", "__consumer_offsets", "__cluster_metadata"];
    let topics = names.map(TopicName::from).to_vec();
    let (answer, effects) = world.decide(Input::AutoCreateTopics { topics });
    assert!(answer.is_none() && effects.is_empty());
    let topics: Vec<(&str, i32)> =
        world.image().topics.values().map(|topic| (topic.name.as_str(), topic.partition_count)).collect();
    assert_eq!(topics, [("fresh", 3), ("old.one", 1)]);
}

#[test]
fn a_metadata_request_cannot_make_topics_without_end() {
    let mut world = World::with(&[("num.partitions", "1000")]);
    let topics = (0..50).map(|n| TopicName::from(format!("t{n}"))).collect();
    world.decide(Input::AutoCreateTopics { topics });
    assert_eq!(world.image().topics.len(), 10);
}
