//! What members see beyond the traces: lost answers, shutdown, topics that come and go, settings, timers, static members.

use expect_test::expect;

use super::{Script, check, check_records};
use crate::config::Config;
use crate::coordinator::{GroupKind, Input, Record, TimerKey};
use crate::types::{GroupId, MemberId};

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
fn internal_topics_are_asked_for_once_and_a_failure_is_told_for_two_heartbeat_intervals() {
    check_records(
        "config streams.heartbeat.interval.ms=5000
         config streams.session.timeout.ms=60000
         topology 0: source=in sink=app-rep changelog=app-a,app-b,app-c 1: repartition=app-rep
         topic in 3
         J A pA
         # under way
         H A 2
         refused no space left
         H A 2
         wait 9999
         H A 2
         wait 1
         H A 2
         made
         H A 2",
        expect![[r#"
            J A pA
              2; A{} S{} W{}; st[3 "Internal topics are missing: app-a, app-b, app-c and 1 additional topics"]; eie 0 []
              + 19(A) process pA
              + 23 epoch 0
              + 17 e2 validated -1
              + 21(A) a{}
              + 20 e2
              + 22(A) e2 prev 0 STABLE a{}
              ! create app-a/3 app-b/3 app-c/3 app-rep/3
            H A 2
              2; -; st[3 "Internal topics are missing: app-a, app-b, app-c and 1 additional topics"]
              ! create app-a/3 app-b/3 app-c/3 app-rep/3
            refused no space left
            H A 2
              2; -; st[3 "Internal topics are missing: app-a, app-b, app-c and 1 additional topics; Creation failed: app-a (no space left), app-b (no space left), app-c (no space left) and 1 more."]
            wait 9999
            H A 2
              2; -; st[3 "Internal topics are missing: app-a, app-b, app-c and 1 additional topics; Creation failed: app-a (no space left), app-b (no space left), app-c (no space left) and 1 more."]
            wait 1
            H A 2
              2; -; st[3 "Internal topics are missing: app-a, app-b, app-c and 1 additional topics"]
              ! create app-a/3 app-b/3 app-c/3 app-rep/3
            made
            H A 2
              3; A{0:[0,1,2] 1:[0,1,2]} S{} W{}
              + 17 e3 validated 0
              + 21(A) a{0:[0,1,2] 1:[0,1,2]}
              + 20 e3
              + 22(A) e3 prev 2 STABLE a{0:0@3 0:1@3 0:2@3 1:0@3 1:1@3 1:2@3}
        "#]],
    );
}

#[test]
fn three_failures_are_named_and_the_rest_counted() {
    check(
        "topology 0: source=in changelog=a,b,c,d,e
         topic in 1
         J A pA
         refused no
         H A 2",
        expect![[r#"
            J A pA
              2; A{} S{} W{}; st[3 "Internal topics are missing: a, b, c and 2 additional topics"]; eie 0 []
            refused no
            H A 2
              2; -; st[3 "Internal topics are missing: a, b, c and 2 additional topics; Creation failed: a (no), b (no), c (no) and 2 more."]
        "#]],
    );
}

#[test]
fn internal_topics_of_the_right_size_are_taken_and_others_left_alone() {
    check(
        "topology 0: source=in changelog=cl
         topic in 2
         topic cl 2
         J A pA
         group other
         topology 0: source=in changelog=cl3
         topic cl3 3
         J A pA",
        expect![[r#"
            J A pA
              2; A{0:[0,1]} S{} W{}; eie 0 []
            J A pA
              2; A{} S{} W{}; st[2 "Existing topic cl3 has different number of partitions: expected 2, found 3"]; eie 0 []
        "#]],
    );
}

#[test]
fn added_partitions_become_tasks_at_the_next_heartbeat() {
    check(
        "topic in 1
         J A pA
         topic in +3
         describe
         H A 2 own=0:0
         describe",
        expect![[r#"
            J A pA
              2; A{0:[0]} S{} W{}; eie 0 []
            describe
              Stable 2/2 topology 0 of 1
              A 2 of pA has a{0:[0]}, target a{0:[0]}
            H A 2 own=0:0
              3; A{0:[0,1,2]} S{} W{}
            describe
              Stable 3/3 topology 0 of 1
              A 3 of pA has a{0:[0,1,2]}, target a{0:[0,1,2]}
        "#]],
    );
}

#[test]
fn a_topic_made_again_under_its_name_is_another_topic() {
    check_records(
        "topic in 1
         J A pA
         topic in gone
         topic in 1
         H A 2
         # topics of others concern nobody here
         topic other 5
         H A 3",
        expect![[r#"
            J A pA
              2; A{0:[0]} S{} W{}; eie 0 []
              + 19(A) process pA
              + 23 epoch 0
              + 17 e2 validated 0
              + 21(A) a{0:[0]}
              + 20 e2
              + 22(A) e2 prev 0 STABLE a{0:0@2}
            H A 2
              3; -
              + 17 e3 validated 0
              + 20 e3
              + 22(A) e3 prev 2 STABLE a{0:0@2}
            H A 3
              3; -
        "#]],
    );
}

#[test]
fn more_standbys_ask_for_a_new_assignment_and_other_settings_do_not() {
    check_records(
        "topology 0: source=in changelog=cl
         topic in 2
         topic cl 2
         J A pA
         J B pB
         H A 2 own=0:0
         H B 3
         config streams.heartbeat.interval.ms=7000
         config streams.session.timeout.ms=50000
         H A 3
         config streams.num.standby.replicas=1
         H A 3
         H B 3",
        expect![[r#"
            J A pA
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
            H A 2 own=0:0
              3; A{0:[0]} S{} W{}
              + 22(A) e3 prev 2 STABLE a{0:0@2}
            H B 3
              3; A{0:[1]} S{} W{}
              + 22(B) e3 prev 3 STABLE a{0:1@3}
            H A 3
              3; -
            H A 3
              4; A{0:[0]} S{0:[1]} W{}
              + 17 e4 validated 0
              + 21(A) a{0:[0]} s{0:[1]}
              + 21(B) a{0:[1]} s{0:[0]}
              + 20 e4
              + 22(A) e4 prev 3 STABLE a{0:0@2} s{0:[1]}
            H B 3
              4; A{0:[1]} S{0:[0]} W{}
              + 22(B) e4 prev 3 STABLE a{0:1@3} s{0:[0]}
        "#]],
    );
}

#[test]
fn copartitioned_sources_of_different_sizes_get_no_tasks() {
    check(
        "topology 0: source=left,right copartition=s0,s1
         topic left 2
         topic right 3
         J A pA
         describe",
        expect![[r#"
            J A pA
              2; A{} S{} W{}; st[2 "Following topics do not have the same number of partitions: [{left=2, right=3}]"]; eie 0 []
            describe
              NotReady 2/2 topology 0 of 1
              A 2 of pA has a{}, target a{}
        "#]],
    );
}

#[test]
fn a_topology_without_subtopologies_is_stable_without_tasks() {
    check(
        "topology epoch=0
         J A pA
         describe",
        expect![[r#"
            J A pA
              2; A{} S{} W{}; eie 0 []
            describe
              Stable 2/2 topology 0 of 0
              A 2 of pA has a{}, target a{}
        "#]],
    );
}

#[test]
fn the_initial_delay_runs_each_time_an_empty_group_gets_its_first_member() {
    check(
        "config streams.initial.rebalance.delay.ms=1000
         topic in 2
         J A pA
         wait 1000
         H A 1
         L A
         wait 5000
         J B pB
         wait 999
         H B 3
         wait 1
         H B 3",
        expect![[r#"
            J A pA
              1; A{} S{} W{}; st[5 "Assignment delayed due to the configured initial rebalance delay."]; eie 0 []
            wait 1000
              initial delay ends
            H A 1
              2; A{0:[0,1]} S{} W{}
            L A
              -1; -
            wait 5000
            J B pB
              3; A{} S{} W{}; st[5 "Assignment delayed due to the configured initial rebalance delay."]; eie 0 []
            wait 999
            H B 3
              3; -; st[5 "Assignment delayed due to the configured initial rebalance delay."]
            wait 1
              initial delay ends
            H B 3
              4; A{0:[0,1]} S{} W{}
        "#]],
    );
}

#[test]
fn an_initial_delay_that_ends_in_an_empty_group_does_nothing() {
    check_records(
        "config streams.initial.rebalance.delay.ms=1000
         topic in 2
         J A pA
         L A
         wait 1000
         J B pB",
        expect![[r#"
            J A pA
              1; A{} S{} W{}; st[5 "Assignment delayed due to the configured initial rebalance delay."]; eie 0 []
              + 19(A) process pA
              + 23 epoch 0
              + 17 e2 validated 0
              + 22(A) e1 prev 0 STABLE a{}
            L A
              -1; -
              + ~22(A)
              + ~21(A)
              + ~19(A)
              + 17 e3 validated 0
              + 20 e3 at 0
            wait 1000
            J B pB
              3; A{} S{} W{}; st[5 "Assignment delayed due to the configured initial rebalance delay."]; eie 0 []
              + 19(B) process pB
              + 17 e4 validated 0
              + 22(B) e3 prev 0 STABLE a{}
        "#]],
    );
}

#[test]
fn a_restart_ends_the_initial_delay() {
    check(
        "config streams.initial.rebalance.delay.ms=1000
         topic in 2
         J A pA
         restart
         H A 1",
        expect![[r#"
            J A pA
              1; A{} S{} W{}; st[5 "Assignment delayed due to the configured initial rebalance delay."]; eie 0 []
            restart
            H A 1
              2; A{0:[0,1]} S{} W{}
        "#]],
    );
}

#[test]
fn a_restart_gives_every_member_its_full_session_again() {
    check(
        "config streams.session.timeout.ms=20000
         topic in 1
         J A pA
         wait 19000
         restart
         wait 19000
         H A 2
         wait 19000
         H A 2
         wait 20000
         describe",
        expect![[r#"
            J A pA
              2; A{0:[0]} S{} W{}; eie 0 []
            wait 19000
            restart
            wait 19000
            H A 2
              2; -
            wait 19000
            H A 2
              2; -
            wait 20000
              session of A ends
            describe
              Empty 3/3 topology 0 of 1
        "#]],
    );
}

#[test]
fn the_rebalance_timeout_stops_with_the_confirmation() {
    check(
        "topic in 2
         J A pA timeout=5000
         J B pB
         H A 2
         wait 4999
         H A 2 own=0:0
         wait 10000
         describe",
        expect![[r#"
            J A pA timeout=5000
              2; A{0:[0,1]} S{} W{}; eie 0 []
            J B pB
              3; A{} S{} W{}; eie 0 []
            H A 2
              2; A{0:[0]} S{} W{}
            wait 4999
            H A 2 own=0:0
              3; -
            wait 10000
            describe
              Reconciling 3/3 topology 0 of 1
              A 3 of pA has a{0:[0]}, target a{0:[0]}
              B 3 of pB has a{}, target a{0:[1]}
        "#]],
    );
}

#[test]
fn a_second_revocation_has_its_own_full_timeout() {
    check_records(
        "topic in 3
         J A pA timeout=5000
         J B pB
         H A 2
         wait 4000
         J C pC
         # gives up the first task and is at once asked for another
         H A 2 own=0:0,1
         wait 4999
         wait 1",
        expect![[r#"
            J A pA timeout=5000
              2; A{0:[0,1,2]} S{} W{}; eie 0 []
              + 19(A) process pA
              + 23 epoch 0
              + 17 e2 validated 0
              + 21(A) a{0:[0,1,2]}
              + 20 e2
              + 22(A) e2 prev 0 STABLE a{0:0@2 0:1@2 0:2@2}
            J B pB
              3; A{} S{} W{}; eie 0 []
              + 19(B) process pB
              + 17 e3 validated 0
              + 21(A) a{0:[0,1]}
              + 21(B) a{0:[2]}
              + 20 e3
              + 22(B) e3 prev 0 UNRELEASED a{}
            H A 2
              2; A{0:[0,1]} S{} W{}
              + 22(A) e2 prev 2 UNREVOKED a{0:0@2 0:1@2} pending a{0:2@2}
            wait 4000
            J C pC
              4; A{} S{} W{}; eie 0 []
              + 19(C) process pC
              + 17 e4 validated 0
              + 21(A) a{0:[0]}
              + 21(B) a{0:[1]}
              + 21(C) a{0:[2]}
              + 20 e4
              + 22(C) e4 prev 0 UNRELEASED a{}
            H A 2 own=0:0,1
              3; A{0:[0]} S{} W{}
              + 22(A) e3 prev 2 UNREVOKED a{0:0@2} pending a{0:1@2}
            wait 4999
            wait 1
              rebalance timeout of A
              + ~22(A)
              + ~21(A)
              + ~19(A)
              + 17 e5 validated 0
        "#]],
    );
}

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
fn version_0_carries_no_recovery_lag_and_is_told_the_rest() {
    let mut script = Script::new();
    script.command("topic in 1");
    assert_eq!(script.command("J A pA v=0"), "J A pA v=0\n  2; A{0:[0]} S{} W{}; eie 0 []\n");
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
fn the_default_settings_delay_the_first_assignment_by_three_seconds_and_later_ones_by_one() {
    Script::with(Config::default()).run(
        "topic in 2
         J A pA
         wait 2999
         H A 1
         wait 1
         H A 1
         wait 500
         J B pB
         wait 500
         H B 2",
        &expect![[r#"
            J A pA
              1; A{} S{} W{}; st[5 "Assignment delayed due to the configured initial rebalance delay."]; eie 0 []
            wait 2999
            H A 1
              1; -; st[5 "Assignment delayed due to the configured initial rebalance delay."]
            wait 1
              initial delay ends
            H A 1
              2; A{0:[0,1]} S{} W{}
            wait 500
            J B pB
              2; A{} S{} W{}; st[5 "Assignment delayed due to the configured assignment interval."]; eie 0 []
            wait 500
            H B 2
              3; -
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
fn a_group_made_again_waits_its_full_initial_delay() {
    check(
        "config streams.initial.rebalance.delay.ms=1000
         topic in 1
         J A pA
         wait 900
         L A
         delete
         J B pB
         wait 999
         H B 1
         wait 1
         H B 1",
        expect![[r#"
            J A pA
              1; A{} S{} W{}; st[5 "Assignment delayed due to the configured initial rebalance delay."]; eie 0 []
            wait 900
            L A
              -1; -
            delete
              g NONE
            J B pB
              1; A{} S{} W{}; st[5 "Assignment delayed due to the configured initial rebalance delay."]; eie 0 []
            wait 999
            H B 1
              1; -; st[5 "Assignment delayed due to the configured initial rebalance delay."]
            wait 1
              initial delay ends
            H B 1
              2; A{0:[0]} S{} W{}
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
