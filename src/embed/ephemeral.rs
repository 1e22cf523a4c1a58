//! Temporary data directories: made for one server, removed with it, swept up if their server was killed.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::StartError;
use crate::store::DataDir;

const PREFIX: &str = "streamkeeper-ephemeral-";

/// Makes a temporary data directory. Those that servers now dead have left behind are removed first.
pub(super) fn make() -> Result<TempDir, StartError> {
    let parent = std::env::temp_dir();
    sweep(&parent);
    tempfile::Builder::new()
        .prefix(PREFIX)
        .tempdir_in(&parent)
        .map_err(|source| StartError::TemporaryFolder { parent, source })
}

/// Best effort: a folder that cannot be looked at or removed is somebody else's.
fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if is_ours && DataDir::is_abandoned(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
