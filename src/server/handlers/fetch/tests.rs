//! Tests against what Kafka 4.4.0 was observed to answer. What they share is here.

mod polling;
mod reading;
mod sessions;

use std::time::Duration;

use super::*;
use crate::protocol::Response;
use crate::protocol::batch::BatchHeader;
use crate::protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use crate::server::testing::{Setup, World, answer_of, partition, response_of, settle};
use crate::types::Offset;

/// A fetch of partitions of one topic by name, each from an offset. Takes everything there is, at once.
pub(super) fn by_name(topic: &str, partitions: &[(i32, i64)]) -> FetchRequest {
    let partitions = partitions.iter().map(|(index, offset)| {
        message!(FetchPartition { partition: *index, fetch_offset: *offset, partition_max_bytes: 1_000_000 })
    });
    let topic = message!(FetchTopic { topic: topic.into(), partitions: partitions.collect() });
    message!(FetchRequest { min_bytes: 1, max_wait_ms: 0, topics: vec![topic] })
}

/// The same by id.
pub(super) fn by_id(topic: TopicId, partitions: &[(i32, i64)]) -> FetchRequest {
    let mut request = by_name("", partitions);
    request.topics[0].topic_id = wire_uuid(topic);
    request
}

pub(super) async fn fetch(world: &World, version: i16, request: FetchRequest) -> FetchResponse {
    let response = response_of(start(&world.context(version), request)).await;
    response.encode(version, 1).expect("it fits its version");
    let Response::Fetch(response) = response else { panic!() };
    *response
}

pub(super) fn partitions_of(response: &FetchResponse) -> Vec<&PartitionData> {
    response.responses.iter().flat_map(|topic| &topic.partitions).collect()
}

pub(super) fn errors_of(response: &FetchResponse) -> Vec<(i32, i16)> {
    partitions_of(response).iter().map(|data| (data.partition_index, data.error_code)).collect()
}

/// The base offsets of the batches of a partition.
pub(super) fn batches_of(data: &PartitionData) -> Vec<i64> {
    let mut bytes = data.records.as_deref().expect("records are never null");
    let mut offsets = Vec::new();
    while !bytes.is_empty() {
        let header = BatchHeader::parse(bytes).unwrap();
        header.check_crc(bytes).unwrap();
        offsets.push(header.base_offset.0);
        bytes = &bytes[header.total_len()..];
    }
    offsets
}

/// Partition index and the base offsets of its batches, for all partitions of an answer.
pub(super) fn read(response: &FetchResponse) -> Vec<(i32, Vec<i64>)> {
    partitions_of(response).iter().map(|data| (data.partition_index, batches_of(data))).collect()
}

/// A topic with two partitions; the first has three batches of one, two and one records.
pub(super) fn world_with_orders(setup: Setup) -> (World, TopicId) {
    let mut world = World::with(setup);
    let orders = world.topic("orders", 2, &[]);
    for values in [&["a"][..], &["b", "c"], &["d"]] {
        world.append(partition(orders, 0), values);
    }
    (world, orders)
}
