//! The keys that can be set on one group (resource type GROUP), and what holds for a group in the end.
//!
//! Answers to Kafka's `GroupConfig`. A key of a group type that is not served yet is stored and described all the same.

use std::collections::BTreeMap;

use super::key::{Bounds, list_elements};
use super::table::config_table;
use super::{Config, ConfigError};
use crate::types::Image;

config_table! {
    /// What a group may override.
    pub struct GroupConfig, rows GROUP_KEYS {
        /// A consumer member that is silent for this many milliseconds is removed.
        consumer_session_timeout_ms: i32 = "consumer.session.timeout.ms", "45000", Bounds::AtLeast(1), dynamic like "group.consumer.session.timeout.ms";
        /// How often a consumer member should heartbeat, in milliseconds.
        consumer_heartbeat_interval_ms: i32 = "consumer.heartbeat.interval.ms", "5000", Bounds::AtLeast(1), dynamic like "group.consumer.heartbeat.interval.ms";
        /// The least time between two assignments of a consumer group, in milliseconds.
        consumer_assignment_interval_ms: i32 = "consumer.assignment.interval.ms", "1000", Bounds::AtLeast(0), dynamic like "group.consumer.assignment.interval.ms";
        /// Whether Kafka computes an assignment on another thread.
        consumer_assignor_offload_enable: bool = "consumer.assignor.offload.enable", "true", Bounds::Any, dynamic like "group.consumer.assignor.offload.enable", internal;

        /// A share member that is silent for this many milliseconds is removed.
        share_session_timeout_ms: i32 = "share.session.timeout.ms", "45000", Bounds::AtLeast(1), dynamic like "group.share.session.timeout.ms";
        /// How often a share member should heartbeat, in milliseconds.
        share_heartbeat_interval_ms: i32 = "share.heartbeat.interval.ms", "5000", Bounds::AtLeast(1), dynamic like "group.share.heartbeat.interval.ms";
        /// How long a member may keep a record before it goes to another, in milliseconds.
        share_record_lock_duration_ms: i32 = "share.record.lock.duration.ms", "30000", Bounds::AtLeast(1000), dynamic like "group.share.record.lock.duration.ms";
        /// How often a record is delivered before it is given up.
        share_delivery_count_limit: i32 = "share.delivery.count.limit", "5", Bounds::AtLeast(2), dynamic like "group.share.delivery.count.limit";
        /// How many records of a partition may be with members at once.
        share_partition_max_record_locks: i32 = "share.partition.max.record.locks", "2000", Bounds::AtLeast(100), dynamic like "group.share.partition.max.record.locks";
        /// Where a share group begins in a partition: `latest`, `earliest`, or `by_duration:` and how long ago.
        share_auto_offset_reset: String = "share.auto.offset.reset", "latest", Bounds::OffsetReset, dynamic;
        /// Whether records of open and aborted transactions are delivered.
        share_isolation_level: String = "share.isolation.level", "read_uncommitted", Bounds::OneOf(&["read_committed", "read_uncommitted"]), dynamic;
        /// Whether a member may prolong the lock of a record.
        share_renew_acknowledge_enable: bool = "share.renew.acknowledge.enable", "true", Bounds::Any, dynamic;
        /// The least time between two assignments of a share group, in milliseconds.
        share_assignment_interval_ms: i32 = "share.assignment.interval.ms", "1000", Bounds::AtLeast(0), dynamic like "group.share.assignment.interval.ms";
        /// Whether Kafka computes an assignment on another thread.
        share_assignor_offload_enable: bool = "share.assignor.offload.enable", "true", Bounds::Any, dynamic like "group.share.assignor.offload.enable", internal;

        /// A streams member that is silent for this many milliseconds is removed.
        streams_session_timeout_ms: i32 = "streams.session.timeout.ms", "45000", Bounds::AtLeast(1), dynamic like "group.streams.session.timeout.ms";
        /// How often a streams member should heartbeat, in milliseconds.
        streams_heartbeat_interval_ms: i32 = "streams.heartbeat.interval.ms", "5000", Bounds::AtLeast(1), dynamic like "group.streams.heartbeat.interval.ms";
        /// How many standby replicas each stateful task gets.
        streams_num_standby_replicas: i32 = "streams.num.standby.replicas", "0", Bounds::AtLeast(0), dynamic like "group.streams.num.standby.replicas";
        /// How long the first assignment waits for further members, in milliseconds.
        streams_initial_rebalance_delay_ms: i32 = "streams.initial.rebalance.delay.ms", "3000", Bounds::AtLeast(0), dynamic like "group.streams.initial.rebalance.delay.ms";
        /// The least time between two assignments, in milliseconds.
        streams_assignment_interval_ms: i32 = "streams.assignment.interval.ms", "1000", Bounds::AtLeast(0), dynamic like "group.streams.assignment.interval.ms";
        /// The client tags over which the standby replicas of a task are spread.
        streams_rack_aware_assignment_tags: Vec<String> = "streams.rack.aware.assignment.tags", "", Bounds::Any, dynamic like "group.streams.rack.aware.assignment.tags";
        /// Whether Kafka computes an assignment on another thread.
        streams_assignor_offload_enable: bool = "streams.assignor.offload.enable", "true", Bounds::Any, dynamic like "group.streams.assignor.offload.enable", internal;
        /// How often a streams member reports the offsets of its tasks, in milliseconds.
        streams_task_offset_interval_ms: i32 = "streams.task.offset.interval.ms", "60000", Bounds::AtLeast(1), dynamic like "group.streams.task.offset.interval.ms", internal;
        /// How many further copies of tasks may warm up at once.
        streams_num_warmup_replicas: i32 = "streams.num.warmup.replicas", "2", Bounds::AtLeast(0), dynamic like "group.streams.num.warmup.replicas", internal;
        /// The lag in records up to which a task's copy counts as caught up.
        streams_acceptable_recovery_lag: i64 = "streams.acceptable.recovery.lag", "10000", Bounds::AtLeast(0), dynamic like "group.streams.acceptable.recovery.lag", internal;
        /// The assignor of the group: one of group.streams.assignors; the first of them if not set.
        streams_assignor_name: Option<String> = "streams.assignor.name", unset, Bounds::Any, dynamic like "group.streams.assignors";

        /// The topic for records that a share group gives up; "" for none.
        errors_deadletterqueue_topic_name: String = "errors.deadletterqueue.topic.name", "", Bounds::Any, dynamic;
        /// Whether a given-up record is copied whole or only named.
        errors_deadletterqueue_copy_record_enable: bool = "errors.deadletterqueue.copy.record.enable", "false", Bounds::Any, dynamic;
    }
}

