//! The state store on disk, in sled 0.34.7, used in the one way that was found to be safe.
//!
//! - A checkpoint is exactly one `apply_batch` on one tree, then `flush`, then a sync of our own: sled's flush does not
//!   reach the disk by itself, and sled re-uses the only durable copy of something when several batches pass between
//!   two syncs.
//! - No background flusher (it swallows errors of its syncs), no `flush_async` (deadlocks), no compression.
//! - A left-over `snap.*.generating` would stop sled from opening for ever; it is deleted while our lock is held.
//! - What sled creates is synced, names included, before anything rests on it, and once more before it is read again.
//! - Entries are kept in pages ([`pages`]), since sled is slow with many small ones. Values that are large and keys that
//!   are long are cut into parts ([`outside`]), so that no node of the tree ever outgrows its segment: sled would put such
//!   a node into a file of its own, which it neither syncs nor keeps until the node that replaces it is durable.
//! - A sum over all that is stored goes with each checkpoint ([`digest`]): sled may lose a segment without a word.
//! - After the first error the handle is dead.

mod digest;
mod outside;
mod pages;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use bytes::Bytes;

use self::digest::Digest;
use self::outside::Outside;
use self::pages::{Edits, Pages};
use super::keys::STORE;
use super::{Change, DataDir, Key, StateStore, StoreError, Visit, envelope};
use crate::types::Lsn;

/// sled only scans once and is then written to; this is enough for that.
const CACHE_BYTES: u64 = 32 << 20;
/// Where the checkpoint's value lies: before the parts of large entries.
const CHECKPOINT_AT: [u8; 1] = [STORE];
/// The version of that value, which is the digest.
const CHECKPOINT_VERSION: u16 = 1;

/// A change of one of sled's own keys; `None` removes it.
type Writes = BTreeMap<Bytes, Option<Bytes>>;

/// The state store of a data directory.
pub(crate) struct SledStore {
    dir: PathBuf,
    db: sled::Db,
    /// Our own handle to sled's file, to sync it. Dropped after `db`.
    file: Handle,
    pages: Pages,
    outside: Outside,
    /// The last checkpoint.
    lsn: Lsn,
    dead: bool,
}

impl SledStore {
    /// Opens the store of a data directory, which holds the lock.
    pub(crate) fn open(data: &DataDir) -> Result<Self, StoreError> {
        let dir = data.store_dir();
        if dir.try_exists().map_err(StoreError::io("look for", &dir))? {
            remove_half_snapshots(&dir)?;
            // sled writes a snapshot of what it reads here; nothing in that may still be lost.
            sync_all(&dir)?;
        }
        let config = sled::Config::new()
            .path(&dir)
            .cache_capacity(CACHE_BYTES)
            .flush_every_ms(None)
            .use_compression(false)
            .mode(sled::Mode::HighThroughput);
        let db = guard(&dir, || config.open())?;
        sync_all(&dir)?;
        sync_file(data.path())?;
        let path = dir.join("db");
        let file = File::options().read(true).write(true).open(&path).map_err(StoreError::io("open", &path))?;
        let pages = Pages::find(&dir, &db)?;
        let outside = Outside::find(&dir, &db)?;
        let (lsn, digest) = last_checkpoint(&dir, &db)?;
        if digest != pages.digest().plus(outside.digest()) {
            return Err(damaged(&dir, "what is in it is not what the last checkpoint has stored"));
        }
        Ok(Self { dir, db, file: Handle { file, waits: true }, pages, outside, lsn, dead: false })
    }

    /// What sled is to write for the changes and the checkpoint's key.
    fn writes(&mut self, lsn: Lsn, changes: &[Change]) -> Result<Writes, StoreError> {
        let checkpoint = Key::Checkpoint.encode();
        let (mut edits, mut writes) = (Edits::new(), Writes::new());
        for change in changes {
            match change {
                Change::Put { key, .. } if *key == checkpoint => {}
                Change::Put { key, value } => {
                    self.delete(key, &mut edits, &mut writes);
                    if outside::fits_inside(key, value.len()) {
                        edits.insert(key.clone(), Some(value.clone()));
                    } else {
                        self.outside.put(key, value, &mut writes);
                    }
                }
                Change::Delete { key } => self.delete(key, &mut edits, &mut writes),
                Change::DeletePrefix { prefix } => {
                    for key in self.keys_under(prefix, &edits)? {
                        self.delete(&key, &mut edits, &mut writes);
                    }
                }
            }
        }
        self.pages.edit(&self.dir, &self.db, edits, &mut writes)?;
        let digest = self.pages.digest().plus(self.outside.digest());
        let value = envelope::encode(&checkpoint, Key::Checkpoint.record_type(), CHECKPOINT_VERSION, lsn, &digest.0);
        writes.insert(Bytes::copy_from_slice(&CHECKPOINT_AT), Some(value));
        Ok(writes)
    }

    fn delete(&mut self, key: &Bytes, edits: &mut Edits, writes: &mut Writes) {
        self.outside.delete(key, writes);
        if outside::fits_inside(key, 0) {
            edits.insert(key.clone(), None);
        }
    }

