//! The topics of a request against the catalogue. `OffsetCommit` and `OffsetFetch` from version 10 on name topics by id
//! only, earlier ones and `OffsetDelete` by name.

use std::sync::Arc;

use crate::protocol::StrBytes;
use crate::types::{ErrorCode, Image, TopicId, TopicImage};

/// How a request names its topics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    ByName,
    ById,
}

impl Naming {
    /// That of `OffsetCommit` and `OffsetFetch` in this version.
    pub(super) fn of_version(version: i16) -> Self {
        if version >= 10 { Self::ById } else { Self::ByName }
    }

    /// The topic, or the error that each of its partitions gets.
    pub(super) fn find<'a>(
        self,
        image: &'a Image,
        name: &StrBytes,
        id: TopicId,
    ) -> Result<&'a Arc<TopicImage>, ErrorCode> {
        match self {
            Self::ByName => image.topic(name).ok_or(ErrorCode::UnknownTopicOrPartition),
            Self::ById => image.topic_by_id(id).ok_or(ErrorCode::UnknownTopicId),
        }
    }
}

/// Whether the topic has this partition.
pub(super) fn check_partition(topic: &TopicImage, partition: i32) -> Result<(), ErrorCode> {
    if (0..topic.partition_count).contains(&partition) { Ok(()) } else { Err(ErrorCode::UnknownTopicOrPartition) }
}
