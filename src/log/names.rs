//! Names of folders and files, as in Kafka but with the topic's id: `<topic id>-<partition>/<base offset>.log`.
//!
//! The id and not the name, so that a topic made again under an old name never meets the old one's files.

use std::path::{Path, PathBuf};

use crate::types::{Offset, TopicId, TopicPartition};

/// What a folder's name ends with once its topic is deleted. Only such folders are ever removed.
pub(super) const DELETE_SUFFIX: &str = "-delete";
/// Where folders go that nobody knows.
pub(super) const QUARANTINE: &str = "quarantine";

const TOPIC_ID_CHARS: usize = 22;
const BASE_OFFSET_DIGITS: usize = 20;

/// The two kinds of files of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    /// The record batches.
    Log,
    /// Where in it which offset and timestamp is.
    Index,
}

/// The folder of a partition.
pub(super) fn folder_name(partition: TopicPartition) -> String {
    format!("{}-{}", partition.topic_id, partition.partition)
}

/// The partition whose folder has this name; `None` if it is not a partition's folder.
pub(super) fn parse_folder_name(name: &str) -> Option<TopicPartition> {
    let topic_id = topic_id_from_text(name.get(..TOPIC_ID_CHARS)?)?;
    let index = name.get(TOPIC_ID_CHARS..)?.strip_prefix('-')?;
    let partition = TopicPartition { topic_id, partition: index.parse().ok()? };
    // One partition, one name: "+1" and "01" are not ours.
    (partition.partition >= 0 && folder_name(partition) == name).then_some(partition)
}

/// The path of a segment's file.
pub(super) fn file_path(folder: &Path, base_offset: Offset, kind: FileKind) -> PathBuf {
    let ending = match kind {
        FileKind::Log => "log",
        FileKind::Index => "index",
    };
    folder.join(format!("{:0width$}.{ending}", base_offset.0, width = BASE_OFFSET_DIGITS))
}

/// The base offset and kind that a file's name says; `None` if it is not a segment's file.
pub(super) fn parse_file_name(name: &str) -> Option<(Offset, FileKind)> {
    let (digits, ending) = name.split_once('.')?;
    let kind = match ending {
        "log" => FileKind::Log,
        "index" => FileKind::Index,
        _ => return None,
    };
    let is_plain = digits.len() == BASE_OFFSET_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_plain {
        return None;
    }
    Some((Offset(digits.parse().ok()?), kind))
}

/// Reads a topic id as Kafka prints it: URL-safe base64 without padding.
fn topic_id_from_text(text: &str) -> Option<TopicId> {
    let mut bits = 0u128;
    let mut spare_bits = 0u8;
    for (place, byte) in text.bytes().enumerate() {
        let value = base64_value(byte)?;
        // 21 characters carry six bits each; the last one carries two bits and four zeros.
        if place + 1 < TOPIC_ID_CHARS {
            bits = (bits << 6) | u128::from(value);
        } else {
            bits = (bits << 2) | u128::from(value >> 4);
            spare_bits = value & 0x0f;
        }
    }
    let is_canonical = text.len() == TOPIC_ID_CHARS && spare_bits == 0;
    is_canonical.then(|| TopicId::from_bytes(bits.to_be_bytes()))
}

fn base64_value(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'-' => Some(62),
        b'_' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::TopicId;

    #[test]
    fn a_folder_names_one_partition_and_back() {
        for seed in 0..=255u8 {
            let byte = |place: usize| seed.wrapping_mul(37).wrapping_add(u8::try_from(place).unwrap().wrapping_mul(91));
            let bytes: [u8; 16] = std::array::from_fn(byte);
            let partition = TopicPartition { topic_id: TopicId::from_bytes(bytes), partition: i32::from(seed) };
            assert_eq!(parse_folder_name(&folder_name(partition)), Some(partition));
        }
        let known = parse_folder_name("Ej5FZ-ibEtOkVkJmFBdAAA-7").unwrap();
        assert_eq!((known.topic_id.to_string().as_str(), known.partition), ("Ej5FZ-ibEtOkVkJmFBdAAA", 7));
    }

    #[test]
    fn other_names_are_not_partitions() {
        for name in [
            "",
            "quarantine",
            "lost+found",
            "Ej5FZ-ibEtOkVkJmFBdAAA",
            "Ej5FZ-ibEtOkVkJmFBdAAA-",
            "Ej5FZ-ibEtOkVkJmFBdAAA--1",
            "Ej5FZ-ibEtOkVkJmFBdAAA-01",
            "Ej5FZ-ibEtOkVkJmFBdAAA-+1",
            "Ej5FZ-ibEtOkVkJmFBdAAB-1",
            "Ej5FZ-ibEtOkVkJmFBdAAA-1-delete",
            "Ej5FZ+ibEtOkVkJmFBdAAA-1",
            "éééééééééééé-1",
        ] {
            assert_eq!(parse_folder_name(name), None, "{name}");
        }
    }

    #[test]
    fn a_segment_is_named_by_its_base_offset() {
        let path = file_path(Path::new("p"), Offset(1234), FileKind::Log);
        assert_eq!(path, Path::new("p/00000000000000001234.log"));
        assert_eq!(parse_file_name("00000000000000001234.log"), Some((Offset(1234), FileKind::Log)));
        assert_eq!(parse_file_name("00000000000000001234.index"), Some((Offset(1234), FileKind::Index)));
        for name in [
            "1234.log",
            "0000000000000000123x.log",
            "+0000000000000001234.log",
            "99999999999999999999.log",
            "00000000000000001234.txt",
        ] {
            assert_eq!(parse_file_name(name), None, "{name}");
        }
    }
}
