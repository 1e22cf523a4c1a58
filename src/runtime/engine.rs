//! The machine without its threads: all cores, one order of changes. Synchronous; does no I/O.
//!
//! A step takes one input, lets its core decide, applies the records at the next lsn and says what has to happen
//! outside: an entry for the journal, answers with the lsn they rest on, and further inputs. Simulation and the
//! sequencer both run this code.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::persist;
use super::{Input, Reply, Unavailable};
use crate::catalog::{self, Catalog};
use crate::config::Config;
use crate::coordinator::{self, Coordinator};
use crate::heads::{self, Heads};
use crate::journal::{Entry, Item};
use crate::machine::{Core, Decision, Env, ReplyTo};
use crate::store::Key;
use crate::txn::Txn;
use crate::types::{Image, Lsn, Offset, TimestampMs, TopicId, TopicPartition};

/// A core's hard and soft state.
#[derive(Debug, Default)]
struct Seat<C: Core> {
    hard: C,
    soft: C::Soft,
}

/// All cores.
pub(crate) struct Engine {
    coordinator: Seat<Coordinator>,
    catalog: Seat<Catalog>,
    heads: Seat<Heads>,
    txn: Seat<Txn>,
    env: Env,
    last_lsn: Lsn,
    /// The settings the server was started with.
    base_config: Arc<Config>,
    /// What was laid over them to make `env.config`.
    broker_configs: Arc<BTreeMap<String, String>>,
}

/// What follows from one input.
#[derive(Debug, Default)]
pub(crate) struct Step {
    /// What must be made durable, if anything changed.
    pub(crate) entry: Option<Entry>,
    /// Who gets what, once everything up to the lsn is durable.
    pub(crate) answers: Vec<Answer>,
    /// What readers see once the entry is durable.
    pub(crate) visible: Vec<Visible>,
    /// Effects inside the machine, to be taken in this turn.
    pub(crate) next: Vec<Input>,
    /// Effects inside the machine that go on for long, to be taken in a later turn.
    pub(crate) later: Vec<Input>,
}

/// One answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) to: ReplyTo,
    pub(crate) outcome: Result<Reply, Unavailable>,
    /// Durable up to here, or it must not leave.
    pub(crate) rests_on: Lsn,
}

/// A change that readers of logs see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visible {
    /// A partition ends here now.
    HighWatermark(TopicPartition, Offset),
    /// A partition starts here now.
    LogStart(TopicPartition, Offset),
    /// A topic is gone.
    TopicDeleted(TopicId),
}

impl Engine {
    /// Empty cores, to be filled by [`Engine::load`].
    pub(crate) fn new(env: Env) -> Self {
        Self {
            coordinator: Seat::default(),
            catalog: Seat::default(),
            heads: Seat::default(),
            txn: Seat::default(),
            last_lsn: Lsn(0),
            base_config: Arc::clone(&env.config),
            broker_configs: Arc::default(),
            env,
        }
    }

    /// Replays one stored record. Any order of keys will do.
    pub(crate) fn load(&mut self, lsn: Lsn, record: &persist::Record) {
        self.last_lsn = self.last_lsn.max(lsn);
        match record {
            persist::Record::Coordinator(record) => self.coordinator.hard.replay(lsn, record),
            persist::Record::Catalog(record) => self.catalog.hard.replay(lsn, record),
            persist::Record::Heads(record) => self.heads.hard.replay(lsn, record),
            persist::Record::Txn(record) => self.txn.hard.replay(lsn, record),
        }
    }

    /// Ends the load: everything up to `last_lsn` has been replayed. Arms timers anew.
    pub(crate) fn loaded(&mut self, last_lsn: Lsn, identity: &Identity) {
        self.last_lsn = self.last_lsn.max(last_lsn);
        self.catalog.hard.set_identity(identity.cluster_id.clone(), identity.node_id);
        self.show_image();
        self.catalog.hard.on_loaded(&mut self.env);
        self.coordinator.soft = self.coordinator.hard.on_loaded(&mut self.env);
        self.heads.soft = self.heads.hard.on_loaded(&mut self.env);
        self.txn.soft = self.txn.hard.on_loaded(&mut self.env);
    }

    /// Sets the time of the turn.
    pub(crate) fn set_now(&mut self, now: TimestampMs) {
        self.env.now = now;
    }

