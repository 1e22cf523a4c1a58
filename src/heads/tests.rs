//! What producers and askers of `DeleteRecords` see, row by row of the reference's tables. Sequences and answers of the
//! idempotence tests were observed with Kafka 4.4.0.

use std::sync::Arc;

use super::*;
use crate::config::Config;
use crate::heads::records::ProducerBatch;
use crate::machine::Rng;
use crate::protocol::batch::{BatchBuilder, BatchHeader, NewRecord, add_to_sequence};
use crate::types::{ProducerEpoch, TopicImage, TopicName};

const WORDS: TopicId = TopicId::from_bytes([1; 16]);
const COUNTS: TopicId = TopicId::from_bytes([2; 16]);
const P0: TopicPartition = TopicPartition { topic_id: WORDS, partition: 0 };
const P1: TopicPartition = TopicPartition { topic_id: WORDS, partition: 1 };
const OTHER: TopicPartition = TopicPartition { topic_id: COUNTS, partition: 0 };
const DAY_MS: i64 = 86_400_000;
const SEARCH_MS: i64 = 600_000;

pub(super) fn image() -> Image {
    let mut image = Image { lsn: Lsn(3), ..Image::default() };
    for (id, name, partition_count) in [(WORDS, "words", 2), (COUNTS, "counts", 1)] {
        let name = TopicName::from(name);
        let topic = TopicImage { id, name: name.clone(), partition_count, configs: Arc::default() };
        image.topics.insert(name.clone(), Arc::new(topic));
        image.topic_names.insert(id, name);
    }
    image
}

/// A running core, as the sequencer has it.
pub(super) struct World {
    pub(super) heads: Heads,
    pub(super) soft: Soft,
    pub(super) env: Env,
    pub(super) lsn: Lsn,
}

impl World {
    pub(super) fn new() -> Self {
        Self::with(Heads::default(), Lsn(10))
    }

    /// A core that has just been loaded.
    pub(super) fn with(heads: Heads, lsn: Lsn) -> Self {
        let mut env = Env {
            now: TimestampMs(1_700_000_000_000),
            rng: Rng::from_seed(1),
            image: Arc::new(image()),
            config: Arc::new(Config::default()),
        };
        let soft = heads.on_loaded(&mut env);
        Self { heads, soft, env, lsn }
    }

    pub(super) fn decide(&mut self, input: Input) -> Decision<Heads> {
        let decision = self.heads.decide(&mut self.soft, &mut self.env, input);
        if !decision.records.is_empty() {
            self.lsn = self.lsn.next();
        }
        for record in &decision.records {
            self.heads.replay(self.lsn, record);
        }
        decision
    }

    fn append(&mut self, partition: TopicPartition, meta: BatchMeta) -> Reply {
        the_reply(&self.decide(append(partition, meta)))
    }

    fn raise(&mut self, partition: TopicPartition, offset: i64) -> Reply {
        the_reply(&self.decide(Input::RaiseLogStart { to: ReplyTo(1), partition, offset: Offset(offset) }))
    }

    /// Lets time pass and does what falls due, as the runtime does. Returns which producers were forgotten.
    fn pass_ms(&mut self, ms: i64) -> Vec<ProducerId> {
        self.env.now = self.env.now.plus_ms(ms);
        let mut forgotten = Vec::new();
        while let Some(input) = Heads::pop_due(&mut self.soft, self.env.now) {
            for record in self.decide(input).records {
                assert!(matches!(record, Record::Producer { value: None, .. }));
                forgotten.extend(record.touched().1);
            }
        }
        forgotten
    }
}

pub(super) fn append(partition: TopicPartition, meta: BatchMeta) -> Input {
    Input::Append { to: ReplyTo(1), partition, meta, batch: batch(&meta) }
}

/// Bytes that go with `meta`.
fn batch(meta: &BatchMeta) -> BytesMut {
    let mut builder = BatchBuilder::new().producer(meta.producer_id, meta.producer_epoch, meta.base_sequence);
    let record = NewRecord { timestamp: meta.max_timestamp, value: Some(b"v"), ..NewRecord::default() };
    for _ in 0..meta.offset_count.clamp(0, 10) {
        builder.push(&record).unwrap();
    }
    builder.build().unwrap()
}

