//! The records of groups and offsets: what is stored, under Kafka's names and numbers.
//!
//! Each variant is one put or one delete of one key (`value: None` deletes), but for [`Record::GroupDeleted`], which
//! deletes everything under a group id. The value structs are written to disk: a struct that has been released is
//! never edited; a change is a new struct with a new version, and a step in `migrations/`.

use serde::{Deserialize, Serialize};

use super::streams::records::{
    StreamsGroupCurrentMemberAssignmentValue, StreamsGroupMemberMetadataValue, StreamsGroupMetadataValue,
    StreamsGroupTargetAssignmentMemberValue, StreamsGroupTargetAssignmentMetadataValue, StreamsGroupTopologyValue,
};
use crate::types::{GroupId, MemberId, TimestampMs, TopicId, TopicName};

/// One change of the coordinator's hard state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// Type 1.
    OffsetCommit { group: GroupId, topic: TopicName, partition: i32, value: Option<OffsetCommitValue> },
    /// Type 17.
    StreamsGroupMetadata { group: GroupId, value: Option<StreamsGroupMetadataValue> },
    /// Type 19.
    StreamsGroupMemberMetadata { group: GroupId, member: MemberId, value: Option<StreamsGroupMemberMetadataValue> },
    /// Type 20.
    StreamsGroupTargetAssignmentMetadata { group: GroupId, value: Option<StreamsGroupTargetAssignmentMetadataValue> },
    /// Type 21.
    StreamsGroupTargetAssignmentMember {
        group: GroupId,
        member: MemberId,
        value: Option<StreamsGroupTargetAssignmentMemberValue>,
    },
    /// Type 22.
    StreamsGroupCurrentMemberAssignment {
        group: GroupId,
        member: MemberId,
        value: Option<StreamsGroupCurrentMemberAssignmentValue>,
    },
    /// Type 23.
    StreamsGroupTopology { group: GroupId, value: Option<StreamsGroupTopologyValue> },
    /// Everything under the id is gone, offsets included.
    GroupDeleted { group: GroupId },
}

impl Record {
    /// The group it belongs to.
    pub(crate) fn group(&self) -> &GroupId {
        match self {
            Self::OffsetCommit { group, .. }
            | Self::StreamsGroupMetadata { group, .. }
            | Self::StreamsGroupMemberMetadata { group, .. }
            | Self::StreamsGroupTargetAssignmentMetadata { group, .. }
            | Self::StreamsGroupTargetAssignmentMember { group, .. }
            | Self::StreamsGroupCurrentMemberAssignment { group, .. }
            | Self::StreamsGroupTopology { group, .. }
            | Self::GroupDeleted { group } => group,
        }
    }
}

/// Value of type 1: a committed offset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OffsetCommitValue {
    /// The offset as committed; any number, it is not checked against the log.
    pub(crate) offset: i64,
    /// The leader epoch of the record before it, -1 if unknown.
    pub(crate) leader_epoch: i32,
    /// The committer's text.
    pub(crate) metadata: String,
    /// When it was committed, by the server's clock.
    pub(crate) commit_timestamp: TimestampMs,
    /// When it expires, if the committer asked for a time of its own (`OffsetCommit` v2-4).
    pub(crate) expire_timestamp: Option<TimestampMs>,
    /// The topic's id; zero if it was not known.
    pub(crate) topic_id: TopicId,
}
