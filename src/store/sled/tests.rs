//! sled, and what the power leaves of it.

use std::collections::BTreeMap;

use super::*;
use crate::machine::Rng;
use crate::types::ClusterId;

type Content = BTreeMap<Vec<u8>, Vec<u8>>;
/// The files of a directory, by their path in it.
type Files = BTreeMap<PathBuf, Vec<u8>>;

const PAGE: usize = 4096;

fn data_dir() -> (tempfile::TempDir, DataDir) {
    let dir = tempfile::tempdir().unwrap();
    let data = DataDir::open(dir.path(), || ClusterId::from("test")).unwrap();
    (dir, data)
}

fn load(store: &mut SledStore) -> Result<(Lsn, Content), StoreError> {
    let mut content = Content::new();
    let lsn = store.load(&mut |key, value| {
        content.insert(key.to_vec(), value.to_vec());
        Ok(())
    })?;
    Ok((lsn, content))
}

fn put(key: &str, value: impl Into<Bytes>) -> Change {
    Change::Put { key: Bytes::copy_from_slice(key.as_bytes()), value: value.into() }
}

fn blob_count(data: &DataDir) -> usize {
    fs::read_dir(data.store_dir().join("blobs")).unwrap().count()
}

/// sled puts a node that outgrows a quarter of a segment into a file of its own, where a power loss can hurt it.
#[test]
fn no_node_of_the_tree_becomes_a_file_of_its_own() {
    let (_dir, data) = data_dir();
    let mut store = SledStore::open(&data).unwrap();
    for round in 0..3u64 {
        let mut changes = Vec::new();
        for index in 0..400 {
            let long = "k".repeat(240);
            changes.push(put(&format!("{long}-{index:05}"), vec![7; 3_840]));
            // Long keys that have nothing in common, so that inner nodes are as large as they can be.
            changes.push(put(&format!("{index:05}-{long}"), vec![7; 10]));
            if index % 10 == 0 {
                changes.push(put(&format!("large-{index:05}"), vec![7; 3_000 + 200 * index]));
                changes.push(put(&format!("{}-{index}", "long".repeat(10_000)), vec![7; 10]));
            }
        }
        store.checkpoint(Lsn(round + 1), &changes).unwrap();
        assert_eq!(blob_count(&data), 0, "round {round}");
    }
    drop(store);
    let mut store = SledStore::open(&data).unwrap();
    assert_eq!(load(&mut store).unwrap().1.len(), 880);
    let keys = store.outside.keys().cloned().collect::<Vec<_>>();
    let deletes: Vec<_> = keys.into_iter().map(|key| Change::Delete { key }).collect();
    store.checkpoint(Lsn(9), &deletes).unwrap();
    assert_eq!(store.db.scan_prefix([STORE]).count(), 1, "no part is left behind");
    assert_eq!(blob_count(&data), 0);
}

/// The same without the limits: what the test above is about is real.
#[test]
fn sled_does_make_files_of_large_nodes() {
    let (_dir, data) = data_dir();
    let store = SledStore::open(&data).unwrap();
    let mut batch = sled::Batch::default();
    for index in 0..100 {
        batch.insert(format!("{index:05}").as_bytes(), vec![7; 60_000]);
    }
    store.db.apply_batch(batch).unwrap();
    store.db.flush().unwrap();
    assert!(blob_count(&data) > 0);
}

/// Checks that pages are what they should be, and gives the number of entries in them and of pages.
fn check_pages(store: &SledStore) -> (usize, usize) {
    let mut pages: Vec<(Vec<u8>, Vec<Vec<u8>>)> = Vec::new();
    for page in store.db.range(..&[STORE][..]) {
        let (bound, page) = page.unwrap();
        let entries = pages::decode(&store.dir, &page).unwrap();
        assert!(!entries.is_empty() && (entries.len() == 1 || page.len() <= 2048), "{} bytes", page.len());
        pages.push((bound.to_vec(), entries.iter().map(|(key, _)| key.to_vec()).collect()));
    }
    let keys: Vec<_> = pages.iter().flat_map(|(_, keys)| keys).collect();
    assert!(keys.is_sorted_by(|one, two| one < two), "each key is there once, in order");
    assert!(pages.iter().all(|(bound, keys)| *bound <= keys[0]), "no key is below its page's bound");
    assert!(pages.is_sorted_by(|(_, keys), (bound, _)| keys.last().unwrap() < bound), "nor in the next one's place");
    let bounds = Pages::find(&store.dir, &store.db).unwrap();
    assert_eq!(bounds, store.pages, "what is known is what is there");
    (keys.len(), pages.len())
}

