//! The keys of the state store: one per record, so that the store is the compacted log.
//!
//! A key is `space u8 | …`; the table below says what follows. Everything that belongs to one group or one topic lies
//! together, parents before children, and loading in key order replays them in that order. Byte order is the order of
//! the parts: ids are escaped so that no id is a prefix of another, numbers are big-endian with the sign turned.
//!
//! Spaces, ranks and record types are on disk: they are never renumbered, and those that are retired or only planned
//! stay in [`RESERVED`].

#[cfg(test)]
mod tests;

use std::fmt;

use bytes::{Bytes, BytesMut};

use crate::types::{GroupId, MemberId, ProducerId, TopicId, TopicName, TopicPartition};

/// `space | rank`
pub(crate) const META: u8 = 0x01;
/// `space | rank | suffix`
pub(crate) const CATALOG: u8 = 0x02;
/// `space | rank | suffix`
pub(crate) const TRANSACTIONS: u8 = 0x03;
/// `space | topic id | partition | rank | suffix`
pub(crate) const HEADS: u8 = 0x04;
/// `space | group id, escaped | rank | suffix`
pub(crate) const GROUPS: u8 = 0x05;
/// Never the first byte of a key: the store keeps values here that are too large for their place.
pub(crate) const STORE: u8 = 0xff;

/// A kind of key: where it lies and what its value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// The first byte.
    pub(crate) space: u8,
    /// The place within the group, the partition or the space.
    pub(crate) rank: u8,
    /// The type in the value's envelope. Up to 127 they are Kafka's (`__consumer_offsets`), above they are ours.
    pub(crate) record_type: u8,
    /// Kafka's name, or ours.
    pub(crate) name: &'static str,
}

const fn kind(space: u8, rank: u8, record_type: u8, name: &'static str) -> Kind {
    Kind { space, rank, record_type, name }
}

impl Kind {
    fn unknown(self) -> KeyError {
        KeyError::UnknownKind { space: self.space, rank: self.rank }
    }
}

const CHECKPOINT: Kind = kind(META, 0x01, 128, "Checkpoint");
const TOPIC: Kind = kind(CATALOG, 0x02, 130, "Topic");
const GROUP_CONFIG: Kind = kind(CATALOG, 0x03, 131, "GroupConfig");
const BROKER_CONFIG: Kind = kind(CATALOG, 0x04, 132, "BrokerConfig");
const PRODUCER_IDS: Kind = kind(TRANSACTIONS, 0x01, 133, "ProducerIds");
const HEAD_START: Kind = kind(HEADS, 0x01, 134, "HeadStart");
const HEAD_END: Kind = kind(HEADS, 0x02, 135, "HeadEnd");
const PRODUCER: Kind = kind(HEADS, 0x20, 136, "Producer");
const STREAMS_GROUP_METADATA: Kind = kind(GROUPS, 0x13, 17, "StreamsGroupMetadata");
const STREAMS_GROUP_TOPOLOGY: Kind = kind(GROUPS, 0x23, 23, "StreamsGroupTopology");
const STREAMS_GROUP_MEMBER_METADATA: Kind = kind(GROUPS, 0x33, 19, "StreamsGroupMemberMetadata");
const STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA: Kind = kind(GROUPS, 0x43, 20, "StreamsGroupTargetAssignmentMetadata");
const STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER: Kind = kind(GROUPS, 0x53, 21, "StreamsGroupTargetAssignmentMember");
const STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT: Kind = kind(GROUPS, 0x63, 22, "StreamsGroupCurrentMemberAssignment");
const OFFSET_COMMIT: Kind = kind(GROUPS, 0x80, 1, "OffsetCommit");

/// What is stored.
pub(crate) const KINDS: &[Kind] = &[
    CHECKPOINT,
    TOPIC,
    GROUP_CONFIG,
    BROKER_CONFIG,
    PRODUCER_IDS,
    HEAD_START,
    HEAD_END,
    PRODUCER,
    STREAMS_GROUP_METADATA,
    STREAMS_GROUP_TOPOLOGY,
    STREAMS_GROUP_MEMBER_METADATA,
    STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA,
    STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER,
    STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    OFFSET_COMMIT,
];

