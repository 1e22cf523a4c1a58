//! `ListOffsets` by timestamp.

use bytes::BytesMut;

use super::*;
use crate::protocol::batch::Compression;

const ANY: Offset = Offset(i64::MAX);

fn find(bench: &Bench, timestamp: i64) -> Option<(i64, i64)> {
    let found = bench.log(partition(0)).offset_for_timestamp(TimestampMs(timestamp), ANY).unwrap();
    found.map(|found| (found.offset.0, found.timestamp.0))
}

fn max(bench: &Bench) -> Option<(i64, i64)> {
    let found = bench.log(partition(0)).max_timestamp(ANY).unwrap();
    found.map(|found| (found.offset.0, found.timestamp.0))
}

/// Batches of records with these timestamps, the offsets counted on.
fn log_of(batches: &[&[i64]]) -> Bench {
    let mut bench = Bench::without_tail();
    bench.settings.segment_bytes = 300;
    for timestamps in batches {
        let base = bench.writer.next_offset(partition(0)).0;
        bench.append(partition(0), &batch(base, timestamps, 20));
    }
    bench.publish(partition(0));
    bench
}

#[test]
fn the_first_record_at_or_after_a_timestamp_is_found_within_its_batch() {
    let bench = log_of(&[&[100, 110, 120], &[130, 125, 140], &[135], &[150, 200, 160], &[155]]);
    assert!(bench.log(partition(0)).segment_facts().len() > 1);
    for (timestamp, expected) in [
        (0, Some((0, 100))),
        (100, Some((0, 100))),
        (101, Some((1, 110))),
        (120, Some((2, 120))),
        (121, Some((3, 130))),
        (131, Some((5, 140))),
        (141, Some((7, 150))),
        (151, Some((8, 200))),
        (200, Some((8, 200))),
        (201, None),
    ] {
        assert_eq!(find(&bench, timestamp), expected, "{timestamp}");
    }
}

#[test]
fn the_answer_is_never_outside_of_what_can_be_read() {
    let mut bench = log_of(&[&[100, 900, 120], &[130, 140], &[150, 160], &[170, 400], &[180]]);
    let end = bench.writer.next_offset(partition(0)).0;
    bench.append(partition(0), &batch(end, &[999], 1));
    assert_eq!((find(&bench, 901), max(&bench)), (None, Some((1, 900))), "not published yet");
    bench.writer.raise_log_start(partition(0), Offset(2));
    assert_eq!((find(&bench, 0), find(&bench, 125)), (Some((2, 120)), Some((3, 130))));
    assert_eq!(max(&bench), Some((8, 400)), "Kafka may still name offset 1");
    let log = bench.log(partition(0));
    let stable = log.offset_for_timestamp(TimestampMs(165), Offset(7)).unwrap();
    assert_eq!((stable, log.max_timestamp(Offset(7)).unwrap().unwrap().offset), (None, Offset(6)));
    bench.publish(partition(0));
    assert_eq!((find(&bench, 901), max(&bench)), (Some((end, 999)), Some((end, 999))));
}

#[test]
fn the_largest_timestamp_is_that_of_the_first_record_that_has_it() {
    assert_eq!(max(&log_of(&[&[5, 9, 9], &[9, 3], &[1]])), Some((1, 9)));
    assert_eq!(max(&log_of(&[&[5], &[6], &[7, 8, 8]])), Some((3, 8)));
    assert_eq!(max(&log_of(&[&[-1], &[-1]])), None);
    let mut empty = Bench::new();
    empty.logs.get_or_empty(partition(0));
    assert_eq!((max(&empty), find(&empty, 0)), (None, None));
    empty.writer.delete_topic(topic(1)).unwrap();
}

#[test]
fn the_largest_below_a_bound_inside_a_long_segment_is_found() {
    let mut bench = Bench::without_tail();
    let timestamps: Vec<i64> = (0..200).map(|place| 1000 + (place * 7919) % 1009).collect();
    for (base, timestamp) in (0..).zip(&timestamps) {
        bench.append(partition(0), &batch(base, &[*timestamp], 20));
    }
    bench.publish(partition(0));
    let log = bench.log(partition(0));
    for start in [0i64, 50, 120] {
        bench.writer.raise_log_start(partition(0), Offset(start));
        for end in start..=200 {
            let range = usize::try_from(start).unwrap()..usize::try_from(end).unwrap();
            let largest = timestamps[range.clone()].iter().max();
            let expected = largest.map(|largest| {
                let place = timestamps[range].iter().position(|timestamp| timestamp == largest).unwrap();
                (start + i64::try_from(place).unwrap(), *largest)
            });
            let found = log.max_timestamp(Offset(end)).unwrap();
            assert_eq!(found.map(|found| (found.offset.0, found.timestamp.0)), expected, "{start}..{end}");
        }
    }
}

#[test]
fn every_codec_and_the_append_time_are_understood() {
    let mut bench = Bench::without_tail();
    for (base, codec) in (0..).step_by(3).zip(Compression::ALL) {
        let mut builder = BatchBuilder::new().at(Offset(base), 0).compression(codec);
        for place in 0..3 {
            let record = NewRecord { timestamp: TimestampMs(100 + base + place), ..NewRecord::default() };
            builder.push(&record).unwrap();
        }
        bench.append(partition(0), &builder.build().unwrap().freeze());
    }
    let mut builder = BatchBuilder::new().at(Offset(15), 0).log_append_time(TimestampMs(500));
    for timestamp in [1, 2] {
        builder.push(&NewRecord { timestamp: TimestampMs(timestamp), ..NewRecord::default() }).unwrap();
    }
    bench.append(partition(0), &builder.build().unwrap().freeze());
    bench.publish(partition(0));
    for offset in 0..15 {
        assert_eq!(find(&bench, 100 + offset), Some((offset, 100 + offset)));
    }
    assert_eq!(find(&bench, 115), Some((15, 500)));
    assert_eq!(max(&bench), Some((15, 500)));
}

#[test]
fn a_header_that_promises_more_than_its_records_hold_sends_the_search_on() {
    use crate::protocol::batch::{TimestampType, set_max_timestamp};
    let mut bench = Bench::without_tail();
    let mut lying = BytesMut::from(&batch(0, &[10, 11], 3)[..]);
    set_max_timestamp(&mut lying, TimestampType::CreateTime, TimestampMs(900)).unwrap();
    bench.append(partition(0), &lying.freeze());
    bench.append(partition(0), &batch(2, &[50], 3));
    bench.publish(partition(0));
    assert_eq!((find(&bench, 12), find(&bench, 51)), (Some((2, 50)), None));
}
