//! The traces T1 to T15 of the reference (`streams-traces.md`), as observed with Kafka 4.4.0. Where ours differs on
//! purpose a comment says so.

use expect_test::expect;

use super::{Script, check};
use crate::config::Config;

#[test]
fn t1_missing_source_topic_then_created_then_a_lost_answer() {
    check(
        "topology 0: source=rin2
         J A pA
         describe
         H A 2
         topic rin2 2
         H A 2 own
         # the client lost the answer; Kafka answers without tasks
         H A 2 own
         H A 2
         H A 3",
        expect![[r#"
            J A pA
              2; A{} S{} W{}; st[1 "Source topics rin2 are missing."]; eie 0 []
            describe
              NotReady 2/2 topology 0 of 1
              A 2 of pA has a{}, target a{}
            H A 2
              2; -; st[1 "Source topics rin2 are missing."]
            H A 2 own
              3; A{0:[0,1]} S{} W{}
            H A 2 own
              3; A{0:[0,1]} S{} W{}
            H A 2
              FENCED_MEMBER_EPOCH The streams group member has a smaller member epoch (2) than the one known by the group coordinator (3). The member must abandon all its partitions and rejoin.
            H A 3
              3; -
        "#]],
    );
}

#[test]
fn t2_metadata_changes_of_a_dynamic_member() {
    check(
        "topology 0: source=rin2
         topic rin2 2
         J A pA
         H A 2 rack=r1
         H A 3 rack=r1
         H A 3 timeout=7777
         H A 4 endpoint=h1:1234
         H A 5
         H A 5 eie=1
         H A 5 eie=1 shutdown
         H A 5 eie=1
         J B pB",
        expect![[r#"
            J A pA
              2; A{0:[0,1]} S{} W{}; eie 0 []
            H A 2 rack=r1
              3; -
            H A 3 rack=r1
              3; -
            H A 3 timeout=7777
              4; -
            H A 4 endpoint=h1:1234
              5; -; eie 1 [h1:1234 rin2[0,1] |]
            H A 5
              5; -; eie 1 [h1:1234 rin2[0,1] |]
            H A 5 eie=1
              5; -; eie 1
            H A 5 eie=1 shutdown
              5; -; st[4 "Streams group member A encountered a fatal error and requested a shutdown for the entire application."]; eie 1
            H A 5 eie=1
              5; -; st[4 "Streams group member A encountered a fatal error and requested a shutdown for the entire application."]; eie 1
            J B pB
              6; A{} S{} W{}; st[4 "Streams group member A encountered a fatal error and requested a shutdown for the entire application."]; eie 1 [h1:1234 rin2[0,1] |]
        "#]],
    );
}

#[test]
fn t3_internal_topic_and_assignment_interval() {
    check(
        "topology 0: source=in changelog=sapp-cl
         config streams.assignment.interval.ms=1000
         topic in 2
         J A pA
         made
         wait 600
         H A 2
         J B pB
         describe
         wait 1200
         H B 2
         H A 2",
        expect![[r#"
            J A pA
              2; A{} S{} W{}; st[3 "Internal topics are missing: sapp-cl"]; eie 0 []
            made
            wait 600
            H A 2
              2; -; st[5 "Assignment delayed due to the configured assignment interval."]
            J B pB
              2; A{} S{} W{}; st[5 "Assignment delayed due to the configured assignment interval."]; eie 0 []
            describe
              Assigning 4/2 topology 0 of 1
              A 2 of pA has a{}, target a{}
              B 2 of pB has a{}, target a{}
            wait 1200
            H B 2
              4; A{0:[1]} S{} W{}
            H A 2
              4; A{0:[0]} S{} W{}
        "#]],
    );
}

#[test]
fn t4_source_topic_deleted_and_recreated() {
    check(
        "topology 0: source=in changelog=sapp-cl
         topic in 2
         topic sapp-cl 2
         J A pA
         J B pB
         H A 2 own=0:0
         H B 3
         H A 3 own=0:0
         describe
         topic in gone
         H A 3
         describe
         H A 3
         H B 3
         topic in 3
         H A 3",
        expect![[r#"
            J A pA
              2; A{0:[0,1]} S{} W{}; eie 0 []
            J B pB
              3; A{} S{} W{}; eie 0 []
            H A 2 own=0:0
              3; A{0:[0]} S{} W{}
            H B 3
              3; A{0:[1]} S{} W{}
            H A 3 own=0:0
              3; -
            describe
              Stable 3/3 topology 0 of 1
              A 3 of pA has a{0:[0]}, target a{0:[0]}
              B 3 of pB has a{0:[1]}, target a{0:[1]}
            H A 3
              3; A{} S{} W{}; st[1 "Source topics in are missing."]
            describe
              NotReady 4/4 topology 0 of 1
              A 3 of pA has a{}, target a{}
              B 3 of pB has a{0:[1]}, target a{}
            H A 3
              3; -; st[1 "Source topics in are missing."]
            H B 3
              3; A{} S{} W{}; st[1 "Source topics in are missing."]
            H A 3
              3; -; st[2 "Existing topic sapp-cl has different number of partitions: expected 3, found 2"]
        "#]],
    );
}

#[test]
fn t5_static_membership() {
    check(
        "topic in 2
         J m1 p1 instance=i1
         J m2 p2 instance=i1
         J d1 pd
         H m1 2 instance=i1
         H m1 2 instance=i1 own=0:0
         H m1 3
         H m9 3 instance=i1
         H m1 3 instance=i9
         H d1 3
         L m1 -2 instance=i1
         describe
         L m7 -2 instance=i1
         J m2 p1 instance=i1
         describe
         J m2 p1 instance=i1
         H m1 3 instance=i1
         H m1 3
         L m2 -2 instance=i1
         J m3 pNEW instance=i1
         L m3 -2 instance=i1
         J m3 pNEW instance=i1
         L m3 -1 instance=i1
         H d1 3",
        expect![[r#"
            J m1 p1 instance=i1
              2; A{0:[0,1]} S{} W{}; eie 0 []
            J m2 p2 instance=i1
              UNRELEASED_INSTANCE_ID Static member m2 with instance id i1 cannot join the group because the instance id is owned by m1 member.
            J d1 pd
              3; A{} S{} W{}; eie 0 []
            H m1 2 instance=i1
              2; A{0:[0]} S{} W{}
            H m1 2 instance=i1 own=0:0
              3; -
            H m1 3
              3; -
            H m9 3 instance=i1
              FENCED_INSTANCE_ID Static member m9 with instance id i1 was fenced by member m1.
            H m1 3 instance=i9
              UNKNOWN_MEMBER_ID Instance id i9 is unknown.
            H d1 3
              3; A{0:[1]} S{} W{}
            L m1 -2 instance=i1
              -2; -
            describe
              Reconciling 3/3 topology 0 of 1
              d1 3 of pd has a{0:[1]}, target a{0:[1]}
              m1 -2 of p1 as i1 has a{0:[0]}, target a{0:[0]}
            L m7 -2 instance=i1
              FENCED_INSTANCE_ID Static member m7 with instance id i1 was fenced by member m1.
            J m2 p1 instance=i1
              3; A{0:[0]} S{} W{}; eie 0 []
            describe
              Stable 3/3 topology 0 of 1
              d1 3 of pd has a{0:[1]}, target a{0:[1]}
              m2 3 of p1 as i1 has a{0:[0]}, target a{0:[0]}
            J m2 p1 instance=i1
              UNRELEASED_INSTANCE_ID Static member m2 with instance id i1 cannot join the group because the instance id is owned by m2 member.
            H m1 3 instance=i1
              FENCED_INSTANCE_ID Static member m1 with instance id i1 was fenced by member m2.
            H m1 3
              UNKNOWN_MEMBER_ID Member m1 is not a member of group g.
            L m2 -2 instance=i1
              -2; -
            J m3 pNEW instance=i1
              4; A{0:[0]} S{} W{}; eie 0 []
            L m3 -2 instance=i1
              -2; -
            J m3 pNEW instance=i1
              4; A{0:[0]} S{} W{}; eie 0 []
            L m3 -1 instance=i1
              -1; -
            H d1 3
              5; A{0:[0,1]} S{} W{}
        "#]],
    );
}

#[test]
fn t6_topology_epochs() {
    check(
        "config streams.assignment.interval.ms=1000
         topic in 1
         topic other 1
         topology epoch=5 0: source=in
         J A pA
         topology epoch=3 0: source=in
         J B pB
         topology epoch=6 0: source=in
         J C pC
         topology epoch=5 0: source=other
         J A pA",
        expect![[r#"
            J A pA
              2; A{0:[0]} S{} W{}; eie 0 []
            J B pB
              2; A{} S{} W{}; st[0 "The member's topology epoch 3 is behind the group's topology epoch 5.", 5 "Assignment delayed due to the configured assignment interval."]; eie 0 []
            J C pC
              INVALID_REQUEST Topology updates are not supported yet.
            J A pA
              INVALID_REQUEST Topology updates are not supported yet.
        "#]],
    );
}

#[test]
fn t7_initial_delay() {
    check(
        "config streams.initial.rebalance.delay.ms=1000
         topic in 1
         J A pA
         describe
         H A 1
         wait 1500
         describe
         H A 1
         describe",
        expect![[r#"
            J A pA
              1; A{} S{} W{}; st[5 "Assignment delayed due to the configured initial rebalance delay."]; eie 0 []
            describe
              Assigning 2/1 topology 0 of 1
              A 1 of pA has a{}, target a{}
            H A 1
              1; -; st[5 "Assignment delayed due to the configured initial rebalance delay."]
            wait 1500
              initial delay ends
            describe
              Reconciling 2/2 topology 0 of 1
              A 1 of pA has a{}, target a{0:[0]}
            H A 1
              2; A{0:[0]} S{} W{}
            describe
              Stable 2/2 topology 0 of 1
              A 2 of pA has a{0:[0]}, target a{0:[0]}
        "#]],
    );
}

#[test]
fn t8_rebalance_timeout() {
    check(
        "topic in 4
         J A pA timeout=1500
         J B pB
         H A 2
         wait 900
         H A 2
         wait 900
         H A 2
         H B 3",
        expect![[r#"
            J A pA timeout=1500
              2; A{0:[0,1,2,3]} S{} W{}; eie 0 []
            J B pB
              3; A{} S{} W{}; eie 0 []
            H A 2
              2; A{0:[0,1]} S{} W{}
            wait 900
            H A 2
              2; -
            wait 900
              rebalance timeout of A
            H A 2
              UNKNOWN_MEMBER_ID Member A is not a member of group g.
            H B 3
              4; A{0:[0,1,2,3]} S{} W{}
        "#]],
    );
}

#[test]
fn t9_session_timeout() {
    check(
        "config streams.session.timeout.ms=1500
         topic in 1
         J A pA
         wait 2500
         describe
         H A 2
         J A pA",
        expect![[r#"
            J A pA
              2; A{0:[0]} S{} W{}; eie 0 []
            wait 2500
              session of A ends
            describe
              Empty 3/3 topology 0 of 1
            H A 2
              UNKNOWN_MEMBER_ID Member A is not a member of group g.
            J A pA
              4; A{0:[0]} S{} W{}; eie 0 []
        "#]],
    );
}

#[test]
fn t10_standbys_with_two_members_of_one_process() {
    check(
        "config streams.num.standby.replicas=1
         topology 0: source=in changelog=cl
         topic in 4
         J A1 pA
         made
         H A1 2
         J A2 pA
         H A1 3
         H A1 3 own=0:0,1
         H A2 4
         J B1 pB
         describe
         H A1 4
         H A2 4
         H B1 5
         H B1 5
         describe
         H A2 4 own=0:2 standby=0:3
         H B1 5",
        expect![[r#"
            J A1 pA
              2; A{} S{} W{}; st[3 "Internal topics are missing: cl"]; eie 0 []
            made
            H A1 2
              3; A{0:[0,1,2,3]} S{} W{}
            J A2 pA
              4; A{} S{} W{}; eie 0 []
            H A1 3
              3; A{0:[0,1]} S{} W{}
            H A1 3 own=0:0,1
              4; -
            H A2 4
              4; A{0:[2,3]} S{} W{}
            J B1 pB
              5; A{} S{0:[0,1,2]} W{}; eie 0 []
            describe
              Reconciling 5/5 topology 0 of 1
              A1 4 of pA has a{0:[0,1]}, target a{0:[0,1]}
              A2 4 of pA has a{0:[2,3]}, target a{0:[2]} s{0:[3]}
              B1 5 of pB has a{} s{0:[0,1,2]}, target a{0:[3]} s{0:[0,1,2]}
            H A1 4
              5; -
            H A2 4
              4; A{0:[2]} S{0:[3]} W{}
            H B1 5
              5; -
            H B1 5
              5; -
            describe
              Reconciling 5/5 topology 0 of 1
              A1 5 of pA has a{0:[0,1]}, target a{0:[0,1]}
              A2 4 of pA has a{0:[2]} s{0:[3]}, target a{0:[2]} s{0:[3]}
              B1 5 of pB has a{} s{0:[0,1,2]}, target a{0:[3]} s{0:[0,1,2]}
            H A2 4 own=0:2 standby=0:3
              5; -
            H B1 5
              5; A{0:[3]} S{0:[0,1,2]} W{}
        "#]],
    );
}

#[test]
fn t11_offsets() {
    check(
        "topic in 3
         J m1 p1
         J m2 p2
         H m1 2
         H m1 2 own=0:0,1
         H m2 3
         # m1 kept tasks 0 and 1 since epoch 2 and is now at 3
         commit m1 3 in:0
         commit m1 2 in:0
         commit m1 2 in:2
         commit m1 3 in:2
         commit m1 4 in:0
         commit m1 1 in:0
         commit m1 2 in:0 in:2
         commit mx 3 in:0
         commit - -1 in:0
         commit - -1 txn in:0
         commit m1 3 v=8 in:0
         commit m1 2 v=5 txn in:2
         commit m1 2 v=6 txn in:2
         fetch m1 3
         fetch null -1
         fetch m1 2
         fetch mx 3
         fetch - -1
         # Kafka answers UNKNOWN_SERVER_ERROR
         fetch null 3
         L m1
         L m2
         commit - -1 in:0
         commit abc -1 in:0
         commit abc 5 in:0",
        expect![[r#"
            J m1 p1
              2; A{0:[0,1,2]} S{} W{}; eie 0 []
            J m2 p2
              3; A{} S{} W{}; eie 0 []
            H m1 2
              2; A{0:[0,1]} S{} W{}
            H m1 2 own=0:0,1
              3; -
            H m2 3
              3; A{0:[2]} S{} W{}
            commit m1 3 in:0
              NONE
            commit m1 2 in:0
              NONE
            commit m1 2 in:2
              STALE_MEMBER_EPOCH
            commit m1 3 in:2
              NONE
            commit m1 4 in:0
              STALE_MEMBER_EPOCH
            commit m1 1 in:0
              STALE_MEMBER_EPOCH
            commit m1 2 in:0 in:2
              STALE_MEMBER_EPOCH
            commit mx 3 in:0
              UNKNOWN_MEMBER_ID
            commit - -1 in:0
              UNKNOWN_MEMBER_ID
            commit - -1 txn in:0
              NONE
            commit m1 3 v=8 in:0
              UNSUPPORTED_VERSION
            commit m1 2 v=5 txn in:2
              ILLEGAL_GENERATION
            commit m1 2 v=6 txn in:2
              STALE_MEMBER_EPOCH
            fetch m1 3
              NONE
            fetch null -1
              NONE
            fetch m1 2
              STALE_MEMBER_EPOCH
            fetch mx 3
              UNKNOWN_MEMBER_ID
            fetch - -1
              UNKNOWN_MEMBER_ID
            fetch null 3
              UNKNOWN_MEMBER_ID
            L m1
              -1; -
            L m2
              -1; -
            commit - -1 in:0
              NONE
            commit abc -1 in:0
              NONE
            commit abc 5 in:0
              UNKNOWN_MEMBER_ID
        "#]],
    );
}

#[test]
fn t12_endpoints_while_the_source_topic_is_missing() {
    check(
        "# Kafka answers UNKNOWN_SERVER_ERROR
         J A pA endpoint=h:1",
        expect![[r#"
            J A pA endpoint=h:1
              2; A{} S{} W{}; st[1 "Source topics in are missing."]; eie 0 [h:1  |]
        "#]],
    );
}

#[test]
fn t12_endpoints_while_an_internal_topic_is_missing() {
    check(
        "topology 0: source=in changelog=cl
         topic in 2
         J A pA endpoint=h:1",
        expect![[r#"
            J A pA endpoint=h:1
              2; A{} S{} W{}; st[3 "Internal topics are missing: cl"]; eie 0 [h:1  |]
        "#]],
    );
}

#[test]
fn t12_endpoints() {
    check(
        "topic in 4
         J A pA endpoint=h:1
         J B pB
         H A 2 eie=1",
        expect![[r#"
            J A pA endpoint=h:1
              2; A{0:[0,1,2,3]} S{} W{}; eie 0 [h:1 in[0,1,2,3] |]
            J B pB
              3; A{} S{} W{}; eie 0 [h:1 in[0,1,2,3] |]
            H A 2 eie=1
              2; A{0:[0,1]} S{} W{}; eie 1
        "#]],
    );
}

#[test]
fn t13_tags() {
    check(
        "config streams.rack.aware.assignment.tags=zone,rack
         topic in 1
         J A pA
         H A 2 v=0
         config streams.assignment.interval.ms=1000
         H A 2 tags=zone:a
         wait 1000
         H A 2 tags=zone:a,rack:b
         # other tags to have ask for a new assignment
         config streams.rack.aware.assignment.tags=zone
         wait 1000
         H A 4",
        expect![[r#"
            J A pA
              2; A{0:[0]} S{} W{}; st[6 "Missing required client tags for rack-aware standby assignment: [zone, rack]. Configure them via 'client.tag.<tagKey>' in your Streams config."]; eie 0 []
            H A 2 v=0
              2; -
            H A 2 tags=zone:a
              2; -; st[5 "Assignment delayed due to the configured assignment interval.", 6 "Missing required client tags for rack-aware standby assignment: [rack]. Configure them via 'client.tag.<tagKey>' in your Streams config."]
            wait 1000
            H A 2 tags=zone:a,rack:b
              4; -
            wait 1000
            H A 4
              5; -
        "#]],
    );
}

#[test]
fn t14_listing_and_deletion() {
    check(
        "J A pA
         list state=not_ready
         list state=Not_Ready
         # Kafka's own admin client spells it so, and finds nothing there
         list state=NotReady
         list type=Streams
         list type=STREAMS state=NOTREADY
         list state=stable
         list type=classic
         list state=nonsense
         list type=nonsense
         delete
         L A
         list
         delete
         describe
         list",
        expect![[r#"
            J A pA
              2; A{} S{} W{}; st[1 "Source topics in are missing."]; eie 0 []
            list state=not_ready
              g streams NotReady streams
            list state=Not_Ready
              g streams NotReady streams
            list state=NotReady
              g streams NotReady streams
            list type=Streams
              g streams NotReady streams
            list type=STREAMS state=NOTREADY
              g streams NotReady streams
            list state=stable
            list type=classic
            list state=nonsense
            list type=nonsense
            delete
              g NON_EMPTY_GROUP
            L A
              -1; -
            list
              g streams Empty streams
            delete
              g NONE
            describe
              GROUP_ID_NOT_FOUND Group g not found.
            list
        "#]],
    );
}

#[test]
fn t15_restart_of_an_assigning_group() {
    check(
        "config streams.assignment.interval.ms=60000
         topic in 1
         J A pA
         J B pB
         describe
         restart
         describe",
        expect![[r#"
            J A pA
              2; A{0:[0]} S{} W{}; eie 0 []
            J B pB
              2; A{} S{} W{}; st[5 "Assignment delayed due to the configured assignment interval."]; eie 0 []
            describe
              Assigning 3/2 topology 0 of 1
              A 2 of pA has a{0:[0]}, target a{0:[0]}
              B 2 of pB has a{}, target a{}
            restart
            describe
              Assigning 3/2 topology 0 of 1
              A 2 of pA has a{0:[0]}, target a{0:[0]}
              B 2 of pB has a{}, target a{}
        "#]],
    );
}

#[test]
fn t15_restart_of_a_reconciling_group() {
    check(
        "topic in 4
         J A pA endpoint=h:1
         J B pB
         H A 2 shutdown offsets=0:0:7 ends=0:0:9
         describe
         restart
         describe
         wait 10000
         describe
         H A 2
         H B 3",
        expect![[r#"
            J A pA endpoint=h:1
              2; A{0:[0,1,2,3]} S{} W{}; eie 0 [h:1 in[0,1,2,3] |]
            J B pB
              3; A{} S{} W{}; eie 0 [h:1 in[0,1,2,3] |]
            H A 2 shutdown offsets=0:0:7 ends=0:0:9
              2; A{0:[0,1]} S{} W{}; st[4 "Streams group member A encountered a fatal error and requested a shutdown for the entire application."]; eie 1 [h:1 in[0,1] |]
            describe
              Reconciling 3/3 topology 0 of 1
              A 2 of pA has a{0:[0,1]}, target a{0:[0,1]}, offsets [0:0=7] of [0:0=9]
              B 3 of pB has a{}, target a{0:[2,3]}
            restart
            describe
              Reconciling 3/3 topology 0 of 1
              A 2 of pA has a{0:[0,1]}, target a{0:[0,1]}
              B 3 of pB has a{}, target a{0:[2,3]}
            wait 10000
              rebalance timeout of A
            describe
              Assigning 4/3 topology 0 of 1
              B 3 of pB has a{}, target a{0:[2,3]}
            H A 2
              UNKNOWN_MEMBER_ID Member A is not a member of group g.
            H B 3
              4; A{0:[0,1,2,3]} S{} W{}; eie 1 []
        "#]],
    );
}
