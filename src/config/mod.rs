//! Settings under Kafka's names, from one table each for the broker, topics and groups.
//!
//! A row of a table is a key: name, type, default, bounds, whether it can change while the server runs, and what it
//! does. Parsing, DescribeConfigs, (Incremental)AlterConfigs and `--help` all read the same rows; no key is read
//! anywhere else.

mod broker;
mod group;
mod key;
mod properties;
mod topic;

pub use broker::{BROKER_KEYS, Config};
pub use group::{GROUP_KEYS, GroupConfig};
pub use key::{Bounds, ConfigError, Key, Kind};
pub use properties::{nearest, parse_properties};
pub use topic::{TOPIC_KEYS, TopicConfig};
