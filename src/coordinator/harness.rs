//! Runs the coordinator by hand: a clock that a test moves, a catalogue that a test edits, and a store that a test can
//! restart from. What the sequencer does in earnest happens here in a few lines.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Coordinator, Effect, GroupKind, Input, Record, Soft, TimerKey};
use crate::config::Config;
use crate::machine::{Asked, Core, Decision, Env, ReplyTo, Rng};
use crate::protocol::Response;
use crate::types::{GroupId, Image, Lsn, TimestampMs, TopicId, TopicImage, TopicName};

/// A coordinator with its surroundings.
pub(crate) struct Harness {
    pub(crate) coordinator: Coordinator,
    pub(crate) soft: Soft,
    pub(crate) env: Env,
    /// Every record there was, with its place.
    pub(crate) log: Vec<(Lsn, Record)>,
    /// The last value of each key.
    store: BTreeMap<StoreKey, (Lsn, Record)>,
    /// Effects that nobody has taken yet.
    pub(crate) effects: Vec<Effect>,
    /// Who the next asker says it is.
    pub(crate) client_id: String,
    next_asker: u64,
    topics_made: u32,
}

/// What one input came to.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) records: Vec<Record>,
    pub(crate) replies: Vec<(ReplyTo, Response)>,
    pub(crate) rests_on: Lsn,
}

/// The place of a record's key in the store: the group, then ranks with parents before children.
pub(crate) type StoreKey = (GroupId, u8, String, i32);

/// Settings a server is started with.
pub(crate) fn config(settings: &[(&str, &str)]) -> Config {
    let mut config = Config::default();
    for (name, value) in settings {
        config.set(name, value).expect("a known setting").expect("a good value");
    }
    config
}

impl Harness {
    /// A coordinator without groups, in a catalogue without topics, at second 1,000,000.
    pub(crate) fn new(config: Config) -> Self {
        Self {
            coordinator: Coordinator::default(),
            soft: Soft::default(),
            env: Env {
                now: TimestampMs(1_000_000_000),
                rng: Rng::from_seed(1),
                image: Arc::new(Image::default()),
                config: Arc::new(config),
            },
            log: Vec::new(),
            store: BTreeMap::new(),
            effects: Vec::new(),
            client_id: "client".to_owned(),
            next_asker: 0,
            topics_made: 0,
        }
    }

    /// Decides an input and replays its records.
    pub(crate) fn input(&mut self, input: Input) -> Turn {
        let decision = self.coordinator.decide(&mut self.soft, &mut self.env, input);
        let Decision { records, replies, effects, rests_on } = decision;
        for record in &records {
            self.write(record);
        }
        self.effects.extend(effects);
        Turn { records, replies, rests_on }
    }

    /// Replays a record as the next one.
    pub(crate) fn write(&mut self, record: &Record) {
        let lsn = self.log.last().map_or(Lsn(0), |(lsn, _)| *lsn).next();
        self.coordinator.replay(lsn, record);
        self.store(lsn, record);
        self.log.push((lsn, record.clone()));
        self.check_counts();
    }

    /// Puts a request and takes its one answer.
    pub(crate) fn ask<R>(
        &mut self,
        version: i16,
        request: R,
        input: impl FnOnce(Asked<R>) -> Input,
    ) -> (Response, Turn) {
        self.next_asker += 1;
        let to = ReplyTo(self.next_asker);
        let asked =
            Asked { to, version, client_id: self.client_id.as_str().into(), client_host: "/127.0.0.1".into(), request };
        let mut turn = self.input(input(asked));
        assert_eq!(turn.replies.len(), 1, "one answer for one request");
        let (answered, response) = turn.replies.remove(0);
        assert_eq!(answered, to);
        response.encode(version, 0).expect("an answer fits its version");
        (response, turn)
    }

    /// Lets time pass. Timers fire at their own time, in order.
    pub(crate) fn advance_ms(&mut self, ms: i64) -> Vec<(TimerKey, Turn)> {
        let end = self.env.now.plus_ms(ms);
        let mut turns = Vec::new();
        while let Some(deadline) = Coordinator::next_deadline(&self.soft).filter(|deadline| *deadline <= end) {
            self.env.now = self.env.now.max(deadline);
            let Some(Input::Expired(key)) = Coordinator::pop_due(&mut self.soft, self.env.now) else { break };
            turns.push((key.clone(), self.input(Input::Expired(key))));
        }
        self.env.now = end;
        turns
    }

    /// Loses all that is not stored, and loads what is, in key order.
    pub(crate) fn restart(&mut self) {
        self.coordinator = self.loaded();
        self.soft = self.coordinator.on_loaded(&mut self.env);
        self.effects.clear();
    }

    /// What a load of the store gives: the last value of each key, in key order.
    pub(crate) fn loaded(&self) -> Coordinator {
        load(self.store.values())
    }

    /// What the store gives in the reverse order: children before parents.
    pub(crate) fn loaded_backwards(&self) -> Coordinator {
        load(self.store.values().rev())
    }

    /// The last value of each key, in key order.
    pub(crate) fn stored(&self) -> impl Iterator<Item = &Record> {
        self.store.values().map(|(_, record)| record)
    }

    fn store(&mut self, lsn: Lsn, record: &Record) {
        if let Record::GroupDeleted { group } = record {
            self.store.retain(|key, _| key.0 != *group);
        } else if is_tombstone(record) {
            self.store.remove(&store_key(record));
        } else {
            self.store.insert(store_key(record), (lsn, record.clone()));
        }
    }

