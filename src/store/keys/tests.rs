//! Keys: order, prefixes, and their bytes for ever.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn text() -> impl Strategy<Value = String> {
    // Short ids over few characters, so that one is often the beginning of another; zero bytes are allowed too.
    proptest::collection::vec(
        prop_oneof![Just('\0'), Just('\u{1}'), Just('a'), Just('b'), Just('é'), Just('\u{10ffff}')],
        0..4,
    )
    .prop_map(|chars| chars.into_iter().collect())
}

fn group() -> impl Strategy<Value = GroupId> {
    text().prop_map(GroupId::from)
}

fn member() -> impl Strategy<Value = MemberId> {
    text().prop_map(MemberId::from)
}

fn topic_id() -> impl Strategy<Value = TopicId> {
    prop_oneof![any::<[u8; 16]>(), (0u8..3).prop_map(|byte| [byte; 16])].prop_map(TopicId::from_bytes)
}

fn partition() -> impl Strategy<Value = TopicPartition> {
    (topic_id(), any::<i32>()).prop_map(|(topic_id, partition)| TopicPartition { topic_id, partition })
}

fn key() -> impl Strategy<Value = Key> {
    prop_oneof![
        Just(Key::Checkpoint),
        topic_id().prop_map(Key::Topic),
        group().prop_map(Key::GroupConfig),
        any::<bool>().prop_map(|default| Key::BrokerConfig { default }),
        Just(Key::ProducerIds),
        partition().prop_map(Key::HeadStart),
        partition().prop_map(Key::HeadEnd),
        (partition(), any::<i64>()).prop_map(|(partition, id)| Key::Producer(partition, ProducerId(id))),
        group().prop_map(Key::StreamsGroupMetadata),
        group().prop_map(Key::StreamsGroupTopology),
        (group(), member()).prop_map(|(group, member)| Key::StreamsGroupMemberMetadata(group, member)),
        group().prop_map(Key::StreamsGroupTargetAssignmentMetadata),
        (group(), member()).prop_map(|(group, member)| Key::StreamsGroupTargetAssignmentMember(group, member)),
        (group(), member()).prop_map(|(group, member)| Key::StreamsGroupCurrentMemberAssignment(group, member)),
        (group(), text(), any::<i32>()).prop_map(|(group, topic, partition)| Key::OffsetCommit(
            group,
            TopicName::from(topic),
            partition
        )),
    ]
}

/// What the order of keys means, said without bytes.
fn order(key: &Key) -> (u8, String, Option<TopicId>, i32, u8, String, i64) {
    let Kind { space, rank, .. } = key.kind();
    let (mut group, mut topic_id, mut partition, mut name, mut number) = (String::new(), None, 0, String::new(), 0);
    match key {
        Key::Checkpoint | Key::ProducerIds => {}
        Key::BrokerConfig { default } => number = i64::from(*default),
        Key::Topic(topic_id) => name = hex(&topic_id.to_bytes()),
        Key::GroupConfig(group) => name = group.to_string(),
        Key::HeadStart(at) | Key::HeadEnd(at) => (topic_id, partition) = (Some(at.topic_id), at.partition),
        Key::Producer(at, id) => (topic_id, partition, number) = (Some(at.topic_id), at.partition, id.0),
        Key::StreamsGroupMetadata(of)
        | Key::StreamsGroupTopology(of)
        | Key::StreamsGroupTargetAssignmentMetadata(of) => group = of.to_string(),
        Key::StreamsGroupMemberMetadata(of, member)
        | Key::StreamsGroupTargetAssignmentMember(of, member)
        | Key::StreamsGroupCurrentMemberAssignment(of, member) => (group, name) = (of.to_string(), member.to_string()),
        Key::OffsetCommit(of, topic, at) => (group, name, number) = (of.to_string(), topic.to_string(), i64::from(*at)),
    }
    (space, group, topic_id, partition, rank, name, number)
}

fn belongs_to(key: &Key, id: &GroupId) -> bool {
    key.kind().space == GROUPS && order(key).1 == id.as_str()
}

proptest! {
    #[test]
    fn a_key_comes_back(key in key()) {
        prop_assert_eq!(Key::decode(&key.encode()), Ok(key));
    }

    #[test]
    fn bytes_are_in_the_order_of_the_parts(one in key(), two in key()) {
        prop_assert_eq!(one.encode().cmp(&two.encode()), order(&one).cmp(&order(&two)), "{} {}", one, two);
    }

    #[test]
    fn a_groups_prefix_holds_its_keys_and_no_others(key in key(), id in group()) {
        prop_assert_eq!(key.encode().starts_with(&Key::group_prefix(&id)), belongs_to(&key, &id));
    }

    #[test]
    fn no_group_prefix_is_in_another(one in group(), two in group()) {
        prop_assert_eq!(Key::group_prefix(&one).starts_with(&Key::group_prefix(&two)), one == two);
    }

    #[test]
    fn a_topics_prefix_holds_its_heads_and_no_others(key in key(), id in topic_id()) {
        prop_assert_eq!(key.encode().starts_with(&Key::topic_prefix(id)), order(&key).2 == Some(id));
    }

    /// Whatever is accepted is exactly what would be written; nothing panics.
    #[test]
    fn any_bytes_are_a_key_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..40), key in key(), at: usize) {
        for bytes in [bytes, spoiled(&key, at)] {
            if let Ok(key) = Key::decode(&bytes) {
                prop_assert_eq!(&key.encode()[..], &bytes[..]);
            }
            prop_assert!(!Key::describe(&bytes).is_empty());
        }
    }
}

