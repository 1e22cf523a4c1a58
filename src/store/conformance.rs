//! What every state store has to do, told once and run on each of them.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{Change, DataDir, Key, MemStore, SledStore, StateStore, StoreError};
use crate::machine::Rng;
use crate::types::{ClusterId, GroupId, Lsn, MemberId, TopicName};

type Content = BTreeMap<Bytes, Bytes>;

/// Opens the same storage again and again, as processes one after the other would.
trait Storage {
    fn open(&mut self) -> Box<dyn StateStore>;
}

struct InMemory(MemStore);

impl Storage for InMemory {
    fn open(&mut self) -> Box<dyn StateStore> {
        Box::new(self.0.restart())
    }
}

struct OnDisk {
    data: DataDir,
    _dir: tempfile::TempDir,
}

impl OnDisk {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { data: DataDir::open(dir.path(), || ClusterId::from("test")).unwrap(), _dir: dir }
    }
}

impl Storage for OnDisk {
    fn open(&mut self) -> Box<dyn StateStore> {
        Box::new(SledStore::open(&self.data).unwrap())
    }
}

fn on_each(story: impl Fn(&mut dyn Storage)) {
    story(&mut InMemory(MemStore::default()));
    story(&mut OnDisk::new());
}

/// What a load shows; in order, or the test fails.
fn load(store: &mut dyn StateStore) -> (Lsn, Content) {
    let mut content = Content::new();
    let lsn = store.load(&mut |key, value| {
        assert!(content.last_key_value().is_none_or(|(last, _)| last[..] < *key), "keys come in order, each once");
        content.insert(Bytes::copy_from_slice(key), Bytes::copy_from_slice(value));
        Ok(())
    });
    let lsn = lsn.unwrap();
    assert_eq!(store.checkpoint_lsn().unwrap(), lsn);
    (lsn, content)
}

