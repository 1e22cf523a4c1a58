//! Entries in pages: neighbours lie together under one of sled's keys.
//!
//! sled keeps at most 16 entries in a leaf and spends hundreds of bytes on each of its own, which makes a load of a
//! million small records take many seconds; with pages it has a tenth of the entries. A page holds the entries from its
//! bound, which is its key in sled, up to the next page's bound. Its bytes are the entries in order, each as
//! `key length u16 | value length u16 | key | value`, numbers big-endian.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::Path;

use bytes::Bytes;

use super::digest::Digest;
use super::{STORE, StoreError, Writes, damaged, guard};

/// Where a page is split; one that is larger has a single entry.
const PAGE_BYTES: usize = 2048;
const LENGTHS_BYTES: usize = 4;

/// New values of keys; `None` deletes.
pub(super) type Edits = BTreeMap<Bytes, Option<Bytes>>;
type Entries = BTreeMap<Bytes, Bytes>;
/// An entry in a page: key and value.
type Pair<'a> = (&'a [u8], &'a [u8]);

/// Where the pages begin.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Pages {
    bounds: BTreeSet<Bytes>,
    /// Over all of them.
    digest: Digest,
}

impl Pages {
    /// Finds them in the store.
    pub(super) fn find(dir: &Path, db: &sled::Db) -> Result<Self, StoreError> {
        let mut pages = Self::default();
        let mut stored = db.range(..&[STORE][..]);
        while let Some((bound, page)) = guard(dir, || stored.next().transpose())? {
            pages.digest = pages.digest.plus(Digest::of(&bound, &page));
            pages.bounds.insert(Bytes::copy_from_slice(&bound));
        }
        Ok(pages)
    }

    /// The sum over all pages.
    pub(super) fn digest(&self) -> Digest {
        self.digest
    }

    /// Every key with this prefix.
    pub(super) fn keys_under(&self, dir: &Path, db: &sled::Db, prefix: &Bytes) -> Result<Vec<Bytes>, StoreError> {
        let first = self.bounds.range(..=prefix.clone()).next_back().unwrap_or(prefix);
        let mut keys = Vec::new();
        for bound in self.bounds.range(first.clone()..) {
            if bound > prefix && !bound.starts_with(prefix) {
                break;
            }
            let page = read(dir, db, bound)?;
            keys.extend(entries(dir, &page)?.into_keys().filter(|key| key.starts_with(prefix)));
        }
        Ok(keys)
    }

    /// Puts the edits into their pages.
    pub(super) fn edit(
        &mut self,
        dir: &Path,
        db: &sled::Db,
        edits: Edits,
        writes: &mut Writes,
    ) -> Result<(), StoreError> {
        let mut edits = edits.into_iter().peekable();
        while let Some((key, _)) = edits.peek() {
            // What comes before all pages goes into the first.
            let bound = self.bounds.range(..=key.clone()).next_back().or(self.bounds.first()).cloned();
            let page = bound.as_ref().map_or(Ok(Bytes::new()), |bound| read(dir, db, bound))?;
            let mut entries = entries(dir, &page)?;
            let next = bound.as_ref().and_then(|bound| self.next_bound(bound));
            let mut is_changed = false;
            while let Some((key, value)) = edits.next_if(|(key, _)| next.as_ref().is_none_or(|next| key < next)) {
                is_changed |= match value {
                    Some(value) => entries.insert(key, value.clone()).as_ref() != Some(&value),
                    None => entries.remove(&key).is_some(),
                };
            }
            if is_changed {
                if let Some(bound) = &bound {
                    self.digest = self.digest.minus(Digest::of(bound, &page));
                }
                self.replace(bound, &entries, writes);
            }
        }
        Ok(())
    }

    fn next_bound(&self, bound: &Bytes) -> Option<Bytes> {
        self.bounds.range((Bound::Excluded(bound.clone()), Bound::Unbounded)).next().cloned()
    }

