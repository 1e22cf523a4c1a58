//! One segment: a run of batches in one file, and where in it what is.
//!
//! A segment grows (one per partition, the last) or is closed. Its index is in memory while it grows and in a file
//! after that. After a restart the index of the growing one is not known; it is built when first needed, so that a
//! start reads no batches.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, RwLock};

use tracing::warn;

use super::batch::{BatchSpan, HEADER_BYTES};
use super::error::LogError;
use super::facts::SegmentFacts;
use super::index::{self, INDEX_HEADER_BYTES, IndexEntry, ScanEnd};
use super::names::{FileKind, file_path};
use super::{Shared, lock, read, write};
use crate::disk::{DiskFile, Open};
use crate::types::{Offset, TimestampMs};

/// A small index counts for at least this in the cache, so that their number is bounded too.
const INDEX_WEIGHT_MIN: usize = 4096;

/// A segment, shared by the writer and the readers.
pub(super) struct Segment {
    /// Names it in the caches; never used twice while the process lives.
    pub(super) id: u64,
    base_offset: Offset,
    state: RwLock<State>,
    /// Held while an index is loaded or built, so that only one thread does it.
    loading: Mutex<()>,
}

struct State {
    facts: SegmentFacts,
    is_closed: bool,
    /// The index while the segment grows.
    entries: Vec<IndexEntry>,
    /// The entries know nothing of what comes before this place.
    entries_from: ScanEnd,
}

/// Where a segment's files are and what opens them.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) shared: &'a Shared,
    pub(super) folder: &'a Path,
}

impl Segment {
    /// A segment that grows from nothing.
    pub(super) fn new(id: u64, base_offset: Offset) -> Self {
        let start = ScanEnd { offset: base_offset, bytes: 0 };
        Self::with(id, SegmentFacts::empty(base_offset), false, Vec::new(), start)
    }

    /// A closed segment as found.
    pub(super) fn closed(id: u64, facts: SegmentFacts) -> Self {
        let start = ScanEnd { offset: facts.base_offset, bytes: 0 };
        Self::with(id, facts, true, Vec::new(), start)
    }

    /// A segment as found that goes on growing; its index is known only if it was built on the way.
    pub(super) fn growing(id: u64, facts: SegmentFacts, entries: Option<Vec<IndexEntry>>) -> Self {
        let entries_from = match entries {
            Some(_) => ScanEnd { offset: facts.base_offset, bytes: 0 },
            None => ScanEnd { offset: facts.next_offset, bytes: facts.bytes },
        };
        Self::with(id, facts, false, entries.unwrap_or_default(), entries_from)
    }

    fn with(id: u64, facts: SegmentFacts, is_closed: bool, entries: Vec<IndexEntry>, entries_from: ScanEnd) -> Self {
        let state = State { facts, is_closed, entries, entries_from };
        Self { id, base_offset: facts.base_offset, state: RwLock::new(state), loading: Mutex::new(()) }
    }

    pub(super) fn base_offset(&self) -> Offset {
        self.base_offset
    }

    /// What it holds now.
    pub(super) fn facts(&self) -> SegmentFacts {
        read(&self.state).facts
    }

    pub(super) fn log_path(&self, folder: &Path) -> PathBuf {
        file_path(folder, self.base_offset, FileKind::Log)
    }

    pub(super) fn index_path(&self, folder: &Path) -> PathBuf {
        file_path(folder, self.base_offset, FileKind::Index)
    }

    /// Counts a batch whose bytes are written. Only the writer calls this.
    pub(super) fn note_written(&self, batch: &BatchSpan, index_interval_bytes: u32) {
        let mut guard = write(&self.state);
        let state = &mut *guard;
        index::note_batch(&mut state.entries, &state.facts, batch, index_interval_bytes);
        state.facts.add(batch);
    }

    /// The index file's content, if all of the index is known.
    pub(super) fn encoded_index(&self) -> Option<Vec<u8>> {
        let state = read(&self.state);
        (state.entries_from.bytes == 0).then(|| index::encode(&state.facts, &state.entries))
    }

    /// From here on the index is a matter of the file, which was written before if it could be.
    pub(super) fn close(&self, shared: &Shared) {
        let mut state = write(&self.state);
        state.is_closed = true;
        let entries = std::mem::take(&mut state.entries);
        if state.entries_from.bytes == 0 {
            keep(shared, self.id, entries.into());
        }
    }

    /// The file, for reading.
    pub(super) fn open(&self, place: Place<'_>) -> Result<Arc<dyn DiskFile>, LogError> {
        if let Some(file) = place.shared.files.get(self.id) {
            return Ok(file);
        }
        let path = self.log_path(place.folder);
        let file = place.shared.disk.open(&path, Open::Read).map_err(LogError::io("open", &path))?;
        place.shared.files.insert(self.id, Arc::clone(&file), 1);
        Ok(file)
    }

    /// Where to start looking for an offset in it.
    pub(super) fn floor_of_offset(&self, place: Place<'_>, offset: Offset) -> Result<IndexEntry, LogError> {
        self.find(place, |entries| index::floor_of_offset(entries, self.base_offset, offset))
    }

