//! Streams groups (KIP-1071).

pub(crate) mod assignor;
pub(crate) mod configure;
pub(crate) mod hash;
pub(crate) mod ownership;
pub(crate) mod reconcile;
pub(crate) mod records;
pub(crate) mod status;
pub(crate) mod tasks;
pub(crate) mod topology;

/// A streams group's hard state.
#[derive(Debug, Default)]
pub(crate) struct StreamsGroup {}

/// A streams group's soft state.
#[derive(Debug, Default)]
pub(crate) struct SoftGroup {}
