//! `CreateTopics`, and topics that the server itself makes.
//!
//! Answers to Kafka's `ReplicationControlManager.createTopics`. Each topic of a request stands for itself; the checks
//! come in Kafka's order, so that a topic with several faults gets Kafka's answer.

use std::collections::{BTreeMap, BTreeSet};

use super::describe::{self, Described};
use super::replay::Shapes;
use super::{Catalog, CatalogError, Effect, Record, TopicValue, WantedTopic, names};
use super::{DECISION_BYTES_MAX, ITEMS_PER_REQUEST_MAX, PARTITIONS_PER_REQUEST_MAX, TEXT_BYTES_MAX};
use crate::config::{Config, TopicConfig};
use crate::machine::{Asked, Decision, Env, Rng};
use crate::protocol::messages::create_topics_request::{CreatableReplicaAssignment, CreatableTopic};
use crate::protocol::messages::create_topics_response::{CreatableTopicConfigs, CreatableTopicResult};
use crate::protocol::messages::{CreateTopicsRequest, CreateTopicsResponse};
use crate::protocol::{message, wire_uuid};
use crate::types::{ErrorCode, GroupId, Image, TopicId, TopicName};

type Configs = BTreeMap<String, String>;

impl Catalog {
    pub(super) fn create_topics(&self, env: &mut Env, asked: &Asked<CreateTopicsRequest>) -> Decision<Self> {
        let request = &asked.request;
        if request.topics.len() > ITEMS_PER_REQUEST_MAX {
            let refused = |(index, topic)| refused_answer(topic, &CatalogError::too_many_items(index));
            let topics = request.topics.iter().enumerate().map(refused).collect();
            return self.answer(asked.to, message!(CreateTopicsResponse { topics: topics }), Vec::new());
        }
        let mut seen = BTreeSet::new();
        let twice: BTreeSet<&str> =
            request.topics.iter().map(|topic| &*topic.name).filter(|name| !seen.insert(*name)).collect();
        let too_many = too_many_partitions(request, &env.config).err();
        let mut draft = Draft::new(self);
        let mut outcomes: Vec<(&CreatableTopic, Result<Created, CatalogError>)> = Vec::new();
        for topic in &request.topics {
            let outcome = if twice.contains(&*topic.name) {
                if !seen.remove(&*topic.name) {
                    continue;
                }
                Err(CatalogError::new(ErrorCode::InvalidRequest, "Duplicate topic name."))
            } else if let Some(error) = &too_many {
                Err(error.clone())
            } else {
                draft.create(env, topic)
            };
            outcomes.push((topic, outcome));
        }
        let results = outcomes.into_iter().map(|(topic, outcome)| match outcome {
            Ok(created) => created_answer(&self.image, &env.config, topic, &created, asked.version),
            Err(error) => refused_answer(topic, &error),
        });
        let response = message!(CreateTopicsResponse { topics: results.collect() });
        let records = if request.validate_only { Vec::new() } else { draft.records };
        self.answer(asked.to, response, records)
    }

    /// Creates the internal topics that a streams group needs. One that is there with the right partition count is as
    /// good as created.
    pub(super) fn create_internal_topics(
        &self,
        env: &mut Env,
        group: GroupId,
        topics: &[WantedTopic],
    ) -> Decision<Self> {
        let mut draft = Draft::new(self);
        let mut outcome = Vec::with_capacity(topics.len());
        for topic in topics {
            let error = draft.create_wanted(env, topic).err();
            outcome.push((topic.name.clone(), error.map(|error| error.message.unwrap_or_default())));
        }
        Decision {
            records: draft.records,
            effects: vec![Effect::WantedTopics { group, outcome }],
            rests_on: self.image.lsn,
            ..Decision::nothing()
        }
    }

    /// Creates topics named in a Metadata request, as many as one request may; the others are left to the next one.
    pub(super) fn auto_create_topics(&self, env: &mut Env, topics: &[TopicName]) -> Decision<Self> {
        let mut draft = Draft::new(self);
        for name in topics {
            if names::is_internal(name) || names::CLUSTER_METADATA == name.as_str() {
                continue;
            }
            let wanted =
                WantedTopic { name: name.clone(), partition_count: -1, replication_factor: -1, configs: Vec::new() };
            // The asker was told that the topic is unknown; the next Metadata request tells what became of it.
            let _ = draft.create_wanted(env, &wanted);
        }
        Decision { records: draft.records, rests_on: self.image.lsn, ..Decision::nothing() }
    }
}

