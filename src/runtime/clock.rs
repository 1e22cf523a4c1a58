//! Where time comes from: the system, or a test that moves it by hand.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::watch;

use crate::types::TimestampMs;

/// A clock. Clones show the same time.
#[derive(Clone, Debug)]
pub struct Clock(Kind);

#[derive(Clone, Debug)]
enum Kind {
    System(SystemClock),
    Manual(Arc<watch::Sender<TimestampMs>>),
}

/// The system's time at the start, moved on by the monotonic clock: a step of the system time never ends a session.
#[derive(Clone, Copy, Debug)]
struct SystemClock {
    started_at: TimestampMs,
    started: Instant,
}

impl Clock {
    /// The clock of this machine.
    #[must_use]
    #[allow(clippy::disallowed_methods, reason = "this is the one place where time is read")]
    pub fn system() -> Self {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(Kind::System(SystemClock { started_at: TimestampMs(millis(since_epoch)), started: Instant::now() }))
    }

    /// A clock that stands at `start` until it is moved.
    #[must_use]
    pub fn manual(start: TimestampMs) -> Self {
        Self(Kind::Manual(Arc::new(watch::channel(start).0)))
    }

    /// Now.
    #[must_use]
    pub fn now(&self) -> TimestampMs {
        match &self.0 {
            Kind::System(clock) => clock.started_at.plus_ms(millis(clock.started.elapsed())),
            Kind::Manual(now) => *now.borrow(),
        }
    }

    /// Moves a manual clock. A system clock cannot be moved: nothing happens.
    pub fn advance(&self, by: Duration) {
        if let Kind::Manual(now) = &self.0 {
            now.send_modify(|now| *now = now.plus_ms(millis(by)));
        }
    }

    /// Returns once it is `deadline` or later.
    pub async fn sleep_until(&self, deadline: TimestampMs) {
        match &self.0 {
            Kind::System(_) => {
                let left = deadline.0.saturating_sub(self.now().0);
                tokio::time::sleep(Duration::from_millis(u64::try_from(left).unwrap_or(0))).await;
            }
            Kind::Manual(now) => {
                // The sender lives as long as this clock, so waiting cannot fail.
                let _ = now.subscribe().wait_for(|now| *now >= deadline).await;
            }
        }
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_manual_clock_wakes_its_sleepers_when_moved() {
        let clock = Clock::manual(TimestampMs(1_000));
        let sleeper = tokio::spawn({
            let clock = clock.clone();
            async move { clock.sleep_until(TimestampMs(46_000)).await }
        });
        clock.advance(Duration::from_secs(44));
        assert_eq!(clock.now(), TimestampMs(45_000));
        clock.advance(Duration::from_secs(1));
        sleeper.await.expect("the sleeper ends");
    }
}
