//! The records of the catalogue. The value structs are written to disk: a released one is never edited.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::types::{GroupId, TopicId, TopicName};

/// One change of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// A topic.
    Topic { topic_id: TopicId, value: Option<TopicValue> },
    /// Configs set on a group.
    GroupConfig { group: GroupId, value: Option<ConfigValue> },
    /// Configs set on the broker; `default` for those of the whole cluster (resource name "").
    BrokerConfig { default: bool, value: Option<ConfigValue> },
}

/// A topic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TopicValue {
    pub(crate) name: TopicName,
    pub(crate) partition_count: i32,
    pub(crate) configs: BTreeMap<String, String>,
}

/// Configs of one resource: only those that are set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ConfigValue {
    pub(crate) configs: BTreeMap<String, String>,
}
