//! Offsets of members of a streams group.

use std::collections::BTreeMap;

use expect_test::expect;

use crate::coordinator::offsets::testing::{
    DAY, Listed, MINUTE, World, commit_request, delete_request, fetch_request, fetch_request_of_one, show_commit,
    show_delete, show_fetch,
};
use crate::coordinator::streams::records::{
    StreamsGroupCurrentMemberAssignmentValue, StreamsGroupMemberMetadataValue, StreamsGroupMetadataValue,
    StreamsGroupTopologyValue, Subtopology, TopicInfo,
};
use crate::coordinator::streams::tasks::{ActiveTasks, AssignedTasks, SubtopologyId, TaskSet};
use crate::coordinator::{GroupKind, Record};
use crate::protocol::messages::OffsetCommitRequest;
use crate::types::GroupId;

const CHECK_INTERVAL: i64 = 10 * MINUTE;

/// An application that reads `in` (two partitions) and its own repartition topic. Beside them lies the topic `other`.
fn with_application() -> World {
    let mut world = World::new(&[("in", 2), ("app-repartition", 2), ("other", 1)]);
    world.harness.write(&Record::StreamsGroupMetadata {
        group: "app".into(),
        value: Some(StreamsGroupMetadataValue {
            epoch: 5,
            metadata_hash: 0,
            validated_topology_epoch: 0,
            last_assignment_configs: BTreeMap::new(),
            stored_description_topology_epoch: -1,
            failed_description_topology_epoch: -1,
        }),
    });
    let repartition = TopicInfo { name: "app-repartition".into(), ..TopicInfo::default() };
    let subtopology = Subtopology {
        subtopology_id: "0".into(),
        source_topics: vec!["in".into()],
        repartition_source_topics: vec![repartition],
        ..Subtopology::default()
    };
    let topology = StreamsGroupTopologyValue { epoch: 0, subtopologies: vec![subtopology] };
    world.harness.write(&Record::StreamsGroupTopology { group: "app".into(), value: Some(topology) });
    world
}

/// `m1` joins at epoch 5 and owns partition 0 since epoch 3, partition 1 since epoch 5.
fn join(world: &mut World) {
    let subtopology: SubtopologyId = "0".into();
    let mut active = ActiveTasks::default();
    active.insert(&subtopology, 0, 3);
    active.insert(&subtopology, 1, 5);
    world.harness.write(&Record::StreamsGroupMemberMetadata {
        group: "app".into(),
        member: "m1".into(),
        value: Some(StreamsGroupMemberMetadataValue {
            instance_id: None,
            rack_id: None,
            client_id: "client".to_owned(),
            client_host: "/127.0.0.1".to_owned(),
            rebalance_timeout_ms: 30_000,
            topology_epoch: 0,
            process_id: "p1".into(),
            user_endpoint: None,
            client_tags: BTreeMap::new(),
        }),
    });
    world.harness.write(&Record::StreamsGroupCurrentMemberAssignment {
        group: "app".into(),
        member: "m1".into(),
        value: Some(StreamsGroupCurrentMemberAssignmentValue {
            member_epoch: 5,
            previous_member_epoch: 4,
            state: 1,
            assigned: AssignedTasks { active, ..AssignedTasks::default() },
            active_pending_revocation: ActiveTasks::default(),
            standby_pending_revocation: TaskSet::default(),
            warmup_pending_revocation: TaskSet::default(),
        }),
    });
}

fn leave(world: &mut World) {
    let (group, member) = (GroupId::from("app"), "m1");
    world.harness.write(&Record::StreamsGroupCurrentMemberAssignment {
        group: group.clone(),
        member: member.into(),
        value: None,
    });
    world.harness.write(&Record::StreamsGroupMemberMetadata { group, member: member.into(), value: None });
}

fn as_member(member: &str, epoch: i32, offsets: &[(&str, i32, i64)]) -> OffsetCommitRequest {
    let mut request = commit_request("app", offsets);
    request.member_id = member.into();
    request.generation_id_or_member_epoch = epoch;
    request
}

