//! The group coordinator: groups of every type and their committed offsets. A core (see [`crate::machine`]).
//!
//! This file holds the state, what goes in and out, and sends each input to its room. Group types do not know each
//! other; what concerns all of them is in [`group`], [`describe`] and [`list`].

mod counts;
mod delete;
mod describe;
mod error;
mod group;
mod list;
pub(crate) mod offsets;
mod records;
pub(crate) mod streams;

#[cfg(test)]
pub(crate) mod harness;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub(crate) use counts::Counts;
pub(crate) use error::GroupError;
pub(crate) use group::{Group, GroupKind, GroupLabel, GroupType};
pub(crate) use records::{OffsetCommitValue, Record};
pub(crate) use streams::StreamsGroupState;

use crate::machine::{Asked, Core, Decision, Env, ReplyTo, Timers};
use crate::protocol::Response;
use crate::protocol::messages::{
    DeleteGroupsRequest, DescribeGroupsRequest, ListGroupsRequest, OffsetCommitRequest, OffsetDeleteRequest,
    OffsetFetchRequest, StreamsGroupDescribeRequest, StreamsGroupHeartbeatRequest,
};
use crate::types::{GroupId, Lsn, MemberId, TimestampMs, TopicId, TopicName};

/// Hard state: what the store holds of groups and offsets.
#[derive(Debug, Default)]
pub(crate) struct Coordinator {
    groups: BTreeMap<GroupId, Group>,
    counts: Counts,
    offset_totals: offsets::Totals,
    /// The last change of anything here; what an answer about a group that does not exist rests on.
    last_lsn: Lsn,
}

impl Coordinator {
    /// How many groups there are, by type and state.
    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    /// How many offsets are committed, in all groups.
    pub(crate) fn offset_count(&self) -> usize {
        self.offset_totals.count()
    }

    /// How many groups there are, of any type.
    pub(crate) fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// What an answer about this group rests on.
    fn lsn_of(&self, group_id: &str) -> Lsn {
        self.groups.get(group_id).map_or(self.last_lsn, |group| group.lsn)
    }

    fn label_of(&self, group_id: &str) -> Option<GroupLabel> {
        self.groups.get(group_id).map(Group::label)
    }
}

/// State that a restart may lose.
#[derive(Debug, Default)]
pub(crate) struct Soft {
    timers: Timers<TimerKey>,
    streams: BTreeMap<GroupId, streams::SoftGroup>,
    expiry_cursor: Option<offsets::expiry::Cursor>,
}

/// What a timer is for. What it was armed at (an epoch) lies in the group's soft state and is checked when it fires.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TimerKey {
    /// A streams member has been silent too long.
    StreamsSession(GroupId, MemberId),
    /// A streams member has not given up its tasks in time.
    StreamsRebalance(GroupId, MemberId),
    /// The first assignment of a streams group has waited long enough.
    StreamsInitialRebalance(GroupId),
    /// Offsets and groups that have expired are to be looked for.
    OffsetRetention,
}

/// What the coordinator is asked or told.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "inputs are handed on one by one, never kept")]
pub(crate) enum Input {
    /// See KIP-1071.
    StreamsGroupHeartbeat(Asked<StreamsGroupHeartbeatRequest>),
    /// See KIP-1071.
    StreamsGroupDescribe(Asked<StreamsGroupDescribeRequest>),
    /// Commits offsets.
    OffsetCommit(Asked<OffsetCommitRequest>),
    /// Reads committed offsets.
    OffsetFetch(Asked<OffsetFetchRequest>),
    /// Deletes committed offsets.
    OffsetDelete(Asked<OffsetDeleteRequest>),
    /// Describes classic groups.
    DescribeGroups(Asked<DescribeGroupsRequest>),
    /// Lists groups of all types.
    ListGroups(Asked<ListGroupsRequest>),
    /// Deletes groups of all types.
    DeleteGroups(Asked<DeleteGroupsRequest>),
    /// A timer has expired.
    Expired(TimerKey),
    /// What became of [`Effect::CreateInternalTopics`]: for each topic its error text, if it could not be created.
    InternalTopicsCreated {
        /// The group that needed them.
        group: GroupId,
        /// Topic and error text.
        outcome: Vec<(TopicName, Option<String>)>,
    },
    /// Topics are gone: remove what was committed for them, a bounded number of offsets at a time.
    TopicsDeleted {
        /// The topics.
        topics: Vec<(TopicId, TopicName)>,
        /// Groups up to and including this one are done.
        after: Option<GroupId>,
    },
}

/// What the coordinator wants done by somebody else.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Create internal topics of a streams group; comes back as [`Input::InternalTopicsCreated`].
    CreateInternalTopics {
        /// The group that needs them.
        group: GroupId,
        /// What to create.
        topics: Vec<InternalTopic>,
    },
    /// Go on with [`Input::TopicsDeleted`] at the next turn.
    ContinueTopicsDeleted {
        /// The topics.
        topics: Vec<(TopicId, TopicName)>,
        /// Groups up to and including this one are done.
        after: Option<GroupId>,
    },
}

/// A topic that a streams group needs and the coordinator creates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InternalTopic {
    /// Its name, as the client sent it.
    pub(crate) name: TopicName,
    /// How many partitions.
    pub(crate) partition_count: i32,
    /// Its replication factor; 0 or -1 for the broker's default.
    pub(crate) replication_factor: i16,
    /// Its configs, as the client sent them.
    pub(crate) configs: BTreeMap<String, String>,
}

