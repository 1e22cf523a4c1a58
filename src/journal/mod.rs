//! The journal: what makes an answer true after a crash. One frame a round, one fsync.
//!
//! [`frame`] has the bytes of a frame, [`file`] the folder, [`recovery`] the reading back. The format is described
//! byte by byte in `migrations/README.md`. No threads here: the committer owns a [`Journal`] and calls it.

mod error;
mod file;
mod frame;
mod recovery;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;

pub(crate) use error::JournalError;
pub(crate) use recovery::Recovered;

use file::{Folder, JournalFile};
use frame::{Builder, Header};
use recovery::Recovery;

use crate::disk::Disk;
use crate::types::{Lsn, TopicPartition};

/// Where a large round is split: a frame holds more only if one entry alone does.
const FRAME_BYTES: usize = 16 << 20;

/// One change in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// A key of the state store has this value now.
    Put { key: Bytes, value: Bytes },
    /// A key of the state store is gone.
    Delete { key: Bytes },
    /// All keys with this prefix are gone.
    DeletePrefix { prefix: Bytes },
    /// A record batch at its place in a partition.
    Append { partition: TopicPartition, base_offset: i64, batch: Bytes },
}

/// What one decision changes: all of it or nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its place in the one order of all changes; each entry has the next.
    pub(crate) lsn: Lsn,
    /// Its changes, in order.
    pub(crate) items: Vec<Item>,
}

/// Where the journal lies and how it behaves.
#[derive(Clone)]
pub(crate) struct Options {
    /// The files' disk.
    pub(crate) disk: Arc<dyn Disk>,
    /// Their folder.
    pub(crate) dir: PathBuf,
    /// A file is full at this size.
    pub(crate) file_bytes: u64,
}

/// An open journal.
pub(crate) struct Journal {
    folder: Folder,
    /// In order; the last one is written to.
    files: VecDeque<JournalFile>,
    frame_bytes: usize,
    round: u64,
    last: Lsn,
    synced: Lsn,
    poisoned: bool,
}

impl Journal {
    /// Opens the journal of a store whose checkpoint is `checkpoint`, and shows each entry above it, in order, one
    /// frame in memory at a time. When it returns, all that was shown is durable.
    ///
    /// A torn end is cut off. Damage is an error, and then nothing on disk has been changed; the same if `visit`
    /// refuses an entry.
    pub(crate) fn open(
        options: &Options,
        checkpoint: Lsn,
        visit: &mut dyn FnMut(Entry) -> Result<(), JournalError>,
    ) -> Result<(Self, Recovered), JournalError> {
        let (folder, files) = Folder::open(options)?;
        if files.is_empty() && checkpoint > Lsn(0) {
            let empty_file = folder.next_name();
            return Err(JournalError::Missing { dir: options.dir.clone(), checkpoint, empty_file });
        }
        let mut recovery = Recovery::scan(files)?;
        let recovered = recovery.replay(checkpoint, visit)?;
        folder.settle()?;
        recovery.settle()?;
        let round = recovery.round();
        let last = recovered.last;
        let journal = Self {
            folder,
            files: recovery.files.into(),
            frame_bytes: FRAME_BYTES,
            round,
            last,
            synced: last,
            poisoned: false,
        };
        Ok((journal, recovered))
    }

    /// Shows the entries above `checkpoint` again, as [`Journal::open`] has found them; that one must have returned
    /// without an error, and nothing been written since. Changes nothing.
    pub(crate) fn read(
        options: &Options,
        checkpoint: Lsn,
        visit: &mut dyn FnMut(Entry) -> Result<(), JournalError>,
    ) -> Result<(), JournalError> {
        let (_, files) = Folder::open(options)?;
        Recovery::scan(files)?.replay(checkpoint, visit).map(|_| ())
    }

    /// Writes a round. Durable only after [`Journal::sync`]. After an error every later call fails.
    pub(crate) fn write(&mut self, entries: &[Entry]) -> Result<(), JournalError> {
        self.or_poison(|journal| journal.write_frames(entries))
    }

    /// Makes durable what was written. After an error every later call fails.
    pub(crate) fn sync(&mut self) -> Result<(), JournalError> {
        self.or_poison(Self::sync_file)
    }

