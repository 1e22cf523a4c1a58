//! DescribeConfigs and `ListConfigResources`: what is set where, and what holds.
//!
//! Answers to Kafka's `ConfigHelper`. A value's source is the strongest place that sets it: the resource itself, the
//! broker changed at run time (this node's before the cluster's), the broker as started, the default.

use std::collections::{BTreeMap, BTreeSet};

use super::alter::resource;
use super::{CatalogError, ITEMS_PER_REQUEST_MAX, names};
use crate::config::{BROKER_KEYS, Config, GROUP_KEYS, GroupConfig, KNOWN_WITHOUT_EFFECT, Key, TOPIC_KEYS, TopicConfig};
use crate::protocol::messages::describe_configs_request::DescribeConfigsResource;
use crate::protocol::messages::describe_configs_response::{
    DescribeConfigsResourceResult, DescribeConfigsResult, DescribeConfigsSynonym,
};
use crate::protocol::messages::list_config_resources_response::ConfigResource;
use crate::protocol::messages::{
    DescribeConfigsRequest, DescribeConfigsResponse, ListConfigResourcesRequest, ListConfigResourcesResponse,
};
use crate::protocol::{StrBytes, message};
use crate::types::{ErrorCode, Image};

/// Kafka's numbers of the places that a value comes from.
mod source {
    pub(super) const TOPIC: i8 = 1;
    pub(super) const NODE: i8 = 2;
    pub(super) const CLUSTER: i8 = 3;
    pub(super) const STATIC: i8 = 4;
    pub(super) const DEFAULT: i8 = 5;
    pub(super) const GROUP: i8 = 8;
}

/// A key with what holds for it.
#[derive(Debug)]
pub(super) struct Described {
    pub(super) name: String,
    pub(super) value: Option<String>,
    pub(super) source: i8,
    pub(super) is_read_only: bool,
    pub(super) is_sensitive: bool,
    kind: i8,
    synonyms: Vec<Synonym>,
    doc: &'static str,
}

/// A place that sets a value.
#[derive(Debug)]
struct Synonym {
    name: String,
    value: Option<String>,
    source: i8,
}

impl Synonym {
    fn new(name: &str, value: Option<String>, source: i8) -> Self {
        Self { name: name.to_owned(), value, source }
    }
}

/// Answers DescribeConfigs from an image and the settings the server was started with.
pub(crate) fn describe_configs(
    image: &Image,
    config: &Config,
    request: &DescribeConfigsRequest,
    version: i16,
) -> DescribeConfigsResponse {
    // An answer is many times as large as its question.
    let is_too_many = request.resources.len() > ITEMS_PER_REQUEST_MAX;
    let results = request.resources.iter().enumerate().map(|(index, resource)| {
        let described =
            if is_too_many { Err(CatalogError::too_many_items(index)) } else { describe(image, config, resource) };
        result(request, resource, described, version)
    });
    message!(DescribeConfigsResponse { results: results.collect() })
}

fn result(
    request: &DescribeConfigsRequest,
    resource: &DescribeConfigsResource,
    described: Result<Vec<Described>, CatalogError>,
    version: i16,
) -> DescribeConfigsResult {
    let keys = resource.configuration_keys.as_ref().filter(|keys| !keys.is_empty());
    let keys: Option<BTreeSet<&str>> = keys.map(|keys| keys.iter().map(|key| &**key).collect());
    let is_asked = |name: &str| keys.as_ref().is_none_or(|keys| keys.contains(name));
    let (error_code, text, described) = match described {
        Ok(described) => (0, Some(StrBytes::from("")), described),
        Err(error) => (error.code.code(), error.wire_message(), Vec::new()),
    };
    let configs = described.into_iter().filter(|key| is_asked(&key.name)).map(|key| {
        let synonyms = if request.include_synonyms { key.synonyms } else { Vec::new() };
        let with_doc = request.include_documentation && version >= 3;
        message!(DescribeConfigsResourceResult {
            name: key.name.into(),
            value: key.value.map(Into::into),
            read_only: key.is_read_only,
            config_source: key.source,
            is_sensitive: key.is_sensitive,
            synonyms: synonyms.into_iter().map(wire_synonym).collect(),
            config_type: if version >= 3 { key.kind } else { 0 },
            documentation: with_doc.then(|| StrBytes::from(key.doc.trim())),
        })
    });
    message!(DescribeConfigsResult {
        error_code: error_code,
        error_message: text,
        resource_type: resource.resource_type,
        resource_name: resource.resource_name.clone(),
        configs: configs.collect(),
    })
}

fn wire_synonym(synonym: Synonym) -> DescribeConfigsSynonym {
    message!(DescribeConfigsSynonym {
        name: synonym.name.into(),
        value: synonym.value.map(Into::into),
        source: synonym.source,
    })
}

fn invalid(text: impl Into<String>) -> CatalogError {
    CatalogError::new(ErrorCode::InvalidRequest, text)
}

