//! Topologies against topics: partition counts, problems, and what is to be created.

use std::fmt::Write as _;

use super::testing::{image, topology};
use super::*;

fn configured(text: &str, topics: &[(&str, i32)]) -> ConfiguredTopology {
    configure(&topology(text), &image(topics)).unwrap()
}

fn problem(text: &str, topics: &[(&str, i32)]) -> (Status, String) {
    let configured = configured(text, topics);
    assert!(!configured.is_ready());
    let problem = configured.problem.unwrap();
    (problem.status, problem.detail)
}

fn refused(text: &str, topics: &[(&str, i32)]) -> (ErrorCode, String) {
    let error = configure(&topology(text), &image(topics)).unwrap_err();
    (error.code, error.message.unwrap())
}

/// Name and partition count of each topic to create.
fn missing(configured: &ConfiguredTopology) -> Vec<(&str, i32)> {
    configured.missing_internal.iter().map(|topic| (topic.name.as_str(), topic.partition_count)).collect()
}

fn task_counts(configured: &ConfiguredTopology) -> Vec<(&str, i32)> {
    let subtopologies = configured.subtopologies.iter().flatten();
    subtopologies.map(|(id, subtopology)| (&**id, subtopology.task_count)).collect()
}

#[test]
fn a_word_count_is_ready_once_its_internal_topics_exist() {
    let text = "0: lines >words
                1: <words #counts";
    let before = configured(text, &[("lines", 3)]);
    assert!(!before.is_ready());
    assert_eq!(missing(&before), [("counts", 3), ("words", 3)]);
    assert_eq!(task_counts(&before), [("0", 3), ("1", 3)]);

    let after = configured(text, &[("lines", 3), ("words", 3), ("counts", 3)]);
    assert!(after.is_ready());
    assert_eq!(after.missing_internal, []);
    assert_eq!((after.task_count("1"), after.task_count("2")), (Some(3), None));
    assert_ne!(after.metadata_hash, before.metadata_hash);
    let [split, count] = ["0", "1"].map(|id| after.subtopologies.as_ref().unwrap().get(id).unwrap().clone());
    assert!(!split.is_stateful && count.is_stateful);
    assert_eq!(split.source_topics, ["lines".into()].into());
    assert_eq!(split.repartition_sink_topics, ["words".into()].into());
    assert_eq!(count.repartition_source_topics.keys().map(TopicName::as_str).collect::<Vec<_>>(), ["words"]);
    assert_eq!(count.changelog_topics.keys().map(TopicName::as_str).collect::<Vec<_>>(), ["counts"]);
}

#[test]
fn an_internal_topic_is_created_with_what_the_client_asked_for() {
    let mut with_configs = topology("0: in #store");
    let changelog = &mut with_configs.subtopologies[0].state_changelog_topics[0];
    changelog.replication_factor = 2;
    changelog.topic_configs = vec![("cleanup.policy".into(), "compact".into())];
    let configured = configure(&with_configs, &image(&[("in", 4)])).unwrap();
    assert_eq!(
        configured.missing_internal,
        [InternalTopic {
            name: "store".into(),
            partition_count: 4,
            replication_factor: 2,
            configs: [("cleanup.policy".into(), "compact".into())].into(),
        }]
    );
}

#[test]
fn a_topology_without_subtopologies_is_ready_and_has_no_tasks() {
    let configured = configured("", &[]);
    assert!(configured.is_ready());
    assert_eq!((task_counts(&configured), configured.metadata_hash), (Vec::new(), 0));
}

#[test]
fn missing_source_topics_are_named_three_at_most() {
    let status = Status::MissingSourceTopics;
    assert_eq!(problem("0: a b", &[("b", 1)]), (status, "Source topics a are missing.".into()));
    assert_eq!(problem("0: c b\n1: a", &[]), (status, "Source topics a, b, c are missing.".into()));
    assert_eq!(
        problem("0: e d a b\n1: a c", &[]),
        (status, "Source topics a, b, c and 2 additional topics are missing.".into())
    );
    let configured = configured("0: a #store", &[]);
    assert_eq!((configured.subtopologies, configured.missing_internal), (None, Vec::new()));
}

#[test]
fn missing_internal_topics_are_named_three_at_most() {
    let status = Status::MissingInternalTopics;
    assert_eq!(problem("0: in #a", &[("in", 1)]), (status, "Internal topics are missing: a".into()));
    assert_eq!(
        problem("0: in #e #d #c >b\n1: <b #f", &[("in", 1)]),
        (status, "Internal topics are missing: b, c, d and 2 additional topics".into())
    );
}

