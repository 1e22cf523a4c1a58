//! Checkpoints: what is durable after one, and what a failure or a concurrent change does to it.

use super::*;
use crate::disk::sim::Fault;

#[test]
fn after_a_checkpoint_a_power_loss_takes_nothing_of_it() {
    let mut bench = Bench::without_tail();
    bench.settings.segment_bytes = 300;
    for number in 0..3 {
        for _ in 0..7 {
            bench.write(partition(number), 1);
        }
    }
    bench.sync();
    let heads = [0, 1, 2].map(|number| head(partition(number), 7, 0));
    for percent in [0, 50, 100] {
        let after = Bench::open_all(bench.disk.power_loss(percent, percent), bench.lsn, &heads).unwrap();
        for number in 0..3 {
            assert_eq!(after.read_all(partition(number), 0), (0..7).collect::<Vec<_>>());
        }
        let closed = index_path(partition(2), 0);
        assert!(after.disk.exists(&closed).unwrap(), "the index of a closed segment is durable too");
    }
}

#[test]
fn names_that_a_killed_process_left_unsynced_are_made_durable_by_the_next_one() {
    let mut bench = Bench::new();
    bench.write(partition(0), 1);
    // The kill leaves folder and file names that no sync has seen.
    bench.reopen(&[]).unwrap();
    bench.write(partition(0), 1);
    bench.sync();
    let after = Bench::open_all(bench.disk.power_loss(1, 0), bench.lsn, &[head(partition(0), 1, 0)]).unwrap();
    assert_eq!(after.read_all(partition(0), 0), [0]);
}

#[test]
fn a_segment_that_one_start_cut_off_and_another_did_without_stays_away() {
    let mut bench = Bench::without_tail();
    bench.write(partition(0), 2);
    let checkpoint = bench.writer.begin_checkpoint(Lsn(1));
    bench.settings.segment_bytes = 150;
    bench.write(partition(0), 2);
    // The folder is synced after the roll, so the name of the second segment is durable.
    checkpoint.run().unwrap();
    bench.lsn = Lsn(1);
    // The next two processes have larger segments. The first one cuts the second segment off and is killed.
    bench.settings.segment_bytes = 1000;
    for _ in 0..2 {
        bench.reopen(&[head(partition(0), 2, 0)]).unwrap();
        bench.write(partition(0), 2);
        assert_eq!(bench.files(partition(0)), ["00000000000000000000.log"]);
    }
    bench.sync();
    let disk = bench.disk.power_loss(1, 0);
    let after = Bench::open_all(disk, bench.lsn, &[head(partition(0), 4, 0)]).unwrap();
    assert_eq!(after.read_all(partition(0), 0), [0, 2]);
}

#[test]
fn appends_go_on_while_a_checkpoint_runs_and_belong_to_the_next() {
    let mut bench = Bench::without_tail();
    bench.settings.segment_bytes = 200;
    for _ in 0..3 {
        bench.write(partition(0), 1);
    }
    let running = bench.writer.begin_checkpoint(Lsn(1));
    for _ in 3..8 {
        bench.write(partition(0), 1);
    }
    bench.write(partition(1), 1);
    running.run().unwrap();
    let first = Bench::open_all(bench.disk.power_loss(1, 30), Lsn(1), &[head(partition(0), 3, 0)]).unwrap();
    assert_eq!(first.read_all(partition(0), 0), [0, 1, 2]);
    bench.writer.sync(Lsn(2)).unwrap();
    let heads = [head(partition(0), 8, 0), head(partition(1), 1, 0)];
    let second = Bench::open_all(bench.disk.power_loss(1, 0), Lsn(2), &heads).unwrap();
    assert_eq!(second.read_all(partition(0), 0), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(second.read_all(partition(1), 0), [0]);
}

#[test]
fn a_topic_may_be_deleted_while_a_checkpoint_runs() {
    let mut bench = Bench::new();
    bench.write(partition(0), 1);
    let running = bench.writer.begin_checkpoint(Lsn(1));
    bench.writer.delete_topic(topic(1)).unwrap();
    running.run().unwrap();
    bench.writer.sync(Lsn(2)).unwrap();
    assert_eq!(bench.disk.list(Path::new(ROOT)).unwrap().iter().filter(|entry| entry.is_dir).count(), 0);
}

#[test]
fn the_list_of_the_last_good_checkpoint_survives_a_torn_one() {
    let mut bench = Bench::new();
    for _ in 0..3 {
        bench.write(partition(0), 1);
        bench.sync();
    }
    let opens = |disk: SimDisk, lsn: Lsn, next_offset: i64| {
        let counting = Arc::new(CountingDisk::new(disk));
        let options = LogOptions::new(Arc::clone(&counting) as Arc<dyn Disk>, PathBuf::from(ROOT));
        let heads = [head(partition(0), next_offset, 0)];
        LogWriter::open(&options, lsn, heads.into_iter(), &|_| FolderFate::Live).unwrap();
        counting.opens.load(Ordering::SeqCst)
    };
    // Both lists are opened; neither a batch nor an index is.
    assert_eq!(opens(bench.disk.process_kill(), bench.lsn, 3), 2);
    bench.write(partition(0), 1);
    let checkpoint = bench.writer.begin_checkpoint(bench.lsn.next());
    bench.disk.fail(Fault::ShortWrite, 1);
    checkpoint.run().unwrap_err();
    // One more open to cut the tail, none to look for the place.
    assert_eq!(opens(bench.disk.process_kill(), bench.lsn, 3), 3);
}

#[test]
fn each_failed_sync_fails_the_checkpoint() {
    for nth in 1..=7 {
        let mut bench = Bench::new();
        bench.settings.segment_bytes = 200;
        for _ in 0..3 {
            bench.write(partition(0), 1);
        }
        let fault = if nth <= 4 { (Fault::Sync, nth) } else { (Fault::SyncDir, nth - 4) };
        bench.disk.fail(fault.0, fault.1);
        let error = bench.writer.sync(Lsn(1)).unwrap_err();
        assert!(error.to_string().contains("injected"), "{nth}: {error}");
    }
}

#[test]
fn a_full_disk_fails_the_append_and_what_was_written_stays_readable() {
    let mut bench = Bench::new();
    bench.write(partition(0), 1);
    bench.disk.set_capacity(150);
    let bytes = batch(1, &[1], 100);
    let error = bench.writer.append(partition(0), Offset(1), &bytes, &SETTINGS, TimestampMs(0)).unwrap_err();
    assert!(error.to_string().starts_with("cannot write /logs/"), "{error}");
    assert_eq!(bench.writer.next_offset(partition(0)), Offset(1));
    assert_eq!(bench.read_all(partition(0), 0), [0]);
    bench.disk.set_capacity(u64::MAX);
    bench.write(partition(0), 1);
    assert_eq!(bench.read_all(partition(0), 0), [0, 1]);
}
