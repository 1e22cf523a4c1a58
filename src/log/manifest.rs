//! The list of all segments as of a checkpoint, so that a start need not read what is in them.
//!
//! Two files take turns, so that one torn by a power loss leaves the other, which then is the one that the state
//! store's last checkpoint goes with; the lsn says so. The list only saves time: what it says is used where the heads
//! and the files' lengths agree with it, and found out from the files themselves where not.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use tracing::warn;

use super::codec::{Cursor, FACTS_BYTES, checked, put_crc, put_facts};
use super::facts::SegmentFacts;
use crate::disk::{Disk, Open};
use crate::types::{Lsn, Offset, TopicId, TopicPartition};

const MAGIC: [u8; 8] = *b"SKSEGMS\x01";
const NAMES: [&str; 2] = ["segments.0", "segments.1"];

/// All segments at one checkpoint.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    /// The checkpoint's.
    pub(super) lsn: Lsn,
    /// The later written of two has the larger one.
    pub(super) generation: u64,
    pub(super) partitions: BTreeMap<TopicPartition, ListedPartition>,
}

/// One partition's segments.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ListedPartition {
    pub(super) next_offset: Offset,
    pub(super) segments: Vec<SegmentFacts>,
}

/// Which of the two files this is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Slot {
    #[default]
    First,
    Second,
}

impl Slot {
    pub(super) const BOTH: [Self; 2] = [Self::First, Self::Second];

    pub(super) fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    pub(super) fn path(self, dir: &Path) -> PathBuf {
        let [first, second] = NAMES;
        dir.join(match self {
            Self::First => first,
            Self::Second => second,
        })
    }

    /// Whether a name in the logs' folder is one of the two.
    pub(super) fn is_name(name: &str) -> bool {
        NAMES.contains(&name)
    }
}

impl Manifest {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(MAGIC);
        out.extend(self.lsn.0.to_be_bytes());
        out.extend(self.generation.to_be_bytes());
        out.extend(count(self.partitions.len()));
        for (partition, listed) in &self.partitions {
            out.extend(partition.topic_id.to_bytes());
            out.extend(partition.partition.to_be_bytes());
            out.extend(listed.next_offset.0.to_be_bytes());
            out.extend(count(listed.segments.len()));
            for facts in &listed.segments {
                put_facts(&mut out, facts);
            }
        }
        put_crc(&mut out);
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut cursor = Cursor(checked(bytes)?);
        if cursor.array()? != MAGIC {
            return None;
        }
        let lsn = Lsn(cursor.u64()?);
        let generation = cursor.u64()?;
        let mut partitions = BTreeMap::new();
        for _ in 0..cursor.u32()? {
            let topic_id = TopicId::from_bytes(cursor.array()?);
            let partition = TopicPartition { topic_id, partition: cursor.i32()? };
            let next_offset = Offset(cursor.i64()?);
            let count = cursor.u32()? as usize;
            if count.checked_mul(FACTS_BYTES)? > cursor.0.len() {
                return None;
            }
            let segments = (0..count).map(|_| cursor.facts()).collect::<Option<_>>()?;
            partitions.insert(partition, ListedPartition { next_offset, segments });
        }
        cursor.0.is_empty().then_some(Self { lsn, generation, partitions })
    }

    /// Reads one of the two; `None` if it is not there or cannot be trusted.
    pub(super) fn load(disk: &dyn Disk, path: &Path) -> Option<Self> {
        let bytes = match read_whole(disk, path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                warn!(path = %path.display(), %error, "cannot read a list of segments, doing without");
                return None;
            }
        };
        let manifest = Self::decode(&bytes);
        if manifest.is_none() {
            warn!(path = %path.display(), "list of segments is torn, doing without");
        }
        manifest
    }
}

/// Counts are far below 2^32: a partition is a folder, a segment is a file.
fn count(len: usize) -> [u8; 4] {
    u32::try_from(len).unwrap_or(u32::MAX).to_be_bytes()
}

fn read_whole(disk: &dyn Disk, path: &Path) -> io::Result<Vec<u8>> {
    let file = disk.open(path, Open::Read)?;
    let len = usize::try_from(file.len()?).map_err(io::Error::other)?;
    let mut bytes = vec![0; len];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

/// Writes and syncs one of the two. Whether its name is new in the folder.
pub(super) fn store(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<bool> {
    let is_new = !disk.exists(path)?;
    let file = disk.open(path, if is_new { Open::CreateNew } else { Open::ReadWrite })?;
    file.write_all_at(bytes, 0)?;
    file.set_len(bytes.len() as u64)?;
    file.sync_data()?;
    Ok(is_new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::facts::Largest;
    use crate::types::TimestampMs;

    fn example() -> Manifest {
        let facts = SegmentFacts {
            base_offset: Offset(5),
            next_offset: Offset(9),
            bytes: 500,
            largest: Some(Largest { timestamp: TimestampMs(77), batch_offset: Offset(7) }),
            first_timestamp: TimestampMs(70),
        };
        let partition = |partition| TopicPartition { topic_id: TopicId::from_bytes([3; 16]), partition };
        let listed = ListedPartition { next_offset: Offset(9), segments: vec![facts, SegmentFacts::empty(Offset(9))] };
        let nothing_left = ListedPartition { next_offset: Offset(4), segments: Vec::new() };
        Manifest {
            lsn: Lsn(31),
            generation: 8,
            partitions: [(partition(0), listed), (partition(1), nothing_left)].into(),
        }
    }

    #[test]
    fn a_manifest_comes_back_as_it_was() {
        assert_eq!(Manifest::decode(&example().encode()), Some(example()));
        assert_eq!(Manifest::decode(&Manifest::default().encode()), Some(Manifest::default()));
    }

    #[test]
    fn a_torn_or_lying_manifest_is_nothing() {
        let good = example().encode();
        for cut in 0..good.len() {
            assert_eq!(Manifest::decode(&good[..cut]), None);
        }
        for place in 0..good.len() {
            let mut bad = good.clone();
            bad[place] ^= 0x10;
            assert_eq!(Manifest::decode(&bad), None, "{place}");
            // With a checksum that holds it may be accepted or not, but never panic or allocate what is not there.
            bad.truncate(good.len() - 4);
            put_crc(&mut bad);
            let _ = Manifest::decode(&bad);
        }
    }
}
