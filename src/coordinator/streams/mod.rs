//! Streams groups (KIP-1071; Kafka's `StreamsGroup` and the streams half of `GroupMetadataManager`).
//!
//! A heartbeat is a chain of small functions in [`heartbeat`]; what a group is stands in [`group`], and what its
//! records do to it in [`replay`]. Topologies, assignment and reconciliation are pure functions that know no group.

pub(crate) mod assignor;
pub(crate) mod config;
pub(crate) mod configure;
pub(super) mod describe;
mod endpoints;
mod group;
mod hash;
pub(super) mod heartbeat;
pub(super) mod internal_topics;
mod leave;
mod member;
mod offset_rules;
mod ownership;
mod reconcile;
pub(crate) mod records;
pub(super) mod replay;
mod response;
mod soft;
mod state;
mod status;
mod target;
pub(crate) mod tasks;
pub(super) mod timers;
mod topology;
mod wire;

#[cfg(test)]
mod tests;

pub(crate) use group::StreamsGroup;
pub(crate) use soft::SoftGroup;
pub(crate) use state::StreamsGroupState;
