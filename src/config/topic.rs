//! The keys that can be set on a topic, and what holds for a topic in the end.
//!
//! Answers to Kafka's `LogConfig`. All of Kafka's keys are stored and described; those marked "Stored and told" have no
//! effect on one node.

use std::collections::BTreeMap;

use super::key::Bounds;
use super::table::config_table;
use super::{Config, ConfigError};
use crate::types::{Image, TopicImage};

config_table! {
    /// What holds for a topic.
    pub struct TopicConfig, rows TOPIC_KEYS {
        /// Whether old segments are deleted, compacted, or both; with neither, all is kept.
        cleanup_policy: Vec<String> = "cleanup.policy", "delete", Bounds::OneOf(&["compact", "delete"]), dynamic like "log.cleanup.policy";
        /// The level of gzip; -1 for the codec's own default.
        compression_gzip_level: i32 = "compression.gzip.level", "-1", Bounds::BetweenOr(1, 9, -1), dynamic like "compression.gzip.level";
        /// The level of lz4.
        compression_lz4_level: i32 = "compression.lz4.level", "9", Bounds::Between(1, 17), dynamic like "compression.lz4.level";
        /// How batches are stored: as the producer sent them, uncompressed, or with the named codec.
        compression_type: String = "compression.type", "producer", Bounds::OneOf(&["uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"]), dynamic like "compression.type";
        /// The level of zstd.
        compression_zstd_level: i32 = "compression.zstd.level", "3", Bounds::Between(-131_072, 22), dynamic like "compression.zstd.level";
        /// How long compaction keeps the mark of a deleted key, in milliseconds.
        delete_retention_ms: i64 = "delete.retention.ms", "86400000", Bounds::AtLeast(0), dynamic like "log.cleaner.delete.retention.ms";
        /// Whether share groups may use this topic for the records they give up.
        errors_deadletterqueue_group_enable: bool = "errors.deadletterqueue.group.enable", "false", Bounds::Any, dynamic;
        /// How long the file of a deleted segment stays, in milliseconds.
        file_delete_delay_ms: i64 = "file.delete.delay.ms", "60000", Bounds::AtLeast(0), dynamic like "log.segment.delete.delay.ms";
        /// Stored and told; every answer waits for the journal's own flush.
        flush_messages: i64 = "flush.messages", "9223372036854775807", Bounds::AtLeast(1), dynamic like "log.flush.interval.messages";
        /// Stored and told; every answer waits for the journal's own flush.
        flush_ms: i64 = "flush.ms", "9223372036854775807", Bounds::AtLeast(0), dynamic like "log.flush.interval.ms";
        /// Stored and told; there is one replica.
        follower_replication_throttled_replicas: Vec<String> = "follower.replication.throttled.replicas", "", Bounds::ThrottledReplicas, dynamic;
        /// How many bytes of records lie between two entries of an offset index.
        index_interval_bytes: i32 = "index.interval.bytes", "4096", Bounds::AtLeast(0), dynamic like "log.index.interval.bytes";
        /// Stored and told; Kafka's tests use it to make segments smaller than `segment.bytes` can.
        internal_segment_bytes: Option<i32> = "internal.segment.bytes", unset, Bounds::Any, dynamic, internal;
        /// Stored and told; there is one replica.
        leader_replication_throttled_replicas: Vec<String> = "leader.replication.throttled.replicas", "", Bounds::ThrottledReplicas, dynamic;
        /// Stored and told; there is no tiered storage.
        local_retention_bytes: i64 = "local.retention.bytes", "-2", Bounds::AtLeast(-2), dynamic like "log.local.retention.bytes";
        /// Stored and told; there is no tiered storage.
        local_retention_ms: i64 = "local.retention.ms", "-2", Bounds::AtLeast(-2), dynamic like "log.local.retention.ms";
        /// The longest time a record may stay uncompacted, in milliseconds.
        max_compaction_lag_ms: i64 = "max.compaction.lag.ms", "9223372036854775807", Bounds::AtLeast(1), dynamic like "log.cleaner.max.compaction.lag.ms";
        /// The largest size of a batch once decompressed, in bytes.
        max_decompressed_message_bytes: i32 = "max.decompressed.message.bytes", "2147483639", Bounds::Between(1, 2_147_483_639), dynamic like "max.decompressed.message.bytes";
        /// The largest record batch that is accepted, in bytes, as compressed.
        max_message_bytes: i32 = "max.message.bytes", "1048588", Bounds::AtLeast(0), dynamic like "message.max.bytes";
        /// How far a record's timestamp may lie ahead of the server's clock, in milliseconds.
        message_timestamp_after_max_ms: i64 = "message.timestamp.after.max.ms", "3600000", Bounds::AtLeast(0), dynamic like "log.message.timestamp.after.max.ms";
        /// How far a record's timestamp may lie behind the server's clock, in milliseconds.
        message_timestamp_before_max_ms: i64 = "message.timestamp.before.max.ms", "9223372036854775807", Bounds::AtLeast(0), dynamic like "log.message.timestamp.before.max.ms";
        /// Whether a record has the producer's time (`CreateTime`) or that of its append (`LogAppendTime`).
        message_timestamp_type: String = "message.timestamp.type", "CreateTime", Bounds::OneOf(&["CreateTime", "LogAppendTime"]), dynamic like "log.message.timestamp.type";
        /// The share of uncompacted bytes from which the log is compacted.
        min_cleanable_dirty_ratio: f64 = "min.cleanable.dirty.ratio", "0.5", Bounds::BetweenDoubles(0.0, 1.0), dynamic like "log.cleaner.min.cleanable.ratio";
        /// The least time a record stays uncompacted, in milliseconds.
        min_compaction_lag_ms: i64 = "min.compaction.lag.ms", "0", Bounds::AtLeast(0), dynamic like "log.cleaner.min.compaction.lag.ms";
        /// Stored and told; there is one replica.
        min_insync_replicas: i32 = "min.insync.replicas", "1", Bounds::AtLeast(1), dynamic like "min.insync.replicas";
        /// Stored and told; segments grow as they are written.
        preallocate: bool = "preallocate", "false", Bounds::Any, dynamic like "log.preallocate";
        /// Stored and told; there is no tiered storage.
        remote_copy_lag_bytes: i64 = "remote.copy.lag.bytes", "-1", Bounds::AtLeast(-1), dynamic like "log.remote.copy.lag.bytes";
        /// Stored and told; there is no tiered storage.
        remote_copy_lag_ms: i64 = "remote.copy.lag.ms", "0", Bounds::AtLeast(-1), dynamic like "log.remote.copy.lag.ms";
        /// Stored and told; there is no tiered storage.
        remote_log_copy_disable: bool = "remote.log.copy.disable", "false", Bounds::Any, dynamic;
        /// Stored and told; there is no tiered storage.
        remote_log_delete_on_disable: bool = "remote.log.delete.on.disable", "false", Bounds::Any, dynamic;
        /// Must stay false; there is no tiered storage.
        remote_storage_enable: bool = "remote.storage.enable", "false", Bounds::Any, dynamic;
        /// The size a partition may reach before old segments are deleted, in bytes; -1 for no limit.
        retention_bytes: i64 = "retention.bytes", "-1", Bounds::Any, dynamic like "log.retention.bytes";
        /// How long a record is kept, in milliseconds; -1 for ever.
        retention_ms: i64 = "retention.ms", "604800000", Bounds::AtLeast(-1), dynamic like "log.retention.ms";
        /// The size at which a segment is closed and a new one begun, in bytes.
        segment_bytes: i32 = "segment.bytes", "1073741824", Bounds::AtLeast(1_048_576), dynamic like "log.segment.bytes";
        /// The size at which an index closes its segment, in bytes.
        segment_index_bytes: i32 = "segment.index.bytes", "10485760", Bounds::AtLeast(4), dynamic like "log.index.size.max.bytes";
        /// By how much at most the age of a segment varies by chance, in milliseconds.
        segment_jitter_ms: i64 = "segment.jitter.ms", "0", Bounds::AtLeast(0), dynamic like "log.roll.jitter.ms";
        /// The age at which a segment is closed, in milliseconds.
        segment_ms: i64 = "segment.ms", "604800000", Bounds::AtLeast(1), dynamic like "log.roll.ms";
        /// Stored and told; there is one replica.
        unclean_leader_election_enable: bool = "unclean.leader.election.enable", "false", Bounds::Any, dynamic like "unclean.leader.election.enable";
    }
}

