//! `OffsetCommit`, versions 2 to 10 (KIP-211, KIP-345, KIP-848, KIP-1071; Kafka's `OffsetMetadataManager`).
//!
//! A request fails as a whole where the committer is wrong, and per partition where a topic is. What is accepted is
//! stored as it came: an offset is neither checked against the log nor against the one before.

use std::collections::BTreeMap;

use super::entry;
use super::kinds::{self, Committer};
use super::resolve::{Naming, check_partition};
use crate::coordinator::{Coordinator, OffsetCommitValue, Record};
use crate::machine::{Asked, Decision, Env};
use crate::protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use crate::protocol::messages::offset_commit_response::{OffsetCommitResponsePartition, OffsetCommitResponseTopic};
use crate::protocol::messages::{OffsetCommitRequest, OffsetCommitResponse};
use crate::protocol::{message, topic_id};
use crate::types::{ErrorCode, GroupId, TopicImage};

/// What "no retention time" is in a request.
const NO_RETENTION_TIME_MS: i64 = -1;

/// The longest text that every version of the protocol can carry back.
const METADATA_BYTES_MAX: usize = i16::MAX as usize;

/// Decides on a commit.
pub(crate) fn decide(
    coordinator: &Coordinator,
    env: &Env,
    asked: &Asked<OffsetCommitRequest>,
) -> Decision<Coordinator> {
    let commit = Commit { request: &asked.request, naming: Naming::of_version(asked.version), env };
    let rests_on = env.image.lsn.max(coordinator.lsn_of(&asked.request.group_id));

    let group_code = commit.validate(coordinator, asked.version);
    let mut values = BTreeMap::new();
    let response = commit.answer(|topic, partition| {
        if let Some(code) = group_code {
            return code;
        }
        if is_too_large(partition.committed_metadata.as_deref(), env.config.offset_metadata_max_bytes) {
            return ErrorCode::OffsetMetadataTooLarge;
        }
        // Keyed, so that a partition named twice is one record and the later one wins.
        values.insert((topic.name.clone(), partition.partition_index), commit.value(topic, partition));
        ErrorCode::None
    });

    let group = GroupId::from(&*asked.request.group_id);
    let records = values
        .into_iter()
        .map(|((topic, partition), value)| Record::OffsetCommit {
            group: group.clone(),
            topic,
            partition,
            value: Some(value),
        })
        .collect::<Vec<_>>();
    if entry::is_too_large(&records) {
        return Decision::answer(asked.to, refuse(&asked.request, ErrorCode::UnknownServerError).into(), rests_on);
    }
    Decision { records, ..Decision::answer(asked.to, response.into(), rests_on) }
}

/// The answer that refuses all of a request.
pub(crate) fn refuse(request: &OffsetCommitRequest, code: ErrorCode) -> OffsetCommitResponse {
    answer(request, |_, _| code)
}

struct Commit<'a> {
    request: &'a OffsetCommitRequest,
    naming: Naming,
    env: &'a Env,
}

impl<'a> Commit<'a> {
    /// The topic of a partition that exists, else its error.
    fn find(
        &self,
        topic: &OffsetCommitRequestTopic,
        partition: &OffsetCommitRequestPartition,
    ) -> Result<&'a TopicImage, ErrorCode> {
        let found = self.naming.find(&self.env.image, &topic.name, topic_id(topic.topic_id))?;
        check_partition(found, partition.partition_index)?;
        Ok(found)
    }

    /// Checks the committer. Only partitions that exist hear of it: where none is left, nobody is refused, as in Kafka.
    fn validate(&self, coordinator: &Coordinator, version: i16) -> Option<ErrorCode> {
        let partitions = self
            .request
            .topics
            .iter()
            .flat_map(|topic| topic.partitions.iter().map(move |partition| (topic, partition)))
            .filter_map(|(topic, partition)| {
                Some((&*self.find(topic, partition).ok()?.name, partition.partition_index))
            });

        let committer = Committer {
            member_id: &self.request.member_id,
            instance_id: self.request.group_instance_id.as_deref(),
            epoch: self.request.generation_id_or_member_epoch,
            version,
        };
        let group = coordinator.groups.get(&*self.request.group_id);
        kinds::validate_commit(group, &committer, partitions).err().map(|error| error.code)
    }

    /// Answers each partition: its own error, or what `judge` says of one that exists.
    fn answer(
        &self,
        mut judge: impl FnMut(&TopicImage, &OffsetCommitRequestPartition) -> ErrorCode,
    ) -> OffsetCommitResponse {
        answer(self.request, |topic, partition| match self.find(topic, partition) {
            Ok(found) => judge(found, partition),
            Err(code) => code,
        })
    }

    fn value(&self, topic: &TopicImage, partition: &OffsetCommitRequestPartition) -> OffsetCommitValue {
        let retention_time_ms = self.request.retention_time_ms;
        let has_own_expiry = retention_time_ms != NO_RETENTION_TIME_MS;
        OffsetCommitValue {
            offset: partition.committed_offset,
            leader_epoch: partition.committed_leader_epoch,
            metadata: partition.committed_metadata.as_deref().unwrap_or_default().to_owned(),
            commit_timestamp: self.env.now,
            expire_timestamp: has_own_expiry.then(|| self.env.now.plus_ms(retention_time_ms)),
            topic_id: topic.id,
        }
    }
}

/// One answer per partition asked for, in the request's order.
fn answer(
    request: &OffsetCommitRequest,
    mut code_of: impl FnMut(&OffsetCommitRequestTopic, &OffsetCommitRequestPartition) -> ErrorCode,
) -> OffsetCommitResponse {
    let mut answer_partition = |topic: &OffsetCommitRequestTopic, partition: &OffsetCommitRequestPartition| {
        message!(OffsetCommitResponsePartition {
            partition_index: partition.partition_index,
            error_code: code_of(topic, partition).code(),
        })
    };
    let mut answer_topic = |topic: &OffsetCommitRequestTopic| {
        message!(OffsetCommitResponseTopic {
            name: topic.name.clone(),
            topic_id: topic.topic_id,
            partitions: topic.partitions.iter().map(|partition| answer_partition(topic, partition)).collect(),
        })
    };
    message!(OffsetCommitResponse { topics: request.topics.iter().map(&mut answer_topic).collect() })
}

/// Whether a text is above the limit, which counts UTF-16 units as Java does, whatever its name says.
fn is_too_large(metadata: Option<&str>, units_max: i32) -> bool {
    let metadata = metadata.unwrap_or_default();
    let units_max = usize::try_from(units_max).unwrap_or(0);
    metadata.len() > METADATA_BYTES_MAX || (metadata.len() > units_max && metadata.encode_utf16().count() > units_max)
}
