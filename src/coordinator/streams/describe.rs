//! A streams group as `StreamsGroupDescribe` shows it.

use super::StreamsGroup;
use super::config;
use super::configure::{ConfiguredSubtopology, ConfiguredTopology};
use super::records::{StreamsGroupMemberMetadataValue, StreamsGroupTopologyValue, Subtopology, TopicInfo};
use super::soft::{self, SoftGroup};
use super::tasks::Tasks;
use super::wire;
use crate::coordinator::InternalTopic;
use crate::machine::Env;
use crate::protocol::messages::DescribedStreamsGroup;
use crate::protocol::messages::streams_group_describe_response as response;
use crate::protocol::{StrBytes, message};
use crate::types::{MemberId, TopicName};

/// Everything but the id and what the asker may do.
pub(in crate::coordinator) fn group(
    group_id: &str,
    group: &StreamsGroup,
    soft: Option<&SoftGroup>,
    env: &Env,
) -> DescribedStreamsGroup {
    let config = config::of_group(env, group_id);
    let members = group.members.iter().map(|(member_id, metadata)| member(group, soft, member_id, metadata));
    message!(DescribedStreamsGroup {
        group_state: group.state().name().into(),
        group_epoch: group.epoch(),
        assignment_epoch: group.assignment_epoch(),
        topology: group.topology.as_ref().map(|topology| self::topology(topology, soft, env)),
        members: members.collect(),
        assignor_name: config::assignor(&config).map(|assignor| assignor.name().into()),
    })
}

/// With the partition counts that were decided if all topics are in order, else as it was sent. A function of what is
/// stored and of the topics there are, so that it looks the same right after a restart.
fn topology(topology: &StreamsGroupTopologyValue, soft: Option<&SoftGroup>, env: &Env) -> response::Topology {
    let configured = soft::configured(soft, topology, &env.image).ok();
    let ready = configured.as_deref().filter(|configured| configured.is_ready());
    let subtopologies = ready.and_then(configured_subtopologies).unwrap_or_else(|| sent_subtopologies(topology));
    message!(response::Topology { epoch: topology.epoch, subtopologies: Some(subtopologies) })
}

fn configured_subtopologies(configured: &ConfiguredTopology) -> Option<Vec<response::Subtopology>> {
    let of_one = |(id, subtopology): (&super::tasks::SubtopologyId, &ConfiguredSubtopology)| {
        message!(response::Subtopology {
            subtopology_id: (&**id).into(),
            source_topics: texts(&subtopology.source_topics),
            repartition_sink_topics: texts(&subtopology.repartition_sink_topics),
            state_changelog_topics: subtopology.changelog_topics.values().map(configured_topic).collect(),
            repartition_source_topics: subtopology.repartition_source_topics.values().map(configured_topic).collect(),
        })
    };
    Some(configured.subtopologies.as_ref()?.iter().map(of_one).collect())
}

fn sent_subtopologies(topology: &StreamsGroupTopologyValue) -> Vec<response::Subtopology> {
    let of_one = |subtopology: &Subtopology| {
        message!(response::Subtopology {
            subtopology_id: (&*subtopology.subtopology_id).into(),
            source_topics: texts(&subtopology.source_topics),
            repartition_sink_topics: texts(&subtopology.repartition_sink_topics),
            state_changelog_topics: subtopology.state_changelog_topics.iter().map(sent_topic).collect(),
            repartition_source_topics: subtopology.repartition_source_topics.iter().map(sent_topic).collect(),
        })
    };
    topology.subtopologies.iter().map(of_one).collect()
}

fn texts<'a>(names: impl IntoIterator<Item = &'a TopicName>) -> Vec<StrBytes> {
    names.into_iter().map(|name| name.as_str().into()).collect()
}

fn configured_topic(topic: &InternalTopic) -> response::TopicInfo {
    message!(response::TopicInfo {
        name: topic.name.as_str().into(),
        partitions: topic.partition_count,
        replication_factor: topic.replication_factor,
        topic_configs: topic.configs.iter().map(|(key, value)| key_value(key, value)).collect(),
    })
}

fn sent_topic(topic: &TopicInfo) -> response::TopicInfo {
    message!(response::TopicInfo {
        name: topic.name.as_str().into(),
        partitions: topic.partitions,
        replication_factor: topic.replication_factor,
        topic_configs: topic.topic_configs.iter().map(|(key, value)| key_value(key, value)).collect(),
    })
}

fn key_value(key: &str, value: &str) -> response::KeyValue {
    message!(response::KeyValue { key: key.into(), value: value.into() })
}

fn member(
    group: &StreamsGroup,
    soft: Option<&SoftGroup>,
    member_id: &MemberId,
    metadata: &StreamsGroupMemberMetadataValue,
) -> response::Member {
    let current = group.current.get(member_id);
    let told = soft.and_then(|soft| soft.members.get(member_id));
    let endpoint = metadata.user_endpoint.as_ref();
    message!(response::Member {
        member_id: member_id.as_str().into(),
        member_epoch: current.map_or(0, |current| current.member_epoch),
        instance_id: metadata.instance_id.as_ref().map(|instance_id| instance_id.as_str().into()),
        rack_id: metadata.rack_id.as_deref().map(Into::into),
        client_id: metadata.client_id.as_str().into(),
        client_host: metadata.client_host.as_str().into(),
        topology_epoch: metadata.topology_epoch,
        process_id: metadata.process_id.as_str().into(),
        user_endpoint: endpoint.map(|endpoint| {
            message!(response::Endpoint { host: endpoint.host.as_str().into(), port: endpoint.port })
        }),
        client_tags: metadata.client_tags.iter().map(|(key, value)| key_value(key, value)).collect(),
        task_offsets: told.map(|told| wire::described_offsets(&told.task_offsets)).unwrap_or_default(),
        task_end_offsets: told.map(|told| wire::described_offsets(&told.task_end_offsets)).unwrap_or_default(),
        assignment: current.map_or_else(response::Assignment::default, |current| {
            message!(response::Assignment {
                active_tasks: wire::described_tasks(&current.assigned.active.to_set()),
                standby_tasks: wire::described_tasks(&current.assigned.standby),
                warmup_tasks: wire::described_tasks(&current.assigned.warmup),
            })
        }),
        target_assignment: group.target_of(member_id).map_or_else(response::Assignment::default, target),
    })
}

fn target(tasks: &Tasks) -> response::Assignment {
    message!(response::Assignment {
        active_tasks: wire::described_tasks(&tasks.active),
        standby_tasks: wire::described_tasks(&tasks.standby),
        warmup_tasks: wire::described_tasks(&tasks.warmup),
    })
}