impl TopicConfig {
    /// What holds for a topic of the catalogue.
    #[must_use]
    pub fn of(broker: &Config, image: &Image, topic: &TopicImage) -> Self {
        let overrides = topic.configs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        Self::effective(broker, &image.broker_configs, overrides)
    }

    /// What holds for a topic: its own values where set, else what the broker was told while it ran (`changed`), else
    /// what it was started with.
    #[must_use]
    pub fn effective<'a>(
        broker: &Config,
        changed: &BTreeMap<String, String>,
        overrides: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let mut effective =
            if changed.is_empty() { Self::of_broker(broker) } else { Self::of_broker(&broker.with_dynamic(changed)) };
        for (name, value) in overrides {
            // A stored value was checked when it was set; one that no longer parses counts as not set.
            let _ = effective.assign(name, value);
        }
        effective
    }

    /// What holds for a topic without configs of its own.
    fn of_broker(broker: &Config) -> Self {
        Self {
            cleanup_policy: broker.log_cleanup_policy.clone(),
            compression_gzip_level: broker.compression_gzip_level,
            compression_lz4_level: broker.compression_lz4_level,
            compression_type: broker.compression_type.clone(),
            compression_zstd_level: broker.compression_zstd_level,
            delete_retention_ms: broker.log_cleaner_delete_retention_ms,
            file_delete_delay_ms: broker.log_segment_delete_delay_ms,
            flush_messages: broker.log_flush_interval_messages,
            flush_ms: broker.flush_ms(),
            index_interval_bytes: broker.log_index_interval_bytes,
            local_retention_bytes: broker.log_local_retention_bytes,
            local_retention_ms: broker.log_local_retention_ms,
            max_compaction_lag_ms: broker.log_cleaner_max_compaction_lag_ms,
            max_decompressed_message_bytes: broker.max_decompressed_message_bytes,
            max_message_bytes: broker.message_max_bytes,
            message_timestamp_after_max_ms: broker.log_message_timestamp_after_max_ms,
            message_timestamp_before_max_ms: broker.log_message_timestamp_before_max_ms,
            message_timestamp_type: broker.log_message_timestamp_type.clone(),
            min_cleanable_dirty_ratio: broker.log_cleaner_min_cleanable_ratio,
            min_compaction_lag_ms: broker.log_cleaner_min_compaction_lag_ms,
            min_insync_replicas: broker.min_insync_replicas,
            preallocate: broker.log_preallocate,
            remote_copy_lag_bytes: broker.log_remote_copy_lag_bytes,
            remote_copy_lag_ms: broker.log_remote_copy_lag_ms,
            retention_bytes: broker.log_retention_bytes,
            retention_ms: broker.retention_ms(),
            segment_bytes: broker.log_segment_bytes,
            segment_index_bytes: broker.log_index_size_max_bytes,
            segment_jitter_ms: broker.roll_jitter_ms(),
            segment_ms: broker.roll_ms(),
            unclean_leader_election_enable: broker.unclean_leader_election_enable,
            ..Self::default()
        }
    }

    /// Checks the values a topic is to have: known keys, good values, and no conflict between them and with what the
    /// broker gives.
    ///
    /// # Errors
    /// [`ConfigError`] in Kafka's words.
    pub fn validate(
        broker: &Config,
        changed: &BTreeMap<String, String>,
        overrides: &BTreeMap<String, String>,
    ) -> Result<(), ConfigError> {
        Self::check_names(overrides.keys().map(String::as_str))?;
        for key in TOPIC_KEYS {
            if let Some(value) = overrides.get(key.name) {
                key.check(value)?;
            }
        }
        let overrides = overrides.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        Self::effective(broker, changed, overrides).check_conflicts()
    }

    /// Checks that all these are keys of topics.
    ///
    /// # Errors
    /// [`ConfigError`] naming the first that is not.
    pub fn check_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<(), ConfigError> {
        match names.into_iter().find(|name| Self::key(name).is_none()) {
            Some(name) => Err(ConfigError::new(name, format!("Unknown topic config name: {name}"))),
            None => Ok(()),
        }
    }

    fn check_conflicts(&self) -> Result<(), ConfigError> {
        if self.min_compaction_lag_ms > self.max_compaction_lag_ms {
            return Err(ConfigError::new(
                "min.compaction.lag.ms",
                format!(
                    "conflict topic config setting min.compaction.lag.ms ({}) > max.compaction.lag.ms ({})",
                    self.min_compaction_lag_ms, self.max_compaction_lag_ms
                ),
            ));
        }
        if self.remote_storage_enable {
            return Err(ConfigError::new(
                "remote.storage.enable",
                "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage.",
            ));
        }
        Ok(())
    }

    /// Whether old segments are deleted by age and size.
    #[must_use]
    pub fn is_delete(&self) -> bool {
        self.cleanup_policy.iter().any(|policy| policy == "delete")
    }

    /// Whether only the last record of each key is kept.
    #[must_use]
    pub fn is_compact(&self) -> bool {
        self.cleanup_policy.iter().any(|policy| policy == "compact")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::BROKER_KEYS;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn refusal(overrides: &[(&str, &str)]) -> Option<String> {
        TopicConfig::validate(&Config::default(), &BTreeMap::new(), &map(overrides)).err().map(|error| error.message)
    }

    #[test]
    fn all_keys_of_kafka_4_4_are_there_with_its_defaults() {
        assert_eq!(TOPIC_KEYS.len(), 38);
        assert_eq!(TopicConfig::effective(&Config::default(), &BTreeMap::new(), []), TopicConfig::default());
        for key in TOPIC_KEYS {
            if let Some(default) = key.default {
                assert_eq!(key.check(default), Ok(()), "{}", key.name);
                assert_eq!(TopicConfig::default().text(key.name), Some(Some(default.to_owned())), "{}", key.name);
            }
            assert!(key.doc.trim().ends_with('.'), "{}", key.name);
        }
    }

    #[test]
    fn every_synonym_is_a_key_of_the_broker_of_the_same_type() {
        for key in TOPIC_KEYS {
            let Some(synonym) = key.synonym else { continue };
            let broker = BROKER_KEYS.iter().find(|row| row.name == synonym).expect(synonym);
            assert_eq!(broker.kind, key.kind, "{synonym}");
            if broker.default.is_some() {
                assert_eq!(broker.default, key.default, "{synonym}");
            }
        }
    }

    #[test]
    fn each_broker_key_reaches_the_topic_key_it_stands_for() {
        for key in TOPIC_KEYS {
            let Some(synonym) = key.synonym else { continue };
            let value = match key.name {
                "cleanup.policy" => "compact",
                "compression.type" => "zstd",
                "message.timestamp.type" => "LogAppendTime",
                "preallocate" | "unclean.leader.election.enable" => "true",
                "min.cleanable.dirty.ratio" => "0.25",
                "segment.bytes" => "2097152",
                _ => "7",
            };
            let effective = TopicConfig::effective(&Config::default(), &map(&[(synonym, value)]), []);
            assert_eq!(effective.text(key.name), Some(Some(value.to_owned())), "{}", key.name);
        }
    }

    #[test]
    fn a_topics_own_value_wins_over_the_brokers_and_that_over_the_default() {
        let mut broker = Config::default();
        broker.set("log.retention.hours", "1").unwrap().unwrap();
        let none = BTreeMap::new();
        assert_eq!(TopicConfig::effective(&broker, &none, []).retention_ms, 3_600_000);
        let changed = map(&[("log.retention.ms", "12345")]);
        assert_eq!(TopicConfig::effective(&broker, &changed, []).retention_ms, 12_345);
        assert_eq!(TopicConfig::effective(&broker, &changed, [("retention.ms", "-1")]).retention_ms, -1);
        assert_eq!(TopicConfig::effective(&broker, &changed, [("retention.ms", "soon")]).retention_ms, 12_345);
    }

    #[test]
    fn a_refused_topic_config_is_told_in_kafkas_words() {
        let told = [
            (&[("nonsense", "x")][..], "Unknown topic config name: nonsense"),
            (
                &[("retention.ms", "soon")],
                "Invalid value soon for configuration retention.ms: Not a number of type LONG",
            ),
            (&[("retention.ms", "-2")], "Invalid value -2 for configuration retention.ms: Value must be at least -1"),
            (
                &[("min.compaction.lag.ms", "10"), ("max.compaction.lag.ms", "5")],
                "conflict topic config setting min.compaction.lag.ms (10) > max.compaction.lag.ms (5)",
            ),
            (
                &[("remote.storage.enable", "true")],
                "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage.",
            ),
            (
                &[("cleanup.policy", "maybe")],
                "Invalid value maybe for configuration cleanup.policy: String must be one of: compact, delete",
            ),
            (
                &[("segment.bytes", "100")],
                "Invalid value 100 for configuration segment.bytes: Value must be at least 1048576",
            ),
        ];
        for (overrides, message) in told {
            assert_eq!(refusal(overrides).as_deref(), Some(message));
        }
        assert_eq!(refusal(&[("cleanup.policy", ""), ("retention.ms", " 77 "), ("min.insync.replicas", "2")]), None);
    }

    #[test]
    fn the_brokers_compaction_lag_counts_in_a_conflict() {
        let changed = map(&[("log.cleaner.max.compaction.lag.ms", "5")]);
        let overrides = map(&[("min.compaction.lag.ms", "10")]);
        assert!(TopicConfig::validate(&Config::default(), &changed, &overrides).is_err());
        assert_eq!(refusal(&[("min.compaction.lag.ms", "10")]), None);
    }

    #[test]
    fn an_empty_cleanup_policy_neither_deletes_nor_compacts() {
        let effective = TopicConfig::effective(&Config::default(), &BTreeMap::new(), [("cleanup.policy", "")]);
        assert!(!effective.is_delete() && !effective.is_compact());
        assert!(TopicConfig::default().is_delete());
    }
}