pub(super) fn the_reply(decision: &Decision<Heads>) -> Reply {
    assert_eq!(decision.replies.len(), 1);
    decision.replies[0].1
}

/// A batch without a producer.
fn plain(offset_count: i32) -> BatchMeta {
    BatchMeta {
        producer_id: ProducerId(-1),
        producer_epoch: ProducerEpoch(-1),
        base_sequence: -1,
        offset_count,
        max_timestamp: TimestampMs(1000),
        is_transactional: false,
        log_append_time: TimestampMs(-1),
    }
}

/// A batch of producer 7.
fn idempotent(epoch: i16, base_sequence: i32, offset_count: i32) -> BatchMeta {
    BatchMeta { producer_id: ProducerId(7), producer_epoch: ProducerEpoch(epoch), base_sequence, ..plain(offset_count) }
}

fn appended(base_offset: i64) -> Reply {
    Reply::Appended { base_offset: Offset(base_offset), log_append_time: TimestampMs(-1), log_start: Offset(0) }
}

/// The answer to a batch that was there before; all batches of these tests have timestamp 1000.
fn appended_before(base_offset: i64) -> Reply {
    Reply::Appended { base_offset: Offset(base_offset), log_append_time: TimestampMs(1000), log_start: Offset(0) }
}

fn refused(error: ErrorCode) -> Reply {
    Reply::Refused { error, log_start: Offset(0) }
}

const OUT_OF_ORDER: Reply = Reply::Refused { error: ErrorCode::OutOfOrderSequenceNumber, log_start: Offset(0) };
const OLD_EPOCH: Reply = Reply::Refused { error: ErrorCode::InvalidProducerEpoch, log_start: Offset(0) };

#[test]
fn each_partition_counts_its_own_offsets_and_the_batch_carries_them() {
    let mut world = World::new();
    assert_eq!(world.append(P0, plain(3)), appended(0));
    assert_eq!(world.append(P1, plain(1)), appended(0));
    let decision = world.decide(append(P0, plain(2)));
    assert_eq!(the_reply(&decision), appended(3));
    let [Record::Append { partition, base_offset, meta, batch }] = &decision.records[..] else {
        panic!("{decision:?}");
    };
    assert_eq!((*partition, *base_offset, *meta), (P0, Offset(3), plain(2)));
    let header = BatchHeader::parse(batch).unwrap();
    assert_eq!((header.base_offset, header.leader_epoch), (Offset(3), 0));
    assert_eq!(header.check_crc(batch), Ok(()));
    assert_eq!(world.heads.head(P0).next_offset, Offset(5));
    assert_eq!(world.heads.end_value(P1), Some(HeadEndValue { next_offset: Offset(1) }));
    assert_eq!(world.heads.end_value(OTHER), None);
}

#[test]
fn an_answer_tells_log_start_and_append_time() {
    let mut world = World::new();
    world.append(P0, plain(5));
    world.raise(P0, 2);
    let meta = BatchMeta { log_append_time: TimestampMs(4711), ..plain(1) };
    let expected = Reply::Appended { base_offset: Offset(5), log_append_time: TimestampMs(4711), log_start: Offset(2) };
    assert_eq!(world.append(P0, meta), expected);
}

#[test]
fn a_partition_that_the_catalogue_does_not_have_is_unknown() {
    let mut world = World::new();
    let unknown = Reply::Refused { error: ErrorCode::UnknownTopicOrPartition, log_start: Offset(-1) };
    for (topic_id, partition) in [(WORDS, 2), (WORDS, -1), (TopicId::from_bytes([9; 16]), 0)] {
        let partition = TopicPartition { topic_id, partition };
        let decision = world.decide(append(partition, plain(1)));
        assert_eq!((the_reply(&decision), decision.rests_on), (unknown, Lsn(3)));
        assert_eq!(world.raise(partition, 0), unknown);
    }
}

