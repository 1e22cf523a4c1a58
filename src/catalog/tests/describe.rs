//! DescribeConfigs and `ListConfigResources`. Values, sources and texts as observed with Kafka 4.4.0.

use super::*;
use crate::config::{BROKER_KEYS, KNOWN_WITHOUT_EFFECT};
use crate::protocol::messages::describe_configs_request::DescribeConfigsResource;
use crate::protocol::messages::describe_configs_response::{DescribeConfigsResourceResult, DescribeConfigsResult};
use crate::protocol::messages::{DescribeConfigsRequest, ListConfigResourcesRequest};

fn about(kind: i8, name: &str, keys: &[&str]) -> DescribeConfigsResource {
    let keys = (!keys.is_empty()).then(|| keys.iter().map(|key| (*key).into()).collect());
    message!(DescribeConfigsResource { resource_type: kind, resource_name: name.into(), configuration_keys: keys })
}

fn ask(world: &World, version: i16, resources: Vec<DescribeConfigsResource>) -> Vec<DescribeConfigsResult> {
    let request =
        message!(DescribeConfigsRequest { resources: resources, include_synonyms: true, include_documentation: true });
    let response = describe_configs(world.image(), world.config(), &request, version);
    Response::from(response.clone()).encode(version, 1).expect("an answer that fits its version");
    response.results
}

fn describe(world: &World, kind: i8, name: &str, keys: &[&str]) -> Vec<DescribeConfigsResourceResult> {
    let mut results = ask(world, 4, vec![about(kind, name, keys)]);
    let result = results.remove(0);
    assert_eq!((result.error_code, result.error_message.as_deref()), (0, Some("")));
    assert_eq!((result.resource_type, &*result.resource_name), (kind, name));
    result.configs
}

/// A key as `name=value from source: synonym=value@source …`.
fn told(config: &DescribeConfigsResourceResult) -> String {
    let value = |value: Option<&str>| value.unwrap_or("null").to_owned();
    let head = format!("{}={} from {}:", &*config.name, value(config.value.as_deref()), config.config_source);
    let synonyms = config
        .synonyms
        .iter()
        .map(|synonym| format!(" {}={}@{}", &*synonym.name, value(synonym.value.as_deref()), synonym.source));
    [head].into_iter().chain(synonyms).collect()
}

fn one(world: &World, kind: i8, name: &str, key: &str) -> String {
    let configs = describe(world, kind, name, &[key]);
    assert_eq!(configs.len(), 1, "{key}");
    told(&configs[0])
}

fn refusal(world: &World, kind: i8, name: &str) -> (i16, String) {
    let result = ask(world, 4, vec![about(kind, name, &[])]).remove(0);
    assert!(result.configs.is_empty());
    (result.error_code, result.error_message.expect("a text").to_string())
}

// Topics

#[test]
fn a_fresh_topic_has_kafkas_defaults() {
    let mut world = World::new();
    world.topics(&[("t", 1)]);
    let configs = describe(&world, TOPIC, "t", &[]);
    let values: Vec<(&str, &str, i8)> = configs
        .iter()
        .map(|config| (&*config.name, config.value.as_deref().expect("a value"), config.config_type))
        .collect();
    assert_eq!(
        values,
        [
            ("cleanup.policy", "delete", 7),
            ("compression.gzip.level", "-1", 3),
            ("compression.lz4.level", "9", 3),
            ("compression.type", "producer", 2),
            ("compression.zstd.level", "3", 3),
            ("delete.retention.ms", "86400000", 5),
            ("errors.deadletterqueue.group.enable", "false", 1),
            ("file.delete.delay.ms", "60000", 5),
            ("flush.messages", "9223372036854775807", 5),
            ("flush.ms", "9223372036854775807", 5),
            ("follower.replication.throttled.replicas", "", 7),
            ("index.interval.bytes", "4096", 3),
            ("leader.replication.throttled.replicas", "", 7),
            ("local.retention.bytes", "-2", 5),
            ("local.retention.ms", "-2", 5),
            ("max.compaction.lag.ms", "9223372036854775807", 5),
            ("max.decompressed.message.bytes", "2147483639", 3),
            ("max.message.bytes", "1048588", 3),
            ("message.timestamp.after.max.ms", "3600000", 5),
            ("message.timestamp.before.max.ms", "9223372036854775807", 5),
            ("message.timestamp.type", "CreateTime", 2),
            ("min.cleanable.dirty.ratio", "0.5", 6),
            ("min.compaction.lag.ms", "0", 5),
            ("min.insync.replicas", "1", 3),
            ("preallocate", "false", 1),
            ("remote.copy.lag.bytes", "-1", 5),
            ("remote.copy.lag.ms", "0", 5),
            ("remote.log.copy.disable", "false", 1),
            ("remote.log.delete.on.disable", "false", 1),
            ("remote.storage.enable", "false", 1),
            ("retention.bytes", "-1", 5),
            ("retention.ms", "604800000", 5),
            ("segment.bytes", "1073741824", 3),
            ("segment.index.bytes", "10485760", 3),
            ("segment.jitter.ms", "0", 5),
            ("segment.ms", "604800000", 5),
            ("unclean.leader.election.enable", "false", 1),
        ]
    );
    assert!(configs.iter().all(|config| config.config_source == 5 && !config.read_only && !config.is_sensitive));
    assert!(configs.iter().all(|config| config.documentation.as_deref().is_some_and(|doc| doc.ends_with('.'))));
}

