//! The keys that can be set on one group (resource type GROUP), and what holds for a group in the end.

use super::Config;
use super::key::{Bounds, config_table};

config_table! {
    /// What a group may override.
    pub struct GroupConfig, rows GROUP_KEYS {
        /// A streams member that is silent for this many milliseconds is removed.
        streams_session_timeout_ms: i32 = "streams.session.timeout.ms", "45000", Bounds::AtLeast(1), dynamic;
        /// How often a streams member should heartbeat, in milliseconds.
        streams_heartbeat_interval_ms: i32 = "streams.heartbeat.interval.ms", "5000", Bounds::AtLeast(1), dynamic;
        /// How many standby replicas each stateful task gets.
        streams_num_standby_replicas: i32 = "streams.num.standby.replicas", "0", Bounds::AtLeast(0), dynamic;
        /// How long the first assignment waits for further members, in milliseconds.
        streams_initial_rebalance_delay_ms: i32 = "streams.initial.rebalance.delay.ms", "3000", Bounds::AtLeast(0), dynamic;
        /// The least time between two assignments, in milliseconds.
        streams_assignment_interval_ms: i32 = "streams.assignment.interval.ms", "1000", Bounds::AtLeast(0), dynamic;
    }
}

impl GroupConfig {
    /// What holds for a group: its own values where set, clamped to the broker's bounds, else the broker's.
    #[must_use]
    pub fn effective<'a>(broker: &Config, overrides: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut effective = Self {
            streams_session_timeout_ms: broker.group_streams_session_timeout_ms,
            streams_heartbeat_interval_ms: broker.group_streams_heartbeat_interval_ms,
            streams_num_standby_replicas: broker.group_streams_num_standby_replicas,
            streams_initial_rebalance_delay_ms: broker.group_streams_initial_rebalance_delay_ms,
            streams_assignment_interval_ms: broker.group_streams_assignment_interval_ms,
        };
        for (name, value) in overrides {
            // A stored value was checked when it was set; one that no longer parses counts as not set.
            let _ = effective.set(name, value);
        }
        effective
    }
}
