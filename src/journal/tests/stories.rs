//! Single events, told one by one.

use super::*;
use crate::disk::sim::Fault;
use crate::journal::recovery::Cut;

const FILE_BYTES: u64 = 64 * 1024;

fn write(journal: &mut Journal, lsns: std::ops::RangeInclusive<u64>) {
    for lsn in lsns {
        journal.write_round(&[entry(lsn, 100)]).unwrap();
    }
}

fn names(disk: &SimDisk) -> Vec<String> {
    disk.list(Path::new(DIR)).unwrap().into_iter().map(|entry| entry.name).collect()
}

fn file(sequence: u64) -> PathBuf {
    Path::new(DIR).join(format!("{sequence:020}.journal"))
}

fn lsns(entries: &[Entry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.lsn.0).collect()
}

#[test]
fn an_empty_folder_is_an_empty_journal() {
    let disk = new_disk();
    let (journal, recovered, _) = open(&options(&disk, FILE_BYTES), 0).unwrap();
    assert_eq!(recovered, Recovered { first: None, last: Lsn(0), entries: 0, bytes: 0, cut: None });
    assert_eq!(journal.live_bytes(), 0);
    assert_eq!(names(&disk), [""; 0]);
    assert!(disk.power_loss(0, 0).exists(Path::new(DIR)).unwrap(), "the folder itself is durable");
}

#[test]
fn rounds_come_back_above_the_checkpoint_only() {
    let disk = new_disk();
    let (mut journal, _, _) = open(&options(&disk, FILE_BYTES), 0).unwrap();
    journal.write_round(&[entry(1, 10), entry(2, 10), entry(3, 10)]).unwrap();
    write(&mut journal, 4..=5);
    assert_eq!(journal.live_bytes(), 3 * 4096);
    let (_, recovered, entries) = open(&options(&disk.power_loss(0, 0), FILE_BYTES), 2).unwrap();
    assert_eq!(lsns(&entries), [3, 4, 5]);
    assert_eq!(recovered.bytes, 3 * 4096);
}

#[test]
fn a_journal_whose_files_are_gone_is_refused_and_the_way_out_works() {
    let disk = new_disk();
    let error = open(&options(&disk, FILE_BYTES), 40).err().unwrap();
    assert!(matches!(error, JournalError::Missing { checkpoint: Lsn(40), .. }), "{error}");
    assert!(!disk.exists(Path::new(DIR)).unwrap());
    disk.create_dir_all(Path::new(DIR)).unwrap();
    disk.open(&file(1), crate::disk::Open::CreateNew).unwrap();
    let (mut journal, _, _) = open(&options(&disk, FILE_BYTES), 40).unwrap();
    write(&mut journal, 41..=42);
    let (_, _, entries) = open(&options(&disk, FILE_BYTES), 40).unwrap();
    assert_eq!(lsns(&entries), [41, 42]);
}

#[test]
fn a_full_file_is_followed_by_the_next_and_recycled_when_a_checkpoint_covers_it() {
    let disk = new_disk();
    let (mut journal, _, _) = open(&options(&disk, 2 * 4096), 0).unwrap();
    write(&mut journal, 1..=9);
    assert_eq!(names(&disk).len(), 5);
    journal.recycle(Lsn(7)).unwrap();
    let live = ["00000000000000000004.journal", "00000000000000000005.journal"];
    let spare = ["00000000000000000001.spare", "00000000000000000002.spare"];
    assert_eq!(names(&disk), [&spare[..], &live[..]].concat());
    assert_eq!(journal.live_bytes(), 3 * 4096);
    write(&mut journal, 10..=11);
    assert_eq!(
        names(&disk),
        ["00000000000000000001.spare", live[0], live[1], "00000000000000000006.journal"],
        "a spare file is used again under a new name"
    );
    journal.recycle(Lsn(100)).unwrap();
    assert_eq!(names(&disk).last().map(String::as_str), Some("00000000000000000006.journal"), "the newest stays");
    let (_, _, entries) = open(&options(&disk, 2 * 4096), 10).unwrap();
    assert_eq!(lsns(&entries), [11]);
}

#[test]
fn an_entry_larger_than_a_file_gets_a_file_of_its_own() {
    let disk = new_disk();
    let (mut journal, _, _) = open(&options(&disk, FILE_BYTES), 0).unwrap();
    journal.frame_bytes = 4096;
    let round = [entry(1, 10), entry(2, 300_000), entry(3, 10)];
    journal.write_round(&round).unwrap();
    assert_eq!(names(&disk).len(), 3);
    let (_, _, entries) = open(&options(&disk.power_loss(0, 0), FILE_BYTES), 0).unwrap();
    assert_eq!(entries, round);
}

