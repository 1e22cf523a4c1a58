//! Words that every room shares: ids, numbers with a unit, protocol errors and the catalogue's image.
//!
//! Level 0: imports nothing of the crate. Holds no behaviour beyond what keeps a value valid.

mod error_code;
mod ids;
mod image;
mod numbers;

pub use error_code::ErrorCode;
pub use ids::{ClusterId, GroupId, InstanceId, MemberId, ProcessId, TopicId, TopicName};
pub use image::{Image, TopicImage};
pub use numbers::{Lsn, Offset, ProducerEpoch, ProducerId, TimestampMs};

/// One partition of one topic. The id, not the name, so that a topic made again under an old name is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct TopicPartition {
    /// The topic.
    pub topic_id: TopicId,
    /// The partition index, from 0.
    pub partition: i32,
}
