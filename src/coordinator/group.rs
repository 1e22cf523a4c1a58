//! One group of any type, and the offsets committed under its id.

use super::offsets::GroupOffsets;
use super::streams::{StreamsGroup, StreamsGroupState};
use crate::types::Lsn;

/// What is stored under one group id.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// Its type and members.
    pub(crate) kind: GroupKind,
    /// What is committed under its id.
    pub(crate) offsets: GroupOffsets,
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
    Streams(Box<StreamsGroup>),
}

/// The type of a group as `ListGroups` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum GroupType {
    /// Classic groups, those of offsets alone among them.
    Classic,
    /// KIP-1071.
    Streams,
}

/// Type and state of a group: what lists and metrics sort it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum GroupLabel {
    /// A classic group that only has offsets.
    Simple,
    /// A streams group in this state.
    Streams(StreamsGroupState),
}

impl Group {
    /// Type and state.
    pub(crate) fn label(&self) -> GroupLabel {
        match &self.kind {
            GroupKind::Simple => GroupLabel::Simple,
            GroupKind::Streams(group) => GroupLabel::Streams(group.state()),
        }
    }

    /// Whether nothing is stored under the id any more, so that there is no such group.
    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self.kind, GroupKind::Simple) && self.offsets.is_empty()
    }
}

impl GroupType {
    /// All that are served.
    pub(crate) const ALL: &[Self] = &[Self::Classic, Self::Streams];

    /// Its name in `ListGroups` and in metrics.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::Streams => "streams",
        }
    }
}

impl GroupLabel {
    /// The type.
    pub(crate) const fn group_type(self) -> GroupType {
        match self {
            Self::Simple => GroupType::Classic,
            Self::Streams(_) => GroupType::Streams,
        }
    }

    /// What `ListGroups` shows as the protocol type.
    pub(crate) const fn protocol_type(self) -> &'static str {
        match self {
            Self::Simple => "",
            Self::Streams(_) => "streams",
        }
    }

    /// The state's name on the wire.
    pub(crate) const fn state_name(self) -> &'static str {
        match self {
            Self::Simple => "Empty",
            Self::Streams(state) => state.name(),
        }
    }

    /// How a state filter of `ListGroups` may spell the state, in lower case.
    pub(crate) const fn state_filters(self) -> &'static [&'static str] {
        match self {
            Self::Simple => &["empty"],
            Self::Streams(state) => state.filters(),
        }
    }
}
