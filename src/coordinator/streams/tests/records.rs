//! The records of each operation, in the order of the reference (`streams-records.md`, section 4, seen on a real topic).

use expect_test::expect;

use super::check_records;

#[test]
fn first_join_with_topics_ready() {
    check_records(
        "topic in 2
         J m1 p1 instance=i1",
        expect![[r#"
            J m1 p1 instance=i1
              2; A{0:[0,1]} S{} W{}; eie 0 []
              + 19(m1) process p1 instance i1
              + 23 epoch 0
              + 17 e2 validated 0
              + 21(m1) a{0:[0,1]}
              + 20 e2
              + 22(m1) e2 prev 0 STABLE a{0:0@2 0:1@2}
        "#]],
    );
}

#[test]
fn first_join_with_an_initial_delay() {
    check_records(
        "config streams.initial.rebalance.delay.ms=3000
         topic in 2
         J A pA
         J B pB
         wait 3000
         H A 1
         H B 1",
        expect![[r#"
            J A pA
              1; A{} S{} W{}; st[5 "Assignment delayed due to the configured initial rebalance delay."]; eie 0 []
              + 19(A) process pA
              + 23 epoch 0
              + 17 e2 validated 0
              + 22(A) e1 prev 0 STABLE a{}
            J B pB
              1; A{} S{} W{}; st[5 "Assignment delayed due to the configured initial rebalance delay."]; eie 0 []
              + 19(B) process pB
              + 17 e3 validated 0
              + 22(B) e1 prev 0 STABLE a{}
            wait 3000
              initial delay ends
              + 21(A) a{0:[0]}
              + 21(B) a{0:[1]}
              + 20 e3
            H A 1
              3; A{0:[0]} S{} W{}
              + 22(A) e3 prev 1 STABLE a{0:0@3}
            H B 1
              3; A{0:[1]} S{} W{}
              + 22(B) e3 prev 1 STABLE a{0:1@3}
        "#]],
    );
}

#[test]
fn first_join_while_topics_are_missing() {
    check_records(
        "J A pA
         H A 2
         topic in 2
         H A 2
         topic in gone
         H A 3",
        expect![[r#"
            J A pA
              2; A{} S{} W{}; st[1 "Source topics in are missing."]; eie 0 []
              + 19(A) process pA
              + 23 epoch 0
              + 17 e2 validated -1
              + 21(A) a{}
              + 20 e2
              + 22(A) e2 prev 0 STABLE a{}
            H A 2
              2; -; st[1 "Source topics in are missing."]
            H A 2
              3; A{0:[0,1]} S{} W{}
              + 17 e3 validated 0
              + 21(A) a{0:[0,1]}
              + 20 e3
              + 22(A) e3 prev 2 STABLE a{0:0@3 0:1@3}
            H A 3
              3; A{} S{} W{}; st[1 "Source topics in are missing."]
              + 17 e4 validated -1
              + 21(A) a{}
              + 20 e4
              + 22(A) e3 prev 3 UNREVOKED a{} pending a{0:0@3 0:1@3}
        "#]],
    );
}

#[test]
fn further_join_inside_the_assignment_interval_and_the_first_heartbeat_after() {
    check_records(
        "config streams.assignment.interval.ms=1000
         topic in 2
         J A pA
         wait 400
         J B pB
         H A 2
         wait 600
         H A 2",
        expect![[r#"
            J A pA
              2; A{0:[0,1]} S{} W{}; eie 0 []
              + 19(A) process pA
              + 23 epoch 0
              + 17 e2 validated 0
              + 21(A) a{0:[0,1]}
              + 20 e2
              + 22(A) e2 prev 0 STABLE a{0:0@2 0:1@2}
            wait 400
            J B pB
              2; A{} S{} W{}; st[5 "Assignment delayed due to the configured assignment interval."]; eie 0 []
              + 19(B) process pB
              + 17 e3 validated 0
              + 22(B) e2 prev 0 STABLE a{}
            H A 2
              2; -; st[5 "Assignment delayed due to the configured assignment interval."]
            wait 600
            H A 2
              2; A{0:[0]} S{} W{}
              + 21(A) a{0:[0]}
              + 21(B) a{0:[1]}
              + 20 e3
              + 22(A) e2 prev 2 UNREVOKED a{0:0@2} pending a{0:1@2}
        "#]],
    );
}

#[test]
fn the_golden_dump_of_a_static_and_a_dynamic_member() {
    check_records(
        "topic stin 2
         topology 0: source=stin
         J m1 p1 instance=i1
         J d1 pd
         H m1 2 instance=i1
         H m1 2 instance=i1 own=0:0
         H d1 3
         L m1 -2 instance=i1
         J m2 p1 instance=i1
         L m2 -1 instance=i1
         L d1
         delete",
        expect![[r#"
            J m1 p1 instance=i1
              2; A{0:[0,1]} S{} W{}; eie 0 []
              + 19(m1) process p1 instance i1
              + 23 epoch 0
              + 17 e2 validated 0
              + 21(m1) a{0:[0,1]}
              + 20 e2
              + 22(m1) e2 prev 0 STABLE a{0:0@2 0:1@2}
            J d1 pd
              3; A{} S{} W{}; eie 0 []
              + 19(d1) process pd
              + 17 e3 validated 0
              + 21(d1) a{0:[1]}
              + 21(m1) a{0:[0]}
              + 20 e3
              + 22(d1) e3 prev 0 UNRELEASED a{}
            H m1 2 instance=i1
              2; A{0:[0]} S{} W{}
              + 22(m1) e2 prev 2 UNREVOKED a{0:0@2} pending a{0:1@2}
            H m1 2 instance=i1 own=0:0
              3; -
              + 22(m1) e3 prev 2 STABLE a{0:0@2}
            H d1 3
              3; A{0:[1]} S{} W{}
              + 22(d1) e3 prev 3 STABLE a{0:1@3}
            L m1 -2 instance=i1
              -2; -
              + 22(m1) e-2 prev 2 STABLE a{0:0@0}
            J m2 p1 instance=i1
              3; A{0:[0]} S{} W{}; eie 0 []
              + ~22(m1)
              + ~21(m1)
              + ~19(m1)
              + 19(m2) process p1 instance i1
              + 21(m2) a{0:[0]}
              + 22(m2) e0 prev 0 STABLE a{0:0@0}
              + 22(m2) e3 prev 0 STABLE a{0:0@0}
            L m2 -1 instance=i1
              -1; -
              + ~22(m2)
              + ~21(m2)
              + ~19(m2)
              + 17 e4 validated 0
            L d1
              -1; -
              + ~22(d1)
              + ~21(d1)
              + ~19(d1)
              + 17 e5 validated 0
              + 20 e5 at 0
            delete
              g NONE
              + deleted g
        "#]],
    );
}

#[test]
fn a_static_member_that_is_back_in_another_process() {
    check_records(
        "topic in 2
         J m1 p1 instance=i1
         L m1 -2 instance=i1
         J m2 pNEW instance=i1
         L m2 -2 instance=i1
         # under its own id
         J m2 pNEW instance=i1",
        expect![[r#"
            J m1 p1 instance=i1
              2; A{0:[0,1]} S{} W{}; eie 0 []
              + 19(m1) process p1 instance i1
              + 23 epoch 0
              + 17 e2 validated 0
              + 21(m1) a{0:[0,1]}
              + 20 e2
              + 22(m1) e2 prev 0 STABLE a{0:0@2 0:1@2}
            L m1 -2 instance=i1
              -2; -
              + 22(m1) e-2 prev 0 STABLE a{0:0@0 0:1@0}
            J m2 pNEW instance=i1
              3; A{0:[0,1]} S{} W{}; eie 0 []
              + ~22(m1)
              + ~21(m1)
              + ~19(m1)
              + 19(m2) process p1 instance i1
              + 21(m2) a{0:[0,1]}
              + 22(m2) e0 prev 0 STABLE a{0:0@0 0:1@0}
              + 19(m2) process pNEW instance i1
              + 17 e3 validated 0
              + 20 e3
              + 22(m2) e3 prev 0 STABLE a{0:0@0 0:1@0}
            L m2 -2 instance=i1
              -2; -
              + 22(m2) e-2 prev 0 STABLE a{0:0@0 0:1@0}
            J m2 pNEW instance=i1
              3; A{0:[0,1]} S{} W{}; eie 0 []
              + ~22(m2)
              + ~21(m2)
              + ~19(m2)
              + 19(m2) process pNEW instance i1
              + 21(m2) a{0:[0,1]}
              + 22(m2) e0 prev 0 STABLE a{0:0@0 0:1@0}
              + 22(m2) e3 prev 0 STABLE a{0:0@0 0:1@0}
        "#]],
    );
}

#[test]
fn metadata_changes_and_heartbeats_that_change_nothing() {
    check_records(
        "topic in 2
         J A pA
         H A 2
         H A 2 own=0:0,1
         H A 2 rack=r1
         H A 3 rack=r1 offsets=0:0:5 eie=7
         J A pA rack=r1
         J A pA",
        expect![[r#"
            J A pA
              2; A{0:[0,1]} S{} W{}; eie 0 []
              + 19(A) process pA
              + 23 epoch 0
              + 17 e2 validated 0
              + 21(A) a{0:[0,1]}
              + 20 e2
              + 22(A) e2 prev 0 STABLE a{0:0@2 0:1@2}
            H A 2
              2; -
            H A 2 own=0:0,1
              2; -
            H A 2 rack=r1
              3; -
              + 19(A) process pA
              + 17 e3 validated 0
              + 20 e3
              + 22(A) e3 prev 2 STABLE a{0:0@2 0:1@2}
            H A 3 rack=r1 offsets=0:0:5 eie=7
              3; -; eie 0 []
            J A pA rack=r1
              3; A{0:[0,1]} S{} W{}; eie 0 []
            J A pA
              3; A{0:[0,1]} S{} W{}; eie 0 []
        "#]],
    );
}

#[test]
fn removal_by_a_timeout_is_a_leave() {
    check_records(
        "config streams.session.timeout.ms=20000
         topic in 2
         J A pA timeout=5000
         J B pB
         H A 2
         wait 5000
         wait 20000",
        expect![[r#"
            J A pA timeout=5000
              2; A{0:[0,1]} S{} W{}; eie 0 []
              + 19(A) process pA
              + 23 epoch 0
              + 17 e2 validated 0
              + 21(A) a{0:[0,1]}
              + 20 e2
              + 22(A) e2 prev 0 STABLE a{0:0@2 0:1@2}
            J B pB
              3; A{} S{} W{}; eie 0 []
              + 19(B) process pB
              + 17 e3 validated 0
              + 21(A) a{0:[0]}
              + 21(B) a{0:[1]}
              + 20 e3
              + 22(B) e3 prev 0 UNRELEASED a{}
            H A 2
              2; A{0:[0]} S{} W{}
              + 22(A) e2 prev 2 UNREVOKED a{0:0@2} pending a{0:1@2}
            wait 5000
              rebalance timeout of A
              + ~22(A)
              + ~21(A)
              + ~19(A)
              + 17 e4 validated 0
            wait 20000
              session of B ends
              + ~22(B)
              + ~21(B)
              + ~19(B)
              + 17 e5 validated 0
              + 20 e5 at 0
        "#]],
    );
}
