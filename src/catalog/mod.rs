//! The catalogue: topics and dynamic configs. A core (see [`crate::machine`]) that publishes an [`Image`].

mod records;

use std::sync::Arc;

pub(crate) use records::{ConfigValue, Record, TopicValue};

use crate::machine::{Asked, Core, Decision, Env, ReplyTo};
use crate::protocol::Response;
use crate::protocol::messages::{
    CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest, IncrementalAlterConfigsRequest,
};
use crate::types::{GroupId, Image, Lsn, TimestampMs, TopicId, TopicName};

/// Hard state: the newest image.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    image: Arc<Image>,
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

    fn decide(&self, _soft: &mut (), _env: &mut Env, _input: Input) -> Decision<Self> {
        Decision::nothing()
    }

    fn replay(&mut self, _lsn: Lsn, _record: &Record) {}

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
}
