//! IncrementalAlterConfigs (KIP-339): all changes of one resource hold, or none.
//!
//! Answers to Kafka's `ConfigAdminManager` and `ConfigurationControlManager`. Topics and groups are here, the broker is
//! in [`super::alter_broker`].

use std::collections::{BTreeMap, BTreeSet};

use super::create::{check_lengths, record_bytes};
use super::{Catalog, CatalogError, ConfigValue, Record, TopicValue, names};
use super::{DECISION_BYTES_MAX, ITEMS_PER_REQUEST_MAX, TEXT_BYTES_MAX};
use crate::config::{Config, GroupConfig, Kind, TopicConfig, list_elements};
use crate::machine::{Asked, Decision, Env};
use crate::protocol::message;
use crate::protocol::messages::incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig};
use crate::protocol::messages::incremental_alter_configs_response::AlterConfigsResourceResponse;
use crate::protocol::messages::{IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse};
use crate::types::{ErrorCode, GroupId};

/// Configs of one resource.
pub(super) type Configs = BTreeMap<String, String>;

/// Kafka's numbers of the kinds of resources that have configs.
pub(super) mod resource {
    pub(in crate::catalog) const TOPIC: i8 = 2;
    pub(in crate::catalog) const BROKER: i8 = 4;
    pub(in crate::catalog) const BROKER_LOGGER: i8 = 8;
    pub(in crate::catalog) const CLIENT_METRICS: i8 = 16;
    pub(in crate::catalog) const GROUP: i8 = 32;
}

/// Kafka's numbers of the operations.
pub(super) const SET: i8 = 0;
pub(super) const DELETE: i8 = 1;
pub(super) const APPEND: i8 = 2;
pub(super) const SUBTRACT: i8 = 3;

impl Catalog {
    pub(super) fn incremental_alter_configs(
        &self,
        env: &mut Env,
        asked: &Asked<IncrementalAlterConfigsRequest>,
    ) -> Decision<Self> {
        let request = &asked.request;
        let (outcomes, records) = self.alter_all(request, &env.config);
        let responses = request.resources.iter().zip(outcomes).map(|(resource, outcome)| {
            let error = outcome.err();
            message!(AlterConfigsResourceResponse {
                error_code: error.as_ref().map_or(0, |error| error.code.code()),
                error_message: error.as_ref().and_then(CatalogError::wire_message),
                resource_type: resource.resource_type,
                resource_name: resource.resource_name.clone(),
            })
        });
        let response = message!(IncrementalAlterConfigsResponse { responses: responses.collect() });
        self.answer(asked.to, response, if request.validate_only { Vec::new() } else { records })
    }

    /// What becomes of each resource, and the records of those that change.
    fn alter_all(
        &self,
        request: &IncrementalAlterConfigsRequest,
        config: &Config,
    ) -> (Vec<Result<(), CatalogError>>, Vec<Record>) {
        let refuse_all = || {
            let indexes = 0..request.resources.len();
            (indexes.map(|index| Err(CatalogError::too_many_items(index))).collect(), Vec::new())
        };
        if request.resources.len() > ITEMS_PER_REQUEST_MAX {
            return refuse_all();
        }
        let mut times = BTreeMap::<(i8, &str), u32>::new();
        for resource in &request.resources {
            *times.entry((resource.resource_type, &resource.resource_name)).or_default() += 1;
        }
        let mut records = Vec::new();
        let mut bytes = 0usize;
        let mut outcomes: Vec<Result<(), CatalogError>> = Vec::with_capacity(request.resources.len());
        for resource in &request.resources {
            let is_twice =
                times.get(&(resource.resource_type, &resource.resource_name)).is_some_and(|times| *times > 1);
            let altered = if is_twice {
                Err(CatalogError::new(ErrorCode::InvalidRequest, "Each resource must appear at most once."))
            } else {
                self.alter(resource, config)
            };
            outcomes.push(altered.map(|record| {
                bytes = bytes.saturating_add(record.as_ref().map_or(0, bytes_of));
                records.extend(record);
            }));
            if bytes > DECISION_BYTES_MAX {
                return refuse_all();
            }
        }
        (outcomes, records)
    }

