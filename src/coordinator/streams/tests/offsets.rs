//! What a streams group lets through of commits and fetches of offsets, and what it is subscribed to.

use expect_test::expect;

use super::{Script, check};

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
fn t11_offsets_of_tasks_that_are_still_to_be_given_up() {
    check(
        "topic in 3
         J A pA
         J B pB
         H A 2
         J C pC
         # at epoch 3 with task 0, task 1 is still to be given up, task 2 is gone
         H A 2 own=0:0,1
         commit A 2 in:0
         commit A 2 in:1
         commit A 2 in:2",
        expect![[r#"
            J A pA
              2; A{0:[0,1,2]} S{} W{}; eie 0 []
            J B pB
              3; A{} S{} W{}; eie 0 []
            H A 2
              2; A{0:[0,1]} S{} W{}
            J C pC
              4; A{} S{} W{}; eie 0 []
            H A 2 own=0:0,1
              3; A{0:[0]} S{} W{}
            commit A 2 in:0
              NONE
            commit A 2 in:1
              NONE
            commit A 2 in:2
              STALE_MEMBER_EPOCH
        "#]],
    );
}

#[test]
fn a_group_with_members_is_subscribed_to_what_it_reads() {
    let mut script = Script::new();
    script.command("topic in 1");
    script.command("topology 0: source=in sink=rep changelog=cl 1: repartition=rep");
    script.command("J A pA");
    let subscribed =
        |script: &Script| ["in", "rep", "cl", "other"].map(|topic| script.streams_group().is_subscribed_to(topic));
    assert_eq!(subscribed(&script), [true, true, false, false]);
    assert!(!script.streams_group().is_empty());
    script.command("L A");
    assert_eq!(subscribed(&script), [false; 4]);
    assert!(script.streams_group().is_empty());
}
