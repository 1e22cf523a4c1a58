//! One partition of a fetch: how it is named, what is asked of it, and its log.

use std::sync::Arc;

use crate::log::PartitionLog;
use crate::protocol::messages::fetch_request::FetchPartition;
use crate::types::{ErrorCode, Offset, TopicId, TopicName};

/// A topic, as the request names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TopicKey {
    Id(TopicId),
    Name(TopicName),
}

/// A partition, as the request names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) topic: TopicKey,
    pub(super) partition: i32,
}

/// What is asked of a partition. A session keeps it from one fetch to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ask {
    pub(super) fetch_offset: Offset,
    pub(super) max_bytes: usize,
    /// The leader epoch that the client believes in; negative if it does not say.
    pub(super) current_leader_epoch: i32,
    /// The epoch of the last record that the client has; negative if it does not say.
    pub(super) last_fetched_epoch: i32,
}

impl From<&FetchPartition> for Ask {
    fn from(asked: &FetchPartition) -> Self {
        Self {
            fetch_offset: Offset(asked.fetch_offset),
            max_bytes: usize::try_from(asked.partition_max_bytes).unwrap_or(0),
            current_leader_epoch: asked.current_leader_epoch,
            last_fetched_epoch: asked.last_fetched_epoch,
        }
    }
}

/// A partition whose log has been looked for.
pub(super) struct Partition {
    pub(super) key: Key,
    pub(super) ask: Ask,
    pub(super) log: Result<Arc<PartitionLog>, Missing>,
}

/// Why there is no log to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// There is no such partition.
    Unknown(ErrorCode),
    /// It is not for this client.
    Refused(ErrorCode),
}

impl Partition {
    /// The error of a topic that was deleted after it was found.
    pub(super) fn deleted_error(&self) -> ErrorCode {
        match self.key.topic {
            TopicKey::Id(_) => ErrorCode::UnknownTopicId,
            TopicKey::Name(_) => ErrorCode::UnknownTopicOrPartition,
        }
    }
}
