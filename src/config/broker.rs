//! The broker's own keys: Kafka's names and defaults, and a few of our own (section "This server").
//!
//! Kafka's keys that mean nothing on one node stand in [`super::known`].

use std::collections::BTreeMap;

use super::ConfigError;
use super::key::Bounds;
use super::table::config_table;

config_table! {
    /// The settings a server is started with.
    pub struct Config, rows BROKER_KEYS, also explicit: BTreeMap<String, String> {
        // This server
        /// When an answer may leave: `synced`, once the disk has what it rests on, or `relaxed`, once the operating system has it (a power loss may then take the last second).
        durability: String = "durability", "synced", Bounds::OneOf(&["synced", "relaxed"]), fixed;
        /// The size of the journal, in bytes, at which a checkpoint is made; it bounds the time of a recovery.
        journal_max_bytes: i64 = "journal.max.bytes", "536870912", Bounds::AtLeast(1_048_576), fixed;
        /// The address on which metrics and health are served, as host:port; "" for none.
        http_listen: String = "http.listen", "127.0.0.1:9464", Bounds::Any, fixed;
        /// How many partitions all topics together may have.
        max_partitions: i32 = "max.partitions", "100000", Bounds::AtLeast(1), fixed;
        /// Whether APIs without an assigned number are offered.
        unstable_api_versions_enable: bool = "unstable.api.versions.enable", "false", Bounds::Any, fixed, internal;

        // Node and listeners
        /// The id of this node in metadata answers.
        node_id: i32 = "node.id", "1", Bounds::AtLeast(0), fixed;
        /// The rack of this node, told in metadata answers.
        broker_rack: Option<String> = "broker.rack", unset, Bounds::Any, fixed;
        /// Where clients connect, as NAME://host:port; the first that is not a controller's is used. Only PLAINTEXT is served.
        listeners: Vec<String> = "listeners", "PLAINTEXT://127.0.0.1:9092", Bounds::NotEmpty, fixed;
        /// The address that clients are told; that of `listeners` if not set.
        advertised_listeners: Option<Vec<String>> = "advertised.listeners", unset, Bounds::NotEmpty, fixed;
        /// The security protocol of each listener name.
        listener_security_protocol_map: String = "listener.security.protocol.map", "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT", Bounds::Any, fixed;
        /// The listeners that belong to a controller; they are passed over.
        controller_listener_names: Vec<String> = "controller.listener.names", "", Bounds::Any, fixed;
        /// The data directory if the command line names none; of several the first.
        log_dirs: Option<Vec<String>> = "log.dirs", unset, Bounds::NotEmpty, fixed;

        // Connections and requests
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
        /// The most bytes that one Fetch answer carries; a single larger batch is still sent.
        fetch_max_bytes: i32 = "fetch.max.bytes", "57671680", Bounds::AtLeast(1024), fixed;
        /// How many fetch sessions are kept at once.
        max_incremental_fetch_session_cache_slots: i32 = "max.incremental.fetch.session.cache.slots", "1000", Bounds::AtLeast(0), fixed;
        /// The most partitions that one answer to `DescribeTopicPartitions` carries.
        max_request_partition_size_limit: i32 = "max.request.partition.size.limit", "2000", Bounds::AtLeast(1), fixed;

        // Topics
        /// Whether a Metadata request may create a topic that does not exist.
        auto_create_topics_enable: bool = "auto.create.topics.enable", "true", Bounds::Any, fixed;
        /// Whether topics can be deleted.
        delete_topic_enable: bool = "delete.topic.enable", "true", Bounds::Any, fixed;
        /// The partition count of a topic created without one.
        num_partitions: i32 = "num.partitions", "1", Bounds::AtLeast(1), fixed;
        /// The replication factor of a topic created without one; there is one broker.
        default_replication_factor: i32 = "default.replication.factor", "1", Bounds::AtLeast(1), fixed;

        // Defaults of topics
        /// How batches are stored: as the producer sent them, uncompressed, or with the named codec.
        compression_type: String = "compression.type", "producer", Bounds::OneOf(&["uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"]), dynamic;
        /// The level of gzip; -1 for the codec's own default.
        compression_gzip_level: i32 = "compression.gzip.level", "-1", Bounds::BetweenOr(1, 9, -1), dynamic;
        /// The level of lz4.
        compression_lz4_level: i32 = "compression.lz4.level", "9", Bounds::Between(1, 17), dynamic;
        /// The level of zstd.
        compression_zstd_level: i32 = "compression.zstd.level", "3", Bounds::Between(-131_072, 22), dynamic;
        /// Whether old segments are deleted, compacted, or both.
        log_cleanup_policy: Vec<String> = "log.cleanup.policy", "delete", Bounds::OneOf(&["compact", "delete"]), dynamic;
        /// Whether compaction runs at all.
        log_cleaner_enable: bool = "log.cleaner.enable", "true", Bounds::Any, fixed;
        /// How long compaction rests when there is nothing to compact, in milliseconds.
        log_cleaner_backoff_ms: i64 = "log.cleaner.backoff.ms", "15000", Bounds::AtLeast(0), dynamic;
        /// How long a compacted topic keeps the mark of a deleted key, in milliseconds.
        log_cleaner_delete_retention_ms: i64 = "log.cleaner.delete.retention.ms", "86400000", Bounds::AtLeast(0), dynamic;
        /// The longest time a record may stay uncompacted, in milliseconds.
        log_cleaner_max_compaction_lag_ms: i64 = "log.cleaner.max.compaction.lag.ms", "9223372036854775807", Bounds::AtLeast(1), dynamic;
        /// The least time a record stays uncompacted, in milliseconds.
        log_cleaner_min_compaction_lag_ms: i64 = "log.cleaner.min.compaction.lag.ms", "0", Bounds::AtLeast(0), dynamic;
        /// The share of uncompacted bytes from which a log is compacted.
        log_cleaner_min_cleanable_ratio: f64 = "log.cleaner.min.cleanable.ratio", "0.5", Bounds::BetweenDoubles(0.0, 1.0), dynamic;
        /// After how many records a log is forced to disk in Kafka; here the journal is, before each answer.
        log_flush_interval_messages: i64 = "log.flush.interval.messages", "9223372036854775807", Bounds::AtLeast(1), dynamic;
        /// After how many milliseconds a log is forced to disk in Kafka; here the journal is, before each answer.
        log_flush_interval_ms: Option<i64> = "log.flush.interval.ms", unset, Bounds::Any, dynamic;
        /// What holds where log.flush.interval.ms is not set.
        log_flush_scheduler_interval_ms: i64 = "log.flush.scheduler.interval.ms", "9223372036854775807", Bounds::Any, fixed;
        /// How many bytes of records lie between two entries of an offset index.
        log_index_interval_bytes: i32 = "log.index.interval.bytes", "4096", Bounds::AtLeast(0), dynamic;
        /// The size at which an index closes its segment, in bytes.
        log_index_size_max_bytes: i32 = "log.index.size.max.bytes", "10485760", Bounds::AtLeast(4), dynamic;
        /// Stored and told; there is no tiered storage.
        log_local_retention_bytes: i64 = "log.local.retention.bytes", "-2", Bounds::AtLeast(-2), dynamic;
        /// Stored and told; there is no tiered storage.
        log_local_retention_ms: i64 = "log.local.retention.ms", "-2", Bounds::AtLeast(-2), dynamic;
        /// How far a record's timestamp may lie ahead of the server's clock, in milliseconds.
        log_message_timestamp_after_max_ms: i64 = "log.message.timestamp.after.max.ms", "3600000", Bounds::AtLeast(0), dynamic;
        /// How far a record's timestamp may lie behind the server's clock, in milliseconds.
        log_message_timestamp_before_max_ms: i64 = "log.message.timestamp.before.max.ms", "9223372036854775807", Bounds::AtLeast(0), dynamic;
        /// Whether a record has the producer's time or that of its append.
        log_message_timestamp_type: String = "log.message.timestamp.type", "CreateTime", Bounds::OneOf(&["CreateTime", "LogAppendTime"]), dynamic;
        /// Stored and told; segments grow as they are written.
        log_preallocate: bool = "log.preallocate", "false", Bounds::Any, dynamic;
        /// Stored and told; there is no tiered storage.
        log_remote_copy_lag_bytes: i64 = "log.remote.copy.lag.bytes", "-1", Bounds::AtLeast(-1), dynamic;
        /// Stored and told; there is no tiered storage.
        log_remote_copy_lag_ms: i64 = "log.remote.copy.lag.ms", "0", Bounds::AtLeast(-1), dynamic;
        /// The size a partition may reach before old segments are deleted, in bytes; -1 for no limit.
        log_retention_bytes: i64 = "log.retention.bytes", "-1", Bounds::Any, dynamic;
        /// How long a record is kept, in milliseconds; -1 for ever.
        log_retention_ms: Option<i64> = "log.retention.ms", unset, Bounds::Any, dynamic;
        /// How long a record is kept where log.retention.ms is not set, in minutes.
        log_retention_minutes: Option<i32> = "log.retention.minutes", unset, Bounds::Any, fixed;
        /// How long a record is kept where neither log.retention.ms nor log.retention.minutes is set, in hours.
        log_retention_hours: i32 = "log.retention.hours", "168", Bounds::Any, fixed;
        /// How often old segments are looked for, in milliseconds.
        log_retention_check_interval_ms: i64 = "log.retention.check.interval.ms", "300000", Bounds::AtLeast(1), fixed;
        /// The age at which a segment is closed, in milliseconds.
        log_roll_ms: Option<i64> = "log.roll.ms", unset, Bounds::Any, dynamic;
        /// The age at which a segment is closed where log.roll.ms is not set, in hours.
        log_roll_hours: i32 = "log.roll.hours", "168", Bounds::AtLeast(1), fixed;
        /// By how much at most the age of a segment varies by chance, in milliseconds.
        log_roll_jitter_ms: Option<i64> = "log.roll.jitter.ms", unset, Bounds::Any, dynamic;
        /// What holds where log.roll.jitter.ms is not set, in hours.
        log_roll_jitter_hours: i32 = "log.roll.jitter.hours", "0", Bounds::AtLeast(0), fixed;
        /// The size at which a segment is closed and a new one begun, in bytes.
        log_segment_bytes: i32 = "log.segment.bytes", "1073741824", Bounds::AtLeast(1_048_576), dynamic;
        /// How long the file of a deleted segment stays, in milliseconds.
        log_segment_delete_delay_ms: i64 = "log.segment.delete.delay.ms", "60000", Bounds::AtLeast(0), dynamic;
        /// The largest size of a batch once decompressed, in bytes.
        max_decompressed_message_bytes: i32 = "max.decompressed.message.bytes", "2147483639", Bounds::Between(1, 2_147_483_639), dynamic;
        /// The largest record batch that is accepted, in bytes, as compressed.
        message_max_bytes: i32 = "message.max.bytes", "1048588", Bounds::AtLeast(0), dynamic;
        /// Stored and told; there is one replica.
        min_insync_replicas: i32 = "min.insync.replicas", "1", Bounds::AtLeast(1), dynamic;
        /// Stored and told; there is one replica.
        unclean_leader_election_enable: bool = "unclean.leader.election.enable", "false", Bounds::Any, dynamic;

        // Producers and transactions
        /// An idle producer is forgotten after this many milliseconds.
        producer_id_expiration_ms: i32 = "producer.id.expiration.ms", "86400000", Bounds::AtLeast(1), dynamic;
        /// How often idle producers are looked for, in milliseconds.
        producer_id_expiration_check_interval_ms: i32 = "producer.id.expiration.check.interval.ms", "600000", Bounds::AtLeast(1), fixed, internal;
        /// The longest transaction timeout a producer may ask for, in milliseconds.
        transaction_max_timeout_ms: i32 = "transaction.max.timeout.ms", "900000", Bounds::AtLeast(1), fixed;
        /// An idle transactional id is forgotten after this many milliseconds.
        transactional_id_expiration_ms: i32 = "transactional.id.expiration.ms", "604800000", Bounds::AtLeast(1), fixed;
        /// How often transactions beyond their timeout are looked for, in milliseconds.
        transaction_abort_timed_out_transaction_cleanup_interval_ms: i32 = "transaction.abort.timed.out.transaction.cleanup.interval.ms", "10000", Bounds::AtLeast(1), fixed;
        /// How often idle transactional ids are looked for, in milliseconds.
        transaction_remove_expired_transaction_cleanup_interval_ms: i32 = "transaction.remove.expired.transaction.cleanup.interval.ms", "3600000", Bounds::AtLeast(1), fixed;
        /// Whether a producer may leave a transaction prepared for another system to decide.
        transaction_two_phase_commit_enable: bool = "transaction.two.phase.commit.enable", "false", Bounds::Any, fixed;

        // Offsets
        /// The largest metadata text of a committed offset, in UTF-16 units.
        offset_metadata_max_bytes: i32 = "offset.metadata.max.bytes", "4096", Bounds::AtLeast(0), fixed;
        /// How long a committed offset is kept after its group became empty, in minutes.
        offsets_retention_minutes: i32 = "offsets.retention.minutes", "10080", Bounds::AtLeast(1), fixed;
        /// How often expired offsets and groups are looked for, in milliseconds.
        offsets_retention_check_interval_ms: i64 = "offsets.retention.check.interval.ms", "600000", Bounds::AtLeast(1), fixed;

        // Groups of all types
        /// The kinds of groups that are served.
        group_coordinator_rebalance_protocols: Vec<String> = "group.coordinator.rebalance.protocols", "classic,consumer,streams", Bounds::OneOf(&["consumer", "classic", "share", "streams"]), fixed;

        // Classic groups
        /// The lowest session timeout a classic member may ask for, in milliseconds.
        group_min_session_timeout_ms: i32 = "group.min.session.timeout.ms", "6000", Bounds::Any, fixed;
        /// The highest session timeout a classic member may ask for, in milliseconds.
        group_max_session_timeout_ms: i32 = "group.max.session.timeout.ms", "1800000", Bounds::Any, fixed;
        /// How long the first rebalance of an empty classic group waits for further members, in milliseconds.
        group_initial_rebalance_delay_ms: i32 = "group.initial.rebalance.delay.ms", "3000", Bounds::Any, fixed;
        /// How many members a classic group may have.
        group_max_size: i32 = "group.max.size", "2147483647", Bounds::AtLeast(1), fixed;

        // Consumer groups (KIP-848)
        /// A member that is silent for this many milliseconds is removed.
        group_consumer_session_timeout_ms: i32 = "group.consumer.session.timeout.ms", "45000", Bounds::AtLeast(1), fixed;
        /// The lowest session timeout a consumer group may set, in milliseconds.
        group_consumer_min_session_timeout_ms: i32 = "group.consumer.min.session.timeout.ms", "45000", Bounds::AtLeast(1), fixed;
        /// The highest session timeout a consumer group may set, in milliseconds.
        group_consumer_max_session_timeout_ms: i32 = "group.consumer.max.session.timeout.ms", "60000", Bounds::AtLeast(1), fixed;
        /// How often a member should heartbeat, in milliseconds.
        group_consumer_heartbeat_interval_ms: i32 = "group.consumer.heartbeat.interval.ms", "5000", Bounds::AtLeast(1), fixed;
        /// The lowest heartbeat interval a consumer group may set, in milliseconds.
        group_consumer_min_heartbeat_interval_ms: i32 = "group.consumer.min.heartbeat.interval.ms", "5000", Bounds::AtLeast(1), fixed;
        /// The highest heartbeat interval a consumer group may set, in milliseconds.
        group_consumer_max_heartbeat_interval_ms: i32 = "group.consumer.max.heartbeat.interval.ms", "15000", Bounds::AtLeast(1), fixed;
        /// How many members a consumer group may have.
        group_consumer_max_size: i32 = "group.consumer.max.size", "2147483647", Bounds::AtLeast(1), fixed;
        /// The assignors of consumer groups; the first is the default.
        group_consumer_assignors: Vec<String> = "group.consumer.assignors", "uniform,range", Bounds::SomeOf(&["uniform", "range"]), fixed;
        /// Which way a group may move between the classic and the consumer protocol.
        group_consumer_migration_policy: String = "group.consumer.migration.policy", "bidirectional", Bounds::OneOfAnyCase(&["DISABLED", "DOWNGRADE", "UPGRADE", "BIDIRECTIONAL"]), fixed;
        /// The least time between two assignments of a consumer group, in milliseconds.
        group_consumer_assignment_interval_ms: i32 = "group.consumer.assignment.interval.ms", "1000", Bounds::AtLeast(0), dynamic;
        /// The lowest assignment interval a consumer group may set, in milliseconds.
        group_consumer_min_assignment_interval_ms: i32 = "group.consumer.min.assignment.interval.ms", "0", Bounds::AtLeast(0), fixed;
        /// The highest assignment interval a consumer group may set, in milliseconds.
        group_consumer_max_assignment_interval_ms: i32 = "group.consumer.max.assignment.interval.ms", "15000", Bounds::AtLeast(0), fixed;
        /// How often the topics of a regular expression are resolved anew, in milliseconds.
        group_consumer_regex_refresh_interval_ms: i32 = "group.consumer.regex.refresh.interval.ms", "600000", Bounds::AtLeast(10_000), fixed, internal;
        /// Whether Kafka computes an assignment on another thread.
        group_consumer_assignor_offload_enable: bool = "group.consumer.assignor.offload.enable", "true", Bounds::Any, dynamic, internal;

        // Share groups (KIP-932)
        /// A member that is silent for this many milliseconds is removed.
        group_share_session_timeout_ms: i32 = "group.share.session.timeout.ms", "45000", Bounds::AtLeast(1), fixed;
        /// The lowest session timeout a share group may set, in milliseconds.
        group_share_min_session_timeout_ms: i32 = "group.share.min.session.timeout.ms", "45000", Bounds::AtLeast(1), fixed;
        /// The highest session timeout a share group may set, in milliseconds.
        group_share_max_session_timeout_ms: i32 = "group.share.max.session.timeout.ms", "60000", Bounds::AtLeast(1), fixed;
        /// How often a member should heartbeat, in milliseconds.
        group_share_heartbeat_interval_ms: i32 = "group.share.heartbeat.interval.ms", "5000", Bounds::AtLeast(1), fixed;
        /// The lowest heartbeat interval a share group may set, in milliseconds.
        group_share_min_heartbeat_interval_ms: i32 = "group.share.min.heartbeat.interval.ms", "5000", Bounds::AtLeast(1), fixed;
        /// The highest heartbeat interval a share group may set, in milliseconds.
        group_share_max_heartbeat_interval_ms: i32 = "group.share.max.heartbeat.interval.ms", "15000", Bounds::AtLeast(1), fixed;
        /// How many members a share group may have.
        group_share_max_size: i32 = "group.share.max.size", "200", Bounds::Between(1, 1000), fixed;
        /// How many share sessions there may be at once.
        group_share_max_share_sessions: i32 = "group.share.max.share.sessions", "2000", Bounds::AtLeast(1), fixed;
        /// The assignors of share groups; the first is the default.
        group_share_assignors: Vec<String> = "group.share.assignors", "simple", Bounds::SomeOf(&["simple"]), fixed;
        /// The least time between two assignments of a share group, in milliseconds.
        group_share_assignment_interval_ms: i32 = "group.share.assignment.interval.ms", "1000", Bounds::AtLeast(0), dynamic;
        /// The lowest assignment interval a share group may set, in milliseconds.
        group_share_min_assignment_interval_ms: i32 = "group.share.min.assignment.interval.ms", "0", Bounds::AtLeast(0), fixed;
        /// The highest assignment interval a share group may set, in milliseconds.
        group_share_max_assignment_interval_ms: i32 = "group.share.max.assignment.interval.ms", "15000", Bounds::AtLeast(0), fixed;
        /// How often a record is delivered before it is given up.
        group_share_delivery_count_limit: i32 = "group.share.delivery.count.limit", "5", Bounds::Between(2, 10), fixed;
        /// The lowest delivery count limit a share group may set.
        group_share_min_delivery_count_limit: i32 = "group.share.min.delivery.count.limit", "2", Bounds::Between(2, 5), fixed;
        /// The highest delivery count limit a share group may set.
        group_share_max_delivery_count_limit: i32 = "group.share.max.delivery.count.limit", "10", Bounds::Between(5, 25), fixed;
        /// How many records of a partition may be with members at once.
        group_share_partition_max_record_locks: i32 = "group.share.partition.max.record.locks", "2000", Bounds::Between(100, 10_000), fixed;
        /// The lowest number of record locks a share group may set.
        group_share_min_partition_max_record_locks: i32 = "group.share.min.partition.max.record.locks", "100", Bounds::Between(100, 2000), fixed;
        /// The highest number of record locks a share group may set.
        group_share_max_partition_max_record_locks: i32 = "group.share.max.partition.max.record.locks", "4000", Bounds::Between(2000, 10_000), fixed;
        /// How long a member may keep a record before it goes to another, in milliseconds.
        group_share_record_lock_duration_ms: i32 = "group.share.record.lock.duration.ms", "30000", Bounds::Between(1000, 3_600_000), fixed;
        /// The lowest lock duration a share group may set, in milliseconds.
        group_share_min_record_lock_duration_ms: i32 = "group.share.min.record.lock.duration.ms", "15000", Bounds::Between(1000, 30_000), fixed;
        /// The highest lock duration a share group may set, in milliseconds.
        group_share_max_record_lock_duration_ms: i32 = "group.share.max.record.lock.duration.ms", "60000", Bounds::Between(30_000, 3_600_000), fixed;
        /// Whether Kafka computes an assignment on another thread.
        group_share_assignor_offload_enable: bool = "group.share.assignor.offload.enable", "true", Bounds::Any, dynamic, internal;

        // Streams groups (KIP-1071)
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
        /// The assignors of streams groups; the first is the default.
        group_streams_assignors: Vec<String> = "group.streams.assignors", "sticky", Bounds::SomeOf(&["sticky"]), fixed;
        /// The client tags over which the standby replicas of a task are spread.
        group_streams_rack_aware_assignment_tags: Vec<String> = "group.streams.rack.aware.assignment.tags", "", Bounds::Any, fixed;
        /// Whether Kafka computes an assignment on another thread.
        group_streams_assignor_offload_enable: bool = "group.streams.assignor.offload.enable", "true", Bounds::Any, dynamic, internal;
        /// How often a streams member reports the offsets of its tasks, in milliseconds.
        group_streams_task_offset_interval_ms: i32 = "group.streams.task.offset.interval.ms", "60000", Bounds::AtLeast(1), fixed, internal;
        /// The lowest task offset interval a streams group may set, in milliseconds.
        group_streams_min_task_offset_interval_ms: i32 = "group.streams.min.task.offset.interval.ms", "15000", Bounds::AtLeast(1), fixed, internal;
        /// How many further copies of tasks may warm up at once.
        group_streams_num_warmup_replicas: i32 = "group.streams.num.warmup.replicas", "2", Bounds::AtLeast(0), fixed, internal;
        /// The most warm-up replicas a streams group may set.
        group_streams_max_warmup_replicas: i32 = "group.streams.max.warmup.replicas", "20", Bounds::AtLeast(0), fixed, internal;
        /// The lag in records up to which a task's copy counts as caught up.
        group_streams_acceptable_recovery_lag: i64 = "group.streams.acceptable.recovery.lag", "10000", Bounds::AtLeast(0), fixed, internal;
    }
}

