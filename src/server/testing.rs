//! What tests of the server share: a world with topics and logs but no machine, whose part the test plays.

use std::sync::Arc;

use bytes::Bytes;
use tokio::io::DuplexStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::blocking::ReadPool;
use super::connection::{Connection, End};
use super::context::Context;
use super::handlers::fetch::Sessions;
use super::handlers::produce::RulesCache;
use super::memory::Memory;
use super::work::{Answer, Work};
use super::{Endpoint, Shared};
use crate::client::Client;
use crate::config::Config;
use crate::disk::sim::SimDisk;
use crate::log::{FolderFate, LogOptions, LogWriter, SegmentSettings};
use crate::metrics::Metrics;
use crate::protocol::Response;
use crate::protocol::batch::{BatchBuilder, NewRecord};
use crate::runtime::detached::{self, Inbox};
use crate::runtime::{Clock, Input, Reply};
use crate::types::{Image, Lsn, Offset, TimestampMs, TopicId, TopicImage, TopicPartition};

/// The time at which every test begins.
pub(super) const START: TimestampMs = TimestampMs(1_700_000_000_000);
/// How many bytes fit into a test's connection.
const PIPE_BYTES: usize = 64 * 1024;

/// A server without its machine.
pub(super) struct World {
    pub(super) shared: Arc<Shared>,
    pub(super) inbox: Inbox,
    pub(super) clock: Clock,
    pub(super) stop: CancellationToken,
    writer: LogWriter,
    image: Image,
}

/// How a world is made.
pub(super) struct Setup {
    pub(super) config: Config,
    pub(super) queued_max: usize,
    pub(super) request_memory_bytes: usize,
    pub(super) fetch_memory_bytes: usize,
    pub(super) session_slots: usize,
    /// How much of the logs stays in memory.
    pub(super) tail_bytes: usize,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            config: Config::default(),
            queued_max: 100,
            request_memory_bytes: 1024 * 1024,
            fetch_memory_bytes: 64 * 1024 * 1024,
            session_slots: 10,
            tail_bytes: 1024 * 1024,
        }
    }
}

impl World {
    pub(super) fn new() -> Self {
        Self::with(Setup::default())
    }

    pub(super) fn with(setup: Setup) -> Self {
        let mut options = LogOptions::new(Arc::new(SimDisk::new()), "/logs".into());
        options.tail_bytes_max = setup.tail_bytes;
        let (writer, logs) = LogWriter::open(&options, Lsn(0), std::iter::empty(), &|_| FolderFate::Live).unwrap();
        let image = Image { cluster_id: "the-cluster".into(), node_id: 1, ..Image::default() };
        let clock = Clock::manual(START);
        let (handle, inbox) = detached::handle(setup.config, image.clone(), logs, clock.clone(), setup.queued_max);
        let shared = Shared {
            handle,
            advertised: Endpoint { host: "broker.example".into(), port: 9092 },
            metrics: Arc::new(Metrics::new().unwrap()),
            request_memory: Memory::new(setup.request_memory_bytes),
            fetch_memory: Memory::new(setup.fetch_memory_bytes),
            fetch_sessions: Sessions::new(setup.session_slots, 1),
            produce_rules: RulesCache::default(),
            read_pool: ReadPool::new(),
        };
        Self { shared: Arc::new(shared), inbox, clock, stop: CancellationToken::new(), writer, image }
    }

    /// Creates a topic, or gives one of this name other configs or more partitions.
    pub(super) fn topic(&mut self, name: &str, partition_count: i32, configs: &[(&str, &str)]) -> TopicId {
        let number = u8::try_from(self.image.topics.len() + 1).unwrap();
        let id = self.image.topic(name).map_or(TopicId::from_bytes([number; 16]), |topic| topic.id);
        let configs = configs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let topic = TopicImage { id, name: name.into(), partition_count, configs: Arc::new(configs) };
        self.image.topic_names.insert(id, name.into());
        self.image.topics.insert(name.into(), Arc::new(topic));
        self.inbox.publish(self.image.clone());
        id
    }

