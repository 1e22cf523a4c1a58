//! Produce: batches are checked here, in parallel with other connections, and then get their place from the machine.
//!
//! All batches of a request are submitted before the connection looks at its next request. So those that an idempotent
//! producer pipelines are numbered in the order it sent them. An answer leaves once the batches are durable, with
//! acks 1 as with acks -1.

mod rules;

use bytes::BytesMut;
use futures_util::future::join_all;

pub(in crate::server) use rules::RulesCache;

use super::topics::{self, Named};
use crate::heads;
use crate::machine::ReplyTo;
use crate::protocol::batch::{self, BatchMeta, Invalid, RecordError};
use crate::protocol::messages::produce_response::{
    BatchIndexAndErrorMessage, PartitionProduceResponse, TopicProduceResponse,
};
use crate::protocol::messages::{ProduceRequest, ProduceResponse, produce_request};
use crate::protocol::{StrBytes, message, topic_id, wire_uuid};
use crate::runtime::{Input, Reply, Slot, Unavailable};
use crate::server::blocking;
use crate::server::context::Context;
use crate::server::work::{Answer, Work};
use crate::types::{ErrorCode, Image, TopicId, TopicPartition};
use rules::TopicRules;

/// From this version on topics are named by id.
const TOPIC_IDS_SINCE: i16 = 13;
/// Checking more than this takes long enough to be in the way of other connections.
const QUICK_CHECK_BYTES: usize = 128 * 1024;

/// A batch that may be appended.
struct Checked {
    partition: TopicPartition,
    meta: BatchMeta,
    batch: BytesMut,
}

/// The answer as far as it is known before the machine has answered.
struct Plan {
    acks: i16,
    topics: Vec<PlannedTopic>,
}

struct PlannedTopic {
    name: StrBytes,
    id: TopicId,
    /// The partitions, each with what refuses it; without that the machine's next answer is its own.
    partitions: Vec<(i32, Option<Refused>)>,
}

/// Why a batch is not appended.
struct Refused {
    error: ErrorCode,
    log_start: i64,
    message: Option<String>,
    records: Vec<RecordError>,
}

impl From<ErrorCode> for Refused {
    fn from(error: ErrorCode) -> Self {
        Self { error, log_start: -1, message: None, records: Vec::new() }
    }
}

pub(in crate::server) fn submit(context: &Context, request: &ProduceRequest, slot: Slot) -> Work {
    let partitions = || request.topic_data.iter().flat_map(|topic| &topic.partition_data);
    if partitions().any(|partition| partition.records.is_none()) {
        return Work::Done(Answer::Close("a partition of a produce request has no records"));
    }
    let bytes: usize = partitions().filter_map(|partition| partition.records.as_ref()).map(bytes::Bytes::len).sum();
    let (plan, checked) = blocking::in_place(bytes > QUICK_CHECK_BYTES, || check_all(context, request));
    if checked.is_empty() {
        return Work::Done(plan.answer(&[]));
    }
    let pending = slot.ask_all(checked.into_iter().map(append));
    Work::running(async move { plan.answer(&join_all(pending).await) })
}

fn append(checked: Checked) -> impl FnOnce(ReplyTo) -> Input {
    let Checked { partition, meta, batch } = checked;
    move |to| Input::Heads(heads::Input::Append { to, partition, meta, batch })
}

fn check_all(context: &Context, request: &ProduceRequest) -> (Plan, Vec<Checked>) {
    let image = context.handle().image();
    let mut checked = Vec::new();
    let mut plan = Plan { acks: request.acks, topics: Vec::with_capacity(request.topic_data.len()) };
    for topic in &request.topic_data {
        let id = topic_id(topic.topic_id);
        let named = if context.version >= TOPIC_IDS_SINCE { Named::Id(id) } else { Named::Name(&topic.name) };
        let check = Check { context, image: &image, acks: request.acks, rules: rules_of(context, &image, named) };
        let partitions = topic.partition_data.iter().map(|partition| match check.partition(partition) {
            Ok(batch) => {
                checked.push(batch);
                (partition.index, None)
            }
            Err(refused) => (partition.index, Some(refused)),
        });
        let partitions = partitions.collect();
        plan.topics.push(PlannedTopic { name: topic.name.as_str().into(), id, partitions });
    }
    if request.transactional_id.is_none() && checked.iter().any(|batch| batch.meta.is_transactional) {
        plan.refuse_all(ErrorCode::TransactionalIdAuthorizationFailed);
        checked.clear();
    }
    (plan, checked)
}

