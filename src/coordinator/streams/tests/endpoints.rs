//! Who serves what: endpoints for interactive queries.

use expect_test::expect;

use super::check;

#[test]
fn the_last_endpoint_of_a_group_does_not_go_unnoticed() {
    check(
        "topic in 2
         J A pA endpoint=h:1
         J B pB
         H A 2 own=0:0
         H B 3 eie=0
         L A
         # Kafka 4.4.0 tells nothing and keeps the epoch
         H B 3 eie=1",
        expect![[r#"
            J A pA endpoint=h:1
              2; A{0:[0,1]} S{} W{}; eie 0 [h:1 in[0,1] |]
            J B pB
              3; A{} S{} W{}; eie 0 [h:1 in[0,1] |]
            H A 2 own=0:0
              3; A{0:[0]} S{} W{}; eie 1 [h:1 in[0] |]
            H B 3 eie=0
              3; A{0:[1]} S{} W{}; eie 1 [h:1 in[0] |]
            L A
              -1; -
            H B 3 eie=1
              4; A{0:[0,1]} S{} W{}; eie 2 []
        "#]],
    );
}

#[test]
fn the_session_of_a_member_with_an_endpoint_ends_and_the_others_are_told() {
    check(
        "config streams.session.timeout.ms=20000
         topic in 2
         J A pA endpoint=h:1
         J B pB endpoint=h:2
         wait 15000
         H B 3 eie=1
         wait 15000
         H B 3 eie=1",
        expect![[r#"
            J A pA endpoint=h:1
              2; A{0:[0,1]} S{} W{}; eie 0 [h:1 in[0,1] |]
            J B pB endpoint=h:2
              3; A{} S{} W{}; eie 1 [h:1 in[0,1] |, h:2  |]
            wait 15000
            H B 3 eie=1
              3; -; eie 1
            wait 15000
              session of A ends
            H B 3 eie=1
              4; A{0:[0,1]} S{} W{}; eie 3 [h:2 in[0,1] |]
        "#]],
    );
}

#[test]
fn an_endpoint_changes_and_goes_with_a_join() {
    check(
        "topic in 2
         J A pA endpoint=h:1
         H A 2 endpoint=h:2
         # a heartbeat cannot take it away
         H A 3 eie=1
         J A pA
         H A 4 eie=2",
        expect![[r#"
            J A pA endpoint=h:1
              2; A{0:[0,1]} S{} W{}; eie 0 [h:1 in[0,1] |]
            H A 2 endpoint=h:2
              3; -; eie 1 [h:2 in[0,1] |]
            H A 3 eie=1
              3; -; eie 1
            J A pA
              4; A{0:[0,1]} S{} W{}; eie 2 []
            H A 4 eie=2
              4; -; eie 2
        "#]],
    );
}

#[test]
fn endpoints_serve_the_source_topics_of_each_role_as_far_as_they_reach() {
    check(
        "config streams.num.standby.replicas=1
         topology 0: source=wide,narrow sink=rep changelog=cl 1: repartition=rep
         topic wide 3
         topic narrow 1
         J A pA endpoint=h:1
         made
         H A 2
         J B pB endpoint=h:2
         H A 3 own
         H B 4
         H B 4",
        expect![[r#"
            J A pA endpoint=h:1
              2; A{} S{} W{}; st[3 "Internal topics are missing: cl, rep"]; eie 0 [h:1  |]
            made
            H A 2
              3; A{0:[0,1,2] 1:[0,1,2]} S{} W{}; eie 1 [h:1 narrow[0] rep[0,1,2] wide[0,1,2] |]
            J B pB endpoint=h:2
              4; A{} S{0:[0,1]} W{}; eie 2 [h:1 narrow[0] rep[0,1,2] wide[0,1,2] |, h:2  | narrow[0] wide[0,1]]
            H A 3 own
              4; A{0:[0,1] 1:[0]} S{0:[2]} W{}; eie 3 [h:1 narrow[0] rep[0] wide[0,1] | wide[2], h:2  | narrow[0] wide[0,1]]
            H B 4
              4; A{0:[2] 1:[1,2]} S{0:[0,1]} W{}; eie 4 [h:1 narrow[0] rep[0] wide[0,1] | wide[2], h:2 rep[1,2] wide[2] | narrow[0] wide[0,1]]
            H B 4
              4; -; eie 4 [h:1 narrow[0] rep[0] wide[0,1] | wide[2], h:2 rep[1,2] wide[2] | narrow[0] wide[0,1]]
        "#]],
    );
}

#[test]
fn the_end_of_an_endpoint_is_told_after_a_restart_too() {
    check(
        "topic in 2
         J A pA endpoint=h:1
         J B pB
         restart
         L A
         H B 3 eie=0",
        expect![[r#"
            J A pA endpoint=h:1
              2; A{0:[0,1]} S{} W{}; eie 0 [h:1 in[0,1] |]
            J B pB
              3; A{} S{} W{}; eie 0 [h:1 in[0,1] |]
            restart
            L A
              -1; -
            H B 3 eie=0
              4; A{0:[0,1]} S{} W{}; eie 1 []
        "#]],
    );
}

#[test]
fn the_first_member_learns_of_its_own_endpoint_at_whatever_epoch_it_asks() {
    check(
        "topic in 2
         J A pA endpoint=h:1 eie=0
         # known to the asker, so nothing new for a member that joins a group that is there
         J B pB eie=0",
        expect![[r#"
            J A pA endpoint=h:1 eie=0
              2; A{0:[0,1]} S{} W{}; eie 0 [h:1 in[0,1] |]
            J B pB eie=0
              3; A{} S{} W{}
        "#]],
    );
}
