//! What can go wrong with the journal.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use crate::types::Lsn;

/// Why the journal cannot be opened or written. The text is for the person who has to do something about it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JournalError {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    /// Something that was durable is not there any more. Nothing has been changed.
    #[error(
        "the journal is damaged in {} at byte {offset}: {what}; change {lsn} was durable and cannot be read. Nothing \
         has been changed. Bring the data directory back from a backup; or, to give up all changes from the beginning \
         of that file on, move it and every later journal file out of the folder and start again",
        file.display()
    )]
    Damaged { file: PathBuf, offset: u64, lsn: Lsn, what: &'static str },
    /// There is no journal although there was one.
    #[error(
        "{} holds no journal file, but the state store is a checkpoint at change {checkpoint}. Nothing has been \
         changed. Bring the folder back; or, to go on from the checkpoint and give up all changes after it, create \
         the folder with an empty file named {empty_file} in it",
        dir.display()
    )]
    Missing { dir: PathBuf, checkpoint: Lsn, empty_file: String },
    /// Written by a later version of this program.
    #[error(
        "{} at byte {offset} is written in journal format {version}; this program reads format {known}. Nothing has \
         been changed. Start the version that wrote it, or a later one",
        file.display()
    )]
    Newer { file: PathBuf, offset: u64, version: u16, known: u16 },
    /// An earlier failure has left the file in an unknown state.
    #[error("an earlier write to the journal failed; what is on disk is known again after a restart")]
    Poisoned,
    /// The caller's fault: entries are numbered without gaps.
    #[error("change {got} does not follow change {last}")]
    OutOfOrder { last: Lsn, got: Lsn },
    /// The caller's fault: an entry is bounded.
    #[error("change {lsn} takes {bytes} bytes; at most {max} fit into one entry")]
    TooLarge { lsn: Lsn, bytes: usize, max: usize },
    /// Whoever was shown the entries could not take one.
    #[error(transparent)]
    Refused(Box<dyn Error + Send + Sync>),
}

impl JournalError {
    /// Names what was being done to which file.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }
}
