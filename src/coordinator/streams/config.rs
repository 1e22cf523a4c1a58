//! The settings that hold for one streams group, and those an assignment depends on.

use std::collections::BTreeMap;

use super::assignor::{self, TaskAssignor};
use crate::config::GroupConfig;
use crate::machine::Env;

/// The number of standby replicas among the settings of an assignment, as record 17 keeps them.
const NUM_STANDBY_REPLICAS: &str = "num.standby.replicas";
/// The tags of racks among the settings of an assignment.
const RACK_AWARE_ASSIGNMENT_TAGS: &str = "rack.aware.assignment.tags";
const DEFAULT_ASSIGNOR: &str = "sticky";

/// What holds for a group now.
pub(super) fn of_group(env: &Env, group_id: &str) -> GroupConfig {
    if env.image.broker_configs.is_empty() {
        return GroupConfig::of(&env.config, &env.image, group_id);
    }
    GroupConfig::of(&env.config.with_dynamic(&env.image.broker_configs), &env.image, group_id)
}

/// The settings whose change asks for a new assignment, as record 17 keeps them.
pub(super) fn assignment_configs(config: &GroupConfig) -> BTreeMap<String, String> {
    let standbys = config.streams_num_standby_replicas.to_string();
    let mut configs = BTreeMap::from([(NUM_STANDBY_REPLICAS.to_owned(), standbys)]);
    let tags = &config.streams_rack_aware_assignment_tags;
    if !tags.is_empty() {
        configs.insert(RACK_AWARE_ASSIGNMENT_TAGS.to_owned(), tags.join(","));
    }
    configs
}

/// The number of standby replicas in stored assignment settings; 0 if they do not tell.
pub(super) fn num_standby_replicas(assignment_configs: &BTreeMap<String, String>) -> usize {
    assignment_configs.get(NUM_STANDBY_REPLICAS).and_then(|count| count.parse().ok()).unwrap_or(0)
}

/// The assignor of the group's next assignment: the one it names, else the broker's first.
pub(super) fn assignor(config: &GroupConfig) -> Option<&'static dyn TaskAssignor> {
    let named = config.streams_assignor_name.as_deref().and_then(assignor::by_name);
    named.or_else(|| assignor::by_name(DEFAULT_ASSIGNOR))
}
