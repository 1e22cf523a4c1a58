//! How answers and records are written in expected texts.

use std::fmt::Write as _;

use crate::coordinator::streams::reconcile::MemberState;
use crate::coordinator::streams::tasks::{ActiveTasks, TaskSet, Tasks};
use crate::coordinator::{Effect, Record, TimerKey};
use crate::protocol::messages::streams_group_describe_response as describe;
use crate::protocol::messages::streams_group_heartbeat_response::{EndpointToPartitions, TaskIds, TopicPartition};
use crate::protocol::messages::{DescribedStreamsGroup, StreamsGroupHeartbeatResponse};
use crate::types::ErrorCode;

pub(super) fn code(code: i16) -> &'static str {
    ErrorCode::from_code(code).unwrap().name()
}

/// `3; A{0:[0,1]} S{} W{}; st[5 "…"]; eie 1 [h1:1234 in[0,1] | ]`; `-` for null.
pub(super) fn heartbeat(response: &StreamsGroupHeartbeatResponse, epoch: i32) -> String {
    if response.error_code != 0 {
        let mut defaults = StreamsGroupHeartbeatResponse::default();
        defaults.error_code = response.error_code;
        defaults.error_message.clone_from(&response.error_message);
        assert_eq!(*response, defaults, "an error comes with defaults");
        let text = response.error_message.as_deref().unwrap_or("-");
        return format!("{} {text}", code(response.error_code));
    }
    let mut out = response.member_epoch.to_string();
    match (&response.active_tasks, &response.standby_tasks, &response.warmup_tasks) {
        (Some(active), Some(standby), Some(warmup)) => {
            write!(out, "; A{} S{} W{}", task_ids(active), task_ids(standby), task_ids(warmup)).unwrap();
        }
        (None, None, None) => out.push_str("; -"),
        _ => panic!("all roles or none: {response:?}"),
    }
    if epoch >= 0 {
        assert!(response.heartbeat_interval_ms > 0 && response.task_offset_interval_ms > 0);
    }
    let statuses = response.status.as_ref().expect("a list of statuses");
    if !statuses.is_empty() {
        let each = statuses.iter().map(|status| format!("{} {:?}", status.status_code, &*status.status_detail));
        write!(out, "; st[{}]", each.collect::<Vec<_>>().join(", ")).unwrap();
    }
    if response.endpoint_information_epoch != 0 || response.partitions_by_user_endpoint.is_some() {
        write!(out, "; eie {}", response.endpoint_information_epoch).unwrap();
    }
    if let Some(entries) = &response.partitions_by_user_endpoint {
        let each: Vec<String> = entries.iter().map(endpoint).collect();
        write!(out, " [{}]", each.join(", ")).unwrap();
    }
    out
}

fn task_ids(tasks: &[TaskIds]) -> String {
    let each = tasks.iter().map(|task| format!("{}:{}", task.subtopology_id, numbers(&task.partitions)));
    format!("{{{}}}", each.collect::<Vec<_>>().join(" "))
}

fn numbers(numbers: &[i32]) -> String {
    let each = numbers.iter().map(ToString::to_string);
    format!("[{}]", each.collect::<Vec<_>>().join(","))
}

fn endpoint(entry: &EndpointToPartitions) -> String {
    let topics = |topics: &[TopicPartition]| {
        let each = topics.iter().map(|topic| format!("{}{}", topic.topic, numbers(&topic.partitions)));
        each.collect::<Vec<_>>().join(" ")
    };
    let (host, port) = (&entry.user_endpoint.host, entry.user_endpoint.port);
    let line = format!("{host}:{port} {} | {}", topics(&entry.active_partitions), topics(&entry.standby_partitions));
    line.trim_end().to_owned()
}

pub(super) fn timer(key: &TimerKey) -> String {
    match key {
        TimerKey::StreamsSession(_, member) => format!("session of {member} ends"),
        TimerKey::StreamsRebalance(_, member) => format!("rebalance timeout of {member}"),
        TimerKey::StreamsInitialRebalance(_) => "initial delay ends".to_owned(),
        TimerKey::OffsetRetention => "what has expired is looked for".to_owned(),
    }
}

pub(super) fn effects(effects: &[Effect]) -> Vec<String> {
    let show = |effect: &Effect| match effect {
        Effect::CreateInternalTopics { topics, .. } => {
            let each = topics.iter().map(|topic| format!("{}/{}", topic.name, topic.partition_count));
            format!("! create {}", each.collect::<Vec<_>>().join(" "))
        }
        Effect::ContinueTopicsDeleted { .. } => panic!("not of streams groups"),
    };
    effects.iter().map(show).collect()
}

