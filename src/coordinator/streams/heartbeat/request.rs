//! What can be told from a heartbeat alone: names of topics, and which fields go with which member epoch
//! (Kafka's `KafkaApis` and `GroupCoordinatorService`). The order of checks is Kafka's; the first failure wins.

use std::collections::BTreeSet;

use super::{JOIN_EPOCH, LEAVE_STATIC_EPOCH};
use crate::coordinator::GroupError;
use crate::coordinator::streams::member::NO_REBALANCE_TIMEOUT;
use crate::coordinator::streams::topology;
use crate::protocol::messages::StreamsGroupHeartbeatRequest;
use crate::protocol::messages::streams_group_heartbeat_request::{TaskIds, Topology};
use crate::types::ErrorCode;

/// Topics of the broker itself.
const INTERNAL_TOPICS: [&str; 3] = ["__consumer_offsets", "__transaction_state", "__share_group_state"];
/// The longest topic name.
const TOPIC_NAME_LEN_MAX: usize = 249;

/// Checks a heartbeat without looking at any group.
pub(super) fn check(request: &StreamsGroupHeartbeatRequest) -> Result<(), GroupError> {
    if let Some(topology) = &request.topology {
        check_topic_names(topology)?;
        if topology::has_source_regex(topology) {
            return invalid("Regular expressions for source topics are not supported yet.");
        }
    }
    check_ids(request)?;
    if request.member_epoch == JOIN_EPOCH {
        check_join(request)?;
    }
    check_epoch(request)?;
    check_tags(request)
}

fn check_topic_names(topology: &Topology) -> Result<(), GroupError> {
    let internal = names_that(topology, |name| INTERNAL_TOPICS.contains(&name));
    if !internal.is_empty() {
        return bad_topology(format!(
            "Use of Kafka internal topics {} in a Kafka Streams topology is prohibited.",
            internal.join(",")
        ));
    }
    let illegal = names_that(topology, |name| !is_legal_topic_name(name));
    if !illegal.is_empty() {
        return bad_topology(format!("Topic names {} are not valid topic names.", illegal.join(",")));
    }
    Ok(())
}

/// The names that `is_bad` holds for, each once, in the order they stand in the topology.
fn names_that(topology: &Topology, is_bad: impl Fn(&str) -> bool) -> Vec<&str> {
    let mut seen = BTreeSet::new();
    topology::named_topics(topology).filter(|name| is_bad(name) && seen.insert(*name)).collect()
}

fn is_legal_topic_name(name: &str) -> bool {
    let is_legal_byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    !matches!(name, "" | "." | "..") && name.len() <= TOPIC_NAME_LEN_MAX && name.bytes().all(is_legal_byte)
}

fn check_ids(request: &StreamsGroupHeartbeatRequest) -> Result<(), GroupError> {
    if is_blank(&request.member_id) {
        return invalid("MemberId can't be empty.");
    }
    if is_blank(&request.group_id) {
        return invalid("GroupId can't be empty.");
    }
    if request.instance_id.as_deref().is_some_and(is_blank) {
        return invalid("InstanceId can't be empty.");
    }
    if request.rack_id.as_deref().is_some_and(is_blank) {
        return invalid("RackId can't be empty.");
    }
    Ok(())
}

fn check_join(request: &StreamsGroupHeartbeatRequest) -> Result<(), GroupError> {
    if request.rebalance_timeout_ms == NO_REBALANCE_TIMEOUT {
        return invalid("RebalanceTimeoutMs must be provided in first request.");
    }
    if !is_present_and_empty(request.active_tasks.as_deref()) {
        return invalid("ActiveTasks must be empty when (re-)joining.");
    }
    if !is_present_and_empty(request.standby_tasks.as_deref()) {
        return invalid("StandbyTasks must be empty when (re-)joining.");
    }
    if !is_present_and_empty(request.warmup_tasks.as_deref()) {
        return invalid("WarmupTasks must be empty when (re-)joining.");
    }
    let Some(topology) = &request.topology else {
        return invalid("Topology must be non-null when (re-)joining.");
    };
    if let Some((topic, partitions)) = topology::changelog_with_partitions(topology) {
        return bad_topology(format!(
            "Changelog topic {topic} must have an undefined partition count, but it is set to {partitions}."
        ));
    }
    Ok(())
}

fn check_epoch(request: &StreamsGroupHeartbeatRequest) -> Result<(), GroupError> {
    let epoch = request.member_epoch;
    if epoch == LEAVE_STATIC_EPOCH && request.instance_id.is_none() {
        return invalid("InstanceId can't be null.");
    }
    if epoch < LEAVE_STATIC_EPOCH {
        return invalid(format!("MemberEpoch is {epoch}, but must be greater than or equal to -2."));
    }
    let roles_told = [&request.active_tasks, &request.standby_tasks, &request.warmup_tasks].map(Option::is_some);
    if roles_told.contains(&true) && roles_told.contains(&false) {
        return invalid("If one task-type is non-null, all must be non-null.");
    }
    if epoch != JOIN_EPOCH && request.topology.is_some() {
        return invalid("Topology can only be provided when (re-)joining.");
    }
    Ok(())
}

/// A tag has one value. Kafka 4.4.0 answers `UNKNOWN_SERVER_ERROR` to a second one.
fn check_tags(request: &StreamsGroupHeartbeatRequest) -> Result<(), GroupError> {
    let mut keys = BTreeSet::new();
    let mut tags = request.client_tags.iter().flatten();
    match tags.find(|tag| !keys.insert(&*tag.key)) {
        Some(tag) => invalid(format!("ClientTags contain a duplicate entry for key {}.", tag.key)),
        None => Ok(()),
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn is_present_and_empty(tasks: Option<&[TaskIds]>) -> bool {
    tasks.is_some_and(<[_]>::is_empty)
}

fn invalid(text: impl Into<String>) -> Result<(), GroupError> {
    Err(GroupError::new(ErrorCode::InvalidRequest, text))
}

fn bad_topology(text: String) -> Result<(), GroupError> {
    Err(GroupError::new(ErrorCode::StreamsInvalidTopology, text))
}