/// Places and numbers that are spoken for. Kafka's types 0 (an older offset key), 4, 9 and 18 have no record of ours.
#[cfg(test)]
pub(crate) const RESERVED: &[Kind] = &[
    kind(CATALOG, 0x01, 129, "Cluster"),
    kind(CATALOG, 0x05, 137, "AccessControlEntry"),
    kind(CATALOG, 0x06, 138, "UserScramCredential"),
    kind(CATALOG, 0x07, 139, "ClientQuota"),
    kind(TRANSACTIONS, 0x02, 140, "TransactionalId"),
    kind(HEADS, 0x03, 141, "Segments"),
    kind(HEADS, 0x10, 142, "OpenTransaction"),
    kind(GROUPS, 0x81, 143, "PendingOffset"),
    kind(GROUPS, 0x10, 2, "GroupMetadata"),
    kind(GROUPS, 0x11, 3, "ConsumerGroupMetadata"),
    kind(GROUPS, 0x21, 16, "ConsumerGroupRegularExpression"),
    kind(GROUPS, 0x31, 5, "ConsumerGroupMemberMetadata"),
    kind(GROUPS, 0x41, 6, "ConsumerGroupTargetAssignmentMetadata"),
    kind(GROUPS, 0x51, 7, "ConsumerGroupTargetAssignmentMember"),
    kind(GROUPS, 0x61, 8, "ConsumerGroupCurrentMemberAssignment"),
    kind(GROUPS, 0x12, 11, "ShareGroupMetadata"),
    kind(GROUPS, 0x32, 10, "ShareGroupMemberMetadata"),
    kind(GROUPS, 0x42, 12, "ShareGroupTargetAssignmentMetadata"),
    kind(GROUPS, 0x52, 13, "ShareGroupTargetAssignmentMember"),
    kind(GROUPS, 0x62, 14, "ShareGroupCurrentMemberAssignment"),
    kind(GROUPS, 0x72, 15, "ShareGroupStatePartitionMetadata"),
];

/// A key, taken apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are those of the records")]
pub(crate) enum Key {
    /// Up to which change the store is complete. Written by the store itself, never shown by a load.
    Checkpoint,
    Topic(TopicId),
    GroupConfig(GroupId),
    BrokerConfig {
        /// Of the whole cluster rather than of this node.
        default: bool,
    },
    ProducerIds,
    HeadStart(TopicPartition),
    HeadEnd(TopicPartition),
    Producer(TopicPartition, ProducerId),
    StreamsGroupMetadata(GroupId),
    StreamsGroupTopology(GroupId),
    StreamsGroupMemberMetadata(GroupId, MemberId),
    StreamsGroupTargetAssignmentMetadata(GroupId),
    StreamsGroupTargetAssignmentMember(GroupId, MemberId),
    StreamsGroupCurrentMemberAssignment(GroupId, MemberId),
    OffsetCommit(GroupId, TopicName, i32),
}

/// Why bytes are not a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KeyError {
    /// No kind of key is known at this place.
    #[error("no record is known in space {space} at rank {rank}; a later version of this program may have written it")]
    UnknownKind { space: u8, rank: u8 },
    /// The place is known, the bytes are not whole.
    #[error("the bytes after its kind are malformed")]
    Malformed,
}

