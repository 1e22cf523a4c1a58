//! What a member is told, and told again when an answer got lost: tasks, shutdown, statuses.

use expect_test::expect;

use super::{Script, check, check_records};

#[test]
fn a_lost_answer_that_took_tasks_away_is_told_again_when_the_member_says_what_it_owns() {
    check(
        "topic in 4
         J A pA
         J B pB
         H A 2
         # lost: the epoch is the same, so the member speaks at its own epoch; Kafka 4.4.0 leaves the tasks out
         H A 2 own=0:0,1,2,3
         H A 2 own=0:0,1",
        expect![[r#"
            J A pA
              2; A{0:[0,1,2,3]} S{} W{}; eie 0 []
            J B pB
              3; A{} S{} W{}; eie 0 []
            H A 2
              2; A{0:[0,1]} S{} W{}
            H A 2 own=0:0,1,2,3
              2; A{0:[0,1]} S{} W{}
            H A 2 own=0:0,1
              3; -
        "#]],
    );
}

#[test]
fn a_lost_answer_that_gave_tasks_is_told_again_when_the_member_says_what_it_owns() {
    check(
        "topic in 4
         J A pA
         J B pB
         H A 2
         H A 2 own=0:0,1
         H B 3
         # lost; Kafka 4.4.0 leaves the tasks out for good
         H B 3 own
         H B 3 own=0:2,3",
        expect![[r#"
            J A pA
              2; A{0:[0,1,2,3]} S{} W{}; eie 0 []
            J B pB
              3; A{} S{} W{}; eie 0 []
            H A 2
              2; A{0:[0,1]} S{} W{}
            H A 2 own=0:0,1
              3; -
            H B 3
              3; A{0:[2,3]} S{} W{}
            H B 3 own
              3; A{0:[2,3]} S{} W{}
            H B 3 own=0:2,3
              3; -
        "#]],
    );
}

#[test]
fn a_member_that_starts_over_skips_the_revocation_it_owed() {
    check_records(
        "topic in 4
         J A pA
         J B pB
         H A 2
         J A pA
         H B 3",
        expect![[r#"
            J A pA
              2; A{0:[0,1,2,3]} S{} W{}; eie 0 []
              + 19(A) process pA
              + 23 epoch 0
              + 17 e2 validated 0
              + 21(A) a{0:[0,1,2,3]}
              + 20 e2
              + 22(A) e2 prev 0 STABLE a{0:0@2 0:1@2 0:2@2 0:3@2}
            J B pB
              3; A{} S{} W{}; eie 0 []
              + 19(B) process pB
              + 17 e3 validated 0
              + 21(A) a{0:[0,1]}
              + 21(B) a{0:[2,3]}
              + 20 e3
              + 22(B) e3 prev 0 UNRELEASED a{}
            H A 2
              2; A{0:[0,1]} S{} W{}
              + 22(A) e2 prev 2 UNREVOKED a{0:0@2 0:1@2} pending a{0:2@2 0:3@2}
            J A pA
              3; A{0:[0,1]} S{} W{}; eie 0 []
              + 22(A) e3 prev 2 STABLE a{0:0@2 0:1@2}
            H B 3
              3; A{0:[2,3]} S{} W{}
              + 22(B) e3 prev 3 STABLE a{0:2@3 0:3@3}
        "#]],
    );
}

#[test]
fn a_plain_heartbeat_confirms_no_revocation() {
    check(
        "topic in 2
         J A pA
         J B pB
         H A 2
         H A 2
         H B 3
         H A 2 own=0:0,1
         H A 2 own
         H B 3",
        expect![[r#"
            J A pA
              2; A{0:[0,1]} S{} W{}; eie 0 []
            J B pB
              3; A{} S{} W{}; eie 0 []
            H A 2
              2; A{0:[0]} S{} W{}
            H A 2
              2; -
            H B 3
              3; -
            H A 2 own=0:0,1
              2; A{0:[0]} S{} W{}
            H A 2 own
              3; A{0:[0]} S{} W{}
            H B 3
              3; A{0:[1]} S{} W{}
        "#]],
    );
}

#[test]
fn a_shutdown_asked_for_in_the_very_first_join_stays_until_the_group_is_empty() {
    check(
        "topic in 2
         J A pA shutdown
         H A 2
         J B pB shutdown
         L A
         H B 3
         L B
         # a fresh start
         J C pC",
        expect![[r#"
            J A pA shutdown
              2; A{0:[0,1]} S{} W{}; st[4 "Streams group member A encountered a fatal error and requested a shutdown for the entire application."]; eie 0 []
            H A 2
              2; -; st[4 "Streams group member A encountered a fatal error and requested a shutdown for the entire application."]
            J B pB shutdown
              3; A{} S{} W{}; st[4 "Streams group member A encountered a fatal error and requested a shutdown for the entire application."]; eie 0 []
            L A
              -1; -
            H B 3
              4; A{0:[0,1]} S{} W{}; st[4 "Streams group member A encountered a fatal error and requested a shutdown for the entire application."]
            L B
              -1; -
            J C pC
              6; A{0:[0,1]} S{} W{}; eie 0 []
        "#]],
    );
}

#[test]
fn a_member_that_leaves_may_ask_for_shutdown_with_its_last_word() {
    check(
        "topic in 2
         J A pA
         J B pB
         L A shutdown
         H B 3
         L B shutdown
         J C pC",
        expect![[r#"
            J A pA
              2; A{0:[0,1]} S{} W{}; eie 0 []
            J B pB
              3; A{} S{} W{}; eie 0 []
            L A shutdown
              -1; -
            H B 3
              4; A{0:[0,1]} S{} W{}; st[4 "Streams group member A encountered a fatal error and requested a shutdown for the entire application."]
            L B shutdown
              -1; -
            J C pC
              6; A{0:[0,1]} S{} W{}; eie 0 []
        "#]],
    );
}

#[test]
fn statuses_come_in_kafkas_order() {
    check(
        "config streams.initial.rebalance.delay.ms=3000
         topology epoch=1 0: source=in
         J A pA shutdown
         topology epoch=0 0: source=in
         J B pB",
        expect![[r#"
            J A pA shutdown
              1; A{} S{} W{}; st[5 "Assignment delayed due to the configured initial rebalance delay.", 1 "Source topics in are missing.", 4 "Streams group member A encountered a fatal error and requested a shutdown for the entire application."]; eie 0 []
            J B pB
              1; A{} S{} W{}; st[0 "The member's topology epoch 0 is behind the group's topology epoch 1.", 5 "Assignment delayed due to the configured initial rebalance delay.", 1 "Source topics in are missing.", 4 "Streams group member A encountered a fatal error and requested a shutdown for the entire application."]; eie 0 []
        "#]],
    );
}

#[test]
fn version_0_carries_no_recovery_lag_and_is_told_the_rest() {
    let mut script = Script::new();
    script.command("topic in 1");
    assert_eq!(script.command("J A pA v=0"), "J A pA v=0\n  2; A{0:[0]} S{} W{}; eie 0 []\n");
}
