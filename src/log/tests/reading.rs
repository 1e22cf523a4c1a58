//! What reads give, from memory and from files.

use super::*;
use crate::log::read::READ_BYTES_MAX;

fn both() -> [Bench; 2] {
    [Bench::new(), Bench::without_tail()]
}

#[test]
fn a_read_gives_whole_batches_up_to_the_limit_and_at_least_one_if_asked() {
    for mut bench in both() {
        for _ in 0..5 {
            bench.write(partition(0), 2);
        }
        let size = batch(0, &[1000, 1001], 20).len();
        for (max_bytes, expected) in [
            (0, &[2][..]),
            (1, &[2]),
            (size, &[2]),
            (2 * size - 1, &[2]),
            (2 * size, &[2, 4]),
            (3 * size + 5, &[2, 4, 6]),
            (100 * size, &[2, 4, 6, 8]),
            (usize::MAX, &[2, 4, 6, 8]),
        ] {
            assert_eq!(bench.read(partition(0), 3, max_bytes), expected, "{max_bytes}");
        }
        let log = bench.log(partition(0));
        let strict = |max_bytes| ReadLimit { max_bytes, at_least_one: false };
        let nothing = log.read(Offset(3), strict(size - 1), Offset(i64::MAX)).unwrap();
        assert_eq!((nothing.bytes.len(), nothing.next_offset), (0, Offset(3)));
        let one = log.read(Offset(3), strict(size), Offset(i64::MAX)).unwrap();
        assert_eq!((one.bytes.len(), one.next_offset), (size, Offset(4)));
    }
}

#[test]
fn a_read_stops_before_a_batch_that_reaches_the_upper_bound() {
    for mut bench in both() {
        for _ in 0..3 {
            bench.write(partition(0), 2);
        }
        let log = bench.log(partition(0));
        let read = |upper| base_offsets(&log.read(Offset(1), at_least_one(0xffff), Offset(upper)).unwrap().bytes);
        assert_eq!(read(0), Vec::<i64>::new());
        assert_eq!(read(1), Vec::<i64>::new());
        assert_eq!(read(2), [0]);
        assert_eq!(read(3), [0]);
        assert_eq!(read(4), [0, 2]);
        assert_eq!(read(99), [0, 2, 4]);
    }
}

#[test]
fn the_end_is_a_place_to_wait_at_and_beyond_it_is_out_of_range() {
    for mut bench in both() {
        bench.write(partition(0), 2);
        let log = bench.log(partition(0));
        let read = |offset| log.read(Offset(offset), at_least_one(100), Offset(i64::MAX));
        assert_eq!(read(2).unwrap(), ReadBatches { bytes: Bytes::new(), next_offset: Offset(2) });
        assert!(matches!(read(3), Err(ReadError::OffsetOutOfRange(_))));
        assert!(matches!(read(-1), Err(ReadError::OffsetOutOfRange(_))));
    }
}

#[test]
fn who_reads_along_touches_no_file_and_old_batches_come_from_the_files() {
    let counting = Arc::new(CountingDisk::new(SimDisk::new()));
    let mut options = LogOptions::new(Arc::clone(&counting) as Arc<dyn Disk>, PathBuf::from(ROOT));
    let bytes = batch(0, &[1], 1000);
    options.tail_bytes_max = 10 * bytes.len();
    let (mut writer, logs) = LogWriter::open(&options, Lsn(0), [].into_iter(), &|_| FolderFate::Live).unwrap();
    for base in 0..20 {
        writer.append(partition(0), Offset(base), &batch(base, &[1], 1000), &SETTINGS, TimestampMs(0)).unwrap();
    }
    writer.publish(partition(0), Offset(20));
    let log = logs.get(partition(0)).unwrap();
    let opens = counting.opens.load(Ordering::SeqCst);
    let newest = log.read(Offset(15), at_least_one(1_000_000), Offset(i64::MAX)).unwrap();
    assert_eq!(base_offsets(&newest.bytes), [15, 16, 17, 18, 19]);
    assert_eq!(counting.opens.load(Ordering::SeqCst), opens);
    let oldest = log.read(Offset(0), at_least_one(3000), Offset(i64::MAX)).unwrap();
    assert_eq!(base_offsets(&oldest.bytes), [0, 1]);
    assert_eq!(counting.opens.load(Ordering::SeqCst), opens + 1);
}

#[test]
fn the_memory_of_recent_batches_is_shared_by_all_partitions_and_bounded() {
    let mut bench = Bench::new();
    bench.options.tail_bytes_max = 5000;
    bench.reopen(&[]).unwrap();
    for number in 0..30 {
        bench.write(partition(number), 10);
    }
    let in_memory = |bench: &Bench, number| {
        let log = bench.log(partition(number));
        log.with_tail(|tail| tail.read(Offset(0), at_least_one(100), Offset(i64::MAX))).is_some()
    };
    let count = (0..30).filter(|number| in_memory(&bench, *number)).count();
    assert!((3..=20).contains(&count), "{count}");
    assert!((30 - i32::try_from(count).unwrap()..30).all(|number| in_memory(&bench, number)), "the newest stay");

    // A batch that would take the whole memory is not kept, and leaves no gap.
    let base = 10;
    bench.append(partition(29), &batch(base, &[1], 4000));
    bench.append(partition(29), &batch(base + 1, &[1], 1));
    bench.publish(partition(29));
    assert_eq!(bench.read_all(partition(29), 0), [0, base, base + 1]);
}

#[test]
fn a_huge_limit_does_not_make_a_huge_allocation() {
    let mut bench = Bench::without_tail();
    bench.settings.segment_bytes = u32::MAX;
    let big = batch(0, &[1], 6 * 1024 * 1024);
    for base in 0..4 {
        bench.append(partition(0), &batch(base, &[1], 6 * 1024 * 1024));
    }
    bench.publish(partition(0));
    let found = bench.log(partition(0)).read(Offset(0), at_least_one(usize::MAX), Offset(i64::MAX)).unwrap();
    assert_eq!(found.bytes.len(), READ_BYTES_MAX / big.len() * big.len());
    assert_eq!(bench.read_all(partition(0), 0), [0, 1, 2, 3]);
}
