//! Starts: what is kept, what is cut, what is put aside, and how little is read.

use super::*;

/// Four segments of two batches each and a growing one, all of it behind a checkpoint.
fn checkpointed() -> Bench {
    let mut bench = Bench::without_tail();
    bench.settings.segment_bytes = 200;
    for _ in 0..9 {
        bench.write(partition(0), 1);
    }
    bench.sync();
    bench
}

#[test]
fn what_the_checkpoint_has_is_read_again_and_what_follows_comes_from_the_journal() {
    let mut bench = checkpointed();
    bench.write(partition(0), 1);
    bench.write(partition(0), 1);
    bench.write(partition(1), 1);
    for (disk, story) in [(bench.disk.process_kill(), "kill"), (bench.disk.power_loss(7, 50), "power loss")] {
        let mut after = Bench::open_all(disk, bench.lsn, &[head(partition(0), 9, 0)]).unwrap();
        after.settings = bench.settings;
        assert_eq!(after.read_all(partition(0), 0), [0, 1, 2, 3, 4, 5, 6, 7, 8], "{story}");
        assert_eq!(after.log(partition(0)).bounds().high_watermark, Offset(9));
        for _ in 0..2 {
            after.write(partition(0), 1);
        }
        after.write(partition(1), 1);
        assert_eq!(after.read_all(partition(0), 0), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "{story}");
        assert_eq!(after.read_all(partition(1), 0), [0], "{story}");
        let facts = after.log(partition(0)).segment_facts();
        assert_eq!(facts.iter().map(|facts| facts.base_offset.0).collect::<Vec<_>>(), [0, 2, 4, 6, 8, 10], "{story}");
    }
}

#[test]
fn a_tail_behind_the_head_is_cut_whether_it_is_whole_or_torn() {
    for (next_offset, left) in [(9, 5), (8, 4), (7, 4), (6, 3), (1, 1)] {
        let mut bench = checkpointed();
        bench.disk.corrupt(&log_path(partition(0), 8), |bytes| bytes.extend([0xff; 31])).unwrap();
        // An older checkpoint: there is no list of segments for it.
        bench.lsn = Lsn(999);
        bench.reopen(&[head(partition(0), next_offset, 0)]).unwrap();
        let log = bench.log(partition(0));
        assert_eq!(log.segment_facts().len(), left, "{next_offset}");
        assert_eq!(bench.read_all(partition(0), 0), (0..next_offset).collect::<Vec<_>>());
        bench.write(partition(0), 1);
        assert_eq!(bench.read_all(partition(0), 0), (0..=next_offset).collect::<Vec<_>>());
    }
}

#[test]
fn other_batches_than_the_cut_ones_may_follow() {
    // A round was written to the segments and closed one of them, but its frame in the journal was torn.
    let mut bench = checkpointed();
    for base in 9..14 {
        bench.append(partition(0), &batch(base, &[5], 20));
    }
    bench.reopen(&[head(partition(0), 9, 0)]).unwrap();
    for base in 9..14 {
        bench.append(partition(0), &batch(base, &[77_000], 3));
    }
    bench.publish(partition(0));
    bench.sync();
    let disk = bench.disk.power_loss(3, 0);
    let after = Bench::open_all(disk, bench.lsn, &[head(partition(0), 14, 0)]).unwrap();
    assert_eq!(after.read_all(partition(0), 0), (0..14).collect::<Vec<_>>());
    assert_eq!(after.log(partition(0)).segment_facts().last().unwrap().largest_timestamp(), TimestampMs(77_000));
}

#[test]
fn without_the_list_of_segments_the_start_finds_out_the_same() {
    let mut bench = checkpointed();
    let facts = bench.log(partition(0)).segment_facts();
    for name in ["segments.0", "segments.1"] {
        let _ = bench.disk.corrupt(&Path::new(ROOT).join(name), |bytes| bytes[20] ^= 1);
    }
    bench.disk.corrupt(&index_path(partition(0), 2), |bytes| bytes.truncate(30)).unwrap();
    bench.disk.remove_file(&index_path(partition(0), 4)).unwrap();
    bench.reopen(&[head(partition(0), 9, 0)]).unwrap();
    assert_eq!(bench.log(partition(0)).segment_facts(), facts);
    for offset in 0..9 {
        assert_eq!(bench.read(partition(0), offset, 1), [offset]);
    }
    // What was missing is there again.
    assert!(bench.files(partition(0)).contains(&"00000000000000000004.index".to_owned()));
    bench.sync();
    assert_eq!(bench.read_all(partition(0), 0), (0..9).collect::<Vec<_>>());
}

