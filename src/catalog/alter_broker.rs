//! Changes of the broker's own configs, for this node or for the whole cluster.
//!
//! Answers to Kafka's `DynamicBrokerConfig`: only what can be changed while the server runs is taken, and unlike with
//! topics a bad value is an invalid request. A key that nobody knows is stored, as Kafka does for plugins, and shown to
//! nobody.

use super::alter::{APPEND, Configs, DELETE, SET, SUBTRACT, appended, subtracted};
use super::create::check_lengths;
use super::{Catalog, CatalogError, ConfigValue, Record, describe};
use crate::config::{Config, Kind};
use crate::protocol::messages::incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig};
use crate::types::ErrorCode;

impl Catalog {
    pub(super) fn alter_broker(
        &self,
        resource: &AlterConfigsResource,
        config: &Config,
    ) -> Result<Option<Record>, CatalogError> {
        let is_default = resource.resource_name.is_empty();
        if !is_default {
            let id = node_id(&resource.resource_name)?;
            if id != self.image.node_id {
                let text = format!("Unexpected broker id, expected {}, but received {id}", self.image.node_id);
                return Err(invalid(text));
            }
        }
        let current = if is_default { &self.image.cluster_configs } else { &self.image.node_configs };
        let altered = self.altered_broker(current, &resource.configs, config)?;
        check_updates(&resource.configs, is_default)?;
        check_lengths(&altered)?;
        self.check_values(&resource.configs, &altered, is_default, config)?;
        if altered == **current {
            return Ok(None);
        }
        let value = (!altered.is_empty()).then_some(ConfigValue { configs: altered });
        Ok(Some(Record::BrokerConfig { default: is_default, value }))
    }

    fn altered_broker(
        &self,
        current: &Configs,
        changes: &[AlterableConfig],
        config: &Config,
    ) -> Result<Configs, CatalogError> {
        let mut altered = current.clone();
        for change in changes {
            let (name, value) = (&*change.name, change.value.as_deref().unwrap_or_default());
            let before = |operation: &str| match describe::broker_key(name) {
                None => Err(CatalogError::new(ErrorCode::InvalidConfig, format!("Unknown config name: {name}"))),
                Some(key) if key.kind != Kind::List => {
                    let text = format!("Config value {operation} is not allowed for config key: {name}");
                    Err(CatalogError::new(ErrorCode::InvalidConfig, text))
                }
                Some(_) => {
                    let set = current.get(name).cloned();
                    Ok(set.or_else(|| describe::broker_text(&self.image, config, name)).unwrap_or_default())
                }
            };
            match change.config_operation {
                SET => drop(altered.insert(name.to_owned(), value.to_owned())),
                DELETE => drop(altered.remove(name)),
                APPEND => drop(altered.insert(name.to_owned(), appended(&before("append")?, value))),
                SUBTRACT => drop(altered.insert(name.to_owned(), subtracted(&before("subtract")?, value))),
                other => return Err(invalid(format!("Unknown operations type {other}"))),
            }
        }
        Ok(altered)
    }

    /// Checks each new value, and that the settings still go together.
    fn check_values(
        &self,
        changes: &[AlterableConfig],
        altered: &Configs,
        is_default: bool,
        config: &Config,
    ) -> Result<(), CatalogError> {
        for name in changes.iter().map(|change| &*change.name) {
            if let (Some(key), Some(value)) = (describe::broker_key(name), altered.get(name)) {
                key.check(value).map_err(|error| invalid(error.message))?;
            }
        }
        let mut all = if is_default { altered.clone() } else { Configs::clone(&self.image.cluster_configs) };
        let node = if is_default { &self.image.node_configs } else { altered };
        all.extend(node.iter().map(|(name, value)| (name.clone(), value.clone())));
        config.unclamped(&all).check().map_err(|error| invalid(error.message))
    }

    /// The loggers of Kafka's classes do not exist here.
    pub(super) fn alter_broker_logger(&self, resource: &AlterConfigsResource) -> Result<(), CatalogError> {
        let id = node_id(&resource.resource_name)?;
        if id != self.image.node_id {
            let text = format!("Unexpected node id. Expected {}, but received {id}", self.image.node_id);
            return Err(invalid(text));
        }
        let Some(first) = resource.configs.first() else { return Ok(()) };
        let operation = match first.config_operation {
            SET | DELETE => {
                let text = format!("Logger {} does not exist!", &*first.name);
                return Err(CatalogError::new(ErrorCode::InvalidConfig, text));
            }
            APPEND => "APPEND",
            SUBTRACT => "SUBTRACT",
            other => return Err(invalid(format!("Unknown operations type {other}"))),
        };
        Err(invalid(format!("{operation} operation is not allowed for the BROKER_LOGGER resource")))
    }
}

fn invalid(text: impl Into<String>) -> CatalogError {
    CatalogError::new(ErrorCode::InvalidRequest, text)
}

fn node_id(name: &str) -> Result<i32, CatalogError> {
    name.parse().map_err(|_| invalid(format!("Node id must be an integer, but it is: {name}")))
}

/// Refuses what only a restart changes, and for the whole cluster what belongs to one node.
fn check_updates(changes: &[AlterableConfig], is_default: bool) -> Result<(), CatalogError> {
    let keys = changes.iter().filter(|change| change.config_operation != DELETE);
    let keys: Vec<_> = keys.filter_map(|change| describe::broker_key(&change.name)).collect();
    let names = |is_refused: &dyn Fn(&&crate::config::Key) -> bool| {
        let names: Vec<&str> = keys.iter().copied().filter(|key| is_refused(key)).map(|key| key.name).collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    if let Some(names) = names(&|key| !key.is_dynamic) {
        return Err(invalid(format!("Cannot update these configs dynamically: [{names}]")));
    }
    if let Some(names) = names(&|key| is_default && key.is_per_broker) {
        let text =
            format!("Cannot update these configs at default cluster level, broker id must be specified: [{names}]");
        return Err(invalid(text));
    }
    if let Some(names) = names(&|key| key.name.starts_with("ssl.") || key.name.starts_with("sasl.")) {
        let text = format!(
            "These security configs can be dynamically updated only per-listener using the listener prefix: [{names}]"
        );
        return Err(invalid(text));
    }
    Ok(())
}
