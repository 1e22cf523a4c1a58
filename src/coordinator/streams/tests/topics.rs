//! Topics that are missing, come, go and grow, internal ones among them, and settings that ask for an assignment.

use expect_test::expect;

use super::{Script, check, check_records};
use crate::coordinator::Input;
use crate::protocol::messages::{StreamsGroupDescribeRequest, streams_group_describe_response as describe};
use crate::protocol::{Response, StrBytes, message};

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
fn reported_offsets_bring_tasks_back_to_where_their_state_is() {
    check(
        "config streams.initial.rebalance.delay.ms=1000
         topology 0: source=in changelog=cl
         topic in 2
         topic cl 2
         J A pA offsets=0:1:100
         J B pB offsets=0:0:100
         wait 1000
         H A 1
         H B 1",
        expect![[r#"
            J A pA offsets=0:1:100
              1; A{} S{} W{}; st[5 "Assignment delayed due to the configured initial rebalance delay."]; eie 0 []
            J B pB offsets=0:0:100
              1; A{} S{} W{}; st[5 "Assignment delayed due to the configured initial rebalance delay."]; eie 0 []
            wait 1000
              initial delay ends
            H A 1
              3; A{0:[1]} S{} W{}
            H B 1
              3; A{0:[0]} S{} W{}
        "#]],
    );
}

#[test]
fn offsets_reported_in_a_heartbeat_count_for_its_own_assignment() {
    check(
        "topology 0: source=in changelog=cl
         J A pA
         J B pB
         topic in 2
         topic cl 2
         H A 2 offsets=0:1:100
         H B 3",
        expect![[r#"
            J A pA
              2; A{} S{} W{}; st[1 "Source topics in are missing."]; eie 0 []
            J B pB
              3; A{} S{} W{}; st[1 "Source topics in are missing."]; eie 0 []
            H A 2 offsets=0:1:100
              4; A{0:[1]} S{} W{}
            H B 3
              4; A{0:[0]} S{} W{}
        "#]],
    );
}

#[test]
fn a_description_shows_the_topology_as_sent_and_once_ready_with_what_was_decided() {
    let mut script = Script::new();
    let topics = |script: &mut Script| {
        let request = message!(StreamsGroupDescribeRequest { group_ids: vec!["g".into()] });
        let Response::StreamsGroupDescribe(response) = script.harness.ask(1, request, Input::StreamsGroupDescribe).0
        else {
            panic!("a description")
        };
        let show = |topic: &describe::TopicInfo| {
            let configs = topic.topic_configs.iter().map(|config| format!("{}={}", config.key, config.value));
            format!("{}/{} {}", topic.name, topic.partitions, configs.collect::<Vec<_>>().join(","))
        };
        let topology = response.groups[0].topology.clone().unwrap();
        let names = |topics: &[StrBytes]| topics.iter().map(ToString::to_string).collect::<Vec<_>>();
        let of_one = |subtopology: &describe::Subtopology| {
            let changelogs = subtopology.state_changelog_topics.iter().map(show);
            let repartitions = subtopology.repartition_source_topics.iter().map(show);
            format!(
                "{} reads {:?} {:?} writes {:?} keeps {:?}",
                subtopology.subtopology_id,
                names(&subtopology.source_topics),
                repartitions.collect::<Vec<_>>(),
                names(&subtopology.repartition_sink_topics),
                changelogs.collect::<Vec<_>>()
            )
        };
        topology.subtopologies.unwrap().iter().map(of_one).collect::<Vec<_>>().join("\n")
    };
    script.command("topic b 3");
    script.command("topic a 2");
    script.command("topology 0: source=b,a sink=rep 1: repartition=rep changelog=y,x");
    script.command("J A pA");
    expect![[r#"
        0 reads ["b", "a"] [] writes ["rep"] keeps []
        1 reads [] ["rep/0 "] writes [] keeps ["y/0 ", "x/0 "]"#]]
    .assert_eq(&topics(&mut script));
    script.command("made");
    script.command("H A 2");
    let ready = topics(&mut script);
    expect![[r#"
        0 reads ["a", "b"] [] writes ["rep"] keeps []
        1 reads [] ["rep/3 "] writes [] keeps ["x/3 ", "y/3 "]"#]]
    .assert_eq(&ready);
    script.command("restart");
    assert_eq!(topics(&mut script), ready);
}
