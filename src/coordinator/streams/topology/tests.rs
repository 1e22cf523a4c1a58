use super::*;
use crate::protocol::{StrBytes, message};

fn names(names: &[&str]) -> Vec<StrBytes> {
    names.iter().map(|name| StrBytes::from(*name)).collect()
}

fn topic(name: &str, partitions: i32) -> wire::TopicInfo {
    message!(wire::TopicInfo { name: StrBytes::from(name), partitions: partitions })
}

fn topology(epoch: i32, subtopologies: Vec<wire::Subtopology>) -> wire::Topology {
    message!(wire::Topology { epoch: epoch, subtopologies: subtopologies })
}

fn word_count() -> wire::Topology {
    let config = message!(wire::KeyValue { key: StrBytes::from("cleanup.policy"), value: StrBytes::from("compact") });
    let count_changelog = message!(wire::TopicInfo {
        name: StrBytes::from("app-count-changelog"),
        replication_factor: 1,
        topic_configs: vec![config],
    });
    let split = message!(wire::Subtopology {
        subtopology_id: StrBytes::from("0"),
        source_topics: names(&["lines"]),
        repartition_sink_topics: names(&["app-words-repartition"]),
    });
    let count = message!(wire::Subtopology {
        subtopology_id: StrBytes::from("1"),
        repartition_source_topics: vec![topic("app-words-repartition", 0)],
        state_changelog_topics: vec![count_changelog],
    });
    topology(3, vec![split, count])
}

fn refused(topology: &wire::Topology) -> (ErrorCode, String) {
    let error = from_wire(topology).unwrap_err();
    (error.code, error.message.unwrap_or_default())
}

#[test]
fn a_topology_is_stored_with_all_the_member_said() {
    let stored = from_wire(&word_count()).unwrap();
    assert_eq!(stored.epoch, 3);
    let [split, count] = &stored.subtopologies[..] else { panic!("two subtopologies") };
    assert_eq!(&*split.subtopology_id, "0");
    assert_eq!(split.source_topics, ["lines".into()]);
    assert_eq!(split.repartition_sink_topics, ["app-words-repartition".into()]);
    assert_eq!(
        count.repartition_source_topics,
        [TopicInfo { name: "app-words-repartition".into(), ..TopicInfo::default() }]
    );
    assert_eq!(
        count.state_changelog_topics,
        [TopicInfo {
            name: "app-count-changelog".into(),
            partitions: 0,
            replication_factor: 1,
            topic_configs: vec![("cleanup.policy".into(), "compact".into())],
        }]
    );
}

#[test]
fn the_order_of_subtopologies_carries_no_meaning_but_everything_else_does() {
    let mut turned = word_count();
    turned.subtopologies.reverse();
    assert_eq!(from_wire(&turned).unwrap(), from_wire(&word_count()).unwrap());

    turned.subtopologies[0].state_changelog_topics[0].replication_factor = 3;
    assert_ne!(from_wire(&turned).unwrap(), from_wire(&word_count()).unwrap());
}

#[test]
fn a_topology_without_subtopologies_is_legal() {
    assert_eq!(from_wire(&topology(0, Vec::new())).unwrap(), StreamsGroupTopologyValue::default());
}

#[test]
fn a_negative_topology_epoch_is_an_invalid_request() {
    assert_eq!(
        refused(&topology(-1, Vec::new())),
        (ErrorCode::InvalidRequest, "Topology epoch must be non-negative, but it is -1.".into())
    );
}

#[test]
fn two_subtopologies_of_one_id_are_refused_with_a_reason() {
    let mut twice = word_count();
    twice.subtopologies[1].subtopology_id = StrBytes::from("0");
    assert_eq!(refused(&twice), (ErrorCode::StreamsInvalidTopology, "Subtopology 0 is defined more than once.".into()));
}

#[test]
fn an_internal_topic_listed_twice_in_a_subtopology_is_refused_with_a_reason() {
    let mut twice = word_count();
    twice.subtopologies[1].repartition_source_topics.push(topic("app-words-repartition", 4));
    let text = "Topic app-words-repartition is listed more than once in subtopology 1.";
    assert_eq!(refused(&twice), (ErrorCode::StreamsInvalidTopology, text.into()));

    let mut twice = word_count();
    twice.subtopologies[1].state_changelog_topics.push(topic("app-count-changelog", 0));
    let text = "Topic app-count-changelog is listed more than once in subtopology 1.";
    assert_eq!(refused(&twice), (ErrorCode::StreamsInvalidTopology, text.into()));
}

#[test]
fn a_repartition_topic_cannot_have_less_than_no_partitions() {
    let mut negative = word_count();
    negative.subtopologies[1].repartition_source_topics[0].partitions = -2;
    let text = "Number of partitions of topic app-words-repartition must not be negative, but it is -2.";
    assert_eq!(refused(&negative), (ErrorCode::StreamsInvalidTopology, text.into()));
}

#[test]
fn a_copartition_group_may_only_refer_to_topics_of_its_own_subtopology() {
    let group = |source_topics: &[i16], source_topic_regex: &[i16], repartition_source_topics: &[i16]| {
        let mut joined = word_count();
        joined.subtopologies[1].source_topics = names(&["users"]);
        joined.subtopologies[1].copartition_groups = vec![message!(wire::CopartitionGroup {
            source_topics: source_topics.to_vec(),
            source_topic_regex: source_topic_regex.to_vec(),
            repartition_source_topics: repartition_source_topics.to_vec(),
        })];
        joined
    };
    let stored = from_wire(&group(&[0], &[], &[0])).unwrap();
    assert_eq!(
        stored.subtopologies[1].copartition_groups,
        [CopartitionGroup { source_topics: vec![0], source_topic_regex: vec![], repartition_source_topics: vec![0] }]
    );

    let text = |index: i16, what: &str, count: usize| {
        format!(
            "A copartition group of subtopology 1 refers to index {index} of its {what}, of which there are {count}."
        )
    };
    let invalid = ErrorCode::StreamsInvalidTopology;
    assert_eq!(refused(&group(&[0, 1], &[], &[])), (invalid, text(1, "source topics", 1)));
    assert_eq!(refused(&group(&[-1], &[], &[])), (invalid, text(-1, "source topics", 1)));
    assert_eq!(refused(&group(&[0], &[0], &[])), (invalid, text(0, "source topic regexes", 0)));
    assert_eq!(refused(&group(&[], &[], &[i16::MAX])), (invalid, text(i16::MAX, "repartition source topics", 1)));
}

#[test]
fn source_patterns_and_counted_changelogs_are_found() {
    let mut topology = word_count();
    assert!(!has_source_regex(&topology));
    assert_eq!(changelog_with_partitions(&topology), None);

    topology.subtopologies[1].source_topic_regex = names(&["lines.*"]);
    topology.subtopologies[1].state_changelog_topics[0].partitions = 5;
    assert!(has_source_regex(&topology));
    assert_eq!(changelog_with_partitions(&topology), Some(("app-count-changelog".into(), 5)));
}

#[test]
fn sinks_are_named_but_only_what_is_read_or_kept_is_required() {
    let mut topology = word_count();
    topology.subtopologies[0].repartition_sink_topics = names(&["app-sink-only"]);
    let named: BTreeSet<&str> = named_topics(&topology).collect();
    assert_eq!(named, ["app-count-changelog", "app-sink-only", "app-words-repartition", "lines"].into());

    let required = required_topics(&from_wire(&topology).unwrap());
    assert_eq!(required, ["app-count-changelog", "app-words-repartition", "lines"].map(TopicName::from).into());
}