/// Keys of which the first that is set holds, and in what unit: milliseconds in one unit of the key.
const RETENTION: [&str; 3] = ["log.retention.ms", "log.retention.minutes", "log.retention.hours"];
const ROLL: [&str; 2] = ["log.roll.ms", "log.roll.hours"];
const ROLL_JITTER: [&str; 2] = ["log.roll.jitter.ms", "log.roll.jitter.hours"];
const FLUSH: [&str; 2] = ["log.flush.interval.ms", "log.flush.scheduler.interval.ms"];

const HOUR_MS: i64 = 3_600_000;
const MINUTE_MS: i64 = 60_000;

impl Config {
    /// Sets one key from text. `None` if there is no such key.
    ///
    /// # Errors
    /// [`ConfigError`] if the value is not of the type or out of bounds; nothing is changed.
    pub fn set(&mut self, name: &str, value: &str) -> Option<Result<(), ConfigError>> {
        let outcome = self.assign(name, value)?;
        if outcome.is_ok() {
            self.explicit.insert(name.to_owned(), value.trim().to_owned());
        }
        Some(outcome)
    }

    /// The text that was given for a key when the server was started, if any.
    #[must_use]
    pub fn explicit_text(&self, name: &str) -> Option<&str> {
        self.explicit.get(name).map(String::as_str)
    }

