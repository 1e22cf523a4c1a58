//! Reads the journal back after a stop of any kind, and tells a torn end from damage.
//!
//! Pages of a round that was not synced reach the disk in any order, so a bad or missing frame before good ones is
//! ordinary. It is damage only if a header that can be read says that the missing entry was synced before
//! (`synced_through`). Otherwise the journal is cut there, good frames behind the cut included: nothing that rests on
//! them has been answered.

use std::path::PathBuf;

use super::frame::{self, BLOCK_BYTES, Entries, Found, HEADER_BYTES, Header};
use super::{Entry, JournalError, JournalFile};
use crate::types::Lsn;

/// How much of a file is looked at in one read while headers are searched.
const WINDOW_BYTES: usize = 256 * 1024;

/// What was read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recovered {
    /// The first entry above the checkpoint, if any.
    pub(crate) first: Option<Lsn>,
    /// The last entry; the checkpoint if there is none above it.
    pub(crate) last: Lsn,
    /// How many entries above the checkpoint.
    pub(crate) entries: u64,
    /// How many bytes of frames were read for them.
    pub(crate) bytes: u64,
    /// Where a torn end was cut off, if something was there.
    pub(crate) cut: Option<Cut>,
}

/// The torn end of rounds that were never synced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The file.
    pub(crate) file: PathBuf,
    /// The byte in it.
    pub(crate) offset: u64,
    /// The first entry that is lost.
    pub(crate) lsn: Lsn,
    /// How many frames were cleared.
    pub(crate) frames: usize,
}

/// A header and where it lies.
struct Frame {
    file: usize,
    position: u64,
    header: Header,
}

/// The journal's files and the headers in them, in order.
pub(super) struct Recovery {
    pub(super) files: Vec<JournalFile>,
    frames: Vec<Frame>,
    /// The highest entry that some header says was synced.
    synced: Lsn,
    /// Frames from this one on are behind the cut.
    keep: usize,
}

type Visit<'a> = &'a mut dyn FnMut(Entry) -> Result<(), JournalError>;

impl Recovery {
    /// Finds every header. Changes nothing.
    pub(super) fn scan(files: Vec<JournalFile>) -> Result<Self, JournalError> {
        let mut frames = Vec::new();
        for (index, file) in files.iter().enumerate() {
            scan_file(file, |position, header| frames.push(Frame { file: index, position, header }))?;
        }
        let synced = frames.iter().map(|frame| frame.header.synced_through).max().unwrap_or_default();
        let keep = frames.len();
        Ok(Self { files, frames, synced, keep })
    }

    /// The highest round so far.
    pub(super) fn round(&self) -> u64 {
        self.frames.iter().map(|frame| frame.header.round).max().unwrap_or(0)
    }

    /// Shows every entry above the checkpoint, up to the end or the cut. Changes nothing on disk.
    pub(super) fn replay(&mut self, checkpoint: Lsn, visit: Visit<'_>) -> Result<Recovered, JournalError> {
        self.check_sequence(checkpoint)?;
        let mut recovered = Recovered { first: None, last: checkpoint, entries: 0, bytes: 0, cut: None };
        for index in 0..self.frames.len() {
            let Some(frame) = self.frames.get(index) else { break };
            let header = frame.header;
            if header.last <= checkpoint {
                continue;
            }
            let wanted = recovered.last.next();
            if header.first > wanted {
                self.cut_or_damage(index, index.checked_sub(1), wanted, "no frame holds it", &mut recovered)?;
                break;
            }
            if header.first < wanted && recovered.entries > 0 {
                return Err(self.damage(index, wanted, "a frame repeats earlier changes"));
            }
            let Some(payload) = self.payload(index)? else {
                self.cut_or_damage(index, Some(index), wanted, "a frame is not whole", &mut recovered)?;
                break;
            };
            for entry in Entries::new(&header, &payload) {
                let entry = entry.map_err(|_| self.damage(index, header.first, "a frame cannot be taken apart"))?;
                if entry.lsn > checkpoint {
                    recovered.entries += 1;
                    visit(entry)?;
                }
            }
            recovered.first = recovered.first.or(Some(wanted));
            recovered.last = header.last;
            recovered.bytes += u64::try_from(header.frame_bytes()).unwrap_or(0);
        }
        self.measure_files();
        Ok(recovered)
    }

    /// A missing file is damage if entries before it are needed: files are given up oldest first. (If entries in it are
    /// needed, what comes after it says so: a file's first frame knows that all files before it are synced.)
    fn check_sequence(&self, checkpoint: Lsn) -> Result<(), JournalError> {
        let Some(needed) = self.frames.iter().find(|frame| frame.header.last > checkpoint) else { return Ok(()) };
        let needed_files = self.files.get(needed.file..).unwrap_or_default();
        for pair in needed_files.windows(2) {
            let [before, file] = pair else { continue };
            if before.sequence.checked_add(1) != Some(file.sequence) {
                let (file, lsn) = (file.path.clone(), needed.header.first.max(checkpoint.next()));
                let what = "the journal file before it is missing";
                return Err(JournalError::Damaged { file, offset: 0, lsn, what });
            }
        }
        Ok(())
    }