#[test]
fn sequences_follow_each_other_and_a_gap_is_refused() {
    let mut world = World::new();
    assert_eq!(world.append(P0, idempotent(0, 0, 3)), appended(0));
    assert_eq!(world.append(P0, idempotent(0, 3, 1)), appended(3));
    assert_eq!(world.append(P0, idempotent(0, 5, 1)), OUT_OF_ORDER);
    assert_eq!(world.append(P0, idempotent(0, 2, 1)), OUT_OF_ORDER);
    assert_eq!(world.append(P0, idempotent(0, 4, 1)), appended(4));
}

#[test]
fn a_producer_is_another_one_in_another_partition() {
    let mut world = World::new();
    world.append(P0, idempotent(0, 0, 1));
    assert_eq!(world.append(P1, idempotent(3, 99, 1)), appended(0));
    assert_eq!(world.append(P0, idempotent(0, 1, 1)), appended(1));
}

#[test]
fn an_unknown_producer_may_begin_anywhere() {
    let mut world = World::new();
    assert_eq!(world.append(P0, idempotent(4, 77, 1)), appended(0));
    assert_eq!(world.append(P0, idempotent(4, 78, 1)), appended(1));
}

#[test]
fn a_repeated_batch_of_the_last_five_gets_its_first_answer_once_that_is_durable() {
    let mut world = World::new();
    for sequence in 7..=12 {
        world.append(P0, idempotent(0, sequence, 1));
    }
    let lsn_of_8 = Lsn(12);
    let decision = world.decide(append(P0, idempotent(0, 8, 1)));
    assert_eq!((the_reply(&decision), decision.rests_on), (appended_before(1), lsn_of_8));
    assert!(decision.records.is_empty());
    assert_eq!(world.append(P0, idempotent(0, 12, 1)), appended_before(5));
    assert_eq!(world.append(P0, idempotent(0, 7, 1)), OUT_OF_ORDER, "the sixth last is forgotten");
    assert_eq!(world.append(P0, idempotent(0, 8, 2)), OUT_OF_ORDER, "the same begin, another end");
    assert_eq!(world.append(P0, idempotent(0, 14, 1)), OUT_OF_ORDER);
    assert_eq!(world.append(P0, idempotent(0, 13, 1)), appended(6));
    assert_eq!(world.heads.head(P0).next_offset, Offset(7));
}

#[test]
fn a_new_epoch_begins_at_zero_and_ends_the_old_one() {
    let mut world = World::new();
    world.append(P0, idempotent(0, 12, 1));
    assert_eq!(world.append(P0, idempotent(2, 1, 1)), OUT_OF_ORDER);
    assert_eq!(world.append(P0, idempotent(2, 13, 1)), OUT_OF_ORDER);
    assert_eq!(world.append(P0, idempotent(2, 0, 1)), appended(1));
    assert_eq!(world.append(P0, idempotent(0, 13, 1)), OLD_EPOCH);
    assert_eq!(world.append(P0, idempotent(0, 12, 1)), OLD_EPOCH, "even if it repeats one");
    assert_eq!(world.append(P0, idempotent(2, 0, 1)), appended_before(1));
    assert_eq!(world.append(P0, idempotent(2, 12, 1)), OUT_OF_ORDER, "of the old epoch nothing is remembered");
    assert_eq!(world.append(P0, idempotent(2, 1, 1)), appended(2));
}

#[test]
fn after_the_largest_sequence_comes_zero() {
    let mut world = World::new();
    assert_eq!(world.append(P0, idempotent(0, i32::MAX - 1, 3)), appended(0));
    assert_eq!(world.append(P0, idempotent(0, i32::MAX - 1, 3)), appended_before(0));
    assert_eq!(world.append(P0, idempotent(0, 2, 1)), OUT_OF_ORDER);
    assert_eq!(world.append(P0, idempotent(0, 1, 1)), appended(3));
    assert_eq!(world.append(P1, idempotent(0, i32::MAX, 1)), appended(0));
    assert_eq!(world.append(P1, idempotent(0, 0, 1)), appended(1));
}

#[test]
fn a_producer_without_an_epoch_is_let_through_as_in_kafka() {
    let mut world = World::new();
    assert_eq!(world.append(P0, idempotent(-1, 4, 1)), appended(0));
    assert_eq!(world.append(P0, idempotent(-1, 9, 1)), appended(1));
    assert_eq!(world.append(P0, idempotent(-1, 9, 1)), appended_before(1));
    assert_eq!(world.append(P0, idempotent(0, 9, 1)), appended(2));
    assert_eq!(world.append(P1, idempotent(-2, 0, 1)), OLD_EPOCH);
}