#[test]
fn an_internal_topic_with_the_wrong_partition_count_is_named() {
    let status = Status::IncorrectlyPartitionedTopics;
    assert_eq!(
        problem("0: in #store", &[("in", 3), ("store", 2)]),
        (status, "Existing topic store has different number of partitions: expected 3, found 2".into())
    );
    // A count that the topology fixes is expected even if the topic that exists fits those it is joined with.
    assert_eq!(
        problem("0: in >r\n1: <r=4 users [r,users]", &[("in", 3), ("users", 3), ("r", 3)]),
        (status, "Existing topic r has different number of partitions: expected 4, found 3".into())
    );
    let configured = configured("0: in #store #other", &[("in", 3), ("store", 2)]);
    assert_eq!((configured.subtopologies, configured.missing_internal), (None, Vec::new()));
}

#[test]
fn a_repartition_topic_is_as_wide_as_the_widest_input_of_its_writer() {
    let configured = configured(
        "0: narrow wide >r
         1: <r >s #t
         2: <s other",
        &[("narrow", 2), ("wide", 5), ("other", 7)],
    );
    assert_eq!(missing(&configured), [("r", 5), ("s", 5), ("t", 5)]);
    assert_eq!(task_counts(&configured), [("0", 5), ("1", 5), ("2", 7)]);
}

#[test]
fn a_fixed_repartition_count_stands_and_spreads() {
    let configured = configured(
        "0: in >r
         1: <r=8 >s
         2: <s",
        &[("in", 2)],
    );
    assert_eq!(missing(&configured), [("r", 8), ("s", 8)]);
    assert_eq!(task_counts(&configured), [("0", 2), ("1", 8), ("2", 8)]);
}

#[test]
fn a_subtopology_waits_for_all_its_inputs_in_whatever_order_they_become_known() {
    // Kafka 4.4.0 decides 2 for `joined` in the first of these and 6 in the second.
    let first = configured(
        "0: small <late >joined
         1: big >late
         2: <joined",
        &[("small", 2), ("big", 6)],
    );
    let second = configured(
        "0: big >late
         1: small <late >joined
         2: <joined",
        &[("small", 2), ("big", 6)],
    );
    assert_eq!(missing(&first), [("joined", 6), ("late", 6)]);
    assert_eq!(missing(&second), [("joined", 6), ("late", 6)]);
}

#[test]
fn a_loop_is_broken_where_an_input_from_outside_is_known() {
    let looped = configured(
        "0: <b >a
         1: in <a >b",
        &[("in", 4)],
    );
    assert_eq!(missing(&looped), [("a", 4), ("b", 4)]);
    assert_eq!(task_counts(&looped), [("0", 4), ("1", 4)]);

    let own = configured("0: in <again >again", &[("in", 3)]);
    assert_eq!(missing(&own), [("again", 3)]);
}

#[test]
fn a_loop_without_an_input_from_outside_is_refused() {
    let text = "Failed to compute number of partitions for all repartition topics. There may be loops in the \
                topology that cannot be resolved.";
    assert_eq!(refused("0: <b >a\n1: <a >b", &[]), (ErrorCode::StreamsInvalidTopology, text.into()));
}

#[test]
fn a_repartition_topic_that_nobody_writes_is_refused() {
    let text = "Failed to compute number of partitions for all repartition topics, because a repartition source topic \
                is never used as a sink topic.";
    assert_eq!(refused("0: <r", &[]), (ErrorCode::StreamsInvalidTopology, text.into()));
    assert_eq!(refused("0: in <r >s\n1: <s", &[("in", 1)]), (ErrorCode::StreamsInvalidTopology, text.into()));
}

#[test]
fn a_subtopology_that_reads_nothing_is_refused() {
    let text = "No source topics found for subtopology 1";
    assert_eq!(refused("0: in\n1: #store", &[("in", 1)]), (ErrorCode::StreamsInvalidTopology, text.into()));
}

#[test]
fn missing_sources_are_told_before_anything_else_is_looked_at() {
    assert_eq!(problem("0: in <r", &[]).0, Status::MissingSourceTopics);
    assert_eq!(problem("0: a b in [a,b]", &[("a", 1), ("b", 2)]).0, Status::MissingSourceTopics);
}

