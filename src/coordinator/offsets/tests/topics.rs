//! What was committed for a deleted topic goes, a bounded number of offsets at a time.

use crate::coordinator::offsets::testing::{World, topic_id_of};
use crate::coordinator::{OffsetCommitValue, Record};
use crate::types::{TopicId, TopicName};

fn topic(id: TopicId, name: &str) -> (TopicId, TopicName) {
    (id, TopicName::from(name))
}

#[test]
fn deleting_a_topic_takes_its_offsets_from_every_group() {
    let mut world = World::new(&[("in", 2), ("keep", 1)]);
    world.committed("g1", &[("in", 0, 1), ("in", 1, 1), ("keep", 0, 2)]);
    world.committed("g2", &[("in", 0, 1)]);
    world.committed("g3", &[("keep", 0, 3)]);
    let id = world.drop_topic("in");
    assert_eq!(world.sweep_topics(vec![topic(id, "in")]), [3]);
    assert_eq!(world.all("g1"), "keep 0 = 2 @ -1 \"\"\n");
    assert!(!world.has_group("g2"), "nothing is left of a simple group without offsets");
    assert_eq!(world.coordinator().offset_count(), 2);
    world.harness.check();
}

#[test]
fn a_topic_made_again_keeps_what_was_committed_for_it() {
    let mut world = World::new(&[("in", 2)]);
    world.committed("g", &[("in", 0, 1), ("in", 1, 1)]);
    let old = world.id_of("in");
    world.remake_topic("in", 2);
    world.committed("g", &[("in", 1, 100)]);
    assert_eq!(world.coordinator().offset_count(), 2);
    assert_eq!(world.sweep_topics(vec![topic(old, "in")]), [1]);
    assert_eq!(world.all("g"), "in 1 = 100 @ -1 \"\"\n");
    assert_eq!(world.coordinator().offset_count(), 1);
    world.harness.check();
}

#[test]
fn an_offset_stored_without_topic_id_goes_with_the_topic_of_its_name() {
    let mut world = World::new(&[("in", 1)]);
    world.committed("g", &[("in", 0, 1)]);
    let stored = world.stored("g", "in", 0).unwrap();
    world.harness.write(&Record::OffsetCommit {
        group: "g".into(),
        topic: "in".into(),
        partition: 0,
        value: Some(OffsetCommitValue { topic_id: TopicId::ZERO, ..stored }),
    });
    let id = world.drop_topic("in");
    world.sweep_topics(vec![topic(id, "in")]);
    assert!(!world.has_group("g"));
}

#[test]
fn a_topic_nobody_committed_for_needs_no_step_at_all() {
    let mut world = World::new(&[("in", 1)]);
    world.committed("g", &[("in", 0, 1)]);
    assert_eq!(world.sweep_topics(vec![topic(topic_id_of(9), "other")]), [0]);
    assert_eq!(world.coordinator().offset_count(), 1);
}

#[test]
fn a_large_deletion_goes_in_bounded_steps_and_leaves_nothing_out() {
    let mut world = World::new(&[("in", 3_000), ("keep", 1)]);
    let offsets: Vec<(&str, i32, i64)> = (0..3_000).map(|partition| ("in", partition, 1)).collect();
    world.committed("g1", &offsets);
    for group in 0..500 {
        world.committed(&format!("h{group}"), &[("in", 0, 1), ("keep", 0, 1)]);
    }
    let id = world.drop_topic("in");
    let steps = world.sweep_topics(vec![topic(id, "in")]);
    assert_eq!(steps.iter().sum::<usize>(), 3_500);
    assert!(steps.iter().all(|records| *records <= 1_000), "{steps:?}");
    assert!(steps.len() < 10, "{steps:?}");
    assert_eq!(world.coordinator().offset_count(), 500);
    world.harness.check();
}

#[test]
fn long_names_make_smaller_steps() {
    let mut world = World::new(&[("in", 300)]);
    let offsets: Vec<(&str, i32, i64)> = (0..300).map(|partition| ("in", partition, 1)).collect();
    world.committed(&"g".repeat(20_000), &offsets);
    let id = world.drop_topic("in");
    let steps = world.sweep_topics(vec![topic(id, "in")]);
    assert!(steps.iter().all(|records| *records <= 20), "{steps:?}");
    assert_eq!(world.coordinator().offset_count(), 0);
}

#[test]
fn many_topics_at_once_are_swept_in_several_passes() {
    let names: Vec<String> = (0..1_200).map(|index| format!("t{index:04}")).collect();
    let mut world = World::new(&[]);
    let mut deleted = Vec::new();
    for (index, name) in names.iter().enumerate() {
        world.harness.create_topic(name, 1);
        deleted.push(topic(world.id_of(name), name));
        // Some topics only in the first group, so that they are done with before a pass ends.
        world.committed(if index % 2 == 0 { "a" } else { "z" }, &[(name, 0, 1)]);
    }
    for (_, name) in &deleted {
        world.drop_topic(name);
    }
    let steps = world.sweep_topics(deleted);
    assert_eq!(steps.iter().sum::<usize>(), 1_200);
    assert!(!world.has_group("a") && !world.has_group("z"));
}

#[test]
fn topics_that_are_done_with_in_the_middle_of_a_pass_make_no_others_late() {
    let mut world = World::new(&[]);
    let mut deleted = Vec::new();
    for index in 0..600 {
        let name = format!("t{index:03}");
        world.harness.create_topic(&name, 1);
        deleted.push(topic(world.id_of(&name), &name));
        world.put("a", &name, 0);
    }
    // The first step ends in this group; by then most topics of the pass have no offsets any more.
    for partition in 0..1_000 {
        world.put("b", "t499", partition);
    }
    let steps = world.sweep_topics(deleted);
    assert!(steps.len() > 2, "{steps:?}");
    assert_eq!(world.coordinator().offset_count(), 0);
}

#[test]
fn a_sweep_gets_past_any_number_of_groups_that_have_nothing_to_remove() {
    let mut world = World::new(&[("in", 1), ("keep", 1)]);
    for group in 0..10_500 {
        world.put(&format!("g{group:05}"), "keep", 0);
    }
    world.put("z", "in", 0);
    let id = world.drop_topic("in");
    assert_eq!(world.sweep_topics(vec![topic(id, "in")]), [0, 1]);
    assert!(!world.has_group("z"));
}