    /// Cuts before frame `index` because `lsn` is missing, unless it was synced once. `place` is the frame that is
    /// bad, or the one after which another should be.
    fn cut_or_damage(
        &mut self,
        index: usize,
        place: Option<usize>,
        lsn: Lsn,
        what: &'static str,
        recovered: &mut Recovered,
    ) -> Result<(), JournalError> {
        let (file, offset) = match place {
            Some(place) => self.place(place, place < index),
            None => (self.files.first().map(|file| file.path.clone()).unwrap_or_default(), 0),
        };
        if self.synced >= lsn {
            return Err(JournalError::Damaged { file, offset, lsn, what });
        }
        self.keep = index;
        let frames = self.frames.len() - index;
        recovered.cut = Some(Cut { file, offset, lsn, frames });
        Ok(())
    }

    fn damage(&self, index: usize, lsn: Lsn, what: &'static str) -> JournalError {
        let (file, offset) = self.place(index, false);
        JournalError::Damaged { file, offset, lsn, what }
    }

    /// Where a frame begins, or ends.
    fn place(&self, index: usize, end: bool) -> (PathBuf, u64) {
        let Some((file, frame)) = self.frame(index) else { return (PathBuf::new(), 0) };
        let bytes = if end { u64::try_from(frame.header.frame_bytes()).unwrap_or(0) } else { 0 };
        (file.path.clone(), frame.position.saturating_add(bytes))
    }

    fn frame(&self, index: usize) -> Option<(&JournalFile, &Frame)> {
        let frame = self.frames.get(index)?;
        Some((self.files.get(frame.file)?, frame))
    }

    /// The bytes of a frame, if the file is long enough to hold it.
    fn bytes(&self, index: usize) -> Result<Option<Vec<u8>>, JournalError> {
        let Some((file, frame)) = self.frame(index) else { return Ok(None) };
        let frame_bytes = frame.header.frame_bytes();
        let end = u64::try_from(frame_bytes).ok().and_then(|bytes| frame.position.checked_add(bytes));
        if end.is_none_or(|end| file.len().is_ok_and(|len| len < end)) {
            return Ok(None);
        }
        file.read(frame.position, frame_bytes).map(Some)
    }

    fn payload(&self, index: usize) -> Result<Option<Vec<u8>>, JournalError> {
        let bytes = self.bytes(index)?;
        Ok(self.frames.get(index).zip(bytes).and_then(|(frame, bytes)| frame::payload(&frame.header, bytes)))
    }

    /// Notes in each file what it holds.
    fn measure_files(&mut self) {
        for frame in self.frames.iter().take(self.keep) {
            let Some(file) = self.files.get_mut(frame.file) else { continue };
            let frame_bytes = u64::try_from(frame.header.frame_bytes()).unwrap_or(0);
            file.used = frame.position.saturating_add(frame_bytes);
            file.last = file.last.max(frame.header.last);
        }
    }

    /// Makes what was read durable, and what was cut unreadable for ever.
    ///
    /// Frames above `synced` are written once more, as they are: if the process before us died of a failed sync, their
    /// pages may look clean to the system without being on the disk, and then no sync would bring them there.
    pub(super) fn settle(&self) -> Result<(), JournalError> {
        for index in 0..self.frames.len() {
            let Some((file, frame)) = self.frame(index) else { break };
            if index >= self.keep {
                file.write(&[0; BLOCK_BYTES], frame.position)?;
            } else if frame.header.last > self.synced
                && let Some(bytes) = self.bytes(index)?
            {
                file.write(&bytes, frame.position)?;
            }
        }
        self.files.iter().try_for_each(JournalFile::sync)
    }
}

/// Finds the headers of a file's own generation at every boundary up to its end.
fn scan_file(file: &JournalFile, mut found: impl FnMut(u64, Header)) -> Result<(), JournalError> {
    let len = file.len()?;
    let mut position = 0;
    let mut window = Vec::new();
    let mut window_start = 0;
    while position < len {
        let window_end = window_start + u64::try_from(window.len()).unwrap_or(0);
        if position >= window_end {
            let left = usize::try_from(len - position).unwrap_or(usize::MAX);
            window = file.read(position, left.min(WINDOW_BYTES))?;
            window_start = position;
        }
        let offset = usize::try_from(position - window_start).unwrap_or(usize::MAX);
        let block = window.get(offset..).unwrap_or_default();
        let step = match Header::find(block.get(..HEADER_BYTES).unwrap_or_default(), file.sequence) {
            Found::Nothing => BLOCK_BYTES,
            Found::Header(header) => {
                found(position, header);
                header.frame_bytes()
            }
            Found::Newer(version) => {
                let (file, known) = (file.path.clone(), frame::VERSION);
                return Err(JournalError::Newer { file, offset: position, version, known });
            }
        };
        position = position.saturating_add(u64::try_from(step).unwrap_or(u64::MAX));
    }
    Ok(())
}