    /// These settings with what was changed while the server ran (`Image::broker_configs`).
    ///
    /// A stored value was checked when it was set. One that no longer fits, because the limits it was checked against
    /// have changed since, is moved to the nearest that does.
    #[must_use]
    pub fn with_dynamic(&self, changed: &BTreeMap<String, String>) -> Self {
        let mut config = self.unclamped(changed);
        config.clamp_intervals();
        config
    }

    /// These settings with what was changed, whether or not it goes together.
    pub(crate) fn unclamped(&self, changed: &BTreeMap<String, String>) -> Self {
        let mut config = self.clone();
        for (name, value) in changed {
            if Self::key(name).is_some_and(|key| key.is_dynamic) {
                let _ = config.assign(name, value);
            }
        }
        config
    }

    fn clamp_intervals(&mut self) {
        let clamp = |value: &mut i32, low: i32, high: i32| *value = (*value).min(high).max(low);
        clamp(
            &mut self.group_consumer_assignment_interval_ms,
            self.group_consumer_min_assignment_interval_ms,
            self.group_consumer_max_assignment_interval_ms,
        );
        clamp(
            &mut self.group_share_assignment_interval_ms,
            self.group_share_min_assignment_interval_ms,
            self.group_share_max_assignment_interval_ms,
        );
        clamp(
            &mut self.group_streams_assignment_interval_ms,
            self.group_streams_min_assignment_interval_ms,
            self.group_streams_max_assignment_interval_ms,
        );
    }