#[test]
fn a_value_names_all_places_that_set_it_the_strongest_first() {
    let mut world = World::with(&[("message.max.bytes", "2000")]);
    world.topics(&[("t", 1)]);
    assert_eq!(
        one(&world, TOPIC, "t", "max.message.bytes"),
        "max.message.bytes=2000 from 4: message.max.bytes=2000@4 message.max.bytes=1048588@5"
    );
    world.set(BROKER, "", "message.max.bytes", "3000");
    world.set(BROKER, "1", "message.max.bytes", "4000");
    assert_eq!(
        one(&world, TOPIC, "t", "max.message.bytes"),
        "max.message.bytes=4000 from 2: message.max.bytes=4000@2 message.max.bytes=3000@3 message.max.bytes=2000@4 \
         message.max.bytes=1048588@5"
    );
    world.set(TOPIC, "t", "max.message.bytes", " 5000 ");
    assert_eq!(
        one(&world, TOPIC, "t", "max.message.bytes"),
        "max.message.bytes=5000 from 1: max.message.bytes=5000@1 message.max.bytes=4000@2 message.max.bytes=3000@3 \
         message.max.bytes=2000@4 message.max.bytes=1048588@5"
    );
}

#[test]
fn keys_that_stand_in_for_one_another_are_shown_as_kafka_shows_them() {
    let mut world = World::with(&[("log.retention.hours", "1")]);
    world.topics(&[("t", 1)]);
    assert_eq!(one(&world, TOPIC, "t", "flush.ms"), "flush.ms=9223372036854775807 from 5:");
    assert_eq!(one(&world, TOPIC, "t", "segment.ms"), "segment.ms=604800000 from 5:");
    // Kafka's DescribeConfigs says 5 here and its CreateTopics 4; the hours were given in the broker's file.
    assert_eq!(one(&world, TOPIC, "t", "retention.ms"), "retention.ms=3600000 from 4:");
    assert_eq!(one(&world, BROKER, "1", "log.retention.ms"), "log.retention.ms=null from 5:");
    world.set(BROKER, "", "log.retention.ms", "12345");
    assert_eq!(
        one(&world, TOPIC, "t", "retention.ms"),
        "retention.ms=12345 from 3: log.retention.ms=12345@3 log.retention.hours=1@4 log.retention.hours=168@5"
    );
    assert_eq!(
        one(&world, BROKER, "1", "log.retention.ms"),
        "log.retention.ms=12345 from 3: log.retention.ms=12345@3 log.retention.hours=1@4 log.retention.hours=168@5"
    );
    assert_eq!(
        one(&world, BROKER, "1", "log.retention.hours"),
        "log.retention.hours=1 from 4: log.retention.hours=1@4 log.retention.hours=168@5"
    );
    assert_eq!(one(&world, BROKER, "1", "log.retention.minutes"), "log.retention.minutes=null from 5:");
}

#[test]
fn an_internal_key_is_shown_only_where_it_is_set() {
    let mut world = World::new();
    world.topics(&[("t", 1)]);
    assert_eq!(describe(&world, TOPIC, "t", &["internal.segment.bytes"]).len(), 0);
    world.set(TOPIC, "t", "internal.segment.bytes", "100");
    assert_eq!(
        one(&world, TOPIC, "t", "internal.segment.bytes"),
        "internal.segment.bytes=100 from 1: internal.segment.bytes=100@1"
    );
    world.set(GROUP, "g", "streams.num.warmup.replicas", "3");
    assert_eq!(describe(&world, GROUP, "g", &[]).len(), 22);
    assert_eq!(describe(&world, GROUP, "other", &[]).len(), 21);
}

