//! Fetch answers without copying their records: the rest is written here, the records are passed on.
//!
//! A fetch answer can be tens of megabytes, and the message crate writes into one buffer. So this one message has its
//! own encoder; a test keeps it equal to the crate's in every version. What the server never sends (other leaders, other
//! nodes) it does not know; such an answer goes the ordinary way.

use bytes::{BufMut, Bytes, BytesMut};

use super::messages::FetchResponse;
use super::messages::fetch_response::{FetchableTopicResponse, PartitionData};
use super::segments::Segments;

/// From this version on lengths are variable and there are tagged fields.
const FLEXIBLE_SINCE: i16 = 12;
const ERROR_AND_SESSION_SINCE: i16 = 7;
const LOG_START_SINCE: i16 = 5;
const READ_REPLICA_SINCE: i16 = 11;
const TOPIC_IDS_SINCE: i16 = 13;

/// Tag and size of a diverging epoch, and its end: two numbers and no tagged fields of their own.
const DIVERGING_EPOCH_TAG: u8 = 0;
const DIVERGING_EPOCH_BYTES: u8 = 13;

/// Appends a whole answer frame; false, with nothing appended, if it has to go the ordinary way.
pub(super) fn append(response: &FetchResponse, version: i16, correlation_id: i32, out: &mut Segments) -> bool {
    let Some(frame_bytes) = frame_bytes(response, version) else { return false };
    let frame = Frame { version };
    out.open().put_i32(frame_bytes);
    out.open().put_i32(correlation_id);
    frame.tags(out.open());
    out.open().put_i32(response.throttle_time_ms);
    if version >= ERROR_AND_SESSION_SINCE {
        out.open().put_i16(response.error_code);
        out.open().put_i32(response.session_id);
    }
    frame.count(out.open(), response.responses.len());
    for topic in &response.responses {
        frame.topic_head(out.open(), topic);
        for partition in &topic.partitions {
            frame.partition(out, partition);
        }
        frame.tags(out.open());
    }
    frame.tags(out.open());
    true
}

/// The length of a frame that this encoder can write: what it writes without the records, and the records.
fn frame_bytes(response: &FetchResponse, version: i16) -> Option<i32> {
    if !response.node_endpoints.is_empty() || !response.unknown_tagged_fields.is_empty() {
        return None;
    }
    let frame = Frame { version };
    // Correlation id, throttle time, error, session, tags and count; the rest is counted.
    let mut head = BytesMut::new();
    head.put_i64(0);
    if version >= ERROR_AND_SESSION_SINCE {
        head.put_slice(&[0; 6]);
    }
    frame.tags(&mut head);
    frame.tags(&mut head);
    frame.count(&mut head, response.responses.len());
    let mut total = head.len();
    for topic in &response.responses {
        if !frame.can_name(topic) {
            return None;
        }
        head.clear();
        frame.topic_head(&mut head, topic);
        frame.tags(&mut head);
        total = total.checked_add(head.len())?;
        for partition in &topic.partitions {
            if !is_plain(partition) || (partition.diverging_epoch.epoch >= 0 && !frame.is_flexible()) {
                return None;
            }
            head.clear();
            frame.partition_head(&mut head, partition);
            frame.partition_tail(&mut head, partition);
            total = total.checked_add(head.len())?.checked_add(records_of(partition).len())?;
        }
    }
    i32::try_from(total).ok()
}

/// Whether a partition has nothing that this encoder does not know.
fn is_plain(partition: &PartitionData) -> bool {
    partition.records.is_some()
        && partition.current_leader.leader_id == -1
        && partition.current_leader.leader_epoch == -1
        && partition.snapshot_id.epoch == -1
        && partition.snapshot_id.end_offset == -1
        && partition.unknown_tagged_fields.is_empty()
}

fn records_of(partition: &PartitionData) -> Bytes {
    partition.records.clone().unwrap_or_default()
}

#[derive(Clone, Copy)]
struct Frame {
    version: i16,
}

impl Frame {
    fn is_flexible(self) -> bool {
        self.version >= FLEXIBLE_SINCE
    }

    /// Whether the topic is named as this version names topics, and only so.
    fn can_name(self, topic: &FetchableTopicResponse) -> bool {
        let by_id = self.version >= TOPIC_IDS_SINCE;
        let fits = self.is_flexible() || i16::try_from(topic.topic.len()).is_ok();
        topic.unknown_tagged_fields.is_empty()
            && fits
            && if by_id { topic.topic.is_empty() } else { topic.topic_id.is_zero() }
    }

    fn topic_head(self, out: &mut BytesMut, topic: &FetchableTopicResponse) {
        if self.version >= TOPIC_IDS_SINCE {
            out.put_slice(topic.topic_id.as_bytes());
        } else if self.is_flexible() {
            put_varint(out, topic.topic.len().saturating_add(1));
            out.put_slice(topic.topic.as_bytes());
        } else {
            out.put_i16(i16::try_from(topic.topic.len()).unwrap_or(0));
            out.put_slice(topic.topic.as_bytes());
        }
        self.count(out, topic.partitions.len());
    }

    fn partition(self, out: &mut Segments, partition: &PartitionData) {
        self.partition_head(out.open(), partition);
        out.push(records_of(partition));
        self.partition_tail(out.open(), partition);
    }

