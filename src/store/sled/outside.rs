//! Entries that are too large for a node of the tree: long keys, large values.
//!
//! Such an entry lies in the store's own space as `STORE | id u64 | part u32`, numbers big-endian. Its parts, put
//! together, are `key length u32 | value length u32 | key | value`. Which entries are outside is kept in memory.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;

use bytes::Bytes;

use super::digest::Digest;
use super::{STORE, StoreError, Writes, damaged, guard};

// A node of sled's tree is rewritten as a whole and must stay below a quarter of a 512 KiB segment. A leaf has up to 20
// entries for a moment (16, and those of a neighbour that merges into it), each a page or a part; an inner node up to 320
// keys, less what they have in common. 20 times 4 KiB and 320 times 256 bytes are 80 KiB each.
const MAX_INSIDE_BYTES: usize = 4096;
const MAX_INSIDE_KEY_BYTES: usize = 256;
const PART_BYTES: usize = 4000;

const PART_KEY_BYTES: usize = 13;
const LENGTHS_BYTES: usize = 8;

/// Whether an entry may lie under its own key.
pub(super) fn fits_inside(key: &[u8], value_bytes: usize) -> bool {
    let is_ours = key.first().is_none_or(|space| *space == STORE);
    !is_ours && key.len() <= MAX_INSIDE_KEY_BYTES && key.len().saturating_add(value_bytes) <= MAX_INSIDE_BYTES
}

/// Where an entry lies.
#[derive(Clone, Copy, Debug)]
struct Place {
    id: u64,
    parts: u32,
    digest: Digest,
}

/// One, read.
struct Whole {
    key: Bytes,
    value: Bytes,
    parts: u32,
    digest: Digest,
}

/// The entries that are outside.
#[derive(Debug, Default)]
pub(super) struct Outside {
    places: BTreeMap<Bytes, Place>,
    next_id: u64,
    /// Over all of them.
    digest: Digest,
}

fn part_key(id: u64, part: u32) -> Bytes {
    let mut key = Vec::with_capacity(PART_KEY_BYTES);
    key.push(STORE);
    key.extend(id.to_be_bytes());
    key.extend(part.to_be_bytes());
    key.into()
}

fn id_of(part_key: &[u8]) -> Option<u64> {
    let rest = part_key.strip_prefix(&[STORE])?;
    if rest.len() + 1 == PART_KEY_BYTES { rest.first_chunk().map(|id| u64::from_be_bytes(*id)) } else { None }
}

impl Outside {
    /// Finds them in the store.
    pub(super) fn find(dir: &Path, db: &sled::Db) -> Result<Self, StoreError> {
        let mut outside = Self::default();
        while let Some((key, _)) = guard(dir, || db.range(&part_key(outside.next_id, 0)[..]..).next().transpose())? {
            let id = id_of(&key).ok_or_else(|| damaged(dir, "a part has a malformed key"))?;
            let Whole { key, parts, digest, .. } = read(dir, db, id)?;
            outside.places.insert(key, Place { id, parts, digest });
            outside.next_id = id.saturating_add(1);
            outside.digest = outside.digest.plus(digest);
        }
        Ok(outside)
    }

    /// The sum over all of them.
    pub(super) fn digest(&self) -> Digest {
        self.digest
    }

    /// Their keys, in order.
    pub(super) fn keys(&self) -> impl Iterator<Item = &Bytes> {
        self.places.keys()
    }

    /// Those of their keys that have this prefix.
    pub(super) fn keys_under(&self, prefix: &[u8]) -> Vec<Bytes> {
        let from = (Bound::Included(prefix), Bound::Unbounded);
        let keys = self.places.range::<[u8], _>(from).map(|(key, _)| key);
        keys.take_while(|key| key.starts_with(prefix)).cloned().collect()
    }

    /// The value of one.
    pub(super) fn value(&self, dir: &Path, db: &sled::Db, key: &[u8]) -> Result<Bytes, StoreError> {
        let place = self.places.get(key).ok_or_else(|| damaged(dir, "a large entry is gone"))?;
        let found = read(dir, db, place.id)?;
        if found.key == key { Ok(found.value) } else { Err(damaged(dir, "a large entry has another key")) }
    }

    /// Writes one that is not there.
    pub(super) fn put(&mut self, key: &Bytes, value: &[u8], writes: &mut Writes) {
        let id = self.next_id;
        self.next_id = id.saturating_add(1);
        let mut whole = Vec::with_capacity(LENGTHS_BYTES + key.len() + value.len());
        for len in [key.len(), value.len()] {
            whole.extend(u32::try_from(len).unwrap_or(u32::MAX).to_be_bytes());
        }
        whole.extend_from_slice(key);
        whole.extend_from_slice(value);
        let whole = Bytes::from(whole);
        let digest = Digest::of(&part_key(id, 0), &whole);
        let mut parts = 0;
        for start in (0..whole.len()).step_by(PART_BYTES) {
            let part = whole.slice(start..whole.len().min(start + PART_BYTES));
            writes.insert(part_key(id, parts), Some(part));
            parts += 1;
        }
        self.places.insert(key.clone(), Place { id, parts, digest });
        self.digest = self.digest.plus(digest);
    }

    /// Removes one, if it is there.
    pub(super) fn delete(&mut self, key: &[u8], writes: &mut Writes) {
        let Some(Place { id, parts, digest }) = self.places.remove(key) else { return };
        self.digest = self.digest.minus(digest);
        writes.extend((0..parts).map(|part| (part_key(id, part), None)));
    }
}

/// The entry of this id.
fn read(dir: &Path, db: &sled::Db, id: u64) -> Result<Whole, StoreError> {
    let mut whole = Vec::new();
    let mut parts = 0;
    let mut stored = db.range(&part_key(id, 0)[..]..=&part_key(id, u32::MAX)[..]);
    while let Some((key, part)) = guard(dir, || stored.next().transpose())? {
        if key != part_key(id, parts) {
            return Err(damaged(dir, "a part of a large entry is missing"));
        }
        whole.extend_from_slice(&part);
        parts += 1;
    }
    let digest = Digest::of(&part_key(id, 0), &whole);
    let whole = Bytes::from(whole);
    let lengths = whole.first_chunk::<LENGTHS_BYTES>().ok_or_else(|| damaged(dir, "a large entry is too short"))?;
    let [k0, k1, k2, k3, v0, v1, v2, v3] = *lengths;
    let [key_len, value_len] = [[k0, k1, k2, k3], [v0, v1, v2, v3]].map(u32::from_be_bytes);
    let [key_len, value_len] = [key_len, value_len].map(|len| usize::try_from(len).unwrap_or(usize::MAX));
    if key_len.saturating_add(value_len).saturating_add(LENGTHS_BYTES) != whole.len() {
        return Err(damaged(dir, "a large entry is not whole"));
    }
    let value_start = LENGTHS_BYTES + key_len;
    let (key, value) = (whole.slice(LENGTHS_BYTES..value_start), whole.slice(value_start..));
    Ok(Whole { key, value, parts, digest })
}
