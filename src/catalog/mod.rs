//! The catalogue: topics and dynamic configs. A core (see [`crate::machine`]) that publishes an [`Image`].
//!
//! Answers to Kafka's `ReplicationControlManager` and `ConfigurationControlManager`. One request is one decision and so
//! one journal entry; within it each topic and each resource succeeds or fails by itself. What only reads lies beside
//! the core, as functions of an image that is durable already: [`describe_configs`], [`metadata`],
//! [`describe_topic_partitions`], [`describe_cluster`], [`list_config_resources`].

mod alter;
mod alter_broker;
mod create;
mod delete;
mod describe;
mod error;
mod metadata;
mod names;
mod partitions;
mod records;
mod replay;

use std::sync::Arc;

pub(crate) use describe::{describe_configs, list_config_resources};
pub(crate) use error::CatalogError;
pub(crate) use metadata::{describe_cluster, describe_topic_partitions, metadata};
pub(crate) use records::{ConfigValue, Record, TopicValue};

use crate::machine::{Asked, Core, Decision, Env, ReplyTo};
use crate::protocol::Response;
use crate::protocol::messages::{
    CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest, IncrementalAlterConfigsRequest,
};
use crate::types::{ClusterId, GroupId, Image, Lsn, TimestampMs, TopicId, TopicName};

/// How many partitions one request may create, as in Kafka.
const PARTITIONS_PER_REQUEST_MAX: i64 = 10_000;

/// How many topics or resources one request may name, so that a turn of the server stays short.
const ITEMS_PER_REQUEST_MAX: usize = 10_000;

/// How many bytes the records of one decision may have; a journal entry must hold them.
const DECISION_BYTES_MAX: usize = 8 * 1024 * 1024;

/// How long a config value and the name of a group may be: what every version of the protocol can carry.
const TEXT_BYTES_MAX: usize = 32_767;

/// Hard state: the newest image.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    image: Arc<Image>,
    shapes: replay::Shapes,
}

/// A topic the server itself wants: an internal topic of a streams group, or one named in a Metadata request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WantedTopic {
    pub(crate) name: TopicName,
    /// -1 for the default.
    pub(crate) partition_count: i32,
    /// -1 for the default.
    pub(crate) replication_factor: i16,
    pub(crate) configs: Vec<(String, String)>,
}

/// What the catalogue is asked.
#[derive(Debug)]
pub(crate) enum Input {
    CreateTopics(Asked<CreateTopicsRequest>),
    DeleteTopics(Asked<DeleteTopicsRequest>),
    CreatePartitions(Asked<CreatePartitionsRequest>),
    IncrementalAlterConfigs(Asked<IncrementalAlterConfigsRequest>),
    /// Internal topics of a streams group; answered by [`Effect::WantedTopics`].
    CreateInternalTopics {
        group: GroupId,
        topics: Vec<WantedTopic>,
    },
    /// A topic named in a Metadata request that may create it. An existing one is left alone; no answer.
    AutoCreateTopics {
        topics: Vec<TopicName>,
    },
}

/// What follows outside of the catalogue.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// What became of [`Input::CreateInternalTopics`]: for each topic its error text, if it could not be created.
    WantedTopics { group: GroupId, outcome: Vec<(TopicName, Option<String>)> },
    /// These topics are deleted: their offsets, heads and logs go.
    TopicsDeleted { topics: Vec<(TopicId, TopicName)> },
}

impl Core for Catalog {
    type Input = Input;
    type Record = Record;
    type Reply = Response;
    type Effect = Effect;
    type Soft = ();
    type Scope = ();

    fn decide(&self, (): &mut (), env: &mut Env, input: Input) -> Decision<Self> {
        match input {
            Input::CreateTopics(asked) => self.create_topics(env, &asked),
            Input::DeleteTopics(asked) => self.delete_topics(env, &asked),
            Input::CreatePartitions(asked) => self.create_partitions(env, &asked),
            Input::IncrementalAlterConfigs(asked) => self.incremental_alter_configs(env, &asked),
            Input::CreateInternalTopics { group, topics } => self.create_internal_topics(env, group, &topics),
            Input::AutoCreateTopics { topics } => self.auto_create_topics(env, &topics),
        }
    }

    fn replay(&mut self, lsn: Lsn, record: &Record) {
        self.apply(lsn, record);
    }

    fn on_loaded(&self, _env: &mut Env) {}

    fn next_deadline(_soft: &()) -> Option<TimestampMs> {
        None
    }

    fn pop_due(_soft: &mut (), _now: TimestampMs) -> Option<Input> {
        None
    }

    fn scope(_input: &Input) {}

    fn reset(&self, _soft: &mut (), _env: &mut Env, _scope: ()) -> Vec<ReplyTo> {
        Vec::new()
    }
}

impl Catalog {
    /// The newest image; it moves with each replayed record.
    pub(crate) fn image(&self) -> &Arc<Image> {
        &self.image
    }

    /// Says whose data this is; not a record, since the data directory itself is marked with it.
    pub(crate) fn set_identity(&mut self, cluster_id: ClusterId, node_id: i32) {
        let image = Arc::make_mut(&mut self.image);
        image.cluster_id = cluster_id;
        image.node_id = node_id;
    }

    /// How many partitions all topics have.
    fn partition_total(&self) -> i64 {
        self.image.topics.values().map(|topic| i64::from(topic.partition_count)).sum()
    }

    /// An answer with what it changes. It rests on the newest change of the catalogue.
    fn answer(&self, to: ReplyTo, reply: impl Into<Response>, records: Vec<Record>) -> Decision<Self> {
        Decision { records, ..Decision::answer(to, reply.into(), self.image.lsn) }
    }
}

#[cfg(test)]
mod tests;