const SESSION_AND_HEARTBEAT: [(&str, &str); 3] = [
    ("consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"),
    ("share.session.timeout.ms", "share.heartbeat.interval.ms"),
    ("streams.session.timeout.ms", "streams.heartbeat.interval.ms"),
];

/// What the broker allows a group: the lowest and the highest value, where it sets one.
#[derive(Clone, Copy)]
struct Limits {
    low: Option<i32>,
    high: Option<i32>,
}

impl Limits {
    fn between(low: i32, high: i32) -> Self {
        Self { low: Some(low), high: Some(high) }
    }

    fn allows(self, number: i32) -> bool {
        self.low.is_none_or(|low| number >= low) && self.high.is_none_or(|high| number <= high)
    }

    fn clamp(self, number: i32) -> i32 {
        let number = self.high.map_or(number, |high| number.min(high));
        self.low.map_or(number, |low| number.max(low))
    }

    fn refusal(self, key: &str) -> String {
        match (self.low, self.high) {
            (Some(low), Some(high)) => format!("{key} must be in the range {low} to {high} inclusive."),
            (Some(low), None) => format!("{key} must be greater than or equal to {low}"),
            (None, Some(high)) => format!("{key} must be less than or equal to {high}"),
            (None, None) => format!("{key} is not valid"),
        }
    }
}

