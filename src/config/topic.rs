//! The keys that can be set on a topic.

use super::key::{Bounds, config_table};

config_table! {
    /// What holds for a topic.
    pub struct TopicConfig, rows TOPIC_KEYS {
        /// Whether old segments are deleted, compacted, or both.
        cleanup_policy: Vec<String> = "cleanup.policy", "delete", Bounds::OneOf(&["compact", "delete"]), dynamic;
        /// The largest record batch that is accepted, in bytes, as compressed.
        max_message_bytes: i32 = "max.message.bytes", "1048588", Bounds::AtLeast(0), dynamic;
        /// The size at which a segment is closed and a new one begun, in bytes.
        segment_bytes: i32 = "segment.bytes", "1073741824", Bounds::AtLeast(1_048_576), dynamic;
    }
}