    /// Edits the catalogue.
    pub(crate) fn edit_image(&mut self, edit: impl FnOnce(&mut Image)) {
        edit(Arc::make_mut(&mut self.env.image));
    }

    /// Makes a topic, under a new id each time.
    pub(crate) fn create_topic(&mut self, name: &str, partition_count: i32) {
        self.topics_made += 1;
        let id = TopicId::from_bytes(u128::from(self.topics_made).to_be_bytes());
        let name = TopicName::from(name);
        let topic = TopicImage { id, name: name.clone(), partition_count, configs: Arc::default() };
        self.edit_image(|image| {
            image.topics_version += 1;
            image.topic_names.insert(id, name.clone());
            image.topics.insert(name, Arc::new(topic));
        });
    }

    /// Deletes a topic.
    pub(crate) fn delete_topic(&mut self, name: &str) {
        self.edit_image(|image| {
            image.topics_version += 1;
            if let Some(topic) = image.topics.remove(name) {
                image.topic_names.remove(&topic.id);
            }
        });
    }

    /// Adds partitions to a topic.
    pub(crate) fn grow_topic(&mut self, name: &str, partition_count: i32) {
        self.edit_image(|image| {
            image.topics_version += 1;
            if let Some(topic) = image.topics.get_mut(name) {
                Arc::make_mut(topic).partition_count = partition_count;
            }
        });
    }

    /// Sets a config of a group.
    pub(crate) fn set_group_config(&mut self, group: &str, key: &str, value: &str) {
        self.edit_image(|image| {
            let configs = image.group_configs.entry(GroupId::from(group)).or_default();
            Arc::make_mut(configs).insert(key.to_owned(), value.to_owned());
        });
    }

    /// Makes the topics that were asked for, and tells the coordinator.
    pub(crate) fn create_internal_topics(&mut self) {
        for effect in std::mem::take(&mut self.effects) {
            let Effect::CreateInternalTopics { group, topics } = effect else { continue };
            for topic in &topics {
                self.create_topic(&topic.name, topic.partition_count);
            }
            let outcome = topics.into_iter().map(|topic| (topic.name, None)).collect();
            self.input(Input::InternalTopicsCreated { group, outcome });
        }
    }

    /// Checks that what is stored gives what is known, in whatever order.
    pub(crate) fn check(&self) {
        assert_same(&self.coordinator, &self.loaded());
        assert_same(&self.coordinator, &self.loaded_backwards());
    }

    fn check_counts(&self) {
        let mut recounted = super::Counts::default();
        for group in self.coordinator.groups.values() {
            recounted.moved(None, Some(group.label()));
        }
        assert_eq!(*self.coordinator.counts(), recounted);
    }
}

fn load<'a>(records: impl Iterator<Item = &'a (Lsn, Record)>) -> Coordinator {
    let mut coordinator = Coordinator::default();
    for (lsn, record) in records {
        coordinator.replay(*lsn, record);
    }
    coordinator
}

/// Compares hard state, but for the places in the log that answers rest on.
pub(crate) fn assert_same(left: &Coordinator, right: &Coordinator) {
    assert_eq!(left.groups.keys().collect::<Vec<_>>(), right.groups.keys().collect::<Vec<_>>());
    for (group, other) in left.groups.values().zip(right.groups.values()) {
        match (&group.kind, &other.kind) {
            (GroupKind::Streams(group), GroupKind::Streams(other)) => assert_eq!(group, other),
            (GroupKind::Simple, GroupKind::Simple) => {}
            (group, other) => panic!("{group:?} became {other:?}"),
        }
        assert_eq!(group.offsets, other.offsets);
    }
    assert_eq!(left.counts(), right.counts());
    assert_eq!(left.offset_totals, right.offset_totals);
}

fn store_key(record: &Record) -> StoreKey {
    let (rank, suffix, partition) = match record {
        Record::StreamsGroupMetadata { .. } => (0, String::new(), 0),
        Record::StreamsGroupTopology { .. } => (1, String::new(), 0),
        Record::StreamsGroupMemberMetadata { member, .. } => (2, member.to_string(), 0),
        Record::StreamsGroupTargetAssignmentMetadata { .. } => (3, String::new(), 0),
        Record::StreamsGroupTargetAssignmentMember { member, .. } => (4, member.to_string(), 0),
        Record::StreamsGroupCurrentMemberAssignment { member, .. } => (5, member.to_string(), 0),
        Record::OffsetCommit { topic, partition, .. } => (6, topic.to_string(), *partition),
        Record::GroupDeleted { .. } => panic!("deletes keys and has none"),
    };
    (record.group().clone(), rank, suffix, partition)
}

fn is_tombstone(record: &Record) -> bool {
    match record {
        Record::StreamsGroupMetadata { value, .. } => value.is_none(),
        Record::StreamsGroupTopology { value, .. } => value.is_none(),
        Record::StreamsGroupMemberMetadata { value, .. } => value.is_none(),
        Record::StreamsGroupTargetAssignmentMetadata { value, .. } => value.is_none(),
        Record::StreamsGroupTargetAssignmentMember { value, .. } => value.is_none(),
        Record::StreamsGroupCurrentMemberAssignment { value, .. } => value.is_none(),
        Record::OffsetCommit { value, .. } => value.is_none(),
        Record::GroupDeleted { .. } => true,
    }
}
