//! A stable hash over the topics a topology needs, to notice that one appeared, went, was made again or grew.
//!
//! Kept in record 17 and compared for equality only. Kafka takes XXH3 over the same facts; the value itself is
//! nobody's business, but it must not change between releases, or every group would rebalance after an upgrade.

use super::records::StreamsGroupTopologyValue;
use super::topology::required_topics;
use crate::types::{Image, TopicImage};

/// Covers id, name and partition count of each required topic that exists; 0 if none exists.
pub(crate) fn metadata_hash(topology: &StreamsGroupTopologyValue, image: &Image) -> i64 {
    let required = required_topics(topology);
    let existing: Vec<&TopicImage> = required.iter().filter_map(|name| image.topic(name)).map(AsRef::as_ref).collect();
    if existing.is_empty() {
        return 0;
    }
    let mut hash = Fnv1a::new();
    for topic in existing {
        hash.add(&topic.id.to_bytes());
        hash.add(&topic.partition_count.to_be_bytes());
        hash.add(topic.name.as_bytes());
        // No topic name has a zero byte, so that two lists of topics never give the same bytes.
        hash.add(&[0]);
    }
    hash.finish()
}

/// The 64-bit FNV-1a hash, with the last step of splitmix64 behind it so that near inputs end far apart.
struct Fnv1a(u64);

impl Fnv1a {
    const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;

    fn new() -> Self {
        Self(Self::OFFSET_BASIS)
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(Self::PRIME);
        }
    }

    /// Never 0: that means "no topic".
    fn finish(self) -> i64 {
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        bits.max(1).cast_signed()
    }
}

#[cfg(test)]
mod tests {
    use super::super::configure::testing::{image, topology};
    use super::*;
    use crate::types::TopicId;

    #[test]
    fn the_hash_is_0_while_none_of_the_topics_exists() {
        let topology = topology("0: in >out");
        assert_eq!(metadata_hash(&topology, &image(&[])), 0);
        assert_eq!(metadata_hash(&topology, &image(&[("other", 1), ("out", 1)])), 0);
        assert_ne!(metadata_hash(&topology, &image(&[("in", 1)])), 0);
    }

    #[test]
    fn the_hash_moves_with_every_topic_of_the_topology_and_with_no_other() {
        let topology = topology("0: in >r\n1: <r #store");
        let small = metadata_hash(&topology, &image(&[("in", 2)]));
        let grown = metadata_hash(&topology, &image(&[("in", 3)]));
        let with_repartition = metadata_hash(&topology, &image(&[("in", 2), ("r", 2)]));
        let with_changelog = metadata_hash(&topology, &image(&[("in", 2), ("store", 2)]));
        let mut distinct = vec![small, grown, with_repartition, with_changelog];
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 4);
        assert_eq!(metadata_hash(&topology, &image(&[("in", 2), ("other", 7)])), small);
    }

    #[test]
    fn a_topic_made_again_under_its_old_name_is_noticed() {
        let topology = topology("0: in");
        let before = image(&[("in", 1)]);
        let mut after = before.clone();
        let again = TopicImage { id: TopicId::from_bytes([9; 16]), ..(**before.topic("in").unwrap()).clone() };
        after.topics.insert("in".into(), again.into());
        assert_ne!(metadata_hash(&topology, &before), metadata_hash(&topology, &after));
    }

    #[test]
    fn the_value_stays_the_same_from_release_to_release() {
        let hash = metadata_hash(&topology("0: in other"), &image(&[("in", 2), ("other", 3)]));
        assert_eq!(hash, 1_534_449_927_923_974_665);
    }
}