fn rules_of(context: &Context, image: &Image, named: Named<'_>) -> Result<std::sync::Arc<TopicRules>, ErrorCode> {
    let topic = topics::find(image, named)?;
    Ok(context.shared.produce_rules.of(context.handle().config(), image, topic))
}

/// The checks of one topic's partitions.
struct Check<'a> {
    context: &'a Context,
    image: &'a Image,
    acks: i16,
    rules: Result<std::sync::Arc<TopicRules>, ErrorCode>,
}

impl Check<'_> {
    fn partition(&self, data: &produce_request::PartitionProduceData) -> Result<Checked, Refused> {
        let rules = self.rules.as_ref().map_err(|error| *error)?;
        let topic = self.image.topic_by_id(rules.topic_id()).ok_or(ErrorCode::UnknownTopicOrPartition)?;
        let partition = topics::partition_of(topic, data.index)?;
        if !(-1..=1).contains(&self.acks) {
            return Err(ErrorCode::InvalidRequiredAcks.into());
        }
        let records = data.records.as_deref().unwrap_or_default();
        let rules = rules.of_partition(data.index, self.context.handle().now(), self.context.version);
        match batch::validate(records, &rules) {
            Ok(valid) => Ok(Checked { partition, meta: valid.meta, batch: valid.batch }),
            Err(invalid) => Err(self.refused(partition, invalid)),
        }
    }

    fn refused(&self, partition: TopicPartition, invalid: Invalid) -> Refused {
        tracing::debug!(topic = %partition.topic_id, partition = partition.partition, %invalid, "batch refused");
        let log_start = || self.context.handle().logs().get(partition).map_or(0, |log| log.bounds().log_start.0);
        Refused {
            error: invalid.error,
            log_start: if invalid.tells_log_start { log_start() } else { -1 },
            message: invalid.message,
            records: invalid.record_errors,
        }
    }
}

impl Plan {
    fn refuse_all(&mut self, error: ErrorCode) {
        let partitions = self.topics.iter_mut().flat_map(|topic| &mut topic.partitions);
        partitions.for_each(|(_, refused)| *refused = Some(error.into()));
    }

    /// Fills in what the machine said of each batch that was submitted, in order.
    fn answer(self, outcomes: &[Result<Reply, Unavailable>]) -> Answer {
        let mut outcomes = outcomes.iter();
        let responses = self.topics.into_iter().map(|topic| {
            let partitions = topic.partitions.into_iter().map(|(index, refused)| match refused {
                Some(refused) => refused_response(index, refused),
                None => appended_response(index, outcomes.next()),
            });
            let partitions = partitions.collect();
            message!(TopicProduceResponse {
                name: topic.name,
                topic_id: wire_uuid(topic.id),
                partition_responses: partitions,
            })
        });
        let response = message!(ProduceResponse { responses: responses.collect() });
        if self.acks != 0 {
            return Answer::Response(response.into());
        }
        // Without an answer a closed connection is all that tells a producer to look again.
        let mut partitions = response.responses.iter().flat_map(|topic| &topic.partition_responses);
        if partitions.any(|partition| partition.error_code != 0) {
            return Answer::Close("a batch with acks 0 was refused");
        }
        Answer::Silence
    }
}

fn refused_response(index: i32, refused: Refused) -> PartitionProduceResponse {
    let records = refused.records.into_iter().map(|record| {
        message!(BatchIndexAndErrorMessage {
            batch_index: record.batch_index,
            batch_index_error_message: Some(record.message.into()),
        })
    });
    message!(PartitionProduceResponse {
        index: index,
        error_code: refused.error.code(),
        base_offset: -1,
        log_start_offset: refused.log_start,
        record_errors: records.collect(),
        error_message: refused.message.map(StrBytes::from),
    })
}

fn appended_response(index: i32, outcome: Option<&Result<Reply, Unavailable>>) -> PartitionProduceResponse {
    match outcome {
        Some(Ok(Reply::Heads(heads::Reply::Appended { base_offset, log_append_time, log_start }))) => {
            message!(PartitionProduceResponse {
                index: index,
                base_offset: base_offset.0,
                log_append_time_ms: log_append_time.0,
                log_start_offset: log_start.0,
            })
        }
        Some(Ok(Reply::Heads(heads::Reply::Refused { error, log_start }))) => {
            refused_response(index, Refused { log_start: log_start.0, ..(*error).into() })
        }
        Some(Err(unavailable)) => refused_response(index, unavailable.error_code(true).into()),
        Some(Ok(Reply::Heads(heads::Reply::LogStart { .. }) | Reply::Response(_))) | None => {
            refused_response(index, ErrorCode::UnknownServerError.into())
        }
    }
}

#[cfg(test)]
mod tests;
