//! Applies records to the image.
//!
//! Records may come in any order of keys: at a load each key's last value comes once. A tombstone for something unknown
//! does nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Catalog, ConfigValue, Record, TopicValue, names};
use crate::types::{Image, Lsn, TopicId, TopicImage, TopicName};

impl Catalog {
    pub(super) fn apply(&mut self, lsn: Lsn, record: &Record) {
        match record {
            Record::Topic { topic_id, value: Some(value) } => self.put_topic(*topic_id, value),
            Record::Topic { topic_id, value: None } => self.remove_topic(*topic_id),
            Record::GroupConfig { group, value } => {
                let image = Arc::make_mut(&mut self.image);
                match value {
                    Some(value) if !value.configs.is_empty() => {
                        image.group_configs.insert(group.clone(), Arc::new(value.configs.clone()));
                    }
                    _ => drop(image.group_configs.remove(group)),
                }
            }
            Record::BrokerConfig { default, value } => self.put_broker_configs(*default, value.as_ref()),
        }
        if lsn > self.image.lsn {
            Arc::make_mut(&mut self.image).lsn = lsn;
        }
    }

    fn put_topic(&mut self, id: TopicId, value: &TopicValue) {
        let image = Arc::make_mut(&mut self.image);
        let before = image.topic_by_id(id).cloned();
        if let Some(before) = &before
            && before.name != value.name
        {
            self.shapes.remove(&before.name);
            image.topics.remove(&before.name);
        }
        // One name is one topic: a topic made again under the name of a deleted one may come before its tombstone.
        let displaced = image.topics.get(&value.name).map(|topic| topic.id).filter(|other| *other != id);
        if let Some(other) = displaced {
            image.topic_names.remove(&other);
        }
        let topic = TopicImage {
            id,
            name: value.name.clone(),
            partition_count: value.partition_count,
            configs: Arc::new(value.configs.clone()),
        };
        let is_same_set = before.is_some_and(|before| {
            before.name == topic.name && before.partition_count == topic.partition_count && displaced.is_none()
        });
        image.topics.insert(value.name.clone(), Arc::new(topic));
        image.topic_names.insert(id, value.name.clone());
        image.topics_version = image.topics_version.wrapping_add(u64::from(!is_same_set));
        self.shapes.insert(&value.name);
    }

    fn remove_topic(&mut self, id: TopicId) {
        if !self.image.topic_names.contains_key(&id) {
            return;
        }
        let image = Arc::make_mut(&mut self.image);
        if let Some(name) = image.topic_names.remove(&id) {
            image.topics.remove(&name);
            image.topics_version = image.topics_version.wrapping_add(1);
            self.shapes.remove(&name);
        }
    }

    fn put_broker_configs(&mut self, is_default: bool, value: Option<&ConfigValue>) {
        let configs = Arc::new(value.map(|value| value.configs.clone()).unwrap_or_default());
        let image = Arc::make_mut(&mut self.image);
        let place = if is_default { &mut image.cluster_configs } else { &mut image.node_configs };
        *place = configs;
        image.broker_configs = Arc::new(merged(image));
    }
}

/// The cluster's configs with this node's over them.
fn merged(image: &Image) -> BTreeMap<String, String> {
    let mut merged = BTreeMap::clone(&image.cluster_configs);
    merged.extend(image.node_configs.iter().map(|(name, value)| (name.clone(), value.clone())));
    merged
}

/// The names of topics by what they share with names that would collide with them.
#[derive(Debug, Default)]
pub(super) struct Shapes(BTreeMap<String, Vec<TopicName>>);

impl Shapes {
    /// A topic whose name differs from `name` only by `.` and `_`.
    pub(super) fn collision(&self, name: &str) -> Option<&TopicName> {
        self.0.get(&names::shape(name)?)?.iter().find(|other| other.as_str() != name)
    }

    pub(super) fn insert(&mut self, name: &TopicName) {
        let Some(shape) = names::shape(name) else { return };
        let names = self.0.entry(shape).or_default();
        if !names.contains(name) {
            names.push(name.clone());
        }
    }

    fn remove(&mut self, name: &TopicName) {
        let Some(shape) = names::shape(name) else { return };
        if let Some(names) = self.0.get_mut(&shape) {
            names.retain(|other| other != name);
            if names.is_empty() {
                self.0.remove(&shape);
            }
        }
    }
}
