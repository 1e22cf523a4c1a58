//! Which offset commits and fetches a streams group lets through (Kafka's `StreamsGroup.validateOffsetCommit` and
//! `validateOffsetFetch`). The group exists; that is checked before.

use super::StreamsGroup;
use super::records::StreamsGroupCurrentMemberAssignmentValue;
use crate::coordinator::GroupError;
use crate::types::ErrorCode;

/// The first version of `OffsetCommit` that carries member epochs.
const FIRST_COMMIT_VERSION: i16 = 9;
/// The first version of `TxnOffsetCommit` that knows `STALE_MEMBER_EPOCH`.
const FIRST_TXN_COMMIT_VERSION_WITH_STALE: i16 = 6;

impl StreamsGroup {
    /// Checks a commit as a whole: one partition that may not be committed refuses all.
    ///
    /// At the member's epoch it may commit any partition, its own or not. At an older one, only partitions of active
    /// tasks that it has, or has still to give up, and had at that epoch already (KAFKA-19779).
    pub(crate) fn validate_offset_commit<'a>(
        &self,
        member_id: &str,
        member_epoch: i32,
        version: i16,
        partitions: impl IntoIterator<Item = (&'a str, i32)>,
        is_transactional: bool,
    ) -> Result<(), GroupError> {
        if member_epoch < 0 && self.is_empty() {
            return Ok(());
        }
        if is_transactional && member_epoch == -1 && member_id.is_empty() {
            return Ok(());
        }
        if !self.members.contains_key(member_id) {
            return Err(unknown_member(member_id));
        }
        if !is_transactional && version < FIRST_COMMIT_VERSION {
            let text = format!("OffsetCommit version {FIRST_COMMIT_VERSION} or later is required by streams groups.");
            return Err(GroupError::new(ErrorCode::UnsupportedVersion, text));
        }
        let current = self.current.get(member_id);
        let epoch = current.map_or(0, |current| current.member_epoch);
        let is_stale = |(topic, partition): (&str, i32)| {
            !current.is_some_and(|current| self.had_at(current, topic, partition, member_epoch))
        };
        if member_epoch > epoch || (member_epoch < epoch && partitions.into_iter().any(is_stale)) {
            let is_old_transactional = is_transactional && version < FIRST_TXN_COMMIT_VERSION_WITH_STALE;
            return Err(if is_old_transactional {
                stale(ErrorCode::IllegalGeneration, member_epoch, epoch)
            } else {
                stale(ErrorCode::StaleMemberEpoch, member_epoch, epoch)
            });
        }
        Ok(())
    }

    /// Checks a fetch. Without member it is anyone's; with one, the epoch must be the member's very own.
    pub(crate) fn validate_offset_fetch(&self, member_id: Option<&str>, member_epoch: i32) -> Result<(), GroupError> {
        let Some(member_id) = member_id else {
            // Kafka 4.4.0 answers UNKNOWN_SERVER_ERROR to an epoch without member, which is fatal for clients.
            return if member_epoch < 0 { Ok(()) } else { Err(unknown_member("")) };
        };
        if !self.members.contains_key(member_id) {
            return Err(unknown_member(member_id));
        }
        let epoch = self.current.get(member_id).map_or(0, |current| current.member_epoch);
        if member_epoch != epoch {
            return Err(stale(ErrorCode::StaleMemberEpoch, member_epoch, epoch));
        }
        Ok(())
    }

    /// Whether a member has had the active task of a partition since `epoch` or longer.
    fn had_at(
        &self,
        current: &StreamsGroupCurrentMemberAssignmentValue,
        topic: &str,
        partition: i32,
        epoch: i32,
    ) -> bool {
        let had_task = |subtopology: &super::tasks::SubtopologyId| {
            let assigned = current.assigned.active.epoch(subtopology, partition);
            let assigned_at = assigned.or_else(|| current.active_pending_revocation.epoch(subtopology, partition));
            assigned_at.is_some_and(|assigned_at| epoch >= assigned_at)
        };
        self.readers.get(topic).is_some_and(|subtopologies| subtopologies.iter().any(had_task))
    }
}

fn unknown_member(member_id: &str) -> GroupError {
    GroupError::new(ErrorCode::UnknownMemberId, format!("Member {member_id} is not a member of the group."))
}

fn stale(code: ErrorCode, got: i32, known: i32) -> GroupError {
    let text = format!("The member epoch {got} of the request does not match the member's epoch {known}.");
    GroupError::new(code, text)
}
