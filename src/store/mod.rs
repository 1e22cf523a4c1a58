//! The state store: the last value of each key as of a checkpoint, and the data directory it lives in.
//!
//! [`keys`] and [`envelope`] say what is stored, [`SledStore`] keeps it on disk and [`MemStore`] in memory. The format
//! is described byte by byte in `migrations/README.md`.

#[cfg(test)]
mod conformance;
pub(crate) mod envelope;
mod error;
mod format;
pub(crate) mod keys;
#[cfg(test)]
mod measure;
#[cfg(test)]
mod mem;
mod migrate;
mod sled;

use bytes::Bytes;

pub(crate) use self::error::StoreError;
pub(crate) use self::format::DataDir;
pub(crate) use self::keys::Key;
#[cfg(test)]
pub(crate) use self::mem::MemStore;
pub(crate) use self::sled::SledStore;

use crate::types::Lsn;

/// One change of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// The key has this value.
    Put { key: Bytes, value: Bytes },
    /// The key is gone.
    Delete { key: Bytes },
    /// All keys with this prefix are gone. Comes before any put under the prefix.
    DeletePrefix { prefix: Bytes },
}

/// Takes a key and its value while a store is loaded.
pub(crate) type Visit<'a> = &'a mut dyn FnMut(&[u8], &[u8]) -> Result<(), StoreError>;

/// A state store. Keys and values are bytes of any length; that of [`Key::Checkpoint`] is the store's own.
pub(crate) trait StateStore: Send {
    /// Up to which change the store is complete, 0 if there never was a checkpoint.
    fn checkpoint_lsn(&mut self) -> Result<Lsn, StoreError>;

    /// Shows every key with its value, in order of key, but for the checkpoint's; says up to which change they are
    /// complete, 0 if there never was a checkpoint.
    fn load(&mut self, visit: Visit<'_>) -> Result<Lsn, StoreError>;

    /// Applies the changes in order, all or none. When it returns they are durable, and `lsn` is what the next load
    /// says. After an error it is unknown whether they were applied, and every later call fails.
    fn checkpoint(&mut self, lsn: Lsn, changes: &[Change]) -> Result<(), StoreError>;
}