/// Refuses a request for more partitions than one may create, whatever else is wrong with it.
fn too_many_partitions(request: &CreateTopicsRequest, config: &Config) -> Result<(), CatalogError> {
    let mut total = 0i64;
    for topic in &request.topics {
        let count = match (topic.assignments.len(), topic.num_partitions) {
            (0, -1) => i64::from(config.num_partitions),
            (0, count) => i64::from(count.max(0)),
            (assigned, _) => i64::try_from(assigned).unwrap_or(i64::MAX),
        };
        total = total.saturating_add(count);
        if total > PARTITIONS_PER_REQUEST_MAX {
            let text = "Excessively large number of partitions per request.";
            return Err(CatalogError::new(ErrorCode::PolicyViolation, text));
        }
    }
    Ok(())
}

/// A topic of the draft, for the answer.
struct Created {
    id: TopicId,
    partition_count: i32,
    configs: Configs,
}

/// Topics on their way: what the records of this decision make of the catalogue.
struct Draft<'a> {
    catalog: &'a Catalog,
    records: Vec<Record>,
    names: BTreeSet<TopicName>,
    shapes: Shapes,
    ids: BTreeSet<TopicId>,
    partition_total: i64,
    partitions_made: i64,
    bytes: usize,
}

impl<'a> Draft<'a> {
    fn new(catalog: &'a Catalog) -> Self {
        Self {
            catalog,
            records: Vec::new(),
            names: BTreeSet::new(),
            shapes: Shapes::default(),
            ids: BTreeSet::new(),
            partition_total: catalog.partition_total(),
            partitions_made: 0,
            bytes: 0,
        }
    }

    fn create(&mut self, env: &mut Env, topic: &CreatableTopic) -> Result<Created, CatalogError> {
        if &*topic.name == names::CLUSTER_METADATA {
            let text = format!("Creation of internal topic {} is prohibited.", &*topic.name);
            return Err(CatalogError::new(ErrorCode::InvalidRequest, text));
        }
        self.check_name(&topic.name)?;
        let image = &self.catalog.image;
        let configs = requested_configs(topic)?;
        self.reserve(&topic.name, &configs)?;
        check_configs(image, &env.config, &configs)?;
        let partition_count = if topic.assignments.is_empty() {
            check_replication_factor(topic.replication_factor)?;
            partition_count(topic.num_partitions, &env.config)?
        } else {
            check_counts_unset(topic)?;
            assigned_partition_count(image.node_id, &topic.assignments)?
        };
        check_replicas(topic.replication_factor)?;
        self.add(env, &topic.name, partition_count, configs)
    }

    fn create_wanted(&mut self, env: &mut Env, wanted: &WantedTopic) -> Result<(), CatalogError> {
        if let Some(topic) = self.catalog.image.topic(&wanted.name) {
            if wanted.partition_count <= 0 || wanted.partition_count == topic.partition_count {
                return Ok(());
            }
            let text = format!(
                "Topic '{}' already exists with {} partition(s) instead of {}.",
                wanted.name, topic.partition_count, wanted.partition_count
            );
            return Err(CatalogError::new(ErrorCode::TopicAlreadyExists, text));
        }
        self.check_name(&wanted.name)?;
        let configs: Configs = wanted.configs.iter().cloned().collect();
        self.reserve(&wanted.name, &configs)?;
        check_configs(&self.catalog.image, &env.config, &configs)?;
        check_replicas(wanted.replication_factor)?;
        let count = if wanted.partition_count == 0 { -1 } else { wanted.partition_count };
        let partition_count = partition_count(count, &env.config)?;
        self.add(env, &wanted.name, partition_count, configs).map(drop)
    }

    fn check_name(&self, name: &str) -> Result<(), CatalogError> {
        names::check(name)?;
        if self.catalog.image.topic(name).is_some() || self.names.contains(name) {
            return Err(CatalogError::new(ErrorCode::TopicAlreadyExists, format!("Topic '{name}' already exists.")));
        }
        // Kafka overlooks a collision within one request; the second of the two is refused here as in a second request.
        if let Some(other) = self.catalog.shapes.collision(name).or_else(|| self.shapes.collision(name)) {
            let text = format!("Topic '{name}' collides with existing topic: {other}");
            return Err(CatalogError::new(ErrorCode::InvalidTopicException, text));
        }
        Ok(())
    }

