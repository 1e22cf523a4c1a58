//! Fetch: record batches as stored, up to limits, at once or when there are enough.
//!
//! Answers to Kafka's `KafkaApis.handleFetchRequest`, `ReplicaManager.fetchMessages`, `DelayedFetch` and `FetchManager`.
//! A fetch looks at its partitions, reads under the shared memory for fetched records, and if that is not enough waits
//! on the partitions themselves, holding nothing meanwhile. Nothing here goes through the machine.

mod partition;
mod read;
mod session;
mod sessions;
mod wait;

use std::sync::Arc;

pub(in crate::server) use sessions::Sessions;

use super::topics::{self, Named};
use crate::protocol::messages::fetch_response::{FetchableTopicResponse, PartitionData};
use crate::protocol::messages::{FetchRequest, FetchResponse};
use crate::protocol::{StrBytes, message, topic_id, wire_uuid};
use crate::server::context::Context;
use crate::server::work::{Answer, Work};
use crate::types::{ErrorCode, Image, TimestampMs, TopicId, TopicName, TopicPartition};
use partition::{Ask, Key, Missing, Partition, TopicKey};
use read::{Limits, Pass};
use session::Change;
use sessions::{Begun, Start};
use wait::Waiting;

/// From this version on topics are named by id.
const TOPIC_IDS_SINCE: i16 = 13;
/// From this version on a replica says who it is in a tagged field.
const REPLICA_STATE_SINCE: i16 = 15;
const READ_COMMITTED: i8 = 1;

/// Starts a fetch. It is the only request of its connection that is under way.
pub(in crate::server) fn start(context: &Context, request: FetchRequest) -> Work {
    let context = context.clone();
    Work::running(async move { serve(&context, request).await })
}

async fn serve(context: &Context, request: FetchRequest) -> Answer {
    let asked = Asked::new(context, &request);
    let start = start_of(&request, asked.version);
    drop(request);
    let begun = match context.shared.fetch_sessions.begin(start, context.handle().now()) {
        Ok(begun) => begun,
        Err(error) => return Answer::Response(message!(FetchResponse { error_code: error.code() }).into()),
    };
    let partitions = asked.find_all(context, begun.asks());
    let pass = asked.read_enough(context, &partitions).await;
    asked.answer(context, &begun, &partitions, pass)
}

fn start_of(request: &FetchRequest, version: i16) -> Start {
    let uses_topic_ids = version >= TOPIC_IDS_SINCE;
    let key_of = |id: TopicId, name: &StrBytes| {
        if uses_topic_ids { TopicKey::Id(id) } else { TopicKey::Name(TopicName::from(&**name)) }
    };
    let mut asks = Vec::new();
    for topic in &request.topics {
        let key = key_of(topic_id(topic.topic_id), &topic.topic);
        let of_topic = topic.partitions.iter();
        asks.extend(of_topic.map(|asked| (Key { topic: key.clone(), partition: asked.partition }, Ask::from(asked))));
    }
    let mut forgotten = Vec::new();
    for topic in &request.forgotten_topics_data {
        let key = key_of(topic_id(topic.topic_id), &topic.topic);
        forgotten.extend(topic.partitions.iter().map(|index| Key { topic: key.clone(), partition: *index }));
    }
    Start { session_id: request.session_id, session_epoch: request.session_epoch, uses_topic_ids, asks, forgotten }
}

/// What a request says of all its partitions.
#[derive(Clone, Copy, Debug)]
struct Asked {
    version: i16,
    is_replica: bool,
    is_committed: bool,
    max_bytes: usize,
    min_bytes: usize,
    deadline: TimestampMs,
}

impl Asked {
    fn new(context: &Context, request: &FetchRequest) -> Self {
        let version = context.version;
        let config = context.handle().config();
        let replica_id =
            if version >= REPLICA_STATE_SINCE { request.replica_state.replica_id } else { request.replica_id };
        let bytes = |number: i32| usize::try_from(number).unwrap_or(0);
        let max_bytes = bytes(request.max_bytes.min(config.fetch_max_bytes));
        // In Kafka a client that waits for longer is cut off as idle.
        let wait_max_ms = u64::try_from(config.connections_max_idle_ms).unwrap_or(u64::MAX);
        let wait_ms = u64::try_from(request.max_wait_ms).unwrap_or(0).min(wait_max_ms);
        Self {
            version,
            is_replica: replica_id >= 0,
            is_committed: request.isolation_level == READ_COMMITTED,
            max_bytes,
            min_bytes: bytes(request.min_bytes).min(max_bytes),
            deadline: context.handle().now().plus_ms(i64::try_from(wait_ms).unwrap_or(i64::MAX)),
        }
    }