#[test]
fn an_index_entry_that_is_missing_or_torn_costs_a_scan_and_nothing_else() {
    let mut bench = Bench::without_tail();
    bench.settings.segment_bytes = 4000;
    for _ in 0..60 {
        bench.write(partition(0), 1);
    }
    bench.sync();
    let closed = index_path(partition(0), 0);
    let good = bench.disk.contents().remove(closed.to_str().unwrap()).unwrap();
    for place in 0..good.len() {
        bench.disk.corrupt(&closed, |bytes| bytes[place] ^= 0x40).unwrap();
        bench.reopen(&[head(partition(0), 60, 0)]).unwrap();
        assert_eq!(bench.read(partition(0), 31, 1), [31], "byte {place}");
        let rebuilt = bench.disk.contents().remove(closed.to_str().unwrap()).unwrap();
        assert!(index::decode(&rebuilt).is_some(), "byte {place}");
        bench.disk.corrupt(&closed, |bytes| *bytes = good.clone()).unwrap();
    }
}

#[test]
fn a_raised_start_holds_though_its_segments_are_gone_before_the_checkpoint() {
    // The checkpoint ends at 9; then a lot is written and purged, as Kafka Streams does with repartition topics.
    let mut bench = checkpointed();
    for _ in 0..11 {
        bench.write(partition(0), 1);
    }
    bench.writer.raise_log_start(partition(0), Offset(15));
    // The checkpoint removes the files, but the state store's batch is never written.
    bench.writer.sync(Lsn(77)).unwrap();
    bench.reopen(&[head(partition(0), 9, 15)]).unwrap();
    let bounds = bench.log(partition(0)).bounds();
    assert_eq!((bounds.log_start, bounds.high_watermark), (Offset(15), Offset(15)));
    assert_eq!(bench.writer.next_offset(partition(0)), Offset(9));
    for _ in 9..20 {
        bench.write(partition(0), 1);
    }
    assert_eq!(bench.read_all(partition(0), 15), [15, 16, 17, 18, 19]);
    bench.sync();
    bench.reopen(&[head(partition(0), 20, 15)]).unwrap();
    assert_eq!(bench.read_all(partition(0), 15), [15, 16, 17, 18, 19]);
}

#[test]
fn a_log_whose_records_are_all_deleted_goes_on_where_it_was() {
    let mut bench = checkpointed();
    bench.writer.raise_log_start(partition(0), Offset(9));
    bench.sync();
    bench.reopen(&[head(partition(0), 9, 9)]).unwrap();
    assert_eq!(bench.log(partition(0)).segment_facts(), []);
    bench.write(partition(0), 1);
    bench.sync();
    bench.reopen(&[head(partition(0), 10, 9)]).unwrap();
    assert_eq!(bench.read_all(partition(0), 9), [9]);
}

#[test]
fn segments_below_the_log_start_are_no_part_of_the_log_though_their_removal_was_undone() {
    let mut bench = checkpointed();
    let disk = bench.disk.process_kill();
    disk.remove_file(&log_path(partition(0), 2)).unwrap();
    let after = Bench::open_all(disk, bench.lsn, &[head(partition(0), 9, 5)]).unwrap();
    assert_eq!(after.read_all(partition(0), 5), [5, 6, 7, 8]);
    assert_eq!(after.files(partition(0)).first().unwrap(), "00000000000000000004.index");
    bench.reopen(&[head(partition(0), 9, 4)]).unwrap();
    assert_eq!(bench.read_all(partition(0), 4), [4, 5, 6, 7, 8]);
}