    /// What a resource is changed to; `None` if nothing changes.
    fn alter(&self, resource: &AlterConfigsResource, config: &Config) -> Result<Option<Record>, CatalogError> {
        check_keys(&resource.configs)?;
        match resource.resource_type {
            resource::TOPIC => self.alter_topic(resource, config),
            resource::GROUP => self.alter_group(resource, config),
            resource::BROKER => self.alter_broker(resource, config),
            resource::BROKER_LOGGER => self.alter_broker_logger(resource).map(|()| None),
            resource::CLIENT_METRICS => alter_client_metrics(resource).map(|()| None),
            other => Err(CatalogError::new(ErrorCode::InvalidRequest, format!("Unknown resource type {other}"))),
        }
    }

    fn alter_topic(&self, resource: &AlterConfigsResource, config: &Config) -> Result<Option<Record>, CatalogError> {
        let name = &*resource.resource_name;
        if name.is_empty() {
            return Err(CatalogError::new(ErrorCode::InvalidRequest, "Default topic resources are not allowed."));
        }
        let topic = self.image.topic(name);
        let none = Configs::new();
        let current = topic.map_or(&none, |topic| topic.configs.as_ref());
        let list = |key: &str| {
            if TopicConfig::key(key)?.kind != Kind::List {
                return None;
            }
            let pairs = current.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            TopicConfig::effective(config, &self.image.broker_configs, pairs).text(key)?
        };
        let altered = apply(current, &resource.configs, list)?;
        names::check(name)?;
        let invalid = |message: String| CatalogError::new(ErrorCode::InvalidConfig, message);
        TopicConfig::check_names(set_names(&resource.configs)).map_err(|error| invalid(error.message))?;
        check_lengths(&altered)?;
        TopicConfig::validate(config, &self.image.broker_configs, &altered).map_err(|error| invalid(error.message))?;
        let Some(topic) = topic else {
            let text = format!("The topic '{name}' does not exist.");
            return Err(CatalogError::new(ErrorCode::UnknownTopicOrPartition, text));
        };
        if altered == *current {
            return Ok(None);
        }
        let value = TopicValue { name: topic.name.clone(), partition_count: topic.partition_count, configs: altered };
        Ok(Some(Record::Topic { topic_id: topic.id, value: Some(value) }))
    }

    fn alter_group(&self, resource: &AlterConfigsResource, config: &Config) -> Result<Option<Record>, CatalogError> {
        let name = &*resource.resource_name;
        if name.is_empty() {
            return Err(CatalogError::new(ErrorCode::InvalidRequest, "Default group resources are not allowed."));
        }
        if name.len() > TEXT_BYTES_MAX {
            let text = format!("The name of the group is longer than {TEXT_BYTES_MAX} bytes.");
            return Err(CatalogError::new(ErrorCode::InvalidRequest, text));
        }
        let none = Configs::new();
        let current = self.image.group_configs.get(name).map_or(&none, |configs| configs.as_ref());
        // Kafka knows no list among the keys of groups, although one is.
        let altered = apply(current, &resource.configs, |_| None)?;
        let invalid = |message: String| CatalogError::new(ErrorCode::InvalidConfig, message);
        GroupConfig::check_names(set_names(&resource.configs)).map_err(|error| invalid(error.message))?;
        check_lengths(&altered)?;
        GroupConfig::validate(&config.with_dynamic(&self.image.broker_configs), &altered).map_err(invalid)?;
        if altered == *current {
            return Ok(None);
        }
        let value = (!altered.is_empty()).then_some(ConfigValue { configs: altered });
        Ok(Some(Record::GroupConfig { group: GroupId::from(name), value }))
    }
}

