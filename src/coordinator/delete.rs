//! `DeleteGroups`: an empty group of any type goes, with its offsets, in one record.

use std::collections::BTreeSet;

use super::{Coordinator, Group, GroupKind, Record};
use crate::machine::{Asked, Decision};
use crate::protocol::message;
use crate::protocol::messages::delete_groups_response::DeletableGroupResult;
use crate::protocol::messages::{DeleteGroupsRequest, DeleteGroupsResponse};
use crate::types::{ErrorCode, GroupId};

/// Deletes each group that can be deleted, whatever becomes of the others. A group that is named twice is answered once.
pub(super) fn decide(coordinator: &Coordinator, asked: &Asked<DeleteGroupsRequest>) -> Decision<Coordinator> {
    let mut named = BTreeSet::new();
    let mut results = Vec::new();
    let mut deleted = Vec::new();
    for name in &asked.request.groups_names {
        if !named.insert(&**name) {
            continue;
        }
        let code = refusal(coordinator.groups.get(&**name));
        if code.is_none() {
            deleted.push(GroupId::from(&**name));
        }
        results.push(message!(DeletableGroupResult { group_id: name.clone(), error_code: code.code() }));
    }
    let answer = message!(DeleteGroupsResponse { results: results });
    Decision {
        records: deleted.into_iter().map(|group| Record::GroupDeleted { group }).collect(),
        ..Decision::answer(asked.to, answer.into(), coordinator.last_lsn)
    }
}

fn refusal(group: Option<&Group>) -> ErrorCode {
    match group.map(|group| &group.kind) {
        None => ErrorCode::GroupIdNotFound,
        Some(GroupKind::Streams(group)) if !group.is_empty() => ErrorCode::NonEmptyGroup,
        Some(GroupKind::Simple | GroupKind::Streams(_)) => ErrorCode::None,
    }
}
