//! Static members, members that move, and what is stored of those that are not there.

use expect_test::expect;

use super::{Script, check, check_records};
use crate::coordinator::{GroupKind, Input, Record, TimerKey};
use crate::types::{GroupId, MemberId};

#[test]
fn a_parked_static_member_keeps_its_tasks_until_its_session_ends() {
    check(
        "config streams.session.timeout.ms=20000
         topic in 2
         J S pS instance=i1
         J B pB
         H S 2 own=0:0
         wait 5000
         L S -2 instance=i1
         H S 2
         wait 10000
         H B 3
         wait 5000
         H B 3",
        expect![[r#"
            J S pS instance=i1
              2; A{0:[0,1]} S{} W{}; eie 0 []
            J B pB
              3; A{} S{} W{}; eie 0 []
            H S 2 own=0:0
              3; A{0:[0]} S{} W{}
            wait 5000
            L S -2 instance=i1
              -2; -
            H S 2
              FENCED_MEMBER_EPOCH The streams group member has a greater member epoch (2) than the one known by the group coordinator (-2). The member must abandon all its partitions and rejoin.
            wait 10000
            H B 3
              3; A{0:[1]} S{} W{}
            wait 5000
              session of S ends
            H B 3
              4; A{0:[0,1]} S{} W{}
        "#]],
    );
}

#[test]
fn parking_is_giving_up_what_was_to_be_given_up() {
    check_records(
        "topic in 2
         J S pS instance=i1 timeout=1000
         J B pB
         H S 2
         L S -2 instance=i1
         L S -2 instance=i1
         H B 3
         wait 5000
         restart
         wait 5000
         J S2 pS instance=i1 timeout=1000",
        expect![[r#"
            J S pS instance=i1 timeout=1000
              2; A{0:[0,1]} S{} W{}; eie 0 []
              + 19(S) process pS instance i1
              + 23 epoch 0
              + 17 e2 validated 0
              + 21(S) a{0:[0,1]}
              + 20 e2
              + 22(S) e2 prev 0 STABLE a{0:0@2 0:1@2}
            J B pB
              3; A{} S{} W{}; eie 0 []
              + 19(B) process pB
              + 17 e3 validated 0
              + 21(B) a{0:[1]}
              + 21(S) a{0:[0]}
              + 20 e3
              + 22(B) e3 prev 0 UNRELEASED a{}
            H S 2
              2; A{0:[0]} S{} W{}
              + 22(S) e2 prev 2 UNREVOKED a{0:0@2} pending a{0:1@2}
            L S -2 instance=i1
              -2; -
              + 22(S) e-2 prev 2 STABLE a{0:0@0}
            L S -2 instance=i1
              -2; -
            H B 3
              3; A{0:[1]} S{} W{}
              + 22(B) e3 prev 3 STABLE a{0:1@3}
            wait 5000
            restart
            wait 5000
            J S2 pS instance=i1 timeout=1000
              3; A{0:[0]} S{} W{}; eie 0 []
              + ~22(S)
              + ~21(S)
              + ~19(S)
              + 19(S2) process pS instance i1
              + 21(S2) a{0:[0]}
              + 22(S2) e0 prev 0 STABLE a{0:0@0}
              + 22(S2) e3 prev 0 STABLE a{0:0@0}
        "#]],
    );
}

#[test]
fn static_members_rebalance_only_for_what_an_assignment_depends_on() {
    check(
        "topic in 2
         J S pS instance=i1
         H S 2 instance=i1 timeout=77777
         H S 2 instance=i1 endpoint=h:1
         H S 2 instance=i1 rack=r1
         H S 3 instance=i1 tags=zone:a
         H S 4 instance=i1 process=p2
         H S 5
         # one that leaves its instance id out speaks as a dynamic one
         H S 5 timeout=1000",
        expect![[r#"
            J S pS instance=i1
              2; A{0:[0,1]} S{} W{}; eie 0 []
            H S 2 instance=i1 timeout=77777
              2; -
            H S 2 instance=i1 endpoint=h:1
              2; -; eie 1 [h:1 in[0,1] |]
            H S 2 instance=i1 rack=r1
              3; -; eie 1 [h:1 in[0,1] |]
            H S 3 instance=i1 tags=zone:a
              4; -; eie 1 [h:1 in[0,1] |]
            H S 4 instance=i1 process=p2
              5; -; eie 1 [h:1 in[0,1] |]
            H S 5
              5; -; eie 1 [h:1 in[0,1] |]
            H S 5 timeout=1000
              6; -; eie 1 [h:1 in[0,1] |]
        "#]],
    );
}

#[test]
fn a_refused_stranger_does_not_take_the_tasks_of_a_parked_member() {
    check(
        "topic in 2
         J S pS instance=i1
         H X 2 instance=i1
         L S -2 instance=i1
         H X 2 instance=i1
         L X -2 instance=i1
         J T pS instance=i1",
        expect![[r#"
            J S pS instance=i1
              2; A{0:[0,1]} S{} W{}; eie 0 []
            H X 2 instance=i1
              FENCED_INSTANCE_ID Static member X with instance id i1 was fenced by member S.
            L S -2 instance=i1
              -2; -
            H X 2 instance=i1
              FENCED_INSTANCE_ID Static member X with instance id i1 was fenced by member S.
            L X -2 instance=i1
              FENCED_INSTANCE_ID Static member X with instance id i1 was fenced by member S.
            J T pS instance=i1
              2; A{0:[0,1]} S{} W{}; eie 0 []
        "#]],
    );
}

#[test]
fn a_member_that_takes_a_static_place_leaves_its_own() {
    check_records(
        "topic in 2
         J S pS instance=i1
         J D pD
         H S 2 own=0:0
         H D 3
         L S -2 instance=i1
         J D pD instance=i1
         describe",
        expect![[r#"
            J S pS instance=i1
              2; A{0:[0,1]} S{} W{}; eie 0 []
              + 19(S) process pS instance i1
              + 23 epoch 0
              + 17 e2 validated 0
              + 21(S) a{0:[0,1]}
              + 20 e2
              + 22(S) e2 prev 0 STABLE a{0:0@2 0:1@2}
            J D pD
              3; A{} S{} W{}; eie 0 []
              + 19(D) process pD
              + 17 e3 validated 0
              + 21(D) a{0:[1]}
              + 21(S) a{0:[0]}
              + 20 e3
              + 22(D) e3 prev 0 UNRELEASED a{}
            H S 2 own=0:0
              3; A{0:[0]} S{} W{}
              + 22(S) e3 prev 2 STABLE a{0:0@2}
            H D 3
              3; A{0:[1]} S{} W{}
              + 22(D) e3 prev 3 STABLE a{0:1@3}
            L S -2 instance=i1
              -2; -
              + 22(S) e-2 prev 2 STABLE a{0:0@0}
            J D pD instance=i1
              4; A{0:[0,1]} S{} W{}; eie 0 []
              + ~22(S)
              + ~21(S)
              + ~19(S)
              + 19(D) process pS instance i1
              + 21(D) a{0:[0]}
              + 22(D) e0 prev 0 STABLE a{0:0@0}
              + 19(D) process pD instance i1
              + 17 e4 validated 0
              + 21(D) a{0:[0,1]}
              + 20 e4
              + 22(D) e4 prev 0 STABLE a{0:0@0 0:1@4}
            describe
              Stable 4/4 topology 0 of 1
              D 4 of pD as i1 has a{0:[0,1]}, target a{0:[0,1]}
        "#]],
    );
}

#[test]
fn a_member_that_changes_its_process_may_get_what_the_old_one_still_shows() {
    check(
        "config streams.num.standby.replicas=1
         topology 0: source=in changelog=cl
         topic in 2
         topic cl 2
         J A pA
         J B pB
         H A 2 own=0:0
         H B 3
         describe
         J A pA2
         J B pA
         H A 5
         describe",
        expect![[r#"
            J A pA
              2; A{0:[0,1]} S{} W{}; eie 0 []
            J B pB
              3; A{} S{0:[0]} W{}; eie 0 []
            H A 2 own=0:0
              3; A{0:[0]} S{0:[1]} W{}
            H B 3
              3; A{0:[1]} S{0:[0]} W{}
            describe
              Stable 3/3 topology 0 of 1
              A 3 of pA has a{0:[0]} s{0:[1]}, target a{0:[0]} s{0:[1]}
              B 3 of pB has a{0:[1]} s{0:[0]}, target a{0:[1]} s{0:[0]}
            J A pA2
              4; A{0:[0]} S{0:[1]} W{}; eie 0 []
            J B pA
              5; A{0:[1]} S{0:[0]} W{}; eie 0 []
            H A 5
              FENCED_MEMBER_EPOCH The streams group member has a greater member epoch (5) than the one known by the group coordinator (4). The member must abandon all its partitions and rejoin.
            describe
              Reconciling 5/5 topology 0 of 1
              A 4 of pA2 has a{0:[0]} s{0:[1]}, target a{0:[0]} s{0:[1]}
              B 5 of pA has a{0:[1]} s{0:[0]}, target a{0:[1]} s{0:[0]}
        "#]],
    );
}

#[test]
fn a_group_that_only_had_offsets_becomes_a_streams_group() {
    let mut script = Script::new();
    script.command("topic in 1");
    script.harness.coordinator.groups.insert("g".into(), crate::coordinator::Group::default());
    script.harness.coordinator.counts.moved(None, Some(crate::coordinator::GroupLabel::Simple));
    assert_eq!(script.command("J A pA"), "J A pA\n  2; A{0:[0]} S{} W{}; eie 0 []\n");
}

#[test]
fn a_group_made_again_has_nothing_of_the_old_one() {
    check(
        "topic in 2
         topic other 1
         J A pA endpoint=h:1 shutdown
         J B pB endpoint=h:2
         L A
         L B
         delete
         topology 0: source=other
         J C pC
         describe",
        expect![[r#"
            J A pA endpoint=h:1 shutdown
              2; A{0:[0,1]} S{} W{}; st[4 "Streams group member A encountered a fatal error and requested a shutdown for the entire application."]; eie 0 [h:1 in[0,1] |]
            J B pB endpoint=h:2
              3; A{} S{} W{}; st[4 "Streams group member A encountered a fatal error and requested a shutdown for the entire application."]; eie 1 [h:1 in[0,1] |, h:2  |]
            L A
              -1; -
            L B
              -1; -
            delete
              g NONE
            J C pC
              2; A{0:[0]} S{} W{}; eie 0 []
            describe
              Stable 2/2 topology 0 of 1
              C 2 of pC has a{0:[0]}, target a{0:[0]}
        "#]],
    );
}

#[test]
fn a_member_that_moves_into_another_process_counts_there_at_once() {
    check(
        "config streams.num.standby.replicas=2
         topology 0: source=in changelog=cl
         topic in 1
         topic cl 1
         J C pC
         J A pA
         J B pB
         L C
         # both copies are in pB now: the one becomes active only after the other is given up
         J A pB
         H B 4
         H A 6
         H B 4 own
         H A 6",
        expect![[r#"
            J C pC
              2; A{0:[0]} S{} W{}; eie 0 []
            J A pA
              3; A{} S{0:[0]} W{}; eie 0 []
            J B pB
              4; A{} S{0:[0]} W{}; eie 0 []
            L C
              -1; -
            J A pB
              6; A{} S{0:[0]} W{}; eie 0 []
            H B 4
              4; A{} S{} W{}
            H A 6
              6; -
            H B 4 own
              6; -
            H A 6
              6; A{0:[0]} S{} W{}
        "#]],
    );
}

#[test]
fn a_member_state_of_a_later_version_asks_the_member_to_start_over() {
    let mut script = Script::new();
    script.command("topic in 2");
    script.command("J A pA");
    let group = GroupId::from("g");
    let GroupKind::Streams(streams) = &script.harness.coordinator.groups[&group].kind else {
        panic!("a streams group")
    };
    let mut current = streams.current["A"].clone();
    current.state = 42;
    let record = Record::StreamsGroupCurrentMemberAssignment { group, member: "A".into(), value: Some(current) };
    script.harness.write(&record);
    let refusal = "FENCED_MEMBER_EPOCH The streams group member is in a unknown state. The member must abandon all its tasks and rejoin.";
    assert_eq!(script.command("H A 2"), format!("H A 2\n  {refusal}\n"));
    assert_eq!(script.command("H A 2 own=0:0,1"), format!("H A 2 own=0:0,1\n  {refusal}\n"));
    assert_eq!(script.command("J A pA"), "J A pA\n  2; A{0:[0,1]} S{} W{}; eie 0 []\n");
    assert_eq!(script.command("H A 2"), "H A 2\n  2; -\n");
}

#[test]
fn tombstones_and_news_of_what_is_not_there_do_nothing() {
    let mut script = Script::new();
    let (group, member) = (GroupId::from("g"), MemberId::from("A"));
    let tombstones = [
        Record::StreamsGroupMetadata { group: group.clone(), value: None },
        Record::StreamsGroupTopology { group: group.clone(), value: None },
        Record::StreamsGroupTargetAssignmentMetadata { group: group.clone(), value: None },
        Record::StreamsGroupMemberMetadata { group: group.clone(), member: member.clone(), value: None },
        Record::StreamsGroupTargetAssignmentMember { group: group.clone(), member: member.clone(), value: None },
        Record::StreamsGroupCurrentMemberAssignment { group: group.clone(), member: member.clone(), value: None },
        Record::GroupDeleted { group: group.clone() },
    ];
    for record in &tombstones {
        script.harness.write(record);
    }
    assert!(script.harness.coordinator.groups.is_empty());

    script.command("topic in 1");
    script.command("J B pB");
    let before = script.harness.soft.timers.len();
    for record in &tombstones[3..6] {
        script.harness.write(record);
    }
    for key in [
        TimerKey::StreamsSession(group.clone(), member.clone()),
        TimerKey::StreamsRebalance(group.clone(), member.clone()),
        TimerKey::StreamsRebalance(group.clone(), "B".into()),
        TimerKey::StreamsInitialRebalance(group.clone()),
        TimerKey::StreamsInitialRebalance("none".into()),
        TimerKey::StreamsSession("none".into(), member),
        // B was heard since
        TimerKey::StreamsSession(group.clone(), "B".into()),
    ] {
        assert!(script.harness.input(Input::Expired(key)).records.is_empty());
    }
    for group in [group, "none".into()] {
        let outcome = vec![("t".into(), Some("no".to_owned())), ("u".into(), None)];
        assert!(script.harness.input(Input::InternalTopicsCreated { group, outcome }).records.is_empty());
    }
    assert_eq!(script.command("H B 2"), "H B 2\n  2; -\n");
    assert_eq!(script.harness.soft.timers.len(), before);
}

#[test]
fn all_records_gone_one_by_one_is_a_group_gone() {
    let mut script = Script::new();
    script.command("topic in 1");
    script.command("J A pA");
    script.command("L A");
    let group = GroupId::from("g");
    for record in [
        Record::StreamsGroupTargetAssignmentMetadata { group: group.clone(), value: None },
        Record::StreamsGroupMetadata { group: group.clone(), value: None },
        Record::StreamsGroupTopology { group, value: None },
    ] {
        assert_eq!(script.harness.coordinator.groups.len(), 1);
        script.harness.write(&record);
    }
    assert!(script.harness.coordinator.groups.is_empty());
    script.harness.check();
}

#[test]
fn a_member_that_is_back_is_still_known_to_have_reported_its_offsets() {
    check(
        "topic in 2
         J S pS instance=i1
         H S 2 offsets=0:0:5 ends=0:0:9
         L S -2 instance=i1
         J T pS instance=i1
         describe
         # what is told anew replaces, what is left out stays
         H T 2 offsets=0:1:6
         describe",
        expect![[r#"
            J S pS instance=i1
              2; A{0:[0,1]} S{} W{}; eie 0 []
            H S 2 offsets=0:0:5 ends=0:0:9
              2; -
            L S -2 instance=i1
              -2; -
            J T pS instance=i1
              2; A{0:[0,1]} S{} W{}; eie 0 []
            describe
              Stable 2/2 topology 0 of 1
              T 2 of pS as i1 has a{0:[0,1]}, target a{0:[0,1]}, offsets [0:0=5] of [0:0=9]
            H T 2 offsets=0:1:6
              2; -
            describe
              Stable 2/2 topology 0 of 1
              T 2 of pS as i1 has a{0:[0,1]}, target a{0:[0,1]}, offsets [0:1=6] of [0:0=9]
        "#]],
    );
}

#[test]
fn what_is_left_of_a_group_that_went_another_way_is_not_the_next_ones() {
    let mut script = Script::new();
    for line in ["topic in 2", "topic other 1", "J A pA shutdown", "H A 2 endpoint=h:1", "J B pB endpoint=h:2", "L A"] {
        script.command(line);
    }
    assert!(script.harness.soft.streams[&GroupId::from("g")].endpoint_epoch > 0);
    script.harness.write(&Record::GroupDeleted { group: "g".into() });
    script.command("topology 0: source=other");
    assert_eq!(script.command("J C pC"), "J C pC\n  2; A{0:[0]} S{} W{}; eie 0 []\n");
}
