//! The broker's own keys.

use super::key::{Bounds, config_table};

config_table! {
    /// The settings a server is started with.
    pub struct Config, rows BROKER_KEYS {
        /// The largest request frame that is read, in bytes; a larger one closes the connection.
        socket_request_max_bytes: i32 = "socket.request.max.bytes", "104857600", Bounds::AtLeast(1), fixed;
        /// How many requests may wait for the coordinator at once; further ones wait in their connections.
        queued_max_requests: i32 = "queued.max.requests", "500", Bounds::AtLeast(1), fixed;
        /// How many connections may be open at once.
        max_connections: i32 = "max.connections", "2147483647", Bounds::AtLeast(0), dynamic;
        /// How many connections one client address may have open at once.
        max_connections_per_ip: i32 = "max.connections.per.ip", "2147483647", Bounds::AtLeast(0), dynamic;
        /// A connection on which nothing happens for this many milliseconds is closed.
        connections_max_idle_ms: i64 = "connections.max.idle.ms", "600000", Bounds::Any, fixed;

        /// Whether a Metadata request may create a topic that does not exist.
        auto_create_topics_enable: bool = "auto.create.topics.enable", "true", Bounds::Any, fixed;
        /// Whether topics can be deleted.
        delete_topic_enable: bool = "delete.topic.enable", "true", Bounds::Any, fixed;
        /// The partition count of a topic created without one.
        num_partitions: i32 = "num.partitions", "1", Bounds::AtLeast(1), dynamic;
        /// The replication factor of a topic created without one; there is one broker.
        default_replication_factor: i32 = "default.replication.factor", "1", Bounds::AtLeast(1), fixed;

        /// An idempotent producer that is idle in a partition for this many milliseconds is forgotten there.
        producer_id_expiration_ms: i32 = "producer.id.expiration.ms", "86400000", Bounds::AtLeast(1), dynamic;
        /// How often idle producers are looked for, in milliseconds.
        producer_id_expiration_check_interval_ms: i32 = "producer.id.expiration.check.interval.ms", "600000", Bounds::AtLeast(1), fixed;

        /// The largest metadata text of a committed offset, in UTF-16 units.
        offset_metadata_max_bytes: i32 = "offset.metadata.max.bytes", "4096", Bounds::AtLeast(0), fixed;
        /// How long a committed offset is kept after its group became empty, in minutes.
        offsets_retention_minutes: i32 = "offsets.retention.minutes", "10080", Bounds::AtLeast(1), fixed;
        /// How often expired offsets and groups are looked for, in milliseconds.
        offsets_retention_check_interval_ms: i64 = "offsets.retention.check.interval.ms", "600000", Bounds::AtLeast(1), fixed;

        /// A streams member that is silent for this many milliseconds is removed.
        group_streams_session_timeout_ms: i32 = "group.streams.session.timeout.ms", "45000", Bounds::AtLeast(1), fixed;
        /// The lowest session timeout a streams group may set, in milliseconds.
        group_streams_min_session_timeout_ms: i32 = "group.streams.min.session.timeout.ms", "45000", Bounds::AtLeast(1), fixed;
        /// The highest session timeout a streams group may set, in milliseconds.
        group_streams_max_session_timeout_ms: i32 = "group.streams.max.session.timeout.ms", "60000", Bounds::AtLeast(1), fixed;
        /// How often a streams member should heartbeat, in milliseconds.
        group_streams_heartbeat_interval_ms: i32 = "group.streams.heartbeat.interval.ms", "5000", Bounds::AtLeast(1), fixed;
        /// The lowest heartbeat interval a streams group may set, in milliseconds.
        group_streams_min_heartbeat_interval_ms: i32 = "group.streams.min.heartbeat.interval.ms", "5000", Bounds::AtLeast(1), fixed;
        /// The highest heartbeat interval a streams group may set, in milliseconds.
        group_streams_max_heartbeat_interval_ms: i32 = "group.streams.max.heartbeat.interval.ms", "15000", Bounds::AtLeast(1), fixed;
        /// How many members a streams group may have.
        group_streams_max_size: i32 = "group.streams.max.size", "2147483647", Bounds::AtLeast(1), fixed;
        /// How many standby replicas each stateful task of a streams group gets.
        group_streams_num_standby_replicas: i32 = "group.streams.num.standby.replicas", "0", Bounds::AtLeast(0), fixed;
        /// The most standby replicas a streams group may set.
        group_streams_max_standby_replicas: i32 = "group.streams.max.standby.replicas", "2", Bounds::AtLeast(0), fixed;
        /// How long the first assignment of an empty streams group waits for further members, in milliseconds.
        group_streams_initial_rebalance_delay_ms: i32 = "group.streams.initial.rebalance.delay.ms", "3000", Bounds::AtLeast(0), fixed;
        /// The least time between two assignments of a streams group, in milliseconds.
        group_streams_assignment_interval_ms: i32 = "group.streams.assignment.interval.ms", "1000", Bounds::AtLeast(0), dynamic;
        /// The lowest assignment interval a streams group may set, in milliseconds.
        group_streams_min_assignment_interval_ms: i32 = "group.streams.min.assignment.interval.ms", "0", Bounds::AtLeast(0), fixed;
        /// The highest assignment interval a streams group may set, in milliseconds.
        group_streams_max_assignment_interval_ms: i32 = "group.streams.max.assignment.interval.ms", "15000", Bounds::AtLeast(0), fixed;
        /// How often a streams member reports the offsets of its tasks, in milliseconds.
        group_streams_task_offset_interval_ms: i32 = "group.streams.task.offset.interval.ms", "60000", Bounds::AtLeast(1), fixed;
        /// The lag in records up to which a task's copy counts as caught up.
        group_streams_acceptable_recovery_lag: i64 = "group.streams.acceptable.recovery.lag", "10000", Bounds::AtLeast(0), fixed;
        /// The assignors of streams groups; the first is the default.
        group_streams_assignors: Vec<String> = "group.streams.assignors", "sticky", Bounds::Any, fixed;
    }
}
