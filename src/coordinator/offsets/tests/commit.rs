//! OffsetCommit, rule by rule and in every version.

use expect_test::expect;

use crate::coordinator::offsets::commit;
use crate::coordinator::offsets::testing::{
    World, commit_by_id, commit_request, fetch_request, show_commit, show_fetch, topic_id_of,
};
use crate::protocol::messages::OffsetCommitRequest;
use crate::protocol::wire_uuid;
use crate::types::{ErrorCode, Lsn, TimestampMs, TopicId};

fn set_metadata(request: &mut OffsetCommitRequest, texts: &[Option<&str>]) {
    let partitions = request.topics.iter_mut().flat_map(|topic| &mut topic.partitions);
    for (partition, text) in partitions.zip(texts) {
        partition.committed_metadata = text.map(Into::into);
    }
}

#[test]
fn somebody_without_group_management_commits_and_reads_back() {
    let mut world = World::new(&[("in", 3)]);
    let mut request = commit_request("g", &[("in", 0, 10), ("in", 1, 0)]);
    set_metadata(&mut request, &[Some("first"), None]);
    request.topics[0].partitions[0].committed_leader_epoch = 4;
    expect![[r"
        in 0 NONE
        in 1 NONE
    "]]
    .assert_eq(&show_commit(&world.commit(9, request)));

    // Partition 2 has none; null metadata reads as empty.
    let response = world.fetch(9, fetch_request(&[("g", Some(&[("in", 0), ("in", 1), ("in", 2)]))]));
    expect![[r#"
        in 0 = 10 @ 4 "first"
        in 1 = 0 @ -1 ""
        in 2 = -1 @ -1 ""
    "#]]
    .assert_eq(&show_fetch(&response));
    assert_eq!(world.coordinator().offset_count(), 2);
    world.harness.check();
}

#[test]
fn every_version_commits() {
    for version in 2..=10 {
        let mut world = World::new(&[("in", 1)]);
        let mut request = commit_request("g", &[("in", 0, 7), ("in", 1, 7), ("missing", 0, 7)]);
        if version == 10 {
            request = commit_by_id(&world, request);
        }
        let response = world.commit(version, request);
        let codes: Vec<i16> =
            response.topics.iter().flat_map(|topic| &topic.partitions).map(|partition| partition.error_code).collect();
        assert_eq!(codes, if version == 10 { [0, 3, 100] } else { [0, 3, 3] }, "version {version}");
        assert_eq!(world.all("g"), "in 0 = 7 @ -1 \"\"\n", "version {version}");
        let stored = world.stored("g", "in", 0).unwrap();
        let now = world.harness.env.now;
        assert_eq!((stored.commit_timestamp, stored.expire_timestamp), (now, None), "version {version}");
        assert_eq!(stored.topic_id, world.id_of("in"), "version {version}");
    }
}

#[test]
fn version_10_answers_with_ids_and_tells_unknown_id_from_unknown_partition() {
    let mut world = World::new(&[("in", 2)]);
    let mut request = commit_by_id(&world, commit_request("g", &[("in", 1, 8), ("in", 2, 8)]));
    let mut unknown = request.topics[0].clone();
    unknown.topic_id = wire_uuid(topic_id_of(99));
    let mut without_id = unknown.clone();
    without_id.topic_id = wire_uuid(TopicId::ZERO);
    request.topics.extend([unknown, without_id]);
    let response = world.commit(10, request);
    assert!(response.topics.iter().all(|topic| topic.name.is_empty()));
    expect![[r"
        #1 1 NONE
        #1 2 UNKNOWN_TOPIC_OR_PARTITION
        #99 1 UNKNOWN_TOPIC_ID
        #99 2 UNKNOWN_TOPIC_ID
         1 UNKNOWN_TOPIC_ID
         2 UNKNOWN_TOPIC_ID
    "]]
    .assert_eq(&show_commit(&response));
    assert_eq!(world.all("g"), "in 1 = 8 @ -1 \"\"\n");
}

#[test]
fn unknown_topics_and_partitions_fail_alone() {
    let mut world = World::new(&[("in", 1)]);
    let request = commit_request("g", &[("in", 0, 5), ("in", 1, 5), ("in", -1, 5), ("missing", 0, 5)]);
    expect![[r"
        in 0 NONE
        in 1 UNKNOWN_TOPIC_OR_PARTITION
        in -1 UNKNOWN_TOPIC_OR_PARTITION
        missing 0 UNKNOWN_TOPIC_OR_PARTITION
    "]]
    .assert_eq(&show_commit(&world.commit(9, request)));
    assert_eq!(world.all("g"), "in 0 = 5 @ -1 \"\"\n");
}

#[test]
fn a_commit_in_which_no_partition_is_left_asks_no_group() {
    let mut world = World::new(&[("in", 1)]);
    // With a partition that exists this generation would be refused.
    let mut request = commit_request("nobody", &[("missing", 0, 5)]);
    request.generation_id_or_member_epoch = 5;
    assert_eq!(show_commit(&world.commit(9, request)), "missing 0 UNKNOWN_TOPIC_OR_PARTITION\n");
    let mut request = commit_request("nobody", &[]);
    request.generation_id_or_member_epoch = 5;
    assert_eq!(show_commit(&world.commit(9, request)), "");
    assert!(!world.has_group("nobody"));
}

#[test]
fn a_generation_of_a_group_that_does_not_exist_is_refused() {
    for (version, error) in [(2, "ILLEGAL_GENERATION"), (8, "ILLEGAL_GENERATION"), (9, "GROUP_ID_NOT_FOUND")] {
        let mut world = World::new(&[("in", 1)]);
        let mut request = commit_request("g", &[("in", 0, 5), ("missing", 0, 5)]);
        request.generation_id_or_member_epoch = 5;
        request.member_id = "m1".into();
        let expected = format!("in 0 {error}\nmissing 0 UNKNOWN_TOPIC_OR_PARTITION\n");
        assert_eq!(show_commit(&world.commit(version, request)), expected, "version {version}");
        assert!(!world.has_group("g"));
        assert_eq!(world.last.records, []);
    }
}

#[test]
fn a_generation_of_0_is_one() {
    let mut world = World::new(&[("in", 1)]);
    let mut request = commit_request("g", &[("in", 0, 5)]);
    request.generation_id_or_member_epoch = 0;
    assert_eq!(show_commit(&world.commit(9, request)), "in 0 GROUP_ID_NOT_FOUND\n");
}

#[test]
fn a_simple_group_takes_any_member_id_without_generation_and_no_generation() {
    let mut world = World::new(&[("in", 1)]);
    world.committed("g", &[("in", 0, 1)]);
    let mut request = commit_request("g", &[("in", 0, 2)]);
    request.member_id = "tool".into();
    // An instance id does no harm either (KAFKA-14201).
    request.group_instance_id = Some("tool-1".into());
    assert_eq!(show_commit(&world.commit(9, request.clone())), "in 0 NONE\n");

    request.generation_id_or_member_epoch = 0;
    assert_eq!(show_commit(&world.commit(9, request)), "in 0 UNKNOWN_MEMBER_ID\n");
    assert_eq!(world.all("g"), "in 0 = 2 @ -1 \"\"\n");
}

#[test]
fn the_empty_group_id_is_an_ordinary_group_here() {
    let mut world = World::new(&[("in", 1)]);
    world.committed("", &[("in", 0, 1)]);
    assert_eq!(world.all(""), "in 0 = 1 @ -1 \"\"\n");
}

#[test]
fn metadata_is_limited_in_utf16_units_per_partition() {
    let mut world = World::new(&[("in", 6)]);
    let ascii = "x".repeat(4097);
    let (three_bytes, one_more) = ("\u{20ac}".repeat(4096), "\u{20ac}".repeat(4097));
    // Two units each in UTF-16, four bytes in UTF-8.
    let (emoji, emoji_too_many) = ("\u{1f600}".repeat(2048), "\u{1f600}".repeat(2049));
    let offsets: Vec<(&str, i32, i64)> = (0..6).map(|partition| ("in", partition, 1)).collect();
    let mut request = commit_request("g", &offsets);
    set_metadata(
        &mut request,
        &[Some(&ascii), Some(&ascii[1..]), Some(&three_bytes), Some(&one_more), Some(&emoji), Some(&emoji_too_many)],
    );
    expect![[r"
        in 0 OFFSET_METADATA_TOO_LARGE
        in 1 NONE
        in 2 NONE
        in 3 OFFSET_METADATA_TOO_LARGE
        in 4 NONE
        in 5 OFFSET_METADATA_TOO_LARGE
    "]]
    .assert_eq(&show_commit(&world.commit(9, request)));
    assert_eq!(world.stored("g", "in", 2).unwrap().metadata, three_bytes);
    assert_eq!(world.stored("g", "in", 0), None);
    world.harness.check();
}

#[test]
fn metadata_that_old_clients_could_not_read_back_is_too_large_whatever_the_limit() {
    let mut world = World::new(&[("in", 2)]);
    world.config("offset.metadata.max.bytes", "1000000");
    let mut request = commit_request("g", &[("in", 0, 1), ("in", 1, 1)]);
    let text = "x".repeat(32_768);
    set_metadata(&mut request, &[Some(&text), Some(&text[1..])]);
    assert_eq!(show_commit(&world.commit(9, request)), "in 0 OFFSET_METADATA_TOO_LARGE\nin 1 NONE\n");
}

#[test]
fn a_group_error_comes_before_the_metadata_limit() {
    let mut world = World::new(&[("in", 1)]);
    let mut request = commit_request("g", &[("in", 0, 1)]);
    set_metadata(&mut request, &[Some(&"x".repeat(5000))]);
    request.generation_id_or_member_epoch = 1;
    assert_eq!(show_commit(&world.commit(9, request)), "in 0 GROUP_ID_NOT_FOUND\n");
}

#[test]
fn offsets_are_stored_as_they_come_negative_backwards_and_repeated() {
    let mut world = World::new(&[("in", 1)]);
    for offset in [100, -7, 50, 50, i64::MAX] {
        world.committed("g", &[("in", 0, offset)]);
        assert_eq!(world.last.records.len(), 1);
        assert_eq!(world.all("g"), format!("in 0 = {offset} @ -1 \"\"\n"));
    }
    assert_eq!(world.coordinator().offset_count(), 1);
}

#[test]
fn a_retention_time_of_old_versions_becomes_an_expiry_time_and_minus_one_none() {
    let mut world = World::new(&[("in", 1)]);
    let now = world.harness.env.now;
    for version in 2..=4 {
        for (retention_time_ms, expire) in
            [(5_000, Some(now.plus_ms(5_000))), (0, Some(now)), (-1, None), (i64::MAX, Some(TimestampMs(i64::MAX)))]
        {
            let mut request = commit_request("g", &[("in", 0, 1)]);
            request.retention_time_ms = retention_time_ms;
            world.commit(version, request);
            let stored = world.stored("g", "in", 0).unwrap();
            assert_eq!(stored.expire_timestamp, expire, "version {version}, {retention_time_ms} ms");
        }
    }
}

#[test]
fn a_partition_named_twice_is_answered_twice_and_written_once() {
    let mut world = World::new(&[("in", 2)]);
    let request = commit_request("g", &[("in", 1, 1), ("in", 0, 2), ("in", 1, 3)]);
    assert_eq!(show_commit(&world.commit(9, request)), "in 1 NONE\nin 0 NONE\nin 1 NONE\n");
    assert_eq!(world.last.records.len(), 2);
    assert_eq!(world.all("g"), "in 0 = 2 @ -1 \"\"\nin 1 = 3 @ -1 \"\"\n");
}

#[test]
fn a_small_request_that_would_fill_the_journal_is_refused() {
    let mut world = World::new(&[("in", 400)]);
    let group = "g".repeat(30_000);
    let offsets: Vec<(&str, i32, i64)> = (0..400).map(|partition| ("in", partition, 1)).collect();
    let response = world.commit(9, commit_request(&group, &offsets));
    assert!(show_commit(&response).lines().all(|line| line.ends_with("UNKNOWN_SERVER_ERROR")));
    assert_eq!(world.last.records, []);
}

#[test]
fn a_commit_rests_on_the_group_and_on_the_catalogue_it_was_checked_against() {
    let mut world = World::new(&[("in", 1)]);
    world.committed("other", &[("in", 0, 1)]);
    world.committed("g", &[("in", 0, 1)]);
    world.committed("other", &[("in", 0, 1)]);
    world.committed("g", &[("in", 0, 2)]);
    assert_eq!(world.last.rests_on, Lsn(2));
    let mut request = commit_request("nobody", &[("in", 0, 1)]);
    request.generation_id_or_member_epoch = 1;
    world.commit(9, request);
    assert_eq!(world.last.rests_on, Lsn(4), "that a group is not there rests on everything");
    std::sync::Arc::make_mut(&mut world.harness.env.image).lsn = Lsn(40);
    world.commit(9, commit_request("g", &[("missing", 0, 1)]));
    assert_eq!(world.last.rests_on, Lsn(40));
}

#[test]
fn a_refused_request_has_the_error_on_each_partition() {
    let request = commit_request("g", &[("in", 0, 5), ("in", 1, 5), ("missing", 0, 5)]);
    let response = commit::refuse(&request, ErrorCode::CoordinatorLoadInProgress);
    expect![[r"
        in 0 COORDINATOR_LOAD_IN_PROGRESS
        in 1 COORDINATOR_LOAD_IN_PROGRESS
        missing 0 COORDINATOR_LOAD_IN_PROGRESS
    "]]
    .assert_eq(&show_commit(&response));
}
