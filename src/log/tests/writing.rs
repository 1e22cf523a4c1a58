//! Appending, rolling, dropping.

use super::*;

#[test]
fn a_reader_sees_a_batch_once_it_is_published_and_not_before() {
    let mut bench = Bench::new();
    let first = batch(0, &[10, 11, 12], 5);
    bench.append(partition(0), &first);
    let log = bench.log(partition(0));
    let watch = log.subscribe();
    assert_eq!(log.bounds(), Bounds::default());
    assert_eq!(bench.read(partition(0), 0, 1000), Vec::<i64>::new());
    assert!(!watch.has_changed().unwrap());

    bench.writer.publish(partition(0), Offset(3));
    assert!(watch.has_changed().unwrap());
    let three = Offset(3);
    assert_eq!(log.bounds(), Bounds { log_start: Offset(0), high_watermark: three, last_stable_offset: three });
    let found = log.read(Offset(0), at_least_one(1000), Offset(i64::MAX)).unwrap();
    assert_eq!((found.bytes, found.next_offset), (first, three));
}

#[test]
fn a_batch_out_of_order_or_malformed_is_refused_and_changes_nothing() {
    let mut bench = Bench::new();
    bench.write(partition(0), 2);
    let mut append = |base: i64, bytes: &Bytes| {
        bench.writer.append(partition(0), Offset(base), bytes, &SETTINGS, TimestampMs(0)).unwrap_err().to_string()
    };
    assert!(append(3, &batch(3, &[1], 1)).contains("a batch for offset 3 came where 2 is next"));
    assert!(append(2, &batch(1, &[1], 1)).contains("a batch for offset 1 came where 2 is next"));
    let good = batch(2, &[1], 1);
    assert!(append(2, &good.slice(..good.len() - 1)).contains("its length field differs from its length"));
    assert!(append(2, &good.slice(..60)).contains("shorter than a batch header"));
    assert_eq!(bench.writer.next_offset(partition(0)), Offset(2));
    bench.write(partition(0), 1);
    assert_eq!(bench.read_all(partition(0), 0), [0, 2]);
}

