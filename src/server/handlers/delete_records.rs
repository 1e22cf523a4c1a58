//! `DeleteRecords`: raises log starts. The machine answers once the new start is durable.

use futures_util::future::join_all;

use super::topics::{self, Named};
use crate::config::TopicConfig;
use crate::heads;
use crate::machine::ReplyTo;
use crate::protocol::message;
use crate::protocol::messages::delete_records_response::{DeleteRecordsPartitionResult, DeleteRecordsTopicResult};
use crate::protocol::messages::{DeleteRecordsRequest, DeleteRecordsResponse};
use crate::runtime::{Input, Pending, Reply, Slot, Unavailable};
use crate::server::context::Context;
use crate::server::work::{Answer, Work};
use crate::types::{ErrorCode, Image, Offset, TopicImage, TopicPartition};

pub(in crate::server) fn submit(context: &Context, request: DeleteRecordsRequest, slot: Slot) -> Work {
    let image = context.handle().image();
    let mut asked = Vec::new();
    let results = request.topics.into_iter().map(|topic| {
        let found = topics::find(&image, Named::Name(&topic.name));
        let partitions = topic.partitions.iter().map(|partition| {
            let checked = found.and_then(|topic| check(context, &image, topic, partition.partition_index));
            let error = match checked {
                Ok(checked) => {
                    asked.push((checked, Offset(partition.offset)));
                    None
                }
                Err(error) => Some(error),
            };
            (partition.partition_index, error)
        });
        (topic.name, partitions.collect::<Vec<_>>())
    });
    let results: Vec<_> = results.collect();
    let pending = if asked.is_empty() {
        Vec::new()
    } else {
        slot.ask_all(asked.into_iter().map(|(partition, offset)| raise(partition, offset)))
    };
    Work::running(finish(results, pending))
}

fn raise(partition: TopicPartition, offset: Offset) -> impl FnOnce(ReplyTo) -> Input {
    move |to| Input::Heads(heads::Input::RaiseLogStart { to, partition, offset })
}

fn check(context: &Context, image: &Image, topic: &TopicImage, partition: i32) -> Result<TopicPartition, ErrorCode> {
    let partition = topics::partition_of(topic, partition)?;
    // Of a topic that is only compacted, the last value of a key must not go.
    let policy = TopicConfig::of(context.handle().config(), image, topic);
    if policy.is_compact() && !policy.is_delete() {
        return Err(ErrorCode::PolicyViolation);
    }
    Ok(partition)
}

type Results = Vec<(crate::protocol::StrBytes, Vec<(i32, Option<ErrorCode>)>)>;

async fn finish(results: Results, pending: Vec<Pending>) -> Answer {
    let outcomes = join_all(pending).await;
    let mut outcomes = outcomes.iter();
    let topics = results.into_iter().map(|(name, partitions)| {
        let partitions = partitions.into_iter().map(|(index, refused)| {
            let outcome = refused.map_or_else(|| outcome_of(outcomes.next()), Err);
            message!(DeleteRecordsPartitionResult {
                partition_index: index,
                low_watermark: outcome.map_or(-1, |low_watermark| low_watermark.0),
                error_code: outcome.err().unwrap_or(ErrorCode::None).code(),
            })
        });
        let partitions = partitions.collect();
        message!(DeleteRecordsTopicResult { name: name, partitions: partitions })
    });
    Answer::Response(message!(DeleteRecordsResponse { topics: topics.collect() }).into())
}

fn outcome_of(outcome: Option<&Result<Reply, Unavailable>>) -> Result<Offset, ErrorCode> {
    match outcome {
        Some(Ok(Reply::Heads(heads::Reply::LogStart { low_watermark }))) => Ok(*low_watermark),
        Some(Ok(Reply::Heads(heads::Reply::Refused { error, .. }))) => Err(*error),
        Some(Err(unavailable)) => Err(unavailable.error_code(true)),
        Some(Ok(Reply::Heads(heads::Reply::Appended { .. }) | Reply::Response(_))) | None => {
            Err(ErrorCode::UnknownServerError)
        }
    }
}

#[cfg(test)]
mod tests;
