//! Asking for a group's internal topics, and remembering what became of it (Kafka's `AutoTopicCreationManager`).
//!
//! A topic is not asked for again while its creation is under way, nor for a while after it failed; meanwhile the
//! reason stands in the status of every heartbeat.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::config;
use crate::coordinator::{Effect, InternalTopic, Soft};
use crate::machine::Env;
use crate::types::{GroupId, TimestampMs, TopicName};

/// How many failed topics a status names.
const NAMED_FAILURES_MAX: usize = 3;

/// Internal topics that were asked for.
#[derive(Debug, Default)]
pub(super) struct Creations {
    in_flight: BTreeSet<TopicName>,
    failed: BTreeMap<TopicName, Failure>,
}

#[derive(Debug)]
struct Failure {
    text: String,
    expires: TimestampMs,
}

impl Creations {
    /// Asks for those topics that are neither under way nor failed lately.
    pub(super) fn ask(&mut self, group_id: &GroupId, missing: &[InternalTopic], now: TimestampMs) -> Option<Effect> {
        self.failed.retain(|_, failure| failure.expires > now);
        let is_due =
            |topic: &&InternalTopic| !self.in_flight.contains(&topic.name) && !self.failed.contains_key(&topic.name);
        let topics: Vec<InternalTopic> = missing.iter().filter(is_due).cloned().collect();
        if topics.is_empty() {
            return None;
        }
        self.in_flight.extend(topics.iter().map(|topic| topic.name.clone()));
        Some(Effect::CreateInternalTopics { group: group_id.clone(), topics })
    }

    /// What a status adds about missing topics that could not be created; "" if there is nothing to add.
    pub(super) fn failures(&self, missing: &[InternalTopic], now: TimestampMs) -> String {
        let of_topic = |topic: &InternalTopic| {
            let failure = self.failed.get(&topic.name).filter(|failure| failure.expires > now)?;
            Some((topic.name.clone(), failure))
        };
        let failures: BTreeMap<TopicName, &Failure> = missing.iter().filter_map(of_topic).collect();
        if failures.is_empty() {
            return String::new();
        }
        let named: Vec<String> = failures
            .iter()
            .take(NAMED_FAILURES_MAX)
            .map(|(topic, failure)| format!("{topic} ({})", failure.text))
            .collect();
        let mut text = format!("; Creation failed: {}", named.join(", "));
        if failures.len() > NAMED_FAILURES_MAX {
            // Writing to a string cannot fail.
            let _ = write!(text, " and {} more", failures.len() - NAMED_FAILURES_MAX);
        }
        text.push('.');
        text
    }

    fn finished(&mut self, topic: TopicName, failure: Option<Failure>) {
        if !self.in_flight.remove(&topic) {
            return;
        }
        if let Some(failure) = failure {
            self.failed.insert(topic, failure);
        }
    }
}

/// Notes what became of [`Effect::CreateInternalTopics`]. The next heartbeat of the group sees the topics, or tells why
/// they are still missing.
pub(in crate::coordinator) fn created(
    soft: &mut Soft,
    env: &Env,
    group_id: &GroupId,
    outcome: Vec<(TopicName, Option<String>)>,
) {
    let Some(group) = soft.streams.get_mut(group_id) else { return };
    let heartbeat_interval_ms = config::of_group(env, group_id).streams_heartbeat_interval_ms;
    let expires = env.now.plus_ms(i64::from(heartbeat_interval_ms).saturating_mul(2));
    for (topic, error) in outcome {
        group.creations.finished(topic, error.map(|text| Failure { text, expires }));
    }
}
