//! `OffsetFetch`, versions 1 to 10 (KIP-709, KIP-848, KIP-1071; Kafka's `OffsetMetadataManager`).
//!
//! What was never committed is no error: such a partition reads as -1, and so does one of a group, topic or partition
//! that does not exist. An error about the *member* must never look like that, or a client would start over.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::kinds;
use super::resolve::Naming;
use super::slots::CommittedOffset;
use super::state::GroupOffsets;
use crate::coordinator::Coordinator;
use crate::machine::{Asked, Decision, Env};
use crate::protocol::messages::offset_fetch_request::{OffsetFetchRequestGroup, OffsetFetchRequestTopics};
use crate::protocol::messages::offset_fetch_response::{
    OffsetFetchResponseGroup, OffsetFetchResponsePartition, OffsetFetchResponsePartitions, OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
};
use crate::protocol::messages::{OffsetFetchRequest, OffsetFetchResponse};
use crate::protocol::{StrBytes, message, topic_id, wire_uuid};
use crate::types::{ErrorCode, Image};

/// The first version that asks for several groups, each with an error of its own.
const FIRST_VERSION_OF_GROUPS: i16 = 8;
/// The first version that has an error for the whole answer.
const FIRST_VERSION_OF_TOP_LEVEL_ERROR: i16 = 2;
/// How many offsets one request may be told again: a small request that names a large group very often would
/// otherwise have an answer without bound.
const REPEATED_OFFSETS_MAX: usize = 100_000;

/// Decides on a fetch.
pub(crate) fn decide(coordinator: &Coordinator, env: &Env, asked: &Asked<OffsetFetchRequest>) -> Decision<Coordinator> {
    let mut fetch = Fetch {
        coordinator,
        image: &env.image,
        naming: Naming::of_version(asked.version),
        told_in_full: BTreeSet::new(),
        repeats_left: REPEATED_OFFSETS_MAX,
    };
    let questions = questions(&asked.request, asked.version);
    let mut rests_on = env.image.lsn;
    let mut groups = Vec::with_capacity(questions.len());
    for question in questions.iter() {
        rests_on = rests_on.max(coordinator.lsn_of(&question.group_id));
        groups.push(match fetch.group(question) {
            Ok(topics) => message!(OffsetFetchResponseGroup { group_id: question.group_id.clone(), topics: topics }),
            Err(code) => refuse_group(question, asked.version, code),
        });
    }
    Decision::answer(asked.to, in_version(groups, asked.version).into(), rests_on)
}

/// Which groups are asked for. Before version 8 it is one, named at the top.
fn questions(request: &OffsetFetchRequest, version: i16) -> Cow<'_, [OffsetFetchRequestGroup]> {
    if version >= FIRST_VERSION_OF_GROUPS {
        return Cow::Borrowed(&request.groups);
    }
    let topics = request.topics.as_ref().map(|topics| {
        let topics = topics.iter().map(|topic| {
            message!(OffsetFetchRequestTopics {
                name: topic.name.clone(),
                partition_indexes: topic.partition_indexes.clone(),
            })
        });
        topics.collect()
    });
    Cow::Owned(vec![message!(OffsetFetchRequestGroup { group_id: request.group_id.clone(), topics: topics })])
}

struct Fetch<'a> {
    coordinator: &'a Coordinator,
    image: &'a Image,
    naming: Naming,
    /// Groups whose offsets were all told once already.
    told_in_full: BTreeSet<StrBytes>,
    repeats_left: usize,
}

