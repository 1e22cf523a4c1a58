//! IncrementalAlterConfigs. Codes and texts as observed with Kafka 4.4.0.

use super::*;

/// Code and text of one change of one resource.
fn outcome(world: &mut World, kind: i8, name: &str, changes: &[AlterableConfig]) -> (i16, String) {
    let (code, text) = world.alter(vec![resource(kind, name, changes)]).remove(0);
    (code, text.unwrap_or_default())
}

fn topic_configs(world: &World, name: &str) -> BTreeMap<String, String> {
    world.image().topic(name).expect("it exists").configs.as_ref().clone()
}

fn group_configs(world: &World, name: &str) -> Option<BTreeMap<String, String>> {
    world.image().group_configs.get(name).map(|configs| configs.as_ref().clone())
}

// Topics

#[test]
fn a_topics_configs_are_set_appended_and_removed() {
    let mut world = World::new();
    world.topics(&[("in", 1)]);
    let changes = [change("cleanup.policy", 2, Some("compact")), set("retention.ms", "1000")];
    let told = world.alter(vec![resource(TOPIC, "in", &changes), resource(TOPIC, "none", &[set("retention.ms", "1")])]);
    assert_eq!(told, [(0, None), (3, Some("The topic 'none' does not exist.".to_owned()))]);
    let expected = configs(&[("cleanup.policy", "delete,compact"), ("retention.ms", "1000")]);
    assert_eq!(topic_configs(&world, "in"), expected, "the default is the list that is appended to");
    assert_eq!(outcome(&mut world, TOPIC, "in", &[unset("retention.ms"), unset("never.heard.of")]).0, 0);
    assert_eq!(topic_configs(&world, "in"), configs(&[("cleanup.policy", "delete,compact")]));
}

#[test]
fn append_and_subtract_keep_the_order_and_make_no_doubles() {
    let mut world = World::new();
    world.topics(&[("in", 1)]);
    let policy = |world: &World| topic_configs(world, "in")["cleanup.policy"].clone();
    world.set(TOPIC, "in", "cleanup.policy", "compact,delete");
    assert_eq!(outcome(&mut world, TOPIC, "in", &[change("cleanup.policy", 2, Some("delete , compact"))]).0, 0);
    assert_eq!(policy(&world), "compact,delete");
    assert_eq!(outcome(&mut world, TOPIC, "in", &[change("cleanup.policy", 3, Some("compact, x"))]).0, 0);
    assert_eq!(policy(&world), "delete");
    assert_eq!(outcome(&mut world, TOPIC, "in", &[change("cleanup.policy", 3, Some(""))]).0, 0);
    assert_eq!(policy(&world), "delete");
    assert_eq!(outcome(&mut world, TOPIC, "in", &[change("cleanup.policy", 3, Some("delete"))]).0, 0);
    assert_eq!(policy(&world), "", "neither is legal");
    let text = "Invalid value none for configuration cleanup.policy: String must be one of: compact, delete";
    let told = outcome(&mut world, TOPIC, "in", &[change("cleanup.policy", 2, Some("none"))]);
    assert_eq!(told, (40, text.to_owned()));
}