#[test]
fn joined_topics_from_outside_must_have_equal_counts() {
    assert_eq!(
        problem("0: b a [a,b]", &[("a", 2), ("b", 3)]),
        (
            Status::IncorrectlyPartitionedTopics,
            "Following topics do not have the same number of partitions: [{a=2, b=3}]".into()
        )
    );
    assert!(configured("0: b a [a,b]", &[("a", 3), ("b", 3)]).is_ready());
    assert!(configured("0: b a", &[("a", 2), ("b", 3)]).is_ready());
}

#[test]
fn a_joined_repartition_topic_follows_the_topic_from_outside() {
    let configured = configured(
        "0: in >r
         1: <r users [r,users] #store",
        &[("in", 2), ("users", 6)],
    );
    assert_eq!(missing(&configured), [("r", 6), ("store", 6)]);
    assert_eq!(task_counts(&configured), [("0", 2), ("1", 6)]);
}

#[test]
fn a_joined_repartition_topic_of_fixed_count_cannot_follow() {
    assert_eq!(
        problem("0: in >r\n1: <r=3 users [r,users]", &[("in", 2), ("users", 6)]),
        (
            Status::IncorrectlyPartitionedTopics,
            "Number of partitions [3] of repartition topic [r] doesn't match number of partitions [6] of the source topic."
                .into()
        )
    );
}

#[test]
fn joined_repartition_topics_take_the_widest_or_the_fixed_count() {
    let topics = [("narrow", 2), ("wide", 6)];
    let widest = configured("0: narrow >r\n1: wide >s\n2: <r <s [r,s]", &topics);
    assert_eq!(missing(&widest), [("r", 6), ("s", 6)]);

    let fixed = configured("0: narrow >r\n1: wide >s\n2: <r=4 <s [r,s]", &topics);
    assert_eq!(missing(&fixed), [("r", 4), ("s", 4)]);

    assert_eq!(
        problem("0: narrow >r\n1: wide >s >t\n2: <r=4 <s=5 <t [r,s,t]", &topics),
        (
            Status::IncorrectlyPartitionedTopics,
            "Following topics do not have the same number of partitions: [{r=4, s=5, t=6}]".into()
        )
    );
}

#[test]
fn a_fixed_count_elsewhere_in_the_topology_does_not_bind_a_join() {
    // Kafka 4.4.0 takes the 9 of `far` for r and s.
    let configured = configured(
        "0: narrow >r
         1: wide >s
         2: <r <s [r,s]
         3: <far=9",
        &[("narrow", 2), ("wide", 6)],
    );
    assert_eq!(missing(&configured), [("far", 9), ("r", 6), ("s", 6)]);
}

#[test]
fn a_join_of_topics_without_partitions_is_refused() {
    // Only a topic that exists with no partitions could bring this about.
    assert_eq!(
        refused("0: in >r >s\n1: <r <s [r,s]", &[("in", 1), ("r", 0), ("s", 0)]),
        (
            ErrorCode::StreamsInvalidTopology,
            "All topics in the copartition group had undefined partition number: [r, s]".into()
        )
    );
}

#[test]
fn more_tasks_than_a_turn_can_place_are_refused() {
    let text = "The topology has 2147483648 tasks, more than the 200000 that are supported.";
    assert_eq!(refused("0: in >r\n1: <r=2147483647", &[("in", 1)]), (ErrorCode::StreamsInvalidTopology, text.into()));
}

/// Each subtopology waits for the next one; a sweep over all of them would settle one at a time.
#[test]
fn ten_thousand_chained_subtopologies_are_no_burden() {
    const LENGTH: usize = 10_000;
    let mut text = String::new();
    for index in 0..LENGTH {
        writeln!(text, "{index:05}: <r{:05} >r{index:05}", index + 1).unwrap();
    }
    writeln!(text, "{LENGTH:05}: in >r{LENGTH:05}").unwrap();
    let configured = configured(&text, &[("in", 2)]);
    assert_eq!(configured.missing_internal.len(), LENGTH);
    assert!(configured.missing_internal.iter().all(|topic| topic.partition_count == 2));
}

#[test]
fn the_order_of_the_stored_subtopologies_makes_no_difference() {
    // A loop, which is broken at the lower id.
    let straight = topology("0: big <a >b\n1: small <b >a");
    let mut turned = straight.clone();
    turned.subtopologies.reverse();
    let image = image(&[("big", 6), ("small", 2)]);
    let configured = configure(&turned, &image).unwrap();
    assert_eq!(missing(&configured), [("a", 6), ("b", 6)]);
    assert_eq!(configure(&straight, &image), Ok(configured));
}