    /// Everything before the records, their length included.
    fn partition_head(self, out: &mut BytesMut, partition: &PartitionData) {
        out.put_i32(partition.partition_index);
        out.put_i16(partition.error_code);
        out.put_i64(partition.high_watermark);
        out.put_i64(partition.last_stable_offset);
        if self.version >= LOG_START_SINCE {
            out.put_i64(partition.log_start_offset);
        }
        match &partition.aborted_transactions {
            None if self.is_flexible() => out.put_u8(0),
            None => out.put_i32(-1),
            Some(aborted) => {
                self.count(out, aborted.len());
                for transaction in aborted {
                    out.put_i64(transaction.producer_id);
                    out.put_i64(transaction.first_offset);
                    self.tags(out);
                }
            }
        }
        if self.version >= READ_REPLICA_SINCE {
            out.put_i32(partition.preferred_read_replica);
        }
        self.count(out, records_of(partition).len());
    }

    /// What comes behind the records.
    fn partition_tail(self, out: &mut BytesMut, partition: &PartitionData) {
        if partition.diverging_epoch.epoch < 0 {
            return self.tags(out);
        }
        out.put_slice(&[1, DIVERGING_EPOCH_TAG, DIVERGING_EPOCH_BYTES]);
        out.put_i32(partition.diverging_epoch.epoch);
        out.put_i64(partition.diverging_epoch.end_offset);
        out.put_u8(0);
    }

    /// The count of a list, or the length of records.
    fn count(self, out: &mut BytesMut, count: usize) {
        if self.is_flexible() {
            put_varint(out, count.saturating_add(1));
        } else {
            out.put_i32(i32::try_from(count).unwrap_or(i32::MAX));
        }
    }

    /// No tagged fields, in the versions that have any.
    fn tags(self, out: &mut BytesMut) {
        if self.is_flexible() {
            out.put_u8(0);
        }
    }
}

fn put_varint(out: &mut BytesMut, mut value: usize) {
    while value >= 0x80 {
        out.put_u8(u8::try_from(value & 0x7f).unwrap_or(0) | 0x80);
        value >>= 7;
    }
    out.put_u8(u8::try_from(value).unwrap_or(0));
}

#[cfg(test)]
mod tests {
    use std::io::IoSlice;

    use proptest::prelude::*;

    use super::super::messages::fetch_response::{AbortedTransaction, EpochEndOffset, LeaderIdAndEpoch};
    use super::super::{ApiKey, Response, message};
    use super::*;

    fn partition() -> impl Strategy<Value = PartitionData> {
        let numbers = (any::<i32>(), any::<i16>(), any::<i64>(), any::<i64>(), any::<i64>());
        let aborted = proptest::option::of(proptest::collection::vec((any::<i64>(), any::<i64>()), 0..3));
        let records = prop_oneof![Just(0usize), 1..200usize, 4000..40_000usize];
        (numbers, aborted, records, proptest::option::of((0..9, any::<i64>()))).prop_map(
            |((index, error, high_watermark, stable, start), aborted, records, diverging)| {
                let aborted = aborted.map(|list| {
                    let list = list.into_iter();
                    list.map(|(id, first)| message!(AbortedTransaction { producer_id: id, first_offset: first }))
                        .collect()
                });
                let (epoch, end_offset) = diverging.unwrap_or((-1, -1));
                message!(PartitionData {
                    partition_index: index,
                    error_code: error,
                    high_watermark: high_watermark,
                    last_stable_offset: stable,
                    log_start_offset: start,
                    aborted_transactions: aborted,
                    records: Some(Bytes::from(vec![7; records])),
                    diverging_epoch: message!(EpochEndOffset { epoch: epoch, end_offset: end_offset }),
                })
            },
        )
    }

    fn written(out: &Segments) -> Vec<u8> {
        let mut room = vec![IoSlice::new(&[]); 1000];
        let count = out.slices(&mut room);
        room[..count].iter().flat_map(|slice| slice.to_vec()).collect()
    }

    proptest! {
        #[test]
        fn the_bytes_are_those_that_the_message_crate_writes(
            topics in proptest::collection::vec(("[a-z]{0,200}", any::<[u8; 16]>(), proptest::collection::vec(partition(), 0..4)), 0..4),
            (error, session) in (any::<i16>(), any::<i32>()),
        ) {
            for version in ApiKey::Fetch.served().0..=ApiKey::Fetch.served().1 {
                let responses = topics.iter().map(|(name, id, partitions)| {
                    let mut topic = message!(FetchableTopicResponse { partitions: partitions.clone() });
                    if version >= TOPIC_IDS_SINCE {
                        topic.topic_id = kafka_wire_core::Uuid::from_bytes(*id);
                    } else {
                        topic.topic = name.as_str().into();
                    }
                    if version < FLEXIBLE_SINCE {
                        topic.partitions.iter_mut().for_each(|data| data.diverging_epoch = EpochEndOffset::default());
                    }
                    topic
                });
                let mut response = message!(FetchResponse { responses: responses.collect() });
                if version >= ERROR_AND_SESSION_SINCE {
                    response.error_code = error;
                    response.session_id = session;
                }
                let mut out = Segments::default();
                prop_assert!(append(&response, version, 77, &mut out));
                let expected = Response::from(response).encode(version, 77).unwrap();
                prop_assert_eq!(written(&out), expected.to_vec(), "version {}", version);
            }
        }
    }

    #[test]
    fn what_this_encoder_does_not_know_goes_the_ordinary_way() {
        let of = |partition: PartitionData| {
            let topic = message!(FetchableTopicResponse { partitions: vec![partition] });
            message!(FetchResponse { responses: vec![topic] })
        };
        let mut out = Segments::default();
        let leader = message!(LeaderIdAndEpoch { leader_id: 2, leader_epoch: 1 });
        let other_leader = message!(PartitionData { records: Some(Bytes::new()), current_leader: leader });
        assert!(!append(&of(other_leader), 12, 1, &mut out));
        assert!(!append(&of(PartitionData::default()), 12, 1, &mut out), "records that are null");
        assert!(out.is_empty());
    }
}