#[test]
fn a_refused_topic_change_is_told_in_kafkas_words() {
    let mut world = World::new();
    world.topics(&[("in", 1)]);
    let lag = "conflict topic config setting min.compaction.lag.ms (10) > max.compaction.lag.ms (5)";
    let tiered =
        "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage.";
    for (name, changes, code, text) in [
        ("", vec![set("retention.ms", "1")], 42, "Default topic resources are not allowed."),
        (
            "bad/name",
            vec![set("retention.ms", "1")],
            17,
            "Topic name is invalid: 'bad/name' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'",
        ),
        ("none", vec![set("retention.ms", "1")], 3, "The topic 'none' does not exist."),
        ("none", vec![change("retention.ms", 0, None)], 42, "Null value not supported for : retention.ms"),
        ("in", vec![set("nonsense", "1")], 40, "Unknown topic config name: nonsense"),
        ("in", vec![set("zeta", "1"), set("alpha", "1")], 40, "Unknown topic config name: zeta"),
        ("in", vec![set("nonsense", "1"), set("retention.ms", "x")], 40, "Unknown topic config name: nonsense"),
        (
            "in",
            vec![set("retention.ms", "soon")],
            40,
            "Invalid value soon for configuration retention.ms: Not a number of type LONG",
        ),
        (
            "in",
            vec![change("retention.ms", 2, Some("1"))],
            40,
            "Can't APPEND to key retention.ms because its type is not LIST.",
        ),
        (
            "in",
            vec![change("retention.ms", 3, Some("1"))],
            40,
            "Can't SUBTRACT to key retention.ms because its type is not LIST.",
        ),
        (
            "in",
            vec![change("nonsense", 2, Some("1"))],
            40,
            "Can't APPEND to key nonsense because its type is not LIST.",
        ),
        ("in", vec![set("retention.ms", "1"), set("retention.ms", "2")], 42, "Error due to duplicate config keys"),
        (
            "in",
            vec![change("retention.ms", 0, None), change("cleanup.policy", 2, None)],
            42,
            "Null value not supported for : retention.ms, cleanup.policy",
        ),
        ("in", vec![set("min.compaction.lag.ms", "10"), set("max.compaction.lag.ms", "5")], 40, lag),
        ("in", vec![set("remote.storage.enable", "true")], 40, tiered),
    ] {
        assert_eq!(outcome(&mut world, TOPIC, name, &changes), (code, text.to_owned()), "{changes:?}");
    }
    assert_eq!(outcome(&mut world, TOPIC, "in", &[change("retention.ms", 9, Some("1"))]).0, -1);
    assert_eq!(topic_configs(&world, "in"), BTreeMap::new());
}

#[test]
fn one_bad_key_keeps_all_changes_of_its_resource_back_and_no_others() {
    let mut world = World::new();
    world.topics(&[("in", 1), ("other", 1)]);
    let bad = [set("retention.ms", "5"), set("segment.bytes", "few")];
    let told = world.alter(vec![resource(TOPIC, "in", &bad), resource(TOPIC, "other", &[set("retention.ms", "6")])]);
    assert_eq!(told.iter().map(|(code, _)| *code).collect::<Vec<_>>(), [40, 0]);
    assert_eq!(topic_configs(&world, "in"), BTreeMap::new());
    assert_eq!(topic_configs(&world, "other"), configs(&[("retention.ms", "6")]));
}

#[test]
fn a_resource_named_twice_is_refused_both_times() {
    let mut world = World::new();
    world.topics(&[("in", 1)]);
    let twice = vec![
        resource(TOPIC, "in", &[set("retention.ms", "5")]),
        resource(TOPIC, "in", &[set("segment.ms", "5")]),
        resource(GROUP, "in", &[set("streams.num.standby.replicas", "1")]),
    ];
    let text = Some("Each resource must appear at most once.".to_owned());
    assert_eq!(world.alter(twice), [(42, text.clone()), (42, text), (0, None)]);
    assert_eq!(topic_configs(&world, "in"), BTreeMap::new());
}

#[test]
fn what_changes_nothing_writes_nothing() {
    let mut world = World::new();
    world.topics(&[("in", 1)]);
    world.set(TOPIC, "in", "retention.ms", "5");
    world.set(GROUP, "g", "streams.num.standby.replicas", "1");
    world.set(BROKER, "", "max.connections", "9");
    let before = world.history.len();
    world.set(TOPIC, "in", "retention.ms", "5");
    world.set(GROUP, "g", "streams.num.standby.replicas", "1");
    world.set(BROKER, "", "max.connections", "9");
    assert_eq!(world.alter(vec![resource(TOPIC, "in", &[]), resource(BROKER, "1", &[])]), [(0, None), (0, None)]);
    assert_eq!(world.history.len(), before);
}

#[test]
fn unknown_resource_types_are_refused() {
    let mut world = World::new();
    assert_eq!(outcome(&mut world, 99, "a", &[set("x", "1")]), (42, "Unknown resource type 99".to_owned()));
}