/// What a client may send in one batch fits into one entry; nothing larger is begun.
#[test]
fn an_entry_is_bounded() {
    let disk = new_disk();
    let (mut journal, _, _) = open(&options(&disk, FILE_BYTES), 0).unwrap();
    let error = journal.write(&[entry(1, 10), entry(2, frame::MAX_ENTRY_BYTES)]).unwrap_err();
    assert!(matches!(error, JournalError::TooLarge { lsn: Lsn(2), .. }), "{error}");
    assert_eq!(names(&disk), [""; 0], "nothing was written");
    assert!(frame::entry_bytes(&entry(2, 100 << 20)) <= frame::MAX_ENTRY_BYTES);
}

#[test]
fn a_large_round_is_several_frames_with_one_sync() {
    let disk = new_disk();
    let (mut journal, _, _) = open(&options(&disk, 1 << 30), 0).unwrap();
    let round: Vec<_> = (1..=3).map(|lsn| entry(lsn, 7 << 20)).collect();
    let before = disk.changes();
    journal.write_round(&round).unwrap();
    // Create the file, sync its name, two frames of at most 16 MiB, one sync.
    assert_eq!(disk.changes() - before, 5);
    let (_, _, entries) = open(&options(&disk.power_loss(0, 0), 1 << 30), 0).unwrap();
    assert!(entries == round);
}

/// The order of pages on the way to the disk is anybody's guess: the second frame of an un-synced round may be there
/// without the first.
#[test]
fn good_frames_behind_a_torn_one_are_cut_and_never_come_back() {
    let disk = new_disk();
    let (mut journal, _, _) = open(&options(&disk, FILE_BYTES), 0).unwrap();
    write(&mut journal, 1..=2);
    let torn: Vec<_> = (3..=5).map(|lsn| entry(lsn, 100)).collect();
    for entry in &torn {
        journal.write(std::slice::from_ref(entry)).unwrap();
    }
    drop(journal);
    disk.corrupt(&file(1), |bytes| bytes[2 * 4096..3 * 4096].fill(0)).unwrap();
    let (mut journal, recovered, entries) = open(&options(&disk, FILE_BYTES), 0).unwrap();
    assert_eq!(lsns(&entries), [1, 2]);
    assert_eq!(recovered.cut, Some(Cut { file: file(1), offset: 2 * 4096, lsn: Lsn(3), frames: 2 }));
    let disk = disk.power_loss(0, 0);
    assert!(disk.contents()[&file(1).display().to_string()][3 * 4096..].iter().all(|byte| *byte == 0), "cleared");
    // What follows has the same numbers and may not be continued by what was cut.
    let other = Entry { lsn: Lsn(3), items: vec![] };
    journal.write_round(std::slice::from_ref(&other)).unwrap();
    drop(journal);
    let (mut journal, recovered, entries) = open(&options(&disk, FILE_BYTES), 0).unwrap();
    assert_eq!((lsns(&entries), recovered.cut), (vec![1, 2], None), "the power went before the other round");
    journal.write_round(std::slice::from_ref(&other)).unwrap();
    let (_, recovered, entries) = open(&options(&disk, FILE_BYTES), 0).unwrap();
    assert_eq!((entries.last(), recovered.cut), (Some(&other), None));
}

#[test]
fn the_same_hole_is_damage_once_a_later_frame_says_it_was_synced() {
    let disk = new_disk();
    let (mut journal, _, _) = open(&options(&disk, FILE_BYTES), 0).unwrap();
    write(&mut journal, 1..=5);
    drop(journal);
    disk.corrupt(&file(1), |bytes| bytes[2 * 4096..3 * 4096].fill(0)).unwrap();
    let error = open(&options(&disk, FILE_BYTES), 0).err().unwrap();
    let text = error.to_string();
    assert!(text.contains("00000000000000000001.journal at byte 8192"), "{text}");
    assert!(text.contains("change 3") && text.contains("backup"), "{text}");
    let JournalError::Damaged { offset: 8192, lsn: Lsn(3), .. } = error else { panic!("{text}") };
    let (_, _, entries) = open(&options(&disk, FILE_BYTES), 3).unwrap();
    assert_eq!(lsns(&entries), [4, 5], "a checkpoint covers the hole");
}