#[test]
fn a_refusal_rests_on_what_the_producer_wrote_last() {
    let mut world = World::new();
    world.append(P0, idempotent(0, 0, 1));
    let lsn = world.lsn;
    world.append(P0, plain(1));
    assert_eq!(world.decide(append(P0, idempotent(0, 9, 1))).rests_on, lsn);
    world.raise(P0, 1);
    assert_eq!(world.decide(append(P0, idempotent(0, 9, 1))).rests_on, world.lsn, "it tells the log start");
    assert_eq!(world.decide(append(P0, idempotent(0, 0, 1))).rests_on, world.lsn);
}

#[test]
fn a_transactional_batch_has_no_transaction_to_belong_to() {
    let mut world = World::new();
    let meta = BatchMeta { is_transactional: true, ..idempotent(0, 0, 1) };
    let expected = Reply::Refused { error: ErrorCode::InvalidProducerIdMapping, log_start: Offset(-1) };
    assert_eq!(world.append(P0, meta), expected);
    assert_eq!(world.append(P0, BatchMeta { is_transactional: true, ..plain(1) }), expected);
    assert_eq!(world.heads.end_value(P0), None);
}

#[test]
fn offsets_never_wrap_around() {
    let mut heads = Heads::default();
    let value = Some(HeadEndValue { next_offset: Offset(i64::MAX - 2) });
    heads.replay(Lsn(1), &Record::HeadEnd { partition: P0, value });
    let mut world = World::with(heads, Lsn(1));
    assert_eq!(world.append(P0, plain(3)), refused(ErrorCode::OffsetOutOfRange));
    assert_eq!(world.append(P0, plain(2)), appended(i64::MAX - 2));
    assert_eq!(world.append(P0, plain(1)), refused(ErrorCode::OffsetOutOfRange));
    assert_eq!(world.append(P0, plain(0)), refused(ErrorCode::InvalidRecord));
}

#[test]
fn the_log_start_only_goes_up_and_not_beyond_the_end() {
    let mut world = World::new();
    let at = |offset| Reply::LogStart { low_watermark: Offset(offset) };
    let out_of_range = |log_start| Reply::Refused { error: ErrorCode::OffsetOutOfRange, log_start: Offset(log_start) };
    assert_eq!(world.raise(P0, -1), at(0), "nothing was ever written");
    assert_eq!(world.raise(P0, 1), out_of_range(0));
    world.append(P0, plain(5));
    assert_eq!(world.raise(P0, 2), at(2));
    assert_eq!(world.raise(P0, 1), at(2));
    assert_eq!(world.raise(P0, 2), at(2));
    assert_eq!(world.raise(P0, 6), out_of_range(2));
    assert_eq!(world.raise(P0, -2), out_of_range(2));
    assert_eq!(world.raise(P0, i64::MIN), out_of_range(2));
    assert_eq!(world.raise(P0, -1), at(5));
    assert_eq!(
        world.append(P0, plain(1)),
        Reply::Appended { base_offset: Offset(5), log_append_time: TimestampMs(-1), log_start: Offset(5) }
    );
}

#[test]
fn a_log_start_that_stays_rests_on_the_change_that_put_it_there() {
    let mut world = World::new();
    world.append(P0, plain(5));
    world.raise(P0, 2);
    let decision = world.decide(Input::RaiseLogStart { to: ReplyTo(1), partition: P0, offset: Offset(1) });
    assert_eq!((decision.records.len(), decision.rests_on), (0, world.lsn));
}

#[test]
fn deleted_records_do_not_make_a_producer_unknown() {
    let mut world = World::new();
    world.append(P0, idempotent(0, 0, 2));
    world.raise(P0, -1);
    assert_eq!(
        world.append(P0, idempotent(0, 9, 1)),
        Reply::Refused { error: ErrorCode::OutOfOrderSequenceNumber, log_start: Offset(2) }
    );
}

