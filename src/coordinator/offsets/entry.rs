//! How large the journal entry of one request may get. Each record carries its group's id, so a long id and many
//! partitions make much of a small request.

use crate::coordinator::Record;

/// About how large an entry may get. Beyond it the request is refused with `UNKNOWN_SERVER_ERROR`, which is what Kafka
/// makes of a batch that is too large.
const ENTRY_BYTES_MAX: usize = 15 << 20;

/// Whether these records are too much for one entry.
pub(super) fn is_too_large(records: &[Record]) -> bool {
    records.iter().map(bytes).sum::<usize>() > ENTRY_BYTES_MAX
}

/// At most how much a record of an offset adds to the journal: names may double where their bytes are escaped.
fn bytes(record: &Record) -> usize {
    let Record::OffsetCommit { group, topic, value, .. } = record else { return 0 };
    2 * (group.len() + topic.len()) + value.as_ref().map_or(0, |value| value.metadata.len()) + 128
}
