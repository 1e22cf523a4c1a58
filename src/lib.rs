//! Streamkeeper: a durable single-node Kafka group coordinator and broker for Kafka Streams.
#![allow(dead_code, unused_imports, reason = "rooms are being furnished")]
pub mod cli;
pub mod client;
pub mod config;
pub mod protocol;
pub mod types;

mod catalog;
mod coordinator;
mod disk;
mod embed;
mod heads;
mod journal;
mod log;
mod machine;
mod metrics;
mod runtime;
mod server;
mod store;
mod txn;

pub use config::Config;
pub use embed::{Coordinator, CoordinatorError, Server, ServerBuilder, ServerFailed, StartError};
pub use runtime::{Clock, Loaded, OpenError};
