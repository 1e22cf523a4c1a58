//! Any history of appends, rounds, deletions, checkpoints, kills and power losses, against a list of batches.
//!
//! The model plays the runtime: a round's batches are written to the segments at once; when the round is durable they
//! are published, log starts raised, topics deleted. A crash keeps the open round or loses it as a whole. After a
//! start the heads of the last good checkpoint are given and the journal's appends behind it are made again.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Op {
    Append {
        slot: usize,
        index: i32,
        timestamps: Vec<i64>,
        value_bytes: usize,
    },
    Raise {
        slot: usize,
        index: i32,
        percent: i64,
    },
    Delete {
        slot: usize,
    },
    Commit,
    BeginCheckpoint,
    RunCheckpoint,
    /// Some change from now on is the last one the process makes.
    DieAfter {
        changes: u64,
    },
    Crash {
        power: Option<(u64, u64)>,
        keeps_round: bool,
        segment_bytes: u32,
    },
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let place = || (0usize..2, 0i32..2);
    let crash =
        (prop::option::of((any::<u64>(), prop::sample::select(vec![0, 30, 70, 100]))), any::<bool>(), 90u32..700);
    let op = prop_oneof![
        12 => (place(), prop::collection::vec(0i64..500, 1..4), 0usize..60).prop_map(
            |((slot, index), timestamps, value_bytes)| Op::Append { slot, index, timestamps, value_bytes }
        ),
        1 => (place(), 0i64..=100).prop_map(|((slot, index), percent)| Op::Raise { slot, index, percent }),
        1 => (0usize..2).prop_map(|slot| Op::Delete { slot }),
        6 => Just(Op::Commit),
        2 => Just(Op::BeginCheckpoint),
        2 => Just(Op::RunCheckpoint),
        1 => (1u64..40).prop_map(|changes| Op::DieAfter { changes }),
        2 => crash.prop_map(|(power, keeps_round, segment_bytes)| Op::Crash { power, keeps_round, segment_bytes }),
    ];
    prop::collection::vec(op, 1..80)
}

/// A change in the journal.
#[derive(Clone, Debug)]
enum Item {
    Append(TopicPartition, i64, Bytes),
    Raise(TopicPartition, i64),
    Delete { gone: TopicId, new: TopicId },
}

/// What must be there: the sum of all durable items.
#[derive(Clone, Default)]
struct Truth {
    topics: BTreeSet<TopicId>,
    partitions: BTreeMap<TopicPartition, TruePartition>,
}

#[derive(Clone, Default)]
struct TruePartition {
    batches: Vec<Bytes>,
    next_offset: i64,
    log_start: i64,
}

impl Truth {
    fn apply(&mut self, item: &Item) {
        match item {
            Item::Append(partition, base, batch) => {
                let held = self.partitions.entry(*partition).or_default();
                assert_eq!(held.next_offset, *base);
                held.next_offset = BatchHeader::parse(batch).unwrap().last_offset().0 + 1;
                held.batches.push(batch.clone());
            }
            Item::Raise(partition, offset) => {
                let held = self.partitions.entry(*partition).or_default();
                held.log_start = held.log_start.max(*offset);
            }
            Item::Delete { gone, new } => {
                self.topics.remove(gone);
                self.topics.insert(*new);
                self.partitions.retain(|partition, _| partition.topic_id != *gone);
            }
        }
    }
}

struct World {
    disk: SimDisk,
    tail_bytes_max: usize,
    segment_bytes: u32,
    writer: LogWriter,
    logs: Arc<Logs>,
    /// What the two topics are called now, the open round included.
    slots: [TopicId; 2],
    next_topic: u8,
    durable: Truth,
    /// How many items were ever durable: the lsn.
    lsn: u64,
    /// What the state store has: the truth at a lsn.
    stored: (u64, Truth),
    /// Durable items behind the stored lsn.
    journal: Vec<Item>,
    round: Vec<Item>,
    running: Option<(Checkpoint, u64, Truth)>,
}

impl World {
    fn new(tail_bytes_max: usize) -> Self {
        let disk = SimDisk::new();
        let slots = [topic(1), topic(2)];
        let durable = Truth { topics: slots.into(), partitions: BTreeMap::new() };
        let options = Self::options(&disk, tail_bytes_max);
        let (writer, logs) = LogWriter::open(&options, Lsn(0), [].into_iter(), &|_| FolderFate::Live).unwrap();
        let stored = (0, durable.clone());
        let (journal, round, running) = (Vec::new(), Vec::new(), None);
        let (lsn, next_topic, segment_bytes) = (0, 3, 300);
        Self {
            disk,
            tail_bytes_max,
            segment_bytes,
            writer,
            logs,
            slots,
            next_topic,
            durable,
            lsn,
            stored,
            journal,
            round,
            running,
        }
    }

