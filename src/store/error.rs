//! What can go wrong with the data directory and the store in it. The texts say what to do.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use super::envelope::EnvelopeError;

/// Why the data directory or the store cannot be used. Whatever refuses to open has changed nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    /// Another process has it.
    #[error("the data directory {} is in use by another process{holder}; stop it, or give another directory", path.display())]
    InUse { path: PathBuf, holder: String },
    /// Something else lives there.
    #[error(
        "{} is not a data directory: it has no FORMAT file and is not empty; give an empty or a new directory",
        path.display()
    )]
    NotADataDirectory { path: PathBuf },
    /// A file stands where a directory should.
    #[error("{} is not a directory; give an empty or a new directory", path.display())]
    NotADirectory { path: PathBuf },
    /// Cannot be written by this user.
    #[error("the data directory {} is not writable: {source}; change its owner or its rights, or give another", path.display())]
    NotWritable { path: PathBuf, source: io::Error },
    /// A later version made it.
    #[error(
        "the data directory {} has format {format}, written by Streamkeeper {writer}; it needs a version that reads \
         format {oldest_reader}, and this one reads format {known}. Start Streamkeeper {writer} or later",
        path.display()
    )]
    NewerFormat { path: PathBuf, format: u32, oldest_reader: u32, known: u32, writer: String },
    /// The FORMAT file cannot be read.
    #[error("{} is damaged: {what}. Bring the data directory back from a backup", path.display())]
    DamagedFormat { path: PathBuf, what: &'static str },
    /// The store cannot be read.
    #[error(
        "the state store in {} is damaged: {what}. Bring the data directory back from a backup, or rebuild the store \
         from a dump",
        path.display()
    )]
    Damaged { path: PathBuf, what: String },
    /// A value cannot be read.
    #[error(transparent)]
    Envelope(#[from] EnvelopeError),
    /// An earlier failure has left the store in an unknown state.
    #[error("an earlier write to the state store failed; what is in it is known again after a restart")]
    Dead,
    /// Whoever was shown the records could not take one.
    #[error(transparent)]
    Refused(Box<dyn Error + Send + Sync>),
}

impl StoreError {
    /// Names what was being done to which file.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }
}