/// What holds for the list of changes whatever the resource is.
fn check_keys(configs: &[AlterableConfig]) -> Result<(), CatalogError> {
    let mut seen = BTreeSet::new();
    if !configs.iter().all(|config| seen.insert(&*config.name)) {
        return Err(CatalogError::new(ErrorCode::InvalidRequest, "Error due to duplicate config keys"));
    }
    let unset = configs.iter().filter(|config| config.config_operation != DELETE && config.value.is_none());
    let unset: Vec<&str> = unset.map(|config| &*config.name).collect();
    if !unset.is_empty() {
        let text = format!("Null value not supported for : {}", unset.join(", "));
        return Err(CatalogError::new(ErrorCode::InvalidRequest, text));
    }
    Ok(())
}

/// The names that get a value.
fn set_names(configs: &[AlterableConfig]) -> impl Iterator<Item = &str> {
    configs.iter().filter(|config| config.config_operation != DELETE).map(|config| &*config.name)
}

/// The configs after the changes. `list` gives what a key of a list type holds now, set or not.
fn apply(
    current: &Configs,
    changes: &[AlterableConfig],
    list: impl Fn(&str) -> Option<String>,
) -> Result<Configs, CatalogError> {
    let mut altered = current.clone();
    for change in changes {
        let (name, value) = (&*change.name, change.value.as_deref().unwrap_or_default());
        let not_a_list = |operation: &str| {
            let text = format!("Can't {operation} to key {name} because its type is not LIST.");
            CatalogError::new(ErrorCode::InvalidConfig, text)
        };
        match change.config_operation {
            SET => drop(altered.insert(name.to_owned(), value.to_owned())),
            DELETE => drop(altered.remove(name)),
            APPEND => {
                let before = list(name).ok_or_else(|| not_a_list("APPEND"))?;
                altered.insert(name.to_owned(), appended(&before, value));
            }
            SUBTRACT => {
                let before = list(name).ok_or_else(|| not_a_list("SUBTRACT"))?;
                altered.insert(name.to_owned(), subtracted(&before, value));
            }
            other => {
                let text = format!("Unknown operations type {other}");
                return Err(CatalogError::new(ErrorCode::UnknownServerError, text));
            }
        }
    }
    Ok(altered)
}

/// A list with the elements of `more` behind it that it does not have.
pub(super) fn appended(list: &str, more: &str) -> String {
    let mut elements: Vec<&str> = list_elements(list).collect();
    let mut known: BTreeSet<&str> = elements.iter().copied().collect();
    elements.extend(list_elements(more).filter(|element| known.insert(*element)));
    elements.join(",")
}

/// A list without the elements of `less`.
pub(super) fn subtracted(list: &str, less: &str) -> String {
    let less: BTreeSet<&str> = list_elements(less).collect();
    list_elements(list).filter(|element| !less.contains(element)).collect::<Vec<_>>().join(",")
}

fn bytes_of(record: &Record) -> usize {
    match record {
        Record::Topic { value: Some(value), .. } => record_bytes(&value.name, &value.configs),
        Record::GroupConfig { group, value: Some(value) } => record_bytes(group, &value.configs),
        Record::BrokerConfig { value: Some(value), .. } => record_bytes("", &value.configs),
        Record::GroupConfig { group, value: None } => group.len(),
        Record::Topic { .. } | Record::BrokerConfig { .. } => 0,
    }
}

/// No client telemetry is collected, so there is nothing to subscribe to.
fn alter_client_metrics(resource: &AlterConfigsResource) -> Result<(), CatalogError> {
    if resource.resource_name.is_empty() {
        return Err(CatalogError::new(ErrorCode::InvalidRequest, "Subscription name can't be empty"));
    }
    if set_names(&resource.configs).next().is_none() {
        return Ok(());
    }
    let text = "Client metrics subscriptions are not supported: this server collects no client telemetry.";
    Err(CatalogError::new(ErrorCode::InvalidRequest, text))
}
