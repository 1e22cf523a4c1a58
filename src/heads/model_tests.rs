//! Any history of appends, repeats, raised log starts, forgotten producers and restarts gives the answers and the state
//! of a simple model. A restart loads a checkpoint taken at any lsn and replays what came behind it.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::tests::{World, append, the_reply};
use super::*;
use crate::types::ProducerEpoch;

const TOPIC: TopicId = TopicId::from_bytes([1; 16]);

#[derive(Clone, Debug)]
enum Sequence {
    /// The one behind the last.
    Next,
    /// That of an earlier batch of the producer, counted back, with its record count.
    Repeat(usize),
    /// Any.
    Fresh(i32),
}

#[derive(Clone, Debug)]
enum Step {
    Append { partition: i32, producer: i64, epoch: i16, sequence: Sequence, count: i32 },
    Raise { partition: i32, offset: i64 },
    Forget { partition: i32, producer: i64 },
    Restart { cut: prop::sample::Index, turn: prop::sample::Index },
}

fn any_step() -> impl Strategy<Value = Step> {
    let sequence = prop_oneof![
        5 => Just(Sequence::Next),
        3 => (0..7usize).prop_map(Sequence::Repeat),
        1 => (0..4i32).prop_map(Sequence::Fresh),
        1 => (i32::MAX - 3..=i32::MAX).prop_map(Sequence::Fresh),
    ];
    let epoch = prop_oneof![8 => Just(0i16), 2 => 0..3i16];
    prop_oneof![
        12 => (0..2, -1..2i64, epoch, sequence, 1..4).prop_map(|(partition, producer, epoch, sequence, count)| {
            Step::Append { partition, producer, epoch, sequence, count }
        }),
        2 => (0..2, -2..30i64).prop_map(|(partition, offset)| Step::Raise { partition, offset }),
        1 => (0..2, 0..2i64).prop_map(|(partition, producer)| Step::Forget { partition, producer }),
        2 => (any::<prop::sample::Index>(), any::<prop::sample::Index>())
            .prop_map(|(cut, turn)| Step::Restart { cut, turn }),
    ]
}

/// First sequence, last sequence, offset.
type Written = (i32, i32, i64);

#[derive(Default)]
struct Model {
    ends: BTreeMap<i32, i64>,
    starts: BTreeMap<i32, i64>,
    /// Epoch, and everything the producer wrote in it.
    producers: BTreeMap<(i32, i64), (i16, Vec<Written>)>,
}

impl Model {
    fn start(&self, partition: i32) -> Offset {
        Offset(self.starts.get(&partition).copied().unwrap_or(0))
    }

    fn append(&mut self, partition: i32, meta: &BatchMeta) -> Reply {
        let end = self.ends.get(&partition).copied().unwrap_or(0);
        let log_start = self.start(partition);
        let appended = |offset, time| Reply::Appended {
            base_offset: Offset(offset),
            log_append_time: TimestampMs(time),
            log_start,
        };
        let refused = |error| Reply::Refused { error, log_start };
        if meta.producer_id.0 >= 0 {
            let key = (partition, meta.producer_id.0);
            let (epoch, first) = (meta.producer_epoch.0, meta.base_sequence);
            let after = |sequence: i32, steps: i32| {
                i32::try_from((i64::from(sequence) + i64::from(steps)) % (1 << 31)).unwrap()
            };
            let last = after(first, meta.offset_count - 1);
            match self.producers.get(&key) {
                Some((known, _)) if epoch < *known => return refused(ErrorCode::InvalidProducerEpoch),
                Some((known, _)) if epoch > *known && first != 0 => {
                    return refused(ErrorCode::OutOfOrderSequenceNumber);
                }
                Some((known, written)) if epoch == *known => {
                    let repeated = written.iter().rev().take(5).find(|batch| (batch.0, batch.1) == (first, last));
                    if let Some(batch) = repeated {
                        return appended(batch.2, meta.max_timestamp.0);
                    }
                    if first != after(written.last().unwrap().1, 1) {
                        return refused(ErrorCode::OutOfOrderSequenceNumber);
                    }
                }
                _ => {}
            }
            let producer = self.producers.entry(key).or_default();
            if producer.0 != epoch {
                *producer = (epoch, Vec::new());
            }
            producer.1.push((first, last, end));
        }
        self.ends.insert(partition, end + i64::from(meta.offset_count));
        appended(end, -1)
    }

    fn raise(&mut self, partition: i32, offset: i64) -> Reply {
        let end = self.ends.get(&partition).copied().unwrap_or(0);
        let offset = if offset == -1 { end } else { offset };
        if !(0..=end).contains(&offset) {
            return Reply::Refused { error: ErrorCode::OffsetOutOfRange, log_start: self.start(partition) };
        }
        let low_watermark = self.start(partition).max(Offset(offset));
        self.starts.insert(partition, low_watermark.0);
        Reply::LogStart { low_watermark }
    }