#[test]
fn pages_split_shrink_and_go() {
    for seed in 0..4 {
        let (_dir, data) = data_dir();
        let mut rng = Rng::from_seed(seed);
        let mut store = SledStore::open(&data).unwrap();
        let mut expected = Content::new();
        // Growing downward, upward and at random, then shrinking.
        for lsn in 1..=60u64 {
            let mut changes = Vec::new();
            for _ in 0..rng.below(60) {
                let key = match (seed, lsn) {
                    (0, 0..40) => format!("{:06}", 10_000 - expected.len()),
                    (1, 0..40) => format!("{:06}", 10_000 + expected.len()),
                    _ => format!("{:06}", 9_000 + rng.below(2_000)),
                };
                if lsn < 40 || rng.below(10) == 0 {
                    let value = vec![7; usize::try_from(rng.below(150) + 3_000 * (rng.below(50) / 49)).unwrap()];
                    expected.insert(key.clone().into_bytes(), value.clone());
                    changes.push(put(&key, value));
                } else if rng.below(20) == 0 {
                    expected.retain(|other, _| !other.starts_with(&key.as_bytes()[..4]));
                    changes.push(Change::DeletePrefix { prefix: Bytes::copy_from_slice(&key.as_bytes()[..4]) });
                } else {
                    expected.remove(key.as_bytes());
                    changes.push(Change::Delete { key: key.into() });
                }
            }
            store.checkpoint(Lsn(lsn), &changes).unwrap();
            let (entry_count, page_count) = check_pages(&store);
            assert_eq!(entry_count, expected.len(), "seed {seed}, checkpoint {lsn}");
            assert!(lsn != 39 || page_count * 4 < entry_count, "{page_count} pages for {entry_count} entries");
            assert!(load(&mut store).unwrap() == (Lsn(lsn), expected.clone()), "seed {seed}, checkpoint {lsn}");
        }
        store.checkpoint(Lsn(99), &[Change::DeletePrefix { prefix: Bytes::new() }]).unwrap();
        assert_eq!(check_pages(&store), (0, 0));
    }
}

#[test]
fn a_half_written_snapshot_does_not_stop_the_store() {
    let (_dir, data) = data_dir();
    let mut store = SledStore::open(&data).unwrap();
    store.checkpoint(Lsn(3), &[put("a", "1")]).unwrap();
    drop(store);
    fs::write(data.store_dir().join("snap.0000000000000C23.generating"), b"half").unwrap();
    let (lsn, content) = load(&mut SledStore::open(&data).unwrap()).unwrap();
    assert_eq!((lsn, content.len()), (Lsn(3), 1));
    assert!(!data.store_dir().join("snap.0000000000000C23.generating").exists());
}

#[test]
fn after_a_failed_sync_the_store_is_dead() {
    let (_dir, data) = data_dir();
    let mut store = SledStore::open(&data).unwrap();
    store.checkpoint(Lsn(1), &[put("a", "1")]).unwrap();
    // A device cannot be synced.
    store.file.file = File::open("/dev/null").unwrap();
    assert!(matches!(store.checkpoint(Lsn(2), &[put("a", "2")]), Err(StoreError::Io { action: "sync", .. })));
    assert!(matches!(store.checkpoint(Lsn(3), &[]), Err(StoreError::Dead)));
    assert!(matches!(load(&mut store), Err(StoreError::Dead)));
}