/// Here no later frame can tell: the file after the missing one is still empty.
#[test]
fn a_missing_file_before_an_empty_one_is_damage() {
    let disk = new_disk();
    let (mut journal, _, _) = open(&options(&disk, 2 * 4096), 0).unwrap();
    write(&mut journal, 1..=5);
    drop(journal);
    disk.corrupt(&file(3), |bytes| bytes.fill(0)).unwrap();
    let (_, _, entries) = open(&options(&disk.process_kill(), 2 * 4096), 0).unwrap();
    assert_eq!(lsns(&entries), [1, 2, 3, 4]);
    disk.remove_file(&file(2)).unwrap();
    let error = open(&options(&disk, 2 * 4096), 0).err().unwrap();
    assert!(matches!(error, JournalError::Damaged { .. }), "{error}");
    // Where only files that nobody needs are left of the gap, it is none: a removal was lost with the power.
    open(&options(&disk, 2 * 4096), 4).unwrap();
}

#[test]
fn a_spare_file_never_brings_old_frames_back() {
    let disk = new_disk();
    let (mut journal, _, _) = open(&options(&disk, 2 * 4096), 0).unwrap();
    write(&mut journal, 1..=7);
    journal.recycle(Lsn(4)).unwrap();
    drop(journal);
    for sequence in [3, 4] {
        disk.remove_file(&file(sequence)).unwrap();
    }
    let Err(JournalError::Missing { empty_file, .. }) = open(&options(&disk, 2 * 4096), 7) else { panic!() };
    assert_eq!(empty_file, "00000000000000000003.journal");
    disk.open(&Path::new(DIR).join(empty_file), crate::disk::Open::CreateNew).unwrap();
    let (mut journal, _, _) = open(&options(&disk, 2 * 4096), 7).unwrap();
    write(&mut journal, 8..=10);
    assert_eq!(names(&disk)[1..], ["00000000000000000003.journal", "00000000000000000004.journal"]);
    let (_, _, entries) = open(&options(&disk, 2 * 4096), 7).unwrap();
    assert_eq!(lsns(&entries), [8, 9, 10]);
}

#[test]
fn a_frame_that_repeats_earlier_changes_is_damage() {
    let disk = new_disk();
    let (mut journal, _, _) = open(&options(&disk, FILE_BYTES), 0).unwrap();
    write(&mut journal, 1..=3);
    drop(journal);
    let header =
        Header { generation: 1, round: 9, first: Lsn(2), last: Lsn(2), synced_through: Lsn(1), payload_bytes: 0 };
    let mut builder = Builder::new(header, 0);
    builder.add(&entry(2, 10));
    disk.corrupt(&file(1), |bytes| bytes.extend(builder.finish())).unwrap();
    let error = open(&options(&disk, FILE_BYTES), 0).err().unwrap();
    assert!(error.to_string().contains("repeats"), "{error}");
}

/// sled may come back, after damage, as it was at an earlier checkpoint. Then the journal must not say "nothing to do".
#[test]
fn a_store_that_went_back_is_noticed_even_if_the_newest_file_is_torn() {
    let disk = new_disk();
    let (mut journal, _, _) = open(&options(&disk, 4096), 0).unwrap();
    write(&mut journal, 1..=3);
    journal.write(&[entry(4, 10)]).unwrap();
    journal.recycle(Lsn(4)).unwrap();
    journal.write(&[entry(5, 10)]).unwrap();
    let disk = disk.power_loss(0, 0);
    assert_eq!(names(&disk).iter().filter(|name| name.ends_with("journal")).count(), 2);
    let (mut journal, recovered, _) = open(&options(&disk, 4096), 4).unwrap();
    assert_eq!((recovered.last, recovered.cut), (Lsn(4), None));
    journal.recycle(Lsn(4)).unwrap();
    let error = open(&options(&disk, 4096), 2).err().unwrap();
    assert!(matches!(error, JournalError::Damaged { lsn: Lsn(3), .. }), "{error}");
}

#[test]
fn with_relaxed_durability_only_real_syncs_count_as_promises() {
    let disk = new_disk();
    let (mut journal, _, _) = open(&options(&disk, FILE_BYTES), 0).unwrap();
    for lsn in 1..=5 {
        journal.write(&[entry(lsn, 10)]).unwrap();
    }
    drop(journal);
    disk.corrupt(&file(1), |bytes| bytes[4096..2 * 4096].fill(0)).unwrap();
    let (_, recovered, entries) = open(&options(&disk, FILE_BYTES), 0).unwrap();
    assert_eq!(lsns(&entries), [1]);
    assert_eq!(recovered.cut.map(|cut| cut.frames), Some(3));
}