/// A key with one byte changed, or its end missing.
fn spoiled(key: &Key, at: usize) -> Vec<u8> {
    let mut bytes = key.encode().to_vec();
    let place = at % bytes.len();
    if at & (1 << 40) == 0 {
        bytes[place] ^= 1;
    } else {
        bytes.truncate(place);
    }
    bytes
}

#[test]
fn places_and_record_types_are_unique_and_no_key_is_in_the_stores_own_space() {
    let all: Vec<_> = KINDS.iter().chain(RESERVED).collect();
    let places: BTreeSet<_> = all.iter().map(|kind| (kind.space, kind.rank)).collect();
    let types: BTreeSet<_> = all.iter().map(|kind| kind.record_type).collect();
    assert_eq!((places.len(), types.len()), (all.len(), all.len()));
    assert!(all.iter().all(|kind| kind.space != STORE));
    // Above 127 the numbers are ours; 24 and up are left to Kafka.
    assert!(all.iter().all(|kind| kind.record_type >= 128 || kind.space == GROUPS));
}

#[test]
fn a_group_loads_parents_before_children() {
    let (group, member) = (GroupId::from("g"), MemberId::from("m"));
    let keys = [
        Key::StreamsGroupMetadata(group.clone()),
        Key::StreamsGroupTopology(group.clone()),
        Key::StreamsGroupMemberMetadata(group.clone(), member.clone()),
        Key::StreamsGroupTargetAssignmentMetadata(group.clone()),
        Key::StreamsGroupTargetAssignmentMember(group.clone(), member.clone()),
        Key::StreamsGroupCurrentMemberAssignment(group.clone(), member),
        Key::OffsetCommit(group, TopicName::from("t"), 0),
    ];
    assert_eq!(keys.each_ref().map(Key::record_type), [17, 23, 19, 20, 21, 22, 1]);
    assert!(keys.is_sorted_by_key(Key::encode));
}

#[test]
fn a_reserved_place_says_that_something_newer_wrote_it() {
    let pending = [Key::group_prefix(&GroupId::from("g")), Bytes::from_static(&[0x81, 1, 2])].concat();
    let error = Key::decode(&pending).unwrap_err();
    assert_eq!(error, KeyError::UnknownKind { space: GROUPS, rank: 0x81 });
    assert!(error.to_string().contains("later version"), "{error}");
    assert_eq!(Key::describe(&pending), "0x05670000810102");
}

/// The bytes of every kind of key, for ever.
#[test]
fn golden_keys() {
    let (group, member, topic) = (GroupId::from("g\0x"), MemberId::from("m"), TopicName::from("t"));
    let topic_id = TopicId::from_bytes([0xaa; 16]);
    let partition = TopicPartition { topic_id, partition: 3 };
    let keys = [
        Key::Checkpoint,
        Key::Topic(topic_id),
        Key::GroupConfig(group.clone()),
        Key::BrokerConfig { default: true },
        Key::ProducerIds,
        Key::HeadStart(partition),
        Key::HeadEnd(partition),
        Key::Producer(partition, ProducerId(1000)),
        Key::StreamsGroupMetadata(group.clone()),
        Key::StreamsGroupTopology(group.clone()),
        Key::StreamsGroupMemberMetadata(group.clone(), member.clone()),
        Key::StreamsGroupTargetAssignmentMetadata(group.clone()),
        Key::StreamsGroupTargetAssignmentMember(group.clone(), member.clone()),
        Key::StreamsGroupCurrentMemberAssignment(group.clone(), member),
        Key::OffsetCommit(group, topic, 7),
    ];
    let lines = keys.iter().map(|key| format!("{:3} {key} {}\n", key.record_type(), hex(&key.encode())));
    expect_test::expect![[r#"
        128 Checkpoint 0101
        130 Topic(qqqqqqqqqqqqqqqqqqqqqg) 0202aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
        131 GroupConfig(group "g\0x") 0203670078
        132 BrokerConfig(default) 020401
        133 ProducerIds 0301
        134 HeadStart(qqqqqqqqqqqqqqqqqqqqqg-3) 04aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa8000000301
        135 HeadEnd(qqqqqqqqqqqqqqqqqqqqqg-3) 04aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa8000000302
        136 Producer(qqqqqqqqqqqqqqqqqqqqqg-3, producer 1000) 04aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa800000032080000000000003e8
         17 StreamsGroupMetadata(group "g\0x") 056700ff78000013
         23 StreamsGroupTopology(group "g\0x") 056700ff78000023
         19 StreamsGroupMemberMetadata(group "g\0x", member "m") 056700ff780000336d
         20 StreamsGroupTargetAssignmentMetadata(group "g\0x") 056700ff78000043
         21 StreamsGroupTargetAssignmentMember(group "g\0x", member "m") 056700ff780000536d
         22 StreamsGroupCurrentMemberAssignment(group "g\0x", member "m") 056700ff780000636d
          1 OffsetCommit(group "g\0x", "t"-7) 056700ff7800008074000080000007
    "#]].assert_eq(&lines.collect::<String>());
}
