//! The group coordinator: groups of every type and their committed offsets. A core (see [`crate::machine`]).
//!
//! This file holds the state, what goes in and out, and sends each input to its room. Group types do not know each
//! other; what concerns all of them is in [`group`], [`describe`] and [`list`].

pub(crate) mod error;
mod group;
mod records;
pub(crate) mod streams;

use std::collections::BTreeMap;

pub(crate) use group::{Group, GroupKind};
pub(crate) use records::{OffsetCommitValue, Record};

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
}

/// State that a restart may lose.
#[derive(Debug, Default)]
pub(crate) struct Soft {
    timers: Timers<TimerKey>,
    streams: BTreeMap<GroupId, streams::SoftGroup>,
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
}

/// What the coordinator is asked or told.
#[derive(Debug)]
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

    fn decide(&self, _soft: &mut Soft, _env: &mut Env, _input: Input) -> Decision<Self> {
        Decision::nothing()
    }

    fn replay(&mut self, _lsn: Lsn, _record: &Record) {}

    fn on_loaded(&self, _env: &mut Env) -> Soft {
        Soft::default()
    }

    fn next_deadline(soft: &Soft) -> Option<TimestampMs> {
        soft.timers.next_deadline()
    }

    fn pop_due(soft: &mut Soft, now: TimestampMs) -> Option<Input> {
        soft.timers.pop_due(now).map(Input::Expired)
    }

    fn scope(_input: &Input) -> Option<GroupId> {
        None
    }

    fn reset(&self, _soft: &mut Soft, _env: &mut Env, _scope: Option<GroupId>) -> Vec<ReplyTo> {
        Vec::new()
    }
}
