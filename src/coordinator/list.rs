//! `ListGroups`: every group with its type and state, filtered by either.

use std::collections::BTreeSet;

use super::Coordinator;
use super::group::GroupLabel;
use crate::machine::{Asked, Decision};
use crate::protocol::messages::list_groups_response::ListedGroup;
use crate::protocol::messages::{ListGroupsRequest, ListGroupsResponse};
use crate::protocol::{StrBytes, message};

/// Answers `ListGroups`. A filter that no group can match gives an empty list, not an error.
pub(super) fn decide(coordinator: &Coordinator, asked: &Asked<ListGroupsRequest>) -> Decision<Coordinator> {
    let filter = Filter::of(&asked.request);
    let with_labels = coordinator.groups.iter().map(|(group_id, group)| (group_id, group.label()));
    let groups = with_labels
        .filter(|(_, label)| filter.lets_through(*label))
        .map(|(group_id, label)| {
            message!(ListedGroup {
                group_id: group_id.as_str().into(),
                protocol_type: label.protocol_type().into(),
                group_state: label.state_name().into(),
                group_type: label.group_type().name().into(),
            })
        })
        .collect();
    let answer = message!(ListGroupsResponse { groups: groups });
    Decision::answer(asked.to, answer.into(), coordinator.last_lsn)
}

/// Values of a kind are alternatives, the two kinds must both match; a kind without values matches all.
struct Filter {
    states: BTreeSet<String>,
    types: BTreeSet<String>,
}

impl Filter {
    fn of(request: &ListGroupsRequest) -> Self {
        Self { states: lower_case(&request.states_filter), types: lower_case(&request.types_filter) }
    }

    fn lets_through(&self, label: GroupLabel) -> bool {
        let state_matches = || label.state_filters().iter().any(|state| self.states.contains(*state));
        let type_matches = || self.types.contains(label.group_type().name());
        (self.states.is_empty() || state_matches()) && (self.types.is_empty() || type_matches())
    }
}

fn lower_case(values: &[StrBytes]) -> BTreeSet<String> {
    values.iter().map(|value| value.trim().to_lowercase()).collect()
}