#[test]
fn unknown_keys_are_left_out_and_no_keys_mean_all() {
    let mut world = World::new();
    world.topics(&[("t", 1)]);
    assert_eq!(describe(&world, TOPIC, "t", &["nonsense", "retention.ms"]).len(), 1);
    let mut empty = about(TOPIC, "t", &[]);
    empty.configuration_keys = Some(Vec::new());
    assert_eq!(ask(&world, 4, vec![empty])[0].configs.len(), 37);
}

#[test]
fn a_resource_that_is_not_there_is_told_in_kafkas_words() {
    let world = World::new();
    for (kind, name, code, text) in [
        (TOPIC, "none", 3, ""),
        (TOPIC, "", 17, "Topic name is invalid: the empty string is not allowed"),
        (BROKER, "2", 42, "Unexpected broker id, expected 1 or empty string, but received 2"),
        (BROKER, "x", 42, "Broker id must be an integer, but it is: x"),
        (BROKER_LOGGER, "2", 42, "Unexpected broker id, expected 1 but received 2"),
        (BROKER_LOGGER, "", 42, "Broker id must not be empty"),
        (BROKER_LOGGER, "x", 42, "Broker id must be an integer, but it is: x"),
        (CLIENT_METRICS, "", 42, "Client metrics subscription name must not be empty"),
        (GROUP, "", 42, "Group name must not be empty"),
        (99, "a", 42, "Unknown resource type 99"),
    ] {
        assert_eq!(refusal(&world, kind, name), (code, text.to_owned()));
    }
    assert_eq!(describe(&world, BROKER_LOGGER, "1", &[]).len(), 0);
}

// Groups

#[test]
fn any_group_has_all_keys_with_the_brokers_values() {
    let world = World::with(&[("group.streams.num.standby.replicas", "1")]);
    let configs = describe(&world, GROUP, "any", &[]);
    let values: BTreeMap<&str, &str> =
        configs.iter().map(|config| (&*config.name, config.value.as_deref().expect("a value"))).collect();
    assert_eq!(values.len(), 21);
    assert_eq!(values["streams.num.standby.replicas"], "1");
    assert_eq!(values["share.auto.offset.reset"], "latest");
    assert_eq!(values["errors.deadletterqueue.topic.name"], "");
    assert_eq!(
        one(&world, GROUP, "any", "streams.num.standby.replicas"),
        "streams.num.standby.replicas=1 from 4: group.streams.num.standby.replicas=1@4 group.streams.num.standby.replicas=0@5"
    );
    assert_eq!(
        one(&world, GROUP, "any", "streams.assignor.name"),
        "streams.assignor.name=sticky from 5: group.streams.assignors=sticky@5"
    );
    assert_eq!(
        one(&world, GROUP, "any", "share.isolation.level"),
        "share.isolation.level=read_uncommitted from 5: share.isolation.level=read_uncommitted@5"
    );
}

#[test]
fn a_groups_own_value_has_a_source_of_its_own() {
    let mut world = World::new();
    world.set(GROUP, "g", "streams.num.standby.replicas", " 1 ");
    assert_eq!(
        one(&world, GROUP, "g", "streams.num.standby.replicas"),
        "streams.num.standby.replicas=1 from 8: streams.num.standby.replicas=1@8 group.streams.num.standby.replicas=0@5"
    );
    world.set(GROUP, "g", "share.auto.offset.reset", "by_duration:PT1H");
    assert_eq!(
        one(&world, GROUP, "g", "share.auto.offset.reset"),
        "share.auto.offset.reset=by_duration:PT1H from 8: share.auto.offset.reset=by_duration:PT1H@8 \
         share.auto.offset.reset=latest@5"
    );
}

// The broker

#[test]
fn the_broker_tells_its_settings_and_what_may_change() {
    let mut world = World::with(&[("num.partitions", "3")]);
    let configs = describe(&world, BROKER, "1", &[]);
    let hidden = |keys: &[crate::config::Key]| keys.iter().filter(|key| key.is_internal).count();
    let expected = BROKER_KEYS.len() + KNOWN_WITHOUT_EFFECT.len() - hidden(BROKER_KEYS) - hidden(KNOWN_WITHOUT_EFFECT);
    assert_eq!(configs.len(), expected);
    assert_eq!(
        one(&world, BROKER, "1", "num.partitions"),
        "num.partitions=3 from 4: num.partitions=3@4 num.partitions=1@5"
    );
    let read_only = |key: &str| describe(&world, BROKER, "1", &[key])[0].read_only;
    assert!(read_only("num.partitions") && !read_only("max.connections") && !read_only("num.io.threads"));
    assert_eq!(one(&world, BROKER, "1", "num.io.threads"), "num.io.threads=8 from 5: num.io.threads=8@5");
    world.set(BROKER, "1", "num.io.threads", "4");
    assert_eq!(
        one(&world, BROKER, "1", "num.io.threads"),
        "num.io.threads=4 from 2: num.io.threads=4@2 num.io.threads=8@5"
    );
    assert_eq!(describe(&world, BROKER, "1", &["group.streams.task.offset.interval.ms"]).len(), 0, "internal");
}

