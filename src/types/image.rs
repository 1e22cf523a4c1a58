//! An immutable picture of the catalogue, shared with everyone who reads topics or configs.
//!
//! The catalogue core builds a new one after a change. Cores decide on the newest; what lies outside the sequencer
//! sees an image only once the changes in it are durable (`lsn`).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{ClusterId, GroupId, Lsn, TopicId, TopicName};

/// One topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicImage {
    /// Its id.
    pub id: TopicId,
    /// Its name.
    pub name: TopicName,
    /// How many partitions it has; they are numbered from 0.
    pub partition_count: i32,
    /// Configs set on the topic itself, not defaults.
    pub configs: Arc<BTreeMap<String, String>>,
}

/// The catalogue at one moment.
#[derive(Clone, Debug, Default)]
pub struct Image {
    /// The last change that is in it.
    pub lsn: Lsn,
    /// Moves with every change to the set of topics or their partition counts; not with configs.
    pub topics_version: u64,
    /// This cluster.
    pub cluster_id: ClusterId,
    /// This node.
    pub node_id: i32,
    /// Topics by name.
    pub topics: BTreeMap<TopicName, Arc<TopicImage>>,
    /// Names by id.
    pub topic_names: BTreeMap<TopicId, TopicName>,
    /// Configs set on groups (resource type GROUP).
    pub group_configs: BTreeMap<GroupId, Arc<BTreeMap<String, String>>>,
    /// Configs set on the broker (resource type BROKER), this node's over the cluster's default.
    pub broker_configs: Arc<BTreeMap<String, String>>,
    /// Those of them that are set on this node.
    pub node_configs: Arc<BTreeMap<String, String>>,
    /// Those of them that are set on the whole cluster (resource name "").
    pub cluster_configs: Arc<BTreeMap<String, String>>,
}

impl Image {
    /// The topic of this name.
    #[must_use]
    pub fn topic(&self, name: &str) -> Option<&Arc<TopicImage>> {
        self.topics.get(name)
    }

    /// The topic of this id.
    #[must_use]
    pub fn topic_by_id(&self, id: TopicId) -> Option<&Arc<TopicImage>> {
        self.topics.get(self.topic_names.get(&id)?)
    }

    /// The value set on a group for a config key, if any.
    #[must_use]
    pub fn group_config(&self, group: &str, key: &str) -> Option<&str> {
        self.group_configs.get(group)?.get(key).map(String::as_str)
    }
}