    /// The last change.
    pub(crate) fn last_lsn(&self) -> Lsn {
        self.last_lsn
    }

    /// The newest catalogue, durable or not.
    pub(crate) fn image(&self) -> &Arc<Image> {
        self.catalog.hard.image()
    }

    /// The groups and offsets.
    pub(crate) fn coordinator(&self) -> &Coordinator {
        &self.coordinator.hard
    }

    /// The partition heads.
    pub(crate) fn heads(&self) -> &Heads {
        &self.heads.hard
    }

    /// When the next timer expires.
    pub(crate) fn next_deadline(&self) -> Option<TimestampMs> {
        let deadlines = [
            Coordinator::next_deadline(&self.coordinator.soft),
            Catalog::next_deadline(&self.catalog.soft),
            Heads::next_deadline(&self.heads.soft),
            Txn::next_deadline(&self.txn.soft),
        ];
        deadlines.into_iter().flatten().min()
    }

    /// Takes one expired timer as an input.
    pub(crate) fn pop_due(&mut self) -> Option<Input> {
        let now = self.env.now;
        Coordinator::pop_due(&mut self.coordinator.soft, now)
            .map(Input::Coordinator)
            .or_else(|| Heads::pop_due(&mut self.heads.soft, now).map(Input::Heads))
            .or_else(|| Txn::pop_due(&mut self.txn.soft, now).map(Input::Txn))
            .or_else(|| Catalog::pop_due(&mut self.catalog.soft, now).map(Input::Catalog))
    }

    /// Takes one input. `asker` is who is told if the core panics.
    pub(crate) fn step(&mut self, input: Input, asker: Option<ReplyTo>) -> Step {
        let mut step = Step::default();
        match input {
            Input::Coordinator(input) => {
                if let Some(decision) = decide(&mut self.coordinator, &mut self.env, input, asker, &mut step) {
                    self.apply_coordinator(decision, &mut step);
                }
            }
            Input::Catalog(input) => {
                if let Some(decision) = decide(&mut self.catalog, &mut self.env, input, asker, &mut step) {
                    self.apply_catalog(decision, &mut step);
                }
            }
            Input::Heads(input) => {
                if let Some(decision) = decide(&mut self.heads, &mut self.env, input, asker, &mut step) {
                    self.apply_heads(decision, &mut step);
                }
            }
            Input::Txn(input) => {
                if let Some(decision) = decide(&mut self.txn, &mut self.env, input, asker, &mut step) {
                    self.apply_txn(decision, &mut step);
                }
            }
        }
        step
    }

    fn apply_coordinator(&mut self, decision: Decision<Coordinator>, step: &mut Step) {
        let lsn = self.last_lsn.next();
        let mut items = Vec::with_capacity(decision.records.len());
        for record in &decision.records {
            self.coordinator.hard.replay(lsn, record);
            items.push(persist::coordinator_item(lsn, record));
        }
        self.finish(items, decision.rests_on, decision.replies, Reply::Response, step);
        for effect in decision.effects {
            match effect {
                coordinator::Effect::CreateInternalTopics { group, topics } => {
                    step.next.push(Input::Catalog(catalog::Input::CreateInternalTopics {
                        group,
                        topics: topics.into_iter().map(wanted_topic).collect(),
                    }));
                }
                coordinator::Effect::ContinueTopicsDeleted { topics, after } => {
                    step.later.push(Input::Coordinator(coordinator::Input::TopicsDeleted { topics, after }));
                }
            }
        }
    }

    fn apply_catalog(&mut self, decision: Decision<Catalog>, step: &mut Step) {
        let lsn = self.last_lsn.next();
        let mut items = Vec::with_capacity(decision.records.len());
        // Given back so that the catalogue may change its image in place.
        self.env.image = Arc::default();
        for record in &decision.records {
            self.catalog.hard.replay(lsn, record);
            items.push(persist::catalog_item(lsn, record));
            if let catalog::Record::Topic { topic_id, value: None } = record {
                self.heads.hard.forget_topic(*topic_id);
                items.push(Item::DeletePrefix { prefix: Key::topic_prefix(*topic_id) });
                step.visible.push(Visible::TopicDeleted(*topic_id));
            }
        }
        self.show_image();
        self.finish(items, decision.rests_on, decision.replies, Reply::Response, step);
        for effect in decision.effects {
            step.next.push(Input::Coordinator(match effect {
                catalog::Effect::WantedTopics { group, outcome } => {
                    coordinator::Input::InternalTopicsCreated { group, outcome }
                }
                catalog::Effect::TopicsDeleted { topics } => coordinator::Input::TopicsDeleted { topics, after: None },
            }));
        }
    }

