//! Settings under Kafka's names, from one table each for the broker, topics and groups.
//!
//! A row of a table is a key: name, type, default, bounds, whether it can change while the server runs, and what it
//! does. Parsing, DescribeConfigs, (Incremental)AlterConfigs and `--help` all read the same rows; no key is read
//! anywhere else. Kafka's keys that have no effect on one node are known too (`known.rs`).

mod broker;
mod check;
mod group;
mod key;
mod known;
mod listeners;
mod properties;
mod sources;
mod table;
mod topic;

pub use broker::{BROKER_KEYS, Config};
pub use group::{GROUP_KEYS, GroupConfig};
pub use key::{Bounds, ConfigError, Key, Kind};
pub use known::KNOWN_WITHOUT_EFFECT;
pub use listeners::{Address, parse_address};
pub use properties::{Setting, nearest, parse_properties};
pub use sources::Warning;
pub use topic::{TOPIC_KEYS, TopicConfig};

pub(crate) use key::list_elements;
