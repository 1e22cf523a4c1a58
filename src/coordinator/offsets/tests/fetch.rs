//! OffsetFetch, rule by rule and in every version.

use expect_test::expect;

use crate::coordinator::offsets::testing::{
    Listed, World, commit_request, fetch_by_id, fetch_request, fetch_request_of_one, show_fetch, topic_id_of,
};
use crate::coordinator::{OffsetCommitValue, Record};
use crate::protocol::errors::error_response;
use crate::protocol::messages::OffsetFetchRequest;
use crate::protocol::{Response, wire_uuid};
use crate::types::{ErrorCode, Lsn, TopicId};

fn with_offsets() -> World {
    let mut world = World::new(&[("a", 2), ("b", 1)]);
    let mut request = commit_request("g", &[("a", 0, 10), ("a", 1, 11), ("b", 0, 20)]);
    request.topics[0].partitions[0].committed_leader_epoch = 4;
    request.topics[0].partitions[0].committed_metadata = Some("note".into());
    world.commit(9, request);
    world
}

/// A request for the same thing in any version.
fn request(world: &World, version: i16, group: &str, partitions: Listed<'_>) -> OffsetFetchRequest {
    match version {
        ..=7 => fetch_request_of_one(group, partitions),
        8 | 9 => fetch_request(&[(group, partitions)]),
        _ => fetch_by_id(world, fetch_request(&[(group, partitions)])),
    }
}

#[test]
fn every_version_reads_listed_partitions() {
    for version in 1..=10 {
        let mut world = with_offsets();
        let request = request(&world, version, "g", Some(&[("a", 0), ("a", 1), ("b", 0), ("b", 7)]));
        let (a, b) = if version == 10 { ("#1", "#2") } else { ("a", "b") };
        let epoch = if version >= 5 { 4 } else { -1 };
        let expected = format!(
            "{a} 0 = 10 @ {epoch} \"note\"\n{a} 1 = 11 @ -1 \"\"\n{b} 0 = 20 @ -1 \"\"\n{b} 7 = -1 @ -1 \"\"\n"
        );
        assert_eq!(show_fetch(&world.fetch(version, request)), expected, "version {version}");
    }
}

#[test]
fn every_version_that_can_reads_all_topics() {
    for version in 2..=10 {
        let mut world = with_offsets();
        let request = request(&world, version, "g", None);
        let (a, b) = if version == 10 { ("#1", "#2") } else { ("a", "b") };
        let epoch = if version >= 5 { 4 } else { -1 };
        let expected = format!("{a} 0 = 10 @ {epoch} \"note\"\n{a} 1 = 11 @ -1 \"\"\n{b} 0 = 20 @ -1 \"\"\n");
        assert_eq!(show_fetch(&world.fetch(version, request)), expected, "version {version}");
    }
}