    /// Refuses topics from where the records would no longer fit one journal entry.
    fn reserve(&mut self, name: &str, configs: &Configs) -> Result<(), CatalogError> {
        self.bytes = self.bytes.saturating_add(record_bytes(name, configs));
        if self.bytes > DECISION_BYTES_MAX { Err(CatalogError::too_large()) } else { Ok(()) }
    }

    fn add(
        &mut self,
        env: &mut Env,
        name: &str,
        partition_count: i32,
        configs: Configs,
    ) -> Result<Created, CatalogError> {
        self.partitions_made = self.partitions_made.saturating_add(i64::from(partition_count));
        if self.partitions_made > PARTITIONS_PER_REQUEST_MAX {
            let text = "Excessively large number of partitions per request.";
            return Err(CatalogError::new(ErrorCode::PolicyViolation, text));
        }
        self.partition_total = check_total(self.partition_total, i64::from(partition_count), &env.config)?;
        let name = TopicName::from(name);
        let id = self.new_id(&mut env.rng);
        self.shapes.insert(&name);
        self.names.insert(name.clone());
        self.ids.insert(id);
        let value = TopicValue { name, partition_count, configs: configs.clone() };
        self.records.push(Record::Topic { topic_id: id, value: Some(value) });
        Ok(Created { id, partition_count, configs })
    }

    /// A random id that no topic has. Kafka's tools take an argument that begins with `-` for an option, so no id does.
    fn new_id(&self, rng: &mut Rng) -> TopicId {
        loop {
            let id = TopicId::from_bytes(rng.uuid_bytes());
            let is_taken = self.catalog.image.topic_names.contains_key(&id) || self.ids.contains(&id);
            if !is_taken && !id.to_string().starts_with('-') {
                return id;
            }
        }
    }
}

/// Refuses more partitions than the server is to hold; gives the new total.
pub(super) fn check_total(total: i64, more: i64, config: &Config) -> Result<i64, CatalogError> {
    let total_after = total.saturating_add(more);
    if total_after > i64::from(config.max_partitions) {
        let text = format!(
            "{more} more partition(s) would make {total_after}, but max.partitions of this server is {}.",
            config.max_partitions
        );
        return Err(CatalogError::new(ErrorCode::InvalidPartitions, text));
    }
    Ok(total_after)
}

/// The configs of a request; of several for one key the last.
fn requested_configs(topic: &CreatableTopic) -> Result<Configs, CatalogError> {
    let mut configs = Configs::new();
    let mut unset = BTreeSet::new();
    for config in &topic.configs {
        match &config.value {
            Some(value) => drop(configs.insert(config.name.to_string(), value.to_string())),
            None => drop(unset.insert(&*config.name)),
        }
    }
    if unset.is_empty() {
        return Ok(configs);
    }
    let unset: Vec<&str> = unset.into_iter().collect();
    let text = format!("Null value not supported for topic configs: {}", unset.join(","));
    Err(CatalogError::new(ErrorCode::InvalidConfig, text))
}

fn check_configs(image: &Image, config: &Config, configs: &Configs) -> Result<(), CatalogError> {
    check_lengths(configs)?;
    TopicConfig::validate(config, &image.broker_configs, configs)
        .map_err(|error| CatalogError::new(ErrorCode::InvalidConfig, error.message))
}

/// Refuses values that not every version of the protocol could carry back.
pub(super) fn check_lengths(configs: &Configs) -> Result<(), CatalogError> {
    match configs.iter().find(|(name, value)| name.len().max(value.len()) > TEXT_BYTES_MAX) {
        Some((name, _)) => {
            let text = format!("The value of configuration {name} is longer than {TEXT_BYTES_MAX} bytes.");
            Err(CatalogError::new(ErrorCode::InvalidConfig, text))
        }
        None => Ok(()),
    }
}

/// About how many bytes a record with these configs takes in the journal.
pub(super) fn record_bytes(name: &str, configs: &Configs) -> usize {
    let configs = configs.iter().map(|(name, value)| name.len() + value.len() + 16);
    configs.fold(name.len() + 128, usize::saturating_add)
}