impl Key {
    /// Where it lies and what its value is.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Checkpoint => CHECKPOINT,
            Self::Topic(_) => TOPIC,
            Self::GroupConfig(_) => GROUP_CONFIG,
            Self::BrokerConfig { .. } => BROKER_CONFIG,
            Self::ProducerIds => PRODUCER_IDS,
            Self::HeadStart(_) => HEAD_START,
            Self::HeadEnd(_) => HEAD_END,
            Self::Producer(..) => PRODUCER,
            Self::StreamsGroupMetadata(_) => STREAMS_GROUP_METADATA,
            Self::StreamsGroupTopology(_) => STREAMS_GROUP_TOPOLOGY,
            Self::StreamsGroupMemberMetadata(..) => STREAMS_GROUP_MEMBER_METADATA,
            Self::StreamsGroupTargetAssignmentMetadata(_) => STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA,
            Self::StreamsGroupTargetAssignmentMember(..) => STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER,
            Self::StreamsGroupCurrentMemberAssignment(..) => STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT,
            Self::OffsetCommit(..) => OFFSET_COMMIT,
        }
    }

    /// The type of its value.
    pub(crate) fn record_type(&self) -> u8 {
        self.kind().record_type
    }

    /// Its bytes.
    pub(crate) fn encode(&self) -> Bytes {
        let Kind { space, rank, .. } = self.kind();
        let mut out = BytesMut::from(&[space][..]);
        match self {
            Self::HeadStart(partition) | Self::HeadEnd(partition) | Self::Producer(partition, _) => {
                out.extend_from_slice(&partition.topic_id.to_bytes());
                out.extend_from_slice(&ordered_i32(partition.partition));
            }
            Self::StreamsGroupMetadata(group)
            | Self::StreamsGroupTopology(group)
            | Self::StreamsGroupMemberMetadata(group, _)
            | Self::StreamsGroupTargetAssignmentMetadata(group)
            | Self::StreamsGroupTargetAssignmentMember(group, _)
            | Self::StreamsGroupCurrentMemberAssignment(group, _)
            | Self::OffsetCommit(group, ..) => put_escaped(&mut out, group),
            _ => {}
        }
        out.extend_from_slice(&[rank]);
        match self {
            Self::Topic(topic_id) => out.extend_from_slice(&topic_id.to_bytes()),
            Self::GroupConfig(group) => out.extend_from_slice(group.as_bytes()),
            Self::BrokerConfig { default } => out.extend_from_slice(&[u8::from(*default)]),
            Self::Producer(_, producer_id) => out.extend_from_slice(&ordered_i64(producer_id.0)),
            Self::StreamsGroupMemberMetadata(_, member)
            | Self::StreamsGroupTargetAssignmentMember(_, member)
            | Self::StreamsGroupCurrentMemberAssignment(_, member) => out.extend_from_slice(member.as_bytes()),
            Self::OffsetCommit(_, topic, partition) => {
                put_escaped(&mut out, topic);
                out.extend_from_slice(&ordered_i32(*partition));
            }
            _ => {}
        }
        out.freeze()
    }

    /// Takes bytes apart. Exactly what [`Key::encode`] writes is accepted.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, KeyError> {
        let mut reader = Reader(bytes);
        let space = reader.byte()?;
        let key = match space {
            GROUPS => {
                let group = GroupId::from(reader.escaped()?);
                let kind = reader.kind(space)?;
                reader.group_key(group, kind)?
            }
            HEADS => {
                let topic_id = TopicId::from_bytes(reader.array()?);
                let partition = reader.ordered_i32()?;
                let kind = reader.kind(space)?;
                reader.head_key(TopicPartition { topic_id, partition }, kind)?
            }
            _ => {
                let kind = reader.kind(space)?;
                reader.other_key(kind)?
            }
        };
        if reader.0.is_empty() { Ok(key) } else { Err(KeyError::Malformed) }
    }

    /// All keys of a group start with this, and no others do: its records and its offsets. Its configs are elsewhere.
    pub(crate) fn group_prefix(group: &GroupId) -> Bytes {
        let mut out = BytesMut::from(&[GROUPS][..]);
        put_escaped(&mut out, group);
        out.freeze()
    }

    /// All heads and producers of a topic start with this, and no others do. The topic itself is elsewhere.
    pub(crate) fn topic_prefix(topic: TopicId) -> Bytes {
        let mut out = BytesMut::from(&[HEADS][..]);
        out.extend_from_slice(&topic.to_bytes());
        out.freeze()
    }

    /// A text for people, whatever the bytes are.
    pub(crate) fn describe(bytes: &[u8]) -> String {
        const SHOWN: usize = 64;
        if let Ok(key) = Self::decode(bytes) {
            return key.to_string();
        }
        let start = bytes.get(..SHOWN).unwrap_or(bytes);
        let more = if start.len() < bytes.len() { "…" } else { "" };
        format!("0x{}{more}", hex(start))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.kind().name)?;
        match self {
            Self::Checkpoint | Self::ProducerIds => Ok(()),
            Self::Topic(topic_id) => write!(out, "({topic_id})"),
            Self::BrokerConfig { default } => write!(out, "({})", if *default { "default" } else { "this node" }),
            Self::HeadStart(partition) | Self::HeadEnd(partition) => {
                write!(out, "({}-{})", partition.topic_id, partition.partition)
            }
            Self::Producer(partition, producer_id) => {
                write!(out, "({}-{}, producer {producer_id})", partition.topic_id, partition.partition)
            }
            Self::GroupConfig(group)
            | Self::StreamsGroupMetadata(group)
            | Self::StreamsGroupTopology(group)
            | Self::StreamsGroupTargetAssignmentMetadata(group) => write!(out, "(group {group:?})"),
            Self::StreamsGroupMemberMetadata(group, member)
            | Self::StreamsGroupTargetAssignmentMember(group, member)
            | Self::StreamsGroupCurrentMemberAssignment(group, member) => {
                write!(out, "(group {group:?}, member {member:?})")
            }
            Self::OffsetCommit(group, topic, partition) => write!(out, "(group {group:?}, {topic:?}-{partition})"),
        }
    }
}

