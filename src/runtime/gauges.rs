//! What the coordinator counts, as the metrics show it. Taken after each turn, so that scraping never asks the machine.

use crate::coordinator::{Coordinator, GroupType, StreamsGroupState};
use crate::metrics::{GroupCounts, PROTOCOLS, STREAMS_STATES};

/// The counts of groups and offsets as they are now.
pub(super) fn group_counts(coordinator: &Coordinator) -> GroupCounts {
    let counts = coordinator.counts();
    let in_state = |label: &str| {
        let states = StreamsGroupState::ALL.iter().filter(|state| state.label() == label);
        gauge(states.map(|state| counts.streams(*state)).sum())
    };
    let of_protocol = |label: &str| {
        let types = GroupType::ALL.iter().filter(|group_type| group_type.name() == label);
        gauge(types.map(|group_type| counts.of_type(*group_type)).sum())
    };
    GroupCounts {
        streams_by_state: STREAMS_STATES.map(in_state),
        by_protocol: PROTOCOLS.map(of_protocol),
        committed_offsets: gauge(coordinator.offset_count()),
    }
}

fn gauge(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