fn check_replication_factor(replication_factor: i16) -> Result<(), CatalogError> {
    if replication_factor < -1 || replication_factor == 0 {
        let text = "Replication factor must be larger than 0, or -1 to use the default value.";
        return Err(CatalogError::new(ErrorCode::InvalidReplicationFactor, text));
    }
    Ok(())
}

fn check_replicas(replication_factor: i16) -> Result<(), CatalogError> {
    if replication_factor > 1 {
        let text = format!(
            "Unable to replicate the partition {replication_factor} time(s): The target replication factor of \
             {replication_factor} cannot be reached because only 1 broker(s) are registered or some brokers have all \
             their log directories cordoned."
        );
        return Err(CatalogError::new(ErrorCode::InvalidReplicationFactor, text));
    }
    Ok(())
}

fn partition_count(requested: i32, config: &Config) -> Result<i32, CatalogError> {
    match requested {
        -1 => Ok(config.num_partitions),
        1.. => Ok(requested),
        _ => {
            let text = "Number of partitions was set to an invalid non-positive value.";
            Err(CatalogError::new(ErrorCode::InvalidPartitions, text))
        }
    }
}

fn check_counts_unset(topic: &CreatableTopic) -> Result<(), CatalogError> {
    let unset = match (topic.replication_factor, topic.num_partitions) {
        (-1, -1) => return Ok(()),
        (-1, _) => "numPartitions",
        _ => "replication factor",
    };
    let text = format!("A manual partition assignment was specified, but {unset} was not set to -1.");
    Err(CatalogError::new(ErrorCode::InvalidRequest, text))
}

fn assigned_partition_count(node_id: i32, assignments: &[CreatableReplicaAssignment]) -> Result<i32, CatalogError> {
    let refused = |text: String| Err(CatalogError::new(ErrorCode::InvalidReplicaAssignment, text));
    let mut indexes = BTreeSet::new();
    for assignment in assignments {
        if !indexes.insert(assignment.partition_index) {
            let index = assignment.partition_index;
            return refused(format!("Found multiple manual partition assignments for partition {index}"));
        }
        check_assigned_brokers(node_id, &assignment.broker_ids)?;
    }
    match i32::try_from(indexes.len()) {
        Ok(count) if indexes.iter().copied().eq(0..count) => Ok(count),
        _ => refused("partitions should be a consecutive 0-based integer sequence".to_owned()),
    }
}

/// There is one broker, so a manual assignment can only name it, once.
pub(super) fn check_assigned_brokers(node_id: i32, broker_ids: &[i32]) -> Result<(), CatalogError> {
    let refused = |text: String| Err(CatalogError::new(ErrorCode::InvalidReplicaAssignment, text));
    let mut seen = BTreeSet::new();
    if broker_ids.is_empty() {
        return refused("The manual partition assignment includes an empty replica list.".to_owned());
    }
    for id in broker_ids {
        if *id != node_id {
            let text =
                format!("The manual partition assignment includes broker {id}, but no such broker is registered.");
            return refused(text);
        }
        if !seen.insert(id) {
            return refused(format!("The manual partition assignment includes the broker {id} more than once."));
        }
    }
    Ok(())
}

fn created_answer(
    image: &Image,
    config: &Config,
    topic: &CreatableTopic,
    created: &Created,
    version: i16,
) -> CreatableTopicResult {
    // Before version 5 the answer has no place for configs.
    let configs = if version >= 5 { describe::topic(image, config, &created.configs) } else { Vec::new() };
    message!(CreatableTopicResult {
        name: topic.name.clone(),
        topic_id: wire_uuid(created.id),
        error_message: None,
        num_partitions: created.partition_count,
        replication_factor: 1,
        configs: Some(configs.into_iter().map(created_config).collect()),
    })
}

fn created_config(described: Described) -> CreatableTopicConfigs {
    message!(CreatableTopicConfigs {
        name: described.name.into(),
        value: described.value.map(Into::into),
        read_only: described.is_read_only,
        config_source: described.source,
        is_sensitive: described.is_sensitive,
    })
}

fn refused_answer(topic: &CreatableTopic, error: &CatalogError) -> CreatableTopicResult {
    message!(CreatableTopicResult {
        name: topic.name.clone(),
        error_code: error.code.code(),
        error_message: error.wire_message(),
        configs: Some(Vec::new()),
    })
}
