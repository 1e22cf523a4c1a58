//! Records of all cores to keys and values, and back. The one place that knows both.
//!
//! A record type has a number of its own: Kafka's where Kafka has it, from 64 on where it is ours. Numbers are never
//! given twice. A value's version is that of its struct.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::journal::Item;
use crate::store::{Envelope, Key, StoreError, envelope};
use crate::types::{Lsn, Offset};
use crate::{catalog, coordinator, heads, txn};

/// A record of any core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// Groups and offsets.
    Coordinator(coordinator::Record),
    /// Topics and configs.
    Catalog(catalog::Record),
    /// Partition heads.
    Heads(heads::Record),
    /// Producer ids.
    Txn(txn::Record),
}

/// The journal item of a coordinator's record.
pub(crate) fn coordinator_item(lsn: Lsn, record: &coordinator::Record) -> Item {
    use coordinator::Record as R;
    match record {
        R::OffsetCommit { group, topic, partition, value } => {
            item(lsn, &Key::OffsetCommit(group.clone(), topic.clone(), *partition), value.as_ref())
        }
        R::StreamsGroupMetadata { group, value } => {
            item(lsn, &Key::StreamsGroupMetadata(group.clone()), value.as_ref())
        }
        R::StreamsGroupMemberMetadata { group, member, value } => {
            item(lsn, &Key::StreamsGroupMemberMetadata(group.clone(), member.clone()), value.as_ref())
        }
        R::StreamsGroupTargetAssignmentMetadata { group, value } => {
            item(lsn, &Key::StreamsGroupTargetAssignmentMetadata(group.clone()), value.as_ref())
        }
        R::StreamsGroupTargetAssignmentMember { group, member, value } => {
            item(lsn, &Key::StreamsGroupTargetAssignmentMember(group.clone(), member.clone()), value.as_ref())
        }
        R::StreamsGroupCurrentMemberAssignment { group, member, value } => {
            item(lsn, &Key::StreamsGroupCurrentMemberAssignment(group.clone(), member.clone()), value.as_ref())
        }
        R::StreamsGroupTopology { group, value } => {
            item(lsn, &Key::StreamsGroupTopology(group.clone()), value.as_ref())
        }
        R::GroupDeleted { group } => Item::DeletePrefix { prefix: Key::group_prefix(group) },
    }
}

/// The journal item of a catalogue's record.
pub(crate) fn catalog_item(lsn: Lsn, record: &catalog::Record) -> Item {
    use catalog::Record as R;
    match record {
        R::Topic { topic_id, value } => item(lsn, &Key::Topic(*topic_id), value.as_ref()),
        R::GroupConfig { group, value } => item(lsn, &Key::GroupConfig(group.clone()), value.as_ref()),
        R::BrokerConfig { default, value } => item(lsn, &Key::BrokerConfig { default: *default }, value.as_ref()),
    }
}

/// The journal item of a head's record. A batch is journaled as it is.
pub(crate) fn heads_item(lsn: Lsn, record: heads::Record) -> Item {
    use heads::Record as R;
    match record {
        R::Append { partition, base_offset: Offset(base_offset), batch, .. } => {
            Item::Append { partition, base_offset, batch }
        }
        R::HeadStart { partition, value } => item(lsn, &Key::HeadStart(partition), value.as_ref()),
        R::HeadEnd { partition, value } => item(lsn, &Key::HeadEnd(partition), value.as_ref()),
        R::Producer { partition, producer_id, value } => {
            item(lsn, &Key::Producer(partition, producer_id), value.as_ref())
        }
    }
}

/// The journal item of a producer id's record.
pub(crate) fn txn_item(lsn: Lsn, record: &txn::Record) -> Item {
    match record {
        txn::Record::ProducerIds { value } => item(lsn, &Key::ProducerIds, Some(value)),
    }
}