    /// Finds each partition's log, or the error that stands for it.
    fn find_all(&self, context: &Context, asks: &[(Key, Ask)]) -> Arc<[Partition]> {
        let image = context.handle().image();
        let partitions = asks.iter().map(|(key, ask)| {
            let log = match find(&image, key) {
                Ok(_) if self.is_replica => Err(Missing::Refused(ErrorCode::NotLeaderOrFollower)),
                Ok(partition) => Ok(context.handle().logs().get_or_empty(partition)),
                Err(error) => Err(Missing::Unknown(error)),
            };
            Partition { key: key.clone(), ask: *ask, log }
        });
        partitions.collect()
    }

    /// Reads until there is enough, something is wrong, or no time is left.
    async fn read_enough(&self, context: &Context, partitions: &Arc<[Partition]>) -> Pass {
        let limits = Limits {
            max_bytes: self.max_bytes,
            is_committed: self.is_committed,
            with_sizes: self.min_bytes > 1 && self.deadline > context.handle().now(),
        };
        loop {
            let pass = read::pass(context, partitions, limits).await;
            let is_over = context.handle().now() >= self.deadline || context.stop.is_cancelled();
            if is_over || pass.is_final || pass.bytes >= self.min_bytes {
                return pass;
            }
            // What was read is dropped: no memory is held while waiting.
            let waiting = Waiting {
                partitions,
                missing: self.min_bytes.saturating_sub(pass.bytes),
                seen: pass.seen,
                is_committed: self.is_committed,
                deadline: self.deadline,
            };
            drop((pass.readings, pass.share));
            waiting.until_more(context).await;
        }
    }

    fn answer(&self, context: &Context, begun: &Begun, partitions: &[Partition], pass: Pass) -> Answer {
        let share = pass.share;
        let answered = partitions.iter().zip(pass.readings).map(|(partition, reading)| {
            (partition.key.clone(), reading.into_data(partition.key.partition, self.is_committed))
        });
        let answered: Vec<(Key, PartitionData)> = answered.collect();
        let changes: Vec<Change> = answered.iter().map(|(_, data)| Change::of(data)).collect();
        let finished = context.shared.fetch_sessions.finish(begun, &changes, context.handle().now());
        let response = match finished {
            Ok((session_id, shown)) => {
                let shown =
                    answered.into_iter().zip(shown).filter_map(|(answered, is_shown)| is_shown.then_some(answered));
                message!(FetchResponse { session_id: session_id, responses: by_topic(shown) })
            }
            Err(error) => message!(FetchResponse { error_code: error.code() }),
        };
        match share {
            Some(share) => Answer::Large(response.into(), share),
            None => Answer::Response(response.into()),
        }
    }
}

fn find(image: &Image, key: &Key) -> Result<TopicPartition, ErrorCode> {
    let named = match &key.topic {
        TopicKey::Id(id) => Named::Id(*id),
        TopicKey::Name(name) => Named::Name(name),
    };
    topics::find(image, named).and_then(|topic| topics::partition_of(topic, key.partition))
}

/// Puts partitions that follow each other and are of one topic under one heading.
fn by_topic(answered: impl Iterator<Item = (Key, PartitionData)>) -> Vec<FetchableTopicResponse> {
    let mut topics: Vec<FetchableTopicResponse> = Vec::new();
    let mut current: Option<TopicKey> = None;
    for (key, data) in answered {
        if current.as_ref() != Some(&key.topic) {
            let (name, id) = match &key.topic {
                TopicKey::Id(id) => (StrBytes::default(), *id),
                TopicKey::Name(name) => (StrBytes::from(&**name), TopicId::ZERO),
            };
            topics.push(message!(FetchableTopicResponse { topic: name, topic_id: wire_uuid(id) }));
            current = Some(key.topic);
        }
        if let Some(topic) = topics.last_mut() {
            topic.partitions.push(data);
        }
    }
    topics
}

#[cfg(test)]
mod tests;
