//! Hard state of committed offsets: those of one group, and what is counted over all groups.
//!
//! Answers to Kafka's `OffsetMetadataManager.Offsets`. A partition of a topic *name* has one committed offset; the
//! topic *id* it was committed under is kept with it, so that a topic made again under an old name starts without.

use std::collections::BTreeMap;
use std::ops::Range;

use super::slots::{self, CommittedOffset, TopicOffsets};
use crate::coordinator::OffsetCommitValue;
use crate::types::{TopicId, TopicImage, TopicName};

/// A topic as offsets were committed for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TopicKey {
    /// Its name.
    pub(crate) name: TopicName,
    /// Its id at the time; zero if it was not known.
    pub(crate) id: TopicId,
}

/// The offsets committed under one group id: by topic, then by partition. Most groups read few topics, and a map's
/// first node would take more than all they have.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupOffsets {
    topics: Vec<(TopicKey, TopicOffsets)>,
    count: usize,
}

/// A place in a walk over a group's offsets from the last to the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) topic: TopicKey,
    pub(super) partition: i32,
}

impl GroupOffsets {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// What is committed for a partition of a topic that exists. An offset of an earlier topic of that name is none.
    pub(crate) fn get(&self, topic: &TopicImage, partition: i32) -> Option<&CommittedOffset> {
        let mut of_topic = self.named(&topic.name).filter(|(key, _)| key.id == topic.id || key.id.is_zero());
        of_topic.find_map(|(_, offsets)| offsets.get(partition))
    }

    /// Whether a partition has an offset, of whichever topic of that name.
    pub(super) fn contains(&self, name: &TopicName, partition: i32) -> bool {
        self.named(name).any(|(_, offsets)| offsets.get(partition).is_some())
    }

    /// Everything that is committed, in order of topic and partition.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&TopicKey, std::slice::Iter<'_, CommittedOffset>)> {
        self.topics.iter().map(|(key, offsets)| (key, offsets.iter()))
    }

    /// What was committed for topics of a name, by the id they had.
    pub(super) fn named(&self, name: &TopicName) -> impl Iterator<Item = &(TopicKey, TopicOffsets)> {
        self.topics.get(self.places_of(name)).unwrap_or_default().iter()
    }

    /// Everything before `before`, last first. Taking away from the end moves nothing in memory.
    pub(super) fn iter_back<'a>(
        &'a self,
        before: Option<&'a Position>,
    ) -> impl Iterator<Item = (&'a TopicKey, &'a CommittedOffset)> {
        let end =
            before.map_or(self.topics.len(), |position| self.topics.partition_point(|(key, _)| *key <= position.topic));
        self.topics.get(..end).unwrap_or_default().iter().rev().flat_map(move |(key, offsets)| {
            let left = match before {
                Some(position) if position.topic == *key => offsets.below(position.partition),
                _ => offsets.as_slice(),
            };
            left.iter().rev().map(move |offset| (key, offset))
        })
    }

    /// Where the topics of a name lie, whatever their ids.
    fn places_of(&self, name: &TopicName) -> Range<usize> {
        let start = self.topics.partition_point(|(key, _)| key.name < *name);
        let behind = self.topics.get(start..).unwrap_or_default();
        start..start + behind.iter().take_while(|(key, _)| key.name == *name).count()
    }

    fn insert(&mut self, totals: &mut Totals, name: &TopicName, partition: i32, value: &OffsetCommitValue) {
        if self.named(name).any(|(key, _)| key.id != value.topic_id) {
            // Committed again under another id of the name: the earlier offset is replaced, not kept beside.
            self.remove(totals, name, partition);
        }
        let offset = CommittedOffset::new(partition, value);
        let place = self.topics.binary_search_by(|(key, _)| (&key.name, key.id).cmp(&(name, value.topic_id)));
        let is_new = match place.map(|index| self.topics.get_mut(index)) {
            Ok(found) => found.is_some_and(|(_, offsets)| offsets.insert(offset)),
            Err(index) => {
                let key = TopicKey { name: totals.take_name(name), id: value.topic_id };
                slots::make_room(&mut self.topics);
                self.topics.insert(index, (key, TopicOffsets::of_one(offset)));
                true
            }
        };
        self.count += usize::from(is_new);
        totals.count += usize::from(is_new);
    }

    fn remove(&mut self, totals: &mut Totals, name: &TopicName, partition: i32) {
        for index in self.places_of(name).rev() {
            let Some((_, offsets)) = self.topics.get_mut(index) else { continue };
            let was_there = offsets.remove(partition);
            if offsets.is_empty() {
                self.topics.remove(index);
                totals.release_name(name);
            }
            self.count -= usize::from(was_there);
            totals.count -= usize::from(was_there);
        }
    }
}

/// What is known of the offsets of all groups together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    count: usize,
    /// Each topic name once, however many groups use it, and in how many places.
    names: BTreeMap<TopicName, usize>,
}

impl Totals {
    /// How many offsets are committed, in all groups.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Whether any group has an offset of a topic of this name.
    pub(super) fn knows(&self, name: &TopicName) -> bool {
        self.names.contains_key(name)
    }

    /// Applies the record of one offset to its group.
    pub(super) fn apply(
        &mut self,
        offsets: &mut GroupOffsets,
        topic: &TopicName,
        partition: i32,
        value: Option<&OffsetCommitValue>,
    ) {
        match value {
            Some(value) => offsets.insert(self, topic, partition, value),
            None => offsets.remove(self, topic, partition),
        }
    }

    /// A group is gone with all its offsets.
    pub(crate) fn forget(&mut self, offsets: &GroupOffsets) {
        self.count -= offsets.count;
        for (key, _) in &offsets.topics {
            self.release_name(&key.name);
        }
    }

    fn take_name(&mut self, name: &TopicName) -> TopicName {
        if let Some((known, _)) = self.names.get_key_value(name) {
            let known = known.clone();
            if let Some(places) = self.names.get_mut(name) {
                *places += 1;
            }
            return known;
        }
        self.names.insert(name.clone(), 1);
        name.clone()
    }

    fn release_name(&mut self, name: &TopicName) {
        let Some(places) = self.names.get_mut(name) else { return };
        *places -= 1;
        if *places == 0 {
            self.names.remove(name);
        }
    }
}