#[test]
fn a_segment_is_closed_before_it_would_outgrow_segment_bytes() {
    let mut bench = Bench::without_tail();
    let size = u32::try_from(batch(0, &[1000], 20).len()).unwrap();
    bench.settings.segment_bytes = size * 3;
    for _ in 0..7 {
        bench.write(partition(0), 1);
    }
    let facts = bench.log(partition(0)).segment_facts();
    let bases: Vec<_> = facts.iter().map(|facts| (facts.base_offset.0, facts.next_offset.0, facts.bytes)).collect();
    assert_eq!(bases, [(0, 3, u64::from(size) * 3), (3, 6, u64::from(size) * 3), (6, 7, u64::from(size))]);
    assert_eq!(
        bench.files(partition(0)),
        [
            "00000000000000000000.index",
            "00000000000000000000.log",
            "00000000000000000003.index",
            "00000000000000000003.log",
            "00000000000000000006.log"
        ]
    );
    assert_eq!(bench.read_all(partition(0), 0), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(bench.log(partition(0)).size_bytes(), u64::from(size) * 7);

    // One batch larger than a segment is kept whole.
    bench.settings.segment_bytes = 10;
    bench.write(partition(0), 1);
    bench.write(partition(0), 1);
    assert_eq!(bench.read_all(partition(0), 6), [6, 7, 8]);
}

#[test]
fn a_segment_is_closed_when_a_batch_is_younger_than_its_first_by_more_than_segment_ms() {
    let mut bench = Bench::new();
    bench.settings.segment_ms = 100;
    for (base, timestamp) in [(0, 5000), (1, 4000), (2, 5100), (3, 5101), (4, 5201), (5, 5202)] {
        bench.append(partition(0), &batch(base, &[timestamp], 1));
    }
    let bases = |bench: &Bench, number| {
        let facts = bench.log(partition(number)).segment_facts();
        facts.iter().map(|facts| facts.base_offset.0).collect::<Vec<_>>()
    };
    assert_eq!(bases(&bench, 0), [0, 3, 5]);

    // Without timestamps in the records the clock counts.
    let mut append = |base, now| {
        let bytes = batch(base, &[-1], 1);
        bench.writer.append(partition(1), Offset(base), &bytes, &bench.settings, TimestampMs(now)).unwrap();
    };
    append(0, 70);
    append(1, 170);
    append(2, 171);
    assert_eq!(bases(&bench, 1), [0, 2]);
}

#[test]
fn a_segment_is_closed_before_offsets_in_it_leave_31_bits() {
    let mut bench = Bench::without_tail();
    let wide = |base: i64, delta: i32| {
        let mut builder = BatchBuilder::new().at(Offset(base), 0).last_offset_delta(delta);
        builder.push(&NewRecord { timestamp: TimestampMs(1), ..NewRecord::default() }).unwrap();
        builder.build().unwrap().freeze()
    };
    let far = i64::from(i32::MAX);
    bench.append(partition(0), &wide(0, i32::MAX - 1));
    bench.append(partition(0), &wide(far, 0));
    bench.append(partition(0), &wide(far + 1, 0));
    bench.publish(partition(0));
    let facts = bench.log(partition(0)).segment_facts();
    assert_eq!(facts.iter().map(|facts| facts.base_offset.0).collect::<Vec<_>>(), [0, far + 1]);
    assert_eq!(bench.read_all(partition(0), 17), [0, far, far + 1]);
}

#[test]
fn raising_the_log_start_hides_at_once_and_drops_whole_segments_at_the_checkpoint() {
    let mut bench = Bench::without_tail();
    bench.settings.segment_bytes = 300;
    for _ in 0..9 {
        bench.write(partition(0), 2);
    }
    let log = bench.log(partition(0));
    let bases = |log: &PartitionLog| log.segment_facts().iter().map(|facts| facts.base_offset.0).collect::<Vec<_>>();
    assert_eq!(bases(&log), [0, 4, 8, 12, 16]);
    let watch = log.subscribe();
    bench.writer.raise_log_start(partition(0), Offset(9));
    assert!(watch.has_changed().unwrap());
    assert_eq!(bases(&log), [8, 12, 16]);
    let gone = log.read(Offset(8), at_least_one(100), Offset(i64::MAX)).unwrap_err();
    assert!(matches!(gone, ReadError::OffsetOutOfRange(bounds) if bounds == log.bounds()));
    assert_eq!(gone.code(), crate::types::ErrorCode::OffsetOutOfRange);
    // The batch that has the new start also has offsets before it: clients skip those.
    assert_eq!(bench.read_all(partition(0), 9), [8, 10, 12, 14, 16]);
    bench.sync();
    assert_eq!(
        bench.files(partition(0)),
        [
            "00000000000000000008.index",
            "00000000000000000008.log",
            "00000000000000000012.index",
            "00000000000000000012.log",
            "00000000000000000016.log"
        ]
    );

    // A lower start is no news; the last segment stays until there is another.
    bench.writer.raise_log_start(partition(0), Offset(3));
    assert_eq!(log.bounds().log_start, Offset(9));
    bench.writer.raise_log_start(partition(0), Offset(18));
    assert_eq!(bases(&log), [16]);
    assert_eq!(bench.read_all(partition(0), 18), Vec::<i64>::new());
    bench.settings.segment_bytes = 1;
    bench.write(partition(0), 1);
    assert_eq!(bases(&log), [18]);
}

#[test]
fn a_deleted_topic_is_gone_for_readers_and_from_the_disk_at_the_checkpoint() {
    let mut bench = Bench::without_tail();
    let other = TopicPartition { topic_id: topic(2), partition: 0 };
    bench.write(partition(0), 2);
    bench.write(partition(1), 2);
    bench.write(other, 2);
    let only_waited_for = bench.logs.get_or_empty(partition(2));
    bench.sync();
    let (log, waiter) = (bench.log(partition(0)), only_waited_for.subscribe());
    assert_eq!(bench.read(partition(0), 0, 1000), [0]);
    bench.writer.delete_topic(topic(1)).unwrap();
    assert!(waiter.has_changed().unwrap());
    for gone in [&log, &only_waited_for] {
        let error = gone.read(Offset(0), at_least_one(100), Offset(i64::MAX)).unwrap_err();
        assert_eq!(error.code(), crate::types::ErrorCode::UnknownTopicOrPartition);
    }
    assert!(bench.logs.get(partition(0)).is_none());
    let folders = |bench: &Bench| {
        let entries = bench.disk.list(Path::new(ROOT)).unwrap();
        entries.into_iter().filter(|entry| entry.is_dir).map(|entry| entry.name).collect::<Vec<_>>()
    };
    let name = names::folder_name;
    assert_eq!(
        folders(&bench),
        [name(partition(0)) + "-delete", name(partition(1)) + "-delete", name(other)],
        "renamed at once"
    );
    bench.sync();
    assert_eq!(folders(&bench), [name(other)]);
    assert_eq!(bench.read_all(other, 0), [0]);
}

#[test]
fn few_files_stay_open_however_many_partitions_are_written_and_read() {
    let disk = SimDisk::new();
    let counting = Arc::new(CountingDisk::new(disk));
    let mut options = LogOptions::new(Arc::clone(&counting) as Arc<dyn Disk>, PathBuf::from(ROOT));
    options.open_files_max = 20;
    options.tail_bytes_max = 0;
    let (mut writer, logs) = LogWriter::open(&options, Lsn(0), [].into_iter(), &|_| FolderFate::Live).unwrap();
    for round in 0..3 {
        for number in 0..50 {
            let bytes = batch(round, &[1], 1);
            writer.append(partition(number), Offset(round), &bytes, &SETTINGS, TimestampMs(0)).unwrap();
            writer.publish(partition(number), Offset(round + 1));
        }
    }
    for number in 0..50 {
        let log = logs.get(partition(number)).unwrap();
        let found = log.read(Offset(0), at_least_one(10_000), Offset(i64::MAX)).unwrap();
        assert_eq!(base_offsets(&found.bytes), [0, 1, 2]);
    }
    assert!(counting.open_most.load(Ordering::SeqCst) <= 21, "{:?}", counting.open_most);
    // What was closed without a checkpoint was synced first.
    assert!(counting.syncs.load(Ordering::SeqCst) >= 140);
}

#[test]
fn the_files_of_this_machine_hold_what_the_simulated_ones_do() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("logs");
    let options = LogOptions::new(Arc::new(crate::disk::RealDisk::new()), dir.clone());
    let open = |lsn, heads: &[RecoveredHead]| {
        LogWriter::open(&options, Lsn(lsn), heads.iter().copied(), &|_| FolderFate::Live).unwrap()
    };
    let settings = SegmentSettings { segment_bytes: 300, ..SETTINGS };
    let append = |writer: &mut LogWriter, base: i64| {
        let bytes = batch(base, &[1_700_000_000_000 + base], 30);
        writer.append(partition(0), Offset(base), &bytes, &settings, TimestampMs(0)).unwrap();
    };
    let (mut writer, _) = open(0, &[]);
    (0..7).for_each(|base| append(&mut writer, base));
    writer.sync(Lsn(1)).unwrap();
    append(&mut writer, 7);
    drop(writer);

    let (mut writer, logs) = open(1, &[head(partition(0), 7, 0)]);
    let log = logs.get(partition(0)).unwrap();
    let mut offset = Offset(0);
    while offset < Offset(7) {
        let found = log.read(offset, at_least_one(10_000), Offset(i64::MAX)).unwrap();
        assert_eq!(base_offsets(&found.bytes), (offset.0..found.next_offset.0).collect::<Vec<_>>());
        offset = found.next_offset;
    }
    writer.delete_topic(topic(1)).unwrap();
    writer.sync(Lsn(2)).unwrap();
    let left: Vec<_> = options.disk.list(&dir).unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(left, ["segments.0", "segments.1"]);
}