    /// How long topics keep a record unless they say otherwise, in milliseconds; -1 for ever.
    #[must_use]
    pub fn retention_ms(&self) -> i64 {
        let minutes = self.log_retention_minutes.map(|minutes| i64::from(minutes).saturating_mul(MINUTE_MS));
        let hours = i64::from(self.log_retention_hours).saturating_mul(HOUR_MS);
        self.log_retention_ms.or(minutes).unwrap_or(hours).max(-1)
    }

    /// The age at which topics close a segment unless they say otherwise, in milliseconds.
    #[must_use]
    pub fn roll_ms(&self) -> i64 {
        self.log_roll_ms.unwrap_or_else(|| i64::from(self.log_roll_hours).saturating_mul(HOUR_MS))
    }

    /// By how much the age of a segment varies unless a topic says otherwise, in milliseconds.
    #[must_use]
    pub fn roll_jitter_ms(&self) -> i64 {
        self.log_roll_jitter_ms.unwrap_or_else(|| i64::from(self.log_roll_jitter_hours).saturating_mul(HOUR_MS))
    }

    /// What topics say of flush.ms unless they say otherwise.
    #[must_use]
    pub fn flush_ms(&self) -> i64 {
        self.log_flush_interval_ms.unwrap_or(self.log_flush_scheduler_interval_ms)
    }

