//! The runtime: owns the machine, makes its decisions durable, and brings it back after a crash.
//!
//! [`Runtime::load`] loads a data directory, [`LoadedMachine::start`] starts one task (the sequencer) and three threads (committer, log
//! writer, checkpointer). [`Handle`] is how everybody else talks to it. What is decided is not here but in the cores.

mod checkpoint;
mod clock;
mod committer;
#[cfg(test)]
pub(crate) mod detached;
mod dirty;
mod engine;
mod gauges;
mod handle;
mod loader;
mod log_thread;
mod persist;
mod sequencer;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

pub use clock::Clock;
pub(crate) use handle::{Handle, Pending, Slot, Unavailable};

use crate::config::Config;
use crate::journal::JournalError;
use crate::log::LogError;
use crate::metrics::Metrics;
use crate::protocol::Response;
use crate::store::{DataDir, StoreError};
use crate::types::Lsn;
use crate::{catalog, coordinator, heads, txn};

/// What can be asked of the machine.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "inputs are handed on one by one, never kept")]
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

impl Failure {
    fn journal(error: &JournalError) -> Self {
        Self(format!("journal: {error}"))
    }

    fn log(error: &LogError) -> Self {
        Self(format!("partition logs: {error}"))
    }

    fn log_writer_gone() -> Self {
        Self("partition logs: the writer has ended".to_owned())
    }