    /// Writes a round and makes it durable.
    #[cfg(test)]
    pub(crate) fn write_round(&mut self, entries: &[Entry]) -> Result<(), JournalError> {
        self.write(entries)?;
        self.sync()
    }

    /// Gives up files whose entries are all at or below `through`, which a durable checkpoint covers. Syncs what was
    /// written, so that an entry stays behind to be found: a state store that damage has taken back to an earlier
    /// checkpoint (sled does that without a word) is noticed only because the journal begins too late for it.
    pub(crate) fn recycle(&mut self, through: Lsn) -> Result<(), JournalError> {
        self.or_poison(|journal| {
            journal.sync_file()?;
            while let [first, second, ..] = journal.files.make_contiguous()
                && first.last <= through
                && second.last > Lsn(0)
                && let Some(file) = journal.files.pop_front()
            {
                journal.folder.retire(file)?;
            }
            Ok(())
        })
    }

    /// How many bytes of frames lie in the files: what a restart reads at most.
    pub(crate) fn live_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.used).sum()
    }

    /// The last entry written, durable or not.
    #[cfg(test)]
    pub(crate) fn last_lsn(&self) -> Lsn {
        self.last
    }

    /// The last entry known to be durable.
    #[cfg(test)]
    pub(crate) fn synced_lsn(&self) -> Lsn {
        self.synced
    }

    fn or_poison<T>(&mut self, call: impl FnOnce(&mut Self) -> Result<T, JournalError>) -> Result<T, JournalError> {
        if self.poisoned {
            return Err(JournalError::Poisoned);
        }
        let outcome = call(self);
        self.poisoned = outcome.is_err();
        outcome
    }

    fn sync_file(&mut self) -> Result<(), JournalError> {
        if self.synced < self.last
            && let Some(file) = self.files.back()
        {
            file.sync()?;
            self.synced = self.last;
        }
        Ok(())
    }

    fn write_frames(&mut self, entries: &[Entry]) -> Result<(), JournalError> {
        let mut last = self.last;
        for entry in entries {
            let bytes = frame::entry_bytes(entry);
            if bytes > frame::MAX_ENTRY_BYTES {
                return Err(JournalError::TooLarge { lsn: entry.lsn, bytes, max: frame::MAX_ENTRY_BYTES });
            }
            if entry.lsn != last.next() {
                return Err(JournalError::OutOfOrder { last, got: entry.lsn });
            }
            last = entry.lsn;
        }
        self.round += 1;
        let mut rest = entries;
        while !rest.is_empty() {
            let (count, payload_bytes) = self.fill_frame(rest);
            let (now, later) = rest.split_at(count);
            self.write_frame(now, payload_bytes)?;
            rest = later;
        }
        Ok(())
    }

    /// How many of the entries go into the next frame, at least one, and how many bytes they take.
    fn fill_frame(&self, entries: &[Entry]) -> (usize, usize) {
        let (mut count, mut payload_bytes) = (0, 0);
        for entry in entries {
            let more = frame::entry_bytes(entry);
            if count > 0 && payload_bytes + more > self.frame_bytes {
                break;
            }
            count += 1;
            payload_bytes += more;
        }
        (count, payload_bytes)
    }

    fn write_frame(&mut self, entries: &[Entry], payload_bytes: usize) -> Result<(), JournalError> {
        let [first, ..] = entries else { return Ok(()) };
        let frame_bytes = u64::try_from(frame::frame_bytes(payload_bytes)).unwrap_or(u64::MAX);
        let has_room = |file: &JournalFile| self.folder.has_room(file.used, frame_bytes);
        if !self.files.back().is_some_and(has_room) {
            // So at most one file has anything that is not durable, and one sync ends any round.
            self.sync_file()?;
            self.files.push_back(self.folder.begin()?);
        }
        let Some(file) = self.files.back_mut() else { return Ok(()) };
        let header = Header {
            generation: file.sequence,
            round: self.round,
            first: first.lsn,
            last: first.lsn,
            synced_through: self.synced,
            payload_bytes: 0,
        };
        let mut builder = Builder::new(header, payload_bytes);
        for entry in entries {
            builder.add(entry);
        }
        file.write(&builder.finish(), file.used)?;
        file.used = file.used.saturating_add(frame_bytes);
        file.last = entries.last().map_or(file.last, |entry| entry.lsn);
        self.last = file.last;
        Ok(())
    }
}