    fn apply_heads(&mut self, decision: Decision<Heads>, step: &mut Step) {
        let lsn = self.last_lsn.next();
        let mut items = Vec::with_capacity(decision.records.len());
        for record in decision.records {
            self.heads.hard.replay(lsn, &record);
            match &record {
                heads::Record::Append { partition, .. } => {
                    let end = self.heads.hard.head(*partition).next_offset;
                    step.visible.push(Visible::HighWatermark(*partition, end));
                }
                heads::Record::HeadStart { partition, value: Some(value) } => {
                    step.visible.push(Visible::LogStart(*partition, value.log_start));
                }
                _ => {}
            }
            items.push(persist::heads_item(lsn, record));
        }
        self.finish(items, decision.rests_on, decision.replies, Reply::Heads, step);
    }

    fn apply_txn(&mut self, decision: Decision<Txn>, step: &mut Step) {
        let lsn = self.last_lsn.next();
        let mut items = Vec::with_capacity(decision.records.len());
        for record in &decision.records {
            self.txn.hard.replay(lsn, record);
            items.push(persist::txn_item(lsn, record));
        }
        self.finish(items, decision.rests_on, decision.replies, Reply::Response, step);
    }

    /// Lets all cores see the newest catalogue, and the broker's settings as changed in it.
    fn show_image(&mut self) {
        let image = self.catalog.hard.image();
        if !Arc::ptr_eq(&self.broker_configs, &image.broker_configs) {
            self.broker_configs = Arc::clone(&image.broker_configs);
            self.env.config = Arc::new(self.base_config.with_dynamic(&self.broker_configs));
        }
        self.env.image = Arc::clone(image);
    }

    /// Makes the entry and hands the answers out: they rest on it and on what was read.
    fn finish<R>(
        &mut self,
        items: Vec<Item>,
        rests_on: Lsn,
        replies: Vec<(ReplyTo, R)>,
        wrap: fn(R) -> Reply,
        step: &mut Step,
    ) {
        let mut rests_on = rests_on;
        if !items.is_empty() {
            let lsn = self.last_lsn.next();
            self.last_lsn = lsn;
            rests_on = lsn;
            step.entry = Some(Entry { lsn, items });
        }
        assert!(rests_on <= self.last_lsn, "an answer rests on a change that exists");
        step.answers.extend(replies.into_iter().map(|(to, reply)| Answer { to, outcome: Ok(wrap(reply)), rests_on }));
    }
}

/// Who this data directory belongs to.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) cluster_id: crate::types::ClusterId,
    pub(crate) node_id: i32,
}

/// Lets a core decide. A panic harms nothing but the asker and those parked in the same part of the soft state, which
/// is rebuilt; hard state cannot have changed.
fn decide<C: Core>(
    seat: &mut Seat<C>,
    env: &mut Env,
    input: C::Input,
    asker: Option<ReplyTo>,
    step: &mut Step,
) -> Option<Decision<C>> {
    let scope = C::scope(&input);
    let decided = catch_unwind(AssertUnwindSafe(|| seat.hard.decide(&mut seat.soft, env, input)));
    if let Ok(decision) = decided {
        return Some(decision);
    }
    tracing::error!("a decision panicked; its asker is told, its group's timers are rebuilt");
    let parked = seat.hard.reset(&mut seat.soft, env, scope);
    let refuse = |to, why| Answer { to, outcome: Err(why), rests_on: Lsn(0) };
    step.answers.extend(asker.map(|to| refuse(to, Unavailable::Panicked)));
    step.answers.extend(parked.into_iter().map(|to| refuse(to, Unavailable::Stopping)));
    None
}

fn wanted_topic(topic: coordinator::InternalTopic) -> catalog::WantedTopic {
    catalog::WantedTopic {
        name: topic.name,
        partition_count: topic.partition_count,
        // 0 on the wire and -1 in CreateTopics both mean the broker's default.
        replication_factor: if topic.replication_factor == 0 { -1 } else { topic.replication_factor },
        configs: topic.configs.into_iter().collect(),
    }
}