/// The record types by number, `~` for a tombstone.
pub(super) fn record(record: &Record) -> String {
    match record {
        Record::StreamsGroupMetadata { value: Some(value), .. } => {
            format!("17 e{} validated {}", value.epoch, value.validated_topology_epoch)
        }
        Record::StreamsGroupMemberMetadata { member, value: Some(value), .. } => {
            let instance = value.instance_id.as_ref().map(|id| format!(" instance {id}")).unwrap_or_default();
            format!("19({member}) process {}{instance}", value.process_id)
        }
        Record::StreamsGroupTargetAssignmentMetadata { value: Some(value), .. } => {
            let never = if value.assignment_timestamp.0 == 0 { " at 0" } else { "" };
            format!("20 e{}{never}", value.assignment_epoch)
        }
        Record::StreamsGroupTargetAssignmentMember { member, value: Some(value), .. } => {
            format!("21({member}) {}", tasks(&value.tasks))
        }
        Record::StreamsGroupCurrentMemberAssignment { member, value: Some(value), .. } => {
            let state = match MemberState::from_byte(value.state) {
                MemberState::Stable => "STABLE",
                MemberState::UnrevokedTasks => "UNREVOKED",
                MemberState::UnreleasedTasks => "UNRELEASED",
                MemberState::Unknown => "UNKNOWN",
            };
            let mut out = format!(
                "22({member}) e{} prev {} {state} a{}",
                value.member_epoch,
                value.previous_member_epoch,
                active_tasks(&value.assigned.active)
            );
            push_set(&mut out, " s", &value.assigned.standby);
            push_set(&mut out, " w", &value.assigned.warmup);
            if !value.active_pending_revocation.is_empty() {
                write!(out, " pending a{}", active_tasks(&value.active_pending_revocation)).unwrap();
            }
            push_set(&mut out, " pending s", &value.standby_pending_revocation);
            push_set(&mut out, " pending w", &value.warmup_pending_revocation);
            out
        }
        Record::StreamsGroupTopology { value: Some(value), .. } => format!("23 epoch {}", value.epoch),
        Record::OffsetCommit { topic, partition, .. } => format!("1 {topic}-{partition}"),
        Record::StreamsGroupMetadata { .. } => "~17".to_owned(),
        Record::StreamsGroupMemberMetadata { member, .. } => format!("~19({member})"),
        Record::StreamsGroupTargetAssignmentMetadata { .. } => "~20".to_owned(),
        Record::StreamsGroupTargetAssignmentMember { member, .. } => format!("~21({member})"),
        Record::StreamsGroupCurrentMemberAssignment { member, .. } => format!("~22({member})"),
        Record::StreamsGroupTopology { .. } => "~23".to_owned(),
        Record::GroupDeleted { group } => format!("deleted {group}"),
    }
}

fn tasks(tasks: &Tasks) -> String {
    let mut out = format!("a{}", task_set(&tasks.active));
    push_set(&mut out, " s", &tasks.standby);
    push_set(&mut out, " w", &tasks.warmup);
    out
}

fn push_set(out: &mut String, name: &str, set: &TaskSet) {
    if !set.is_empty() {
        write!(out, "{name}{}", task_set(set)).unwrap();
    }
}

fn task_set(set: &TaskSet) -> String {
    let each = set
        .by_subtopology()
        .map(|(id, partitions)| format!("{id}:{}", numbers(&partitions.iter().copied().collect::<Vec<_>>())));
    format!("{{{}}}", each.collect::<Vec<_>>().join(" "))
}

/// `0:0@2`: task 0 of subtopology 0, given at epoch 2.
fn active_tasks(tasks: &ActiveTasks) -> String {
    let each = tasks.iter().map(|(id, partition, epoch)| format!("{id}:{partition}@{epoch}"));
    format!("{{{}}}", each.collect::<Vec<_>>().join(" "))
}

/// State and epochs, then a line for each member.
pub(super) fn described(group: &DescribedStreamsGroup) -> Vec<String> {
    if group.error_code != 0 {
        return vec![format!("{} {}", code(group.error_code), group.error_message.as_deref().unwrap_or("-"))];
    }
    let topology = group.topology.as_ref().expect("a topology");
    let subtopologies = topology.subtopologies.as_ref().expect("its subtopologies");
    let mut lines = vec![format!(
        "{} {}/{} topology {} of {}",
        group.group_state,
        group.group_epoch,
        group.assignment_epoch,
        topology.epoch,
        subtopologies.len()
    )];
    lines.extend(group.members.iter().map(member));
    lines
}

fn member(member: &describe::Member) -> String {
    let mut out = format!("{} {} of {}", member.member_id, member.member_epoch, member.process_id);
    if let Some(instance_id) = &member.instance_id {
        write!(out, " as {instance_id}").unwrap();
    }
    write!(out, " has {}, target {}", assignment(&member.assignment), assignment(&member.target_assignment)).unwrap();
    if !member.task_offsets.is_empty() || !member.task_end_offsets.is_empty() {
        write!(out, ", offsets {} of {}", offsets(&member.task_offsets), offsets(&member.task_end_offsets)).unwrap();
    }
    out
}

fn assignment(assignment: &describe::Assignment) -> String {
    let tasks = |tasks: &[describe::TaskIds]| {
        let each = tasks.iter().map(|task| format!("{}:{}", task.subtopology_id, numbers(&task.partitions)));
        format!("{{{}}}", each.collect::<Vec<_>>().join(" "))
    };
    let mut out = format!("a{}", tasks(&assignment.active_tasks));
    for (name, role) in [(" s", &assignment.standby_tasks), (" w", &assignment.warmup_tasks)] {
        if !role.is_empty() {
            write!(out, "{name}{}", tasks(role)).unwrap();
        }
    }
    out
}

fn offsets(offsets: &[describe::TaskOffset]) -> String {
    let each = offsets.iter().map(|task| format!("{}:{}={}", task.subtopology_id, task.partition, task.offset));
    format!("[{}]", each.collect::<Vec<_>>().join(","))
}
