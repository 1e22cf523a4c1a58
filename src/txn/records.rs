//! The records of producer ids. The value structs are written to disk: a released one is never edited.

use serde::{Deserialize, Serialize};

use crate::types::ProducerId;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// Ids below a bound may have been given out; after a restart the next one is the bound.
    ProducerIds { value: ProducerIdsValue },
}

/// The bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProducerIdsValue {
    pub(crate) reserved_below: ProducerId,
}
