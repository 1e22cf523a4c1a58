//! What settings must hold of each other, as Kafka checks when a broker starts (`GroupCoordinatorConfig`,
//! `ShareGroupConfig`, `KafkaConfig`). The same checks guard a change at run time.

use super::{Config, ConfigError, list_elements};

/// A named number.
type Named = (&'static str, i64);

fn at_least((name, value): Named, (low_name, low): Named) -> Result<(), ConfigError> {
    if value < low {
        return Err(ConfigError::new(name, format!("{name} must be greater than or equal to {low_name}")));
    }
    Ok(())
}

fn at_most((name, value): Named, (high_name, high): Named) -> Result<(), ConfigError> {
    if value > high {
        return Err(ConfigError::new(name, format!("{name} must be less than or equal to {high_name}")));
    }
    Ok(())
}

fn below((name, value): Named, (high_name, high): Named) -> Result<(), ConfigError> {
    if value >= high {
        return Err(ConfigError::new(name, format!("{name} must be less than {high_name}")));
    }
    Ok(())
}

/// `low <= value <= high`, the limits first.
fn within(value: Named, low: Named, high: Named) -> Result<(), ConfigError> {
    at_least(high, low)?;
    at_least(value, low)?;
    at_most(value, high)
}

macro_rules! named {
    ($config:ident.$field:ident, $name:literal) => {
        ($name, i64::from($config.$field))
    };
}

impl Config {
    /// Checks that the settings go together.
    ///
    /// # Errors
    /// [`ConfigError`] that names the two keys, in Kafka's words.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.check_streams_groups()?;
        self.check_consumer_groups()?;
        self.check_share_groups()?;
        self.check_classic_groups()?;
        self.check_log()
    }

    fn check_streams_groups(&self) -> Result<(), ConfigError> {
        let session = named!(self.group_streams_session_timeout_ms, "group.streams.session.timeout.ms");
        let heartbeat = named!(self.group_streams_heartbeat_interval_ms, "group.streams.heartbeat.interval.ms");
        within(
            session,
            named!(self.group_streams_min_session_timeout_ms, "group.streams.min.session.timeout.ms"),
            named!(self.group_streams_max_session_timeout_ms, "group.streams.max.session.timeout.ms"),
        )?;
        within(
            heartbeat,
            named!(self.group_streams_min_heartbeat_interval_ms, "group.streams.min.heartbeat.interval.ms"),
            named!(self.group_streams_max_heartbeat_interval_ms, "group.streams.max.heartbeat.interval.ms"),
        )?;
        below(heartbeat, session)?;
        within(
            named!(self.group_streams_assignment_interval_ms, "group.streams.assignment.interval.ms"),
            named!(self.group_streams_min_assignment_interval_ms, "group.streams.min.assignment.interval.ms"),
            named!(self.group_streams_max_assignment_interval_ms, "group.streams.max.assignment.interval.ms"),
        )?;
        at_most(
            named!(self.group_streams_num_standby_replicas, "group.streams.num.standby.replicas"),
            named!(self.group_streams_max_standby_replicas, "group.streams.max.standby.replicas"),
        )?;
        at_most(
            named!(self.group_streams_num_warmup_replicas, "group.streams.num.warmup.replicas"),
            named!(self.group_streams_max_warmup_replicas, "group.streams.max.warmup.replicas"),
        )?;
        at_least(
            named!(self.group_streams_task_offset_interval_ms, "group.streams.task.offset.interval.ms"),
            named!(self.group_streams_min_task_offset_interval_ms, "group.streams.min.task.offset.interval.ms"),
        )?;
        let tags = "group.streams.rack.aware.assignment.tags";
        // Duplicates are gone from the field, but not from the text that was given.
        let given = self.explicit_text(tags).map_or(0, |text| list_elements(text).count());
        if given > self.group_streams_rack_aware_assignment_tags.len() {
            return Err(ConfigError::new(tags, format!("{tags} must not contain duplicate tag keys.")));
        }
        Ok(())
    }

    fn check_consumer_groups(&self) -> Result<(), ConfigError> {
        let session = named!(self.group_consumer_session_timeout_ms, "group.consumer.session.timeout.ms");
        let heartbeat = named!(self.group_consumer_heartbeat_interval_ms, "group.consumer.heartbeat.interval.ms");
        within(
            session,
            named!(self.group_consumer_min_session_timeout_ms, "group.consumer.min.session.timeout.ms"),
            named!(self.group_consumer_max_session_timeout_ms, "group.consumer.max.session.timeout.ms"),
        )?;
        within(
            heartbeat,
            named!(self.group_consumer_min_heartbeat_interval_ms, "group.consumer.min.heartbeat.interval.ms"),
            named!(self.group_consumer_max_heartbeat_interval_ms, "group.consumer.max.heartbeat.interval.ms"),
        )?;
        below(heartbeat, session)?;
        within(
            named!(self.group_consumer_assignment_interval_ms, "group.consumer.assignment.interval.ms"),
            named!(self.group_consumer_min_assignment_interval_ms, "group.consumer.min.assignment.interval.ms"),
            named!(self.group_consumer_max_assignment_interval_ms, "group.consumer.max.assignment.interval.ms"),
        )
    }

    fn check_share_groups(&self) -> Result<(), ConfigError> {
        let session = named!(self.group_share_session_timeout_ms, "group.share.session.timeout.ms");
        let heartbeat = named!(self.group_share_heartbeat_interval_ms, "group.share.heartbeat.interval.ms");
        within(
            session,
            named!(self.group_share_min_session_timeout_ms, "group.share.min.session.timeout.ms"),
            named!(self.group_share_max_session_timeout_ms, "group.share.max.session.timeout.ms"),
        )?;
        within(
            heartbeat,
            named!(self.group_share_min_heartbeat_interval_ms, "group.share.min.heartbeat.interval.ms"),
            named!(self.group_share_max_heartbeat_interval_ms, "group.share.max.heartbeat.interval.ms"),
        )?;
        below(heartbeat, session)?;
        within(
            named!(self.group_share_assignment_interval_ms, "group.share.assignment.interval.ms"),
            named!(self.group_share_min_assignment_interval_ms, "group.share.min.assignment.interval.ms"),
            named!(self.group_share_max_assignment_interval_ms, "group.share.max.assignment.interval.ms"),
        )?;
        let lock = named!(self.group_share_record_lock_duration_ms, "group.share.record.lock.duration.ms");
        at_least(
            lock,
            named!(self.group_share_min_record_lock_duration_ms, "group.share.min.record.lock.duration.ms"),
        )?;
        at_least(
            named!(self.group_share_max_record_lock_duration_ms, "group.share.max.record.lock.duration.ms"),
            lock,
        )?;
        let count = named!(self.group_share_delivery_count_limit, "group.share.delivery.count.limit");
        at_least(count, named!(self.group_share_min_delivery_count_limit, "group.share.min.delivery.count.limit"))?;
        at_least(named!(self.group_share_max_delivery_count_limit, "group.share.max.delivery.count.limit"), count)?;
        let locks = named!(self.group_share_partition_max_record_locks, "group.share.partition.max.record.locks");
        let low = named!(self.group_share_min_partition_max_record_locks, "group.share.min.partition.max.record.locks");
        let high =
            named!(self.group_share_max_partition_max_record_locks, "group.share.max.partition.max.record.locks");
        at_least(locks, low)?;
        at_least(high, locks)?;
        at_least(
            named!(self.group_share_max_share_sessions, "group.share.max.share.sessions"),
            named!(self.group_share_max_size, "group.share.max.size"),
        )
    }

    fn check_classic_groups(&self) -> Result<(), ConfigError> {
        // Kafka lets this pass; no member could join then.
        at_least(
            named!(self.group_max_session_timeout_ms, "group.max.session.timeout.ms"),
            named!(self.group_min_session_timeout_ms, "group.min.session.timeout.ms"),
        )?;
        let protocols = &self.group_coordinator_rebalance_protocols;
        if !protocols.iter().any(|protocol| protocol == "classic") {
            let text = "Disabling the 'classic' protocol is not supported.";
            return Err(ConfigError::new("group.coordinator.rebalance.protocols", text));
        }
        Ok(())
    }

    fn check_log(&self) -> Result<(), ConfigError> {
        let refused = |name: &str, text: &str| Err(ConfigError::new(name, format!("{name} must be {text}")));
        if self.retention_ms() == 0 {
            return refused("log.retention.ms", "unlimited (-1) or, greater than or equal to 1");
        }
        if self.roll_ms() < 1 {
            return refused("log.roll.ms", "greater than or equal to 1");
        }
        if self.roll_jitter_ms() < 0 {
            return refused("log.roll.jitter.ms", "greater than or equal to 0");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(settings: &str) -> Option<String> {
        let mut config = Config::default();
        for setting in settings.split(';') {
            let (name, value) = setting.split_once('=').expect("a setting");
            config.set(name, value).expect("known").expect("good");
        }
        config.check().err().map(|error| error.message)
    }

    const REFUSED: &str = "
        group.streams.session.timeout.ms=30000 => group.streams.session.timeout.ms must be greater than or equal to group.streams.min.session.timeout.ms
        group.streams.session.timeout.ms=70000 => group.streams.session.timeout.ms must be less than or equal to group.streams.max.session.timeout.ms
        group.streams.min.session.timeout.ms=70000 => group.streams.max.session.timeout.ms must be greater than or equal to group.streams.min.session.timeout.ms
        group.streams.heartbeat.interval.ms=4000 => group.streams.heartbeat.interval.ms must be greater than or equal to group.streams.min.heartbeat.interval.ms
        group.streams.heartbeat.interval.ms=20000 => group.streams.heartbeat.interval.ms must be less than or equal to group.streams.max.heartbeat.interval.ms
        group.streams.min.heartbeat.interval.ms=16000 => group.streams.max.heartbeat.interval.ms must be greater than or equal to group.streams.min.heartbeat.interval.ms
        group.streams.heartbeat.interval.ms=15000;group.streams.min.session.timeout.ms=1;group.streams.session.timeout.ms=15000 => group.streams.heartbeat.interval.ms must be less than group.streams.session.timeout.ms
        group.streams.num.standby.replicas=3 => group.streams.num.standby.replicas must be less than or equal to group.streams.max.standby.replicas
        group.streams.assignment.interval.ms=16000 => group.streams.assignment.interval.ms must be less than or equal to group.streams.max.assignment.interval.ms
        group.streams.min.assignment.interval.ms=2000 => group.streams.assignment.interval.ms must be greater than or equal to group.streams.min.assignment.interval.ms
        group.streams.num.warmup.replicas=30 => group.streams.num.warmup.replicas must be less than or equal to group.streams.max.warmup.replicas
        group.streams.task.offset.interval.ms=14000 => group.streams.task.offset.interval.ms must be greater than or equal to group.streams.min.task.offset.interval.ms
        group.streams.rack.aware.assignment.tags=a,a => group.streams.rack.aware.assignment.tags must not contain duplicate tag keys.
        group.consumer.session.timeout.ms=30000 => group.consumer.session.timeout.ms must be greater than or equal to group.consumer.min.session.timeout.ms
        group.consumer.heartbeat.interval.ms=20000 => group.consumer.heartbeat.interval.ms must be less than or equal to group.consumer.max.heartbeat.interval.ms
        group.consumer.heartbeat.interval.ms=15000;group.consumer.min.session.timeout.ms=1;group.consumer.session.timeout.ms=15000 => group.consumer.heartbeat.interval.ms must be less than group.consumer.session.timeout.ms
        group.consumer.assignment.interval.ms=16000 => group.consumer.assignment.interval.ms must be less than or equal to group.consumer.max.assignment.interval.ms
        group.share.session.timeout.ms=30000 => group.share.session.timeout.ms must be greater than or equal to group.share.min.session.timeout.ms
        group.share.heartbeat.interval.ms=20000 => group.share.heartbeat.interval.ms must be less than or equal to group.share.max.heartbeat.interval.ms
        group.share.heartbeat.interval.ms=15000;group.share.min.session.timeout.ms=1;group.share.session.timeout.ms=15000 => group.share.heartbeat.interval.ms must be less than group.share.session.timeout.ms
        group.share.assignment.interval.ms=16000 => group.share.assignment.interval.ms must be less than or equal to group.share.max.assignment.interval.ms
        group.share.record.lock.duration.ms=1000 => group.share.record.lock.duration.ms must be greater than or equal to group.share.min.record.lock.duration.ms
        group.share.record.lock.duration.ms=70000 => group.share.max.record.lock.duration.ms must be greater than or equal to group.share.record.lock.duration.ms
        group.share.min.delivery.count.limit=5;group.share.delivery.count.limit=4 => group.share.delivery.count.limit must be greater than or equal to group.share.min.delivery.count.limit
        group.share.delivery.count.limit=10;group.share.max.delivery.count.limit=9 => group.share.max.delivery.count.limit must be greater than or equal to group.share.delivery.count.limit
        group.share.min.partition.max.record.locks=300;group.share.partition.max.record.locks=200 => group.share.partition.max.record.locks must be greater than or equal to group.share.min.partition.max.record.locks
        group.share.partition.max.record.locks=5000 => group.share.max.partition.max.record.locks must be greater than or equal to group.share.partition.max.record.locks
        group.share.max.share.sessions=100 => group.share.max.share.sessions must be greater than or equal to group.share.max.size
        group.min.session.timeout.ms=2000000 => group.max.session.timeout.ms must be greater than or equal to group.min.session.timeout.ms
        group.coordinator.rebalance.protocols=consumer => Disabling the 'classic' protocol is not supported.
        log.retention.ms=0 => log.retention.ms must be unlimited (-1) or, greater than or equal to 1
        log.retention.hours=0 => log.retention.ms must be unlimited (-1) or, greater than or equal to 1
        log.roll.ms=0 => log.roll.ms must be greater than or equal to 1
        log.roll.jitter.ms=-1 => log.roll.jitter.ms must be greater than or equal to 0";

    #[test]
    fn values_that_do_not_go_together_are_told_in_kafkas_words() {
        for line in REFUSED.lines().filter(|line| !line.trim().is_empty()) {
            let (settings, message) = line.trim().split_once(" => ").expect("settings => message");
            assert_eq!(refusal(settings).as_deref(), Some(message), "{settings}");
        }
    }

    #[test]
    fn the_defaults_go_together_and_so_do_the_edges() {
        assert_eq!(Config::default().check(), Ok(()));
        for settings in [
            "group.streams.session.timeout.ms=60000",
            "group.streams.heartbeat.interval.ms=15000",
            "group.streams.num.standby.replicas=2",
            "group.streams.assignment.interval.ms=0",
            "log.retention.ms=-5",
            "log.cleanup.policy=",
        ] {
            assert_eq!(refusal(settings), None, "{settings}");
        }
    }
}
