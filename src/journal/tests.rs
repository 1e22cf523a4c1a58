//! The journal on a disk that loses its power.

mod damage;
mod format;
mod histories;
mod stories;

use std::path::{Path, PathBuf};

use super::*;
use crate::disk::sim::SimDisk;
use crate::machine::Rng;
use crate::types::TopicId;

const DIR: &str = "/data/journal";

fn options(disk: &SimDisk, file_bytes: u64) -> Options {
    Options { disk: Arc::new(disk.clone()), dir: PathBuf::from(DIR), file_bytes }
}

fn new_disk() -> SimDisk {
    let disk = SimDisk::new();
    disk.create_dir_all(Path::new("/data")).unwrap();
    disk.sync_dir(Path::new("/")).unwrap();
    disk
}

/// Opens the journal and gives all entries that were shown.
fn open(options: &Options, checkpoint: u64) -> Result<(Journal, Recovered, Vec<Entry>), JournalError> {
    let mut entries = Vec::new();
    let (journal, recovered) = Journal::open(options, Lsn(checkpoint), &mut |entry| {
        entries.push(entry);
        Ok(())
    })?;
    assert_eq!(recovered.entries, entries.len() as u64);
    assert_eq!(recovered.first, entries.first().map(|entry| entry.lsn));
    assert_eq!(recovered.last, entries.last().map_or(Lsn(checkpoint), |entry| entry.lsn));
    assert_eq!(journal.last_lsn(), recovered.last);
    Ok((journal, recovered, entries))
}

/// An entry of one put whose value has this many bytes.
fn entry(lsn: u64, value_bytes: usize) -> Entry {
    let value = Bytes::from(vec![lsn.to_le_bytes()[0]; value_bytes]);
    Entry { lsn: Lsn(lsn), items: vec![Item::Put { key: Bytes::from(format!("key-{lsn}")), value }] }
}

/// One random word over and over: cheap, and no two calls give the same.
fn random_bytes(rng: &mut Rng, len: u64) -> Bytes {
    let len = usize::try_from(len).unwrap();
    let mut bytes = rng.next_u64().to_le_bytes().repeat(len.div_ceil(8));
    bytes.truncate(len);
    bytes.into()
}

/// An entry with something of everything in it.
fn random_entry(rng: &mut Rng, lsn: Lsn) -> Entry {
    let item_count = rng.below(4);
    let items = (0..item_count).map(|_| {
        let bytes = match rng.below(20) {
            0 => 8_000 + rng.below(30_000),
            1..=3 => 3_900 + rng.below(300),
            _ => rng.below(60),
        };
        match rng.below(8) {
            0 => Item::Delete { key: random_bytes(rng, bytes) },
            1 => Item::DeletePrefix { prefix: random_bytes(rng, 20) },
            2..=3 => Item::Append {
                partition: TopicPartition { topic_id: TopicId::from_bytes(rng.uuid_bytes()), partition: 3 },
                base_offset: i64::from_le_bytes(rng.next_u64().to_le_bytes()),
                batch: random_bytes(rng, bytes),
            },
            _ => Item::Put { key: random_bytes(rng, 20), value: random_bytes(rng, bytes) },
        }
    });
    Entry { lsn, items: items.collect() }
}

/// Says which seed it was when a test fails.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed with SEED={}: run this test alone with that environment variable", self.0);
        }
    }
}

/// So many seeds, times `HISTORIES` of the environment; or the one seed that `SEED` names.
fn seeds(count: u64) -> Vec<u64> {
    let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    match number("SEED") {
        Some(seed) => vec![seed],
        None => (0..count * number("HISTORIES").unwrap_or(1)).collect(),
    }
}
