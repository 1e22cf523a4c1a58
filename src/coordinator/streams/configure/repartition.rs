//! The partition counts of repartition topics (Kafka's `RepartitionTopics`).
//!
//! A repartition topic gets as many partitions as the widest input of the subtopology that writes it, and those inputs
//! may be repartition topics themselves. Kafka sweeps over all subtopologies until nothing is left, and decides from a
//! part of a subtopology's inputs if the others are not known yet, so that the outcome hangs on the order. Here a
//! subtopology waits for all its inputs, and each is looked at once for each input it waits for.

use std::collections::{BTreeMap, BTreeSet};

use super::counts::Counts;
use super::{Wrong, invalid};
use crate::coordinator::streams::records::Subtopology;
use crate::types::TopicName;

/// Decides the count of every repartition topic.
pub(super) fn decide<'a>(subtopologies: &[&'a Subtopology], counts: &mut Counts<'a>) -> Result<(), Wrong> {
    for source in subtopologies.iter().flat_map(|subtopology| &subtopology.repartition_source_topics) {
        if source.partitions != 0 {
            counts.decide(&source.name, source.partitions);
        }
    }
    Sweep::new(subtopologies, counts).run(counts);

    let mut sinks = subtopologies.iter().flat_map(|subtopology| &subtopology.repartition_sink_topics);
    if sinks.any(|sink| counts.decided(sink).is_none()) {
        return Err(invalid(
            "Failed to compute number of partitions for all repartition topics. \
             There may be loops in the topology that cannot be resolved.",
        ));
    }
    let mut sources = subtopologies.iter().flat_map(|subtopology| &subtopology.repartition_source_topics);
    if sources.any(|source| counts.decided(&source.name).is_none()) {
        return Err(invalid(
            "Failed to compute number of partitions for all repartition topics, \
             because a repartition source topic is never used as a sink topic.",
        ));
    }
    Ok(())
}

/// A subtopology and what is known of its inputs.
struct Node<'a> {
    sinks: &'a [TopicName],
    /// The widest of the known inputs.
    widest: Option<i32>,
    /// How many inputs are not known yet.
    open: usize,
}

struct Sweep<'a> {
    nodes: Vec<Node<'a>>,
    /// Which nodes wait for a topic.
    readers: BTreeMap<&'a TopicName, Vec<usize>>,
    /// Nodes all of whose inputs are known.
    ready: BTreeSet<usize>,
    /// Nodes some of whose inputs are known.
    partial: BTreeSet<usize>,
}

impl<'a> Sweep<'a> {
    fn new(subtopologies: &[&'a Subtopology], counts: &Counts<'a>) -> Self {
        let mut sweep = Self {
            nodes: Vec::with_capacity(subtopologies.len()),
            readers: BTreeMap::new(),
            ready: BTreeSet::new(),
            partial: BTreeSet::new(),
        };
        for (index, subtopology) in subtopologies.iter().enumerate() {
            let outside = subtopology.source_topics.iter().filter_map(|topic| counts.existing(topic));
            let mut node = Node { sinks: &subtopology.repartition_sink_topics, widest: outside.max(), open: 0 };
            for source in &subtopology.repartition_source_topics {
                if let Some(count) = counts.decided(&source.name) {
                    node.widest = node.widest.max(Some(count));
                } else {
                    node.open += 1;
                    sweep.readers.entry(&source.name).or_default().push(index);
                }
            }
            sweep.nodes.push(node);
            sweep.sort_in(index);
        }
        sweep
    }

    /// Puts a node where it belongs after something about its inputs became known.
    fn sort_in(&mut self, index: usize) {
        let Some(node) = self.nodes.get(index) else { return };
        if node.widest.is_none() {
            return;
        }
        if node.open == 0 {
            self.ready.insert(index);
        } else {
            self.partial.insert(index);
        }
    }

    /// When no subtopology knows all its inputs, there is a loop, and the first that knows some of them breaks it.
    fn run(&mut self, counts: &mut Counts<'a>) {
        while let Some(index) = self.ready.pop_first().or_else(|| self.partial.pop_first()) {
            self.partial.remove(&index);
            let Some(&Node { sinks, widest: Some(count), .. }) = self.nodes.get(index) else { continue };
            for sink in sinks {
                if counts.decided(sink).is_none() {
                    counts.decide(sink, count);
                    self.tell_readers(sink, count);
                }
            }
        }
    }

    fn tell_readers(&mut self, topic: &TopicName, count: i32) {
        for index in self.readers.remove(topic).unwrap_or_default() {
            if let Some(node) = self.nodes.get_mut(index) {
                node.widest = node.widest.max(Some(count));
                node.open -= 1;
            }
            self.sort_in(index);
        }
    }
}
