//! The files that the writer holds open, bounded in number, and those that the next checkpoint has to sync.
//!
//! A file may have to be closed before it is synced. The checkpoint opens it again then: a sync covers what was written
//! through any handle, and Linux reports a failed write-back to the next one who opens the file (since 4.17, as long
//! as it keeps the inode), which is what `PostgreSQL` relies on too. The bound is therefore generous to the writer.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::error::LogError;
use super::partition::PartitionLog;
use crate::disk::{Disk, DiskFile, Open};

/// Files by segment number: those that are open, and those that are not but have to be synced.
pub(super) struct WriterFiles {
    disk: Arc<dyn Disk>,
    open_max: usize,
    open_count: usize,
    files: BTreeMap<u64, WriterFile>,
    clock: u64,
}

struct WriterFile {
    file: DirtyFile,
    is_dirty: bool,
    /// Whether more will be written to it.
    is_growing: bool,
    used: u64,
}

/// A file that a checkpoint has to sync.
#[derive(Clone)]
pub(super) struct DirtyFile {
    log: Arc<PartitionLog>,
    path: PathBuf,
    /// `None` if it had to be closed.
    open: Option<Arc<dyn DiskFile>>,
}

impl DirtyFile {
    pub(super) fn new(log: &Arc<PartitionLog>, path: PathBuf, file: Arc<dyn DiskFile>) -> Self {
        Self { log: Arc::clone(log), path, open: Some(file) }
    }

    pub(super) fn sync(&self, disk: &dyn Disk) -> Result<(), LogError> {
        let file = match &self.open {
            Some(file) => Arc::clone(file),
            None => match disk.open(&self.path, Open::ReadWrite) {
                // The topic was deleted since, its folder has another name.
                Err(error) if error.kind() == io::ErrorKind::NotFound && self.log.is_deleted() => return Ok(()),
                opened => opened.map_err(LogError::io("open", &self.path))?,
            },
        };
        file.sync_data().map_err(LogError::io("sync", &self.path))
    }
}

impl WriterFiles {
    pub(super) fn new(disk: Arc<dyn Disk>, open_max: usize) -> Self {
        Self { disk, open_max: open_max.max(1), open_count: 0, files: BTreeMap::new(), clock: 0 }
    }

    /// The file to append to if it is open. It is dirty from now on.
    pub(super) fn get(&mut self, id: u64) -> Option<Arc<dyn DiskFile>> {
        let known = self.files.get_mut(&id)?;
        let file = known.file.open.clone()?;
        self.clock += 1;
        known.used = self.clock;
        known.is_dirty = true;
        Some(file)
    }

    /// Opens a file to append to. It is dirty from now on.
    pub(super) fn open(
        &mut self,
        id: u64,
        log: &Arc<PartitionLog>,
        path: PathBuf,
        how: Open,
    ) -> Result<Arc<dyn DiskFile>, LogError> {
        let file = self.disk.open(&path, how).map_err(LogError::io("open", &path))?;
        self.insert(id, DirtyFile::new(log, path, Arc::clone(&file)), true);
        Ok(file)
    }

    /// Keeps a file that was written whole until the next checkpoint.
    pub(super) fn add_whole(&mut self, id: u64, file: DirtyFile) {
        self.insert(id, file, false);
    }

    /// Nothing more will be written to this one.
    pub(super) fn finish(&mut self, id: u64) {
        match self.files.get_mut(&id) {
            Some(known) if known.is_dirty => known.is_growing = false,
            _ => self.forget(id),
        }
    }

    /// The file is about to be removed; it need not be synced.
    pub(super) fn forget(&mut self, id: u64) {
        if self.files.remove(&id).is_some_and(|known| known.file.open.is_some()) {
            self.open_count -= 1;
        }
    }

    /// All that is not synced. It counts as synced from now on: if syncing fails, the process must end.
    pub(super) fn take_dirty(&mut self) -> Vec<DirtyFile> {
        let dirty = self.files.values().filter(|known| known.is_dirty).map(|known| known.file.clone()).collect();
        self.files.retain(|_, known| known.is_growing && known.file.open.is_some());
        self.files.values_mut().for_each(|known| known.is_dirty = false);
        self.open_count = self.files.len();
        dirty
    }

    fn insert(&mut self, id: u64, file: DirtyFile, is_growing: bool) {
        self.forget(id);
        if self.open_count >= self.open_max {
            self.close_oldest();
        }
        self.clock += 1;
        self.open_count += 1;
        self.files.insert(id, WriterFile { file, is_dirty: true, is_growing, used: self.clock });
    }

    fn close_oldest(&mut self) {
        let open = self.files.iter().filter(|(_, known)| known.file.open.is_some());
        let Some(id) = open.min_by_key(|(_, known)| known.used).map(|(id, _)| *id) else { return };
        match self.files.get_mut(&id) {
            Some(known) if known.is_dirty => {
                known.file.open = None;
                self.open_count -= 1;
            }
            _ => self.forget(id),
        }
    }
}