fn item<T: Serialize>(lsn: Lsn, key: &Key, value: Option<&T>) -> Item {
    let key_bytes = key.encode();
    match value {
        Some(value) => {
            let value = envelope::encode(&key_bytes, key.record_type(), VERSION, lsn, value);
            Item::Put { key: key_bytes, value }
        }
        None => Item::Delete { key: key_bytes },
    }
}

/// All value structs are at their first version.
const VERSION: u16 = 0;

/// Reads a stored key and value; no value makes the record that deletes the key.
///
/// # Errors
/// [`StoreError`] naming the key, if the key or the value is unknown or damaged.
pub(crate) fn read(key_bytes: &[u8], value: Option<&[u8]>) -> Result<(Lsn, Record), StoreError> {
    let key = Key::decode(key_bytes)?;
    let envelope = value.map(|value| Envelope::decode(&key, key_bytes, value)).transpose()?;
    let lsn = envelope.as_ref().map_or(Lsn(0), |envelope| envelope.lsn);
    Ok((lsn, record(key, envelope.as_ref())?))
}

fn record(key: Key, envelope: Option<&Envelope<'_>>) -> Result<Record, StoreError> {
    use coordinator::Record as C;
    let of = &key.clone();
    Ok(match key {
        Key::OffsetCommit(group, topic, partition) => {
            Record::Coordinator(C::OffsetCommit { group, topic, partition, value: payload(of, envelope)? })
        }
        Key::StreamsGroupMetadata(group) => {
            Record::Coordinator(C::StreamsGroupMetadata { group, value: payload(of, envelope)? })
        }
        Key::StreamsGroupTopology(group) => {
            Record::Coordinator(C::StreamsGroupTopology { group, value: payload(of, envelope)? })
        }
        Key::StreamsGroupMemberMetadata(group, member) => {
            Record::Coordinator(C::StreamsGroupMemberMetadata { group, member, value: payload(of, envelope)? })
        }
        Key::StreamsGroupTargetAssignmentMetadata(group) => {
            Record::Coordinator(C::StreamsGroupTargetAssignmentMetadata { group, value: payload(of, envelope)? })
        }
        Key::StreamsGroupTargetAssignmentMember(group, member) => {
            let value = payload(of, envelope)?;
            Record::Coordinator(C::StreamsGroupTargetAssignmentMember { group, member, value })
        }
        Key::StreamsGroupCurrentMemberAssignment(group, member) => {
            let value = payload(of, envelope)?;
            Record::Coordinator(C::StreamsGroupCurrentMemberAssignment { group, member, value })
        }
        Key::Topic(topic_id) => Record::Catalog(catalog::Record::Topic { topic_id, value: payload(of, envelope)? }),
        Key::GroupConfig(group) => {
            Record::Catalog(catalog::Record::GroupConfig { group, value: payload(of, envelope)? })
        }
        Key::BrokerConfig { default } => {
            Record::Catalog(catalog::Record::BrokerConfig { default, value: payload(of, envelope)? })
        }
        Key::HeadStart(partition) => {
            Record::Heads(heads::Record::HeadStart { partition, value: payload(of, envelope)? })
        }
        Key::HeadEnd(partition) => Record::Heads(heads::Record::HeadEnd { partition, value: payload(of, envelope)? }),
        Key::Producer(partition, producer_id) => {
            Record::Heads(heads::Record::Producer { partition, producer_id, value: payload(of, envelope)? })
        }
        Key::ProducerIds => {
            let value = payload(of, envelope)?.ok_or_else(|| StoreError::unexpected(of))?;
            Record::Txn(txn::Record::ProducerIds { value })
        }
        Key::Checkpoint => return Err(StoreError::unexpected(of)),
    })
}

fn payload<T: DeserializeOwned>(key: &Key, envelope: Option<&Envelope<'_>>) -> Result<Option<T>, StoreError> {
    envelope.map(|envelope| envelope.payload(key, VERSION)).transpose()
}
