//! Topologies and images for tests, in a short notation.

use std::sync::Arc;

use super::super::records::{CopartitionGroup, StreamsGroupTopologyValue, Subtopology, TopicInfo};
use crate::types::{Image, TopicId, TopicImage, TopicName};

/// One line per subtopology: `id: source <repartition-source <fixed=3 >repartition-sink #changelog [together,with]`.
pub(crate) fn topology(text: &str) -> StreamsGroupTopologyValue {
    let subtopologies = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(subtopology).collect();
    StreamsGroupTopologyValue { epoch: 0, subtopologies }
}

fn subtopology(line: &str) -> Subtopology {
    let (id, words) = line.split_once(':').expect("an id before the colon");
    let mut subtopology = Subtopology { subtopology_id: id.into(), ..Subtopology::default() };
    for word in words.split_whitespace() {
        match word.split_at(1) {
            (">", name) => subtopology.repartition_sink_topics.push(name.into()),
            ("<", name) => subtopology.repartition_source_topics.push(topic_info(name)),
            ("#", name) => subtopology.state_changelog_topics.push(topic_info(name)),
            ("[", names) => {
                let group = copartition_group(&subtopology, names.trim_end_matches(']'));
                subtopology.copartition_groups.push(group);
            }
            _ => subtopology.source_topics.push(word.into()),
        }
    }
    subtopology
}

fn topic_info(word: &str) -> TopicInfo {
    let (name, partitions) = word.split_once('=').unwrap_or((word, "0"));
    TopicInfo { name: name.into(), partitions: partitions.parse().expect("a count"), ..TopicInfo::default() }
}

fn copartition_group(subtopology: &Subtopology, names: &str) -> CopartitionGroup {
    let mut group = CopartitionGroup::default();
    for name in names.split(',').map(TopicName::from) {
        if let Some(index) = subtopology.source_topics.iter().position(|topic| *topic == name) {
            group.source_topics.push(i16::try_from(index).expect("a short list"));
        } else {
            let index = subtopology.repartition_source_topics.iter().position(|topic| topic.name == name);
            group
                .repartition_source_topics
                .push(i16::try_from(index.expect("a topic before it")).expect("a short list"));
        }
    }
    group
}

/// Topics with their partition counts.
pub(crate) fn image(topics: &[(&str, i32)]) -> Image {
    let mut image = Image::default();
    for (index, (name, partition_count)) in topics.iter().enumerate() {
        let mut id = [1; 16];
        id[0] = u8::try_from(index + 1).expect("a few topics");
        let topic = TopicImage {
            id: TopicId::from_bytes(id),
            name: (*name).into(),
            partition_count: *partition_count,
            configs: Arc::default(),
        };
        image.topic_names.insert(topic.id, topic.name.clone());
        image.topics.insert(topic.name.clone(), Arc::new(topic));
    }
    image
}
