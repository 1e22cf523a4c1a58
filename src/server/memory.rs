//! Memory that all connections share: request frames on one side, fetched records on the other.
//!
//! A length in a request is only a claim, and a client may read its answers as slowly as it likes. So whoever holds
//! much memory for a client takes a [`Share`] of a fixed total first and waits if there is none; the total bounds what
//! all clients together can make the server hold.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A fixed amount of memory.
#[derive(Debug)]
pub(super) struct Memory {
    free: Arc<Semaphore>,
    total: u32,
}

/// A part of it, given back when dropped.
#[derive(Debug)]
pub(super) struct Share {
    permit: Option<OwnedSemaphorePermit>,
}

impl Memory {
    /// So many bytes; at most 4 GiB.
    pub(super) fn new(bytes: usize) -> Self {
        let total = u32::try_from(bytes).unwrap_or(u32::MAX);
        Self { free: Arc::new(Semaphore::new(usize::try_from(total).unwrap_or(Semaphore::MAX_PERMITS))), total }
    }

    /// A request for more than the total is one for the total: it is served when nobody else holds anything.
    fn at_most_all(&self, bytes: usize) -> u32 {
        u32::try_from(bytes).unwrap_or(u32::MAX).min(self.total)
    }

    /// Takes `bytes` if that much is free.
    pub(super) fn try_take(&self, bytes: usize) -> Option<Share> {
        let permit = Arc::clone(&self.free).try_acquire_many_owned(self.at_most_all(bytes)).ok()?;
        Some(Share { permit: Some(permit) })
    }

    /// Takes `bytes`, first come, first served. Who waits here must hold no share, or two could wait for each other.
    pub(super) async fn take(&self, bytes: usize) -> Share {
        // The semaphore is never closed, so this cannot fail.
        Share { permit: Arc::clone(&self.free).acquire_many_owned(self.at_most_all(bytes)).await.ok() }
    }

    /// Takes up to `wanted` bytes: half of what is free, but at least `least`, for which it waits.
    ///
    /// Taking half leaves something for the next one, so that a few slow clients cannot starve all others.
    pub(super) async fn take_up_to(&self, wanted: usize, least: usize) -> Share {
        let half = self.free.available_permits() / 2;
        self.take(wanted.min(half.max(least))).await
    }

    #[cfg(test)]
    pub(super) fn free_bytes(&self) -> usize {
        self.free.available_permits()
    }
}

impl Share {
    /// How much it is.
    pub(super) fn bytes(&self) -> usize {
        self.permit.as_ref().map_or(0, OwnedSemaphorePermit::num_permits)
    }

    /// Gives back what is above `bytes`.
    pub(super) fn shrink_to(&mut self, bytes: usize) {
        let excess = self.bytes().saturating_sub(bytes);
        if let Some(permit) = &mut self.permit {
            drop(permit.split(excess));
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn who_wants_more_than_is_free_waits_until_others_give_back() {
        let memory = Memory::new(100);
        let first = memory.try_take(60).unwrap();
        assert!(memory.try_take(60).is_none());
        let waiting = memory.take(60);
        tokio::pin!(waiting);
        assert!((&mut waiting).now_or_never().is_none());
        drop(first);
        assert_eq!(waiting.await.bytes(), 60);
        assert_eq!(memory.free_bytes(), 100);
    }

    #[tokio::test]
    async fn a_claim_above_the_total_gets_the_total() {
        let memory = Memory::new(100);
        assert_eq!(memory.take(usize::MAX).await.bytes(), 100);
    }

    #[tokio::test]
    async fn reading_takes_half_of_what_is_free_and_gives_back_what_it_did_not_need() {
        let memory = Memory::new(1000);
        let mut first = memory.take_up_to(900, 10).await;
        let second = memory.take_up_to(900, 10).await;
        assert_eq!((first.bytes(), second.bytes()), (500, 250));
        assert_eq!(memory.take_up_to(20, 10).await.bytes(), 20);
        first.shrink_to(1);
        assert_eq!(memory.free_bytes(), 749);
    }
}