#[test]
fn the_name_of_all_brokers_tells_what_is_set_for_the_cluster() {
    let mut world = World::new();
    assert_eq!(describe(&world, BROKER, "", &[]).len(), 0);
    world.set(BROKER, "", "log.retention.ms", "12345");
    world.set(BROKER, "1", "max.connections", "5");
    let configs = describe(&world, BROKER, "", &[]);
    assert_eq!(
        configs.iter().map(told).collect::<Vec<_>>(),
        ["log.retention.ms=12345 from 3: log.retention.ms=12345@3"]
    );
}

#[test]
fn a_key_that_nobody_knows_may_be_a_secret() {
    let mut world = World::new();
    world.set(BROKER, "1", "my.plugin.password", "secret");
    let config = describe(&world, BROKER, "1", &["my.plugin.password"]).remove(0);
    assert_eq!(told(&config), "my.plugin.password=null from 2: my.plugin.password=null@2");
    assert!(config.is_sensitive && config.read_only && config.config_type == 0);
    let password = describe(&world, BROKER, "1", &["ssl.keystore.password"]).remove(0);
    assert!(password.is_sensitive && password.config_type == 9);
}

#[test]
fn client_metrics_have_their_defaults() {
    let world = World::new();
    let configs = describe(&world, CLIENT_METRICS, "any", &[]);
    let texts: Vec<String> = configs.iter().map(told).collect();
    assert_eq!(texts, ["interval.ms=300000 from 5:", "match= from 5:", "metrics= from 5:"]);
}

// Answers as a whole

#[test]
fn every_version_can_carry_every_kind_of_answer() {
    let mut world = World::new();
    world.topics(&[("t", 1)]);
    world.set(TOPIC, "t", "retention.ms", "5");
    for version in 1..=4 {
        let resources = vec![
            about(TOPIC, "t", &[]),
            about(TOPIC, "none", &[]),
            about(BROKER, "1", &[]),
            about(BROKER, "", &[]),
            about(GROUP, "g", &[]),
            about(CLIENT_METRICS, "m", &[]),
        ];
        let results = ask(&world, version, resources);
        assert_eq!(results.iter().map(|result| result.error_code).collect::<Vec<_>>(), [0, 3, 0, 0, 0, 0]);
        let retention = results[0].configs.iter().find(|config| &*config.name == "retention.ms").unwrap();
        assert_eq!(retention.documentation.is_some(), version >= 3);
    }
}

#[test]
fn synonyms_and_documentation_come_only_when_asked_for() {
    let mut world = World::new();
    world.topics(&[("t", 1)]);
    let request = message!(DescribeConfigsRequest { resources: vec![about(TOPIC, "t", &[])] });
    let response = describe_configs(world.image(), world.config(), &request, 4);
    for config in &response.results[0].configs {
        assert!(config.synonyms.is_empty() && config.documentation.is_none());
    }
}

#[test]
fn a_question_about_too_many_resources_gets_a_small_answer() {
    let world = World::new();
    let resources: Vec<_> = (0..10_001).map(|_| about(GROUP, "g", &[])).collect();
    let results = ask(&world, 4, resources);
    assert!(results.iter().all(|result| result.error_code == 44 && result.configs.is_empty()));
    assert!(results[0].error_message.is_some() && results[1].error_message.is_none());
}

#[test]
fn resources_with_configs_are_listed() {
    let mut world = World::new();
    world.topics(&[("t", 1)]);
    world.set(GROUP, "g", "streams.num.standby.replicas", "1");
    let list = |version: i16, types: &[i8]| {
        let request = message!(ListConfigResourcesRequest { resource_types: types.to_vec() });
        let response = list_config_resources(world.image(), &request, version);
        let resources = response.config_resources.iter();
        (response.error_code, resources.map(|found| (found.resource_type, found.resource_name.to_string())).collect())
    };
    let named = |names: &[(i8, &str)]| -> (i16, Vec<(i8, String)>) {
        (0, names.iter().map(|(kind, name)| (*kind, (*name).to_owned())).collect())
    };
    assert_eq!(list(1, &[GROUP]), named(&[(GROUP, "g")]));
    assert_eq!(list(1, &[]), named(&[(TOPIC, "t"), (BROKER, "1"), (BROKER_LOGGER, "1"), (GROUP, "g")]));
    assert_eq!(list(0, &[]), named(&[]));
    assert_eq!(list(1, &[99]).0, 35);
}
