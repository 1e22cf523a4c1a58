//! The bytes of every value, for ever. A line here is never changed once it has been released: a value that needs other
//! fields gets a new version, a new struct and a new line.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::catalog::{ConfigValue, TopicValue};
use crate::coordinator::OffsetCommitValue;
use crate::coordinator::streams::records::{
    CopartitionGroup, Endpoint, StreamsGroupCurrentMemberAssignmentValue, StreamsGroupMemberMetadataValue,
    StreamsGroupMetadataValue, StreamsGroupTargetAssignmentMemberValue, StreamsGroupTargetAssignmentMetadataValue,
    StreamsGroupTopologyValue, Subtopology, TopicInfo,
};
use crate::coordinator::streams::tasks::{ActiveTasks, AssignedTasks, TaskSet, Tasks};
use crate::heads::{HeadEndValue, HeadStartValue, ProducerStateValue};
use crate::store::{Key, envelope};
use crate::txn::ProducerIdsValue;
use crate::types::{
    GroupId, InstanceId, Lsn, MemberId, Offset, ProcessId, ProducerId, TimestampMs, TopicId, TopicName, TopicPartition,
};

const TOPIC: TopicId = TopicId::from_bytes([0xaa; 16]);

/// A line that shows a value's bytes, once they were read back.
fn line<T: Serialize + DeserializeOwned + PartialEq + Debug>(key: &Key, version: u16, value: &T) -> String {
    let encoded_key = key.encode();
    let bytes = envelope::encode(&encoded_key, key.record_type(), version, Lsn(0x0102), value);
    let envelope = envelope::decode(&encoded_key, &bytes).unwrap();
    assert_eq!((envelope.record_type, envelope.version, envelope.lsn), (key.record_type(), version, Lsn(0x0102)));
    assert_eq!(&envelope.payload::<T>(version).unwrap(), value);
    let hex = bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    format!("{} v{version} {hex}\n", key.kind().name)
}

fn configs(name: &str) -> BTreeMap<String, String> {
    BTreeMap::from([(name.to_owned(), "1".to_owned())])
}

fn tasks(partitions: &[i32]) -> TaskSet {
    partitions.iter().map(|partition| (Arc::from("0"), *partition)).collect()
}

fn active(partition: i32, epoch: i32) -> ActiveTasks {
    let mut active = ActiveTasks::default();
    active.insert(&Arc::from("0"), partition, epoch);
    active
}

