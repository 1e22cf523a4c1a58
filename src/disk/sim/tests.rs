//! What the simulated disk keeps and what it loses.

use super::*;

fn write(disk: &SimDisk, path: &str, how: Open, bytes: &[u8]) -> Arc<dyn DiskFile> {
    let file = disk.open(Path::new(path), how).unwrap();
    file.write_all_at(bytes, 0).unwrap();
    file
}

fn read(disk: &SimDisk, path: &str) -> Option<Vec<u8>> {
    disk.contents().get(path).cloned()
}

fn dir_with_file() -> (SimDisk, Arc<dyn DiskFile>) {
    let disk = SimDisk::new();
    disk.create_dir_all(Path::new("/data/journal")).unwrap();
    let file = write(&disk, "/data/journal/1", Open::CreateNew, &[7; 10_000]);
    (disk, file)
}

fn sync_dirs(disk: &SimDisk) {
    for dir in ["/", "/data", "/data/journal"] {
        disk.sync_dir(Path::new(dir)).unwrap();
    }
}

#[test]
fn a_file_survives_a_power_loss_only_with_its_name_and_bytes_synced() {
    let (disk, file) = dir_with_file();
    file.sync_data().unwrap();
    assert_eq!(read(&disk.power_loss(1, 0), "/data/journal/1"), None);
    sync_dirs(&disk);
    assert_eq!(read(&disk.power_loss(1, 0), "/data/journal/1"), Some(vec![7; 10_000]));
    file.write_all_at(&[8; 10_000], 10_000).unwrap();
    assert_eq!(read(&disk.power_loss(1, 0), "/data/journal/1"), Some(vec![7; 10_000]));
    assert_eq!(read(&disk.process_kill(), "/data/journal/1").map(|bytes| bytes.len()), Some(20_000));
    assert_eq!(read(&disk.process_kill().power_loss(1, 0), "/data/journal/1"), Some(vec![7; 10_000]));
}

#[test]
fn pages_written_since_the_sync_come_in_any_combination() {
    let (disk, file) = dir_with_file();
    file.sync_data().unwrap();
    sync_dirs(&disk);
    file.write_all_at(&[8; 8192], 0).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..64 {
        let bytes = read(&disk.power_loss(seed, 50), "/data/journal/1").unwrap();
        assert_eq!(bytes.len(), 10_000);
        assert!(bytes[8192..].iter().all(|byte| *byte == 7), "seed {seed}");
        seen.insert((bytes[0], bytes[4096]));
        assert_eq!(bytes, read(&disk.power_loss(seed, 50), "/data/journal/1").unwrap(), "same seed, same loss");
    }
    assert_eq!(seen.len(), 4);
}

#[test]
fn a_rename_is_one_step_and_needs_a_sync() {
    let (disk, file) = dir_with_file();
    file.sync_data().unwrap();
    sync_dirs(&disk);
    disk.rename(Path::new("/data/journal/1"), Path::new("/data/journal/2")).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..32 {
        let lost = disk.power_loss(seed, 50);
        seen.insert((read(&lost, "/data/journal/1").is_some(), read(&lost, "/data/journal/2").is_some()));
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [(false, true), (true, false)]);
    disk.sync_dir(Path::new("/data/journal")).unwrap();
    assert!(read(&disk.power_loss(0, 0), "/data/journal/2").is_some());
}

#[test]
fn a_failed_sync_is_not_made_good_by_the_next() {
    let (disk, file) = dir_with_file();
    sync_dirs(&disk);
    disk.fail(Fault::Sync, 1);
    assert!(file.sync_data().is_err());
    file.sync_data().unwrap();
    assert_eq!(read(&disk.power_loss(1, 0), "/data/journal/1"), Some(vec![0; 10_000]));
    file.write_all_at(&[7; 10_000], 0).unwrap();
    file.sync_data().unwrap();
    assert_eq!(read(&disk.power_loss(1, 0), "/data/journal/1"), Some(vec![7; 10_000]));
}

#[test]
fn a_full_disk_and_a_dying_process_leave_part_of_a_write() {
    let (disk, file) = dir_with_file();
    disk.set_capacity(12_000);
    let error = file.write_all_at(&[8; 4000], 10_000).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    assert_eq!(file.len().unwrap(), 12_000);
    disk.set_capacity(u64::MAX);
    disk.die_after(1);
    assert!(file.write_all_at(&[9; 4000], 20_000).is_err());
    assert!(file.write_all_at(&[9; 4000], 30_000).is_err());
    assert!(file.sync_data().is_err());
    assert_eq!(read(&disk.process_kill(), "/data/journal/1").map(|bytes| bytes.len()), Some(22_000));
    let next = disk.process_kill();
    let file = next.open(Path::new("/data/journal/1"), Open::ReadWrite).unwrap();
    file.write_all_at(&[9; 10], 0).unwrap();
}

#[test]
fn short_writes_flipped_bits_and_removed_names() {
    let (disk, file) = dir_with_file();
    disk.fail(Fault::ShortWrite, 2);
    file.write_all_at(&[1; 10], 0).unwrap();
    assert!(file.write_all_at(&[2; 10], 0).is_err());
    assert_eq!(read(&disk, "/data/journal/1").unwrap()[..11], [2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 7]);
    disk.flip_bit(Path::new("/data/journal/1"), 0, 0).unwrap();
    assert_eq!(read(&disk, "/data/journal/1").unwrap()[0], 3);
    sync_dirs(&disk);
    disk.remove_dir_all(Path::new("/data/journal")).unwrap();
    assert!(!disk.exists(Path::new("/data/journal")).unwrap());
    assert!(read(&disk.power_loss(0, 0), "/data/journal/1").is_some());
    disk.sync_dir(Path::new("/data")).unwrap();
    assert!(read(&disk.power_loss(0, 0), "/data/journal/1").is_none());
    assert_eq!(disk.list(Path::new("/data")).unwrap(), []);
}