// Groups

#[test]
fn a_groups_configs_are_checked_stored_and_removed_again() {
    let mut world = World::new();
    for (changes, code) in [
        ([set("nonsense", "1")], 40),
        ([set("streams.num.standby.replicas", "many")], 40),
        ([set("streams.num.standby.replicas", "9")], 40),
    ] {
        assert_eq!(outcome(&mut world, GROUP, "g", &changes).0, code);
    }
    let told = outcome(&mut world, GROUP, "", &[set("streams.num.standby.replicas", "1")]);
    assert_eq!(told, (42, "Default group resources are not allowed.".to_owned()));
    let standby = resource(GROUP, "g", &[set("streams.num.standby.replicas", "1")]);
    assert_eq!(world.alter_in(1, true, vec![standby]), [(0, None)]);
    assert_eq!(group_configs(&world, "g"), None, "only validated");
    let both = [set("streams.num.standby.replicas", "1"), set("consumer.session.timeout.ms", "50000")];
    assert_eq!(outcome(&mut world, GROUP, "g", &both).0, 0);
    let expected = configs(&[("consumer.session.timeout.ms", "50000"), ("streams.num.standby.replicas", "1")]);
    assert_eq!(group_configs(&world, "g"), Some(expected));
    assert_eq!(world.image().group_config("g", "streams.num.standby.replicas"), Some("1"));
    let gone = [unset("streams.num.standby.replicas"), unset("consumer.session.timeout.ms")];
    assert_eq!(outcome(&mut world, GROUP, "g", &gone).0, 0);
    assert_eq!(group_configs(&world, "g"), None, "nothing is kept of a group without configs");
    let last = world.history.last().unwrap();
    assert_eq!(*last, Record::GroupConfig { group: "g".into(), value: None });
}

#[test]
fn a_refused_group_change_is_told_in_kafkas_words() {
    let mut world = World::new();
    for (changes, code, text) in [
        (
            vec![set("streams.session.timeout.ms", "1")],
            40,
            "streams.session.timeout.ms must be in the range 45000 to 60000 inclusive.",
        ),
        (
            vec![set("streams.num.standby.replicas", "9")],
            40,
            "streams.num.standby.replicas must be less than or equal to 2",
        ),
        (vec![set("no.such.config", "9")], 40, "Unknown group config name: no.such.config"),
        (
            vec![change("streams.rack.aware.assignment.tags", 2, Some("a"))],
            40,
            "Can't APPEND to key streams.rack.aware.assignment.tags because its type is not LIST.",
        ),
        (
            vec![change("streams.num.standby.replicas", 0, None)],
            42,
            "Null value not supported for : streams.num.standby.replicas",
        ),
    ] {
        assert_eq!(outcome(&mut world, GROUP, "g", &changes), (code, text.to_owned()));
    }
    assert_eq!(group_configs(&world, "g"), None);
}

#[test]
fn a_groups_limits_are_those_the_broker_was_started_with() {
    let mut world = World::with(&[
        ("group.streams.min.session.timeout.ms", "100"),
        ("group.streams.min.heartbeat.interval.ms", "100"),
    ]);
    let both = [set("streams.session.timeout.ms", "300"), set("streams.heartbeat.interval.ms", "200")];
    assert_eq!(outcome(&mut world, GROUP, "g", &both).0, 0);
    let told = outcome(&mut world, GROUP, "g", &[set("streams.heartbeat.interval.ms", "300")]);
    let text = "streams.session.timeout.ms must be greater than streams.heartbeat.interval.ms";
    assert_eq!(told, (40, text.to_owned()), "what is set already counts");
}

