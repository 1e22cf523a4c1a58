//! How offsets are best laid out in the store: one key per partition, or blocks of 16 partitions per key. The key table
//! keeps what these numbers say.
//!
//! `cargo test --release --lib store::measure -- --ignored --nocapture`

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Change, DataDir, Key, SledStore, StateStore, envelope};
use crate::machine::Rng;
use crate::types::{ClusterId, GroupId, Lsn, TimestampMs, TopicId, TopicName};

const GROUPS: u64 = 200;
const TOPICS: u64 = 50;
const PARTITIONS: u64 = 100;

/// As the coordinator's value of an offset.
#[derive(Serialize, Deserialize)]
struct OffsetCommitValue {
    offset: i64,
    leader_epoch: i32,
    metadata: String,
    commit_timestamp: TimestampMs,
    expire_timestamp: Option<TimestampMs>,
    topic_id: TopicId,
}

#[allow(clippy::disallowed_methods, reason = "a measurement needs a clock")]
fn timed<T>(what: impl FnOnce() -> T) -> (Duration, T) {
    let start = std::time::Instant::now();
    let result = what();
    (start.elapsed(), result)
}

fn value(offset: u64) -> OffsetCommitValue {
    OffsetCommitValue {
        offset: i64::try_from(offset).unwrap(),
        leader_epoch: 0,
        metadata: String::new(),
        commit_timestamp: TimestampMs(1_700_000_000_000),
        expire_timestamp: None,
        topic_id: TopicId::from_bytes([0xaa; 16]),
    }
}

/// The puts of a commit of some partitions of one topic by one group; `per_key` of them lie under one key.
fn puts(group: u64, topic: u64, partitions: std::ops::Range<u64>, per_key: u64, lsn: u64, to: &mut Vec<Change>) {
    let group = GroupId::from(format!("orders-application-{group:04}"));
    let topic = TopicName::from(format!("orders-by-customer-{topic:04}"));
    for block in partitions.start / per_key..partitions.end.div_ceil(per_key) {
        let key = Key::OffsetCommit(group.clone(), topic.clone(), i32::try_from(block).unwrap()).encode();
        let value = if per_key == 1 {
            envelope::encode(&key, 1, 1, Lsn(lsn), &value(lsn))
        } else {
            // The whole block is written, whatever part of it changed.
            let count = per_key.min(PARTITIONS - block * per_key);
            let values: Vec<_> = (0..count).map(|_| value(lsn)).collect();
            envelope::encode(&key, 1, 1, Lsn(lsn), &values)
        };
        to.push(Change::Put { key, value });
    }
}

fn bytes_of(changes: &[Change]) -> usize {
    let sizes = changes.iter().map(|change| match change {
        Change::Put { key, value } => key.len() + value.len(),
        Change::Delete { key } | Change::DeletePrefix { prefix: key } => key.len(),
    });
    sizes.sum()
}

fn load(data: &DataDir, per_key: u64) {
    let (open, mut store) = timed(|| SledStore::open(data).unwrap());
    let (scan, keys) = timed(|| {
        let mut keys = 0;
        store
            .load(&mut |_, _| {
                keys += 1;
                Ok(())
            })
            .unwrap();
        keys
    });
    let (decode, offsets) = timed(|| {
        let mut offsets = 0;
        store
            .load(&mut |key, bytes| {
                Key::decode(key).unwrap();
                let envelope = envelope::decode(key, bytes)?;
                offsets += if per_key == 1 {
                    envelope.payload::<OffsetCommitValue>(1).map(|_| 1)?
                } else {
                    envelope.payload::<Vec<OffsetCommitValue>>(1)?.len()
                };
                Ok(())
            })
            .unwrap();
        offsets
    });
    println!("{per_key:2} a key: open {open:.1?}, scan {keys} keys {scan:.1?}, scan and decode {offsets} {decode:.1?}");
}

fn commits(data: &DataDir, per_key: u64, name: &str, rng: &mut Rng, lsn: &mut u64, partitions_at_once: u64) {
    let mut store = SledStore::open(data).unwrap();
    let mut times = Vec::new();
    let mut bytes = 0;
    for _ in 0..15 {
        *lsn += 1;
        let mut changes = Vec::new();
        for _ in 0..10_000 / partitions_at_once {
            let (group, topic) = (rng.below(GROUPS), rng.below(TOPICS));
            let first = if partitions_at_once == 1 { rng.below(PARTITIONS) } else { 0 };
            puts(group, topic, first..first + partitions_at_once, per_key, *lsn, &mut changes);
        }
        bytes = bytes_of(&changes);
        times.push(timed(|| store.checkpoint(Lsn(*lsn), &changes).unwrap()).0);
    }
    times.sort();
    let db = std::fs::metadata(data.store_dir().join("db")).unwrap().len();
    println!(
        "{per_key:2} a key: checkpoint of 10,000 offsets, {name}: {bytes} bytes to write, median {:.1?}, slowest {:.1?}; \
         store {} MiB",
        times[7],
        times[14],
        db >> 20
    );
}

#[test]
#[ignore = "a measurement of minutes; run it in release, by hand"]
fn one_key_per_partition_against_blocks_of_16() {
    for per_key in [1, 16, 1, 16] {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::open(dir.path(), || ClusterId::from("test")).unwrap();
        let mut store = SledStore::open(&data).unwrap();
        let (mut lsn, mut fill) = (0, Duration::ZERO);
        for group in 0..GROUPS {
            lsn += 1;
            let mut changes: Vec<Change> = Vec::new();
            for topic in 0..TOPICS {
                puts(group, topic, 0..PARTITIONS, per_key, lsn, &mut changes);
            }
            fill += timed(|| store.checkpoint(Lsn(lsn), &changes).unwrap()).0;
        }
        drop(store);
        let db = std::fs::metadata(data.store_dir().join("db")).unwrap().len();
        println!("{per_key:2} a key: filled in {fill:.1?}, store {} MiB", db >> 20);
        load(&data, per_key);
        let mut rng = Rng::from_seed(1);
        commits(&data, per_key, "100 partitions of a topic at once", &mut rng, &mut lsn, PARTITIONS);
        commits(&data, per_key, "scattered", &mut rng, &mut lsn, 1);
        load(&data, per_key);
    }
}
