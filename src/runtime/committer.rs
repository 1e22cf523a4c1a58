//! The committer: makes rounds durable and releases what rests on them. One thread, one fsync a round.
//!
//! While one round is being synced the next one gathers in the queue, so a busy server syncs many decisions at once
//! and an idle one waits for nobody. A failed write is final (see ARCHITECTURE, "A failed round").

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::{mpsc, oneshot, watch};

use super::checkpoint::Cut;
use super::engine::Visible;
use super::handle::Outcome;
use super::log_thread::{LogJob, LogThread};
use super::{Durability, Failure, Status, Unavailable};
use crate::journal::{Entry, Item, Journal};
use crate::log::{self, Logs};
use crate::metrics::Metrics;
use crate::types::{Image, Lsn};

/// What the sequencer hands over after a turn.
#[derive(Default)]
pub(super) struct Turn {
    /// Changes, by lsn.
    pub(super) entries: Vec<Entry>,
    /// Answers that rest on them, or on earlier ones that are not durable yet.
    pub(super) answers: Vec<(oneshot::Sender<Outcome>, Outcome)>,
    /// What readers of logs see afterwards.
    pub(super) visible: Vec<Visible>,
    /// The catalogue afterwards, if it changed.
    pub(super) image: Option<Arc<Image>>,
    /// A checkpoint to make of everything up to the end of this turn.
    pub(super) cut: Option<Cut>,
}

impl Turn {
    /// Whether there is nothing for the committer to do.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
            && self.answers.is_empty()
            && self.visible.is_empty()
            && self.image.is_none()
            && self.cut.is_none()
    }
}

/// What committer and sequencer share.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Everything up to this lsn is durable.
    pub(super) durable_lsn: AtomicU64,
    /// Everything up to this lsn is in the state store: its journal files can go.
    pub(super) checkpoint_lsn: AtomicU64,
    /// What the journal has grown by since the start, in bytes.
    pub(super) journal_bytes: AtomicU64,
}

/// How many bytes of entries one round takes at most; what waits longer goes into the next.
const ROUND_BYTES_MAX: usize = 32 * 1024 * 1024;

/// The committer's thread.
pub(super) struct Committer {
    pub(super) journal: Journal,
    pub(super) turns: mpsc::Receiver<Turn>,
    pub(super) log: LogThread,
    pub(super) checkpoints: mpsc::Sender<(Cut, log::Checkpoint)>,
    pub(super) logs: Arc<Logs>,
    pub(super) progress: Arc<Progress>,
    pub(super) image: watch::Sender<Arc<Image>>,
    pub(super) status: watch::Sender<Status>,
    pub(super) durability: Durability,
    /// Set by tests: end without doing anything more.
    pub(super) crashed: Arc<AtomicBool>,
    pub(super) metrics: Arc<Metrics>,
}

impl Committer {
    /// Runs until the sequencer is gone and everything it handed over is durable, or until a write fails.
    pub(super) fn run(mut self) {
        let mut recycled = Lsn(0);
        while let Some(first) = self.turns.blocking_recv() {
            if self.crashed.load(Ordering::Acquire) {
                return;
            }
            let round = self.gather(first);
            let outcome = self.commit(&round.entries);
            if let Err(failure) = outcome {
                self.fail(round, failure);
                return;
            }
            if let Err(failure) = self.release(round) {
                self.fail(Turn::default(), failure);
                return;
            }
            let checkpoint = Lsn(self.progress.checkpoint_lsn.load(Ordering::Acquire));
            if checkpoint > recycled {
                recycled = checkpoint;
                if let Err(error) = self.journal.recycle(checkpoint) {
                    self.fail(Turn::default(), Failure::journal(&error));
                    return;
                }
            }
        }
    }

    fn gather(&mut self, first: Turn) -> Turn {
        let mut round = first;
        let mut bytes = bytes_of(&round.entries);
        // A checkpoint is of a whole round, so a turn with one ends it.
        while bytes < ROUND_BYTES_MAX && round.cut.is_none() {
            let Ok(turn) = self.turns.try_recv() else { break };
            bytes += bytes_of(&turn.entries);
            round.entries.extend(turn.entries);
            round.answers.extend(turn.answers);
            round.visible.extend(turn.visible);
            round.image = turn.image.or(round.image);
            round.cut = turn.cut;
        }
        round
    }

    fn commit(&mut self, entries: &[Entry]) -> Result<(), Failure> {
        let Some(last) = entries.last() else { return Ok(()) };
        let writing = self.log.start(entries)?;
        self.journal.write(entries).map_err(|error| Failure::journal(&error))?;
        if self.durability == Durability::Synced {
            self.sync()?;
        }
        writing.finish()?;
        let bytes = u64::try_from(bytes_of(entries)).unwrap_or(u64::MAX);
        self.metrics.journal_round(entries.len(), bytes, self.journal.live_bytes());
        self.progress.journal_bytes.fetch_add(bytes, Ordering::AcqRel);
        self.progress.durable_lsn.store(last.lsn.0, Ordering::Release);
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Failure> {
        let timing = self.metrics.time_journal_sync();
        self.journal.sync().map_err(|error| Failure::journal(&error))?;
        timing.done();
        Ok(())
    }

    fn release(&mut self, round: Turn) -> Result<(), Failure> {
        for visible in round.visible {
            match visible {
                Visible::HighWatermark(partition, end) => self.logs.publish(partition, end),
                Visible::LogStart(partition, start) => {
                    self.logs.raise_log_start(partition, start);
                    self.log.later(LogJob::RaiseLogStart(partition, start));
                }
                Visible::TopicDeleted(topic) => self.log.later(LogJob::DeleteTopic(topic)),
            }
        }
        if let Some(image) = round.image {
            self.image.send_replace(image);
        }
        for (sender, outcome) in round.answers {
            // A connection that has gone is nobody to tell.
            let _ = sender.send(outcome);
        }
        let Some(cut) = round.cut else { return Ok(()) };
        if self.durability == Durability::Relaxed {
            // The journal must not end before the checkpoint, or the next start finds a gap.
            self.sync()?;
        }
        let segments = self.log.begin_checkpoint(cut.lsn)?;
        // If the checkpointer is gone it has failed, and the sequencer is being told.
        let _ = self.checkpoints.blocking_send((cut, segments));
        Ok(())
    }

    /// Ends: nothing is retried, since after a failed sync nobody knows what is on disk.
    fn fail(mut self, round: Turn, failure: Failure) {
        tracing::error!(%failure, "a write failed; the server ends, a restart recovers what was acknowledged");
        self.status.send_replace(Status::Failed(failure));
        let mut refused = round;
        loop {
            for (sender, _) in refused.answers {
                let _ = sender.send(Err(Unavailable::Failed));
            }
            self.turns.close();
            let Some(turn) = self.turns.blocking_recv() else { break };
            refused = turn;
        }
    }
}

fn bytes_of(entries: &[Entry]) -> usize {
    entries.iter().flat_map(|entry| &entry.items).map(item_bytes).sum()
}

fn item_bytes(item: &Item) -> usize {
    match item {
        Item::Put { key, value } => key.len() + value.len(),
        Item::Delete { key } => key.len(),
        Item::DeletePrefix { prefix } => prefix.len(),
        Item::Append { batch, .. } => batch.len(),
    }
}
