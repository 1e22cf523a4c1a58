//! Tests against what Kafka 4.4.0 was observed to answer.

use super::*;
use crate::protocol::messages::list_offsets_request::ListOffsetsTopic;
use crate::server::testing::{Setup, World, partition, response_of};

fn topic(name: &str, partitions: &[(i32, i64)]) -> ListOffsetsTopic {
    let partitions = partitions
        .iter()
        .map(|(index, timestamp)| message!(ListOffsetsPartition { partition_index: *index, timestamp: *timestamp }));
    message!(ListOffsetsTopic { name: name.into(), partitions: partitions.collect() })
}

/// Partition, error, timestamp, offset and leader epoch of each.
async fn ask(world: &World, version: i16, topics: Vec<ListOffsetsTopic>) -> Vec<(i32, i16, i64, i64, i32)> {
    let request = message!(ListOffsetsRequest { replica_id: -1, topics: topics });
    let response = response_of(start(&world.context(version), request)).await;
    response.encode(version, 1).expect("it fits its version");
    let Response::ListOffsets(response) = response else { panic!() };
    let partitions = response.topics.iter().flat_map(|topic| &topic.partitions);
    partitions
        .map(|found| (found.partition_index, found.error_code, found.timestamp, found.offset, found.leader_epoch))
        .collect()
}

/// A topic whose partition 0 has records of the times 1000, 3000 and 2000, and whose partition 1 is empty.
fn world_with_records(tail_bytes: usize) -> World {
    let mut world = World::with(Setup { tail_bytes, ..Setup::default() });
    let orders = world.topic("orders", 2, &[]);
    for timestamp in [1000, 3000, 2000] {
        world.append_at(partition(orders, 0), timestamp, &["v"]);
    }
    world
}

#[tokio::test]
async fn the_ends_and_the_largest_time_of_a_log_are_found() {
    for tail_bytes in [0, 1_000_000] {
        let world = world_with_records(tail_bytes);
        let both = |timestamp| vec![topic("orders", &[(0, timestamp), (1, timestamp)])];
        assert_eq!(ask(&world, 7, both(LATEST)).await, [(0, 0, -1, 3, 0), (1, 0, -1, 0, 0)]);
        assert_eq!(ask(&world, 7, both(EARLIEST)).await, [(0, 0, -1, 0, 0), (1, 0, -1, 0, 0)]);
        assert_eq!(ask(&world, 7, both(MAX_TIMESTAMP)).await, [(0, 0, 3000, 1, 0), (1, 0, -1, -1, -1)]);
        assert_eq!(ask(&world, 8, both(EARLIEST_LOCAL)).await, [(0, 0, -1, 0, 0), (1, 0, -1, 0, 0)]);
        assert_eq!(ask(&world, 11, both(LATEST_TIERED)).await, [(0, 0, -1, -1, -1), (1, 0, -1, -1, -1)]);
        assert_eq!(ask(&world, 11, both(EARLIEST_PENDING_UPLOAD)).await, [(0, 0, -1, -1, -1), (1, 0, -1, -1, -1)]);
    }
}

#[tokio::test]
async fn a_time_finds_the_first_record_at_or_after_it() {
    let world = world_with_records(0);
    let at = |timestamp| vec![topic("orders", &[(0, timestamp)])];
    assert_eq!(ask(&world, 11, at(0)).await, [(0, 0, 1000, 0, 0)]);
    assert_eq!(ask(&world, 11, at(1001)).await, [(0, 0, 3000, 1, 0)]);
    assert_eq!(ask(&world, 11, at(3001)).await, [(0, 0, -1, -1, -1)]);
    assert_eq!(ask(&world, 1, at(1001)).await, [(0, 0, 3000, 1, -1)], "leader epochs came with version 4");
}

#[tokio::test]
async fn deleted_records_are_not_found() {
    let mut world = world_with_records(0);
    let orders = world.shared.handle.image().topic("orders").unwrap().id;
    world.raise_log_start(partition(orders, 0), 2);
    let at = |timestamp| vec![topic("orders", &[(0, timestamp)])];
    assert_eq!(ask(&world, 11, at(EARLIEST)).await, [(0, 0, -1, 2, 0)]);
    assert_eq!(ask(&world, 11, at(MAX_TIMESTAMP)).await, [(0, 0, 2000, 2, 0)]);
}

#[tokio::test]
async fn a_special_time_needs_the_version_that_brought_it() {
    let world = world_with_records(0);
    for (timestamp, since) in [(-3, 7), (-4, 8), (-5, 9), (-6, 11), (-7, 99)] {
        for version in 1..=11 {
            let error = ask(&world, version, vec![topic("orders", &[(0, timestamp)])]).await[0].1;
            assert_eq!(error, if version >= since { 0 } else { 35 }, "{timestamp} in version {version}");
        }
    }
}

#[tokio::test]
async fn what_cannot_be_looked_up_is_an_error_of_its_partition() {
    let world = world_with_records(0);
    let mut fenced = topic("orders", &[(0, LATEST)]);
    fenced.partitions[0].current_leader_epoch = 1;
    assert_eq!(ask(&world, 11, vec![fenced]).await, [(0, 75, -1, -1, -1)]);
    let missing = vec![topic("orders", &[(9, LATEST), (-1, LATEST)]), topic("missing", &[(0, LATEST)])];
    assert_eq!(ask(&world, 11, missing).await, [(9, 3, -1, -1, -1), (-1, 3, -1, -1, -1), (0, 3, -1, -1, -1)]);
    let twice = vec![topic("orders", &[(0, LATEST), (1, LATEST), (0, EARLIEST)])];
    assert_eq!(ask(&world, 11, twice).await, [(0, 42, -1, -1, -1), (1, 0, -1, 0, 0)]);
}
