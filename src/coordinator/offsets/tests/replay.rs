//! A load gives the live state, whatever the order of keys.

use proptest::prelude::*;

use crate::coordinator::offsets::Totals;
use crate::coordinator::offsets::testing::{
    DAY, MINUTE, World, commit_by_id, commit_request, delete_request, fetch_request, show_fetch, topic_id_of,
};
use crate::coordinator::{Coordinator, OffsetCommitValue, Record};
use crate::machine::Core;
use crate::types::{Lsn, TimestampMs, TopicId};

fn value(offset: i64, topic_id: TopicId) -> OffsetCommitValue {
    OffsetCommitValue {
        offset,
        leader_epoch: -1,
        metadata: String::new(),
        commit_timestamp: TimestampMs(0),
        expire_timestamp: None,
        topic_id,
    }
}

fn record(group: &str, topic: &str, partition: i32, value: Option<OffsetCommitValue>) -> Record {
    Record::OffsetCommit { group: group.into(), topic: topic.into(), partition, value }
}

#[test]
fn a_tombstone_of_something_unknown_does_nothing() {
    let mut coordinator = Coordinator::default();
    coordinator.replay(Lsn(1), &record("g", "in", 0, None));
    assert!(coordinator.groups.is_empty());
    coordinator.replay(Lsn(2), &record("g", "in", 0, Some(value(1, TopicId::ZERO))));
    coordinator.replay(Lsn(3), &record("g", "in", 1, None));
    coordinator.replay(Lsn(4), &record("g", "other", 0, None));
    coordinator.replay(Lsn(5), &Record::GroupDeleted { group: "h".into() });
    assert_eq!(coordinator.offset_count(), 1);
}

#[test]
fn any_partition_number_that_is_stored_loads() {
    let mut coordinator = Coordinator::default();
    for partition in [i32::MAX, 0, -1, i32::MIN] {
        coordinator.replay(Lsn(1), &record("g", "", partition, Some(value(i64::MIN, topic_id_of(u32::MAX)))));
    }
    assert_eq!(coordinator.offset_count(), 4);
}

#[test]
fn a_partition_has_one_offset_whatever_ids_its_topic_had() {
    let mut coordinator = Coordinator::default();
    for (lsn, id) in [(1, 1), (2, 2), (3, 1), (4, 3)] {
        coordinator.replay(Lsn(lsn), &record("g", "in", 0, Some(value(1, topic_id_of(id)))));
        assert_eq!(coordinator.offset_count(), 1);
    }
    coordinator.replay(Lsn(5), &record("g", "in", 0, None));
    assert!(coordinator.groups.is_empty());
    assert_eq!(coordinator.offset_totals, Totals::default());
}

#[test]
fn the_lsn_of_a_group_is_that_of_its_newest_record_whatever_the_order_of_the_load() {
    let mut coordinator = Coordinator::default();
    coordinator.replay(Lsn(9), &record("g", "a", 0, Some(value(1, TopicId::ZERO))));
    coordinator.replay(Lsn(4), &record("g", "b", 0, Some(value(1, TopicId::ZERO))));
    assert_eq!(coordinator.lsn_of("g"), Lsn(9));
    coordinator.replay(Lsn(12), &record("g", "a", 0, None));
    assert_eq!(coordinator.lsn_of("g"), Lsn(12));
}

#[test]
fn a_deleted_group_takes_its_offsets_and_its_count_along() {
    let mut world = World::new(&[("in", 2)]);
    world.committed("g", &[("in", 0, 1), ("in", 1, 1)]);
    world.committed("h", &[("in", 0, 1)]);
    world.harness.write(&Record::GroupDeleted { group: "g".into() });
    assert!(!world.has_group("g"));
    assert_eq!(world.coordinator().offset_count(), 1);
    world.harness.check();
}

#[derive(Clone, Debug)]
enum Happening {
    Commit { group: u8, version: i16, offsets: Vec<(u8, i32, i64)>, retention_time_ms: i64, metadata: bool },
    Delete { group: u8, topic: u8, partition: i32 },
    DeleteGroup { group: u8 },
    RemakeTopic { topic: u8, is_swept: bool },
    Pass { ms: i64 },
}

