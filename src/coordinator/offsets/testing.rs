//! A coordinator with a catalogue, a clock and a store, for the tests of this room. Every request and answer goes
//! through its bytes in the version asked for, so a field that a version cannot carry fails the test.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::config::Config;
use crate::coordinator::harness::{Harness, Turn};
use crate::coordinator::{Coordinator, Effect, Input, OffsetCommitValue, Record};
use crate::machine::{Asked, Core};
use crate::protocol::apis::Header;
use crate::protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use crate::protocol::messages::offset_delete_request::{OffsetDeleteRequestPartition, OffsetDeleteRequestTopic};
use crate::protocol::messages::offset_fetch_request::{
    OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics,
};
use crate::protocol::messages::{
    OffsetCommitRequest, OffsetCommitResponse, OffsetDeleteRequest, OffsetDeleteResponse, OffsetFetchRequest,
    OffsetFetchResponse,
};
use crate::protocol::{Request, Response, message, topic_id, wire_uuid};
use crate::types::{ErrorCode, Lsn, TopicId, TopicName};

pub(super) const MINUTE: i64 = 60_000;
pub(super) const DAY: i64 = 24 * 60 * MINUTE;

/// Topics and partitions to read; `None` for all.
pub(super) type Listed<'a> = Option<&'a [(&'a str, i32)]>;

pub(super) struct World {
    pub(super) harness: Harness,
    /// What the last input came to.
    pub(super) last: Turn,
}

impl World {
    /// A server without groups and with these topics.
    pub(super) fn new(topics: &[(&str, i32)]) -> Self {
        let mut harness = Harness::new(Config::default());
        harness.soft = harness.coordinator.on_loaded(&mut harness.env);
        for (name, partition_count) in topics {
            harness.create_topic(name, *partition_count);
        }
        Self { harness, last: Turn { records: Vec::new(), replies: Vec::new(), rests_on: Lsn(0) } }
    }

    pub(super) fn coordinator(&self) -> &Coordinator {
        &self.harness.coordinator
    }

    /// Makes a topic again under a new id.
    pub(super) fn remake_topic(&mut self, name: &str, partition_count: i32) {
        self.harness.delete_topic(name);
        self.harness.create_topic(name, partition_count);
    }

    /// The catalogue loses a topic. The coordinator has not been told yet.
    pub(super) fn drop_topic(&mut self, name: &str) -> TopicId {
        let id = self.id_of(name);
        self.harness.delete_topic(name);
        id
    }

    pub(super) fn id_of(&self, topic: &str) -> TopicId {
        self.harness.env.image.topic(topic).map_or(TopicId::ZERO, |topic| topic.id)
    }

    pub(super) fn config(&mut self, key: &str, value: &str) {
        Arc::make_mut(&mut self.harness.env.config).set(key, value).unwrap().unwrap();
    }

    /// An offset is there, from before the story begins: for numbers that would take long to commit.
    pub(super) fn put(&mut self, group: &str, topic: &str, partition: i32) {
        let value = OffsetCommitValue {
            offset: 1,
            leader_epoch: -1,
            metadata: String::new(),
            commit_timestamp: self.harness.env.now,
            expire_timestamp: None,
            topic_id: self.id_of(topic),
        };
        let (group, topic) = (group.into(), topic.into());
        self.harness.coordinator.replay(Lsn(1), &Record::OffsetCommit { group, topic, partition, value: Some(value) });
    }

    /// How many offsets the store has.
    pub(super) fn stored_count(&self) -> usize {
        self.harness.stored().filter(|record| matches!(record, Record::OffsetCommit { .. })).count()
    }

    /// A committed offset as it is stored.
    pub(super) fn stored(&self, group: &str, topic: &str, partition: i32) -> Option<OffsetCommitValue> {
        self.harness.stored().find_map(|record| match record {
            Record::OffsetCommit { group: in_group, topic: of_topic, partition: of_partition, value }
                if (&**in_group, &**of_topic, *of_partition) == (group, topic, partition) =>
            {
                value.clone()
            }
            _ => None,
        })
    }

    /// Lets time pass, and lets everything that is due happen. Returns how many records each turn had.
    pub(super) fn after(&mut self, ms: i64) -> Vec<usize> {
        let mut steps = Vec::new();
        for (_, turn) in self.harness.advance_ms(ms) {
            steps.push(turn.records.len());
            self.last = turn;
        }
        steps
    }

    /// Tells the coordinator of deleted topics and goes on until it is done. Returns how many records each turn had.
    pub(super) fn sweep_topics(&mut self, topics: Vec<(TopicId, TopicName)>) -> Vec<usize> {
        let mut steps = Vec::new();
        let mut next = Some(Input::TopicsDeleted { topics, after: None });
        while let Some(input) = next.take() {
            steps.push(self.harness.input(input).records.len());
            assert!(steps.len() < 1_000, "the sweep does not end");
            if let Some(Effect::ContinueTopicsDeleted { topics, after }) = self.harness.effects.pop() {
                next = Some(Input::TopicsDeleted { topics, after });
            }
        }
        steps
    }

    /// Sends a request and takes its answer, both through their bytes.
    fn ask<R>(&mut self, version: i16, request: R, input: impl FnOnce(Asked<R>) -> Input) -> Response {
        let (response, turn) = self.harness.ask(version, request, input);
        self.last = turn;
        let frame = response.encode(version, 1).unwrap();
        Response::decode(response.api(), version, frame.slice(4..)).unwrap().1
    }

    pub(super) fn commit(&mut self, version: i16, request: OffsetCommitRequest) -> OffsetCommitResponse {
        let Request::OffsetCommit(request) = through_bytes(version, &request.into()) else { unreachable!() };
        let Response::OffsetCommit(response) = self.ask(version, *request, Input::OffsetCommit) else { unreachable!() };
        *response
    }

    pub(super) fn fetch(&mut self, version: i16, request: OffsetFetchRequest) -> OffsetFetchResponse {
        let Request::OffsetFetch(request) = through_bytes(version, &request.into()) else { unreachable!() };
        let Response::OffsetFetch(response) = self.ask(version, *request, Input::OffsetFetch) else { unreachable!() };
        assert!(self.last.records.is_empty(), "reading must not write");
        *response
    }

    pub(super) fn delete(&mut self, request: OffsetDeleteRequest) -> OffsetDeleteResponse {
        let Request::OffsetDelete(request) = through_bytes(0, &request.into()) else { unreachable!() };
        let Response::OffsetDelete(response) = self.ask(0, *request, Input::OffsetDelete) else { unreachable!() };
        *response
    }

    /// Commits `topic partition offset` as somebody who is no member. Panics if refused.
    pub(super) fn committed(&mut self, group: &str, offsets: &[(&str, i32, i64)]) {
        let response = self.commit(9, commit_request(group, offsets));
        assert!(response.topics.iter().flat_map(|topic| &topic.partitions).all(|partition| partition.error_code == 0));
    }

    /// All offsets of a group as version 9 tells them.
    pub(super) fn all(&mut self, group: &str) -> String {
        let response = self.fetch(9, fetch_request(&[(group, None)]));
        show_fetch(&response)
    }

    pub(super) fn has_group(&self, group: &str) -> bool {
        self.coordinator().groups.contains_key(group)
    }
}

fn through_bytes(version: i16, request: &Request) -> Request {
    let frame = request.encode(version, 1, Some("test")).expect("the request fits its version");
    let (_, body) = Header::decode(&frame.slice(4..)).unwrap();
    Request::decode(request.api(), version, body).unwrap()
}

/// A commit by name, without member or generation.
pub(super) fn commit_request(group: &str, offsets: &[(&str, i32, i64)]) -> OffsetCommitRequest {
    let mut topics: Vec<OffsetCommitRequestTopic> = Vec::new();
    for (topic, partition, offset) in offsets {
        let partition = message!(OffsetCommitRequestPartition {
            partition_index: *partition,
            committed_offset: *offset,
            committed_metadata: Some("".into()),
        });
        match topics.last_mut() {
            Some(last) if &*last.name == *topic => last.partitions.push(partition),
            _ => topics.push(message!(OffsetCommitRequestTopic { name: (*topic).into(), partitions: vec![partition] })),
        }
    }
    message!(OffsetCommitRequest { group_id: group.into(), topics: topics })
}

/// A fetch of groups by name, from version 8 on; topics `None` for all.
pub(super) fn fetch_request(groups: &[(&str, Listed<'_>)]) -> OffsetFetchRequest {
    let groups = groups.iter().map(|(group, partitions)| {
        let topics = partitions.map(|partitions| {
            partitions
                .iter()
                .map(|(topic, partition)| {
                    message!(OffsetFetchRequestTopics { name: (*topic).into(), partition_indexes: vec![*partition] })
                })
                .collect()
        });
        message!(OffsetFetchRequestGroup { group_id: (*group).into(), topics: topics })
    });
    message!(OffsetFetchRequest { groups: groups.collect() })
}

/// A fetch of one group, before version 8.
pub(super) fn fetch_request_of_one(group: &str, partitions: Listed<'_>) -> OffsetFetchRequest {
    let topics = partitions.map(|partitions| {
        let topics = partitions.iter().map(|(topic, partition)| {
            message!(OffsetFetchRequestTopic { name: (*topic).into(), partition_indexes: vec![*partition] })
        });
        topics.collect()
    });
    message!(OffsetFetchRequest { group_id: group.into(), topics: topics })
}

pub(super) fn delete_request(group: &str, partitions: &[(&str, i32)]) -> OffsetDeleteRequest {
    let topics = partitions.iter().map(|(topic, partition)| {
        message!(OffsetDeleteRequestTopic {
            name: (*topic).into(),
            partitions: vec![message!(OffsetDeleteRequestPartition { partition_index: *partition })],
        })
    });
    message!(OffsetDeleteRequest { group_id: group.into(), topics: topics.collect() })
}

fn error(code: i16) -> &'static str {
    ErrorCode::from_code(code).unwrap().name()
}

/// `topic partition ERROR` per line.
pub(super) fn show_commit(response: &OffsetCommitResponse) -> String {
    let mut out = String::new();
    for topic in &response.topics {
        for partition in &topic.partitions {
            let name = show_topic(&topic.name, topic_id(topic.topic_id));
            writeln!(out, "{name} {} {}", partition.partition_index, error(partition.error_code)).unwrap();
        }
    }
    out
}

/// `topic partition ERROR` per line, or the error of the whole.
pub(super) fn show_delete(response: &OffsetDeleteResponse) -> String {
    let mut out = String::new();
    if response.error_code != 0 {
        writeln!(out, "{}", error(response.error_code)).unwrap();
    }
    for topic in &response.topics {
        for partition in &topic.partitions {
            writeln!(out, "{} {} {}", &*topic.name, partition.partition_index, error(partition.error_code)).unwrap();
        }
    }
    out
}

/// `topic partition = offset @ leader epoch "metadata"` per line, with the error if there is one, under its group.
pub(super) fn show_fetch(response: &OffsetFetchResponse) -> String {
    let mut out = String::new();
    if response.error_code != 0 {
        writeln!(out, "{}", error(response.error_code)).unwrap();
    }
    let mut show = |topic: &str, partition: i32, offset: i64, epoch: i32, metadata: Option<&str>, code: i16| {
        let error = if code == 0 { "" } else { error(code) };
        let metadata = metadata.expect("metadata is never null");
        writeln!(out, "{}", format!("{topic} {partition} = {offset} @ {epoch} {metadata:?} {error}").trim_end())
            .unwrap();
    };
    for topic in &response.topics {
        for it in &topic.partitions {
            let (offset, epoch) = (it.committed_offset, it.committed_leader_epoch);
            show(&topic.name, it.partition_index, offset, epoch, it.metadata.as_deref(), it.error_code);
        }
    }
    for group in &response.groups {
        if group.error_code != 0 {
            show(&group.group_id, -1, -1, -1, Some("group"), group.error_code);
        }
        for topic in &group.topics {
            let name = show_topic(&topic.name, topic_id(topic.topic_id));
            for it in &topic.partitions {
                let (offset, epoch) = (it.committed_offset, it.committed_leader_epoch);
                show(&name, it.partition_index, offset, epoch, it.metadata.as_deref(), it.error_code);
            }
        }
    }
    out
}

fn show_topic(name: &str, id: TopicId) -> String {
    if id.is_zero() { name.to_owned() } else { format!("{name}#{}", u128::from_be_bytes(id.to_bytes())) }
}

/// The id of the topic that was made as this one, from 1.
pub(super) fn topic_id_of(number: u32) -> TopicId {
    TopicId::from_bytes(u128::from(number).to_be_bytes())
}

/// The same request by topic id, for version 10.
pub(super) fn commit_by_id(world: &World, mut request: OffsetCommitRequest) -> OffsetCommitRequest {
    for topic in &mut request.topics {
        topic.topic_id = wire_uuid(world.id_of(&topic.name));
        topic.name = "".into();
    }
    request
}

/// The same request by topic id, for version 10.
pub(super) fn fetch_by_id(world: &World, mut request: OffsetFetchRequest) -> OffsetFetchRequest {
    for topic in request.groups.iter_mut().flat_map(|group| group.topics.iter_mut().flatten()) {
        topic.topic_id = wire_uuid(world.id_of(&topic.name));
        topic.name = "".into();
    }
    request
}