/// Each number that a group may set within the broker's limits, in the order in which they are checked.
fn limited<'a>(group: &'a mut GroupConfig, broker: &Config) -> [(&'static str, &'a mut i32, Limits); 15] {
    let between = Limits::between;
    let (consumer_session, consumer_heartbeat, consumer_interval) = (
        between(broker.group_consumer_min_session_timeout_ms, broker.group_consumer_max_session_timeout_ms),
        between(broker.group_consumer_min_heartbeat_interval_ms, broker.group_consumer_max_heartbeat_interval_ms),
        between(broker.group_consumer_min_assignment_interval_ms, broker.group_consumer_max_assignment_interval_ms),
    );
    let (share_session, share_heartbeat, share_interval) = (
        between(broker.group_share_min_session_timeout_ms, broker.group_share_max_session_timeout_ms),
        between(broker.group_share_min_heartbeat_interval_ms, broker.group_share_max_heartbeat_interval_ms),
        between(broker.group_share_min_assignment_interval_ms, broker.group_share_max_assignment_interval_ms),
    );
    let (share_lock, share_count, share_locks) = (
        between(broker.group_share_min_record_lock_duration_ms, broker.group_share_max_record_lock_duration_ms),
        between(broker.group_share_min_delivery_count_limit, broker.group_share_max_delivery_count_limit),
        between(broker.group_share_min_partition_max_record_locks, broker.group_share_max_partition_max_record_locks),
    );
    let (streams_session, streams_heartbeat, streams_interval) = (
        between(broker.group_streams_min_session_timeout_ms, broker.group_streams_max_session_timeout_ms),
        between(broker.group_streams_min_heartbeat_interval_ms, broker.group_streams_max_heartbeat_interval_ms),
        between(broker.group_streams_min_assignment_interval_ms, broker.group_streams_max_assignment_interval_ms),
    );
    let standbys = Limits { low: None, high: Some(broker.group_streams_max_standby_replicas) };
    let warmups = Limits { low: None, high: Some(broker.group_streams_max_warmup_replicas) };
    let task_offsets = Limits { low: Some(broker.group_streams_min_task_offset_interval_ms), high: None };
    [
        ("consumer.session.timeout.ms", &mut group.consumer_session_timeout_ms, consumer_session),
        ("consumer.heartbeat.interval.ms", &mut group.consumer_heartbeat_interval_ms, consumer_heartbeat),
        ("consumer.assignment.interval.ms", &mut group.consumer_assignment_interval_ms, consumer_interval),
        ("share.session.timeout.ms", &mut group.share_session_timeout_ms, share_session),
        ("share.heartbeat.interval.ms", &mut group.share_heartbeat_interval_ms, share_heartbeat),
        ("share.record.lock.duration.ms", &mut group.share_record_lock_duration_ms, share_lock),
        ("share.delivery.count.limit", &mut group.share_delivery_count_limit, share_count),
        ("share.partition.max.record.locks", &mut group.share_partition_max_record_locks, share_locks),
        ("share.assignment.interval.ms", &mut group.share_assignment_interval_ms, share_interval),
        ("streams.session.timeout.ms", &mut group.streams_session_timeout_ms, streams_session),
        ("streams.heartbeat.interval.ms", &mut group.streams_heartbeat_interval_ms, streams_heartbeat),
        ("streams.num.standby.replicas", &mut group.streams_num_standby_replicas, standbys),
        ("streams.assignment.interval.ms", &mut group.streams_assignment_interval_ms, streams_interval),
        ("streams.task.offset.interval.ms", &mut group.streams_task_offset_interval_ms, task_offsets),
        ("streams.num.warmup.replicas", &mut group.streams_num_warmup_replicas, warmups),
    ]
}

impl GroupConfig {
    /// What holds for a group of the catalogue. `broker` must be the settings as changed at run time
    /// ([`Config::with_dynamic`]).
    #[must_use]
    pub fn of(broker: &Config, image: &Image, group: &str) -> Self {
        let overrides = image.group_configs.get(group).map(|configs| configs.iter());
        Self::effective(broker, overrides.into_iter().flatten().map(|(name, value)| (name.as_str(), value.as_str())))
    }

