//! Bytes that rot or are gone: refused or not served, with file and offset, and never a panic.

use proptest::prelude::*;

use super::*;

type Harm = Box<dyn Fn(&SimDisk) -> std::io::Result<()>>;

fn log_of(batches: i64) -> Bench {
    let mut bench = Bench::without_tail();
    bench.settings.segment_bytes = 400;
    for _ in 0..batches {
        bench.write(partition(0), 1);
    }
    bench.sync();
    bench
}

#[test]
fn bytes_below_the_head_that_are_missing_refuse_the_start_and_nothing_is_changed() {
    // Segments begin at 0, 4 and 8; the log ends at 10.
    let size = batch(0, &[1000], 20).len();
    let short = |base: i64, by: usize| {
        move |disk: &SimDisk| disk.corrupt(&log_path(partition(0), base), |bytes| bytes.truncate(bytes.len() - by))
    };
    let gone = |base: i64| move |disk: &SimDisk| disk.remove_file(&log_path(partition(0), base));
    let cases: Vec<(Harm, &str, &str)> = vec![
        (Box::new(short(8, 1)), "00000000000000000008.log is damaged at offset 9", "the file ends within a batch"),
        (Box::new(short(8, size)), "00000000000000000008.log is damaged at offset 9", "the file ends too early"),
        (Box::new(short(4, 1)), "00000000000000000004.log is damaged at offset 7", "the file ends within a batch"),
        (Box::new(short(0, 3 * size)), "00000000000000000000.log is damaged at offset 1", "the file ends too early"),
        (Box::new(gone(4)), "00000000000000000000.log is damaged at offset 4", "the file ends too early"),
        (Box::new(gone(8)), "00000000000000000004.log is damaged at offset 8", "the file ends too early"),
        (Box::new(gone(0)), "damaged at offset 0", "the segment that has the log start is missing"),
    ];
    for (harm, place, reason) in cases {
        let bench = log_of(10);
        let disk = bench.disk.process_kill();
        harm(&disk).unwrap();
        let before = disk.contents();
        let error = Bench::open_all(disk.clone(), bench.lsn, &[head(partition(0), 10, 0)]).err();
        let text = error.unwrap_or_else(|| panic!("opened: {reason}")).to_string();
        assert!(text.contains(place) && text.contains(reason), "{text}");
        assert!(text.contains("put the file or folder back as it was"), "{text}");
        assert_eq!(disk.contents(), before);
    }
}

#[test]
fn bytes_behind_a_closed_segments_last_batch_are_cut() {
    // A power loss undid the cut of an earlier start, after the segment had been closed.
    for lsn in [Lsn(0), Lsn(1)] {
        let disk = log_of(10).disk.process_kill();
        let path = log_path(partition(0), 0);
        let good = disk.contents().remove(path.to_str().unwrap());
        disk.corrupt(&path, |bytes| bytes.extend([7; 100])).unwrap();
        let after = Bench::open_all(disk, lsn, &[head(partition(0), 10, 0)]).unwrap();
        assert_eq!(after.read_all(partition(0), 0), (0..10).collect::<Vec<_>>());
        assert_eq!(after.disk.contents().remove(path.to_str().unwrap()), good);
    }
}

#[test]
fn a_flipped_bit_is_never_served() {
    let bench = log_of(10);
    let reference = bench.log(partition(0));
    let read = |log: &PartitionLog, offset: i64| log.read(Offset(offset), at_least_one(1), Offset(i64::MAX));
    let good: Vec<_> = (0..10).map(|offset| read(&reference, offset).unwrap().bytes).collect();
    let mut caught = 0;
    for (base, count) in [(0, 4), (8, 2)] {
        let size = good[0].len();
        for byte in 0..count * size {
            // The leader epoch is covered by nothing and means nothing here.
            if (12..16).contains(&(byte % size)) {
                continue;
            }
            let disk = bench.disk.process_kill();
            disk.flip_bit(&log_path(partition(0), base), u64::try_from(byte).unwrap(), 3).unwrap();
            let after = Bench::open_all(disk, bench.lsn, &[head(partition(0), 10, 0)]).unwrap();
            let log = after.log(partition(0));
            for offset in 0..10 {
                match read(&log, offset) {
                    Ok(found) => assert_eq!(found.bytes, good[usize::try_from(offset).unwrap()]),
                    Err(error) => {
                        assert_eq!(error.code(), crate::types::ErrorCode::KafkaStorageError);
                        caught += 1;
                    }
                }
            }
        }
    }
    assert!(caught >= 6 * (good[0].len() - 4), "{caught}");
}

#[test]
fn an_error_of_the_disk_is_an_error_of_the_read_and_the_next_one_tries_again() {
    let mut bench = Bench::without_tail();
    bench.write(partition(0), 1);
    let path = log_path(partition(0), 0);
    let hidden = path.with_extension("hidden");
    bench.disk.rename(&path, &hidden).unwrap();
    let log = bench.log(partition(0));
    let error = log.read(Offset(0), at_least_one(1), Offset(1)).unwrap_err();
    assert!(matches!(error, ReadError::Log(LogError::Io { .. })), "{error}");
    bench.disk.rename(&hidden, &path).unwrap();
    assert_eq!(bench.read_all(partition(0), 0), [0]);
}

proptest! {
    #[test]
    fn hostile_bytes_in_any_file_give_errors_and_never_panics(
        which in 0usize..8,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..30),
        resize in prop::option::of(0usize..3000),
        knows_lsn in any::<bool>(),
        next_offset in 0i64..30,
        log_start in 0i64..30,
    ) {
        let bench = log_of(10);
        let disk = bench.disk.process_kill();
        let paths: Vec<_> = disk.contents().into_keys().collect();
        let path = &paths[which % paths.len()];
        disk.corrupt(Path::new(path), |bytes| {
            for (index, value) in &edits {
                let place = index.index(bytes.len());
                bytes[place] = *value;
            }
            if let Some(len) = resize {
                bytes.resize(len, 0xa5);
            }
        }).unwrap();
        let lsn = if knows_lsn { bench.lsn } else { Lsn(0) };
        let Ok(mut after) = Bench::open_all(disk, lsn, &[head(partition(0), next_offset, log_start)]) else {
            return Ok(());
        };
        let log = after.log(partition(0));
        for offset in 0..30 {
            if let Ok(found) = log.read(Offset(offset), at_least_one(500), Offset(i64::MAX)) {
                base_offsets(&found.bytes);
            }
            let _ = log.offset_for_timestamp(TimestampMs(1000 + offset), Offset(i64::MAX));
        }
        let _ = log.max_timestamp(Offset(i64::MAX));
        let end = after.writer.next_offset(partition(0)).0;
        after.append(partition(0), &batch(end, &[4], 1));
        after.publish(partition(0));
        let last = log.read(Offset(end), at_least_one(1), Offset(i64::MAX));
        prop_assert!(end < log_start || last.is_ok(), "{last:?}");
    }
}
