//! Initial delay, assignment interval, sessions and rebalance timeouts.

use expect_test::expect;

use super::{Script, check, check_records};
use crate::config::Config;

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