#[test]
fn a_producer_that_was_idle_for_a_day_is_forgotten() {
    let mut world = World::new();
    world.append(P0, idempotent(0, 0, 1));
    let mut idle_ms = 0;
    let forgotten = loop {
        idle_ms += SEARCH_MS;
        let forgotten = world.pass_ms(SEARCH_MS);
        if !forgotten.is_empty() {
            break forgotten;
        }
        assert!(idle_ms < DAY_MS + 4 * SEARCH_MS, "never forgotten");
    };
    assert_eq!(forgotten, [ProducerId(7)]);
    assert!(idle_ms > DAY_MS, "forgotten after {idle_ms} ms");
    assert_eq!(world.heads.producer_value(P0, ProducerId(7)), None);
    assert_eq!(world.append(P0, idempotent(0, 50, 1)), appended(1));
}

#[test]
fn a_producer_at_work_is_not_forgotten_however_old_its_timestamps() {
    let mut world = World::new();
    let mut sequence = 0;
    for _ in 0..400 {
        assert_eq!(world.pass_ms(SEARCH_MS), []);
        world.append(P0, idempotent(0, sequence, 1));
        sequence += 1;
    }
    assert_eq!(world.append(P0, idempotent(0, sequence + 1, 1)), OUT_OF_ORDER);
    assert!(Heads::next_deadline(&world.soft).is_some());
}

#[test]
fn after_a_restart_old_timestamps_count_but_not_before_the_first_search() {
    let mut heads = Heads::default();
    for (partition, last_timestamp) in [(P0, 1000), (P1, 1_700_000_000_000)] {
        let value = ProducerStateValue {
            producer_epoch: ProducerEpoch(0),
            last_timestamp: TimestampMs(last_timestamp),
            batches: Vec::new(),
        };
        heads.replay(Lsn(5), &Record::Producer { partition, producer_id: ProducerId(7), value: Some(value) });
    }
    let mut world = World::with(heads, Lsn(5));
    assert_eq!(world.pass_ms(SEARCH_MS - 1), []);
    assert_eq!(world.pass_ms(1), [ProducerId(7)]);
    assert_eq!(world.heads.producer_value(P0, ProducerId(7)), None);
    assert!(world.heads.producer_value(P1, ProducerId(7)).is_some(), "its last record is from before the restart");
}

#[test]
fn the_search_for_idle_producers_goes_in_steps() {
    let mut heads = Heads::default();
    let value =
        ProducerStateValue { producer_epoch: ProducerEpoch(0), last_timestamp: TimestampMs(0), batches: Vec::new() };
    for id in 0..1200 {
        let value = Some(value.clone());
        heads.replay(Lsn(5), &Record::Producer { partition: P0, producer_id: ProducerId(id), value });
    }
    let mut world = World::with(heads, Lsn(5));
    world.env.now = world.env.now.plus_ms(SEARCH_MS);
    let mut steps = Vec::new();
    while let Some(input) = Heads::pop_due(&mut world.soft, world.env.now) {
        steps.push(world.decide(input).records.len());
    }
    assert_eq!(steps, [500, 500, 200]);
    assert_eq!(world.heads.producers.len(), 0);
    assert_eq!(Heads::next_deadline(&world.soft), Some(world.env.now.plus_ms(SEARCH_MS)));
}

#[test]
fn a_search_that_goes_wrong_does_not_stop_later_ones() {
    let mut world = World::new();
    world.env.now = world.env.now.plus_ms(SEARCH_MS);
    assert!(Heads::pop_due(&mut world.soft, world.env.now).is_some());
    assert_eq!(Heads::next_deadline(&world.soft), None);
    let parked = world.heads.reset(&mut world.soft, &mut world.env, Heads::scope(&Input::ExpireProducers));
    assert_eq!(parked, []);
    assert_eq!(Heads::next_deadline(&world.soft), Some(world.env.now.plus_ms(SEARCH_MS)));
}

#[test]
fn the_expiration_can_change_while_the_server_runs() {
    let mut world = World::new();
    let configs = BTreeMap::from([("producer.id.expiration.ms".to_owned(), "1000".to_owned())]);
    world.env.image = Arc::new(Image { broker_configs: Arc::new(configs), ..image() });
    world.append(P0, idempotent(0, 0, 1));
    assert_eq!(world.pass_ms(SEARCH_MS), [], "nothing tells yet how long it has been idle");
    assert_eq!(world.pass_ms(SEARCH_MS), [ProducerId(7)]);
}

