//! What requests about partitions have in common: finding them in the catalogue, and the one leader epoch there is.

use std::sync::Arc;

use crate::types::{ErrorCode, Image, TopicId, TopicImage, TopicPartition};

/// There is one node and it never changes, so every partition has had this leader epoch from the start.
pub(super) const LEADER_EPOCH: i32 = 0;

/// How a request names a topic.
#[derive(Clone, Copy, Debug)]
pub(super) enum Named<'a> {
    Id(TopicId),
    Name(&'a str),
}

/// The topic, or the error of each of its partitions.
pub(super) fn find<'a>(image: &'a Image, named: Named<'_>) -> Result<&'a Arc<TopicImage>, ErrorCode> {
    match named {
        Named::Id(id) => image.topic_by_id(id).ok_or(ErrorCode::UnknownTopicId),
        Named::Name(name) => image.topic(name).ok_or(ErrorCode::UnknownTopicOrPartition),
    }
}

/// The partition of a topic that exists.
pub(super) fn partition_of(topic: &TopicImage, partition: i32) -> Result<TopicPartition, ErrorCode> {
    if (0..topic.partition_count).contains(&partition) {
        Ok(TopicPartition { topic_id: topic.id, partition })
    } else {
        Err(ErrorCode::UnknownTopicOrPartition)
    }
}

/// Checks the leader epoch that a client believes in; a negative one means that it does not say.
pub(super) fn check_leader_epoch(current_leader_epoch: i32) -> Result<(), ErrorCode> {
    if current_leader_epoch > LEADER_EPOCH { Err(ErrorCode::UnknownLeaderEpoch) } else { Ok(()) }
}
