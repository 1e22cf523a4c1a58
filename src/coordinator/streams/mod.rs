//! Streams groups (KIP-1071).

pub(crate) mod records;
pub(crate) mod tasks;

/// A streams group's hard state.
#[derive(Debug, Default)]
pub(crate) struct StreamsGroup {}

/// A streams group's soft state.
#[derive(Debug, Default)]
pub(crate) struct SoftGroup {}