    /// The data directory that the settings name, if any.
    #[must_use]
    pub fn data_dir(&self) -> Option<&str> {
        self.log_dirs.as_ref()?.first().map(String::as_str)
    }

    /// The keys that stand in for one another, the strongest first; only the key itself for most.
    #[must_use]
    pub fn synonyms(name: &str) -> &'static [&'static str] {
        let families: [&'static [&'static str]; 4] = [&RETENTION, &ROLL, &ROLL_JITTER, &FLUSH];
        families.into_iter().find(|family| family.contains(&name)).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(settings: &[(&str, &str)]) -> Config {
        let mut config = Config::default();
        for (name, value) in settings {
            config.set(name, value).expect("known").expect("good");
        }
        config
    }

    #[test]
    fn the_finest_unit_of_a_retention_that_is_set_holds() {
        assert_eq!(Config::default().retention_ms(), 604_800_000);
        assert_eq!(config(&[("log.retention.hours", "1")]).retention_ms(), 3_600_000);
        let minutes = [("log.retention.hours", "1"), ("log.retention.minutes", "2")];
        assert_eq!(config(&minutes).retention_ms(), 120_000);
        assert_eq!(config(&[("log.retention.minutes", "2"), ("log.retention.ms", "3")]).retention_ms(), 3);
        assert_eq!(config(&[("log.retention.hours", "-7")]).retention_ms(), -1);
        assert_eq!(config(&[("log.roll.hours", "2")]).roll_ms(), 7_200_000);
        assert_eq!(config(&[("log.roll.hours", "2"), ("log.roll.ms", "5")]).roll_ms(), 5);
        assert_eq!(config(&[("log.roll.jitter.hours", "1")]).roll_jitter_ms(), 3_600_000);
        assert_eq!(config(&[("log.flush.scheduler.interval.ms", "8")]).flush_ms(), 8);
    }

    #[test]
    fn a_change_at_run_time_holds_for_dynamic_keys_only() {
        let changed = [("log.retention.ms", "5"), ("num.partitions", "9"), ("no.such.key", "1")];
        let changed = changed.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let config = Config::default().with_dynamic(&changed);
        assert_eq!((config.retention_ms(), config.num_partitions), (5, 1));
        assert_eq!(config.explicit_text("log.retention.ms"), None, "it was not given at start");
    }

    #[test]
    fn a_stored_interval_beyond_todays_limit_is_clamped() {
        let changed = BTreeMap::from([("group.streams.assignment.interval.ms".to_owned(), "14000".to_owned())]);
        let config = config(&[("group.streams.max.assignment.interval.ms", "2000")]).with_dynamic(&changed);
        assert_eq!(config.group_streams_assignment_interval_ms, 2000);
    }

    #[test]
    fn a_key_is_described_in_words_and_stands_once() {
        let mut names: Vec<&str> = BROKER_KEYS.iter().map(|key| key.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
        for key in BROKER_KEYS {
            assert!(key.doc.trim().ends_with('.'), "{}: {}", key.name, key.doc);
            if let Some(default) = key.default {
                assert_eq!(key.check(default), Ok(()), "{}", key.name);
                assert_eq!(Config::default().text(key.name), Some(Some(default.to_owned())), "{}", key.name);
            }
        }
    }
}
