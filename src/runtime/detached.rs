//! A handle without a machine behind it: tests of the server play the machine and see each input in its order.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tokio::sync::{mpsc, watch};

use super::handle::{Shared, Submission};
use super::{Clock, Handle, Input, Reply, Status, Unavailable};
use crate::config::Config;
use crate::log::Logs;
use crate::types::Image;

/// The machine's end of a handle.
pub(crate) struct Inbox {
    queue: mpsc::Receiver<Vec<Submission>>,
    image: watch::Sender<Arc<Image>>,
    _status: watch::Sender<Status>,
}

/// An input that waits for its answer.
pub(crate) struct Question(Submission);

/// Makes a handle. `queued_max` requests fit into its queue.
pub(crate) fn handle(
    config: Config,
    image: Image,
    logs: Arc<Logs>,
    clock: Clock,
    queued_max: usize,
) -> (Handle, Inbox) {
    let (inbox, queue) = mpsc::channel(queued_max);
    let (image, image_seen) = watch::channel(Arc::new(image));
    let (status, status_seen) = watch::channel(Status::Serving);
    let shared = Shared {
        inbox,
        next_reply: AtomicU64::new(1),
        image: image_seen,
        status: status_seen,
        config: Arc::new(config),
        logs,
        clock,
    };
    (Handle { shared: Arc::new(shared) }, Inbox { queue, image, _status: status })
}

impl Inbox {
    /// Waits for the next submission: one input, or several that came together.
    pub(crate) async fn next(&mut self) -> Vec<Question> {
        self.queue.recv().await.unwrap_or_default().into_iter().map(Question).collect()
    }

    /// What has been submitted and not been taken yet.
    pub(crate) fn waiting(&mut self) -> Vec<Question> {
        std::iter::from_fn(|| self.queue.try_recv().ok()).flatten().map(Question).collect()
    }

    /// Publishes a catalogue.
    pub(crate) fn publish(&self, image: Image) {
        self.image.send_replace(Arc::new(image));
    }
}

impl Question {
    /// What is asked.
    pub(crate) fn input(&self) -> &Input {
        &self.0.input
    }

    /// Takes the question apart.
    pub(crate) fn into_parts(self) -> (Input, Answer) {
        (self.0.input, Answer(self.0.asker.map(|(_, sender)| sender)))
    }

    /// Answers it.
    pub(crate) fn answer(self, outcome: Result<Reply, Unavailable>) {
        self.into_parts().1.send(outcome);
    }
}

/// The way back to an asker.
pub(crate) struct Answer(Option<tokio::sync::oneshot::Sender<super::handle::Outcome>>);

impl Answer {
    /// Sends the answer. If the asker is gone, nothing happens.
    pub(crate) fn send(self, outcome: Result<Reply, Unavailable>) {
        if let Some(sender) = self.0 {
            let _ = sender.send(outcome);
        }
    }
}