    /// What holds for a group: its own values where set, clamped to the broker's limits, else the broker's.
    #[must_use]
    pub fn effective<'a>(broker: &Config, overrides: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut effective = Self::unclamped(broker, overrides);
        for (_, number, limits) in limited(&mut effective, broker) {
            *number = limits.clamp(*number);
        }
        let assignors = &broker.group_streams_assignors;
        if !effective.streams_assignor_name.as_ref().is_some_and(|name| assignors.contains(name)) {
            effective.streams_assignor_name = assignors.first().cloned();
        }
        effective
    }

    /// A group's own values as they are stored, else the broker's: what DescribeConfigs shows.
    #[must_use]
    pub fn unclamped<'a>(broker: &Config, overrides: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut unclamped = Self::of_broker(broker);
        for (name, value) in overrides {
            // A stored value was checked when it was set; one that no longer parses counts as not set.
            let _ = unclamped.assign(name, value);
        }
        unclamped
    }

    /// What holds for a group without configs of its own.
    fn of_broker(broker: &Config) -> Self {
        Self {
            consumer_session_timeout_ms: broker.group_consumer_session_timeout_ms,
            consumer_heartbeat_interval_ms: broker.group_consumer_heartbeat_interval_ms,
            consumer_assignment_interval_ms: broker.group_consumer_assignment_interval_ms,
            consumer_assignor_offload_enable: broker.group_consumer_assignor_offload_enable,
            share_session_timeout_ms: broker.group_share_session_timeout_ms,
            share_heartbeat_interval_ms: broker.group_share_heartbeat_interval_ms,
            share_record_lock_duration_ms: broker.group_share_record_lock_duration_ms,
            share_delivery_count_limit: broker.group_share_delivery_count_limit,
            share_partition_max_record_locks: broker.group_share_partition_max_record_locks,
            share_assignment_interval_ms: broker.group_share_assignment_interval_ms,
            share_assignor_offload_enable: broker.group_share_assignor_offload_enable,
            streams_session_timeout_ms: broker.group_streams_session_timeout_ms,
            streams_heartbeat_interval_ms: broker.group_streams_heartbeat_interval_ms,
            streams_num_standby_replicas: broker.group_streams_num_standby_replicas,
            streams_initial_rebalance_delay_ms: broker.group_streams_initial_rebalance_delay_ms,
            streams_assignment_interval_ms: broker.group_streams_assignment_interval_ms,
            streams_rack_aware_assignment_tags: broker.group_streams_rack_aware_assignment_tags.clone(),
            streams_assignor_offload_enable: broker.group_streams_assignor_offload_enable,
            streams_task_offset_interval_ms: broker.group_streams_task_offset_interval_ms,
            streams_num_warmup_replicas: broker.group_streams_num_warmup_replicas,
            streams_acceptable_recovery_lag: broker.group_streams_acceptable_recovery_lag,
            streams_assignor_name: broker.group_streams_assignors.first().cloned(),
            ..Self::default()
        }
    }

    /// Checks the values a group is to have: known keys, good values, within the broker's limits.
    ///
    /// # Errors
    /// What is wrong, in Kafka's words.
    pub fn validate(broker: &Config, overrides: &BTreeMap<String, String>) -> Result<(), String> {
        Self::check_names(overrides.keys().map(String::as_str)).map_err(|error| error.message)?;
        let mut group = Self::of_broker(broker);
        for key in GROUP_KEYS {
            if let Some(value) = overrides.get(key.name) {
                // A list is read with duplicates gone, but duplicates are to be refused here.
                key.check(value).map_err(|error| error.message)?;
                let _ = group.assign(key.name, value);
            }
        }
        let tags = overrides.get("streams.rack.aware.assignment.tags").map_or("", String::as_str);
        if list_elements(tags).count() > group.streams_rack_aware_assignment_tags.len() {
            return Err("streams.rack.aware.assignment.tags must not contain duplicate tag keys.".to_owned());
        }
        for (name, number, limits) in limited(&mut group, broker) {
            if overrides.contains_key(name) && !limits.allows(*number) {
                return Err(limits.refusal(name));
            }
        }
        group.check_timeouts(overrides)?;
        group.check_names_of_others(broker)
    }

    /// Checks that all these are keys of groups.
    ///
    /// # Errors
    /// [`ConfigError`] naming the first that is not.
    pub fn check_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<(), ConfigError> {
        match names.into_iter().find(|name| Self::key(name).is_none()) {
            Some(name) => Err(ConfigError::new(name, format!("Unknown group config name: {name}"))),
            None => Ok(()),
        }
    }

    /// A session must outlast a heartbeat; where a group sets only one of the two, the broker's other counts.
    fn check_timeouts(&self, overrides: &BTreeMap<String, String>) -> Result<(), String> {
        let pairs = [
            (self.consumer_session_timeout_ms, self.consumer_heartbeat_interval_ms),
            (self.share_session_timeout_ms, self.share_heartbeat_interval_ms),
            (self.streams_session_timeout_ms, self.streams_heartbeat_interval_ms),
        ];
        for ((session_key, heartbeat_key), (session_ms, heartbeat_ms)) in SESSION_AND_HEARTBEAT.into_iter().zip(pairs) {
            let is_set = overrides.contains_key(session_key) || overrides.contains_key(heartbeat_key);
            if is_set && session_ms <= heartbeat_ms {
                return Err(format!("{session_key} must be greater than {heartbeat_key}"));
            }
        }
        Ok(())
    }

    fn check_names_of_others(&self, broker: &Config) -> Result<(), String> {
        let assignors = &broker.group_streams_assignors;
        if let Some(name) = &self.streams_assignor_name
            && !assignors.contains(name)
        {
            return Err(format!(
                "streams.assignor.name '{name}' is not a registered task assignor. Registered assignors are: [{}].",
                assignors.join(", ")
            ));
        }
        if self.errors_deadletterqueue_topic_name.starts_with("__") {
            return Err("errors.deadletterqueue.topic.name: DLQ topic name must not start with '__'".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
