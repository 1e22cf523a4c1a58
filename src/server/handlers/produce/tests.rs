//! Tests; the machine is played. What makes a batch valid is tested where it is checked, in `protocol::batch`.

use bytes::Bytes;

use super::*;
use crate::protocol::Response;
use crate::protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use crate::runtime::detached::Question;
use crate::server::testing::{START, World, answer_of, batch, partition};
use crate::types::{Offset, TimestampMs};

fn topic(name: &str, partitions: &[(i32, Bytes)]) -> TopicProduceData {
    let partitions = partitions
        .iter()
        .map(|(index, records)| message!(PartitionProduceData { index: *index, records: Some(records.clone()) }));
    message!(TopicProduceData { name: name.into(), partition_data: partitions.collect() })
}

async fn start(world: &World, version: i16, acks: i16, topics: Vec<TopicProduceData>) -> Work {
    let slot = world.shared.handle.reserve().await.unwrap();
    submit(&world.context(version), &message!(ProduceRequest { acks: acks, topic_data: topics }), slot)
}

async fn partitions_of(work: Work, version: i16) -> Vec<PartitionProduceResponse> {
    let Answer::Response(response) = answer_of(work).await else { panic!() };
    response.encode(version, 1).expect("it fits its version");
    let Response::Produce(response) = response else { panic!() };
    response.responses.iter().flat_map(|topic| topic.partition_responses.clone()).collect()
}

fn appended(question: Question, base_offset: i64) {
    let reply = heads::Reply::Appended {
        base_offset: Offset(base_offset),
        log_append_time: TimestampMs(-1),
        log_start: Offset(2),
    };
    question.answer(Ok(Reply::Heads(reply)));
}