    /// Writes a page anew, as several if it has grown. It keeps its bound if that is not above its first entry.
    fn replace(&mut self, old_bound: Option<Bytes>, entries: &Entries, writes: &mut Writes) {
        let mut keeps_bound = false;
        for (index, piece) in split(entries).iter().enumerate() {
            let Some((first, _)) = piece.first() else { continue };
            let kept = old_bound.as_ref().filter(|bound| index == 0 && bound <= first);
            let bound = kept.unwrap_or(first);
            keeps_bound |= Some(bound) == old_bound.as_ref();
            let page = encode(piece);
            self.digest = self.digest.plus(Digest::of(bound, &page));
            self.bounds.insert(bound.clone());
            writes.insert(bound.clone(), Some(page));
        }
        if let Some(bound) = old_bound.filter(|_| !keeps_bound) {
            self.bounds.remove(&bound);
            writes.insert(bound, None);
        }
    }
}

type Entry<'a> = (&'a Bytes, &'a Bytes);

fn entry_bytes((key, value): Entry<'_>) -> usize {
    LENGTHS_BYTES + key.len() + value.len()
}

/// Cuts entries into pages of about the same size.
fn split(entries: &Entries) -> Vec<Vec<Entry<'_>>> {
    let bytes: usize = entries.iter().map(entry_bytes).sum();
    let aim = bytes / bytes.div_ceil(PAGE_BYTES).max(1);
    let (mut pieces, mut piece, mut piece_bytes) = (Vec::new(), Vec::new(), 0);
    for entry in entries {
        let is_full = piece_bytes >= aim || piece_bytes + entry_bytes(entry) > PAGE_BYTES;
        if is_full && !piece.is_empty() {
            pieces.push(std::mem::take(&mut piece));
            piece_bytes = 0;
        }
        piece_bytes += entry_bytes(entry);
        piece.push(entry);
    }
    pieces.push(piece);
    pieces
}

fn encode(entries: &[Entry<'_>]) -> Bytes {
    let mut out = Vec::with_capacity(entries.iter().copied().map(entry_bytes).sum());
    for (key, value) in entries {
        for len in [key.len(), value.len()] {
            out.extend(u16::try_from(len).unwrap_or(u16::MAX).to_be_bytes());
        }
        out.extend_from_slice(key);
        out.extend_from_slice(value);
    }
    out.into()
}

/// Takes a page apart.
pub(super) fn decode<'a>(dir: &Path, page: &'a [u8]) -> Result<Vec<Pair<'a>>, StoreError> {
    let mut entries = Vec::new();
    let mut rest = page;
    while !rest.is_empty() {
        let (entry, after) = decode_one(rest).ok_or_else(|| damaged(dir, "a page is malformed"))?;
        entries.push(entry);
        rest = after;
    }
    Ok(entries)
}

fn decode_one(page: &[u8]) -> Option<(Pair<'_>, &[u8])> {
    let ([k0, k1, v0, v1], rest) = page.split_first_chunk::<LENGTHS_BYTES>()?;
    let (key, rest) = rest.split_at_checked(u16::from_be_bytes([*k0, *k1]).into())?;
    let (value, rest) = rest.split_at_checked(u16::from_be_bytes([*v0, *v1]).into())?;
    Some(((key, value), rest))
}

fn read(dir: &Path, db: &sled::Db, bound: &[u8]) -> Result<Bytes, StoreError> {
    let page = guard(dir, || db.get(bound))?.ok_or_else(|| damaged(dir, "a page is gone"))?;
    Ok(Bytes::copy_from_slice(&page))
}

fn entries(dir: &Path, page: &Bytes) -> Result<Entries, StoreError> {
    let entries = decode(dir, page)?;
    Ok(entries.into_iter().map(|(key, value)| (page.slice_ref(key), page.slice_ref(value))).collect())
}
