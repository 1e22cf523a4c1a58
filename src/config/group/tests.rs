//! Group settings: what holds, what is clamped, what is refused.

use super::*;
use crate::config::BROKER_KEYS;

fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn refusal(overrides: &[(&str, &str)]) -> Option<String> {
    GroupConfig::validate(&Config::default(), &map(overrides)).err()
}

#[test]
fn all_keys_of_kafka_4_4_are_there_with_its_defaults() {
    assert_eq!(GROUP_KEYS.len(), 27);
    let mut defaults = GroupConfig::effective(&Config::default(), []);
    assert_eq!(defaults.streams_assignor_name.take().as_deref(), Some("sticky"));
    assert_eq!(defaults, GroupConfig::default());
    for key in GROUP_KEYS {
        assert!(key.doc.trim().ends_with('.'), "{}", key.name);
        let Some(synonym) = key.synonym else { continue };
        let broker = BROKER_KEYS.iter().find(|row| row.name == synonym).expect(synonym);
        if key.name != "streams.assignor.name" {
            assert_eq!((broker.kind, broker.default), (key.kind, key.default), "{synonym}");
        }
    }
}

const REFUSED: &str = "
    nonsense=1 => Unknown group config name: nonsense
    streams.num.standby.replicas=many => Invalid value many for configuration streams.num.standby.replicas: Not a number of type INT
    streams.num.standby.replicas=9 => streams.num.standby.replicas must be less than or equal to 2
    streams.num.standby.replicas=-1 => Invalid value -1 for configuration streams.num.standby.replicas: Value must be at least 0
    streams.session.timeout.ms=1 => streams.session.timeout.ms must be in the range 45000 to 60000 inclusive.
    streams.session.timeout.ms=0 => Invalid value 0 for configuration streams.session.timeout.ms: Value must be at least 1
    streams.session.timeout.ms=60001 => streams.session.timeout.ms must be in the range 45000 to 60000 inclusive.
    streams.heartbeat.interval.ms=4999 => streams.heartbeat.interval.ms must be in the range 5000 to 15000 inclusive.
    streams.assignment.interval.ms=15001 => streams.assignment.interval.ms must be in the range 0 to 15000 inclusive.
    streams.initial.rebalance.delay.ms=-1 => Invalid value -1 for configuration streams.initial.rebalance.delay.ms: Value must be at least 0
    streams.assignor.name=X => streams.assignor.name 'X' is not a registered task assignor. Registered assignors are: [sticky].
    streams.assignor.name= => streams.assignor.name '' is not a registered task assignor. Registered assignors are: [sticky].
    streams.rack.aware.assignment.tags=a,b,a => streams.rack.aware.assignment.tags must not contain duplicate tag keys.
    streams.rack.aware.assignment.tags=a,,b => Configuration 'streams.rack.aware.assignment.tags' values must not be empty.
    streams.num.warmup.replicas=21 => streams.num.warmup.replicas must be less than or equal to 20
    streams.task.offset.interval.ms=14999 => streams.task.offset.interval.ms must be greater than or equal to 15000
    streams.acceptable.recovery.lag=-1 => Invalid value -1 for configuration streams.acceptable.recovery.lag: Value must be at least 0
    consumer.session.timeout.ms=1 => consumer.session.timeout.ms must be in the range 45000 to 60000 inclusive.
    consumer.heartbeat.interval.ms=1 => consumer.heartbeat.interval.ms must be in the range 5000 to 15000 inclusive.
    consumer.assignment.interval.ms=15001 => consumer.assignment.interval.ms must be in the range 0 to 15000 inclusive.
    share.session.timeout.ms=1 => share.session.timeout.ms must be in the range 45000 to 60000 inclusive.
    share.heartbeat.interval.ms=1 => share.heartbeat.interval.ms must be in the range 5000 to 15000 inclusive.
    share.assignment.interval.ms=15001 => share.assignment.interval.ms must be in the range 0 to 15000 inclusive.
    share.record.lock.duration.ms=1 => Invalid value 1 for configuration share.record.lock.duration.ms: Value must be at least 1000
    share.record.lock.duration.ms=14999 => share.record.lock.duration.ms must be in the range 15000 to 60000 inclusive.
    share.delivery.count.limit=11 => share.delivery.count.limit must be in the range 2 to 10 inclusive.
    share.partition.max.record.locks=4001 => share.partition.max.record.locks must be in the range 100 to 4000 inclusive.
    share.isolation.level=READ_COMMITTED => Invalid value READ_COMMITTED for configuration share.isolation.level: String must be one of: read_committed, read_uncommitted
    errors.deadletterqueue.topic.name=__dlq => errors.deadletterqueue.topic.name: DLQ topic name must not start with '__'";