#[test]
fn golden_values_of_catalog_heads_and_transactions() {
    let at = TopicPartition { topic_id: TOPIC, partition: 3 };
    let topic = TopicValue { name: TopicName::from("t"), partition_count: 4, configs: configs("segment.bytes") };
    let config = ConfigValue { configs: configs("x") };
    // One batch: base and last sequence, base offset, timestamp. Its struct is private to the heads.
    let producer = (7i16, 0x0102_0304i64, vec![(5i32, 6i32, 9i64, 8i64)]);
    let key = Key::Producer(at, ProducerId(1)).encode();
    let bytes = envelope::encode(&key, 136, 1, Lsn(1), &producer);
    let producer: ProducerStateValue = envelope::decode(&key, &bytes).unwrap().payload(1).unwrap();
    assert_eq!(producer.producer_epoch.0, 7);
    assert_eq!((producer.batches[0].last_sequence, producer.batches[0].base_offset), (6, Offset(9)));
    let lines = [
        line(&Key::Checkpoint, 1, &0x0102_0304_0506_0708u64),
        line(&Key::Topic(TOPIC), 1, &topic),
        line(&Key::GroupConfig(GroupId::from("g")), 1, &config),
        line(&Key::BrokerConfig { default: true }, 1, &config),
        line(&Key::ProducerIds, 1, &ProducerIdsValue { reserved_below: ProducerId(1000) }),
        line(&Key::HeadStart(at), 1, &HeadStartValue { log_start: Offset(5) }),
        line(&Key::HeadEnd(at), 1, &HeadEndValue { next_offset: Offset(6) }),
        line(&Key::Producer(at, ProducerId(1)), 1, &producer),
    ];
    expect_test::expect![[r"
        Checkpoint v1 e580000101000000000000000102000000080807060504030201bb818fb0
        Topic v1 e582000101000000000000000102000000330100000000000000740400000001000000000000000d000000000000007365676d656e742e6279746573010000000000000031e8c2f14d
        GroupConfig v1 e5830001010000000000000001020000001a01000000000000000100000000000000780100000000000000317f9465a7
        BrokerConfig v1 e5840001010000000000000001020000001a01000000000000000100000000000000780100000000000000311d933139
        ProducerIds v1 e58500010100000000000000010200000008e8030000000000001f4ff31b
        HeadStart v1 e586000101000000000000000102000000080500000000000000b3497968
        HeadEnd v1 e587000101000000000000000102000000080600000000000000a47a827c
        Producer v1 e5880001010000000000000001020000002a0700040302010000000001000000000000000500000006000000090000000000000008000000000000008e4deef7
    "]].assert_eq(&lines.concat());
}

#[test]
fn golden_values_of_groups() {
    let (group, member) = (GroupId::from("g"), MemberId::from("m"));
    let metadata = StreamsGroupMetadataValue {
        epoch: 2,
        metadata_hash: -3,
        validated_topology_epoch: 0,
        last_assignment_configs: configs("num.standby.replicas"),
        stored_description_topology_epoch: -1,
        failed_description_topology_epoch: -1,
    };
    let member_metadata = StreamsGroupMemberMetadataValue {
        instance_id: Some(InstanceId::from("i")),
        rack_id: None,
        client_id: "c".to_owned(),
        client_host: "/127.0.0.1".to_owned(),
        rebalance_timeout_ms: 10_000,
        topology_epoch: 0,
        process_id: ProcessId::from("p"),
        user_endpoint: Some(Endpoint { host: "h".to_owned(), port: 8080 }),
        client_tags: configs("zone"),
    };
    let target = StreamsGroupTargetAssignmentMetadataValue {
        assignment_epoch: 2,
        assignment_timestamp: TimestampMs(1_700_000_000_000),
    };
    let target_member = StreamsGroupTargetAssignmentMemberValue {
        tasks: Tasks { active: tasks(&[0, 1]), standby: tasks(&[2]), warmup: TaskSet::default() },
    };
    let current = StreamsGroupCurrentMemberAssignmentValue {
        member_epoch: 2,
        previous_member_epoch: 1,
        state: 2,
        assigned: AssignedTasks { active: active(0, 2), standby: tasks(&[2]), warmup: tasks(&[3]) },
        active_pending_revocation: active(1, 1),
        standby_pending_revocation: TaskSet::default(),
        warmup_pending_revocation: TaskSet::default(),
    };
    let offset = OffsetCommitValue {
        offset: 42,
        leader_epoch: -1,
        metadata: "note".to_owned(),
        commit_timestamp: TimestampMs(1_700_000_000_000),
        expire_timestamp: Some(TimestampMs(5)),
        topic_id: TOPIC,
    };
    let lines = [
        line(&Key::StreamsGroupMetadata(group.clone()), 1, &metadata),
        line(&Key::StreamsGroupTopology(group.clone()), 1, &topology()),
        line(&Key::StreamsGroupMemberMetadata(group.clone(), member.clone()), 1, &member_metadata),
        line(&Key::StreamsGroupTargetAssignmentMetadata(group.clone()), 1, &target),
        line(&Key::StreamsGroupTargetAssignmentMember(group.clone(), member.clone()), 1, &target_member),
        line(&Key::StreamsGroupCurrentMemberAssignment(group.clone(), member), 1, &current),
        line(&Key::OffsetCommit(group, TopicName::from("t"), 7), 1, &offset),
    ];
    expect_test::expect![[r"
        StreamsGroupMetadata v1 e5110001010000000000000001020000004502000000fdffffffffffffff00000000010000000000000014000000000000006e756d2e7374616e6462792e7265706c69636173010000000000000031fffffffffffffffff6c7bb14
        StreamsGroupTopology v1 e517000101000000000000000102000000fd01000000010000000000000001000000000000003001000000000000000200000000000000696e01000000000000000300000000000000782e2a01000000000000000200000000000000636c03000000010001000000000000000e00000000000000636c65616e75702e706f6c6963790700000000000000636f6d70616374010000000000000003000000000000006f757401000000000000000200000000000000727003000000010001000000000000000e00000000000000636c65616e75702e706f6c6963790700000000000000636f6d7061637401000000000000000100000000000000000001000000000000000000010000000000000000006177ddb7
        StreamsGroupMemberMetadata v1 e5130001010000000000000001020000006001010000000000000069000100000000000000630a000000000000002f3132372e302e302e31102700000000000001000000000000007001010000000000000068901f010000000000000004000000000000007a6f6e65010000000000000031fc255a3f
        StreamsGroupTargetAssignmentMetadata v1 e5140001010000000000000001020000000c020000000068e5cf8b0100008a0237a6
        StreamsGroupTargetAssignmentMember v1 e5150001010000000000000001020000004601000000000000000100000000000000300200000000000000000000000100000001000000000000000100000000000000300100000000000000020000000000000000000000f88c66c7
        StreamsGroupCurrentMemberAssignment v1 e516000101000000000000000102000000950200000001000000020100000000000000010000000000000030010000000000000000000000020000000100000000000000010000000000000030010000000000000002000000010000000000000001000000000000003001000000000000000300000001000000000000000100000000000000300100000000000000010000000100000000000000000000000000000000000000db0fad82
        OffsetCommit v1 e501000101000000000000000102000000392a00000000000000ffffffff04000000000000006e6f74650068e5cf8b010000010500000000000000aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa99e821d9
    "]].assert_eq(&lines.concat());
}

fn topology() -> StreamsGroupTopologyValue {
    let info = |name: &str| TopicInfo {
        name: TopicName::from(name),
        partitions: 3,
        replication_factor: 1,
        topic_configs: vec![("cleanup.policy".to_owned(), "compact".to_owned())],
    };
    StreamsGroupTopologyValue {
        epoch: 1,
        subtopologies: vec![Subtopology {
            subtopology_id: Arc::from("0"),
            source_topics: vec![TopicName::from("in")],
            source_topic_regex: vec!["x.*".to_owned()],
            state_changelog_topics: vec![info("cl")],
            repartition_sink_topics: vec![TopicName::from("out")],
            repartition_source_topics: vec![info("rp")],
            copartition_groups: vec![CopartitionGroup {
                source_topics: vec![0],
                source_topic_regex: vec![0],
                repartition_source_topics: vec![0],
            }],
        }],
    }
}
