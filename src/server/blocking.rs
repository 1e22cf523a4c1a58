//! Work that would keep a worker thread of the async runtime from its other connections.

use std::sync::Arc;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;

/// How many reads of files may be under way at once.
const READS_MAX: usize = 8;

/// A small pool for reads that may wait for the disk.
#[derive(Debug)]
pub(super) struct ReadPool {
    free: Arc<Semaphore>,
}

impl ReadPool {
    pub(super) fn new() -> Self {
        Self { free: Arc::new(Semaphore::new(READS_MAX)) }
    }

    /// Runs `work` on a thread where it may block. `None` if it panicked or the runtime is ending.
    pub(super) async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let permit = Arc::clone(&self.free).acquire_owned().await.ok()?;
        let reading = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(permit);
            done
        });
        reading.await.ok()
    }
}

/// Runs `work` here and now. If it `is_long` and the async runtime has other threads, they take over what else this
/// one had to do.
pub(super) fn in_place<T>(is_long: bool, work: impl FnOnce() -> T) -> T {
    if is_long && Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread) {
        tokio::task::block_in_place(work)
    } else {
        work()
    }
}
