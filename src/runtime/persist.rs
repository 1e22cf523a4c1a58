//! Records of all cores to keys and values, and back. The one place that knows both.
//!
//! A record type has a number of its own: Kafka's where Kafka has it, from 64 on where it is ours. Numbers are never
//! given twice. A value's version is that of its struct.

#[cfg(test)]
mod golden;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::journal::Item;
use crate::store::envelope::{self, Envelope, EnvelopeError};
use crate::store::keys::KeyError;
use crate::store::{Key, StoreError};
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
const VERSION: u16 = 1;

/// Why something stored cannot be taken as a record.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PersistError {
    /// Not a key of ours.
    #[error("{0}; it may have been written by a later version: start that one")]
    Key(#[from] KeyError),
    /// Not a value of ours.
    #[error(transparent)]
    Envelope(#[from] EnvelopeError),
    /// A key that is never deleted is gone, or one that is never stored is there.
    #[error("the key {0} cannot be there like this; bring the data directory back from a backup")]
    Unexpected(String),
}

impl From<PersistError> for StoreError {
    fn from(error: PersistError) -> Self {
        Self::Refused(Box::new(error))
    }
}

/// Reads a stored key and value; no value makes the record that deletes the key.
///
/// # Errors
/// [`PersistError`] naming the key, if the key or the value is unknown or damaged.
pub(crate) fn read(key_bytes: &[u8], value: Option<&[u8]>) -> Result<(Lsn, Record), PersistError> {
    let key = Key::decode(key_bytes)?;
    let envelope = value.map(|value| envelope::decode(key_bytes, value)).transpose()?;
    let lsn = envelope.as_ref().map_or(Lsn(0), |envelope| envelope.lsn);
    Ok((lsn, record(key, envelope.as_ref())?))
}

fn record(key: Key, envelope: Option<&Envelope<'_>>) -> Result<Record, PersistError> {
    use coordinator::Record as C;
    Ok(match key {
        Key::OffsetCommit(group, topic, partition) => {
            Record::Coordinator(C::OffsetCommit { group, topic, partition, value: payload(envelope)? })
        }
        Key::StreamsGroupMetadata(group) => {
            Record::Coordinator(C::StreamsGroupMetadata { group, value: payload(envelope)? })
        }
        Key::StreamsGroupTopology(group) => {
            Record::Coordinator(C::StreamsGroupTopology { group, value: payload(envelope)? })
        }
        Key::StreamsGroupMemberMetadata(group, member) => {
            Record::Coordinator(C::StreamsGroupMemberMetadata { group, member, value: payload(envelope)? })
        }
        Key::StreamsGroupTargetAssignmentMetadata(group) => {
            Record::Coordinator(C::StreamsGroupTargetAssignmentMetadata { group, value: payload(envelope)? })
        }
        Key::StreamsGroupTargetAssignmentMember(group, member) => {
            let value = payload(envelope)?;
            Record::Coordinator(C::StreamsGroupTargetAssignmentMember { group, member, value })
        }
        Key::StreamsGroupCurrentMemberAssignment(group, member) => {
            let value = payload(envelope)?;
            Record::Coordinator(C::StreamsGroupCurrentMemberAssignment { group, member, value })
        }
        Key::Topic(topic_id) => Record::Catalog(catalog::Record::Topic { topic_id, value: payload(envelope)? }),
        Key::GroupConfig(group) => Record::Catalog(catalog::Record::GroupConfig { group, value: payload(envelope)? }),
        Key::BrokerConfig { default } => {
            Record::Catalog(catalog::Record::BrokerConfig { default, value: payload(envelope)? })
        }
        Key::HeadStart(partition) => Record::Heads(heads::Record::HeadStart { partition, value: payload(envelope)? }),
        Key::HeadEnd(partition) => Record::Heads(heads::Record::HeadEnd { partition, value: payload(envelope)? }),
        Key::Producer(partition, producer_id) => {
            Record::Heads(heads::Record::Producer { partition, producer_id, value: payload(envelope)? })
        }
        Key::ProducerIds => {
            let value = payload(envelope)?
                .ok_or_else(|| PersistError::Unexpected(Key::describe(&Key::ProducerIds.encode())))?;
            Record::Txn(txn::Record::ProducerIds { value })
        }
        Key::Checkpoint => return Err(PersistError::Unexpected(Key::describe(&Key::Checkpoint.encode()))),
    })
}

fn payload<T: DeserializeOwned>(envelope: Option<&Envelope<'_>>) -> Result<Option<T>, PersistError> {
    Ok(envelope.map(|envelope| envelope.payload(VERSION)).transpose()?)
}
