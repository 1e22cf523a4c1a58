//! Memory for the frames of one connection, from their first bytes until their requests are answered.
//!
//! Small frames are free up to a few KiB per connection. A larger one takes a share of the memory for frames as its
//! bytes arrive, not for what its length claims; and once it is whole, a share of the memory for what it decodes to.
//! Who waits for the second holds the first, never the other way round, so nobody waits in a circle; and a frame that
//! makes no progress is given up, so nobody waits for ever.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Shared;
use super::dispatch;
use super::frames::Declared;
use super::memory::{Memory, Share};

/// So many bytes of frames a connection may hold without asking.
const FREE_BYTES: usize = 16 * 1024;
/// A large frame takes its share in steps: this, and then as much again as has arrived.
const STEP_BYTES: usize = 64 * 1024;
/// A large frame must bring so many bytes, or its rest, in each such time.
const PROGRESS_BYTES: usize = 512 * 1024;
const PROGRESS_TIME: Duration = Duration::from_secs(30);

/// The frames of one connection.
#[derive(Debug, Default)]
pub(super) struct Admission {
    /// Of the frames in flight that took no share.
    free_bytes_used: usize,
    /// Of the frame that is arriving.
    arriving: Option<Share>,
    decoding: Option<Share>,
    progress: Option<Progress>,
}

/// What a request in flight holds.
#[derive(Debug)]
pub(super) enum Held {
    Free(usize),
    Shares(#[allow(dead_code, reason = "held, not read")] Option<Share>, #[allow(dead_code, reason = "as well")] Share),
}

/// How a large frame comes along.
#[derive(Debug)]
struct Progress {
    checked: Instant,
    buffered: usize,
}

/// Whether a frame may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admitted {
    /// More of it may be read, or if it is whole, it may be decoded.
    Yes,
    /// The requests in flight must be answered first: they hold what is missing.
    NotNow,
    /// The server is stopping.
    Stopping,
    /// There was no memory for it in time.
    TooLate,
}

impl Admission {
    /// Takes what the next frame needs for its next step; `buffered` bytes of it have arrived. Waits if `may_wait`.
    pub(super) async fn admit(
        &mut self,
        shared: &Shared,
        next: &Declared,
        buffered: usize,
        may_wait: bool,
        stop: &CancellationToken,
    ) -> Admitted {
        if self.is_free(next) {
            return Admitted::Yes;
        }
        let deadline = self.note_progress(buffered);
        let is_whole = buffered >= next.len;
        let target = if is_whole { next.len } else { next.len.min(STEP_BYTES.max(buffered.saturating_mul(2))) };
        let lacking = target.saturating_sub(self.arriving.as_ref().map_or(0, Share::bytes));
        if lacking > 0 {
            match take(&shared.frame_memory, lacking, may_wait, stop, Some(deadline)).await {
                Ok(share) => match &mut self.arriving {
                    Some(arriving) => arriving.merge(share),
                    None => self.arriving = Some(share),
                },
                Err(refused) => return refused,
            }
        }
        if is_whole && self.decoding.is_none() {
            match take(&shared.decode_memory, dispatch::decoded_bytes(next), may_wait, stop, None).await {
                Ok(share) => self.decoding = Some(share),
                Err(refused) => return refused,
            }
        }
        Admitted::Yes
    }

    fn is_free(&self, next: &Declared) -> bool {
        self.free_bytes_used.saturating_add(next.len) <= FREE_BYTES && self.arriving.is_none()
    }

    /// The frame is whole and goes into flight with what it holds.
    pub(super) fn take_off(&mut self, frame_bytes: usize) -> Held {
        self.progress = None;
        let (arriving, decoding) = (self.arriving.take(), self.decoding.take());
        if let Some(decoding) = decoding {
            return Held::Shares(arriving, decoding);
        }
        self.free_bytes_used = self.free_bytes_used.saturating_add(frame_bytes);
        Held::Free(frame_bytes)
    }

    /// A request is answered.
    pub(super) fn land(&mut self, held: &Held) {
        if let Held::Free(bytes) = held {
            self.free_bytes_used = self.free_bytes_used.saturating_sub(*bytes);
        }
    }

    /// When the frame that is arriving must have come along, if it is a large one.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.progress.as_ref().map(|progress| progress.checked + PROGRESS_TIME)
    }

    /// Whether a large frame has come along well enough since the last look; then it gets time anew.
    pub(super) fn has_come_along(&mut self, buffered: usize) -> bool {
        let is_well = |progress: &Progress| buffered >= progress.buffered.saturating_add(PROGRESS_BYTES);
        let is_well = self.progress.as_ref().is_none_or(is_well);
        if is_well {
            self.progress = None;
            self.note_progress(buffered);
        }
        is_well
    }

    fn note_progress(&mut self, buffered: usize) -> Instant {
        let progress = self.progress.get_or_insert_with(|| Progress { checked: Instant::now(), buffered });
        progress.checked + PROGRESS_TIME
    }
}

async fn take(
    memory: &Memory,
    bytes: usize,
    may_wait: bool,
    stop: &CancellationToken,
    deadline: Option<Instant>,
) -> Result<Share, Admitted> {
    if let Some(share) = memory.try_take(bytes) {
        return Ok(share);
    }
    if !may_wait {
        return Err(Admitted::NotNow);
    }
    let too_late = async {
        match deadline {
            Some(deadline) => tokio::time::sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        share = memory.take(bytes) => Ok(share),
        () = stop.cancelled() => Err(Admitted::Stopping),
        () = too_late => Err(Admitted::TooLate),
    }
}
