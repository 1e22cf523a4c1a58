//! The files that the writer holds open, bounded in number.
//!
//! A file with bytes that are not synced is synced before it is closed: the error of a failed write-back is reported
//! to open files only, so closing such a file could lose the news.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::error::LogError;
use crate::disk::{Disk, DiskFile, Open};

/// Open files by segment number.
pub(super) struct WriterFiles {
    disk: Arc<dyn Disk>,
    count_max: usize,
    files: BTreeMap<u64, WriterFile>,
    clock: u64,
}

struct WriterFile {
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    is_dirty: bool,
    /// Whether more will be written to it.
    is_growing: bool,
    used: u64,
}

/// A file that a checkpoint has to sync.
pub(super) struct DirtyFile {
    pub(super) file: Arc<dyn DiskFile>,
    pub(super) path: PathBuf,
}

impl WriterFiles {
    pub(super) fn new(disk: Arc<dyn Disk>, count_max: usize) -> Self {
        Self { disk, count_max: count_max.max(1), files: BTreeMap::new(), clock: 0 }
    }

    /// The file to append to if it is open. It is dirty from now on.
    pub(super) fn get(&mut self, id: u64) -> Option<Arc<dyn DiskFile>> {
        let open = self.files.get_mut(&id)?;
        self.clock += 1;
        open.used = self.clock;
        open.is_dirty = true;
        Some(Arc::clone(&open.file))
    }

    /// Opens a file to append to. It is dirty from now on.
    pub(super) fn open(&mut self, id: u64, path: PathBuf, how: Open) -> Result<Arc<dyn DiskFile>, LogError> {
        let file = self.disk.open(&path, how).map_err(LogError::io("open", &path))?;
        self.insert(id, path, Arc::clone(&file), true)?;
        Ok(file)
    }

    /// Keeps a file that is written whole until the next checkpoint.
    pub(super) fn add_whole(&mut self, id: u64, path: PathBuf, file: Arc<dyn DiskFile>) -> Result<(), LogError> {
        self.insert(id, path, file, false)
    }

    /// Nothing more will be written to this one.
    pub(super) fn close(&mut self, id: u64) {
        if let Some(open) = self.files.get_mut(&id) {
            open.is_growing = false;
        }
    }

    /// The file is about to be removed; it need not be synced.
    pub(super) fn forget(&mut self, id: u64) {
        self.files.remove(&id);
    }

    /// All that is not synced. It counts as synced from now on: if syncing fails, the process must end.
    pub(super) fn take_dirty(&mut self) -> Vec<DirtyFile> {
        let mut dirty = Vec::new();
        for open in self.files.values_mut().filter(|open| open.is_dirty) {
            open.is_dirty = false;
            dirty.push(DirtyFile { file: Arc::clone(&open.file), path: open.path.clone() });
        }
        self.files.retain(|_, open| open.is_growing);
        dirty
    }

    fn insert(&mut self, id: u64, path: PathBuf, file: Arc<dyn DiskFile>, is_growing: bool) -> Result<(), LogError> {
        if self.files.len() >= self.count_max {
            self.close_oldest()?;
        }
        self.clock += 1;
        self.files.insert(id, WriterFile { file, path, is_dirty: true, is_growing, used: self.clock });
        Ok(())
    }

    fn close_oldest(&mut self) -> Result<(), LogError> {
        let Some(id) = self.files.iter().min_by_key(|(_, open)| open.used).map(|(id, _)| *id) else {
            return Ok(());
        };
        if let Some(open) = self.files.remove(&id).filter(|open| open.is_dirty) {
            open.file.sync_data().map_err(LogError::io("sync", &open.path))?;
        }
        Ok(())
    }
}
