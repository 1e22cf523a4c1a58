//! The states of a streams group (Kafka's `StreamsGroup.StreamsGroupState`) and every spelling of their names.

/// The state of a streams group, derived from its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StreamsGroupState {
    /// No members.
    Empty,
    /// Members, but no topology yet. On the wire this is `NotReady` too.
    Initializing,
    /// The topics that the topology needs are not in order.
    NotReady,
    /// The target assignment is older than the group.
    Assigning,
    /// Some member has not reached the target assignment.
    Reconciling,
    /// Every member has reached it.
    Stable,
    /// Never entered; Kafka names it in lists and metrics.
    Dead,
}

impl StreamsGroupState {
    /// All of them.
    pub(crate) const ALL: &[Self] = &[
        Self::Empty,
        Self::Initializing,
        Self::NotReady,
        Self::Assigning,
        Self::Reconciling,
        Self::Stable,
        Self::Dead,
    ];

    /// The name on the wire.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::Initializing | Self::NotReady => "NotReady",
            Self::Assigning => "Assigning",
            Self::Reconciling => "Reconciling",
            Self::Stable => "Stable",
            Self::Dead => "Dead",
        }
    }

    /// The value of the metrics' label `state`.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Initializing => "initializing",
            Self::NotReady => "not_ready",
            Self::Assigning => "assigning",
            Self::Reconciling => "reconciling",
            Self::Stable => "stable",
            Self::Dead => "dead",
        }
    }

    /// How a state filter of `ListGroups` may spell it, in lower case. Kafka 4.4.0 compares with `not_ready` while its
    /// own admin client sends `NotReady`; both are right here.
    pub(crate) const fn filters(self) -> &'static [&'static str] {
        match self {
            Self::Empty => &["empty"],
            Self::Initializing | Self::NotReady => &["not_ready", "notready"],
            Self::Assigning => &["assigning"],
            Self::Reconciling => &["reconciling"],
            Self::Stable => &["stable"],
            Self::Dead => &["dead"],
        }
    }
}
