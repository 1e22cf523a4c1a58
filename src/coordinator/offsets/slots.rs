//! The committed offsets of one topic in one group, in as few bytes as they need.
//!
//! A million of these must fit in memory and load in a moment, so a topic's offsets are one sorted vector of
//! fixed-size entries: a load comes in key order and only ever appends.

use crate::coordinator::OffsetCommitValue;
use crate::types::TimestampMs;

/// One committed offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommittedOffset {
    /// The partition index.
    pub(crate) partition: i32,
    /// The leader epoch that was committed along, -1 if none.
    pub(crate) leader_epoch: i32,
    /// The offset as committed.
    pub(crate) offset: i64,
    /// When it was committed.
    pub(crate) commit_timestamp: TimestampMs,
    note: Note,
}

/// What only some offsets have. An empty text takes no memory of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Note {
    /// The committer's text.
    Text(Box<str>),
    /// With an expiry time of its own besides; only very old clients ask for one.
    Expiring(Box<Expiring>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Expiring {
    at: TimestampMs,
    metadata: Box<str>,
}

impl CommittedOffset {
    /// The compact form of a stored value. Its topic id is kept once per topic.
    pub(super) fn new(partition: i32, value: &OffsetCommitValue) -> Self {
        let metadata = Box::from(value.metadata.as_str());
        let note = match value.expire_timestamp {
            None => Note::Text(metadata),
            Some(at) => Note::Expiring(Box::new(Expiring { at, metadata })),
        };
        Self {
            partition,
            leader_epoch: value.leader_epoch,
            offset: value.offset,
            commit_timestamp: value.commit_timestamp,
            note,
        }
    }

    /// The committer's text, "" if none.
    pub(crate) fn metadata(&self) -> &str {
        match &self.note {
            Note::Text(metadata) => metadata,
            Note::Expiring(expiring) => &expiring.metadata,
        }
    }

    /// When it expires, if the committer asked for a time of its own.
    pub(crate) fn expire_timestamp(&self) -> Option<TimestampMs> {
        match &self.note {
            Note::Text(_) => None,
            Note::Expiring(expiring) => Some(expiring.at),
        }
    }
}

/// Offsets sorted by partition, one for each.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TopicOffsets(Vec<CommittedOffset>);

impl TopicOffsets {
    pub(super) fn of_one(offset: CommittedOffset) -> Self {
        Self(vec![offset])
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn get(&self, partition: i32) -> Option<&CommittedOffset> {
        self.0.get(self.position(partition).ok()?)
    }

    /// Puts an offset in its place. Tells whether the partition had none before.
    pub(super) fn insert(&mut self, offset: CommittedOffset) -> bool {
        match self.position(offset.partition) {
            Ok(index) => {
                if let Some(slot) = self.0.get_mut(index) {
                    *slot = offset;
                }
                false
            }
            Err(index) => {
                make_room(&mut self.0);
                self.0.insert(index, offset);
                true
            }
        }
    }

    /// Takes a partition's offset away. Tells whether there was one.
    pub(super) fn remove(&mut self, partition: i32) -> bool {
        let Ok(index) = self.position(partition) else { return false };
        self.0.remove(index);
        true
    }

    /// All offsets, in order of partition.
    pub(super) fn iter(&self) -> std::slice::Iter<'_, CommittedOffset> {
        self.0.iter()
    }

    /// The offsets of partitions below this one.
    pub(super) fn below(&self, partition: i32) -> &[CommittedOffset] {
        let (Ok(end) | Err(end)) = self.position(partition);
        self.0.get(..end).unwrap_or_default()
    }

    pub(super) fn as_slice(&self) -> &[CommittedOffset] {
        &self.0
    }

    fn position(&self, partition: i32) -> Result<usize, usize> {
        match self.0.last() {
            // A load and a first commit bring partitions in order.
            Some(last) if last.partition < partition => Err(self.0.len()),
            _ => self.0.binary_search_by_key(&partition, |slot| slot.partition),
        }
    }
}

/// Makes room for one more where there is none. Doubling would leave up to half of the memory unused; to add a quarter
/// still costs a constant per entry.
pub(super) fn make_room<T>(entries: &mut Vec<T>) {
    if entries.len() == entries.capacity() {
        entries.reserve_exact(entries.len() / 4 + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::TopicId;

    fn value(offset: i64) -> OffsetCommitValue {
        OffsetCommitValue {
            offset,
            leader_epoch: 3,
            metadata: "note".to_owned(),
            commit_timestamp: TimestampMs(5),
            expire_timestamp: None,
            topic_id: TopicId::ZERO,
        }
    }

    #[test]
    fn an_offset_takes_forty_bytes_and_little_slack() {
        assert_eq!(size_of::<CommittedOffset>(), 40);
        let mut offsets = TopicOffsets::default();
        for partition in 0..10_000 {
            offsets.insert(CommittedOffset::new(partition, &value(1)));
        }
        assert!(offsets.0.capacity() <= offsets.len() * 5 / 4 + 1, "{}", offsets.0.capacity());
    }

    #[test]
    fn an_expiry_time_does_not_cost_the_metadata() {
        let expiring = OffsetCommitValue { expire_timestamp: Some(TimestampMs(9)), ..value(1) };
        let offset = CommittedOffset::new(0, &expiring);
        assert_eq!((offset.metadata(), offset.expire_timestamp()), ("note", Some(TimestampMs(9))));
        let offset = CommittedOffset::new(0, &value(1));
        assert_eq!((offset.metadata(), offset.expire_timestamp()), ("note", None));
    }

    #[test]
    fn partitions_are_in_order_however_they_come() {
        let mut offsets = TopicOffsets::default();
        for partition in [5, 1, 9, 3, 1] {
            offsets.insert(CommittedOffset::new(partition, &value(partition.into())));
        }
        assert!(offsets.remove(3));
        assert!(!offsets.remove(3));
        assert_eq!(offsets.iter().map(|slot| slot.partition).collect::<Vec<_>>(), [1, 5, 9]);
        assert_eq!(offsets.below(9).len(), 2);
        assert_eq!(offsets.below(2).len(), 1);
        assert_eq!(offsets.below(99).len(), 3);
        assert_eq!(offsets.get(5).map(|slot| slot.offset), Some(5));
        assert_eq!(offsets.get(4), None);
    }
}
