//! What the batches of a topic are checked against, kept from request to request.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::config::{Config, TopicConfig};
use crate::protocol::batch::{Compression, Rules, TimestampType};
use crate::types::{Image, TimestampMs, TopicId, TopicImage, TopicName};

type Configs = Arc<BTreeMap<String, String>>;

/// The settings of one topic that matter for its batches.
#[derive(Debug)]
pub(in crate::server) struct TopicRules {
    topic_id: TopicId,
    name: TopicName,
    max_message_bytes: i32,
    max_decompressed_message_bytes: i32,
    segment_bytes: i32,
    is_compacted: bool,
    timestamp_type: TimestampType,
    before_max_ms: i64,
    after_max_ms: i64,
    compression_type: Option<Compression>,
}

impl TopicRules {
    fn new(broker: &Config, image: &Image, topic: &TopicImage) -> Self {
        let config = TopicConfig::of(broker, image, topic);
        let timestamp_type = match config.message_timestamp_type.as_str() {
            "LogAppendTime" => TimestampType::LogAppendTime,
            _ => TimestampType::CreateTime,
        };
        Self {
            topic_id: topic.id,
            name: topic.name.clone(),
            max_message_bytes: config.max_message_bytes,
            max_decompressed_message_bytes: config.max_decompressed_message_bytes,
            segment_bytes: config.segment_bytes,
            is_compacted: config.is_compact(),
            timestamp_type,
            before_max_ms: config.message_timestamp_before_max_ms,
            after_max_ms: config.message_timestamp_after_max_ms,
            compression_type: Compression::of_topic(&config.compression_type),
        }
    }

    pub(super) fn topic_id(&self) -> TopicId {
        self.topic_id
    }

    pub(super) fn of_partition(&self, partition: i32, now: TimestampMs, produce_version: i16) -> Rules<'_> {
        Rules {
            topic: &self.name,
            partition,
            max_message_bytes: self.max_message_bytes,
            max_decompressed_message_bytes: self.max_decompressed_message_bytes,
            segment_bytes: self.segment_bytes,
            is_compacted: self.is_compacted,
            timestamp_type: self.timestamp_type,
            before_max_ms: self.before_max_ms,
            after_max_ms: self.after_max_ms,
            compression_type: self.compression_type,
            now,
            produce_version,
        }
    }
}

/// The rules of topics that were produced to. An entry holds as long as the configs it was made from are the same.
#[derive(Debug, Default)]
pub(in crate::server) struct RulesCache {
    by_topic: Mutex<BTreeMap<TopicId, Cached>>,
}

#[derive(Debug)]
struct Cached {
    topic_configs: Configs,
    broker_configs: Configs,
    rules: Arc<TopicRules>,
}

impl RulesCache {
    pub(super) fn of(&self, broker: &Config, image: &Image, topic: &TopicImage) -> Arc<TopicRules> {
        // Each critical section leaves the map whole, even if it panicked.
        let mut by_topic = self.by_topic.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cached) = by_topic.get(&topic.id)
            && Arc::ptr_eq(&cached.topic_configs, &topic.configs)
            && Arc::ptr_eq(&cached.broker_configs, &image.broker_configs)
        {
            return Arc::clone(&cached.rules);
        }
        if by_topic.len() > image.topics.len() {
            by_topic.retain(|id, _| image.topic_names.contains_key(id));
        }
        let rules = Arc::new(TopicRules::new(broker, image, topic));
        let cached = Cached {
            topic_configs: Arc::clone(&topic.configs),
            broker_configs: Arc::clone(&image.broker_configs),
            rules: Arc::clone(&rules),
        };
        by_topic.insert(topic.id, cached);
        rules
    }
}
