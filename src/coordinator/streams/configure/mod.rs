//! What a topology means for the topics there are: the partition counts of its internal topics, its tasks, and what
//! is wrong or missing (KIP-1071; Kafka's `InternalTopicManager`, `ConfiguredTopology`, `ConfiguredSubtopology`).
//!
//! The outcome is soft state: it is computed again after a load and after each change of the topics' hash.

mod copartition;
mod counts;
mod internal;
mod repartition;
#[cfg(test)]
pub(crate) mod testing;

use std::collections::{BTreeMap, BTreeSet};

use self::counts::Counts;
use super::hash::metadata_hash;
use super::records::{StreamsGroupTopologyValue, Subtopology};
use super::status::Status;
use super::tasks::SubtopologyId;
use crate::coordinator::InternalTopic;
use crate::coordinator::error::GroupError;
use crate::types::{ErrorCode, Image, TopicName};

/// More tasks than this in one topology are refused: an assignment must stay a short turn of the sequencer.
pub(crate) const TASKS_MAX: i64 = 200_000;

/// A topology set against the topics of one image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfiguredTopology {
    /// The epoch of the topology.
    pub(crate) topology_epoch: i32,
    /// The hash of the topics it was set against.
    pub(crate) metadata_hash: i64,
    /// Absent if there is a problem other than missing internal topics.
    pub(crate) subtopologies: Option<BTreeMap<SubtopologyId, ConfiguredSubtopology>>,
    /// The first thing that is wrong.
    pub(crate) problem: Option<TopicProblem>,
    /// The internal topics to create, by name.
    pub(crate) missing_internal: Vec<InternalTopic>,
}

/// A subtopology with everything decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfiguredSubtopology {
    /// How many tasks it has: one for each partition of its widest input.
    pub(crate) task_count: i32,
    /// Whether it keeps state, and so can have standbys.
    pub(crate) is_stateful: bool,
    /// Topics it reads from outside.
    pub(crate) source_topics: BTreeSet<TopicName>,
    /// Repartition topics it reads.
    pub(crate) repartition_source_topics: BTreeMap<TopicName, InternalTopic>,
    /// Repartition topics it writes.
    pub(crate) repartition_sink_topics: BTreeSet<TopicName>,
    /// Topics that hold its state.
    pub(crate) changelog_topics: BTreeMap<TopicName, InternalTopic>,
}

/// Why no task can be given out. Every member is told, and it may pass: topics can be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TopicProblem {
    /// One of the three statuses that concern topics.
    pub(crate) status: Status,
    /// Kafka's text for it.
    pub(crate) detail: String,
}

impl ConfiguredTopology {
    /// Whether tasks can be given out.
    pub(crate) fn is_ready(&self) -> bool {
        self.problem.is_none()
    }

    /// How many tasks a subtopology has, if it is known and configured.
    pub(crate) fn task_count(&self, subtopology: &str) -> Option<i32> {
        self.subtopologies.as_ref()?.get(subtopology).map(|configured| configured.task_count)
    }
}

/// Sets a topology against the topics there are. An error means that no topics could make it work.
pub(crate) fn configure(topology: &StreamsGroupTopologyValue, image: &Image) -> Result<ConfiguredTopology, GroupError> {
    let hash = metadata_hash(topology, image);
    let outcome = |subtopologies, problem, missing_internal| ConfiguredTopology {
        topology_epoch: topology.epoch,
        metadata_hash: hash,
        subtopologies,
        problem,
        missing_internal,
    };
    match subtopologies(topology, image) {
        Ok(subtopologies) => match internal::missing(&subtopologies, image) {
            Ok(missing) => {
                let problem = internal::missing_problem(&missing);
                Ok(outcome(Some(subtopologies), problem, missing))
            }
            Err(problem) => Ok(outcome(None, Some(problem), Vec::new())),
        },
        Err(Wrong::Topics(problem)) => Ok(outcome(None, Some(problem), Vec::new())),
        Err(Wrong::Topology(error)) => Err(error),
    }
}

/// The steps, in the order that decides which of several things wrong is told.
fn subtopologies(
    topology: &StreamsGroupTopologyValue,
    image: &Image,
) -> Result<BTreeMap<SubtopologyId, ConfiguredSubtopology>, Wrong> {
    // Kafka goes by id. From a member they come so, from the store perhaps not.
    let mut by_id: Vec<&Subtopology> = topology.subtopologies.iter().collect();
    by_id.sort_by_key(|subtopology| &subtopology.subtopology_id);

    check_source_topics(&by_id, image)?;
    let mut counts = Counts::new(image);
    repartition::decide(&by_id, &mut counts)?;
    copartition::enforce(&by_id, &mut counts)?;
    let configured = internal::configure_all(&by_id, &counts)?;

    let task_count: i64 = configured.values().map(|subtopology| i64::from(subtopology.task_count)).sum();
    if task_count > TASKS_MAX {
        let text = format!("The topology has {task_count} tasks, more than the {TASKS_MAX} that are supported.");
        return Err(invalid(text));
    }
    Ok(configured)
}

fn check_source_topics(subtopologies: &[&Subtopology], image: &Image) -> Result<(), Wrong> {
    let sources = subtopologies.iter().flat_map(|subtopology| &subtopology.source_topics);
    let missing: BTreeSet<&TopicName> = sources.filter(|topic| image.topic(topic).is_none()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let detail = format!("Source topics {} are missing.", summary(missing));
    Err(Wrong::Topics(TopicProblem { status: Status::MissingSourceTopics, detail }))
}

/// What ends the configuration.
#[derive(Debug, PartialEq, Eq)]
enum Wrong {
    /// The topics there are do not fit; told as a status.
    Topics(TopicProblem),
    /// No topics would fit; an error.
    Topology(GroupError),
}

fn invalid(text: impl Into<String>) -> Wrong {
    Wrong::Topology(GroupError::new(ErrorCode::StreamsInvalidTopology, text))
}

fn incorrectly_partitioned(detail: String) -> TopicProblem {
    TopicProblem { status: Status::IncorrectlyPartitionedTopics, detail }
}

/// Names at most three, which must come in order, and counts the others.
fn summary<'a>(topics: impl IntoIterator<Item = &'a TopicName>) -> String {
    const NAMED_MAX: usize = 3;
    let mut topics = topics.into_iter();
    let named: Vec<&str> = topics.by_ref().take(NAMED_MAX).map(TopicName::as_str).collect();
    match topics.count() {
        0 => named.join(", "),
        more => format!("{} and {more} additional topics", named.join(", ")),
    }
}

#[cfg(test)]
mod tests;
