//! `ListOffsets`: where a partition begins and ends, and where a time begins in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::topics::{self, LEADER_EPOCH, Named};
use crate::log::{PartitionLog, ReadError};
use crate::protocol::messages::list_offsets_request::ListOffsetsPartition;
use crate::protocol::messages::list_offsets_response::{ListOffsetsPartitionResponse, ListOffsetsTopicResponse};
use crate::protocol::messages::{ListOffsetsRequest, ListOffsetsResponse};
use crate::protocol::{Response, StrBytes, message};
use crate::server::context::Context;
use crate::server::work::{Answer, Work};
use crate::types::{ErrorCode, Offset, TimestampMs, TopicImage};

// What a negative timestamp means, and the version that brought it.
const LATEST: i64 = -1;
const EARLIEST: i64 = -2;
const MAX_TIMESTAMP: i64 = -3;
const EARLIEST_LOCAL: i64 = -4;
const LATEST_TIERED: i64 = -5;
const EARLIEST_PENDING_UPLOAD: i64 = -6;

/// From this version on an answer carries the leader epoch.
const LEADER_EPOCH_SINCE: i16 = 4;
const READ_COMMITTED: i8 = 1;

/// An offset and, if it was looked for by time, the time of its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Found {
    timestamp: i64,
    offset: i64,
}

/// What is asked of one partition.
enum Lookup {
    /// Needs no look into the log.
    Known(Option<Found>),
    /// Needs one.
    Search { log: Arc<PartitionLog>, timestamp: i64, end: Offset },
}

type Lookups = Vec<(StrBytes, Vec<(i32, Result<Lookup, ErrorCode>)>)>;

pub(in crate::server) fn start(context: &Context, request: ListOffsetsRequest) -> Work {
    let lookups = plan(context, request);
    let version = context.version;
    let needs_search = lookups
        .iter()
        .flat_map(|(_, partitions)| partitions)
        .any(|(_, lookup)| matches!(lookup, Ok(Lookup::Search { .. })));
    if !needs_search {
        return Work::answer(respond(lookups, version));
    }
    let shared = Arc::clone(&context.shared);
    Work::running(async move {
        match shared.read_pool.run(move || respond(lookups, version)).await {
            Some(response) => Answer::Response(response),
            None => Answer::Close("looking for offsets failed"),
        }
    })
}

fn plan(context: &Context, request: ListOffsetsRequest) -> Lookups {
    let image = context.handle().image();
    let mut times_asked: BTreeMap<(StrBytes, i32), usize> = BTreeMap::new();
    for topic in &request.topics {
        for partition in &topic.partitions {
            *times_asked.entry((topic.name.clone(), partition.partition_index)).or_default() += 1;
        }
    }
    let is_committed = request.isolation_level == READ_COMMITTED;
    let topics = request.topics.into_iter().map(|topic| {
        let found = topics::find(&image, Named::Name(&topic.name));
        let partitions = topic.partitions.iter().filter_map(|partition| {
            // A partition that is asked for several times is answered once, with an error.
            let lookup = match times_asked.remove(&(topic.name.clone(), partition.partition_index))? {
                1 => found.and_then(|topic| lookup(context, topic, partition, is_committed)),
                _ => Err(ErrorCode::InvalidRequest),
            };
            Some((partition.partition_index, lookup))
        });
        let partitions = partitions.collect();
        (topic.name, partitions)
    });
    topics.collect()
}

fn lookup(
    context: &Context,
    topic: &TopicImage,
    asked: &ListOffsetsPartition,
    is_committed: bool,
) -> Result<Lookup, ErrorCode> {
    let partition = topics::partition_of(topic, asked.partition_index)?;
    topics::check_leader_epoch(asked.current_leader_epoch)?;
    let log = context.handle().logs().get(partition);
    let bounds = log.as_ref().map(|log| log.bounds()).unwrap_or_default();
    let end = if is_committed { bounds.last_stable_offset } else { bounds.high_watermark };
    let known = |offset: Offset| Ok(Lookup::Known(Some(Found { timestamp: -1, offset: offset.0 })));
    match asked.timestamp {
        LATEST => known(end),
        EARLIEST => known(bounds.log_start),
        EARLIEST_LOCAL if context.version >= 8 => known(bounds.log_start),
        // There is no tiered storage.
        LATEST_TIERED if context.version >= 9 => Ok(Lookup::Known(None)),
        EARLIEST_PENDING_UPLOAD if context.version >= 11 => Ok(Lookup::Known(None)),
        MAX_TIMESTAMP if context.version < 7 => Err(ErrorCode::UnsupportedVersion),
        MAX_TIMESTAMP | 0.. => Ok(match log {
            Some(log) => Lookup::Search { log, timestamp: asked.timestamp, end },
            None => Lookup::Known(None),
        }),
        _ => Err(ErrorCode::UnsupportedVersion),
    }
}

fn respond(lookups: Lookups, version: i16) -> Response {
    let topics = lookups.into_iter().map(|(name, partitions)| {
        let partitions = partitions.into_iter().map(|(index, lookup)| {
            let (found, error) = match lookup.and_then(find) {
                Ok(found) => (found, ErrorCode::None),
                Err(error) => (None, error),
            };
            let has_epoch = found.is_some() && version >= LEADER_EPOCH_SINCE;
            let Found { timestamp, offset } = found.unwrap_or(Found { timestamp: -1, offset: -1 });
            message!(ListOffsetsPartitionResponse {
                partition_index: index,
                error_code: error.code(),
                timestamp: timestamp,
                offset: offset,
                leader_epoch: if has_epoch { LEADER_EPOCH } else { -1 },
            })
        });
        let partitions = partitions.collect();
        message!(ListOffsetsTopicResponse { name: name, partitions: partitions })
    });
    message!(ListOffsetsResponse { topics: topics.collect() }).into()
}

fn find(lookup: Lookup) -> Result<Option<Found>, ErrorCode> {
    let (log, timestamp, end) = match lookup {
        Lookup::Known(found) => return Ok(found),
        Lookup::Search { log, timestamp, end } => (log, timestamp, end),
    };
    let found = match timestamp {
        MAX_TIMESTAMP => log.max_timestamp(end),
        timestamp => log.offset_for_timestamp(TimestampMs(timestamp), end),
    };
    match found {
        Ok(found) => Ok(found.map(|found| Found { timestamp: found.timestamp.0, offset: found.offset.0 })),
        Err(error) => {
            if let ReadError::Log(error) = &error {
                tracing::error!(%error, "a partition log could not be searched");
            }
            Err(error.code())
        }
    }
}

#[cfg(test)]
mod tests;
