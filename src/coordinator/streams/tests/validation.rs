//! Every reason a heartbeat is refused for, with its text, in the order of the reference (section 4: A3 to F3), and that
//! a refused heartbeat leaves no trace.

use expect_test::expect;

use super::script::topology;
use super::{Script, check, check_records, show};
use crate::coordinator::Input;
use crate::coordinator::harness::config;
use crate::protocol::messages::StreamsGroupHeartbeatRequest;
use crate::protocol::messages::streams_group_heartbeat_request::{TaskIds, Topology};
use crate::protocol::{Response, message};

/// A change of a request.
type Edit = fn(&mut StreamsGroupHeartbeatRequest);

/// Sends a join or heartbeat of A with a change and gives the answer as text.
fn answer(script: &mut Script, epoch: i32, edit: impl FnOnce(&mut StreamsGroupHeartbeatRequest)) -> String {
    let words: &[&str] = if epoch == 0 { &["pA"] } else { &[] };
    let (version, mut request) = script.request("A", epoch, words);
    edit(&mut request);
    let (response, turn) = script.harness.ask(version, request, Input::StreamsGroupHeartbeat);
    let Response::StreamsGroupHeartbeat(response) = response else { panic!("{response:?}") };
    if response.error_code != 0 {
        assert!(turn.records.is_empty(), "a refusal writes nothing");
    }
    show::heartbeat(&response, epoch)
}

/// Checks that a change of A's first join is refused with a text, and that no group comes of it.
fn refused_join(edit: Edit, expected: &str) {
    let mut script = Script::new();
    script.command("topic in 2");
    assert_eq!(answer(&mut script, 0, edit), expected);
    assert_eq!(script.harness.coordinator.groups.len(), 0, "{expected}");
    assert!(script.harness.soft.streams.is_empty(), "{expected}");
    assert_eq!(script.harness.soft.timers.len(), 0, "{expected}");
}

/// Checks that a change of a heartbeat of A, at epoch 2 with tasks 0 and 1, is refused with a text.
fn refused_heartbeat(epoch: i32, edit: Edit, expected: &str) {
    let mut script = Script::new();
    script.command("topic in 2");
    script.command("J A pA");
    let session_ends = script.harness.soft.timers.next_deadline();
    script.command("wait 10");
    assert_eq!(answer(&mut script, epoch, edit), expected);
    assert_eq!(script.harness.soft.timers.next_deadline(), session_ends, "a refusal does not refresh the session");
    assert_eq!(answer(&mut script, 2, |_| ()), "2; -", "the member is none the worse");
}

fn set_topology(request: &mut StreamsGroupHeartbeatRequest, words: &str) {
    request.topology = Some(topology(&words.split_whitespace().collect::<Vec<_>>()));
}

#[test]
fn a3_topics_of_the_broker_are_not_for_applications() {
    refused_join(
        |join| {
            set_topology(
                join,
                "0: source=__consumer_offsets,in sink=__transaction_state repartition=__share_group_state 1: changelog=__consumer_offsets",
            );
        },
        "STREAMS_INVALID_TOPOLOGY Use of Kafka internal topics __consumer_offsets,__transaction_state,__share_group_state in a Kafka Streams topology is prohibited.",
    );
}

#[test]
fn a4_topic_names_must_be_legal() {
    refused_join(
        |join| set_topology(join, "0: source=in,bad/topic sink=.. repartition=a*b changelog=ok_0.A-z,bad/topic"),
        "STREAMS_INVALID_TOPOLOGY Topic names bad/topic,..,a*b are not valid topic names.",
    );
    let long = "x".repeat(250);
    let mut script = Script::new();
    let refusal = answer(&mut script, 0, |join| set_topology(join, &format!("0: source={long}")));
    assert_eq!(refusal, format!("STREAMS_INVALID_TOPOLOGY Topic names {long} are not valid topic names."));
    assert!(answer(&mut script, 0, |join| set_topology(join, &format!("0: source={}", &long[1..]))).starts_with("2; "));
}