fn describe(
    image: &Image,
    config: &Config,
    resource: &DescribeConfigsResource,
) -> Result<Vec<Described>, CatalogError> {
    let name = &*resource.resource_name;
    match resource.resource_type {
        resource::TOPIC => {
            names::check(name)?;
            match image.topic(name) {
                Some(found) => Ok(topic(image, config, &found.configs)),
                None => Err(CatalogError::new(ErrorCode::UnknownTopicOrPartition, "")),
            }
        }
        resource::BROKER if name.is_empty() => Ok(cluster(image)),
        resource::BROKER => match node_id(name)? {
            id if id == image.node_id => Ok(node(image, config)),
            id => Err(invalid(format!(
                "Unexpected broker id, expected {} or empty string, but received {id}",
                image.node_id
            ))),
        },
        resource::BROKER_LOGGER if name.is_empty() => Err(invalid("Broker id must not be empty")),
        resource::BROKER_LOGGER => match node_id(name)? {
            // There are no loggers of Kafka's classes.
            id if id == image.node_id => Ok(Vec::new()),
            id => Err(invalid(format!("Unexpected broker id, expected {} but received {id}", image.node_id))),
        },
        resource::CLIENT_METRICS if name.is_empty() => {
            Err(invalid("Client metrics subscription name must not be empty"))
        }
        resource::CLIENT_METRICS => Ok(client_metrics()),
        resource::GROUP if name.is_empty() => Err(invalid("Group name must not be empty")),
        resource::GROUP => Ok(group(image, config, name)),
        other => Err(invalid(format!("Unknown resource type {other}"))),
    }
}

fn node_id(name: &str) -> Result<i32, CatalogError> {
    name.parse().map_err(|_| invalid(format!("Broker id must be an integer, but it is: {name}")))
}

/// A key of the broker, with an effect here or without.
pub(super) fn broker_key(name: &str) -> Option<&'static Key> {
    Config::key(name).or_else(|| KNOWN_WITHOUT_EFFECT.iter().find(|key| key.name == name))
}

/// What holds for a key of the broker.
pub(super) fn broker_text(image: &Image, config: &Config, name: &str) -> Option<String> {
    chain(image, config, name).into_iter().next()?.value
}

/// The places that set a key of the broker, the strongest first. Keys that stand in for one another are one.
fn chain(image: &Image, config: &Config, name: &str) -> Vec<Synonym> {
    let family = Config::synonyms(name);
    let alone = [name];
    let family = if family.is_empty() { &alone[..] } else { family };
    let text = |source: i8, name: &str| match source {
        source::NODE => image.node_configs.get(name).map(String::as_str),
        source::CLUSTER => image.cluster_configs.get(name).map(String::as_str),
        source::STATIC => config.explicit_text(name),
        _ => broker_key(name).and_then(|key| key.default),
    };
    let mut chain = Vec::new();
    for source in [source::NODE, source::CLUSTER, source::STATIC, source::DEFAULT] {
        for name in family {
            if let Some(value) = text(source, name) {
                let is_sensitive = broker_key(name).is_none_or(Key::is_sensitive);
                chain.push(Synonym::new(name, (!is_sensitive).then(|| value.to_owned()), source));
            }
        }
    }
    chain
}

/// A key of a topic or a group: its own value, if it has one, before what the broker gives.
fn described(key: &Key, value: Option<String>, own: Option<i8>, chain: Vec<Synonym>) -> Described {
    let source = own.or_else(|| chain.first().map(|first| first.source)).unwrap_or(source::DEFAULT);
    let own = own.map(|source| Synonym::new(key.name, value.clone(), source));
    let rest = from_name(chain, key.synonym.unwrap_or(key.name));
    with_source(key, value, source, own.into_iter().chain(rest).collect())
}

/// As Kafka does: the places of stand-ins that come before any place of the key itself are left out.
fn from_name(chain: Vec<Synonym>, name: &str) -> impl Iterator<Item = Synonym> {
    chain.into_iter().skip_while(move |synonym| synonym.name != name)
}

fn with_source(key: &Key, value: Option<String>, source: i8, synonyms: Vec<Synonym>) -> Described {
    Described {
        name: key.name.to_owned(),
        value,
        source,
        is_read_only: !key.is_dynamic,
        is_sensitive: key.is_sensitive(),
        kind: key.kind.code(),
        synonyms,
        doc: key.doc,
    }
}

/// The configs of a topic that has these of its own.
pub(super) fn topic(image: &Image, config: &Config, own: &BTreeMap<String, String>) -> Vec<Described> {
    let pairs = own.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let effective = TopicConfig::effective(config, &image.broker_configs, pairs);
    let shown = TOPIC_KEYS.iter().filter(|key| !key.is_internal || own.contains_key(key.name));
    let describe = |key: &Key| {
        let chain = key.synonym.map(|name| chain(image, config, name)).unwrap_or_default();
        let own = own.contains_key(key.name).then_some(source::TOPIC);
        described(key, effective.text(key.name).flatten(), own, chain)
    };
    shown.map(describe).collect()
}

