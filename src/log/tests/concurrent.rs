//! Readers of other threads while the writer appends, rolls, drops and checkpoints.

use std::sync::atomic::AtomicBool;

use super::*;

const BATCHES: i64 = 3000;

/// Follows the log to its end, from memory or files as it comes, and checks that nothing is missing or twice.
fn follow(log: &PartitionLog, max_bytes: usize) -> i64 {
    let mut watch = log.subscribe();
    let mut offset = Offset(0);
    let mut count = 0;
    while offset.0 < BATCHES {
        let bounds = *watch.borrow_and_update();
        assert!(bounds.log_start <= bounds.high_watermark);
        match log.read(offset, at_least_one(max_bytes), Offset(i64::MAX)) {
            Ok(found) => {
                let expected: Vec<_> = (offset.0..found.next_offset.0).collect();
                assert_eq!(base_offsets(&found.bytes), expected);
                assert!(found.next_offset <= log.bounds().high_watermark);
                count += i64::try_from(expected.len()).unwrap();
                offset = found.next_offset;
            }
            Err(ReadError::OffsetOutOfRange(now)) => {
                assert!(now.log_start > offset);
                offset = now.log_start;
            }
            Err(error) => panic!("{error}"),
        }
        std::thread::yield_now();
    }
    count
}

#[test]
fn readers_see_every_batch_once_and_in_order_while_the_log_moves_under_them() {
    let mut bench = Bench::new();
    bench.options.tail_bytes_max = 5000;
    bench.options.index_bytes_max = 10_000;
    bench.options.open_files_max = 6;
    bench.reopen(&[]).unwrap();
    bench.settings.segment_bytes = 5000;
    let log = bench.logs.get_or_empty(partition(0));
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = [1, 700, 20_000]
            .map(|max| {
                scope.spawn({
                    let log = &log;
                    move || follow(log, max)
                })
            })
            .into();
        let (log, is_done) = (&log, &is_done);
        let searcher = scope.spawn(move || {
            let mut found = 0;
            while !is_done.load(Ordering::Acquire) {
                let bounds = log.bounds();
                let middle = i64::midpoint(bounds.log_start.0, bounds.high_watermark.0);
                let searched = log.offset_for_timestamp(TimestampMs(middle), Offset(i64::MAX)).unwrap();
                let largest = log.max_timestamp(Offset(i64::MAX)).unwrap();
                for record in [searched, largest].into_iter().flatten() {
                    assert_eq!(record.offset.0, record.timestamp.0);
                    assert!(record.offset.0 >= middle);
                    found += 1;
                }
                std::thread::yield_now();
            }
            found
        });
        for base in 0..BATCHES {
            bench.append(partition(0), &batch(base, &[base], 20));
            if base % 3 == 0 || base + 1 == BATCHES {
                bench.publish(partition(0));
            }
            if base % 400 == 399 {
                bench.writer.raise_log_start(partition(0), Offset(base - 350));
                bench.sync();
            }
            std::thread::yield_now();
        }
        for reader in readers {
            assert!(reader.join().unwrap() > 0);
        }
        is_done.store(true, Ordering::Release);
        searcher.join().unwrap();
    });
}

#[test]
fn an_index_is_built_once_by_whoever_needs_it_first_while_appends_go_on() {
    let mut bench = Bench::without_tail();
    for _ in 0..500 {
        bench.write(partition(0), 1);
    }
    bench.sync();
    bench.reopen(&[head(partition(0), 500, 0)]).unwrap();
    let log = bench.log(partition(0));
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..4i64)
            .map(|number| {
                let log = &log;
                scope.spawn(move || {
                    for offset in (number..500).step_by(4) {
                        let found = log.read(Offset(offset), at_least_one(1), Offset(i64::MAX)).unwrap();
                        assert_eq!(base_offsets(&found.bytes), [offset]);
                    }
                })
            })
            .collect();
        // In the middle of it the segment is closed and a new one begun.
        bench.settings.segment_bytes = 60_000;
        for _ in 0..200 {
            bench.write(partition(0), 1);
        }
        for reader in readers {
            reader.join().unwrap();
        }
    });
    assert_eq!(bench.read_all(partition(0), 0), (0..700).collect::<Vec<_>>());
    bench.sync();
    bench.reopen(&[head(partition(0), 700, 0)]).unwrap();
    assert_eq!(bench.read_all(partition(0), 0), (0..700).collect::<Vec<_>>());
}
