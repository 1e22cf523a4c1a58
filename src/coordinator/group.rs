//! One group of any type, and the offsets committed under its id.

use super::streams::StreamsGroup;
use crate::types::Lsn;

/// What is stored under one group id.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// Its type and members.
    pub(crate) kind: GroupKind,
    /// The last change to anything of it.
    pub(crate) lsn: Lsn,
}

/// The type of a group. An id that only has offsets is a *simple* classic group: Empty, without protocol.
#[derive(Debug, Default)]
pub(crate) enum GroupKind {
    /// Only offsets.
    #[default]
    Simple,
    /// KIP-1071.
    Streams(StreamsGroup),
}
