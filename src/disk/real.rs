//! The operating system's files.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use super::{DirEntry, Disk, DiskFile, Open};

/// The disk of this machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RealDisk {
    is_synced: bool,
}

impl RealDisk {
    /// What is synced survives a power loss.
    pub(crate) const fn new() -> Self {
        Self { is_synced: true }
    }

    /// Syncing does nothing: for data that goes at exit anyway.
    pub(crate) const fn without_sync() -> Self {
        Self { is_synced: false }
    }
}

/// An open file of it.
struct RealFile {
    file: File,
    is_synced: bool,
}

impl Disk for RealDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.read(true);
        match how {
            Open::Read => {}
            Open::ReadWrite => {
                options.write(true);
            }
            Open::CreateNew => {
                options.write(true).create_new(true);
            }
        }
        Ok(Arc::new(RealFile { file: options.open(path)?, is_synced: self.is_synced }))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            let is_dir = metadata.is_dir();
            let name = entry.file_name().to_string_lossy().into_owned();
            entries.push(DirEntry { name, is_dir, len: if is_dir { 0 } else { metadata.len() } });
        }
        entries.sort();
        Ok(entries)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        path.try_exists()
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        fs::create_dir_all(dir)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir_all(&self, dir: &Path) -> io::Result<()> {
        fs::remove_dir_all(dir)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        if self.is_synced { File::open(dir)?.sync_all() } else { Ok(()) }
    }
}

impl DiskFile for RealFile {
    fn read_exact_at(&self, buffer: &mut [u8], position: u64) -> io::Result<()> {
        self.file.read_exact_at(buffer, position)
    }

    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, position)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        if self.is_synced { self.file.sync_data() } else { Ok(()) }
    }
}
