//! Who serves which partitions of which topics, for interactive queries (Kafka's `EndpointToPartitionsManager`).

use std::collections::BTreeMap;

use super::configure::ConfiguredTopology;
use super::heartbeat::plan::Plan;
use super::records::Endpoint;
use super::tasks::{AssignedTasks, SubtopologyId, TaskSet};
use crate::protocol::message;
use crate::protocol::messages::streams_group_heartbeat_response as response;
use crate::types::{Image, MemberId, TopicName};

/// One entry for each member with an endpoint, by member id; several members of a process may share an endpoint. While
/// topics are missing the entries are empty (Kafka 4.4.0 answers `UNKNOWN_SERVER_ERROR` then).
pub(super) fn entries(plan: &Plan<'_>, image: &Image) -> Vec<response::EndpointToPartitions> {
    let mut members: BTreeMap<&MemberId, (&Endpoint, Option<&AssignedTasks>)> = BTreeMap::new();
    for (member_id, metadata) in &plan.group.members {
        if let Some(endpoint) = &metadata.user_endpoint {
            let assigned = plan.group.current.get(member_id).map(|current| &current.assigned);
            members.insert(member_id, (endpoint, assigned));
        }
    }
    for former in plan.member.replaces.iter().chain([&plan.member.member_id]) {
        members.remove(former);
    }
    if let Some(endpoint) = &plan.metadata().user_endpoint {
        members.insert(&plan.member.member_id, (endpoint, Some(&plan.current().assigned)));
    }
    members.into_values().map(|(endpoint, assigned)| entry(endpoint, assigned, &plan.configured, image)).collect()
}

fn entry(
    endpoint: &Endpoint,
    assigned: Option<&AssignedTasks>,
    configured: &ConfiguredTopology,
    image: &Image,
) -> response::EndpointToPartitions {
    let (active, copies) = assigned.map_or_else(Default::default, |assigned| {
        let mut copies = assigned.standby.clone();
        copies.extend(&assigned.warmup);
        (assigned.active.to_set(), copies)
    });
    message!(response::EndpointToPartitions {
        user_endpoint: message!(response::Endpoint { host: endpoint.host.as_str().into(), port: endpoint.port }),
        active_partitions: topic_partitions(&active, configured, image),
        standby_partitions: topic_partitions(&copies, configured, image),
    })
}

/// The partitions that tasks read. A topic with fewer partitions than its subtopology has tasks takes part in the first
/// of them only.
fn topic_partitions(tasks: &TaskSet, configured: &ConfiguredTopology, image: &Image) -> Vec<response::TopicPartition> {
    let mut by_topic: BTreeMap<&TopicName, Vec<i32>> = BTreeMap::new();
    for (subtopology, partition) in tasks.iter() {
        for topic in topics_of(configured, subtopology) {
            if image.topic(topic).is_some_and(|image| partition < image.partition_count) {
                by_topic.entry(topic).or_default().push(partition);
            }
        }
    }
    let of_topic = |(topic, mut partitions): (&TopicName, Vec<i32>)| {
        partitions.sort_unstable();
        partitions.dedup();
        message!(response::TopicPartition { topic: topic.as_str().into(), partitions: partitions })
    };
    by_topic.into_iter().map(of_topic).collect()
}

fn topics_of<'a>(
    configured: &'a ConfiguredTopology,
    subtopology: &SubtopologyId,
) -> impl Iterator<Item = &'a TopicName> {
    let subtopologies = configured.subtopologies.as_ref();
    let subtopology = subtopologies.and_then(|subtopologies| subtopologies.get(subtopology));
    subtopology
        .into_iter()
        .flat_map(|subtopology| subtopology.source_topics.iter().chain(subtopology.repartition_source_topics.keys()))
}