/// Two digits a byte.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

/// A zero byte becomes `00 ff`, the end is `00 00`: below any byte that could go on, so shorter ids come first.
fn put_escaped(out: &mut BytesMut, text: &str) {
    for byte in text.bytes() {
        out.extend_from_slice(if byte == 0 { &[0, 0xff] } else { std::slice::from_ref(&byte) });
    }
    out.extend_from_slice(&[0, 0]);
}

/// Bytes in the order of the numbers.
fn ordered_i32(number: i32) -> [u8; 4] {
    (number ^ i32::MIN).to_be_bytes()
}

fn ordered_i64(number: i64) -> [u8; 8] {
    (number ^ i64::MIN).to_be_bytes()
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], KeyError> {
        let (taken, left) = self.0.split_first_chunk::<N>().ok_or(KeyError::Malformed)?;
        self.0 = left;
        Ok(*taken)
    }

    fn byte(&mut self) -> Result<u8, KeyError> {
        self.array().map(|[byte]| byte)
    }

    fn kind(&mut self, space: u8) -> Result<Kind, KeyError> {
        let rank = self.byte()?;
        let kind = KINDS.iter().find(|kind| kind.space == space && kind.rank == rank);
        kind.copied().ok_or(KeyError::UnknownKind { space, rank })
    }

    fn ordered_i32(&mut self) -> Result<i32, KeyError> {
        self.array().map(|bytes| i32::from_be_bytes(bytes) ^ i32::MIN)
    }

    fn ordered_i64(&mut self) -> Result<i64, KeyError> {
        self.array().map(|bytes| i64::from_be_bytes(bytes) ^ i64::MIN)
    }

    fn escaped(&mut self) -> Result<String, KeyError> {
        let mut text = Vec::new();
        loop {
            match self.byte()? {
                0 => match self.byte()? {
                    0 => return String::from_utf8(text).map_err(|_| KeyError::Malformed),
                    0xff => text.push(0),
                    _ => return Err(KeyError::Malformed),
                },
                byte => text.push(byte),
            }
        }
    }

    /// All that is left, as text.
    fn rest(&mut self) -> Result<&str, KeyError> {
        let rest = std::mem::take(&mut self.0);
        std::str::from_utf8(rest).map_err(|_| KeyError::Malformed)
    }

    fn other_key(&mut self, kind: Kind) -> Result<Key, KeyError> {
        Ok(match kind {
            CHECKPOINT => Key::Checkpoint,
            TOPIC => Key::Topic(TopicId::from_bytes(self.array()?)),
            GROUP_CONFIG => Key::GroupConfig(GroupId::from(self.rest()?)),
            BROKER_CONFIG => match self.byte()? {
                0 => Key::BrokerConfig { default: false },
                1 => Key::BrokerConfig { default: true },
                _ => return Err(KeyError::Malformed),
            },
            PRODUCER_IDS => Key::ProducerIds,
            _ => return Err(kind.unknown()),
        })
    }

    fn head_key(&mut self, partition: TopicPartition, kind: Kind) -> Result<Key, KeyError> {
        Ok(match kind {
            HEAD_START => Key::HeadStart(partition),
            HEAD_END => Key::HeadEnd(partition),
            PRODUCER => Key::Producer(partition, ProducerId(self.ordered_i64()?)),
            _ => return Err(kind.unknown()),
        })
    }

    fn group_key(&mut self, group: GroupId, kind: Kind) -> Result<Key, KeyError> {
        Ok(match kind {
            STREAMS_GROUP_METADATA => Key::StreamsGroupMetadata(group),
            STREAMS_GROUP_TOPOLOGY => Key::StreamsGroupTopology(group),
            STREAMS_GROUP_MEMBER_METADATA => Key::StreamsGroupMemberMetadata(group, self.member()?),
            STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA => Key::StreamsGroupTargetAssignmentMetadata(group),
            STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER => Key::StreamsGroupTargetAssignmentMember(group, self.member()?),
            STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT => Key::StreamsGroupCurrentMemberAssignment(group, self.member()?),
            OFFSET_COMMIT => Key::OffsetCommit(group, TopicName::from(self.escaped()?), self.ordered_i32()?),
            _ => return Err(kind.unknown()),
        })
    }

    fn member(&mut self) -> Result<MemberId, KeyError> {
        self.rest().map(MemberId::from)
    }
}
