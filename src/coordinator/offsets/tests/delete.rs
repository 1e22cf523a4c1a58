//! OffsetDelete, rule by rule.

use expect_test::expect;

use crate::coordinator::Record;
use crate::coordinator::offsets::testing::{World, delete_request, show_delete};
use crate::types::Lsn;

#[test]
fn single_partitions_are_deleted_and_unknown_ones_reported() {
    let mut world = World::new(&[("in", 2)]);
    world.committed("g", &[("in", 0, 1), ("in", 1, 2)]);
    let response = world.delete(delete_request("g", &[("in", 0), ("in", 2), ("in", -1), ("missing", 0)]));
    expect![[r"
        in 0 NONE
        in 2 UNKNOWN_TOPIC_OR_PARTITION
        in -1 UNKNOWN_TOPIC_OR_PARTITION
        missing 0 UNKNOWN_TOPIC_OR_PARTITION
    "]]
    .assert_eq(&show_delete(&response));
    assert_eq!(world.all("g"), "in 1 = 2 @ -1 \"\"\n");
    assert_eq!(world.coordinator().offset_count(), 1);
    world.harness.check();
}

#[test]
fn deleting_what_is_not_there_succeeds_and_writes_nothing() {
    let mut world = World::new(&[("in", 2)]);
    world.committed("g", &[("in", 0, 1)]);
    assert_eq!(show_delete(&world.delete(delete_request("g", &[("in", 1)]))), "in 1 NONE\n");
    assert_eq!(world.last.records, []);
    assert_eq!(world.last.rests_on, Lsn(1));
}

#[test]
fn a_partition_named_twice_is_deleted_once() {
    let mut world = World::new(&[("in", 2)]);
    world.committed("g", &[("in", 0, 1), ("in", 1, 1)]);
    assert_eq!(show_delete(&world.delete(delete_request("g", &[("in", 0), ("in", 0)]))), "in 0 NONE\nin 0 NONE\n");
    let tombstone = Record::OffsetCommit { group: "g".into(), topic: "in".into(), partition: 0, value: None };
    assert_eq!(world.last.records, [tombstone]);
}

#[test]
fn a_group_that_is_not_there_is_an_error_even_without_topics() {
    let mut world = World::new(&[("in", 1)]);
    assert_eq!(show_delete(&world.delete(delete_request("nobody", &[("in", 0)]))), "GROUP_ID_NOT_FOUND\n");
    assert_eq!(show_delete(&world.delete(delete_request("nobody", &[]))), "GROUP_ID_NOT_FOUND\n");
    assert_eq!(show_delete(&world.delete(delete_request("nobody", &[("missing", 0)]))), "GROUP_ID_NOT_FOUND\n");
}

#[test]
fn the_empty_group_id_is_refused_though_it_holds_offsets() {
    let mut world = World::new(&[("in", 1)]);
    world.committed("", &[("in", 0, 1)]);
    assert_eq!(show_delete(&world.delete(delete_request("", &[("in", 0)]))), "INVALID_GROUP_ID\n");
    assert_eq!(world.all(""), "in 0 = 1 @ -1 \"\"\n");
}

#[test]
fn a_simple_group_is_gone_with_its_last_offset() {
    let mut world = World::new(&[("in", 1)]);
    world.committed("g", &[("in", 0, 1)]);
    world.delete(delete_request("g", &[("in", 0)]));
    assert!(!world.has_group("g"));
    assert_eq!(world.coordinator().offset_count(), 0);
    assert_eq!(show_delete(&world.delete(delete_request("g", &[("in", 0)]))), "GROUP_ID_NOT_FOUND\n");
    assert_eq!(world.last.rests_on, Lsn(2), "the deletion must be durable before anybody hears of it");
    world.harness.check();
}

#[test]
fn an_offset_of_an_earlier_topic_of_the_name_is_deleted_with_it() {
    let mut world = World::new(&[("in", 1)]);
    world.committed("g", &[("in", 0, 1)]);
    world.remake_topic("in", 1);
    world.delete(delete_request("g", &[("in", 0)]));
    assert!(!world.has_group("g"));
}

#[test]
fn a_small_request_that_would_fill_the_journal_is_refused() {
    let mut world = World::new(&[("in", 400)]);
    let group = "g".repeat(30_000);
    for partition in 0..400 {
        world.put(&group, "in", partition);
    }
    let partitions: Vec<(&str, i32)> = (0..400).map(|partition| ("in", partition)).collect();
    assert_eq!(show_delete(&world.delete(delete_request(&group, &partitions))), "UNKNOWN_SERVER_ERROR\n");
    assert_eq!(world.coordinator().offset_count(), 400);
    assert!(show_delete(&world.delete(delete_request(&group, &partitions[..200]))).starts_with("in 0 NONE\n"));
    assert_eq!(world.coordinator().offset_count(), 200);
}