    fn meta(&self, partition: i32, producer: i64, epoch: i16, sequence: &Sequence, count: i32) -> BatchMeta {
        let written: &[Written] = self.producers.get(&(partition, producer)).map_or(&[], |(_, written)| written);
        let next = written.last().map_or(0, |batch| batch.1.wrapping_add(1).max(0));
        let (base_sequence, count) = match sequence {
            Sequence::Next => (next, count),
            Sequence::Fresh(sequence) => (*sequence, count),
            Sequence::Repeat(back) => {
                let batch = written.iter().rev().nth(*back).or(written.first());
                batch.map_or((next, count), |(first, last, _)| {
                    (*first, i32::try_from((i64::from(*last) - i64::from(*first)) & 0x7fff_ffff).unwrap() + 1)
                })
            }
        };
        BatchMeta {
            producer_id: ProducerId(producer),
            producer_epoch: ProducerEpoch(if producer < 0 { -1 } else { epoch }),
            base_sequence: if producer < 0 { -1 } else { base_sequence },
            offset_count: count,
            max_timestamp: TimestampMs(500),
            is_transactional: false,
            log_append_time: TimestampMs(-1),
        }
    }
}

fn at(partition: i32) -> TopicPartition {
    TopicPartition { topic_id: TOPIC, partition }
}

/// Everything of the hard state that an answer can show.
#[derive(Debug, PartialEq, Eq)]
struct Shown {
    /// Log ends and log starts.
    partitions: Vec<(TopicPartition, Offset, Offset)>,
    producers: Vec<(TopicPartition, ProducerId, ProducerStateValue)>,
}

fn shown(heads: &Heads) -> Shown {
    let partitions = heads.iter().map(|(partition, head)| (partition, head.next_offset, head.log_start)).collect();
    let producers =
        heads.producers.iter().map(|((partition, id), state)| (*partition, *id, state.to_value())).collect();
    Shown { partitions, producers }
}

/// What a checkpoint of these heads stores.
fn checkpoint(heads: &Heads) -> Vec<Record> {
    let mut records = Vec::new();
    for (partition, head) in heads.iter() {
        records.push(Record::HeadEnd { partition, value: heads.end_value(partition) });
        if head.log_start > Offset(0) {
            records.push(Record::HeadStart { partition, value: Some(HeadStartValue { log_start: head.log_start }) });
        }
    }
    for (partition, producer_id) in heads.producers.keys().copied() {
        records.push(Record::Producer { partition, producer_id, value: heads.producer_value(partition, producer_id) });
    }
    records
}

/// Loads a checkpoint taken behind the first `cut` records, in some order, and the records behind it.
fn restarted(history: &[(Lsn, Record)], cut: usize, turn: prop::sample::Index) -> Heads {
    let mut before = Heads::default();
    for (lsn, record) in &history[..cut] {
        before.replay(*lsn, record);
    }
    let mut stored = checkpoint(&before);
    if !stored.is_empty() {
        let turn = turn.index(stored.len());
        stored.rotate_left(turn);
    }
    let mut after = Heads::default();
    for record in &stored {
        after.replay(before.lsn, record);
    }
    for (lsn, record) in &history[cut..] {
        after.replay(*lsn, record);
    }
    after
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn heads_answer_as_the_model_before_and_after_any_restart(steps in prop::collection::vec(any_step(), 1..80)) {
        let mut world = World::new();
        let mut model = Model::default();
        let mut history: Vec<(Lsn, Record)> = Vec::new();
        for step in steps {
            let (decision, expected) = match step {
                Step::Append { partition, producer, epoch, sequence, count } => {
                    let meta = model.meta(partition, producer, epoch, &sequence, count);
                    (world.decide(append(at(partition), meta)), model.append(partition, &meta))
                }
                Step::Raise { partition, offset } => {
                    let input =
                        Input::RaiseLogStart { to: ReplyTo(1), partition: at(partition), offset: Offset(offset) };
                    (world.decide(input), model.raise(partition, offset))
                }
                Step::Forget { partition, producer } => {
                    model.producers.remove(&(partition, producer));
                    let partition = at(partition);
                    let record = Record::Producer { partition, producer_id: ProducerId(producer), value: None };
                    world.lsn = world.lsn.next();
                    world.heads.replay(world.lsn, &record);
                    history.push((world.lsn, record));
                    continue;
                }
                Step::Restart { cut, turn } => {
                    let heads = restarted(&history, cut.index(history.len() + 1), turn);
                    prop_assert_eq!(shown(&heads), shown(&world.heads));
                    world = World::with(heads, world.lsn);
                    continue;
                }
            };
            prop_assert!(decision.rests_on <= world.lsn);
            prop_assert_eq!(the_reply(&decision), expected);
            history.extend(decision.records.into_iter().map(|record| (world.lsn, record)));
        }
        let ends: Vec<(TopicPartition, Offset)> =
            model.ends.iter().map(|(partition, end)| (at(*partition), Offset(*end))).collect();
        let heads: Vec<_> = world.heads.iter().map(|(partition, head)| (partition, head.next_offset)).collect();
        prop_assert_eq!(heads, ends);
    }
}
