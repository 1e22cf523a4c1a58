//! The state store: the last value of each key as of a checkpoint.

use bytes::Bytes;

use crate::types::Lsn;

/// One change of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// The key has this value.
    Put { key: Bytes, value: Bytes },
    /// The key is gone.
    Delete { key: Bytes },
    /// All keys with this prefix are gone. Comes before any put under the prefix.
    DeletePrefix { prefix: Bytes },
}
