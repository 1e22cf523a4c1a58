//! Checkpoints: segments first, then one batch of the state store, then the journal's old files can go.
//!
//! One thread. It never touches what the sequencer works on: the changes of a checkpoint were put aside at its lsn.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::{mpsc, watch};

use super::committer::Progress;
use super::{Failure, Status};
use crate::log;
use crate::metrics::Metrics;
use crate::store::{Change, StateStore};
use crate::types::Lsn;

/// What one checkpoint stores: the state as of `lsn`.
pub(super) struct Cut {
    pub(super) lsn: Lsn,
    pub(super) changes: Vec<Change>,
}

/// The checkpointer's thread.
pub(super) struct Checkpointer {
    pub(super) store: Box<dyn StateStore>,
    pub(super) cuts: mpsc::Receiver<(Cut, log::Checkpoint)>,
    pub(super) progress: Arc<Progress>,
    pub(super) status: watch::Sender<Status>,
    /// Tells the sequencer the lsn of the last checkpoint.
    pub(super) done: watch::Sender<Lsn>,
    pub(super) metrics: Arc<Metrics>,
}

impl Checkpointer {
    /// Runs until the committer is gone, or until a checkpoint fails.
    pub(super) fn run(mut self) {
        while let Some((cut, segments)) = self.cuts.blocking_recv() {
            let metrics = Arc::clone(&self.metrics);
            let timer = metrics.time_checkpoint();
            if let Err(failure) = self.checkpoint(&cut, segments) {
                tracing::error!(%failure, "a checkpoint failed; the server ends, a restart recovers from the journal");
                self.status.send_replace(Status::Failed(failure));
                return;
            }
            timer.done();
            self.progress.checkpoint_lsn.store(cut.lsn.0, Ordering::Release);
            self.done.send_replace(cut.lsn);
        }
    }

    /// Segments before the store: what the store says of a log's end must be there.
    fn checkpoint(&mut self, cut: &Cut, segments: log::Checkpoint) -> Result<(), Failure> {
        segments.run().map_err(|error| Failure::log(&error))?;
        self.store.checkpoint(cut.lsn, &cut.changes).map_err(|error| Failure::store(&error))
    }
}
