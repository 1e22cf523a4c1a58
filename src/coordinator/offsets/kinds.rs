//! Where the type of a group matters for its offsets: one function per question, one arm per type.

use crate::coordinator::error::GroupError;
use crate::coordinator::{Group, GroupKind};
use crate::types::ErrorCode;

/// Who commits, as `OffsetCommit` and `TxnOffsetCommit` tell it.
pub(super) struct Committer<'a> {
    pub(super) member_id: &'a str,
    pub(super) instance_id: Option<&'a str>,
    /// The generation of a classic group or the member epoch of any other.
    pub(super) epoch: i32,
    /// The version of the request.
    pub(super) version: i16,
}

/// The first version of `OffsetCommit` whose senders know groups that are not classic.
const FIRST_VERSION_WITH_MEMBER_EPOCH: i16 = 9;

/// Whether the committer may commit these partitions in this group.
pub(super) fn validate_commit<'a>(
    group: Option<&Group>,
    committer: &Committer<'_>,
    partitions: impl Iterator<Item = (&'a str, i32)>,
) -> Result<(), GroupError> {
    let Some(group) = group else {
        // Without a generation it is somebody who manages offsets himself: the group comes to be with the commit.
        return if committer.epoch < 0 { Ok(()) } else { Err(unknown_group(committer.version)) };
    };
    match &group.kind {
        GroupKind::Simple => validate_simple_commit(committer),
        GroupKind::Streams(streams) => {
            streams.validate_offset_commit(committer.member_id, committer.epoch, committer.version, partitions, false)
        }
    }
}

fn unknown_group(version: i16) -> GroupError {
    let code = if version >= FIRST_VERSION_WITH_MEMBER_EPOCH {
        ErrorCode::GroupIdNotFound
    } else {
        ErrorCode::IllegalGeneration
    };
    GroupError::new(code, "the group does not exist")
}

/// A simple group is an Empty classic group: whoever names no generation may commit, and nobody is a member.
fn validate_simple_commit(committer: &Committer<'_>) -> Result<(), GroupError> {
    if committer.epoch < 0 {
        return Ok(());
    }
    let who = committer.instance_id.unwrap_or(committer.member_id);
    Err(GroupError::new(ErrorCode::UnknownMemberId, format!("{who} is not a member: the group has none")))
}

/// Whether the reader may read offsets of this group as the member it says it is.
pub(super) fn validate_fetch(group: &Group, member_id: Option<&str>, member_epoch: i32) -> Result<(), GroupError> {
    match &group.kind {
        // Classic groups never look at the member.
        GroupKind::Simple => Ok(()),
        GroupKind::Streams(streams) => streams.validate_offset_fetch(member_id, member_epoch),
    }
}

/// Whether the group reads this topic now, so that its offsets must neither be deleted nor expire.
pub(super) fn is_subscribed_to(group: &Group, topic: &str) -> bool {
    match &group.kind {
        GroupKind::Simple => false,
        GroupKind::Streams(streams) => streams.is_subscribed_to(topic),
    }
}

/// Whether the group is to be removed once it has no offsets. A simple group is nothing but its offsets.
pub(super) fn is_removable(group: &Group) -> bool {
    match &group.kind {
        GroupKind::Simple => false,
        GroupKind::Streams(streams) => streams.is_empty(),
    }
}