#[test]
fn a_refused_group_config_is_told_in_kafkas_words() {
    for line in REFUSED.lines().filter(|line| !line.trim().is_empty()) {
        let (setting, message) = line.trim().split_once(" => ").expect("setting => message");
        let (key, value) = setting.split_once('=').expect("key=value");
        assert_eq!(refusal(&[(key, value)]).as_deref(), Some(message));
    }
}

#[test]
fn what_kafka_accepts_is_accepted() {
    for setting in [
        ("streams.initial.rebalance.delay.ms", "2147483647"),
        ("streams.assignor.name", "sticky"),
        ("streams.rack.aware.assignment.tags", ""),
        ("streams.rack.aware.assignment.tags", "a,b"),
        ("share.auto.offset.reset", "by_duration:PT1H"),
        ("errors.deadletterqueue.topic.name", "bad/name"),
        ("streams.num.standby.replicas", " 1 "),
    ] {
        assert_eq!(refusal(&[setting]), None, "{setting:?}");
    }
}

#[test]
fn a_session_must_outlast_the_heartbeat_also_where_only_one_is_set() {
    let mut broker = Config::default();
    for (name, value) in [
        ("group.streams.min.session.timeout.ms", "100"),
        ("group.streams.session.timeout.ms", "12000"),
        ("group.streams.min.heartbeat.interval.ms", "100"),
    ] {
        broker.set(name, value).unwrap().unwrap();
    }
    let refusal = |overrides: &[(&str, &str)]| GroupConfig::validate(&broker, &map(overrides)).err();
    let text = Some("streams.session.timeout.ms must be greater than streams.heartbeat.interval.ms".to_owned());
    assert_eq!(refusal(&[("streams.session.timeout.ms", "5000")]), text, "the broker's heartbeat interval is 5000");
    assert_eq!(refusal(&[("streams.heartbeat.interval.ms", "12000")]), text, "the broker's session timeout is 12000");
    let both = [("streams.session.timeout.ms", "300"), ("streams.heartbeat.interval.ms", "200")];
    assert_eq!(refusal(&both), None);
}

#[test]
fn a_group_has_its_own_values_and_the_brokers_for_the_rest() {
    let broker = Config {
        group_streams_session_timeout_ms: 50_000,
        group_streams_initial_rebalance_delay_ms: 0,
        ..Config::default()
    };
    let group = GroupConfig::effective(&broker, [("streams.num.standby.replicas", "1")]);
    assert_eq!(group.streams_num_standby_replicas, 1);
    assert_eq!(group.streams_session_timeout_ms, 50_000);
    assert_eq!(group.streams_initial_rebalance_delay_ms, 0);
}

#[test]
fn a_stored_value_beyond_todays_limits_is_clamped_when_used() {
    let stored = [
        ("streams.session.timeout.ms", "1000"),
        ("streams.heartbeat.interval.ms", "20000"),
        ("streams.num.standby.replicas", "5"),
        ("streams.task.offset.interval.ms", "1"),
        ("streams.assignor.name", "gone"),
        ("streams.assignment.interval.ms", "soon"),
    ];
    let group = GroupConfig::effective(&Config::default(), stored);
    assert_eq!(group.streams_session_timeout_ms, 45_000);
    assert_eq!(group.streams_heartbeat_interval_ms, 15_000);
    assert_eq!(group.streams_num_standby_replicas, 2);
    assert_eq!(group.streams_task_offset_interval_ms, 15_000);
    assert_eq!(group.streams_assignor_name.as_deref(), Some("sticky"));
    assert_eq!(group.streams_assignment_interval_ms, 1000, "what cannot be read counts as not set");
}

#[test]
fn each_broker_key_reaches_the_group_key_it_stands_for() {
    for key in GROUP_KEYS {
        let Some(synonym) = key.synonym else { continue };
        let value = match key.name {
            "streams.assignor.name" => "sticky",
            "streams.rack.aware.assignment.tags" => "zone",
            name if name.ends_with("offload.enable") => "false",
            name if name.ends_with("session.timeout.ms") => "46000",
            name if name.ends_with("heartbeat.interval.ms") => "6000",
            "share.record.lock.duration.ms" | "streams.task.offset.interval.ms" => "16000",
            "share.partition.max.record.locks" => "300",
            "share.delivery.count.limit" => "7",
            _ => "1",
        };
        let mut broker = Config::default();
        broker.set(synonym, value).expect(synonym).expect(synonym);
        let group = GroupConfig::effective(&broker, []);
        assert_eq!(group.text(key.name), Some(Some(value.to_owned())), "{}", key.name);
    }
}
