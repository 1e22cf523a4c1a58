//! How many connections there may be, in all and of one address (`max.connections`, `max.connections.per.ip`).

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Counts the open connections.
#[derive(Debug, Default)]
pub(super) struct ConnectionCounts {
    open: Mutex<Open>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Open {
    total: usize,
    by_ip: BTreeMap<IpAddr, usize>,
}

/// One open connection; counted until dropped.
#[derive(Debug)]
pub(super) struct Seat {
    counts: Arc<ConnectionCounts>,
    ip: IpAddr,
}

impl ConnectionCounts {
    /// Waits while `max` or more connections are open. As in Kafka, further ones wait in the listen queue.
    pub(super) async fn wait_below(&self, max: usize) {
        loop {
            let freed = self.freed.notified();
            if self.lock().total < max.max(1) {
                return;
            }
            freed.await;
        }
    }

    /// Counts a connection, unless its address has `per_ip_max` or more already.
    pub(super) fn enter(self: &Arc<Self>, ip: IpAddr, per_ip_max: usize) -> Option<Seat> {
        let mut open = self.lock();
        let of_ip = open.by_ip.get(&ip).copied().unwrap_or(0);
        if of_ip >= per_ip_max {
            return None;
        }
        open.by_ip.insert(ip, of_ip + 1);
        open.total += 1;
        Some(Seat { counts: Arc::clone(self), ip })
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        // Each critical section leaves the counts whole, even if it panicked.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut open = self.counts.lock();
        open.total = open.total.saturating_sub(1);
        let of_ip = open.by_ip.get(&self.ip).copied().unwrap_or(0);
        if of_ip > 1 {
            open.by_ip.insert(self.ip, of_ip - 1);
        } else {
            open.by_ip.remove(&self.ip);
        }
        drop(open);
        self.counts.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_freed_seat_lets_the_next_one_in() {
        let counts = Arc::new(ConnectionCounts::default());
        let (home, other) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([127, 0, 0, 2]));
        let first = counts.enter(home, 1).unwrap();
        assert!(counts.enter(home, 1).is_none(), "one address has its limit");
        let second = counts.enter(other, 1).unwrap();

        let waiting = counts.wait_below(2);
        tokio::pin!(waiting);
        assert!((&mut waiting).now_or_never().is_none(), "all together have theirs");
        drop(first);
        waiting.await;
        assert!(counts.enter(home, 1).is_some());
        drop(second);
        assert!(counts.lock().by_ip.is_empty());
    }
}
