//! `DeleteTopics`. Codes and texts as observed with Kafka 4.4.0.

use super::*;
use crate::protocol::messages::delete_topics_request::DeleteTopicState;
use crate::protocol::messages::delete_topics_response::DeletableTopicResult;
use crate::protocol::{topic_id, wire_uuid};

fn named(name: &str) -> DeleteTopicState {
    message!(DeleteTopicState { name: Some(name.into()) })
}

fn by_id(id: TopicId) -> DeleteTopicState {
    message!(DeleteTopicState { name: None, topic_id: wire_uuid(id) })
}

fn delete(world: &mut World, topics: Vec<DeleteTopicState>) -> (Vec<DeletableTopicResult>, Vec<Effect>) {
    let request = message!(DeleteTopicsRequest { topics: topics });
    answered(world, 6, request)
}

fn delete_names(world: &mut World, version: i16, names: &[&str]) -> Vec<DeletableTopicResult> {
    let request = message!(DeleteTopicsRequest { topic_names: names.iter().map(|name| (*name).into()).collect() });
    answered(world, version, request).0
}

fn answered(world: &mut World, version: i16, request: DeleteTopicsRequest) -> (Vec<DeletableTopicResult>, Vec<Effect>) {
    let (answer, effects) = world.decide(Input::DeleteTopics(asked(version, request)));
    let answer = answer.expect("an answer");
    answer.encode(version, 1).expect("an answer that fits its version");
    let Response::DeleteTopics(response) = answer else { panic!("{answer:?}") };
    (response.responses, effects)
}

fn told(answer: &DeletableTopicResult) -> (Option<&str>, TopicId, i16, Option<&str>) {
    (answer.name.as_deref(), topic_id(answer.topic_id), answer.error_code, answer.error_message.as_deref())
}

const UNKNOWN: TopicId = TopicId::from_bytes([5; 16]);

#[test]
fn a_topic_goes_by_name_or_by_id_and_its_name_is_free() {
    let mut world = World::new();
    world.topics(&[("a", 1), ("b", 1), ("c", 1)]);
    let (a, b) = (world.id("a"), world.id("b"));
    let topics = vec![named("a"), by_id(b), named("none"), by_id(UNKNOWN)];
    let (answers, effects) = delete(&mut world, topics);
    assert_eq!(told(&answers[0]), (Some("a"), a, 0, None));
    assert_eq!(told(&answers[1]), (Some("b"), b, 0, None));
    let unknown_name = "This server does not host this topic-partition.";
    assert_eq!(told(&answers[2]), (Some("none"), TopicId::ZERO, 3, Some(unknown_name)));
    assert_eq!(told(&answers[3]), (None, UNKNOWN, 100, Some("This server does not host this topic ID.")));
    assert_eq!(effects, [Effect::TopicsDeleted { topics: vec![(a, "a".into()), (b, "b".into())] }]);
    assert_eq!(world.image().topics.keys().map(TopicName::as_str).collect::<Vec<_>>(), ["c"]);
    assert!(world.image().topic_by_id(a).is_none());
    world.topics(&[("a", 1)]);
    assert_ne!(world.id("a"), a);
}

#[test]
fn a_refused_deletion_is_told_in_kafkas_words_and_deletes_nothing() {
    let mut world = World::new();
    world.topics(&[("a", 1)]);
    let a = world.id("a");
    let both = message!(DeleteTopicState { name: Some("a".into()), topic_id: wire_uuid(UNKNOWN) });
    for (topics, expected) in [
        (
            vec![message!(DeleteTopicState { name: None })],
            (None, TopicId::ZERO, 42, Some("Neither topic name nor id were specified.")),
        ),
        (vec![both], (Some("a"), UNKNOWN, 42, Some("You may not specify both topic name and topic id."))),
        (vec![named("a"), named("a")], (Some("a"), TopicId::ZERO, 42, Some("Duplicate topic name."))),
        (vec![by_id(a), by_id(a)], (None, a, 42, Some("Duplicate topic id."))),
        (
            vec![named("a"), by_id(a)],
            (Some("a"), a, 42, Some("The provided topic name maps to an ID that was already supplied.")),
        ),
        (
            vec![by_id(a), named("a")],
            (Some("a"), a, 42, Some("The provided topic name maps to an ID that was already supplied.")),
        ),
    ] {
        let (answers, effects) = delete(&mut world, topics);
        assert_eq!(answers.iter().map(told).collect::<Vec<_>>(), [expected]);
        assert_eq!(effects, []);
    }
    assert_eq!(world.id("a"), a);
}

#[test]
fn every_version_can_carry_the_answer() {
    for version in 1..=5 {
        let mut world = World::new();
        world.topics(&[("a", 1)]);
        let answers = delete_names(&mut world, version, &["a", "none"]);
        assert_eq!(answers.iter().map(|answer| answer.error_code).collect::<Vec<_>>(), [0, 3]);
        assert!(world.image().topics.is_empty());
    }
}

#[test]
fn where_deletion_is_switched_off_each_topic_is_told_so() {
    let mut world = World::with(&[("delete.topic.enable", "false")]);
    world.topics(&[("a", 1)]);
    for (version, code) in [(1, 42), (2, 42), (3, 73), (5, 73)] {
        let answers = delete_names(&mut world, version, &["a", "none"]);
        assert_eq!(answers.iter().map(|answer| answer.error_code).collect::<Vec<_>>(), [code, code]);
        assert!(answers.iter().all(|answer| answer.error_message.is_none()));
    }
    let (answers, effects) = delete(&mut world, vec![by_id(UNKNOWN)]);
    assert_eq!((told(&answers[0]), effects), ((None, UNKNOWN, 73, None), Vec::new()));
    assert_eq!(world.image().topics.len(), 1);
}

#[test]
fn a_request_that_names_too_many_topics_gets_a_small_refusal() {
    let mut world = World::new();
    world.topics(&[("a", 1)]);
    let (answers, effects) = delete(&mut world, vec![named("a"); 10_001]);
    assert!(answers.len() == 10_001 && answers.iter().all(|answer| answer.error_code == 44));
    assert_eq!((effects, world.image().topics.len()), (Vec::new(), 1));
}
