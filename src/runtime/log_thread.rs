//! The log writer's thread: puts the batches of a round into the segments while the round is being synced.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use bytes::Bytes;
use tokio::sync::watch;

use super::{Clock, Failure, spawn_thread};
use crate::config::{Config, TopicConfig};
use crate::journal::{Entry, Item};
use crate::log::{Checkpoint, LogError, LogWriter, SegmentSettings};
use crate::types::{Image, Lsn, Offset, TopicId, TopicPartition};

/// Work for the log writer that nobody waits for.
pub(super) enum LogJob {
    /// Segments wholly below the offset can go.
    RaiseLogStart(TopicPartition, Offset),
    /// The topic's folders can go.
    DeleteTopic(TopicId),
}

enum Job {
    Append(Vec<(TopicPartition, Offset, Bytes)>, SyncSender<Result<(), LogError>>),
    BeginCheckpoint(Lsn, SyncSender<Checkpoint>),
    Later(LogJob),
}

/// The thread, from the committer's side. The committer waits for each round, so at most a few jobs are ever queued.
pub(super) struct LogThread {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

/// A round that is being written.
pub(super) struct Writing(Option<Receiver<Result<(), LogError>>>);

impl LogThread {
    /// Starts the thread. It ends when this is dropped.
    pub(super) fn start_thread(
        writer: LogWriter,
        image: watch::Receiver<Arc<Image>>,
        config: Arc<Config>,
        clock: Clock,
    ) -> Self {
        let (jobs, receiver) = channel();
        let worker = Worker { writer, image, config, clock };
        Self { jobs: Some(jobs), thread: Some(spawn_thread("log-writer", move || worker.run(&receiver))) }
    }

    /// Begins to write the batches of a round.
    pub(super) fn start(&self, entries: &[Entry]) -> Result<Writing, Failure> {
        let batches: Vec<_> = entries.iter().flat_map(|entry| &entry.items).filter_map(batch_of).collect();
        if batches.is_empty() {
            return Ok(Writing(None));
        }
        let (done, written) = sync_channel(1);
        self.send(Job::Append(batches, done))?;
        Ok(Writing(Some(written)))
    }

    /// Takes down what has to be synced for a checkpoint at `lsn`.
    pub(super) fn begin_checkpoint(&self, lsn: Lsn) -> Result<Checkpoint, Failure> {
        let (reply, begun) = sync_channel(1);
        self.send(Job::BeginCheckpoint(lsn, reply))?;
        begun.recv().map_err(|_| Failure::log_writer_gone())
    }

    /// Queues work that nobody waits for.
    pub(super) fn later(&self, job: LogJob) {
        // If the thread is gone, the next round says so.
        let _ = self.send(Job::Later(job));
    }

    fn send(&self, job: Job) -> Result<(), Failure> {
        let sent = self.jobs.as_ref().map(|jobs| jobs.send(job));
        if matches!(sent, Some(Ok(()))) { Ok(()) } else { Err(Failure::log_writer_gone()) }
    }
}

impl Drop for LogThread {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Writing {
    /// Waits until the round is in the segments.
    pub(super) fn finish(self) -> Result<(), Failure> {
        let Some(written) = self.0 else { return Ok(()) };
        match written.recv() {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(Failure::log(&error)),
            Err(_) => Err(Failure::log_writer_gone()),
        }
    }
}

fn batch_of(item: &Item) -> Option<(TopicPartition, Offset, Bytes)> {
    let Item::Append { partition, base_offset, batch } = item else { return None };
    Some((*partition, Offset(*base_offset), batch.clone()))
}

struct Worker {
    writer: LogWriter,
    image: watch::Receiver<Arc<Image>>,
    config: Arc<Config>,
    clock: Clock,
}

impl Worker {
    fn run(mut self, jobs: &Receiver<Job>) {
        while let Ok(job) = jobs.recv() {
            match job {
                Job::Append(batches, done) => {
                    let _ = done.send(self.append(&batches));
                }
                Job::BeginCheckpoint(lsn, reply) => {
                    let _ = reply.send(self.writer.begin_checkpoint(lsn));
                }
                Job::Later(LogJob::RaiseLogStart(partition, start)) => self.writer.raise_log_start(partition, start),
                Job::Later(LogJob::DeleteTopic(topic)) => {
                    if let Err(error) = self.writer.delete_topic(topic) {
                        tracing::warn!(%error, "the folders of a deleted topic could not be removed");
                    }
                }
            }
        }
    }

    fn append(&mut self, batches: &[(TopicPartition, Offset, Bytes)]) -> Result<(), LogError> {
        let image = Arc::clone(&self.image.borrow());
        let now = self.clock.now();
        let mut last: Option<(TopicId, SegmentSettings)> = None;
        for (partition, base_offset, batch) in batches {
            let settings = match last {
                Some((topic, settings)) if topic == partition.topic_id => settings,
                _ => segment_settings(&image, &self.config, partition.topic_id),
            };
            last = Some((partition.topic_id, settings));
            self.writer.append(*partition, *base_offset, batch, &settings, now)?;
        }
        Ok(())
    }
}

/// How the segments of a topic are cut.
pub(super) fn segment_settings(image: &Image, config: &Config, topic: TopicId) -> SegmentSettings {
    let topic = match image.topic_by_id(topic) {
        Some(topic) => TopicConfig::of(config, image, topic),
        None => TopicConfig::effective(config, &image.broker_configs, []),
    };
    SegmentSettings {
        segment_bytes: u32::try_from(topic.segment_bytes).unwrap_or(0),
        segment_ms: topic.segment_ms,
        index_interval_bytes: u32::try_from(topic.index_interval_bytes).unwrap_or(0),
    }
}