/// The files under a directory.
fn files(dir: &Path) -> Files {
    let mut found = Files::new();
    let mut todo = vec![dir.to_owned()];
    while let Some(next) = todo.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                todo.push(path);
            } else {
                found.insert(path.strip_prefix(dir).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// A file as it was synced, with the pages and the length that it has had since mixed in.
fn mix(synced: &[u8], later: &[u8], percent: u64, rng: &mut Rng) -> Vec<u8> {
    let len = if rng.below(100) < percent { later.len() } else { synced.len() };
    let mut mixed = synced.to_vec();
    mixed.resize(len, 0);
    for (page, written) in later.chunks(PAGE).enumerate() {
        let start = page * PAGE;
        if start + written.len() <= len && rng.below(100) < percent {
            mixed[start..start + written.len()].copy_from_slice(written);
        }
    }
    mixed
}

/// What a power loss leaves: any mixture of what was synced and what came later, names included.
fn power_loss(synced: &Files, later: &Files, percent: u64, rng: &mut Rng) -> Files {
    let mut left = Files::new();
    for (path, bytes) in synced {
        let later_bytes = later.get(path);
        if later_bytes.is_some() || rng.below(100) >= percent {
            left.insert(path.clone(), mix(bytes, later_bytes.unwrap_or(bytes), percent, rng));
        }
    }
    for (path, bytes) in later {
        if !synced.contains_key(path) && rng.below(100) < percent {
            // The only new files are snapshots, and these sled does sync before it names them.
            left.insert(path.clone(), bytes.clone());
        }
    }
    left
}

/// A history of checkpoints that overwrites, grows and shrinks, so that sled re-uses its segments.
struct History {
    rng: Rng,
    content: Content,
}

impl History {
    fn changes(&mut self) -> Vec<Change> {
        let count = 20 + self.rng.below(300);
        let changes = (0..count).map(|_| {
            let key = format!("key-{:04}", self.rng.below(1_500));
            let size = if self.rng.below(40) == 0 { self.rng.below(20_000) } else { 20 + self.rng.below(200) };
            match self.rng.below(200) {
                0 => Change::DeletePrefix { prefix: key.get(..6).unwrap().to_owned().into() },
                1..=20 => Change::Delete { key: key.into() },
                _ => put(&key, vec![self.rng.next_u64().to_le_bytes()[0]; usize::try_from(size).unwrap()]),
            }
        });
        changes.collect()
    }

    fn apply(&mut self, changes: &[Change]) {
        for change in changes {
            match change {
                Change::Put { key, value } => drop(self.content.insert(key.to_vec(), value.to_vec())),
                Change::Delete { key } => drop(self.content.remove(&key[..])),
                Change::DeletePrefix { prefix } => self.content.retain(|key, _| !key.starts_with(prefix)),
            }
        }
    }
}

/// Opens an image and gives what is in it; then takes one more checkpoint, to see that it goes on.
fn open_image(image: &Files) -> Result<(Lsn, Content), StoreError> {
    let (_dir, data) = data_dir();
    for (path, bytes) in image {
        let path = data.store_dir().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let mut store = SledStore::open(&data)?;
    let (lsn, content) = load(&mut store)?;
    store.checkpoint(lsn.next(), &[put("one more", "x")])?;
    drop(store);
    let (next, more) = load(&mut SledStore::open(&data)?)?;
    assert_eq!((next, more.len()), (lsn.next(), content.len() + 1));
    Ok((lsn, content))
}

#[test]
fn every_power_loss_leaves_exactly_one_checkpoint() {
    let (mut images, mut newer) = (0, 0);
    for seed in 0..3 {
        let (_dir, data) = data_dir();
        let mut history = History { rng: Rng::from_seed(seed), content: Content::new() };
        let mut store = SledStore::open(&data).unwrap();
        for lsn in 1..=30 {
            let synced = files(&data.store_dir());
            let before = (Lsn(lsn - 1), history.content.clone());
            let changes = history.changes();
            store.checkpoint(Lsn(lsn), &changes).unwrap();
            history.apply(&changes);
            let after = (Lsn(lsn), history.content.clone());
            let later = files(&data.store_dir());
            for percent in [20, 90, 100].into_iter().filter(|_| lsn % 4 == 0) {
                let image = power_loss(&synced, &later, percent, &mut history.rng);
                let found = open_image(&image).unwrap_or_else(|error| panic!("seed {seed}, checkpoint {lsn}: {error}"));
                assert!(found == before || found == after, "seed {seed}, checkpoint {lsn}: found {}", found.0);
                images += 1;
                newer += u32::from(found == after);
            }
            if lsn % 10 == 0 {
                // A restart: sled writes a snapshot while it opens.
                drop(store);
                let synced = files(&data.store_dir());
                store = SledStore::open(&data).unwrap();
                let image = power_loss(&synced, &files(&data.store_dir()), 50, &mut history.rng);
                assert!(open_image(&image).unwrap() == after, "seed {seed}, restart after checkpoint {lsn}");
                images += 1;
            }
        }
    }
    println!("{images} power-loss images opened, {newer} of them held the checkpoint that was being written");
    assert!(images >= 60 && newer >= 20);
}

/// Damage is an error, or it takes the store back to an earlier checkpoint as a whole, which the journal then notices.
#[test]
fn damage_never_gives_half_a_checkpoint() {
    let (mut errors, mut noticed_by_sum, mut older, mut unharmed) = (0, 0, 0, 0);
    for seed in 0..2 {
        let (_dir, data) = data_dir();
        let mut history = History { rng: Rng::from_seed(seed), content: Content::new() };
        let mut checkpoints = vec![(Lsn(0), Content::new())];
        let mut store = SledStore::open(&data).unwrap();
        for lsn in 1..=12 {
            let changes = history.changes();
            store.checkpoint(Lsn(lsn), &changes).unwrap();
            history.apply(&changes);
            checkpoints.push((Lsn(lsn), history.content.clone()));
        }
        drop(store);
        let good = files(&data.store_dir());
        for trial in 0..32 {
            let rng = &mut history.rng;
            let mut image = good.clone();
            let db = image.get_mut(Path::new("db")).unwrap();
            let at = usize::try_from(rng.below(db.len() as u64)).unwrap();
            let page = at / PAGE * PAGE;
            match trial % 4 {
                0 => db[at] ^= 1 << rng.below(8),
                1 => db[page..page + PAGE].fill(0),
                2 => db.truncate(at),
                _ => db[at / (512 * 1024) * (512 * 1024)..][..PAGE].fill(0),
            }
            match open_image(&image) {
                Err(error) => {
                    assert!(matches!(error, StoreError::Damaged { .. } | StoreError::Envelope(_)), "{error}");
                    noticed_by_sum += u32::from(error.to_string().contains("is not what the last checkpoint"));
                    errors += 1;
                }
                Ok(found) => {
                    assert!(checkpoints.contains(&found), "seed {seed}, trial {trial}: found {} whole", found.0);
                    if found.0 == Lsn(12) { unharmed += 1 } else { older += 1 }
                }
            }
        }
    }
    println!(
        "{errors} errors, {noticed_by_sum} of them by the sum alone, {older} older checkpoints, {unharmed} without effect"
    );
}
