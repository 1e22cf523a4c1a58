//! The runtime: owns the machine, makes its decisions durable, and brings it back after a crash.

mod clock;
#[cfg(test)]
pub(crate) mod detached;
mod handle;

pub use clock::Clock;
pub(crate) use handle::{Handle, Pending, Slot, Unavailable};

use crate::protocol::Response;
use crate::{catalog, coordinator, heads, txn};

/// What can be asked of the machine.
#[derive(Debug)]
pub(crate) enum Input {
    /// Groups and offsets.
    Coordinator(coordinator::Input),
    /// Topics and configs.
    Catalog(catalog::Input),
    /// Partition heads.
    Heads(heads::Input),
    /// Producer ids.
    Txn(txn::Input),
}

/// What an asker gets.
#[derive(Debug)]
pub(crate) enum Reply {
    /// A whole answer, to be sent as it is.
    Response(Response),
    /// One partition's part of an answer.
    Heads(heads::Reply),
}

/// How the machine is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Loaded and answering.
    Serving,
    /// Ended as asked.
    Stopped,
    /// A write failed: the process has to end with an error.
    Failed(Failure),
}

/// Which write failed and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure(String);