#[test]
fn only_a_member_with_its_current_epoch_commits() {
    let mut world = with_application();
    join(&mut world);
    let mut try_commit = |version: i16, member: &str, epoch: i32| {
        show_commit(&world.commit(version, as_member(member, epoch, &[("in", 0, 4)])))
    };
    assert_eq!(try_commit(9, "m1", 5), "in 0 NONE\n");
    assert_eq!(try_commit(9, "m1", 6), "in 0 STALE_MEMBER_EPOCH\n");
    assert_eq!(try_commit(9, "mx", 5), "in 0 UNKNOWN_MEMBER_ID\n");
    assert_eq!(try_commit(9, "", -1), "in 0 UNKNOWN_MEMBER_ID\n");
    assert_eq!(try_commit(8, "m1", 5), "in 0 UNSUPPORTED_VERSION\n");
    assert_eq!(world.all("app"), "in 0 = 4 @ -1 \"\"\n");
    world.harness.check();
}

#[test]
fn the_current_epoch_may_commit_any_partition() {
    let mut world = with_application();
    join(&mut world);
    let response = world.commit(9, as_member("m1", 5, &[("other", 0, 4), ("missing", 0, 4)]));
    assert_eq!(show_commit(&response), "other 0 NONE\nmissing 0 UNKNOWN_TOPIC_OR_PARTITION\n");
}