    fn store(error: &StoreError) -> Self {
        Self(format!("state store: {error}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// When an answer counts as durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// After an fsync.
    Synced,
    /// Once the operating system has it; a power loss may take what came after the last checkpoint.
    Relaxed,
    /// Once the operating system has it, and nothing is ever synced: the data goes at exit anyway.
    Ephemeral,
}

/// What to open and how.
#[derive(Clone)]
pub(crate) struct Options {
    pub(crate) data_dir: PathBuf,
    pub(crate) durability: Durability,
    pub(crate) config: Arc<Config>,
    pub(crate) clock: Clock,
    pub(crate) seed: u64,
    pub(crate) metrics: Arc<Metrics>,
}

/// What a load found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Groups of any type.
    pub groups: usize,
    /// Keys of the state store, journal included.
    pub records: usize,
}

/// Why a data directory cannot be served. The text says what is wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct OpenError(OpenFailure);

#[derive(Debug, thiserror::Error)]
enum OpenFailure {
    /// The directory itself, or the state store in it.
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Log(#[from] LogError),
}

impl<E: Into<OpenFailure>> From<E> for OpenError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

/// A running machine.
pub(crate) struct Runtime {
    handle: Handle,
    loaded: Loaded,
    stop: CancellationToken,
    sequencer: tokio::task::JoinHandle<()>,
    threads: Vec<JoinHandle<()>>,
    status: watch::Sender<Status>,
    crashed: Arc<AtomicBool>,
    /// Held until the end: the directory is ours.
    _dir: DataDir,
}

/// How many turns may wait for the committer; behind that the sequencer waits.
const TURNS_QUEUED_MAX: usize = 16;

/// A machine that has been loaded and does not work yet.
pub(crate) struct LoadedMachine {
    opened: loader::Opened,
    options: Options,
}

impl Runtime {
    /// Loads the data directory; blocks. When this returns, everything that was ever acknowledged is there.
    ///
    /// # Errors
    /// [`OpenError`] if the directory is in use, damaged, of a newer format or cannot be written; nothing is changed.
    pub(crate) fn load(options: &Options) -> Result<LoadedMachine, OpenError> {
        Ok(LoadedMachine { opened: loader::load(options)?, options: options.clone() })
    }
}

impl LoadedMachine {
    /// Starts to work. Must be called within a tokio runtime.
    #[allow(clippy::too_many_lines, reason = "the wiring reads best in one piece")]
    pub(crate) fn start(self) -> Runtime {
        let Self { opened, options } = self;
        let progress = Arc::new(committer::Progress::new(opened.engine.last_lsn(), opened.checkpoint));
        let (status, status_seen) = watch::channel(Status::Serving);
        let (image, image_seen) = watch::channel(Arc::clone(opened.engine.image()));
        let (turns, turns_queued) = mpsc::channel(TURNS_QUEUED_MAX);
        let (cuts, cuts_queued) = mpsc::channel(1);
        let (checkpoint_done, checkpoint_seen) = watch::channel(opened.checkpoint);
        let queued_max = usize::try_from(options.config.queued_max_requests).unwrap_or(1).max(1);
        let (inbox, inbox_queued) = mpsc::channel(queued_max);
        let stop = CancellationToken::new();
        let crashed = Arc::new(AtomicBool::new(false));

        let committer = committer::Committer {
            journal: opened.journal,
            turns: turns_queued,
            log: log_thread::LogThread::start_thread(
                opened.log_writer,
                image_seen.clone(),
                Arc::clone(&options.config),
                options.clock.clone(),
            ),
            checkpoints: cuts,
            logs: Arc::clone(&opened.logs),
            progress: Arc::clone(&progress),
            image,
            status: status.clone(),
            durability: options.durability,
            crashed: Arc::clone(&crashed),
            metrics: Arc::clone(&options.metrics),
        };
        let checkpointer = checkpoint::Checkpointer {
            store: opened.store,
            cuts: cuts_queued,
            progress: Arc::clone(&progress),
            status: status.clone(),
            done: checkpoint_done,
            metrics: Arc::clone(&options.metrics),
        };
        let sequencer = sequencer::Sequencer {
            engine: opened.engine,
            inbox: inbox_queued,
            turns,
            progress,
            status: status_seen.clone(),
            checkpoint_done: checkpoint_seen,
            policy: sequencer::CheckpointPolicy::of(&options.config),
            clock: options.clock.clone(),
            metrics: Arc::clone(&options.metrics),
            stop: stop.clone(),
            state: sequencer::State::after_load(opened.dirty, options.clock.now()),
        };
        let shared = handle::Shared {
            inbox,
            next_reply: AtomicU64::new(1),
            image: image_seen,
            status: status_seen,
            config: Arc::clone(&options.config),
            logs: opened.logs,
            clock: options.clock.clone(),
        };
        Runtime {
            handle: Handle { shared: Arc::new(shared) },
            loaded: opened.loaded,
            stop,
            sequencer: tokio::spawn(sequencer.run()),
            threads: vec![
                spawn_thread("committer", move || committer.run()),
                spawn_thread("checkpointer", move || checkpointer.run()),
            ],
            status,
            crashed,
            _dir: opened.dir,
        }
    }
}

impl Runtime {
    /// How to talk to it.
    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// What the load found.
    pub(crate) fn loaded(&self) -> Loaded {
        self.loaded
    }

    /// Answers what is queued, makes a last checkpoint and ends. Everything acknowledged is durable either way.
    ///
    /// # Errors
    /// The failure, if a write has failed.
    pub(crate) async fn stop(self) -> Result<(), Failure> {
        self.stop.cancel();
        // The tasks are ours and do not panic; if one did, its panic has been printed and the rest still ends.
        let _ = self.sequencer.await;
        let threads = self.threads;
        let _ = tokio::task::spawn_blocking(move || threads.into_iter().for_each(|thread| drop(thread.join()))).await;
        let failed = match &*self.status.borrow() {
            Status::Failed(failure) => Some(failure.clone()),
            Status::Serving | Status::Stopped => None,
        };
        if let Some(failure) = failed {
            return Err(failure);
        }
        self.status.send_replace(Status::Stopped);
        Ok(())
    }

    /// Ends as a crash would: what has not been written yet is dropped, nothing is answered, no checkpoint is made.
    pub(crate) async fn crash(self) {
        self.crashed.store(true, Ordering::Release);
        self.sequencer.abort();
        let _ = self.sequencer.await;
        let threads = self.threads;
        let _ = tokio::task::spawn_blocking(move || threads.into_iter().for_each(|thread| drop(thread.join()))).await;
    }
}

impl Durability {
    /// As set by `durability`.
    pub(crate) fn configured(config: &Config) -> Self {
        if config.durability == "relaxed" { Self::Relaxed } else { Self::Synced }
    }
}

/// Starts a named thread.
#[allow(clippy::expect_used, reason = "without its threads the server cannot run at all")]
fn spawn_thread(name: &str, work: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).expect("the system gives a thread")
}

/// Random numbers that differ from run to run.
pub(crate) fn random_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

impl committer::Progress {
    fn new(last_lsn: Lsn, checkpoint: Lsn) -> Self {
        Self {
            durable_lsn: AtomicU64::new(last_lsn.0),
            checkpoint_lsn: AtomicU64::new(checkpoint.0),
            journal_bytes: AtomicU64::new(0),
        }
    }
}