#[test]
fn a3_comes_before_a4_and_a4_before_b1() {
    refused_join(
        |join| set_topology(join, "0: source=bad/topic,__consumer_offsets regex=x"),
        "STREAMS_INVALID_TOPOLOGY Use of Kafka internal topics __consumer_offsets in a Kafka Streams topology is prohibited.",
    );
    refused_join(
        |join| set_topology(join, "0: source=bad/topic regex=x"),
        "STREAMS_INVALID_TOPOLOGY Topic names bad/topic are not valid topic names.",
    );
}

#[test]
fn b1_source_topics_are_named_not_matched() {
    refused_join(
        |join| {
            set_topology(join, "0: source=in regex=other.*");
            join.member_id = "".into();
        },
        "INVALID_REQUEST Regular expressions for source topics are not supported yet.",
    );
}

#[test]
fn b2_to_b5_ids_are_not_blank() {
    let blank: [(Edit, &str); 4] = [
        (|join| join.member_id = " ".into(), "INVALID_REQUEST MemberId can't be empty."),
        (|join| join.group_id = "\t".into(), "INVALID_REQUEST GroupId can't be empty."),
        (|join| join.instance_id = Some("".into()), "INVALID_REQUEST InstanceId can't be empty."),
        (|join| join.rack_id = Some(" ".into()), "INVALID_REQUEST RackId can't be empty."),
    ];
    for (edit, expected) in blank {
        refused_join(edit, expected);
    }
}

#[test]
fn b6_to_b9_a_join_carries_all_a_join_needs() {
    let lacking: [(Edit, &str); 8] = [
        (
            |join| join.rebalance_timeout_ms = -1,
            "INVALID_REQUEST RebalanceTimeoutMs must be provided in first request.",
        ),
        (|join| join.active_tasks = None, "INVALID_REQUEST ActiveTasks must be empty when (re-)joining."),
        (
            |join| join.active_tasks.as_mut().unwrap().push(TaskIds::default()),
            "INVALID_REQUEST ActiveTasks must be empty when (re-)joining.",
        ),
        (|join| join.standby_tasks = None, "INVALID_REQUEST StandbyTasks must be empty when (re-)joining."),
        (
            |join| join.standby_tasks.as_mut().unwrap().push(TaskIds::default()),
            "INVALID_REQUEST StandbyTasks must be empty when (re-)joining.",
        ),
        (|join| join.warmup_tasks = None, "INVALID_REQUEST WarmupTasks must be empty when (re-)joining."),
        (
            |join| join.warmup_tasks.as_mut().unwrap().push(TaskIds::default()),
            "INVALID_REQUEST WarmupTasks must be empty when (re-)joining.",
        ),
        (|join| join.topology = None, "INVALID_REQUEST Topology must be non-null when (re-)joining."),
    ];
    for (edit, expected) in lacking {
        refused_join(edit, expected);
    }
}

#[test]
fn b10_partition_counts_of_changelogs_are_the_coordinators_business() {
    refused_join(
        |join| set_topology(join, "0: source=in changelog=cl/5"),
        "STREAMS_INVALID_TOPOLOGY Changelog topic cl must have an undefined partition count, but it is set to 5.",
    );
}

#[test]
fn b11_and_b12_only_static_members_leave_for_a_while_and_no_epoch_is_lower() {
    refused_heartbeat(-2, |_| (), "INVALID_REQUEST InstanceId can't be null.");
    refused_heartbeat(-3, |_| (), "INVALID_REQUEST MemberEpoch is -3, but must be greater than or equal to -2.");
}

#[test]
fn b13_and_b14_all_roles_or_none_and_no_topology_outside_a_join() {
    let partly: [Edit; 3] = [
        |beat| beat.active_tasks = Some(Vec::new()),
        |beat| beat.standby_tasks = Some(Vec::new()),
        |beat| {
            beat.active_tasks = Some(Vec::new());
            beat.warmup_tasks = Some(Vec::new());
        },
    ];
    for edit in partly {
        refused_heartbeat(2, edit, "INVALID_REQUEST If one task-type is non-null, all must be non-null.");
    }
    refused_heartbeat(
        2,
        |beat| beat.topology = Some(Topology::default()),
        "INVALID_REQUEST Topology can only be provided when (re-)joining.",
    );
}