impl Core for Coordinator {
    type Input = Input;
    type Record = Record;
    type Reply = Response;
    type Effect = Effect;
    type Soft = Soft;
    type Scope = Option<GroupId>;

    fn decide(&self, soft: &mut Soft, env: &mut Env, input: Input) -> Decision<Self> {
        let decision = self.dispatch(soft, env, input);
        for record in &decision.records {
            if let Record::GroupDeleted { group } = record {
                streams::timers::forget_group(soft, group);
            }
        }
        decision
    }

    fn replay(&mut self, lsn: Lsn, record: &Record) {
        let group_id = record.group();
        let before = self.label_of(group_id);
        self.last_lsn = self.last_lsn.max(lsn);
        self.apply(lsn, record);
        self.counts.moved(before, self.label_of(group_id));
    }

    fn on_loaded(&self, env: &mut Env) -> Soft {
        let mut soft = Soft::default();
        offsets::expiry::arm(&mut soft, env);
        for (group_id, group) in &self.groups {
            if let GroupKind::Streams(group) = &group.kind {
                streams::timers::arm_all(&mut soft, env, group_id, group);
            }
        }
        soft
    }

    fn next_deadline(soft: &Soft) -> Option<TimestampMs> {
        soft.timers.next_deadline()
    }

    fn pop_due(soft: &mut Soft, now: TimestampMs) -> Option<Input> {
        soft.timers.pop_due(now).map(Input::Expired)
    }

    fn scope(input: &Input) -> Option<GroupId> {
        match input {
            Input::StreamsGroupHeartbeat(asked) => Some(GroupId::from(&*asked.request.group_id)),
            Input::OffsetCommit(asked) => Some(GroupId::from(&*asked.request.group_id)),
            Input::OffsetDelete(asked) => Some(GroupId::from(&*asked.request.group_id)),
            Input::Expired(key) => key.group().cloned(),
            Input::InternalTopicsCreated { group, .. } => Some(group.clone()),
            Input::StreamsGroupDescribe(_)
            | Input::DescribeGroups(_)
            | Input::ListGroups(_)
            | Input::DeleteGroups(_)
            | Input::OffsetFetch(_)
            | Input::TopicsDeleted { .. } => None,
        }
    }

    fn reset(&self, soft: &mut Soft, env: &mut Env, scope: Option<GroupId>) -> Vec<ReplyTo> {
        let Some(group_id) = scope else { return Vec::new() };
        soft.timers.cancel_all(|key| key.group() == Some(&group_id));
        soft.streams.remove(&group_id);
        if let Some(GroupKind::Streams(group)) = self.groups.get(&group_id).map(|group| &group.kind) {
            streams::timers::arm_all(soft, env, &group_id, group);
        }
        Vec::new()
    }
}

impl Coordinator {
    fn dispatch(&self, soft: &mut Soft, env: &Env, input: Input) -> Decision<Self> {
        match input {
            Input::StreamsGroupHeartbeat(asked) => streams::heartbeat::decide(self, soft, env, &asked),
            Input::StreamsGroupDescribe(asked) => describe::streams(self, soft, env, &asked),
            Input::DescribeGroups(asked) => describe::classic(self, &asked),
            Input::ListGroups(asked) => list::decide(self, &asked),
            Input::DeleteGroups(asked) => delete::decide(self, &asked),
            Input::Expired(key) => self.expired(soft, env, key),
            Input::InternalTopicsCreated { group, outcome } => {
                streams::internal_topics::created(soft, env, &group, outcome);
                Decision::nothing()
            }
            Input::OffsetCommit(asked) => offsets::commit::decide(self, env, &asked),
            Input::OffsetFetch(asked) => offsets::fetch::decide(self, env, &asked),
            Input::OffsetDelete(asked) => offsets::delete::decide(self, env, &asked),
            Input::TopicsDeleted { topics, after } => offsets::topics::decide(self, topics, after),
        }
    }

    fn expired(&self, soft: &mut Soft, env: &Env, key: TimerKey) -> Decision<Self> {
        match key {
            TimerKey::StreamsSession(group, member) => streams::timers::session_expired(self, soft, &group, &member),
            TimerKey::StreamsRebalance(group, member) => {
                streams::timers::rebalance_expired(self, soft, &group, &member)
            }
            TimerKey::StreamsInitialRebalance(group) => streams::timers::initial_delay_expired(self, soft, env, &group),
            TimerKey::OffsetRetention => offsets::expiry::decide(self, soft, env),
        }
    }

    fn apply(&mut self, lsn: Lsn, record: &Record) {
        match record {
            Record::OffsetCommit { group, topic, partition, value } => {
                offsets::replay(self, lsn, group, topic, *partition, value.as_ref());
            }
            Record::GroupDeleted { group } => {
                if let Some(group) = self.groups.remove(group) {
                    self.offset_totals.forget(&group.offsets);
                }
            }
            Record::StreamsGroupMetadata { .. }
            | Record::StreamsGroupMemberMetadata { .. }
            | Record::StreamsGroupTargetAssignmentMetadata { .. }
            | Record::StreamsGroupTargetAssignmentMember { .. }
            | Record::StreamsGroupCurrentMemberAssignment { .. }
            | Record::StreamsGroupTopology { .. } => streams::replay::apply(&mut self.groups, lsn, record),
        }
    }
}

impl TimerKey {
    /// The group it is for, if it is for one.
    fn group(&self) -> Option<&GroupId> {
        match self {
            Self::StreamsSession(group, _)
            | Self::StreamsRebalance(group, _)
            | Self::StreamsInitialRebalance(group) => Some(group),
            Self::OffsetRetention => None,
        }
    }
}
