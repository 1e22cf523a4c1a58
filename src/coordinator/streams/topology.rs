//! The topology as a joining member sends it: what can be told from the message alone (KIP-1071; Kafka's
//! `StreamsTopology` and the request checks before it). What depends on topics is in [`super::configure`].

use std::collections::BTreeSet;

use super::records::{CopartitionGroup, StreamsGroupTopologyValue, Subtopology, TopicInfo};
use crate::coordinator::error::GroupError;
use crate::protocol::messages::streams_group_heartbeat_request as wire;
use crate::types::{ErrorCode, TopicName};

/// Whether a subtopology names its sources by pattern, which Kafka 4.4 does not support.
pub(crate) fn has_source_regex(topology: &wire::Topology) -> bool {
    topology.subtopologies.iter().any(|subtopology| !subtopology.source_topic_regex.is_empty())
}

/// The first changelog topic with a partition count: those counts are the coordinator's to decide.
pub(crate) fn changelog_with_partitions(topology: &wire::Topology) -> Option<(String, i32)> {
    let mut changelogs = topology.subtopologies.iter().flat_map(|subtopology| &subtopology.state_changelog_topics);
    let counted = changelogs.find(|topic| topic.partitions != 0)?;
    Some((counted.name.to_string(), counted.partitions))
}

/// Every topic name in it, with repetitions, for checks of names and rights.
pub(crate) fn named_topics(topology: &wire::Topology) -> impl Iterator<Item = &str> {
    topology.subtopologies.iter().flat_map(|subtopology| {
        let infos = subtopology.repartition_source_topics.iter().chain(&subtopology.state_changelog_topics);
        let names = subtopology.source_topics.iter().chain(&subtopology.repartition_sink_topics);
        names.map(|name| &**name).chain(infos.map(|info| &*info.name))
    })
}

/// The topology in the form it is stored in, subtopologies by id: their order carries no meaning, and so two
/// topologies are the same if and only if these are equal.
///
/// Kafka 4.4.0 answers `UNKNOWN_SERVER_ERROR` to most of what is refused here, which is fatal and says nothing.
pub(crate) fn from_wire(topology: &wire::Topology) -> Result<StreamsGroupTopologyValue, GroupError> {
    if topology.epoch < 0 {
        let text = format!("Topology epoch must be non-negative, but it is {}.", topology.epoch);
        return Err(GroupError::new(ErrorCode::InvalidRequest, text));
    }
    let mut ids = BTreeSet::new();
    for subtopology in &topology.subtopologies {
        let id = &*subtopology.subtopology_id;
        if !ids.insert(id) {
            return Err(invalid(format!("Subtopology {id} is defined more than once.")));
        }
        check_topic_infos(id, &subtopology.repartition_source_topics)?;
        check_topic_infos(id, &subtopology.state_changelog_topics)?;
        check_copartition_groups(subtopology)?;
    }
    let mut subtopologies: Vec<Subtopology> = topology.subtopologies.iter().map(stored_subtopology).collect();
    subtopologies.sort_by(|left, right| left.subtopology_id.cmp(&right.subtopology_id));
    Ok(StreamsGroupTopologyValue { epoch: topology.epoch, subtopologies })
}

/// The topics whose existence and partition counts matter: sources, repartition sources and changelogs.
pub(crate) fn required_topics(topology: &StreamsGroupTopologyValue) -> BTreeSet<TopicName> {
    let names = topology.subtopologies.iter().flat_map(|subtopology| {
        let infos = subtopology.repartition_source_topics.iter().chain(&subtopology.state_changelog_topics);
        subtopology.source_topics.iter().chain(infos.map(|info| &info.name))
    });
    names.cloned().collect()
}

fn invalid(text: String) -> GroupError {
    GroupError::new(ErrorCode::StreamsInvalidTopology, text)
}

fn check_topic_infos(subtopology: &str, topics: &[wire::TopicInfo]) -> Result<(), GroupError> {
    let mut names = BTreeSet::new();
    for topic in topics {
        let name = &*topic.name;
        if !names.insert(name) {
            return Err(invalid(format!("Topic {name} is listed more than once in subtopology {subtopology}.")));
        }
        if topic.partitions < 0 {
            let count = topic.partitions;
            return Err(invalid(format!(
                "Number of partitions of topic {name} must not be negative, but it is {count}."
            )));
        }
    }
    Ok(())
}

/// The groups hold indexes into the subtopology's own lists.
fn check_copartition_groups(subtopology: &wire::Subtopology) -> Result<(), GroupError> {
    for group in &subtopology.copartition_groups {
        let lists = [
            ("source topics", &group.source_topics, subtopology.source_topics.len()),
            ("source topic regexes", &group.source_topic_regex, subtopology.source_topic_regex.len()),
            (
                "repartition source topics",
                &group.repartition_source_topics,
                subtopology.repartition_source_topics.len(),
            ),
        ];
        for (what, indexes, count) in lists {
            let in_range = |index: &i16| usize::try_from(*index).is_ok_and(|index| index < count);
            if let Some(index) = indexes.iter().find(|index| !in_range(index)) {
                let id = &subtopology.subtopology_id;
                let text = format!(
                    "A copartition group of subtopology {id} refers to index {index} of its {what}, of which there are {count}."
                );
                return Err(invalid(text));
            }
        }
    }
    Ok(())
}

fn stored_subtopology(subtopology: &wire::Subtopology) -> Subtopology {
    let group = |group: &wire::CopartitionGroup| CopartitionGroup {
        source_topics: group.source_topics.clone(),
        source_topic_regex: group.source_topic_regex.clone(),
        repartition_source_topics: group.repartition_source_topics.clone(),
    };
    Subtopology {
        subtopology_id: (&*subtopology.subtopology_id).into(),
        source_topics: subtopology.source_topics.iter().map(|name| TopicName::from(&**name)).collect(),
        source_topic_regex: subtopology.source_topic_regex.iter().map(ToString::to_string).collect(),
        state_changelog_topics: subtopology.state_changelog_topics.iter().map(stored_topic).collect(),
        repartition_sink_topics: subtopology
            .repartition_sink_topics
            .iter()
            .map(|name| TopicName::from(&**name))
            .collect(),
        repartition_source_topics: subtopology.repartition_source_topics.iter().map(stored_topic).collect(),
        copartition_groups: subtopology.copartition_groups.iter().map(group).collect(),
    }
}

fn stored_topic(topic: &wire::TopicInfo) -> TopicInfo {
    TopicInfo {
        name: TopicName::from(&*topic.name),
        partitions: topic.partitions,
        replication_factor: topic.replication_factor,
        topic_configs: topic
            .topic_configs
            .iter()
            .map(|config| (config.key.to_string(), config.value.to_string()))
            .collect(),
    }
}

#[cfg(test)]
mod tests;
