//! What has changed since the last checkpoint: the last value of each key, and which partitions were appended to.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use bytes::Bytes;

use crate::journal::{Entry, Item};
use crate::protocol::batch::BatchHeader;
use crate::store::Change;
use crate::types::{Lsn, ProducerId, TopicPartition};

/// A partition and a producer in it.
type PartitionProducer = (TopicPartition, ProducerId);

/// Changes since a checkpoint.
#[derive(Debug, Default)]
pub(crate) struct Dirty {
    values: BTreeMap<Bytes, Option<Bytes>>,
    prefixes: BTreeSet<Bytes>,
    appended: BTreeSet<TopicPartition>,
    producers: BTreeSet<PartitionProducer>,
    bytes: usize,
    last_lsn: Lsn,
}

/// What keeping a changed key costs besides its bytes; a rough figure, for the trigger only.
const KEY_OVERHEAD_BYTES: usize = 96;

impl Dirty {
    /// Notes an entry.
    pub(crate) fn note(&mut self, entry: &Entry) {
        self.last_lsn = entry.lsn;
        for item in &entry.items {
            match item {
                Item::Put { key, value } => self.set(key.clone(), Some(value.clone())),
                Item::Delete { key } => self.set(key.clone(), None),
                Item::DeletePrefix { prefix } => self.delete_prefix(prefix),
                Item::Append { partition, batch, .. } => self.append(*partition, batch),
            }
        }
    }

    fn set(&mut self, key: Bytes, value: Option<Bytes>) {
        let added = key.len() + value.as_ref().map_or(0, Bytes::len) + KEY_OVERHEAD_BYTES;
        let key_bytes = key.len();
        let replaced = self.values.insert(key, value);
        let freed = replaced.map_or(0, |old| old.map_or(0, |value| value.len()) + key_bytes + KEY_OVERHEAD_BYTES);
        self.bytes = (self.bytes + added).saturating_sub(freed);
    }

    fn delete_prefix(&mut self, prefix: &Bytes) {
        let under: Vec<Bytes> = self
            .values
            .range::<Bytes, _>((Bound::Included(prefix), Bound::Unbounded))
            .map(|(key, _)| key)
            .take_while(|key| key.starts_with(prefix))
            .cloned()
            .collect();
        for key in under {
            if let Some(value) = self.values.remove(&key) {
                let freed = key.len() + value.map_or(0, |value| value.len()) + KEY_OVERHEAD_BYTES;
                self.bytes = self.bytes.saturating_sub(freed);
            }
        }
        self.bytes += prefix.len() + KEY_OVERHEAD_BYTES;
        self.prefixes.insert(prefix.clone());
    }

    fn append(&mut self, partition: TopicPartition, batch: &Bytes) {
        if self.appended.insert(partition) {
            self.bytes += KEY_OVERHEAD_BYTES;
        }
        let producer_id = BatchHeader::parse(batch).map_or(ProducerId(-1), |header| header.producer_id);
        if producer_id.0 >= 0 && self.producers.insert((partition, producer_id)) {
            self.bytes += KEY_OVERHEAD_BYTES;
        }
    }

    /// Roughly what the changes take in memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether nothing has changed.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty() && self.prefixes.is_empty() && self.appended.is_empty()
    }

    /// The last change noted.
    pub(crate) fn last_lsn(&self) -> Lsn {
        self.last_lsn
    }

    /// Partitions that were appended to.
    pub(crate) fn appended(&self) -> impl Iterator<Item = TopicPartition> {
        self.appended.iter().copied()
    }

    /// Producers that appended, by partition.
    pub(crate) fn producers(&self) -> impl Iterator<Item = PartitionProducer> {
        self.producers.iter().copied()
    }

    /// Whether what the store has under `key` is out of date.
    pub(crate) fn covers(&self, key: &[u8]) -> bool {
        // No prefix begins with another one, so only the last one at or before the key can be a prefix of it.
        let up_to_key = (Bound::Unbounded, Bound::Included(key));
        let nearest = self.prefixes.range::<[u8], _>(up_to_key).next_back();
        nearest.is_some_and(|prefix| key.starts_with(prefix)) || self.values.contains_key(key)
    }

    /// Each changed key and its last value, in order; no value means that the key is gone.
    pub(crate) fn values(&self) -> impl Iterator<Item = (&Bytes, Option<&Bytes>)> {
        self.values.iter().map(|(key, value)| (key, value.as_ref()))
    }

    /// Sets the value that a checkpoint stores for a key, in place of what was noted.
    pub(crate) fn resolve(&mut self, key: Bytes, value: Option<Bytes>) {
        self.set(key, value);
    }

    /// The changes of one checkpoint: deleted prefixes first, then each key's last value.
    pub(crate) fn into_changes(self) -> Vec<Change> {
        let prefixes = self.prefixes.into_iter().map(|prefix| Change::DeletePrefix { prefix });
        let values = self.values.into_iter().map(|(key, value)| match value {
            Some(value) => Change::Put { key, value },
            None => Change::Delete { key },
        });
        prefixes.chain(values).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(key: &'static [u8], value: &'static [u8]) -> Item {
        Item::Put { key: Bytes::from_static(key), value: Bytes::from_static(value) }
    }

    fn noted(entries: Vec<Vec<Item>>) -> Dirty {
        let mut dirty = Dirty::default();
        for (lsn, items) in (1..).map(Lsn).zip(entries) {
            dirty.note(&Entry { lsn, items });
        }
        dirty
    }

    #[test]
    fn a_key_changed_often_is_stored_once() {
        let dirty = noted(vec![vec![put(b"k", b"1")], vec![put(b"k", b"2")]]);
        assert_eq!(dirty.last_lsn(), Lsn(2));
        let change = Change::Put { key: Bytes::from_static(b"k"), value: Bytes::from_static(b"2") };
        assert_eq!(dirty.into_changes(), vec![change]);
    }

    #[test]
    fn a_deleted_prefix_comes_first_and_spares_what_is_put_later() {
        let prefix = Bytes::from_static(b"g1");
        let dirty = noted(vec![
            vec![put(b"g1a", b"old"), put(b"g2", b"other")],
            vec![Item::DeletePrefix { prefix: prefix.clone() }],
            vec![put(b"g1b", b"new")],
        ]);
        let expected = vec![
            Change::DeletePrefix { prefix },
            Change::Put { key: Bytes::from_static(b"g1b"), value: Bytes::from_static(b"new") },
            Change::Put { key: Bytes::from_static(b"g2"), value: Bytes::from_static(b"other") },
        ];
        assert_eq!(dirty.into_changes(), expected);
    }

    #[test]
    fn the_size_goes_down_again_when_keys_go() {
        let mut dirty = noted(vec![vec![put(b"g1a", b"old"), put(b"g1b", b"old")]]);
        let before = dirty.bytes();
        dirty.delete_prefix(&Bytes::from_static(b"g1"));
        assert!(dirty.bytes() < before);
        assert!(!dirty.is_empty());
    }
}
