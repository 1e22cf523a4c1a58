//! The partition counts known so far.

use std::collections::BTreeMap;

use crate::types::{Image, TopicName};

/// Counts of topics that exist, and those decided for internal topics.
#[derive(Debug)]
pub(super) struct Counts<'a> {
    image: &'a Image,
    decided: BTreeMap<&'a TopicName, i32>,
}

impl<'a> Counts<'a> {
    /// Nothing decided.
    pub(super) fn new(image: &'a Image) -> Self {
        Self { image, decided: BTreeMap::new() }
    }

    /// The count of a topic: what it has if it exists, else what was decided.
    pub(super) fn of(&self, topic: &TopicName) -> Option<i32> {
        self.existing(topic).or_else(|| self.decided(topic))
    }

    /// The count of a topic that exists.
    pub(super) fn existing(&self, topic: &TopicName) -> Option<i32> {
        self.image.topic(topic).map(|topic| topic.partition_count)
    }

    /// The count decided for an internal topic, whether or not it exists.
    pub(super) fn decided(&self, topic: &TopicName) -> Option<i32> {
        self.decided.get(topic).copied()
    }

    /// Decides a count, or decides again.
    pub(super) fn decide(&mut self, topic: &'a TopicName, count: i32) {
        self.decided.insert(topic, count);
    }
}