fn happening() -> impl Strategy<Value = Happening> {
    let offsets = prop::collection::vec((0..3u8, 0..5i32, -1..100i64), 1..6);
    let retention_time_ms = prop_oneof![Just(-1), 0..30 * DAY];
    prop_oneof![
        8 => (0..4u8, 2..=10i16, offsets, retention_time_ms, any::<bool>()).prop_map(
            |(group, version, offsets, retention_time_ms, metadata)| {
                Happening::Commit { group, version, offsets, retention_time_ms, metadata }
            }
        ),
        2 => (0..4u8, 0..3u8, 0..5i32).prop_map(|(group, topic, partition)| Happening::Delete { group, topic, partition }),
        1 => (0..4u8).prop_map(|group| Happening::DeleteGroup { group }),
        1 => (0..3u8, any::<bool>()).prop_map(|(topic, is_swept)| Happening::RemakeTopic { topic, is_swept }),
        2 => (MINUTE..3 * DAY).prop_map(|ms| Happening::Pass { ms }),
    ]
}

const TOPICS: [&str; 3] = ["a", "b", "c"];

fn happen(world: &mut World, happening: Happening) {
    match happening {
        Happening::Commit { group, version, offsets, retention_time_ms, metadata } => {
            let offsets: Vec<_> = offsets
                .iter()
                .map(|(topic, partition, offset)| (TOPICS[usize::from(*topic)], *partition, *offset))
                .collect();
            let mut request = commit_request(&format!("g{group}"), &offsets);
            if version <= 4 {
                request.retention_time_ms = retention_time_ms;
            }
            for partition in request.topics.iter_mut().flat_map(|topic| &mut topic.partitions) {
                partition.committed_metadata = metadata.then(|| "m".into());
            }
            if version == 10 {
                request = commit_by_id(world, request);
            }
            world.commit(version, request);
        }
        Happening::Delete { group, topic, partition } => {
            world.delete(delete_request(&format!("g{group}"), &[(TOPICS[usize::from(topic)], partition)]));
        }
        Happening::DeleteGroup { group } => {
            world.harness.write(&Record::GroupDeleted { group: format!("g{group}").into() });
        }
        Happening::RemakeTopic { topic, is_swept } => {
            let name = TOPICS[usize::from(topic)];
            let old = world.id_of(name);
            world.remake_topic(name, 4);
            if is_swept {
                world.sweep_topics(vec![(old, name.into())]);
            }
        }
        Happening::Pass { ms } => {
            world.after(ms);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Whatever happens, a restart has the same offsets, and each number kept beside them is right.
    #[test]
    fn a_load_gives_the_live_state(story in prop::collection::vec(happening(), 1..40)) {
        let mut world = World::new(&TOPICS.map(|topic| (topic, 4)));
        for happening in story {
            happen(&mut world, happening);
        }
        world.harness.check();
        prop_assert_eq!(world.coordinator().offset_count(), world.stored_count());
        let lens = world.coordinator().groups.values().map(|group| group.offsets.len());
        prop_assert_eq!(lens.sum::<usize>(), world.stored_count());
        for group in 0..4 {
            let group = format!("g{group}");
            let told = world.all(&group);
            let listed: Vec<_> = TOPICS.iter().flat_map(|topic| (0..4).map(move |partition| (*topic, partition))).collect();
            let response = world.fetch(9, fetch_request(&[(&group, Some(&listed))]));
            let listed = show_fetch(&response);
            let present: String = listed.split_inclusive('\n').filter(|line| told.contains(line)).collect();
            prop_assert_eq!(present, told, "reading all and reading one by one agree");
        }
        // A name that no group uses is not kept.
        for id in world.coordinator().groups.keys().cloned().collect::<Vec<_>>() {
            world.harness.write(&Record::GroupDeleted { group: id });
        }
        prop_assert_eq!(&world.coordinator().offset_totals, &Totals::default());
    }
}
