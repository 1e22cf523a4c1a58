//! Topics that are joined must have equal partition counts (Kafka's `CopartitionedTopicsEnforcer`).
//!
//! Topics from outside decide; repartition topics follow, unless the topology itself fixes their count.

use std::collections::{BTreeMap, BTreeSet};

use super::counts::Counts;
use super::{Wrong, incorrectly_partitioned, invalid};
use crate::coordinator::streams::records::{CopartitionGroup, Subtopology};
use crate::types::TopicName;

/// Checks every co-partition group and decides again where a repartition topic has to follow.
pub(super) fn enforce<'a>(subtopologies: &[&'a Subtopology], counts: &mut Counts<'a>) -> Result<(), Wrong> {
    let infos = subtopologies.iter().flat_map(|subtopology| &subtopology.repartition_source_topics);
    let repartition: BTreeMap<&TopicName, IsFixed> = infos.fold(BTreeMap::new(), |mut topics, info| {
        *topics.entry(&info.name).or_default() |= info.partitions != 0;
        topics
    });
    for subtopology in subtopologies {
        for group in &subtopology.copartition_groups {
            enforce_group(&topics_of(subtopology, group), &repartition, counts)?;
        }
    }
    Ok(())
}

/// Whether the topology itself says how many partitions a repartition topic has.
type IsFixed = bool;

fn enforce_group<'a>(
    group: &BTreeSet<&'a TopicName>,
    repartition: &BTreeMap<&'a TopicName, IsFixed>,
    counts: &mut Counts<'a>,
) -> Result<(), Wrong> {
    let mut external = BTreeMap::new();
    let mut internal = BTreeMap::new();
    let mut fixed = BTreeMap::new();
    for topic in group {
        let Some(count) = counts.of(topic) else { continue };
        let Some(is_fixed) = repartition.get(topic) else {
            external.insert(*topic, count);
            continue;
        };
        internal.insert(*topic, count);
        if *is_fixed {
            fixed.insert(*topic, count);
        }
    }
    let imposed = match (equal_count(&external), equal_count(&fixed)) {
        (Ok(Some(count)), _) | (Ok(None), Ok(Some(count))) => count,
        (Ok(None), Ok(None)) => match widest(&internal)? {
            Some(count) => count,
            None => return Ok(()),
        },
        (Err(Differ), _) => return Err(not_the_same(&external)),
        (Ok(None), Err(Differ)) => return Err(not_the_same(&internal)),
    };
    if let Some((topic, count)) = fixed.iter().find(|(_, count)| **count != imposed) {
        return Err(Wrong::Topics(incorrectly_partitioned(format!(
            "Number of partitions [{count}] of repartition topic [{topic}] \
             doesn't match number of partitions [{imposed}] of the source topic."
        ))));
    }
    for topic in internal.keys() {
        counts.decide(topic, imposed);
    }
    Ok(())
}

fn topics_of<'a>(subtopology: &'a Subtopology, group: &CopartitionGroup) -> BTreeSet<&'a TopicName> {
    let place = |index: &i16| usize::try_from(*index).ok();
    let sources = group.source_topics.iter().filter_map(|index| subtopology.source_topics.get(place(index)?));
    let repartition = group.repartition_source_topics.iter();
    let repartition = repartition.filter_map(|index| subtopology.repartition_source_topics.get(place(index)?));
    sources.chain(repartition.map(|info| &info.name)).collect()
}

struct Differ;

/// The count all of them have, if there are any.
fn equal_count(topics: &BTreeMap<&TopicName, i32>) -> Result<Option<i32>, Differ> {
    let first = topics.values().next().copied();
    if topics.values().all(|count| Some(*count) == first) { Ok(first) } else { Err(Differ) }
}

fn widest(topics: &BTreeMap<&TopicName, i32>) -> Result<Option<i32>, Wrong> {
    match topics.values().max() {
        None => Ok(None),
        Some(0) => {
            let names: Vec<&str> = topics.keys().map(|topic| topic.as_str()).collect();
            let names = names.join(", ");
            Err(invalid(format!("All topics in the copartition group had undefined partition number: [{names}]")))
        }
        Some(count) => Ok(Some(*count)),
    }
}

fn not_the_same(topics: &BTreeMap<&TopicName, i32>) -> Wrong {
    let each: Vec<String> = topics.iter().map(|(topic, count)| format!("{topic}={count}")).collect();
    let each = each.join(", ");
    Wrong::Topics(incorrectly_partitioned(format!(
        "Following topics do not have the same number of partitions: [{{{each}}}]"
    )))
}
