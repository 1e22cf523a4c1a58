//! The image after replays: the same live, after a load, and whatever the order of keys.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

fn topic(id: u8, name: &str, partition_count: i32) -> Record {
    let value = TopicValue { name: name.into(), partition_count, configs: BTreeMap::new() };
    Record::Topic { topic_id: TopicId::from_bytes([id; 16]), value: Some(value) }
}

fn no_topic(id: u8) -> Record {
    Record::Topic { topic_id: TopicId::from_bytes([id; 16]), value: None }
}

fn replayed<'a>(records: impl IntoIterator<Item = &'a Record>) -> Catalog {
    let mut catalog = Catalog::default();
    let mut lsn = Lsn(0);
    for record in records {
        lsn = lsn.next();
        catalog.replay(lsn, record);
    }
    catalog
}

/// All of an image but its version numbers, which count changes.
fn contents(catalog: &Catalog) -> String {
    let image = catalog.image();
    let Image { cluster_id, node_id, topics, topic_names, group_configs, broker_configs, .. } = &**image;
    let configs = (&image.node_configs, &image.cluster_configs, broker_configs);
    format!("{cluster_id} {node_id} {topics:#?} {topic_names:#?} {group_configs:#?} {configs:#?} {:#?}", catalog.shapes)
}

#[test]
fn the_topics_version_moves_with_topics_and_partitions_only() {
    let mut world = World::new();
    let mut version = world.image().topics_version;
    let mut moves = |world: &World| {
        let moved = world.image().topics_version != version;
        version = world.image().topics_version;
        moved
    };
    world.topics(&[("a", 1)]);
    assert!(moves(&world), "a new topic");
    world.set(TOPIC, "a", "retention.ms", "5");
    assert!(!moves(&world), "a config");
    world.set(GROUP, "g", "streams.num.standby.replicas", "1");
    assert!(!moves(&world), "a group's config");
    let id = world.id("a");
    world.replay(vec![Record::Topic {
        topic_id: id,
        value: Some(TopicValue { name: "a".into(), partition_count: 2, configs: BTreeMap::new() }),
    }]);
    assert!(moves(&world), "a partition more");
    world.replay(vec![Record::Topic { topic_id: id, value: None }]);
    assert!(moves(&world), "a topic less");
}

#[test]
fn the_image_rests_on_the_last_change_and_older_images_stay_as_they_were() {
    let mut world = World::new();
    let before = Arc::clone(world.catalog.image());
    world.topics(&[("a", 1)]);
    assert_eq!(world.image().lsn, world.lsn);
    assert!(before.topics.is_empty());
    world.catalog.replay(Lsn(1), &no_topic(9));
    assert_eq!(world.image().lsn, world.lsn, "it never goes back");
}

#[test]
fn tombstones_of_unknown_things_do_nothing() {
    let records = [
        no_topic(1),
        Record::GroupConfig { group: "g".into(), value: None },
        Record::BrokerConfig { default: true, value: None },
        Record::BrokerConfig { default: false, value: None },
    ];
    assert_eq!(contents(&replayed(&records)), contents(&Catalog::default()));
}

#[test]
fn a_topic_made_again_wins_whether_or_not_the_old_ones_tombstone_came_first() {
    let expected = contents(&replayed(&[topic(2, "a.b", 3)]));
    assert_eq!(contents(&replayed(&[topic(1, "a.b", 1), no_topic(1), topic(2, "a.b", 3)])), expected);
    assert_eq!(contents(&replayed(&[topic(1, "a.b", 1), topic(2, "a.b", 3), no_topic(1)])), expected);
}

#[test]
fn a_group_with_an_empty_value_has_no_configs() {
    let empty = Record::GroupConfig { group: "g".into(), value: Some(ConfigValue::default()) };
    assert_eq!(contents(&replayed(&[empty])), contents(&Catalog::default()));
}