#[test]
fn what_nobody_knows_is_put_aside_and_what_was_deleted_is_removed() {
    let mut bench = Bench::new();
    let of = |number| TopicPartition { topic_id: topic(number), partition: 3 };
    for number in 1..=4 {
        bench.write(of(number), 1);
    }
    bench.writer.delete_topic(topic(4)).unwrap();
    bench.disk.create_dir_all(&Path::new(ROOT).join("lost+found")).unwrap();
    for round in 0..2 {
        let fate = |partition: TopicPartition| match partition {
            known if known == of(1) => FolderFate::Live,
            known if known == of(2) => FolderFate::Deleted,
            _ => FolderFate::Unknown,
        };
        let disk = bench.disk.process_kill();
        bench.options.disk = Arc::new(disk.clone());
        let (mut writer, _) = LogWriter::open(&bench.options, Lsn(0), [].into_iter(), &fate).unwrap();
        writer.sync(Lsn(1)).unwrap();
        let names = |dir: &Path| disk.list(dir).unwrap().into_iter().map(|entry| entry.name).collect::<Vec<_>>();
        let mut expected = vec![names::folder_name(of(1)), "lost+found".to_owned(), "quarantine".to_owned()];
        expected.push("segments.0".to_owned());
        assert_eq!(names(Path::new(ROOT)), expected);
        let mut aside = vec![names::folder_name(of(3))];
        if round == 1 {
            aside.push(names::folder_name(of(3)) + ".1");
        }
        assert_eq!(names(&Path::new(ROOT).join("quarantine")), aside);
        // The same stranger turns up again, from a backup perhaps.
        disk.create_dir_all(&Path::new(ROOT).join(names::folder_name(of(3)))).unwrap();
        disk.remove_file(&Path::new(ROOT).join("segments.0")).unwrap();
        bench.disk = disk;
    }
}

#[test]
fn a_folder_is_made_only_where_nothing_was_ever_stored() {
    let disk = SimDisk::new();
    let mut bench = Bench::open_all(disk, Lsn(0), &[head(partition(0), 0, 0)]).unwrap();
    assert!(bench.logs.get_or_empty(partition(0)).segment_facts().is_empty());
    assert!(!bench.disk.exists(&Path::new(ROOT).join(names::folder_name(partition(0)))).unwrap());
    bench.write(partition(0), 1);
    bench.sync();
    let lost = SimDisk::new();
    let error = Bench::open_all(lost.clone(), bench.lsn, &[head(partition(0), 1, 0)]).err().unwrap().to_string();
    assert!(error.contains("the folder of the partition is missing"), "{error}");
    assert!(error.contains("AQEBAQEBAQEBAQEBAQEBAQ-0") && error.contains("offset 0"), "{error}");
    assert!(!lost.exists(Path::new(ROOT)).unwrap(), "nothing was changed");
}

#[test]
fn a_thousand_partitions_open_with_one_listing_each_and_not_one_batch_read() {
    let mut bench = Bench::new();
    for number in 0..1000 {
        bench.write(partition(number), 3);
    }
    bench.sync();
    let heads: Vec<_> = (0..1000).map(|number| head(partition(number), 3, 0)).collect();
    let lsn = bench.lsn;
    let open = |disk: SimDisk| {
        let changes = disk.changes();
        let counting = Arc::new(CountingDisk::new(disk.clone()));
        let options = LogOptions::new(Arc::clone(&counting) as Arc<dyn Disk>, PathBuf::from(ROOT));
        let opened = LogWriter::open(&options, lsn, heads.iter().copied(), &|_| FolderFate::Live).unwrap();
        let count = |counter: &AtomicUsize| counter.load(Ordering::SeqCst);
        assert_eq!(count(&counting.lists), 1001);
        assert_eq!(count(&counting.syncs), 0);
        assert_eq!(opened.0.partitions.len(), 1000);
        (count(&counting.opens), disk.changes() - changes)
    };
    // Both lists are opened (one is not there yet); nothing is changed but that the root is made sure of.
    assert_eq!(open(bench.disk.process_kill()), (2, 1));
    // A tail to cut costs one open each, and only where there is one.
    for number in 0..10 {
        bench.write(partition(number), 1);
    }
    assert_eq!(open(bench.disk.process_kill()), (12, 11));
}
