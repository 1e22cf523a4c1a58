//! The version-less message structs, under their names in Kafka's schemas.
//!
//! Inner structs live in a module per message, such as [`fetch_response`]. Build them with [`crate::protocol::message!`].

mod described_streams_group;

pub use described_streams_group::{DescribedStreamsGroup, StreamsGroupDescribeResponse};
pub use kafka_wire::*;