/// A checkpoint may be ahead of a journal that was not synced. The numbers go on above it all the same.
#[test]
fn a_journal_may_end_below_the_checkpoint() {
    let disk = new_disk();
    let (mut journal, _, _) = open(&options(&disk, FILE_BYTES), 0).unwrap();
    write(&mut journal, 1..=3);
    drop(journal);
    let (mut journal, recovered, _) = open(&options(&disk, FILE_BYTES), 10).unwrap();
    assert_eq!(recovered.last, Lsn(10));
    write(&mut journal, 11..=12);
    drop(journal);
    let (_, _, entries) = open(&options(&disk, FILE_BYTES), 10).unwrap();
    assert_eq!(lsns(&entries), [11, 12]);
    let error = open(&options(&disk, FILE_BYTES), 5).err().unwrap();
    assert!(matches!(error, JournalError::Damaged { lsn: Lsn(6), .. }), "an older store does not fit: {error}");
}

#[test]
fn after_a_failure_nothing_is_accepted_any_more() {
    for fault in [Fault::Write, Fault::ShortWrite, Fault::Sync] {
        let disk = new_disk();
        let (mut journal, _, _) = open(&options(&disk, FILE_BYTES), 0).unwrap();
        write(&mut journal, 1..=1);
        disk.fail(fault, 1);
        assert!(matches!(journal.write_round(&[entry(2, 10)]), Err(JournalError::Io { .. })), "{fault:?}");
        assert!(matches!(journal.write(&[entry(2, 10)]), Err(JournalError::Poisoned)));
        assert!(matches!(journal.sync(), Err(JournalError::Poisoned)));
        assert!(matches!(journal.recycle(Lsn(1)), Err(JournalError::Poisoned)));
    }
}

#[test]
fn a_full_disk_is_an_error_and_what_was_durable_stays() {
    let disk = new_disk();
    let (mut journal, _, _) = open(&options(&disk, FILE_BYTES), 0).unwrap();
    write(&mut journal, 1..=3);
    disk.set_capacity(4 * 4096 + 17);
    let error = journal.write_round(&[entry(4, 9_000)]).unwrap_err();
    assert!(error.to_string().contains("cannot write"), "{error}");
    let (_, _, entries) = open(&options(&disk.process_kill(), FILE_BYTES), 0).unwrap();
    assert_eq!(lsns(&entries), [1, 2, 3]);
}

/// The system may forget that a page is dirty once its sync has failed. What the next process reads from memory must
/// be on the disk before anything rests on it.
#[test]
fn what_a_failed_sync_left_in_memory_is_written_again() {
    let disk = new_disk();
    let (mut journal, _, _) = open(&options(&disk, FILE_BYTES), 0).unwrap();
    write(&mut journal, 1..=1);
    disk.fail(Fault::Sync, 1);
    journal.write_round(&[entry(2, 10)]).unwrap_err();
    let disk = disk.process_kill();
    let (_, _, entries) = open(&options(&disk, FILE_BYTES), 0).unwrap();
    assert_eq!(lsns(&entries), [1, 2]);
    let (_, _, entries) = open(&options(&disk.power_loss(0, 0), FILE_BYTES), 0).unwrap();
    assert_eq!(lsns(&entries), [1, 2]);
}

#[test]
fn entries_are_numbered_without_gaps() {
    let disk = new_disk();
    let (mut journal, _, _) = open(&options(&disk, FILE_BYTES), 0).unwrap();
    let error = journal.write(&[entry(1, 1), entry(3, 1)]).unwrap_err();
    assert!(matches!(error, JournalError::OutOfOrder { last: Lsn(1), got: Lsn(3) }), "{error}");
    assert_eq!(names(&disk), [""; 0], "nothing was written");
}

#[test]
fn a_refused_entry_stops_the_opening_and_changes_nothing() {
    let disk = new_disk();
    let (mut journal, _, _) = open(&options(&disk, FILE_BYTES), 0).unwrap();
    write(&mut journal, 1..=2);
    drop(journal);
    let before = (disk.contents(), disk.changes());
    let refused = Journal::open(&options(&disk, FILE_BYTES), Lsn(0), &mut |entry| {
        if entry.lsn == Lsn(2) { Err(JournalError::Refused("no such topic".into())) } else { Ok(()) }
    });
    assert_eq!(refused.err().unwrap().to_string(), "no such topic");
    assert_eq!((disk.contents(), disk.changes()), before);
}

#[test]
fn the_journal_runs_on_the_real_disk() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        disk: Arc::new(crate::disk::RealDisk::new()),
        dir: dir.path().join("journal"),
        file_bytes: FILE_BYTES,
    };
    let (mut journal, _, _) = open(&options, 0).unwrap();
    write(&mut journal, 1..=40);
    journal.recycle(Lsn(20)).unwrap();
    drop(journal);
    let (_, _, entries) = open(&options, 20).unwrap();
    assert_eq!(lsns(&entries), (21..=40).collect::<Vec<_>>());
}
