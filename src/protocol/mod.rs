//! The Kafka wire protocol: the only room that names the message crate.
//!
//! [`apis`] is the table of what is served; [`messages`] has the version-less message structs that handlers and cores
//! work with; [`batch`] reads and writes record batches. Nothing here knows a socket.

pub mod apis;
pub mod batch;
pub mod errors;
pub mod messages;
#[cfg(test)]
pub(crate) mod samples;

pub use apis::{ApiKey, Request, Response, WireError};
pub use kafka_wire_core::StrBytes;

/// Builds a message from its named fields and defaults; the message structs cannot be written as literals.
///
/// ```
/// use streamkeeper::protocol::{message, messages::OffsetDeleteResponse};
/// let answer = message!(OffsetDeleteResponse { error_code: 69 });
/// assert_eq!(answer.error_code, 69);
/// ```
#[macro_export]
macro_rules! message {
    ($type:ty { $($field:ident: $value:expr),* $(,)? }) => {{
        #[allow(unused_mut, reason = "a message may be all defaults")]
        let mut message = <$type>::default();
        $(message.$field = $value;)*
        message
    }};
}
pub use message;

use crate::types::TopicId;

/// A topic id as the wire has it.
#[must_use]
pub fn wire_uuid(id: TopicId) -> kafka_wire_core::Uuid {
    kafka_wire_core::Uuid::from_bytes(id.to_bytes())
}

/// A topic id from the wire.
#[must_use]
pub fn topic_id(uuid: kafka_wire_core::Uuid) -> TopicId {
    TopicId::from_bytes(uuid.to_bytes())
}