#[test]
fn what_was_never_committed_is_minus_one_and_no_error() {
    for version in 1..=10 {
        let mut world = with_offsets();
        let request = request(&world, version, "nobody", Some(&[("a", 0)]));
        let a = if version == 10 { "#1" } else { "a" };
        assert_eq!(show_fetch(&world.fetch(version, request)), format!("{a} 0 = -1 @ -1 \"\"\n"), "version {version}");
    }
    let mut world = with_offsets();
    let response = world.fetch(9, fetch_request(&[("g", Some(&[("missing", 0), ("a", 99), ("a", -5)]))]));
    expect![[r#"
        missing 0 = -1 @ -1 ""
        a 99 = -1 @ -1 ""
        a -5 = -1 @ -1 ""
    "#]]
    .assert_eq(&show_fetch(&response));
}

#[test]
fn all_topics_of_nobody_and_no_topics_of_a_group_are_empty_lists() {
    let mut world = with_offsets();
    for (group, topics) in [("nobody", None), ("g", Some(&[] as &[_]))] {
        let response = world.fetch(9, fetch_request(&[(group, topics)]));
        assert_eq!((response.groups.len(), response.groups[0].error_code), (1, 0));
        assert_eq!(&*response.groups[0].group_id, group);
        assert!(response.groups[0].topics.is_empty());
    }
    let response = world.fetch(5, fetch_request_of_one("nobody", None));
    assert_eq!((response.error_code, response.topics.len()), (0, 0));
}

#[test]
fn an_unknown_topic_id_is_an_error_of_its_partitions_only() {
    let mut world = with_offsets();
    let mut request = fetch_by_id(&world, fetch_request(&[("g", Some(&[("a", 1), ("b", 0)]))]));
    for topic in request.groups[0].topics.iter_mut().flatten().skip(1) {
        topic.topic_id = wire_uuid(topic_id_of(99));
    }
    expect![[r#"
        #1 1 = 11 @ -1 ""
        #99 0 = -1 @ -1 "" UNKNOWN_TOPIC_ID
    "#]]
    .assert_eq(&show_fetch(&world.fetch(10, request)));
}

#[test]
fn several_groups_are_answered_in_the_order_asked() {
    let mut world = World::new(&[("in", 1)]);
    world.committed("a", &[("in", 0, 1)]);
    world.committed("b", &[("in", 0, 2)]);
    let mut request = fetch_request(&[("b", Some(&[("in", 0)])), ("nobody", None), ("a", None), ("a", None)]);
    // A simple group does not look at the member, nor does one that is not there.
    for group in &mut request.groups {
        group.member_id = Some("m1".into());
        group.member_epoch = 7;
    }
    let response = world.fetch(9, request);
    let groups: Vec<(&str, i16)> = response.groups.iter().map(|group| (&*group.group_id, group.error_code)).collect();
    assert_eq!(groups, [("b", 0), ("nobody", 0), ("a", 0), ("a", 0)]);
    assert_eq!(show_fetch(&response), "in 0 = 2 @ -1 \"\"\nin 0 = 1 @ -1 \"\"\nin 0 = 1 @ -1 \"\"\n");
}

#[test]
fn a_small_request_cannot_ask_for_a_large_group_over_and_over() {
    let mut world = World::new(&[("in", 30_000)]);
    let offsets: Vec<(&str, i32, i64)> = (0..30_000).map(|partition| ("in", partition, 1)).collect();
    world.committed("large", &offsets);
    world.committed("small", &[("in", 0, 1)]);
    let response = world.fetch(9, fetch_request(&[("large", None); 6]));
    let codes: Vec<i16> = response.groups.iter().map(|group| group.error_code).collect();
    // Once in full, three repeats within the allowance, then no more.
    assert_eq!(codes, [0, 0, 0, 0, 42, 42]);
    let response = world.fetch(9, fetch_request(&[("small", None); 6]));
    assert!(response.groups.iter().all(|group| group.error_code == 0));
}

#[test]
fn a_topic_made_again_under_its_old_name_starts_without_offsets() {
    let mut world = with_offsets();
    world.remake_topic("a", 2);
    let listed: Listed<'_> = Some(&[("a", 0), ("b", 0)]);
    for version in 1..=10 {
        let request = request(&world, version, "g", listed);
        let (a, b) = if version == 10 { ("#3", "#2") } else { ("a", "b") };
        let expected = format!("{a} 0 = -1 @ -1 \"\"\n{b} 0 = 20 @ -1 \"\"\n");
        assert_eq!(show_fetch(&world.fetch(version, request)), expected, "version {version}");
    }
    assert_eq!(world.all("g"), "b 0 = 20 @ -1 \"\"\n");

    world.committed("g", &[("a", 1, 99)]);
    assert_eq!(world.all("g"), "a 1 = 99 @ -1 \"\"\nb 0 = 20 @ -1 \"\"\n");
}

#[test]
fn offsets_of_a_deleted_topic_are_not_told_even_before_they_are_swept() {
    let mut world = with_offsets();
    world.drop_topic("a");
    assert_eq!(world.all("g"), "b 0 = 20 @ -1 \"\"\n");
    let response = world.fetch(9, fetch_request(&[("g", Some(&[("a", 0)]))]));
    assert_eq!(show_fetch(&response), "a 0 = -1 @ -1 \"\"\n");
}

#[test]
fn an_offset_stored_without_topic_id_is_that_of_any_topic_of_the_name() {
    let mut world = World::new(&[("a", 2)]);
    world.committed("g", &[("a", 1, 11)]);
    let stored = world.stored("g", "a", 1).unwrap();
    world.harness.write(&Record::OffsetCommit {
        group: "g".into(),
        topic: "a".into(),
        partition: 0,
        value: Some(OffsetCommitValue { topic_id: TopicId::ZERO, offset: 5, ..stored }),
    });
    assert_eq!(world.all("g"), "a 0 = 5 @ -1 \"\"\na 1 = 11 @ -1 \"\"\n");
    let response = world.fetch(10, request(&world, 10, "g", Some(&[("a", 0)])));
    assert_eq!(show_fetch(&response), "#1 0 = 5 @ -1 \"\"\n");
    // Told as one topic, not as two of the same name.
    assert_eq!(world.fetch(9, fetch_request(&[("g", None)])).groups[0].topics.len(), 1);
}

#[test]
fn require_stable_finds_nothing_pending() {
    for version in 7..=10 {
        let mut world = with_offsets();
        let mut request = request(&world, version, "g", Some(&[("b", 0)]));
        request.require_stable = true;
        let b = if version == 10 { "#2" } else { "b" };
        assert_eq!(show_fetch(&world.fetch(version, request)), format!("{b} 0 = 20 @ -1 \"\"\n"));
    }
}

#[test]
fn a_read_rests_on_its_groups() {
    let mut world = World::new(&[("in", 1)]);
    world.committed("a", &[("in", 0, 1)]);
    world.committed("b", &[("in", 0, 1)]);
    world.committed("c", &[("in", 0, 1)]);
    world.fetch(9, fetch_request(&[("b", None), ("a", None)]));
    assert_eq!(world.last.rests_on, Lsn(2));
    world.fetch(9, fetch_request(&[("a", None), ("nobody", None)]));
    assert_eq!(world.last.rests_on, Lsn(3), "that a group is not there rests on everything");
    std::sync::Arc::make_mut(&mut world.harness.env.image).lsn = Lsn(40);
    world.fetch(9, fetch_request(&[("a", None)]));
    assert_eq!(world.last.rests_on, Lsn(40), "and that a topic is there on the catalogue");
}

#[test]
fn a_refusal_stands_where_each_version_has_a_place_for_it() {
    let world = with_offsets();
    for version in 1..=10 {
        let request = request(&world, version, "g", Some(&[("a", 0), ("b", 0)]));
        let refusal = error_response(&request.into(), version, ErrorCode::NotCoordinator);
        assert!(refusal.encode(version, 1).is_ok(), "version {version}");
        let Response::OffsetFetch(response) = refusal else { panic!("an answer of another kind") };
        let expected = match version {
            // KAFKA-19439: the only place is the partitions.
            1 => "a 0 = -1 @ -1 \"\" NOT_COORDINATOR\nb 0 = -1 @ -1 \"\" NOT_COORDINATOR\n",
            2..=7 => "NOT_COORDINATOR\n",
            _ => "g -1 = -1 @ -1 \"group\" NOT_COORDINATOR\n",
        };
        assert_eq!(show_fetch(&response), expected, "version {version}");
    }
}
