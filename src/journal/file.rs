//! The journal's folder: files named by sequence, and spare ones that wait to be used again.
//!
//! A file's sequence number is its generation: each frame carries it and seeds its checksums with it. So a spare file
//! needs no zero-fill: under a new, higher number none of its old frames is valid.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{JournalError, Options};
use crate::disk::{Disk, DiskFile, Open};
use crate::types::Lsn;

const LIVE: &str = ".journal";
const SPARE: &str = ".spare";
/// Spare files kept; more are removed.
const MAX_SPARES: usize = 2;

/// A file that holds frames, or is about to.
pub(super) struct JournalFile {
    /// Its place in the order of files, and the generation of its frames.
    pub(super) sequence: u64,
    /// Its path.
    pub(super) path: PathBuf,
    /// The file.
    pub(super) file: Arc<dyn DiskFile>,
    /// The last entry in it; 0 if there is none.
    pub(super) last: Lsn,
    /// Where its frames end.
    pub(super) used: u64,
}

impl JournalFile {
    /// Makes its content durable.
    pub(super) fn sync(&self) -> Result<(), JournalError> {
        self.file.sync_data().map_err(JournalError::io("sync", &self.path))
    }

    /// Writes at a place.
    pub(super) fn write(&self, bytes: &[u8], position: u64) -> Result<(), JournalError> {
        self.file.write_all_at(bytes, position).map_err(JournalError::io("write", &self.path))
    }

    /// Reads `len` bytes from a place.
    pub(super) fn read(&self, position: u64, len: usize) -> Result<Vec<u8>, JournalError> {
        let mut bytes = vec![0; len];
        self.file.read_exact_at(&mut bytes, position).map_err(JournalError::io("read", &self.path))?;
        Ok(bytes)
    }

    /// Its length.
    pub(super) fn len(&self) -> Result<u64, JournalError> {
        self.file.len().map_err(JournalError::io("measure", &self.path))
    }
}

/// The folder.
pub(super) struct Folder {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    file_bytes: u64,
    spares: Vec<u64>,
    next_sequence: u64,
}

fn live_name(sequence: u64) -> String {
    format!("{sequence:020}{LIVE}")
}

fn spare_name(sequence: u64) -> String {
    format!("{sequence:020}{SPARE}")
}

fn sequence_of(name: &str, kind: &str) -> Option<u64> {
    let digits = name.strip_suffix(kind)?;
    let is_number = digits.len() == 20 && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { digits.parse().ok() } else { None }
}

impl Folder {
    /// Looks into the folder and opens the files that may hold frames, in order of sequence. Changes nothing.
    pub(super) fn open(options: &Options) -> Result<(Self, Vec<JournalFile>), JournalError> {
        let Options { disk, dir, file_bytes } = options.clone();
        let mut folder = Self { disk, dir, file_bytes, spares: Vec::new(), next_sequence: 1 };
        let mut sequences = Vec::new();
        if folder.disk.exists(&folder.dir).map_err(JournalError::io("look for", &folder.dir))? {
            for entry in folder.disk.list(&folder.dir).map_err(JournalError::io("list", &folder.dir))? {
                sequences.extend(sequence_of(&entry.name, LIVE));
                folder.spares.extend(sequence_of(&entry.name, SPARE));
            }
        }
        sequences.sort_unstable();
        // Above every number in use, spare files' too: what a file holds is of its own generation or an older one.
        let highest = sequences.iter().chain(&folder.spares).max();
        folder.next_sequence = highest.map_or(1, |sequence| sequence.saturating_add(1));
        let files = sequences.into_iter().map(|sequence| folder.open_file(sequence, Open::ReadWrite));
        let files = files.collect::<Result<_, _>>()?;
        Ok((folder, files))
    }

    fn open_file(&self, sequence: u64, how: Open) -> Result<JournalFile, JournalError> {
        let path = self.dir.join(live_name(sequence));
        let file = self.disk.open(&path, how).map_err(JournalError::io("open", &path))?;
        Ok(JournalFile { sequence, path, file, last: Lsn(0), used: 0 })
    }

    /// The name that the next file gets.
    pub(super) fn next_name(&self) -> String {
        live_name(self.next_sequence)
    }

    /// Makes sure that the folder is there and its names are durable.
    pub(super) fn settle(&self) -> Result<(), JournalError> {
        self.disk.create_dir_all(&self.dir).map_err(JournalError::io("create", &self.dir))?;
        self.sync_names(&self.dir)?;
        let parent = self.dir.parent().filter(|parent| !parent.as_os_str().is_empty());
        self.sync_names(parent.unwrap_or(Path::new(".")))
    }

    fn sync_names(&self, dir: &Path) -> Result<(), JournalError> {
        self.disk.sync_dir(dir).map_err(JournalError::io("sync", dir))
    }

    /// Begins the next file. Its name is durable before it holds anything.
    pub(super) fn begin(&mut self) -> Result<JournalFile, JournalError> {
        let sequence = self.next_sequence;
        self.next_sequence = sequence.saturating_add(1);
        let file = if let Some(spare) = self.spares.pop() {
            let from = self.dir.join(spare_name(spare));
            let to = self.dir.join(live_name(sequence));
            self.disk.rename(&from, &to).map_err(JournalError::io("rename", &from))?;
            self.open_file(sequence, Open::ReadWrite)?
        } else {
            self.open_file(sequence, Open::CreateNew)?
        };
        self.sync_names(&self.dir)?;
        Ok(file)
    }

    /// Takes a file whose entries nobody needs. Not synced: if it is back after a power loss, it is still not needed.
    pub(super) fn retire(&mut self, file: JournalFile) -> Result<(), JournalError> {
        let len = file.len()?;
        let is_of_use = self.file_bytes / 2 <= len && len <= self.file_bytes.saturating_mul(2);
        let JournalFile { sequence, path, .. } = file;
        if is_of_use && self.spares.len() < MAX_SPARES {
            let spare = self.dir.join(spare_name(sequence));
            self.disk.rename(&path, &spare).map_err(JournalError::io("rename", &path))?;
            self.spares.push(sequence);
        } else {
            self.disk.remove_file(&path).map_err(JournalError::io("remove", &path))?;
        }
        while self.spares.len() > MAX_SPARES {
            let Some(sequence) = self.spares.pop() else { break };
            let spare = self.dir.join(spare_name(sequence));
            self.disk.remove_file(&spare).map_err(JournalError::io("remove", &spare))?;
        }
        Ok(())
    }

    /// Whether another frame belongs into a file; an empty file takes any.
    pub(super) fn has_room(&self, used: u64, frame_bytes: u64) -> bool {
        used == 0 || used.saturating_add(frame_bytes) <= self.file_bytes
    }
}