    fn options(disk: &SimDisk, tail_bytes_max: usize) -> LogOptions {
        let mut options = LogOptions::new(Arc::new(disk.clone()), PathBuf::from(ROOT));
        options.open_files_max = 6;
        options.tail_bytes_max = tail_bytes_max;
        options.index_bytes_max = 9000;
        options
    }

    fn settings(&self) -> SegmentSettings {
        SegmentSettings { segment_bytes: self.segment_bytes, segment_ms: 400, index_interval_bytes: 100 }
    }

    /// `Err` means the process is dead.
    fn step(&mut self, op: Op) -> Result<(), LogError> {
        match op {
            Op::Append { slot, index, timestamps, value_bytes } => {
                let partition = TopicPartition { topic_id: self.slots[slot], partition: index };
                if self.durable.topics.contains(&partition.topic_id) {
                    let base = self.writer.next_offset(partition);
                    let batch = batch(base.0, &timestamps, value_bytes);
                    let settings = self.settings();
                    self.writer.append(partition, base, &batch, &settings, TimestampMs(0))?;
                    self.round.push(Item::Append(partition, base.0, batch));
                }
            }
            Op::Raise { slot, index, percent } => {
                let partition = TopicPartition { topic_id: self.slots[slot], partition: index };
                let next = self.writer.next_offset(partition).0;
                self.round.push(Item::Raise(partition, next * percent / 100));
            }
            Op::Delete { slot } => {
                let gone = self.slots[slot];
                if self.durable.topics.contains(&gone) {
                    let new = topic(self.next_topic);
                    self.next_topic += 1;
                    self.slots[slot] = new;
                    self.round.push(Item::Delete { gone, new });
                }
            }
            Op::Commit => self.commit()?,
            Op::BeginCheckpoint => {
                if self.running.is_none() {
                    let checkpoint = self.writer.begin_checkpoint(Lsn(self.lsn));
                    self.running = Some((checkpoint, self.lsn, self.durable.clone()));
                }
            }
            Op::RunCheckpoint => {
                if let Some((checkpoint, lsn, truth)) = self.running.take() {
                    checkpoint.run()?;
                    let behind = usize::try_from(lsn - self.stored.0).unwrap();
                    self.journal.drain(..behind);
                    self.stored = (lsn, truth);
                }
            }
            Op::DieAfter { changes } => self.disk.die_after(changes),
            Op::Crash { power, keeps_round, segment_bytes } => {
                self.segment_bytes = segment_bytes;
                self.crash(power, keeps_round);
            }
        }
        Ok(())
    }

    fn make_durable(&mut self) -> Vec<Item> {
        let round = std::mem::take(&mut self.round);
        for item in &round {
            self.durable.apply(item);
            self.journal.push(item.clone());
            self.lsn += 1;
        }
        round
    }

    fn commit(&mut self) -> Result<(), LogError> {
        for item in self.make_durable() {
            match item {
                Item::Append(partition, base, batch) => {
                    let next = BatchHeader::parse(&batch).unwrap().last_offset().0 + 1;
                    assert!(next > base);
                    self.writer.publish(partition, Offset(next));
                }
                Item::Raise(partition, offset) => self.writer.raise_log_start(partition, Offset(offset)),
                Item::Delete { gone, .. } => self.writer.delete_topic(gone)?,
            }
        }
        Ok(())
    }

    fn crash(&mut self, power: Option<(u64, u64)>, keeps_round: bool) {
        if keeps_round {
            self.make_durable();
        } else {
            self.round.clear();
        }
        self.running = None;
        self.disk = match power {
            Some((seed, percent)) => self.disk.power_loss(seed, percent),
            None => self.disk.process_kill(),
        };
        self.start();
        self.check_all();
    }