fn group(image: &Image, config: &Config, name: &str) -> Vec<Described> {
    let own = image.group_configs.get(name);
    let is_own = |key: &Key| own.is_some_and(|own| own.contains_key(key.name));
    let pairs = own.into_iter().flat_map(|own| own.iter()).map(|(name, value)| (name.as_str(), value.as_str()));
    let values = GroupConfig::unclamped(&config.with_dynamic(&image.broker_configs), pairs);
    let shown = GROUP_KEYS.iter().filter(|key| !key.is_internal || is_own(key));
    let describe = |key: &Key| {
        let chain = match key.synonym {
            Some(name) => chain(image, config, name),
            None => vec![Synonym::new(key.name, key.default.map(str::to_owned), source::DEFAULT)],
        };
        described(key, values.text(key.name).flatten(), is_own(key).then_some(source::GROUP), chain)
    };
    shown.map(describe).collect()
}

/// All configs of this node.
fn node(image: &Image, config: &Config) -> Vec<Described> {
    let values = config.with_dynamic(&image.broker_configs);
    let describe = |key: &Key| {
        let chain: Vec<Synonym> = from_name(chain(image, config, key.name), key.name).collect();
        let source = chain.first().map_or(source::DEFAULT, |first| first.source);
        if key.is_internal && source == source::DEFAULT {
            return None;
        }
        let stored = || chain.first().and_then(|first| first.value.clone());
        let value = values.text(key.name).unwrap_or_else(stored);
        Some(with_source(key, value, source, chain))
    };
    let known = BROKER_KEYS.iter().chain(KNOWN_WITHOUT_EFFECT).filter_map(describe);
    let unknown = image.broker_configs.keys().filter(|name| broker_key(name).is_none());
    known.chain(unknown.map(|name| unknown_key(image, config, name))).collect()
}

/// The configs that are set on the whole cluster.
fn cluster(image: &Image) -> Vec<Described> {
    let describe = |(name, value): (&String, &String)| {
        let Some(key) = broker_key(name) else {
            return unknown_key(image, &Config::default(), name);
        };
        let value = Some(value.clone()).filter(|_| !key.is_sensitive());
        let synonym = Synonym::new(name, value.clone(), source::CLUSTER);
        with_source(key, value, source::CLUSTER, vec![synonym])
    };
    image.cluster_configs.iter().map(describe).collect()
}

/// A key that nobody knows may be a secret: it is named, not shown.
fn unknown_key(image: &Image, config: &Config, name: &str) -> Described {
    let chain = chain(image, config, name);
    Described {
        name: name.to_owned(),
        value: None,
        source: chain.first().map_or(source::DEFAULT, |first| first.source),
        is_read_only: true,
        is_sensitive: true,
        kind: 0,
        synonyms: chain,
        doc: "Not known to this server.",
    }
}

/// What Kafka tells of any subscription that is not there; none can be made (see `alter_client_metrics`).
fn client_metrics() -> Vec<Described> {
    use crate::config::Kind::{Int, List};
    let rows = [
        ("interval.ms", "300000", Int, "How often a client pushes its metrics, in milliseconds."),
        ("match", "", List, "Which clients push their metrics."),
        ("metrics", "", List, "Which metrics clients push."),
    ];
    let describe = |(name, value, kind, doc): (&str, &str, crate::config::Kind, &'static str)| Described {
        name: name.to_owned(),
        value: Some(value.to_owned()),
        source: source::DEFAULT,
        is_read_only: false,
        is_sensitive: false,
        kind: kind.code(),
        synonyms: Vec::new(),
        doc,
    };
    rows.map(describe).into()
}

/// Answers `ListConfigResources` (KIP-1142): all topics and this broker, and the groups that have configs of their own.
pub(crate) fn list_config_resources(
    image: &Image,
    request: &ListConfigResourcesRequest,
    version: i16,
) -> ListConfigResourcesResponse {
    let all = [resource::TOPIC, resource::BROKER, resource::BROKER_LOGGER, resource::CLIENT_METRICS, resource::GROUP];
    // Version 0 can only mean client metrics, and has no field to say so.
    let asked: BTreeSet<i8> = match (version, request.resource_types.as_slice()) {
        (0, _) => BTreeSet::from([resource::CLIENT_METRICS]),
        (_, []) => all.into(),
        (_, types) => types.iter().copied().collect(),
    };
    if asked.iter().any(|kind| !all.contains(kind)) {
        return message!(ListConfigResourcesResponse { error_code: ErrorCode::UnsupportedVersion.code() });
    }
    let mut resources = Vec::new();
    for kind in asked {
        let mut add =
            |name: &str| resources.push(message!(ConfigResource { resource_name: name.into(), resource_type: kind }));
        match kind {
            resource::TOPIC => image.topics.keys().for_each(|name| add(name)),
            resource::BROKER | resource::BROKER_LOGGER => add(&image.node_id.to_string()),
            resource::GROUP => image.group_configs.keys().for_each(|name| add(name)),
            _ => {}
        }
    }
    message!(ListConfigResourcesResponse { config_resources: resources })
}
