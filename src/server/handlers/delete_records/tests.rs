//! Tests; the machine is played.

use super::*;
use crate::protocol::messages::delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic};
use crate::protocol::{Response, StrBytes};
use crate::server::testing::{World, partition, response_of};

fn topic(name: &str, partitions: &[(i32, i64)]) -> DeleteRecordsTopic {
    let partitions = partitions
        .iter()
        .map(|(index, offset)| message!(DeleteRecordsPartition { partition_index: *index, offset: *offset }));
    message!(DeleteRecordsTopic { name: StrBytes::from(name), partitions: partitions.collect() })
}

async fn start(world: &World, topics: Vec<DeleteRecordsTopic>) -> Work {
    let slot = world.shared.handle.reserve().await.unwrap();
    submit(&world.context(2), message!(DeleteRecordsRequest { topics: topics }), slot)
}

/// Partition, low watermark and error of each.
async fn results(work: Work) -> Vec<(i32, i64, i16)> {
    let Response::DeleteRecords(response) = response_of(work).await else { panic!() };
    let partitions = response.topics.iter().flat_map(|topic| &topic.partitions);
    partitions.map(|result| (result.partition_index, result.low_watermark, result.error_code)).collect()
}

#[tokio::test]
async fn each_partition_is_asked_for_and_answered_in_its_place() {
    let mut world = World::new();
    let orders = world.topic("orders", 2, &[]);
    let work = start(&world, vec![topic("orders", &[(1, -1), (8, 0), (0, 5)]), topic("missing", &[(0, 0)])]).await;
    let mut questions = world.inbox.next().await;
    let asked: Vec<_> = questions
        .iter()
        .map(|question| match question.input() {
            Input::Heads(heads::Input::RaiseLogStart { partition, offset, .. }) => (*partition, *offset),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(asked, [(partition(orders, 1), Offset(-1)), (partition(orders, 0), Offset(5))]);
    let refused = heads::Reply::Refused { error: ErrorCode::OffsetOutOfRange, log_start: Offset(0) };
    questions.remove(1).answer(Ok(Reply::Heads(refused)));
    questions.remove(0).answer(Ok(Reply::Heads(heads::Reply::LogStart { low_watermark: Offset(7) })));
    assert_eq!(results(work).await, [(1, 7, 0), (8, -1, 3), (0, -1, 1), (0, -1, 3)]);
}

#[tokio::test]
async fn a_topic_that_is_only_compacted_loses_nothing() {
    let mut world = World::new();
    world.topic("table", 1, &[("cleanup.policy", "compact")]);
    world.topic("windowed", 1, &[("cleanup.policy", "compact,delete")]);
    let work = start(&world, vec![topic("table", &[(0, 1), (3, 1)]), topic("windowed", &[(0, 1)])]).await;
    let mut questions = world.inbox.waiting();
    assert_eq!(questions.len(), 1);
    questions.remove(0).answer(Ok(Reply::Heads(heads::Reply::LogStart { low_watermark: Offset(1) })));
    assert_eq!(results(work).await, [(0, -1, 44), (3, -1, 3), (0, 1, 0)]);
}

#[tokio::test]
async fn a_machine_that_failed_is_a_storage_error_of_each_partition() {
    let mut world = World::new();
    world.topic("orders", 1, &[]);
    let work = start(&world, vec![topic("orders", &[(0, 1)])]).await;
    world.inbox.next().await.remove(0).answer(Err(Unavailable::Failed));
    assert_eq!(results(work).await, [(0, -1, 56)]);
}