    /// Every key with this prefix, in a page, among the edits so far, or outside.
    fn keys_under(&self, prefix: &Bytes, edits: &Edits) -> Result<Vec<Bytes>, StoreError> {
        let mut keys = self.outside.keys_under(prefix);
        let edited = edits.range(prefix.clone()..).map(|(key, _)| key);
        keys.extend(edited.take_while(|key| key.starts_with(prefix)).cloned());
        keys.extend(self.pages.keys_under(&self.dir, &self.db, prefix)?);
        Ok(keys)
    }

    fn apply(&mut self, lsn: Lsn, changes: &[Change]) -> Result<(), StoreError> {
        let mut batch = sled::Batch::default();
        for (key, value) in self.writes(lsn, changes)? {
            match value {
                Some(value) => batch.insert(&key[..], &value[..]),
                None => batch.remove(&key[..]),
            }
        }
        guard(&self.dir, || self.db.apply_batch(batch))?;
        guard(&self.dir, || self.db.flush())?;
        self.file.file.sync_data().map_err(StoreError::io("sync", &self.dir.join("db")))?;
        self.lsn = lsn;
        Ok(())
    }

    fn show(&self, visit: Visit<'_>) -> Result<Lsn, StoreError> {
        let mut outside = self.outside.keys().peekable();
        let mut stored = self.db.range(..&[STORE][..]).values();
        while let Some(page) = guard(&self.dir, || stored.next().transpose())? {
            for (key, value) in pages::decode(&self.dir, &page)? {
                while let Some(key) = outside.next_if(|outside| outside[..] < *key) {
                    visit(key, &self.outside.value(&self.dir, &self.db, key)?)?;
                }
                visit(key, value)?;
            }
        }
        for key in outside {
            visit(key, &self.outside.value(&self.dir, &self.db, key)?)?;
        }
        Ok(self.lsn)
    }
}

impl StateStore for SledStore {
    fn checkpoint_lsn(&mut self) -> Result<Lsn, StoreError> {
        if self.dead { Err(StoreError::Dead) } else { Ok(self.lsn) }
    }

    fn load(&mut self, visit: Visit<'_>) -> Result<Lsn, StoreError> {
        if self.dead { Err(StoreError::Dead) } else { self.show(visit) }
    }

    fn checkpoint(&mut self, lsn: Lsn, changes: &[Change]) -> Result<(), StoreError> {
        if self.dead {
            return Err(StoreError::Dead);
        }
        let outcome = self.apply(lsn, changes);
        self.dead = outcome.is_err();
        self.file.waits = !self.dead;
        outcome
    }
}

/// The last checkpoint, and the digest of what is stored as of it.
fn last_checkpoint(dir: &Path, db: &sled::Db) -> Result<(Lsn, Digest), StoreError> {
    let Some(value) = guard(dir, || db.get(CHECKPOINT_AT))? else { return Ok((Lsn(0), Digest::default())) };
    let key = Key::Checkpoint.encode();
    let value = envelope::decode(&key, &value)?;
    Ok((value.lsn, Digest(value.payload(CHECKPOINT_VERSION)?)))
}

/// Our own handle to sled's file.
struct Handle {
    file: File,
    /// Whether to wait, when dropped, until sled has let go of the file: its threads may still hold it, locked, for a
    /// moment after the last handle to the database is gone, and then the next [`SledStore::open`] of this process would
    /// be refused. Not after a failure, which may have ended a thread of sled's with the file in its hands.
    waits: bool,
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.waits {
            let _ = self.file.lock();
        }
    }
}

fn damaged(dir: &Path, what: &str) -> StoreError {
    StoreError::Damaged { path: dir.to_owned(), what: what.to_owned() }
}

/// Calls into sled, which may answer damage with a panic.
fn guard<T>(dir: &Path, call: impl FnOnce() -> sled::Result<T>) -> Result<T, StoreError> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(sled::Error::Io(source))) => Err(StoreError::io("use", dir)(source)),
        Ok(Err(error)) => Err(damaged(dir, &error.to_string())),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied());
            Err(damaged(dir, text.unwrap_or("sled panicked")))
        }
    }
}

/// Removes what a crash while sled was opening has left.
fn remove_half_snapshots(dir: &Path) -> Result<(), StoreError> {
    for entry in fs::read_dir(dir).map_err(StoreError::io("list", dir))? {
        let entry = entry.map_err(StoreError::io("list", dir))?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("snap.") && name.ends_with(".generating") {
            let path = entry.path();
            fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
        }
    }
    Ok(())
}

/// Syncs every file under a directory, and the directories themselves.
fn sync_all(dir: &Path) -> Result<(), StoreError> {
    for entry in fs::read_dir(dir).map_err(StoreError::io("list", dir))? {
        let path = entry.map_err(StoreError::io("list", dir))?.path();
        if path.is_dir() {
            sync_all(&path)?;
        } else {
            sync_file(&path)?;
        }
    }
    sync_file(dir)
}

/// Syncs a file or a directory.
fn sync_file(path: &Path) -> Result<(), StoreError> {
    let synced: io::Result<()> = File::open(path).and_then(|file| file.sync_all());
    synced.map_err(StoreError::io("sync", path))
}