    /// Where to start looking for the first batch that reaches a timestamp.
    pub(super) fn floor_of_timestamp(&self, place: Place<'_>, timestamp: TimestampMs) -> Result<IndexEntry, LogError> {
        self.find(place, |entries| index::floor_of_timestamp(entries, timestamp))
    }

    fn find(
        &self,
        place: Place<'_>,
        floor: impl Fn(&[IndexEntry]) -> Option<IndexEntry>,
    ) -> Result<IndexEntry, LogError> {
        if let Some(entry) = self.find_growing(&floor) {
            return Ok(entry);
        }
        if let Some(entries) = place.shared.indexes.get(self.id) {
            return Ok(floor(&entries).unwrap_or(IndexEntry::START));
        }
        let _one_at_a_time = lock(&self.loading);
        if let Some(entry) = self.find_growing(&floor) {
            return Ok(entry);
        }
        let entries = match place.shared.indexes.get(self.id) {
            Some(entries) => entries,
            None => self.load(place)?,
        };
        Ok(floor(&entries).unwrap_or(IndexEntry::START))
    }

    /// Asks the entries in memory. `None`: they do not reach far enough back, or the segment is closed.
    fn find_growing(&self, floor: impl Fn(&[IndexEntry]) -> Option<IndexEntry>) -> Option<IndexEntry> {
        let state = read(&self.state);
        if state.is_closed {
            return None;
        }
        let is_complete = state.entries_from.bytes == 0;
        floor(&state.entries).or(is_complete.then_some(IndexEntry::START))
    }

    /// Reads the index file, or builds the index from the batches where there is none that can be trusted.
    fn load(&self, place: Place<'_>) -> Result<Arc<[IndexEntry]>, LogError> {
        let (is_closed, facts, entries_from) = {
            let state = read(&self.state);
            (state.is_closed, state.facts, state.entries_from)
        };
        if !is_closed {
            let older = self.scan(place, entries_from)?;
            let mut state = write(&self.state);
            // If it was closed meanwhile, the next one who looks builds the whole; these entries serve this time.
            if state.is_closed {
                return Ok(older.into());
            }
            state.entries.splice(0..0, older);
            state.entries_from = ScanEnd { offset: self.base_offset, bytes: 0 };
            return Ok(state.entries.as_slice().into());
        }
        if let Some(entries) = self.read_index_file(place, &facts) {
            return Ok(keep(place.shared, self.id, entries.into()));
        }
        let path = self.index_path(place.folder);
        warn!(path = %path.display(), "index of a closed segment is missing or unusable, building it again");
        let entries = self.scan(place, ScanEnd { offset: facts.next_offset, bytes: facts.bytes })?;
        if let Err(error) = write_index_file(place.shared, &path, &index::encode(&facts, &entries)) {
            warn!(path = %path.display(), %error, "cannot store a rebuilt index");
        }
        Ok(keep(place.shared, self.id, entries.into()))
    }

    fn scan(&self, place: Place<'_>, end: ScanEnd) -> Result<Vec<IndexEntry>, LogError> {
        let file = self.open(place)?;
        let scanned = index::scan(file, self.base_offset, end);
        let (_, entries) = scanned.map_err(|error| error.in_file(&self.log_path(place.folder)))?;
        Ok(entries)
    }

    /// `None` if there is no file, or not one that belongs to these facts.
    fn read_index_file(&self, place: Place<'_>, facts: &SegmentFacts) -> Option<Vec<IndexEntry>> {
        let file = place.shared.disk.open(&self.index_path(place.folder), Open::Read).ok()?;
        let len = usize::try_from(file.len().ok()?).ok()?;
        // An index has an entry a batch at most; a file that is longer is none of ours.
        let len_max = INDEX_HEADER_BYTES.saturating_add(usize::try_from(facts.bytes).ok()?);
        if len > len_max.saturating_add(HEADER_BYTES) {
            return None;
        }
        let mut bytes = vec![0; len];
        file.read_exact_at(&mut bytes, 0).ok()?;
        let (stored, entries) = index::decode(&bytes)?;
        (stored == *facts).then_some(entries)
    }
}

/// Puts a closed segment's index into the cache.
fn keep(shared: &Shared, id: u64, entries: Arc<[IndexEntry]>) -> Arc<[IndexEntry]> {
    let weight = size_of_val(&*entries).max(INDEX_WEIGHT_MIN);
    shared.indexes.insert(id, Arc::clone(&entries), weight);
    entries
}

/// Writes an index file anew. Nothing is synced here; a torn one is found out by its checksum and built again.
pub(super) fn write_index_file(shared: &Shared, path: &Path, bytes: &[u8]) -> io::Result<Arc<dyn DiskFile>> {
    let file = match shared.disk.open(path, Open::CreateNew) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            shared.disk.remove_file(path)?;
            shared.disk.open(path, Open::CreateNew)?
        }
        opened => opened?,
    };
    file.write_all_at(bytes, 0)?;
    Ok(file)
}