#[test]
fn one_partition_that_was_not_owned_at_an_older_epoch_fails_the_whole_commit() {
    let mut world = with_application();
    join(&mut world);
    let response = world.commit(9, as_member("m1", 4, &[("in", 0, 4), ("app-repartition", 0, 4)]));
    assert_eq!(show_commit(&response), "in 0 NONE\napp-repartition 0 NONE\n");
    let response = world.commit(9, as_member("m1", 4, &[("in", 0, 9), ("in", 1, 9), ("missing", 0, 9)]));
    expect![[r"
        in 0 STALE_MEMBER_EPOCH
        in 1 STALE_MEMBER_EPOCH
        missing 0 UNKNOWN_TOPIC_OR_PARTITION
    "]]
    .assert_eq(&show_commit(&response));
    assert_eq!(world.last.records, []);
}

#[test]
fn the_reset_tool_commits_while_the_application_is_down() {
    let mut world = with_application();
    assert_eq!(show_commit(&world.commit(9, as_member("", -1, &[("in", 0, 0)]))), "in 0 NONE\n");
    join(&mut world);
    assert_eq!(show_commit(&world.commit(9, as_member("", -1, &[("in", 0, 7)]))), "in 0 UNKNOWN_MEMBER_ID\n");
    assert_eq!(world.all("app"), "in 0 = 0 @ -1 \"\"\n");
}

#[test]
fn a_wrong_member_reads_an_error_of_the_group_and_never_minus_one() {
    let mut world = with_application();
    join(&mut world);
    world.commit(9, as_member("m1", 5, &[("in", 0, 4)]));
    let groups: &[(&str, Listed<'_>)] = &[("app", Some(&[("in", 0)])), ("other-group", None)];
    let mut read = |member: Option<&str>, epoch: i32| {
        let mut request = fetch_request(groups);
        request.groups[0].member_id = member.map(Into::into);
        request.groups[0].member_epoch = epoch;
        let response = world.fetch(9, request);
        assert_eq!(response.groups[1].error_code, 0, "the other group is none the worse");
        assert!(response.groups[0].error_code == 0 || response.groups[0].topics.is_empty());
        show_fetch(&response)
    };
    assert_eq!(read(None, -1), "in 0 = 4 @ -1 \"\"\n");
    assert_eq!(read(Some("m1"), 5), "in 0 = 4 @ -1 \"\"\n");
    assert_eq!(read(Some("m1"), 4), "app -1 = -1 @ -1 \"group\" STALE_MEMBER_EPOCH\n");
    assert_eq!(read(Some("m1"), 6), "app -1 = -1 @ -1 \"group\" STALE_MEMBER_EPOCH\n");
    assert_eq!(read(Some("mx"), 5), "app -1 = -1 @ -1 \"group\" UNKNOWN_MEMBER_ID\n");
    assert_eq!(read(Some(""), -1), "app -1 = -1 @ -1 \"group\" UNKNOWN_MEMBER_ID\n");
}

#[test]
fn tools_of_every_age_read_the_offsets_of_an_application() {
    let mut world = with_application();
    join(&mut world);
    world.commit(9, as_member("m1", 5, &[("in", 0, 4)]));
    for version in 1..=7 {
        let response = world.fetch(version, fetch_request_of_one("app", Some(&[("in", 0)])));
        assert_eq!(show_fetch(&response), "in 0 = 4 @ -1 \"\"\n", "version {version}");
    }
}

#[test]
fn offsets_of_topics_that_an_application_reads_cannot_be_deleted() {
    let mut world = with_application();
    join(&mut world);
    let offsets = [("in", 0, 1), ("app-repartition", 0, 1), ("other", 0, 1)];
    world.commit(9, as_member("m1", 5, &offsets));
    let all = delete_request("app", &[("in", 0), ("app-repartition", 0), ("other", 0), ("in", 9)]);
    expect![[r"
        in 0 GROUP_SUBSCRIBED_TO_TOPIC
        app-repartition 0 GROUP_SUBSCRIBED_TO_TOPIC
        other 0 NONE
        in 9 UNKNOWN_TOPIC_OR_PARTITION
    "]]
    .assert_eq(&show_delete(&world.delete(all.clone())));
    assert_eq!(world.all("app"), "app-repartition 0 = 1 @ -1 \"\"\nin 0 = 1 @ -1 \"\"\n");

    leave(&mut world);
    world.delete(all);
    assert_eq!(world.all("app"), "");
    assert!(world.has_group("app"), "it is more than its offsets");
    world.harness.check();
}

#[test]
fn what_an_application_reads_does_not_expire_while_it_has_members() {
    let mut world = with_application();
    join(&mut world);
    world.commit(9, as_member("m1", 5, &[("in", 0, 1), ("app-repartition", 0, 1), ("other", 0, 1)]));
    world.after(8 * DAY);
    assert_eq!(world.all("app"), "app-repartition 0 = 1 @ -1 \"\"\nin 0 = 1 @ -1 \"\"\n");

    // Idle but alive for eight days, then stopped: the time of the commit counts.
    leave(&mut world);
    world.after(CHECK_INTERVAL);
    assert!(!world.has_group("app"));
    assert_eq!(world.coordinator().offset_count(), 0);
    world.harness.check();
}

#[test]
fn a_stopped_application_keeps_its_offsets_for_the_retention_and_goes_with_them() {
    let mut world = with_application();
    join(&mut world);
    world.commit(9, as_member("m1", 5, &[("in", 0, 1)]));
    leave(&mut world);
    world.after(7 * DAY - 1);
    assert_eq!(world.all("app"), "in 0 = 1 @ -1 \"\"\n");
    world.after(1);
    let tombstone = Record::OffsetCommit { group: "app".into(), topic: "in".into(), partition: 0, value: None };
    assert_eq!(world.last.records, [tombstone, Record::GroupDeleted { group: "app".into() }]);
    assert!(!world.has_group("app"));
}

#[test]
fn an_empty_application_that_never_committed_is_removed_at_the_next_check() {
    let mut world = with_application();
    join(&mut world);
    world.after(CHECK_INTERVAL);
    assert!(world.has_group("app"), "it has a member");
    leave(&mut world);
    world.after(CHECK_INTERVAL);
    assert!(!world.has_group("app"));
}

#[test]
fn offsets_of_an_earlier_topic_of_the_name_expire_though_the_application_reads_the_new_one() {
    let mut world = with_application();
    join(&mut world);
    world.commit(9, as_member("m1", 5, &[("in", 0, 1), ("in", 1, 1)]));
    // As if the server had been killed before the sweep of the deleted topic was through.
    world.remake_topic("in", 2);
    world.commit(9, as_member("m1", 5, &[("in", 1, 8)]));
    world.after(8 * DAY);
    assert_eq!(world.coordinator().offset_count(), 1);
    assert_eq!(world.all("app"), "in 1 = 8 @ -1 \"\"\n");
}

#[test]
fn a_deleted_topic_takes_the_offsets_and_leaves_the_application() {
    let mut world = with_application();
    join(&mut world);
    world.commit(9, as_member("m1", 5, &[("in", 0, 1)]));
    let id = world.drop_topic("in");
    world.sweep_topics(vec![(id, "in".into())]);
    assert_eq!(world.coordinator().offset_count(), 0);
    assert!(matches!(world.coordinator().groups.get("app").map(|group| &group.kind), Some(GroupKind::Streams(_))));
}

#[test]
fn offsets_that_are_loaded_before_the_group_do_not_make_it_a_simple_one() {
    let mut world = with_application();
    join(&mut world);
    world.commit(9, as_member("m1", 5, &[("in", 0, 4)]));
    // In both orders of the keys, and the type of the group is compared too.
    world.harness.check();
}
