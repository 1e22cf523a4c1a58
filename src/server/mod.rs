//! The Kafka side: connections in, answers out.
//!
//! A connection reads frames, sends each request to its handler ([`dispatch`]) and writes the answers in order. What
//! a request changes or asks of groups, topics and partitions goes to the machine ([`crate::runtime`]), which answers
//! once everything is durable; records are read from the logs and the catalogue's image without it.

mod answering;
mod blocking;
mod connection;
mod context;
mod dispatch;
mod frames;
mod handlers;
pub(crate) mod http;
mod limits;
mod listener;
mod memory;
#[cfg(test)]
mod testing;
mod work;

use std::sync::Arc;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::metrics::Metrics;
use crate::protocol::StrBytes;
use crate::runtime::Handle;
use blocking::ReadPool;
use handlers::fetch::Sessions;
use handlers::produce::RulesCache;
use memory::Memory;

/// What all request frames may take together (Kafka's `queued.max.request.bytes`, which has no limit there).
const REQUEST_MEMORY_BYTES: usize = 256 * 1024 * 1024;
/// What all fetched records on their way to clients may take together.
const FETCH_MEMORY_BYTES: usize = 128 * 1024 * 1024;

/// Where clients are told to connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) host: StrBytes,
    pub(crate) port: u16,
}

/// What a server needs.
pub(crate) struct Options {
    /// The machine.
    pub(crate) handle: Handle,
    /// Where clients are told to connect.
    pub(crate) advertised: Endpoint,
    /// What is counted.
    pub(crate) metrics: Arc<Metrics>,
    /// For ids of fetch sessions: must differ from start to start, so that no id of an earlier life is taken for one
    /// of this life.
    pub(crate) seed: u64,
}

/// What all connections share.
struct Shared {
    handle: Handle,
    advertised: Endpoint,
    metrics: Arc<Metrics>,
    request_memory: Memory,
    fetch_memory: Memory,
    fetch_sessions: Sessions,
    produce_rules: RulesCache,
    read_pool: ReadPool,
}

impl Shared {
    fn new(options: Options) -> Self {
        let config = options.handle.config();
        let session_slots = usize::try_from(config.max_incremental_fetch_session_cache_slots).unwrap_or(0);
        Self {
            request_memory: Memory::new(REQUEST_MEMORY_BYTES),
            fetch_memory: Memory::new(FETCH_MEMORY_BYTES),
            fetch_sessions: Sessions::new(session_slots, options.seed),
            produce_rules: RulesCache::default(),
            read_pool: ReadPool::new(),
            handle: options.handle,
            advertised: options.advertised,
            metrics: options.metrics,
        }
    }
}

/// Serves Kafka clients on `listener` until `stop` is cancelled. Requests under way then get a few seconds. When this
/// returns, no connection is left.
pub(crate) async fn serve(listener: TcpListener, options: Options, stop: CancellationToken) {
    listener::serve(listener, Arc::new(Shared::new(options)), stop).await;
}
