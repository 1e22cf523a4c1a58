//! Record batches, format v2: what Produce carries, segments store and Fetch gives back.
//!
//! Answers to Kafka's `DefaultRecordBatch`, `DefaultRecord` and `LogValidator`. Nothing here trusts a number that came
//! with the bytes: counts only end loops early, lengths are checked against what is left, and decompression streams
//! under a cap.
//!
//! - [`BatchHeader`] reads the fixed 61 bytes and checks the CRC; [`set_base_offset`] and its like patch a batch in place.
//! - [`records`] with [`RecordIter`] gives the records of a batch; [`RecordShapes`] walks them without holding any.
//! - [`validate()`] is what a client's batch must pass before it is appended.
//! - [`BatchBuilder`] writes batches.

mod builder;
mod compression;
mod error;
mod header;
mod iter;
mod lz4;
mod record;
mod snappy;
mod validate;
mod varint;

#[cfg(test)]
mod golden_tests;
#[cfg(test)]
mod hostile_tests;

pub use builder::{BatchBuilder, NewRecord};
pub use compression::Compression;
pub use error::BatchError;
pub use header::{
    Attributes, BatchHeader, BatchMeta, TimestampType, add_to_sequence, set_base_offset, set_leader_epoch,
    set_max_timestamp,
};
pub use iter::{RecordIter, RecordShape, RecordShapes, records};
pub use record::{Headers, Record};
pub use validate::{Invalid, RecordError, Rules, Validated, decompressed_bytes_max, validate};
