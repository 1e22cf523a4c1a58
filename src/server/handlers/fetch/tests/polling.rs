//! Long polls: what ends them. The clock stands still unless a test moves it.

use super::*;
use crate::server::work::Answer;

/// A fetch that waits up to ten seconds for so many bytes.
fn poll(partitions: &[(i32, i64)], min_bytes: i32) -> FetchRequest {
    let mut request = by_name("orders", partitions);
    request.max_wait_ms = 10_000;
    request.min_bytes = min_bytes;
    request
}

/// Starts a fetch in the background.
fn begin(world: &World, version: i16, request: FetchRequest) -> tokio::task::JoinHandle<Answer> {
    tokio::spawn(answer_of(start(&world.context(version), request)))
}

async fn result(polling: tokio::task::JoinHandle<Answer>) -> FetchResponse {
    let answer = tokio::time::timeout(Duration::from_secs(10), polling).await.expect("it is answered").unwrap();
    let (Answer::Response(response) | Answer::Large(response, _)) = answer else { panic!() };
    let Response::Fetch(response) = response else { panic!() };
    *response
}

#[tokio::test]
async fn at_the_end_of_the_log_a_fetch_waits_for_the_next_record() {
    let (mut world, orders) = world_with_orders(Setup::default());
    let polling = begin(&world, 12, poll(&[(0, 4), (1, 0)], 1));
    settle().await;
    assert!(!polling.is_finished());
    world.append(partition(orders, 1), &["e"]);
    assert_eq!(read(&result(polling).await), [(0, vec![]), (1, vec![0])]);
}

#[tokio::test]
async fn a_fetch_ends_with_nothing_when_its_time_is_over() {
    let (world, _) = world_with_orders(Setup::default());
    let polling = begin(&world, 12, poll(&[(0, 4)], 1));
    settle().await;
    world.clock.advance(Duration::from_millis(9_999));
    settle().await;
    assert!(!polling.is_finished());
    world.clock.advance(Duration::from_millis(1));
    assert_eq!(read(&result(polling).await), [(0, vec![])]);
}

#[tokio::test]
async fn a_fetch_that_wants_more_bytes_gets_what_is_there_when_the_time_is_over() {
    let (world, _) = world_with_orders(Setup::default());
    let polling = begin(&world, 12, poll(&[(0, 0)], 100_000));
    settle().await;
    assert!(!polling.is_finished());
    assert_eq!(world.shared.fetch_memory.free_bytes(), 64 * 1024 * 1024, "nothing is held while waiting");
    world.clock.advance(Duration::from_secs(10));
    assert_eq!(read(&result(polling).await), [(0, vec![0, 1, 3])]);
}

#[tokio::test]
async fn records_of_several_partitions_count_together_towards_the_minimum() {
    let (mut world, orders) = world_with_orders(Setup::default());
    let polling = begin(&world, 12, poll(&[(0, 4), (1, 0)], 1000));
    let value = "x".repeat(300);
    for (part, is_enough) in [(0, false), (1, false), (1, true)] {
        settle().await;
        assert!(!polling.is_finished(), "{part}");
        world.append(partition(orders, part), &[&value]);
        settle().await;
        assert_eq!(polling.is_finished(), is_enough);
    }
    assert_eq!(read(&result(polling).await), [(0, vec![4]), (1, vec![0, 1])]);
}

#[tokio::test]
async fn what_a_limit_keeps_back_is_not_waited_for() {
    let (world, _) = world_with_orders(Setup::default());
    let mut request = poll(&[(0, 0)], 1000);
    request.topics[0].partitions[0].partition_max_bytes = 100;
    assert_eq!(read(&result(begin(&world, 12, request)).await), [(0, vec![0])]);
}

#[tokio::test]
async fn an_error_ends_the_waiting_but_an_unknown_partition_only_if_there_is_no_other() {
    let (world, _) = world_with_orders(Setup::default());
    let out_of_range = begin(&world, 12, poll(&[(0, 99), (1, 0)], 1));
    assert_eq!(errors_of(&result(out_of_range).await), [(0, 1), (1, 0)]);
    let unknown = begin(&world, 12, poll(&[(7, 0)], 1));
    assert_eq!(errors_of(&result(unknown).await), [(7, 3)]);
    // As in Kafka: or a consumer of a deleted topic and an idle one would ask without a pause.
    let both = begin(&world, 12, poll(&[(7, 0), (1, 0)], 1));
    settle().await;
    assert!(!both.is_finished());
    world.clock.advance(Duration::from_secs(10));
    assert_eq!(errors_of(&result(both).await), [(7, 3), (1, 0)]);
}

#[tokio::test]
async fn a_minimum_of_nothing_does_not_wait() {
    let (world, _) = world_with_orders(Setup::default());
    assert_eq!(read(&result(begin(&world, 12, poll(&[(0, 4)], 0))).await), [(0, vec![])]);
}

#[tokio::test]
async fn deleting_the_topic_ends_the_waiting() {
    let (mut world, orders) = world_with_orders(Setup::default());
    let named = begin(&world, 12, poll(&[(0, 4)], 1));
    let mut request = by_id(orders, &[(1, 0)]);
    request.max_wait_ms = 10_000;
    let by_id = begin(&world, 13, request);
    settle().await;
    world.delete_topic("orders");
    assert_eq!(errors_of(&result(named).await), [(0, 3)]);
    assert_eq!(errors_of(&result(by_id).await), [(1, 100)]);
}

#[tokio::test]
async fn deleting_the_records_before_the_offset_ends_the_waiting() {
    let (mut world, orders) = world_with_orders(Setup::default());
    let polling = begin(&world, 12, poll(&[(0, 4)], 1000));
    settle().await;
    world.raise_log_start(partition(orders, 0), 3);
    settle().await;
    assert!(!polling.is_finished(), "the offset itself is still there");
    world.append(partition(orders, 0), &["e"]);
    world.raise_log_start(partition(orders, 0), 5);
    assert_eq!(errors_of(&result(polling).await), [(0, 1)]);
}

#[tokio::test]
async fn stopping_the_server_ends_the_waiting() {
    let (world, _) = world_with_orders(Setup::default());
    let polling = begin(&world, 12, poll(&[(0, 4)], 1));
    settle().await;
    world.stop.cancel();
    assert_eq!(read(&result(polling).await), [(0, vec![])]);
}

#[tokio::test]
async fn nobody_waits_longer_than_an_idle_connection_lives() {
    let (world, _) = world_with_orders(Setup::default());
    let mut request = poll(&[(0, 4)], 1);
    request.max_wait_ms = i32::MAX;
    let polling = begin(&world, 12, request);
    settle().await;
    world.clock.advance(Duration::from_mins(10));
    assert_eq!(read(&result(polling).await), [(0, vec![])]);
}
