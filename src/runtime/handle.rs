//! What the server and the library hold of a running machine: a way to ask, and what is durable to look at.
//!
//! A request takes a [`Slot`] first, which waits while too many requests are queued, and then submits without waiting.
//! So the order of submissions is the order in which a connection makes its calls.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::sync::{mpsc, oneshot, watch};

use super::{Clock, Input, Reply, Status};
use crate::config::Config;
use crate::log::Logs;
use crate::machine::ReplyTo;
use crate::types::{ErrorCode, Image, TimestampMs};

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unavailable {
    /// The server is stopping, or the asker's group was rebuilt: look for the coordinator again.
    #[error("the server is stopping")]
    Stopping,
    /// A write failed; the server is about to end.
    #[error("a write to the data directory failed")]
    Failed,
    /// A fault of ours.
    #[error("an internal fault; the log has it")]
    Panicked,
}

impl Unavailable {
    /// The code a client gets; data requests have a code of their own for a failed disk.
    pub(crate) fn error_code(self, is_data_request: bool) -> ErrorCode {
        match self {
            Self::Stopping if is_data_request => ErrorCode::NotLeaderOrFollower,
            Self::Stopping => ErrorCode::NotCoordinator,
            Self::Failed if is_data_request => ErrorCode::KafkaStorageError,
            Self::Failed => ErrorCode::CoordinatorNotAvailable,
            Self::Panicked => ErrorCode::UnknownServerError,
        }
    }
}

/// What an asker gets.
pub(crate) type Outcome = Result<Reply, Unavailable>;

/// One input with its asker.
pub(super) struct Submission {
    pub(super) input: Input,
    pub(super) asker: Option<(ReplyTo, oneshot::Sender<Outcome>)>,
}

/// Access to the running machine. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Handle {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub(super) inbox: mpsc::Sender<Vec<Submission>>,
    pub(super) next_reply: AtomicU64,
    pub(super) image: watch::Receiver<Arc<Image>>,
    pub(super) status: watch::Receiver<Status>,
    pub(super) config: Arc<Config>,
    pub(super) logs: Arc<Logs>,
    pub(super) clock: Clock,
}

impl Handle {
    /// Waits until there is room for one more request.
    ///
    /// # Errors
    /// [`Unavailable`] if the machine has ended.
    pub(crate) async fn reserve(&self) -> Result<Slot, Unavailable> {
        match self.shared.inbox.clone().reserve_owned().await {
            Ok(permit) => Ok(Slot { permit, shared: Arc::clone(&self.shared) }),
            Err(_) => Err(self.why_ended()),
        }
    }

    /// The catalogue, as far as it is durable.
    pub(crate) fn image(&self) -> Arc<Image> {
        Arc::clone(&self.shared.image.borrow())
    }

    /// The settings.
    pub(crate) fn config(&self) -> &Arc<Config> {
        &self.shared.config
    }

    /// The partition logs, for readers.
    pub(crate) fn logs(&self) -> &Arc<Logs> {
        &self.shared.logs
    }

    /// Now.
    pub(crate) fn now(&self) -> TimestampMs {
        self.shared.clock.now()
    }

    /// Returns once it is `deadline` or later by the machine's clock.
    pub(crate) async fn sleep_until(&self, deadline: TimestampMs) {
        self.shared.clock.sleep_until(deadline).await;
    }

    /// How the machine is.
    pub(crate) fn status(&self) -> watch::Receiver<Status> {
        self.shared.status.clone()
    }

    fn why_ended(&self) -> Unavailable {
        match *self.shared.status.borrow() {
            Status::Failed(_) => Unavailable::Failed,
            Status::Serving | Status::Stopped => Unavailable::Stopping,
        }
    }
}

/// Room for one request in the queue.
pub(crate) struct Slot {
    permit: mpsc::OwnedPermit<Vec<Submission>>,
    shared: Arc<Shared>,
}

impl Slot {
    /// Submits one input, now.
    pub(crate) fn ask(self, make: impl FnOnce(ReplyTo) -> Input) -> Pending {
        let (submission, pending) = self.shared.submission(make);
        self.permit.send(vec![submission]);
        pending
    }

    /// Submits several inputs of one request, now and in order. Other requests do not come between them.
    pub(crate) fn ask_all<F: FnOnce(ReplyTo) -> Input>(self, makers: impl IntoIterator<Item = F>) -> Vec<Pending> {
        let (submissions, pending) = makers.into_iter().map(|make| self.shared.submission(make)).unzip();
        self.permit.send(submissions);
        pending
    }

    /// Submits an input that nobody waits for.
    pub(crate) fn tell(self, input: Input) {
        self.permit.send(vec![Submission { input, asker: None }]);
    }
}

impl Shared {
    fn submission(self: &Arc<Self>, make: impl FnOnce(ReplyTo) -> Input) -> (Submission, Pending) {
        let to = ReplyTo(self.next_reply.fetch_add(1, Ordering::Relaxed));
        let (sender, receiver) = oneshot::channel();
        let pending = Pending { receiver, shared: Arc::clone(self) };
        (Submission { input: make(to), asker: Some((to, sender)) }, pending)
    }
}

/// An answer to come. It comes when everything it rests on is durable.
pub(crate) struct Pending {
    receiver: oneshot::Receiver<Outcome>,
    shared: Arc<Shared>,
}

impl Future for Pending {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        Pin::new(&mut self.receiver).poll(context).map(|received| {
            // Dropped without an answer: the machine ended, or the asker's soft state was rebuilt.
            received.unwrap_or_else(|_| Err(Handle { shared: Arc::clone(&self.shared) }.why_ended()))
        })
    }
}
