//! The settings that hold for one streams group, and those an assignment depends on.

use std::collections::BTreeMap;

use super::assignor::{self, TaskAssignor};
use crate::config::{Config, GroupConfig};
use crate::machine::Env;

/// The assignment setting of the number of standby replicas, as record 17 keeps it.
const NUM_STANDBY_REPLICAS: &str = "num.standby.replicas";
const DEFAULT_ASSIGNOR: &str = "sticky";

/// What holds for a group now.
pub(super) fn of_group(env: &Env, group_id: &str) -> GroupConfig {
    let overrides = env.image.group_configs.get(group_id);
    let overrides = overrides.iter().flat_map(|configs| configs.iter());
    GroupConfig::effective(&env.config, overrides.map(|(key, value)| (key.as_str(), value.as_str())))
}

/// The settings whose change asks for a new assignment, as record 17 keeps them.
pub(super) fn assignment_configs(config: &GroupConfig) -> BTreeMap<String, String> {
    BTreeMap::from([(NUM_STANDBY_REPLICAS.to_owned(), config.streams_num_standby_replicas.to_string())])
}

/// The number of standby replicas in stored assignment settings; 0 if they do not tell.
pub(super) fn num_standby_replicas(assignment_configs: &BTreeMap<String, String>) -> usize {
    assignment_configs.get(NUM_STANDBY_REPLICAS).and_then(|count| count.parse().ok()).unwrap_or(0)
}

/// The assignor of the next assignment: the broker's first one.
pub(super) fn assignor(config: &Config) -> Option<&'static dyn TaskAssignor> {
    let first = config.group_streams_assignors.first().map_or(DEFAULT_ASSIGNOR, String::as_str);
    assignor::by_name(first).or_else(|| assignor::by_name(DEFAULT_ASSIGNOR))
}