    fn start(&mut self) {
        let live: Vec<_> = self.durable.topics.iter().copied().collect();
        for slot in &mut self.slots {
            if !live.contains(slot) {
                // The round that made it is lost; the one it was to replace lives on.
                *slot = TopicId::ZERO;
            }
        }
        let named: Vec<_> = live.iter().filter(|topic| !self.slots.contains(topic)).copied().collect();
        let unnamed = self.slots.iter_mut().filter(|slot| slot.is_zero());
        unnamed.zip(named).for_each(|(slot, topic)| *slot = topic);

        let (stored_lsn, stored) = &self.stored;
        let mut known = stored.topics.clone();
        for item in &self.journal {
            if let Item::Delete { new, .. } = item {
                known.insert(*new);
            }
        }
        let fate = |partition: TopicPartition| {
            if self.durable.topics.contains(&partition.topic_id) {
                FolderFate::Live
            } else if known.contains(&partition.topic_id) {
                FolderFate::Deleted
            } else {
                FolderFate::Unknown
            }
        };
        let heads = self.durable.partitions.iter().map(|(partition, held)| {
            let next_offset = stored.partitions.get(partition).map_or(0, |held| held.next_offset);
            head(*partition, next_offset, held.log_start)
        });
        let options = Self::options(&self.disk, self.tail_bytes_max);
        let (writer, logs) = LogWriter::open(&options, Lsn(*stored_lsn), heads, &fate).unwrap();
        (self.writer, self.logs) = (writer, logs);
        let settings = self.settings();
        for item in &self.journal {
            if let Item::Append(partition, base, batch) = item
                && self.durable.topics.contains(&partition.topic_id)
            {
                self.writer.append(*partition, Offset(*base), batch, &settings, TimestampMs(0)).unwrap();
            }
        }
        for partition in self.durable.partitions.keys() {
            self.writer.publish(*partition, self.writer.next_offset(*partition));
        }
        assert!(!self.disk.exists(&Path::new(ROOT).join(names::QUARANTINE)).unwrap());
    }

    fn check_all(&self) {
        for (partition, held) in &self.durable.partitions {
            self.check(*partition, held);
        }
        let known = read(&self.logs.partitions);
        assert!(known.keys().all(|partition| self.durable.topics.contains(&partition.topic_id)));
    }

    fn check(&self, partition: TopicPartition, held: &TruePartition) {
        let log = self.logs.get_or_empty(partition);
        let bounds = log.bounds();
        assert_eq!(bounds.high_watermark.0, held.next_offset.max(held.log_start));
        assert_eq!(bounds.log_start.0, held.log_start, "{partition:?}");
        let spans: Vec<_> = held.batches.iter().map(|batch| (BatchHeader::parse(batch).unwrap(), batch)).collect();
        for offset in held.log_start..held.next_offset {
            let from = spans.iter().position(|(header, _)| header.last_offset().0 >= offset).unwrap();
            for max_bytes in [0, 150, 300, 10_000] {
                let found = log.read(Offset(offset), at_least_one(max_bytes), Offset(i64::MAX)).unwrap();
                let count = base_offsets(&found.bytes).len();
                let expected: Vec<u8> = held.batches[from..from + count].concat();
                assert_eq!(found.bytes, expected, "{partition:?} at {offset}");
                assert_eq!(found.next_offset, Offset(spans[from + count - 1].0.last_offset().0 + 1));
                assert!(count == 1 || found.bytes.len() <= max_bytes);
            }
        }
        let records = || {
            spans.iter().flat_map(|(header, batch)| {
                let records = crate::protocol::batch::RecordShapes::new(header, batch, 10_000, 10_000).unwrap();
                let record = |record: crate::protocol::batch::RecordShape| TimestampOffset {
                    offset: Offset(header.base_offset.0 + i64::from(record.offset_delta)),
                    timestamp: record.timestamp,
                };
                records.map(move |shape| record(shape.unwrap())).filter(|found| found.offset.0 >= held.log_start)
            })
        };
        for timestamp in [0, 100, 250, 400, 499] {
            let found = log.offset_for_timestamp(TimestampMs(timestamp), Offset(i64::MAX)).unwrap();
            assert_eq!(found, records().find(|record| record.timestamp.0 >= timestamp), "{timestamp}");
        }
        let largest = records().map(|record| record.timestamp).max();
        let expected = records().find(|record| Some(record.timestamp) == largest);
        assert_eq!(log.max_timestamp(Offset(i64::MAX)).unwrap(), expected);
    }
}

/// Each case is a long story; more of them by hand with `PROPTEST_CASES`.
fn config() -> ProptestConfig {
    let usual = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_some() { usual } else { ProptestConfig { cases: 80, ..usual } }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_published_batch_is_ever_lost_changed_or_seen_twice(
        ops in ops(),
        tail_bytes_max in prop::sample::select(vec![0, 900, 1_000_000]),
    ) {
        let mut world = World::new(tail_bytes_max);
        for op in ops {
            let is_commit = matches!(op, Op::Commit);
            if world.step(op).is_err() {
                world.crash(None, false);
            } else if is_commit {
                world.check_all();
            }
        }
        world.crash(Some((1, 50)), true);
        world.crash(None, true);
    }
}
