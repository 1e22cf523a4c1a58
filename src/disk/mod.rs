//! Files, behind one small interface, so that tests can take the power away.
//!
//! Journal and partition logs reach the disk only through [`Disk`]. [`RealDisk`] is the operating system's files.
//! Positions are explicit, there is no cursor and no buffering; what is durable is said by `sync_data` and `sync_dir`.

mod real;
#[cfg(test)]
pub(crate) mod sim;

use std::io;
use std::path::Path;
use std::sync::Arc;

pub(crate) use real::RealDisk;

/// How to open a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    /// It must exist; only reads.
    Read,
    /// It must exist.
    ReadWrite,
    /// It must not exist.
    CreateNew,
}

/// One name in a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DirEntry {
    /// The name, without the directory.
    pub(crate) name: String,
    /// Whether it is a directory.
    pub(crate) is_dir: bool,
    /// The file's length in bytes; 0 for a directory.
    pub(crate) len: u64,
}

/// A disk.
pub(crate) trait Disk: Send + Sync + 'static {
    /// Opens a file. A new one is durable only after its directory is synced.
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn DiskFile>>;
    /// The names in a directory, sorted.
    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>>;
    /// Whether there is a file or directory of this name.
    fn exists(&self, path: &Path) -> io::Result<bool>;
    /// Makes a directory and those above it.
    fn create_dir_all(&self, dir: &Path) -> io::Result<()>;
    /// Gives a file or directory another name, replacing a file there.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Removes a directory and all in it.
    fn remove_dir_all(&self, dir: &Path) -> io::Result<()>;
    /// Makes the names in a directory durable.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
}

/// An open file.
pub(crate) trait DiskFile: Send + Sync {
    /// Fills `buffer` from `position`.
    fn read_exact_at(&self, buffer: &mut [u8], position: u64) -> io::Result<()>;
    /// Writes all of `bytes` at `position`, growing the file where needed.
    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()>;
    /// The length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// Cuts or grows (with zeros) to `len` bytes.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Makes content and length durable.
    fn sync_data(&self) -> io::Result<()>;
}
