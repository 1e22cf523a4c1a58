//! Values of the records of streams groups, types 17 and 19 to 23 (Kafka's schemas `StreamsGroup*Value.json`).
//!
//! Written to disk: see the rule in [`crate::coordinator::Record`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::tasks::{ActiveTasks, AssignedTasks, SubtopologyId, TaskSet, Tasks};
use crate::types::{InstanceId, ProcessId, TimestampMs, TopicName};

/// Type 17.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StreamsGroupMetadataValue {
    /// The group epoch.
    pub(crate) epoch: i32,
    /// Over the topics that the topology needs and that exist; compared for equality only.
    pub(crate) metadata_hash: i64,
    /// The topology epoch whose topics were found in order, -1 if none.
    pub(crate) validated_topology_epoch: i32,
    /// The settings the last assignment was made with.
    pub(crate) last_assignment_configs: BTreeMap<String, String>,
    /// KIP-1331: the topology epoch whose description is stored, -1 if none, -2 if uncertain.
    pub(crate) stored_description_topology_epoch: i32,
    /// KIP-1331: the highest topology epoch whose description was refused, -1 if none.
    pub(crate) failed_description_topology_epoch: i32,
}

/// Type 19.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StreamsGroupMemberMetadataValue {
    /// Set for a static member.
    pub(crate) instance_id: Option<InstanceId>,
    /// The rack, if told.
    pub(crate) rack_id: Option<String>,
    /// The client id.
    pub(crate) client_id: String,
    /// The client's address, `/127.0.0.1`.
    pub(crate) client_host: String,
    /// How long the member may take to give tasks up.
    pub(crate) rebalance_timeout_ms: i32,
    /// The epoch of the topology the member joined with, -1 before it is known.
    pub(crate) topology_epoch: i32,
    /// The process the member belongs to.
    pub(crate) process_id: ProcessId,
    /// Where the process answers interactive queries.
    pub(crate) user_endpoint: Option<Endpoint>,
    /// Tags for the placement of standbys.
    pub(crate) client_tags: BTreeMap<String, String>,
}

/// An endpoint for interactive queries.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Endpoint {
    /// Host.
    pub(crate) host: String,
    /// Port.
    pub(crate) port: u16,
}

/// Type 20.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StreamsGroupTargetAssignmentMetadataValue {
    /// The group epoch the target was computed for.
    pub(crate) assignment_epoch: i32,
    /// When it was computed; 0 if never, or since the last member left.
    pub(crate) assignment_timestamp: TimestampMs,
}

/// Type 21.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StreamsGroupTargetAssignmentMemberValue {
    /// What the member is to own in the end.
    pub(crate) tasks: Tasks,
}

/// Type 22.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StreamsGroupCurrentMemberAssignmentValue {
    /// The member epoch; -2 for a static member that is away.
    pub(crate) member_epoch: i32,
    /// The epoch before.
    pub(crate) previous_member_epoch: i32,
    /// Where reconciliation stands, as Kafka's `MemberState` numbers it.
    pub(crate) state: i8,
    /// What the member may own.
    pub(crate) assigned: AssignedTasks,
    /// Actives it has to give up, with their epochs.
    pub(crate) active_pending_revocation: ActiveTasks,
    /// Standbys it has to give up.
    pub(crate) standby_pending_revocation: TaskSet,
    /// Warm-ups it has to give up.
    pub(crate) warmup_pending_revocation: TaskSet,
}

/// Type 23: the topology as the client sent it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StreamsGroupTopologyValue {
    /// The topology epoch.
    pub(crate) epoch: i32,
    /// The subtopologies, by id: their order carries no meaning.
    pub(crate) subtopologies: Vec<Subtopology>,
}

/// A connected part of the processor graph.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::struct_field_names, reason = "the name is Kafka's")]
pub(crate) struct Subtopology {
    /// Its id.
    pub(crate) subtopology_id: SubtopologyId,
    /// Topics it reads from outside.
    pub(crate) source_topics: Vec<TopicName>,
    /// Patterns of topics it reads; empty on the released protocol.
    pub(crate) source_topic_regex: Vec<String>,
    /// Topics that hold its state.
    pub(crate) state_changelog_topics: Vec<TopicInfo>,
    /// Repartition topics it writes.
    pub(crate) repartition_sink_topics: Vec<TopicName>,
    /// Repartition topics it reads.
    pub(crate) repartition_source_topics: Vec<TopicInfo>,
    /// Sets of topics that must have equal partition counts.
    pub(crate) copartition_groups: Vec<CopartitionGroup>,
}

/// An internal topic as the client describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TopicInfo {
    /// Its name.
    pub(crate) name: TopicName,
    /// Its partition count, 0 if the coordinator decides.
    pub(crate) partitions: i32,
    /// Its replication factor, 0 for the broker's default.
    pub(crate) replication_factor: i16,
    /// Its configs, in the order sent.
    pub(crate) topic_configs: Vec<(String, String)>,
}

/// Indexes into a subtopology's topic lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CopartitionGroup {
    /// Into `source_topics`.
    pub(crate) source_topics: Vec<i16>,
    /// Into `source_topic_regex`.
    pub(crate) source_topic_regex: Vec<i16>,
    /// Into `repartition_source_topics`.
    pub(crate) repartition_source_topics: Vec<i16>,
}