impl Fetch<'_> {
    fn group(&mut self, question: &OffsetFetchRequestGroup) -> Result<Vec<OffsetFetchResponseTopics>, ErrorCode> {
        let group = self.coordinator.groups.get(&*question.group_id);
        if let Some(group) = group {
            kinds::validate_fetch(group, question.member_id.as_deref(), question.member_epoch)
                .map_err(|error| error.code)?;
        }
        let offsets = group.map(|group| &group.offsets);
        match &question.topics {
            Some(topics) => Ok(topics.iter().map(|topic| self.topic(offsets, topic)).collect()),
            None => self.all_topics(&question.group_id, offsets),
        }
    }

    fn topic(&self, offsets: Option<&GroupOffsets>, topic: &OffsetFetchRequestTopics) -> OffsetFetchResponseTopics {
        let found = self.naming.find(self.image, &topic.name, topic_id(topic.topic_id));
        let partitions = topic.partition_indexes.iter().map(|&partition| match found {
            Ok(found) => match offsets.and_then(|offsets| offsets.get(found, partition)) {
                Some(offset) => committed(offset),
                None => nothing_committed(partition, ErrorCode::None),
            },
            Err(code) if self.naming == Naming::ById => nothing_committed(partition, code),
            Err(_) => nothing_committed(partition, ErrorCode::None),
        });
        message!(OffsetFetchResponseTopics {
            name: topic.name.clone(),
            topic_id: topic.topic_id,
            partitions: partitions.collect(),
        })
    }

    fn all_topics(
        &mut self,
        group_id: &StrBytes,
        offsets: Option<&GroupOffsets>,
    ) -> Result<Vec<OffsetFetchResponseTopics>, ErrorCode> {
        let Some(offsets) = offsets else { return Ok(Vec::new()) };
        if !self.told_in_full.insert(group_id.clone()) {
            self.repeats_left = self.repeats_left.checked_sub(offsets.len()).ok_or(ErrorCode::InvalidRequest)?;
        }
        let mut topics: Vec<OffsetFetchResponseTopics> = Vec::new();
        for (key, partitions) in offsets.iter() {
            // Offsets of a topic that is gone stay stored until the sweep has come by; nobody may see them.
            let Some(topic) = self.image.topic(&key.name) else { continue };
            if !key.id.is_zero() && key.id != topic.id {
                continue;
            }
            let partitions = partitions.map(committed);
            match topics.last_mut() {
                // Offsets stored without an id come right before those of the same topic that have it.
                Some(last) if *last.name == *key.name => last.partitions.extend(partitions),
                _ => topics.push(message!(OffsetFetchResponseTopics {
                    name: StrBytes::from(&*key.name),
                    topic_id: wire_uuid(topic.id),
                    partitions: partitions.collect(),
                })),
            }
        }
        Ok(topics)
    }
}

fn committed(offset: &CommittedOffset) -> OffsetFetchResponsePartitions {
    message!(OffsetFetchResponsePartitions {
        partition_index: offset.partition,
        committed_offset: offset.offset,
        committed_leader_epoch: offset.leader_epoch,
        metadata: Some(StrBytes::from(offset.metadata())),
    })
}

fn nothing_committed(partition: i32, code: ErrorCode) -> OffsetFetchResponsePartitions {
    message!(OffsetFetchResponsePartitions {
        partition_index: partition,
        committed_offset: -1,
        committed_leader_epoch: -1,
        metadata: Some(StrBytes::default()),
        error_code: code.code(),
    })
}

/// An error about the whole group. Version 1 has no place for it but the partitions, and a client of that version
/// would take an empty answer for "nothing committed" (KAFKA-19439).
fn refuse_group(question: &OffsetFetchRequestGroup, version: i16, code: ErrorCode) -> OffsetFetchResponseGroup {
    let group_id = question.group_id.clone();
    if version >= FIRST_VERSION_OF_TOP_LEVEL_ERROR {
        return message!(OffsetFetchResponseGroup { group_id: group_id, error_code: code.code() });
    }
    let topics = question.topics.iter().flatten().map(|topic| {
        let partitions = topic.partition_indexes.iter().map(|&partition| nothing_committed(partition, code));
        message!(OffsetFetchResponseTopics { name: topic.name.clone(), partitions: partitions.collect() })
    });
    message!(OffsetFetchResponseGroup { group_id: group_id, topics: topics.collect() })
}

/// The answer as the version has it: a list of groups, or the only group's content at the top.
fn in_version(groups: Vec<OffsetFetchResponseGroup>, version: i16) -> OffsetFetchResponse {
    if version >= FIRST_VERSION_OF_GROUPS {
        return message!(OffsetFetchResponse { groups: groups });
    }
    let mut response = OffsetFetchResponse::default();
    for group in groups {
        response.error_code = group.error_code;
        response.topics = group.topics.into_iter().map(topic_before_groups).collect();
    }
    response
}

fn topic_before_groups(topic: OffsetFetchResponseTopics) -> OffsetFetchResponseTopic {
    let partitions = topic.partitions.into_iter().map(|partition| {
        message!(OffsetFetchResponsePartition {
            partition_index: partition.partition_index,
            committed_offset: partition.committed_offset,
            committed_leader_epoch: partition.committed_leader_epoch,
            metadata: partition.metadata,
            error_code: partition.error_code,
        })
    });
    message!(OffsetFetchResponseTopic { name: topic.name, partitions: partitions.collect() })
}