#[test]
fn a_deleted_topic_leaves_nothing_and_takes_nothing_else_with_it() {
    let mut world = World::new();
    for partition in [P0, P1, OTHER] {
        world.append(partition, idempotent(0, 0, 1));
    }
    world.heads.forget_topic(WORDS);
    let left: Vec<_> = world.heads.iter().map(|(partition, _)| partition).collect();
    assert_eq!(left, [OTHER]);
    assert_eq!(world.heads.producer_value(P0, ProducerId(7)), None);
    assert!(world.heads.producer_value(OTHER, ProducerId(7)).is_some());
    world.heads.forget_topic(WORDS);
}

#[test]
fn tombstones_for_unknown_things_do_nothing() {
    let mut heads = Heads::default();
    for record in [
        Record::HeadStart { partition: P0, value: None },
        Record::HeadEnd { partition: P0, value: None },
        Record::Producer { partition: P0, producer_id: ProducerId(1), value: None },
    ] {
        heads.replay(Lsn(1), &record);
    }
    assert_eq!((heads.iter().count(), heads.producers.len()), (0, 0));
}

#[test]
fn in_whatever_order_values_are_loaded_offsets_do_not_go_back() {
    let start =
        |log_start| Record::HeadStart { partition: P0, value: Some(HeadStartValue { log_start: Offset(log_start) }) };
    let end =
        |next_offset| Record::HeadEnd { partition: P0, value: Some(HeadEndValue { next_offset: Offset(next_offset) }) };
    let mut heads = Heads::default();
    for record in [start(4), end(9), start(3), end(8)] {
        heads.replay(Lsn(1), &record);
    }
    assert_eq!((heads.head(P0).log_start, heads.head(P0).next_offset), (Offset(4), Offset(9)));
}

#[test]
fn stored_values_that_make_no_sense_do_no_harm() {
    let mut heads = Heads::default();
    let batch = ProducerBatch {
        base_sequence: -5,
        last_sequence: i32::MIN,
        base_offset: Offset(i64::MIN),
        timestamp: TimestampMs(i64::MIN),
    };
    let value = ProducerStateValue {
        producer_epoch: ProducerEpoch(i16::MIN),
        last_timestamp: TimestampMs(i64::MIN),
        batches: vec![batch; 50],
    };
    heads.replay(Lsn(1), &Record::Producer { partition: P0, producer_id: ProducerId(7), value: Some(value) });
    heads.replay(Lsn(1), &Record::HeadEnd { partition: P0, value: Some(HeadEndValue { next_offset: Offset(-9) }) });
    let huge = BatchMeta { offset_count: i32::MIN, ..idempotent(0, 0, 1) };
    for (base_offset, meta) in [(i64::MAX, plain(i32::MAX)), (i64::MIN, huge)] {
        let record = Record::Append { partition: P1, base_offset: Offset(base_offset), meta, batch: Bytes::new() };
        heads.replay(Lsn(2), &record);
    }
    assert_eq!(heads.producer_value(P0, ProducerId(7)).unwrap().batches.len(), 5);
    let mut world = World::with(heads, Lsn(2));
    world.append(P0, idempotent(0, 0, 1));
    world.append(P1, idempotent(0, 0, 1));
    world.pass_ms(DAY_MS);
}

#[test]
fn a_batch_that_a_checkpoint_has_is_not_counted_twice() {
    let mut world = World::new();
    let record = world.decide(append(P0, idempotent(0, 0, 2))).records.remove(0);
    world.heads.replay(world.lsn, &record);
    assert_eq!(world.heads.head(P0).next_offset, Offset(2));
    assert_eq!(world.heads.producer_value(P0, ProducerId(7)).unwrap().batches.len(), 1);
    assert_eq!(record.touched(), (P0, Some(ProducerId(7))));
    assert_eq!(world.decide(append(P0, plain(1))).records[0].touched(), (P0, None));
    assert_eq!(add_to_sequence(0, 2), 2);
}