    /// Deletes a topic as the runtime does: first the catalogue, then the logs.
    pub(super) fn delete_topic(&mut self, name: &str) {
        let topic = self.image.topics.remove(name).unwrap();
        self.image.topic_names.remove(&topic.id);
        self.inbox.publish(self.image.clone());
        self.writer.delete_topic(topic.id).unwrap();
    }

    /// Appends one batch of values, one record each, all with `timestamp`. Returns its base offset.
    pub(super) fn append_at(&mut self, partition: TopicPartition, timestamp: i64, values: &[&str]) -> Offset {
        let base_offset = self.writer.next_offset(partition);
        let batch = batch_at(base_offset, timestamp, values);
        let settings = SegmentSettings { segment_bytes: 1_000_000, segment_ms: i64::MAX, index_interval_bytes: 4096 };
        self.writer.append(partition, base_offset, &batch, &settings, self.clock.now()).unwrap();
        let end = self.writer.next_offset(partition);
        self.writer.publish(partition, end);
        base_offset
    }

    pub(super) fn append(&mut self, partition: TopicPartition, values: &[&str]) -> Offset {
        self.append_at(partition, START.0, values)
    }

    pub(super) fn raise_log_start(&mut self, partition: TopicPartition, offset: i64) {
        self.writer.raise_log_start(partition, Offset(offset));
    }

    /// What a request of this version comes with.
    pub(super) fn context(&self, version: i16) -> Context {
        Context {
            shared: Arc::clone(&self.shared),
            version,
            client_id: "test".into(),
            client_host: "/127.0.0.1".into(),
            stop: self.stop.clone(),
        }
    }

    /// Opens a connection.
    pub(super) fn connect(&self) -> (Client<DuplexStream>, JoinHandle<End>) {
        let (near, far) = tokio::io::duplex(PIPE_BYTES);
        let connection = Connection::new(far, Arc::clone(&self.shared), "/127.0.0.1".into(), self.stop.child_token());
        (Client::over(near), tokio::spawn(connection.run()))
    }
}

pub(super) fn partition(topic_id: TopicId, partition: i32) -> TopicPartition {
    TopicPartition { topic_id, partition }
}

/// One batch of values at its place.
pub(super) fn batch_at(base_offset: Offset, timestamp: i64, values: &[&str]) -> Bytes {
    let mut builder = BatchBuilder::new().at(base_offset, 0);
    for value in values {
        let record = NewRecord {
            timestamp: TimestampMs(timestamp),
            key: Some(b"k"),
            value: Some(value.as_bytes()),
            ..NewRecord::default()
        };
        builder.push(&record).unwrap();
    }
    builder.build().unwrap().freeze()
}

/// One batch of values as a producer sends it.
pub(super) fn batch(values: &[&str]) -> Bytes {
    batch_at(Offset(0), START.0, values)
}

/// Waits for what a handler answers.
pub(super) async fn answer_of(mut work: Work) -> Answer {
    std::future::poll_fn(|context| work.poll_answer(context)).await
}

/// The message that a handler answers with.
pub(super) async fn response_of(work: Work) -> Response {
    match answer_of(work).await {
        Answer::Response(response) | Answer::Large(response, _) => response,
        other => panic!("no response but {other:?}"),
    }
}

/// Answers every input of the coordinator, catalogue or producer ids with `answer`, in the background.
pub(super) fn play_machine(mut inbox: Inbox, answer: impl Fn(&Input) -> Reply + Send + 'static) -> JoinHandle<()> {
    tokio::spawn(async move {
        loop {
            let questions = inbox.next().await;
            if questions.is_empty() {
                return;
            }
            for question in questions {
                let reply = answer(question.input());
                question.answer(Ok(reply));
            }
        }
    })
}

/// Lets all other tasks of a single-threaded test go on until they wait.
pub(super) async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}