#[test]
fn names_and_values_beyond_what_all_versions_carry_are_refused() {
    let mut world = World::new();
    let name = "g".repeat(40_000);
    assert_eq!(outcome(&mut world, GROUP, &name, &[set("streams.num.standby.replicas", "1")]).0, 42);
    let topic = "t".repeat(40_000);
    let (code, text) = outcome(&mut world, GROUP, "g", &[set("errors.deadletterqueue.topic.name", &topic)]);
    assert_eq!(
        (code, text.as_str()),
        (40, "The value of configuration errors.deadletterqueue.topic.name is longer than 32767 bytes.")
    );
    let (code, text) = outcome(&mut world, GROUP, "g", &[set("streams.num.standby.replicas", &topic)]);
    assert!(code == 40 && text.len() < 2_000, "a refused value is not sent back whole");
}

#[test]
fn a_request_too_large_for_the_journal_is_refused_all_together() {
    let mut world = World::new();
    let long = "t".repeat(32_000);
    let resources =
        (0..300).map(|n| resource(GROUP, &format!("g{n}"), &[set("errors.deadletterqueue.topic.name", &long)]));
    let told = world.alter(resources.collect());
    assert!(told.iter().all(|(code, _)| *code == 44));
    assert!(world.image().group_configs.is_empty());
}

#[test]
fn a_request_that_names_too_many_resources_gets_a_small_refusal() {
    let mut world = World::new();
    let told = world.alter(vec![resource(GROUP, "g", &[]); 10_001]);
    assert!(told.len() == 10_001 && told.iter().all(|(code, _)| *code == 44));
    assert!(told[0].1.is_some() && told[1].1.is_none());
}

// The broker

#[test]
fn a_brokers_config_is_set_for_this_node_or_for_the_cluster() {
    let mut world = World::new();
    world.set(BROKER, "", "max.connections", "90");
    world.set(BROKER, "", "log.retention.ms", "5");
    world.set(BROKER, "1", "max.connections", "100");
    assert_eq!(*world.image().broker_configs, configs(&[("log.retention.ms", "5"), ("max.connections", "100")]));
    assert_eq!(outcome(&mut world, BROKER, "1", &[unset("max.connections"), unset("num.partitions")]).0, 0);
    assert_eq!(*world.image().broker_configs, configs(&[("log.retention.ms", "5"), ("max.connections", "90")]));
    assert_eq!(*world.image().node_configs, BTreeMap::new());
    let config = world.config().with_dynamic(&world.image().broker_configs);
    assert_eq!((config.max_connections, config.retention_ms()), (90, 5));
}

#[test]
fn a_refused_broker_change_is_told_in_kafkas_words() {
    let mut world = World::new();
    for (name, changes, code, text) in [
        ("2", vec![set("max.connections", "1")], 42, "Unexpected broker id, expected 1, but received 2"),
        ("x", vec![set("max.connections", "1")], 42, "Node id must be an integer, but it is: x"),
        (
            "1",
            vec![set("max.connections", "soon")],
            42,
            "Invalid value soon for configuration max.connections: Not a number of type INT",
        ),
        (
            "1",
            vec![set("max.connections", "-1")],
            42,
            "Invalid value -1 for configuration max.connections: Value must be at least 0",
        ),
        (
            "1",
            vec![change("max.connections", 2, Some("1"))],
            40,
            "Config value append is not allowed for config key: max.connections",
        ),
        (
            "1",
            vec![change("max.connections", 3, Some("1"))],
            40,
            "Config value subtract is not allowed for config key: max.connections",
        ),
        ("", vec![change("unknown.k", 2, Some("1"))], 40, "Unknown config name: unknown.k"),
        ("", vec![change("max.connections", 9, Some("1"))], 42, "Unknown operations type 9"),
    ] {
        assert_eq!(outcome(&mut world, BROKER, name, &changes), (code, text.to_owned()), "{changes:?}");
    }
    assert_eq!(*world.image().broker_configs, BTreeMap::new());
}

