//! Making the logs durable up to a point, away from the thread that writes them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Shared;
use super::error::LogError;
use super::manifest::{self, Slot};
use super::partition::PartitionLog;
use super::writer_files::DirtyFile;

/// What is to be synced and removed so that the logs are durable as they were when it was made.
///
/// Only one may exist at a time. If [`Checkpoint::run`] fails, the page cache cannot be trusted: the process must end.
#[must_use = "nothing is durable before it is run"]
pub(crate) struct Checkpoint {
    pub(super) shared: Arc<Shared>,
    pub(super) files: Vec<DirtyFile>,
    /// Partitions whose folder has new names or lost some.
    pub(super) folders: Vec<Arc<PartitionLog>>,
    pub(super) is_root_dirty: bool,
    pub(super) is_root_new: bool,
    pub(super) manifest: NewManifest,
    pub(super) doomed: Vec<Doomed>,
}

pub(super) struct NewManifest {
    pub(super) slot: Slot,
    pub(super) bytes: Vec<u8>,
}

/// Something that nobody needs any more.
pub(super) enum Doomed {
    /// A segment below the log start.
    File(PathBuf),
    /// What was a partition; its name ends with `-delete`.
    Folder(PathBuf),
}

impl Checkpoint {
    /// Syncs contents, then the names that lead to them, then stores the list of segments; at last removes what is
    /// doomed. When it returns, the state store's batch may be written.
    pub(crate) fn run(self) -> Result<(), LogError> {
        let disk = &*self.shared.disk;
        for DirtyFile { file, path } in &self.files {
            file.sync_data().map_err(LogError::io("sync", path))?;
        }
        for log in &self.folders {
            match disk.sync_dir(log.folder()) {
                // The topic was deleted since, its folder has another name.
                Err(error) if error.kind() == io::ErrorKind::NotFound && log.is_deleted() => {}
                synced => synced.map_err(LogError::io("sync", log.folder()))?,
            }
        }
        let root = &self.shared.dir;
        let path = self.manifest.slot.path(root);
        let is_new = manifest::store(disk, &path, &self.manifest.bytes).map_err(LogError::io("write", &path))?;
        if self.is_root_dirty || is_new {
            disk.sync_dir(root).map_err(LogError::io("sync", root))?;
        }
        if self.is_root_new {
            let parent = parent_of(root);
            disk.sync_dir(parent).map_err(LogError::io("sync", parent))?;
        }
        for doomed in &self.doomed {
            match doomed {
                Doomed::File(path) => removed(disk.remove_file(path), path)?,
                Doomed::Folder(path) => removed(disk.remove_dir_all(path), path)?,
            }
        }
        Ok(())
    }
}

fn parent_of(dir: &Path) -> &Path {
    match dir.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// It is as good if it is gone already: with its folder, or by a removal before a crash.
fn removed(outcome: io::Result<()>, path: &Path) -> Result<(), LogError> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        outcome => outcome.map_err(LogError::io("remove", path)),
    }
}
