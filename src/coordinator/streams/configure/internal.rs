//! Subtopologies with everything decided, and their internal topics against those that exist (Kafka's `ChangelogTopics`
//! and the end of `InternalTopicManager`).

use std::collections::BTreeMap;

use super::counts::Counts;
use super::{ConfiguredSubtopology, TopicProblem, Wrong, incorrectly_partitioned, invalid, summary};
use crate::coordinator::InternalTopic;
use crate::coordinator::streams::records::{Subtopology, TopicInfo};
use crate::coordinator::streams::status::Status;
use crate::coordinator::streams::tasks::SubtopologyId;
use crate::types::{Image, TopicName};

/// Puts the decided counts into each subtopology.
pub(super) fn configure_all(
    subtopologies: &[&Subtopology],
    counts: &Counts<'_>,
) -> Result<BTreeMap<SubtopologyId, ConfiguredSubtopology>, Wrong> {
    let each = subtopologies.iter().map(|subtopology| {
        let id = SubtopologyId::clone(&subtopology.subtopology_id);
        configure_one(subtopology, counts).map(|configured| (id, configured))
    });
    each.collect()
}

fn configure_one(subtopology: &Subtopology, counts: &Counts<'_>) -> Result<ConfiguredSubtopology, Wrong> {
    let repartition_sources = subtopology.repartition_source_topics.iter().map(|info| &info.name);
    let inputs = subtopology.source_topics.iter().chain(repartition_sources);
    let Some(widest) = inputs.filter_map(|topic| counts.of(topic)).max() else {
        let id = &subtopology.subtopology_id;
        return Err(invalid(format!("No source topics found for subtopology {id}")));
    };
    let repartition = |info: &TopicInfo| {
        let decided = counts.decided(&info.name).unwrap_or_default();
        let count = if info.partitions == 0 { decided } else { info.partitions };
        (info.name.clone(), internal_topic(info, count))
    };
    let changelog = |info: &TopicInfo| (info.name.clone(), internal_topic(info, widest));
    Ok(ConfiguredSubtopology {
        task_count: widest,
        is_stateful: !subtopology.state_changelog_topics.is_empty(),
        source_topics: subtopology.source_topics.iter().cloned().collect(),
        repartition_source_topics: subtopology.repartition_source_topics.iter().map(repartition).collect(),
        repartition_sink_topics: subtopology.repartition_sink_topics.iter().cloned().collect(),
        changelog_topics: subtopology.state_changelog_topics.iter().map(changelog).collect(),
    })
}

fn internal_topic(info: &TopicInfo, partition_count: i32) -> InternalTopic {
    InternalTopic {
        name: info.name.clone(),
        partition_count,
        replication_factor: info.replication_factor,
        configs: info.topic_configs.iter().cloned().collect(),
    }
}

/// The internal topics to create, by name; or the problem with one that exists.
pub(super) fn missing(
    subtopologies: &BTreeMap<SubtopologyId, ConfiguredSubtopology>,
    image: &Image,
) -> Result<Vec<InternalTopic>, TopicProblem> {
    let all = subtopologies.values().flat_map(|subtopology| {
        subtopology.repartition_source_topics.values().chain(subtopology.changelog_topics.values())
    });
    let expected: BTreeMap<&TopicName, &InternalTopic> = all.map(|topic| (&topic.name, topic)).collect();
    let mut missing = Vec::new();
    for (name, topic) in expected {
        let Some(existing) = image.topic(name) else {
            missing.push(topic.clone());
            continue;
        };
        if existing.partition_count != topic.partition_count {
            return Err(incorrectly_partitioned(format!(
                "Existing topic {name} has different number of partitions: expected {}, found {}",
                topic.partition_count, existing.partition_count
            )));
        }
    }
    Ok(missing)
}

/// The problem that internal topics are missing, if they are.
pub(super) fn missing_problem(missing: &[InternalTopic]) -> Option<TopicProblem> {
    if missing.is_empty() {
        return None;
    }
    let detail = format!("Internal topics are missing: {}", summary(missing.iter().map(|topic| &topic.name)));
    Some(TopicProblem { status: Status::MissingInternalTopics, detail })
}
