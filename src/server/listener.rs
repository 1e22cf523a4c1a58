//! Accepts connections, counts them, and ends them when the server stops.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::Shared;
use super::connection::Connection;
use super::limits::{ConnectionCounts, Seat};

/// How long requests that are under way may still take when the server stops.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);
/// After a failed accept (no file descriptors left, most likely) others get this long to close theirs.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves connections until `stop`, then lets requests under way finish for a bounded time. Returns when no connection
/// is left.
pub(super) async fn serve(listener: TcpListener, shared: Arc<Shared>, stop: CancellationToken) {
    let counts = Arc::new(ConnectionCounts::default());
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = accept(&listener, &counts, &shared) => {
                if let Some((stream, ip)) = accepted
                    && let Some(seat) = enter(&counts, &shared, ip)
                {
                    connections.spawn(connect(stream, ip, seat, Arc::clone(&shared), stop.child_token()));
                }
            }
            Some(_) = connections.join_next() => {}
            () = stop.cancelled() => break,
        }
    }
    drop(listener);
    let all_ended = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(DRAIN_TIMEOUT, all_ended).await.is_err() {
        tracing::warn!(open = connections.len(), "connections are closed though requests are under way");
        connections.shutdown().await;
    }
}

async fn accept(listener: &TcpListener, counts: &ConnectionCounts, shared: &Shared) -> Option<(TcpStream, IpAddr)> {
    counts.wait_below(limit(shared.handle.config().max_connections)).await;
    match listener.accept().await {
        Ok((stream, peer)) => Some((stream, peer.ip().to_canonical())),
        Err(error) => {
            tracing::warn!(%error, "a connection could not be accepted");
            tokio::time::sleep(ACCEPT_PAUSE).await;
            None
        }
    }
}

fn enter(counts: &Arc<ConnectionCounts>, shared: &Shared, ip: IpAddr) -> Option<Seat> {
    let seat = counts.enter(ip, limit(shared.handle.config().max_connections_per_ip));
    if seat.is_none() {
        shared.metrics.requests.refused();
        tracing::debug!(%ip, "too many connections from this address");
    }
    seat
}

fn limit(config: i32) -> usize {
    usize::try_from(config).unwrap_or(0)
}

async fn connect(stream: TcpStream, ip: IpAddr, seat: Seat, shared: Arc<Shared>, stop: CancellationToken) {
    // Without it each answer may wait for the acknowledgement of the one before; failing to set it only costs time.
    let _ = stream.set_nodelay(true);
    let counted = Counted::new(Arc::clone(&shared));
    let client_host: Arc<str> = format!("/{ip}").into();
    let end = Connection::new(stream, shared, client_host, stop).run().await;
    tracing::debug!(%ip, %end, "connection ended");
    drop((seat, counted));
}

/// Counts an open connection in the metrics, also if its task panics or is aborted.
struct Counted(Arc<Shared>);

impl Counted {
    fn new(shared: Arc<Shared>) -> Self {
        shared.metrics.requests.connected();
        Self(shared)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.metrics.requests.disconnected();
    }
}

#[cfg(test)]
mod tests;
