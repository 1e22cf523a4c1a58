//! The public API: a whole [`Server`] in this process, or a [`Coordinator`] without any network.
//!
//! The `streamkeeper` program is a client of this API, and so is every integration test.

mod coordinator;
mod ephemeral;
mod server;

use std::path::PathBuf;

pub use coordinator::{Coordinator, CoordinatorError};
pub use server::{Server, ServerBuilder};

use crate::runtime::OpenError;

/// Why a server did not start. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The data directory.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// An address to listen on.
    #[error("cannot listen on {address}: {source}; is another server running there?")]
    Listen {
        /// The address as given.
        address: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// A temporary folder.
    #[error("cannot make a temporary folder under {parent}: {source}")]
    TemporaryFolder {
        /// Where.
        parent: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// An address that is not `HOST:PORT`.
    #[error("{0:?} is not an address of the form HOST:PORT")]
    Address(String),
    /// A fault of ours.
    #[error("internal: {0}")]
    Internal(String),
}

/// A server that had to end because a write failed. What was acknowledged is safe; a new start recovers it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("a write failed: {0}")]
pub struct ServerFailed(pub(crate) String);