#[test]
fn a_client_tag_has_one_value() {
    check(
        "topic in 1
         J A pA tags=zone:a,rack:b,zone:c
         J A pA tags=zone:a,rack:b
         H A 2 tags=rack:b,rack:b
         # the whole list is replaced
         H A 2 tags=rack:b,zone:a
         H A 2 tags=rack:b",
        expect![[r#"
            J A pA tags=zone:a,rack:b,zone:c
              INVALID_REQUEST ClientTags contain a duplicate entry for key zone.
            J A pA tags=zone:a,rack:b
              2; A{0:[0]} S{} W{}; eie 0 []
            H A 2 tags=rack:b,rack:b
              INVALID_REQUEST ClientTags contain a duplicate entry for key rack.
            H A 2 tags=rack:b,zone:a
              2; -
            H A 2 tags=rack:b
              3; -
        "#]],
    );
}

#[test]
fn c1_and_c2_a_heartbeat_needs_a_streams_group() {
    let mut script = Script::new();
    assert_eq!(answer(&mut script, 2, |_| ()), "GROUP_ID_NOT_FOUND Streams group g not found.");
    assert_eq!(answer(&mut script, -1, |_| ()), "GROUP_ID_NOT_FOUND Group g not found.");
    let away = answer(&mut script, -2, |leave| leave.instance_id = Some("i1".into()));
    assert_eq!(away, "GROUP_ID_NOT_FOUND Group g not found.");

    // only offsets were ever committed under that id
    script.harness.coordinator.groups.insert("g".into(), crate::coordinator::Group::default());
    assert_eq!(answer(&mut script, 2, |_| ()), "GROUP_ID_NOT_FOUND Group g is not a streams group.");
    assert_eq!(answer(&mut script, -1, |_| ()), "GROUP_ID_NOT_FOUND Group g is not a streams group.");
    script.harness.coordinator.groups.clear();
}

#[test]
fn c3_a_full_group_takes_those_it_has_a_place_for() {
    let config = config(&[
        ("group.streams.initial.rebalance.delay.ms", "0"),
        ("group.streams.assignment.interval.ms", "0"),
        ("group.streams.max.size", "2"),
    ]);
    Script::with(config).run(
        "topic in 2
         J A pA
         J B pB instance=i1
         J C pC
         J C pC instance=i2
         # in already
         J A pA
         # a place under its instance id, though taken
         J C pC instance=i1
         L B -2 instance=i1
         J C pC instance=i1
         L A
         J D pD",
        &expect![[r#"
            J A pA
              2; A{0:[0,1]} S{} W{}; eie 0 []
            J B pB instance=i1
              3; A{} S{} W{}; eie 0 []
            J C pC
              GROUP_MAX_SIZE_REACHED The streams group has reached its maximum capacity of 2 members.
            J C pC instance=i2
              GROUP_MAX_SIZE_REACHED The streams group has reached its maximum capacity of 2 members.
            J A pA
              3; A{0:[0]} S{} W{}; eie 0 []
            J C pC instance=i1
              UNRELEASED_INSTANCE_ID Static member C with instance id i1 cannot join the group because the instance id is owned by B member.
            L B -2 instance=i1
              -2; -
            J C pC instance=i1
              4; A{0:[1]} S{} W{}; eie 0 []
            L A
              -1; -
            J D pD
              6; A{0:[0]} S{} W{}; eie 0 []
        "#]],
    );
}

#[test]
fn c4_to_c7_a_heartbeat_speaks_for_a_member() {
    check(
        "topic in 2
         H A 2 # before the group exists
         J A pA
         H B 2
         L B
         J S pS instance=i1
         J T pT instance=i1
         J S pS instance=i1
         H S 3 instance=i2
         L S -1 instance=i2
         L S -2 instance=i2
         H T 3 instance=i1
         L T -1 instance=i1
         L T -2 instance=i1
         # the instance id may be left out
         H S 3
         L S
         H S 3",
        expect![[r#"
            H A 2
              GROUP_ID_NOT_FOUND Streams group g not found.
            J A pA
              2; A{0:[0,1]} S{} W{}; eie 0 []
            H B 2
              UNKNOWN_MEMBER_ID Member B is not a member of group g.
            L B
              UNKNOWN_MEMBER_ID Member B is not a member of group g.
            J S pS instance=i1
              3; A{} S{} W{}; eie 0 []
            J T pT instance=i1
              UNRELEASED_INSTANCE_ID Static member T with instance id i1 cannot join the group because the instance id is owned by S member.
            J S pS instance=i1
              UNRELEASED_INSTANCE_ID Static member S with instance id i1 cannot join the group because the instance id is owned by S member.
            H S 3 instance=i2
              UNKNOWN_MEMBER_ID Instance id i2 is unknown.
            L S -1 instance=i2
              UNKNOWN_MEMBER_ID Instance id i2 is unknown.
            L S -2 instance=i2
              UNKNOWN_MEMBER_ID Instance id i2 is unknown.
            H T 3 instance=i1
              FENCED_INSTANCE_ID Static member T with instance id i1 was fenced by member S.
            L T -1 instance=i1
              FENCED_INSTANCE_ID Static member T with instance id i1 was fenced by member S.
            L T -2 instance=i1
              FENCED_INSTANCE_ID Static member T with instance id i1 was fenced by member S.
            H S 3
              3; -
            L S
              -1; -
            H S 3
              UNKNOWN_MEMBER_ID Member S is not a member of group g.
        "#]],
    );
}

#[test]
fn d1_to_d5_epochs_fence() {
    check(
        "topic in 4
         J A pA
         J B pB
         H A 2
         H A 3
         H A 2 own=0:0,1
         # lost answers: the epoch before, with no task that was taken away
         H A 2
         H A 2 own=0:0,1
         H A 2 own=0:0
         H A 2 own
         H A 2 own=0:0,1,2
         H A 2 standby=0:0
         H A 1 own=0:0,1
         # a member that starts over is let in at any epoch
         J A pA
         H A 4
         H A 3",
        expect![[r#"
            J A pA
              2; A{0:[0,1,2,3]} S{} W{}; eie 0 []
            J B pB
              3; A{} S{} W{}; eie 0 []
            H A 2
              2; A{0:[0,1]} S{} W{}
            H A 3
              FENCED_MEMBER_EPOCH The streams group member has a greater member epoch (3) than the one known by the group coordinator (2). The member must abandon all its partitions and rejoin.
            H A 2 own=0:0,1
              3; -
            H A 2
              FENCED_MEMBER_EPOCH The streams group member has a smaller member epoch (2) than the one known by the group coordinator (3). The member must abandon all its partitions and rejoin.
            H A 2 own=0:0,1
              3; A{0:[0,1]} S{} W{}
            H A 2 own=0:0
              3; A{0:[0,1]} S{} W{}
            H A 2 own
              3; A{0:[0,1]} S{} W{}
            H A 2 own=0:0,1,2
              FENCED_MEMBER_EPOCH The streams group member has a smaller member epoch (2) than the one known by the group coordinator (3). The member must abandon all its partitions and rejoin.
            H A 2 standby=0:0
              FENCED_MEMBER_EPOCH The streams group member has a smaller member epoch (2) than the one known by the group coordinator (3). The member must abandon all its partitions and rejoin.
            H A 1 own=0:0,1
              FENCED_MEMBER_EPOCH The streams group member has a smaller member epoch (1) than the one known by the group coordinator (3). The member must abandon all its partitions and rejoin.
            J A pA
              3; A{0:[0,1]} S{} W{}; eie 0 []
            H A 4
              FENCED_MEMBER_EPOCH The streams group member has a greater member epoch (4) than the one known by the group coordinator (3). The member must abandon all its partitions and rejoin.
            H A 3
              3; -
        "#]],
    );
}

#[test]
fn d1_a_fenced_member_far_behind_rejoins_under_its_own_id() {
    check(
        "topic in 1
         J A pA
         H A 2 rack=r1
         H A 3 rack=r2
         H A 4 rack=r3
         H A 2 own=0:0
         J A pA",
        expect![[r#"
            J A pA
              2; A{0:[0]} S{} W{}; eie 0 []
            H A 2 rack=r1
              3; -
            H A 3 rack=r2
              4; -
            H A 4 rack=r3
              5; -
            H A 2 own=0:0
              FENCED_MEMBER_EPOCH The streams group member has a smaller member epoch (2) than the one known by the group coordinator (5). The member must abandon all its partitions and rejoin.
            J A pA
              5; A{0:[0]} S{} W{}; eie 0 []
        "#]],
    );
}

#[test]
fn e1_to_e4_a_group_keeps_its_first_topology() {
    check_records(
        "topic in 1
         topic other 1
         topology epoch=3 0: source=in
         J A pA
         topology epoch=3 0: source=other
         J B pB
         topology epoch=3
         J B pB
         topology epoch=4 0: source=in
         J B pB
         # an older one, of whatever content: the member works on the group's and is told
         topology epoch=2 0: source=other
         J C pC
         H C 3
         L A
         L C
         # when everyone is gone too
         topology epoch=4 0: source=in
         J A pA
         topology epoch=3 0: source=in
         J A pA",
        expect![[r#"
            J A pA
              2; A{0:[0]} S{} W{}; eie 0 []
              + 19(A) process pA
              + 23 epoch 3
              + 17 e2 validated 3
              + 21(A) a{0:[0]}
              + 20 e2
              + 22(A) e2 prev 0 STABLE a{0:0@2}
            J B pB
              INVALID_REQUEST Topology updates are not supported yet.
            J B pB
              INVALID_REQUEST Topology updates are not supported yet.
            J B pB
              INVALID_REQUEST Topology updates are not supported yet.
            J C pC
              3; A{} S{} W{}; st[0 "The member's topology epoch 2 is behind the group's topology epoch 3."]; eie 0 []
              + 19(C) process pC
              + 17 e3 validated 3
              + 21(C) a{}
              + 20 e3
              + 22(C) e3 prev 0 STABLE a{}
            H C 3
              3; -; st[0 "The member's topology epoch 2 is behind the group's topology epoch 3."]
            L A
              -1; -
              + ~22(A)
              + ~21(A)
              + ~19(A)
              + 17 e4 validated 3
            L C
              -1; -
              + ~22(C)
              + ~21(C)
              + ~19(C)
              + 17 e5 validated 3
              + 20 e5 at 0
            J A pA
              INVALID_REQUEST Topology updates are not supported yet.
            J A pA
              6; A{0:[0]} S{} W{}; eie 0 []
              + 19(A) process pA
              + 17 e6 validated 3
              + 21(A) a{0:[0]}
              + 20 e6
              + 22(A) e6 prev 0 STABLE a{0:0@6}
        "#]],
    );
}

#[test]
fn e5_and_e6_what_kafka_answers_unknown_server_error_to_is_refused_with_a_reason() {
    let unsound: [(Edit, &str); 4] = [
        (
            |join| set_topology(join, "epoch=-1 0: source=in"),
            "INVALID_REQUEST Topology epoch must be non-negative, but it is -1.",
        ),
        (
            |join| set_topology(join, "0: source=in 0: source=in"),
            "STREAMS_INVALID_TOPOLOGY Subtopology 0 is defined more than once.",
        ),
        (
            |join| set_topology(join, "0: source=in copartition=s0,s1"),
            "STREAMS_INVALID_TOPOLOGY A copartition group of subtopology 0 refers to index 1 of its source topics, of which there are 1.",
        ),
        (
            |join| set_topology(join, "0: source=in copartition=s0,r0"),
            "STREAMS_INVALID_TOPOLOGY A copartition group of subtopology 0 refers to index 0 of its repartition source topics, of which there are 0.",
        ),
    ];
    for (edit, expected) in unsound {
        refused_join(edit, expected);
    }
}

#[test]
fn e7_to_e10_a_topology_that_cannot_be_configured_makes_no_group() {
    let unsound: [(Edit, &str); 4] = [
        (
            |join| set_topology(join, "0: source=in repartition=r"),
            "STREAMS_INVALID_TOPOLOGY Failed to compute number of partitions for all repartition topics, because a repartition source topic is never used as a sink topic.",
        ),
        (
            |join| set_topology(join, "0: repartition=r sink=r"),
            "STREAMS_INVALID_TOPOLOGY Failed to compute number of partitions for all repartition topics. There may be loops in the topology that cannot be resolved.",
        ),
        (|join| set_topology(join, "7:"), "STREAMS_INVALID_TOPOLOGY No source topics found for subtopology 7"),
        (
            |join| set_topology(join, "0: source=in sink=q 1: repartition=q changelog=in2 2: changelog=x"),
            "STREAMS_INVALID_TOPOLOGY No source topics found for subtopology 2",
        ),
    ];
    for (edit, expected) in unsound {
        refused_join(edit, expected);
    }
}

#[test]
fn f1_and_f2_owned_tasks_exist() {
    let unknown: [(Edit, &str); 4] = [
        (
            |beat| own(beat, "7", 0, |beat| &mut beat.active_tasks),
            "INVALID_REQUEST Subtopology 7 does not exist in the topology.",
        ),
        (
            |beat| own(beat, "7", 0, |beat| &mut beat.warmup_tasks),
            "INVALID_REQUEST Subtopology 7 does not exist in the topology.",
        ),
        (
            |beat| own(beat, "0", 2, |beat| &mut beat.active_tasks),
            "INVALID_REQUEST Task 2 for subtopology 0 is invalid. Number of tasks for this subtopology: 2",
        ),
        (
            |beat| own(beat, "0", -1, |beat| &mut beat.standby_tasks),
            "INVALID_REQUEST Task -1 for subtopology 0 is invalid. Number of tasks for this subtopology: 2",
        ),
    ];
    for (edit, expected) in unknown {
        refused_heartbeat(2, edit, expected);
    }
}

type Tasks = Option<Vec<TaskIds>>;

fn own(
    beat: &mut StreamsGroupHeartbeatRequest,
    id: &str,
    partition: i32,
    role: fn(&mut StreamsGroupHeartbeatRequest) -> &mut Tasks,
) {
    let task = message!(TaskIds { subtopology_id: id.into(), partitions: vec![partition] });
    beat.active_tasks = Some(Vec::new());
    beat.standby_tasks = Some(Vec::new());
    beat.warmup_tasks = Some(Vec::new());
    *role(beat) = Some(vec![task]);
}

#[test]
fn f1_and_f2_nobody_can_tell_while_topics_are_missing() {
    check(
        "J A pA
         H A 2 own=7:99",
        expect![[r#"
            J A pA
              2; A{} S{} W{}; st[1 "Source topics in are missing."]; eie 0 []
            H A 2 own=7:99
              2; A{} S{} W{}; st[1 "Source topics in are missing."]
        "#]],
    );
}

#[test]
fn f3_offsets_are_told_once_a_task() {
    check(
        "topic in 2
         J A pA
         H A 2 offsets=0:0:1;0:0:2
         H A 2 ends=0:1:1;0:0:2;0:1:1
         # tasks that do not exist are fine
         H A 2 offsets=9:9:1
         describe",
        expect![[r#"
            J A pA
              2; A{0:[0,1]} S{} W{}; eie 0 []
            H A 2 offsets=0:0:1;0:0:2
              INVALID_REQUEST Task offsets contain a duplicate entry for subtopology 0 and partition 0.
            H A 2 ends=0:1:1;0:0:2;0:1:1
              INVALID_REQUEST Task offsets contain a duplicate entry for subtopology 0 and partition 1.
            H A 2 offsets=9:9:1
              2; -
            describe
              Stable 2/2 topology 0 of 1
              A 2 of pA has a{0:[0,1]}, target a{0:[0,1]}, offsets [9:9=1] of []
        "#]],
    );
}