fn put(key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Change {
    Change::Put { key: Bytes::copy_from_slice(key.as_ref()), value: Bytes::copy_from_slice(value.as_ref()) }
}

fn delete(key: impl AsRef<[u8]>) -> Change {
    Change::Delete { key: Bytes::copy_from_slice(key.as_ref()) }
}

fn delete_prefix(prefix: impl AsRef<[u8]>) -> Change {
    Change::DeletePrefix { prefix: Bytes::copy_from_slice(prefix.as_ref()) }
}

fn content<const N: usize>(entries: [(&'static str, &'static str); N]) -> Content {
    entries.into_iter().map(|(key, value)| (Bytes::from(key), Bytes::from(value))).collect()
}

#[test]
fn a_new_store_is_empty_at_lsn_0() {
    on_each(|storage| assert_eq!(load(&mut *storage.open()), (Lsn(0), Content::new())));
}

#[test]
fn a_checkpoint_is_there_for_the_next_process() {
    on_each(|storage| {
        let mut store = storage.open();
        store.checkpoint(Lsn(7), &[put("b", "1"), put("a", "2"), put("c", "3")]).unwrap();
        store.checkpoint(Lsn(9), &[put("b", "4"), delete("c"), delete("never there")]).unwrap();
        let expected = (Lsn(9), content([("a", "2"), ("b", "4")]));
        assert_eq!(load(&mut *store), expected);
        drop(store);
        assert_eq!(load(&mut *storage.open()), expected);
        storage.open().checkpoint(Lsn(10), &[]).unwrap();
        assert_eq!(load(&mut *storage.open()), (Lsn(10), expected.1));
    });
}

#[test]
fn a_prefix_takes_what_is_stored_and_what_came_before_it_and_nothing_after_it() {
    on_each(|storage| {
        let mut store = storage.open();
        store.checkpoint(Lsn(1), &[put("g1", "a"), put("g1/x", "b"), put("g2", "c"), put("f", "d")]).unwrap();
        let changes = [put("g1/y", "e"), delete_prefix("g1"), put("g1/z", "f")];
        store.checkpoint(Lsn(2), &changes).unwrap();
        let expected = content([("f", "d"), ("g1/z", "f"), ("g2", "c")]);
        assert_eq!(load(&mut *store), (Lsn(2), expected));
        drop(store);
        let mut store = storage.open();
        store.checkpoint(Lsn(3), &[delete_prefix("")]).unwrap();
        assert_eq!(load(&mut *store), (Lsn(3), Content::new()), "the empty prefix is everything");
    });
}

#[test]
fn the_key_of_the_checkpoint_is_the_stores_own() {
    on_each(|storage| {
        let mut store = storage.open();
        store.checkpoint(Lsn(5), &[put(Key::Checkpoint.encode(), "x"), put("a", "b")]).unwrap();
        assert_eq!(load(&mut *store), (Lsn(5), content([("a", "b")])));
    });
}

#[test]
fn a_refusal_stops_a_load() {
    on_each(|storage| {
        let mut store = storage.open();
        store.checkpoint(Lsn(1), &[put("a", ""), put("b", "")]).unwrap();
        let mut seen = 0;
        let outcome = store.load(&mut |_, _| {
            seen += 1;
            Err(StoreError::Refused("unknown record".into()))
        });
        assert_eq!((outcome.unwrap_err().to_string(), seen), ("unknown record".to_owned(), 1));
    });
}

/// A topology can be large, and a group id as long as the protocol's strings are.
#[test]
fn large_values_and_long_keys_come_back_in_their_place() {
    on_each(|storage| {
        let group = GroupId::from("\0".repeat(32_767));
        let long = [
            Key::StreamsGroupMetadata(group.clone()),
            Key::StreamsGroupMemberMetadata(group.clone(), MemberId::from("m".repeat(32_767))),
            Key::OffsetCommit(group.clone(), TopicName::from("t".repeat(249)), 1),
        ];
        let small = Key::StreamsGroupMetadata(GroupId::from("small")).encode();
        let topology = Key::StreamsGroupTopology(GroupId::from("small")).encode();
        let mut store = storage.open();
        let mut changes: Vec<_> = long.iter().map(|key| put(key.encode(), "long key")).collect();
        changes.push(put(&small, "small"));
        changes.push(put(&topology, vec![1; 3_000_000]));
        store.checkpoint(Lsn(1), &changes).unwrap();
        let (_, found) = load(&mut *storage_after(store, storage));
        assert_eq!(found.len(), 5);
        assert_eq!(found[&topology], vec![1; 3_000_000]);
        assert!(long.iter().all(|key| found[&key.encode()] == "long key"));

        // A large value may shrink, grow again, and go.
        for (lsn, value) in [(2, vec![2; 10]), (3, vec![3; 100_000]), (4, vec![4; 50_000]), (5, vec![])] {
            let mut store = storage.open();
            store.checkpoint(Lsn(lsn), &[put(&topology, &value)]).unwrap();
            let (_, found) = load(&mut *storage_after(store, storage));
            assert_eq!((&found[&topology], found.len()), (&Bytes::from(value), 5));
        }
        let mut store = storage.open();
        store.checkpoint(Lsn(6), &[put(&topology, vec![6; 70_000]), delete_prefix(Key::group_prefix(&group))]).unwrap();
        store.checkpoint(Lsn(7), &[delete(&topology)]).unwrap();
        let (_, found) = load(&mut *storage_after(store, storage));
        assert_eq!(found.into_keys().collect::<Vec<_>>(), [small]);
    });
}

fn storage_after(store: Box<dyn StateStore>, storage: &mut dyn Storage) -> Box<dyn StateStore> {
    drop(store);
    storage.open()
}

/// Keys that are beginnings of each other, empty, long, or in the store's own space; values of every size.
fn random_key(rng: &mut Rng) -> Bytes {
    let alphabet = [b'a', b'b', 0x00, 0xff];
    let len = if rng.below(10) == 0 { 200 + rng.below(300) } else { rng.below(4) };
    let any = |rng: &mut Rng| alphabet[usize::try_from(rng.below(4)).unwrap()];
    let first = any(rng);
    let rest = any(rng);
    (0..len)
        .map(|at| {
            if at < 3 {
                any(rng)
            } else if at < 240 {
                first
            } else {
                rest
            }
        })
        .collect::<Vec<_>>()
        .into()
}

fn random_change(rng: &mut Rng) -> Change {
    let key = random_key(rng);
    let size = match rng.below(20) {
        0 => 60_000 + rng.below(60_000),
        1 => 3_600 + rng.below(600),
        _ => rng.below(100),
    };
    match rng.below(12) {
        0 => Change::DeletePrefix { prefix: key },
        1..=3 => Change::Delete { key },
        _ => Change::Put { key, value: vec![rng.next_u64().to_le_bytes()[0]; usize::try_from(size).unwrap()].into() },
    }
}

fn apply(content: &mut Content, changes: &[Change]) {
    for change in changes {
        match change {
            Change::Put { key, value } => drop(content.insert(key.clone(), value.clone())),
            Change::Delete { key } => drop(content.remove(key)),
            Change::DeletePrefix { prefix } => content.retain(|key, _| !key.starts_with(prefix)),
        }
    }
}

#[test]
fn any_history_of_checkpoints_gives_what_a_map_gives() {
    on_each(|storage| {
        for seed in 0..3 {
            let mut rng = Rng::from_seed(seed);
            let mut store = storage.open();
            store.checkpoint(Lsn(1), &[delete_prefix("")]).unwrap();
            let mut expected = Content::new();
            for lsn in 2..40 {
                let changes: Vec<_> = (0..rng.below(30)).map(|_| random_change(&mut rng)).collect();
                store.checkpoint(Lsn(lsn), &changes).unwrap();
                apply(&mut expected, &changes);
                if rng.below(4) == 0 {
                    store = storage_after(store, storage);
                }
                let found = load(&mut *store);
                assert!(found == (Lsn(lsn), expected.clone()), "seed {seed}, checkpoint {lsn}");
            }
        }
    });
}

#[test]
fn a_failed_checkpoint_ends_the_store_until_a_restart() {
    use super::mem::Failure;
    for (failure, expected) in [(Failure::NotApplied, 1), (Failure::Applied, 2)] {
        let mut store = MemStore::default();
        store.fail(2, failure);
        store.checkpoint(Lsn(1), &[put("a", "1")]).unwrap();
        assert!(matches!(store.checkpoint(Lsn(2), &[put("a", "2")]), Err(StoreError::Dead)));
        assert!(matches!(store.checkpoint(Lsn(3), &[]), Err(StoreError::Dead)));
        assert!(matches!(store.load(&mut |_, _| Ok(())), Err(StoreError::Dead)));
        assert!(matches!(store.checkpoint_lsn(), Err(StoreError::Dead)));
        let (lsn, found) = load(&mut store.restart());
        assert_eq!((lsn, &found[&b"a"[..]]), (Lsn(expected), &Bytes::from(expected.to_string())));
    }
}