#[tokio::test]
async fn batches_go_to_the_machine_together_and_each_is_answered_in_its_place() {
    let mut world = World::new();
    let orders = world.topic("orders", 2, &[]);
    let batches = [(1, batch(&["a", "b"])), (9, batch(&["c"])), (0, batch(&["d"]))];
    let work = start(&world, 9, -1, vec![topic("orders", &batches), topic("missing", &batches[..1])]).await;
    let mut questions = world.inbox.next().await;
    let asked: Vec<_> = questions
        .iter()
        .map(|question| match question.input() {
            Input::Heads(heads::Input::Append { partition, meta, .. }) => (*partition, meta.offset_count),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(asked, [(partition(orders, 1), 2), (partition(orders, 0), 1)]);
    appended(questions.remove(1), 40);
    appended(questions.remove(0), 7);
    let results: Vec<_> = partitions_of(work, 9)
        .await
        .iter()
        .map(|part| (part.index, part.error_code, part.base_offset, part.log_start_offset))
        .collect();
    assert_eq!(results, [(1, 0, 7, 2), (9, 3, -1, -1), (0, 0, 40, 2), (1, 3, -1, -1)]);
}

#[tokio::test]
async fn topics_are_named_by_id_from_version_13_on() {
    let mut world = World::new();
    let orders = world.topic("orders", 1, &[]);
    let mut by_id = topic("", &[(0, batch(&["a"]))]);
    by_id.topic_id = wire_uuid(orders);
    let mut unknown = topic("", &[(0, batch(&["a"]))]);
    unknown.topic_id = wire_uuid(TopicId::from_bytes([99; 16]));
    let work = start(&world, 13, 1, vec![by_id, unknown]).await;
    appended(world.inbox.next().await.remove(0), 0);
    let errors: Vec<_> = partitions_of(work, 13).await.iter().map(|part| part.error_code).collect();
    assert_eq!(errors, [0, 100]);
}

#[tokio::test]
async fn what_the_machine_refuses_has_its_error_and_the_log_start() {
    let mut world = World::new();
    world.topic("orders", 1, &[]);
    let work = start(&world, 9, 1, vec![topic("orders", &[(0, batch(&["a"]))])]).await;
    let refused = heads::Reply::Refused { error: ErrorCode::OutOfOrderSequenceNumber, log_start: Offset(3) };
    world.inbox.next().await.remove(0).answer(Ok(Reply::Heads(refused)));
    let part = partitions_of(work, 9).await.remove(0);
    assert_eq!((part.error_code, part.base_offset, part.log_start_offset), (45, -1, 3));

    for (why, error) in [(Unavailable::Failed, 56), (Unavailable::Stopping, 6), (Unavailable::Panicked, -1)] {
        let work = start(&world, 3, 1, vec![topic("orders", &[(0, batch(&["a"]))])]).await;
        world.inbox.next().await.remove(0).answer(Err(why));
        assert_eq!(partitions_of(work, 3).await[0].error_code, error);
    }
}

#[tokio::test]
async fn a_bad_batch_goes_nowhere_and_the_answer_says_what_is_wrong_with_it() {
    let mut world = World::new();
    world.topic("table", 1, &[("cleanup.policy", "compact")]);
    let mut corrupt = batch(&["a"]).to_vec();
    *corrupt.last_mut().unwrap() ^= 1;
    let work = start(&world, 9, 1, vec![topic("table", &[(0, corrupt.into())])]).await;
    let part = partitions_of(work, 9).await.remove(0);
    assert_eq!((part.error_code, part.log_start_offset, part.error_message), (2, -1, None));

    let mut builder = batch::BatchBuilder::new();
    for key in [Some(&b"k"[..]), None] {
        let record = batch::NewRecord { timestamp: START, key, ..batch::NewRecord::default() };
        builder.push(&record).unwrap();
    }
    for version in [3, 8, 9] {
        let keyless = builder.build().unwrap().freeze();
        let work = start(&world, version, 1, vec![topic("table", &[(0, keyless)])]).await;
        let part = partitions_of(work, version).await.remove(0);
        assert_eq!((part.error_code, part.log_start_offset, part.record_errors.len()), (87, 0, 1));
        assert_eq!(part.record_errors[0].batch_index, 1);
        assert!(part.error_message.is_some());
    }
    assert!(world.inbox.waiting().is_empty());
}

#[tokio::test]
async fn a_changed_config_holds_for_the_next_batch() {
    let mut world = World::new();
    world.topic("orders", 1, &[]);
    let large = batch(&[&"x".repeat(2000)]);
    let work = start(&world, 9, 1, vec![topic("orders", &[(0, large.clone())])]).await;
    appended(world.inbox.next().await.remove(0), 0);
    assert_eq!(partitions_of(work, 9).await[0].error_code, 0);
    world.topic("orders", 1, &[("max.message.bytes", "1000")]);
    let work = start(&world, 9, 1, vec![topic("orders", &[(0, large)])]).await;
    assert_eq!(partitions_of(work, 9).await[0].error_code, 10);
}

#[tokio::test]
async fn acks_are_minus_one_nought_or_one() {
    let mut world = World::new();
    world.topic("orders", 1, &[]);
    for acks in [7, 2, -2] {
        let topics = vec![topic("orders", &[(0, batch(&["a"]))]), topic("missing", &[(0, batch(&["a"]))])];
        let errors: Vec<_> =
            partitions_of(start(&world, 9, acks, topics).await, 9).await.iter().map(|part| part.error_code).collect();
        assert_eq!(errors, [21, 3]);
    }
    assert!(world.inbox.waiting().is_empty());
}

#[tokio::test]
async fn without_acks_success_is_silent_and_failure_closes_the_connection() {
    let mut world = World::new();
    world.topic("orders", 1, &[]);
    let work = start(&world, 9, 0, vec![topic("orders", &[(0, batch(&["a"]))])]).await;
    appended(world.inbox.next().await.remove(0), 0);
    assert!(matches!(answer_of(work).await, Answer::Silence));
    let work = start(&world, 9, 0, vec![topic("orders", &[(7, batch(&["a"]))])]).await;
    assert!(matches!(answer_of(work).await, Answer::Close(_)));
}

#[tokio::test]
async fn no_partitions_is_an_empty_answer_and_no_records_at_all_is_no_request() {
    let mut world = World::new();
    world.topic("orders", 1, &[]);
    assert!(partitions_of(start(&world, 9, 1, Vec::new()).await, 9).await.is_empty());
    let mut nothing = topic("orders", &[(0, Bytes::new())]);
    let empty = start(&world, 9, 1, vec![nothing.clone()]).await;
    assert_eq!(partitions_of(empty, 9).await[0].error_code, 87);
    nothing.partition_data[0].records = None;
    assert!(matches!(answer_of(start(&world, 9, 1, vec![nothing]).await).await, Answer::Close(_)));
}

#[tokio::test]
async fn a_transactional_batch_needs_a_transactional_id() {
    let mut world = World::new();
    world.topic("orders", 1, &[]);
    let transactional = batch::BatchBuilder::new()
        .producer(crate::types::ProducerId(1), crate::types::ProducerEpoch(0), 0)
        .transactional();
    let mut builder = transactional;
    builder.push(&batch::NewRecord { timestamp: START, ..batch::NewRecord::default() }).unwrap();
    let records = builder.build().unwrap().freeze();
    let work = start(&world, 9, -1, vec![topic("orders", &[(0, records), (0, batch(&["a"]))])]).await;
    let errors: Vec<_> = partitions_of(work, 9).await.iter().map(|part| part.error_code).collect();
    assert_eq!(errors, [53, 53], "the whole request");
    assert!(world.inbox.waiting().is_empty());
}