#[test]
fn a_broker_change_beyond_what_may_change_is_told_in_kafkas_words() {
    let mut world = World::new();
    let interval =
        "group.streams.assignment.interval.ms must be less than or equal to group.streams.max.assignment.interval.ms";
    let security = "These security configs can be dynamically updated only per-listener using the listener prefix: [ssl.keystore.password]";
    for (name, changes, code, text) in [
        (
            "1",
            vec![set("max.connections", "5"), set("num.partitions", "3")],
            42,
            "Cannot update these configs dynamically: [num.partitions]",
        ),
        (
            "",
            vec![set("node.id", "3"), set("broker.id", "5")],
            42,
            "Cannot update these configs dynamically: [node.id, broker.id]",
        ),
        (
            "",
            vec![set("offsets.topic.num.partitions", "5")],
            42,
            "Cannot update these configs dynamically: [offsets.topic.num.partitions]",
        ),
        (
            "",
            vec![set("principal.builder.class", "X")],
            42,
            "Cannot update these configs at default cluster level, broker id must be specified: [principal.builder.class]",
        ),
        ("1", vec![set("ssl.keystore.password", "x")], 42, security),
        ("1", vec![set("group.streams.assignment.interval.ms", "20000")], 42, interval),
        ("", vec![set("group.streams.assignment.interval.ms", "20000")], 42, interval),
        (
            "",
            vec![set("log.cleanup.policy", "foo")],
            42,
            "Invalid value foo for configuration log.cleanup.policy: String must be one of: compact, delete",
        ),
        ("", vec![change("max.connections", 0, None)], 42, "Null value not supported for : max.connections"),
    ] {
        assert_eq!(outcome(&mut world, BROKER, name, &changes), (code, text.to_owned()), "{changes:?}");
    }
    assert_eq!(*world.image().broker_configs, BTreeMap::new());
}

#[test]
fn lists_of_the_broker_are_appended_to_what_holds() {
    let mut world = World::new();
    assert_eq!(outcome(&mut world, BROKER, "", &[change("log.cleanup.policy", 2, Some("compact"))]).0, 0);
    assert_eq!(world.image().broker_configs["log.cleanup.policy"], "delete,compact");
}

#[test]
fn keys_without_effect_and_unknown_ones_are_stored_as_kafka_does() {
    let mut world = World::new();
    world.set(BROKER, "", "num.io.threads", "16");
    world.set(BROKER, "1", "my.plugin.key", "secret");
    assert_eq!(*world.image().broker_configs, configs(&[("my.plugin.key", "secret"), ("num.io.threads", "16")]));
    assert_eq!(outcome(&mut world, BROKER, "", &[set("num.io.threads", "0")]).0, 42);
}

// Loggers and client metrics

#[test]
fn there_are_no_loggers_to_set() {
    let mut world = World::new();
    for (name, changes, code, text) in [
        ("1", set("root", "DEBUG"), 40, "Logger root does not exist!"),
        ("2", set("root", "DEBUG"), 42, "Unexpected node id. Expected 1, but received 2"),
        ("", set("root", "DEBUG"), 42, "Node id must be an integer, but it is: "),
        ("1", change("root", 2, Some("DEBUG")), 42, "APPEND operation is not allowed for the BROKER_LOGGER resource"),
    ] {
        assert_eq!(outcome(&mut world, BROKER_LOGGER, name, &[changes]), (code, text.to_owned()));
    }
}

#[test]
fn client_metrics_are_refused_and_removing_them_changes_nothing() {
    let mut world = World::new();
    let told = outcome(&mut world, CLIENT_METRICS, "m", &[set("interval.ms", "1000")]);
    assert!(told.0 == 42 && told.1.contains("not supported"), "{told:?}");
    let told = outcome(&mut world, CLIENT_METRICS, "", &[set("interval.ms", "1000")]);
    assert_eq!(told, (42, "Subscription name can't be empty".to_owned()));
    assert_eq!(outcome(&mut world, CLIENT_METRICS, "m", &[unset("interval.ms")]).0, 0);
}

#[test]
fn every_version_can_carry_the_answer() {
    for version in 0..=1 {
        let mut world = World::new();
        let long = "x".repeat(32_000);
        let told = world.alter_in(version, false, vec![resource(GROUP, "g", &[set("share.auto.offset.reset", &long)])]);
        assert_eq!(told[0].0, 40);
    }
}