/// One thing a client may ask.
#[derive(Clone, Debug)]
enum Step {
    Create { name: String, count: i32, policy: Option<&'static str> },
    Delete { name: String },
    Grow { name: String, count: i32 },
    Alter { kind: i8, name: String, key: &'static str, value: Option<&'static str> },
    Internal { name: String, count: i32 },
    Auto { name: String },
}

fn step() -> impl Strategy<Value = Step> {
    let name =
        || prop::sample::select(vec!["a", "b", "a.b", "a_b", "bad/name", "__consumer_offsets"]).prop_map(str::to_owned);
    let topic_key = prop::sample::select(vec![
        ("retention.ms", Some("5")),
        ("retention.ms", None),
        ("cleanup.policy", Some("compact")),
        ("cleanup.policy", Some("maybe")),
    ]);
    let group_key = prop::sample::select(vec![
        ("streams.num.standby.replicas", Some("1")),
        ("streams.num.standby.replicas", None),
        ("streams.session.timeout.ms", Some("50000")),
        ("nonsense", Some("1")),
    ]);
    let broker_key = prop::sample::select(vec![
        ("max.connections", Some("5")),
        ("max.connections", None),
        ("log.retention.ms", Some("7")),
        ("num.partitions", Some("7")),
    ]);
    let broker = prop::sample::select(vec!["", "1", "2"]).prop_map(str::to_owned);
    let policy = prop::option::of(prop::sample::select(vec!["compact", "delete", "maybe"]));
    prop_oneof![
        (name(), -2..4, policy).prop_map(|(name, count, policy)| Step::Create { name, count, policy }),
        name().prop_map(|name| Step::Delete { name }),
        (name(), -1..6).prop_map(|(name, count)| Step::Grow { name, count }),
        (name(), topic_key).prop_map(|(name, (key, value))| Step::Alter { kind: TOPIC, name, key, value }),
        (name(), group_key).prop_map(|(name, (key, value))| Step::Alter { kind: GROUP, name, key, value }),
        (broker, broker_key).prop_map(|(name, (key, value))| Step::Alter { kind: BROKER, name, key, value }),
        (name(), 0..4).prop_map(|(name, count)| Step::Internal { name, count }),
        name().prop_map(|name| Step::Auto { name }),
    ]
}

fn input(step: &Step) -> Input {
    match step {
        Step::Create { name, count, policy } => {
            let policy: Vec<(&str, &str)> = policy.iter().map(|policy| ("cleanup.policy", *policy)).collect();
            let topics = vec![new_topic(name, *count, &policy)];
            Input::CreateTopics(asked(7, message!(CreateTopicsRequest { topics: topics })))
        }
        Step::Delete { name } => {
            let names = vec![name.as_str().into()];
            Input::DeleteTopics(asked(5, message!(DeleteTopicsRequest { topic_names: names })))
        }
        Step::Grow { name, count } => {
            use crate::protocol::messages::create_partitions_request::CreatePartitionsTopic;
            let topic =
                message!(CreatePartitionsTopic { name: name.as_str().into(), count: *count, assignments: None });
            Input::CreatePartitions(asked(3, message!(CreatePartitionsRequest { topics: vec![topic] })))
        }
        Step::Alter { kind, name, key, value } => {
            let change = change(key, i8::from(value.is_none()), *value);
            let resources = vec![resource(*kind, name, &[change])];
            Input::IncrementalAlterConfigs(asked(1, message!(IncrementalAlterConfigsRequest { resources: resources })))
        }
        Step::Internal { name, count } => {
            let topic = WantedTopic {
                name: name.as_str().into(),
                partition_count: *count,
                replication_factor: -1,
                configs: Vec::new(),
            };
            Input::CreateInternalTopics { group: "app".into(), topics: vec![topic] }
        }
        Step::Auto { name } => Input::AutoCreateTopics { topics: vec![name.as_str().into()] },
    }
}

/// The last record of each key, in order of key: what a load gives.
fn loaded(history: &[Record]) -> Vec<Record> {
    let key = |record: &Record| match record {
        Record::Topic { topic_id, .. } => (1, topic_id.to_bytes().to_vec()),
        Record::GroupConfig { group, .. } => (2, group.as_bytes().to_vec()),
        Record::BrokerConfig { default, .. } => (3, vec![u8::from(*default)]),
    };
    let is_tombstone = |record: &Record| {
        matches!(
            record,
            Record::Topic { value: None, .. }
                | Record::GroupConfig { value: None, .. }
                | Record::BrokerConfig { value: None, .. }
        )
    };
    let last: BTreeMap<_, &Record> = history.iter().map(|record| (key(record), record)).collect();
    last.into_values().filter(|record| !is_tombstone(record)).cloned().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(11), cases: 200, ..ProptestConfig::default() })]

    /// Whatever clients ask, a load of what was written gives the live state, and every answer fits its version.
    #[test]
    fn a_load_gives_the_live_state(steps in prop::collection::vec(step(), 0..40)) {
        let mut world = World::new();
        for step in &steps {
            let (response, _) = world.decide(input(step));
            if let Some(response) = response {
                let version = match response { Response::DeleteTopics(_) => 5, _ => response.api().served().1 };
                prop_assert!(response.encode(version, 1).is_ok(), "{response:?}");
            }
        }
        let load = loaded(&world.history);
        prop_assert_eq!(contents(&replayed(&load)), contents(&world.catalog));
        // A cut anywhere: what was stored so far, then the rest key by key.
        let cut = world.history.len() / 2;
        let (stored, suffix) = world.history.split_at(cut);
        let overlaid: Vec<Record> = loaded(stored).into_iter().chain(suffix.iter().cloned()).collect();
        prop_assert_eq!(contents(&replayed(&overlaid)), contents(&world.catalog));
        let names: Vec<&TopicName> = world.catalog.image().topics.keys().collect();
        for (index, name) in names.iter().enumerate() {
            let collides = |other: &&&TopicName| names::shape(other).is_some() && names::shape(other) == names::shape(name);
            prop_assert!(names.iter().skip(index + 1).find(collides).is_none(), "{name} collides");
        }
    }
}
