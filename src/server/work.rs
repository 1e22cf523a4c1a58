//! A request being worked on, and what comes of it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::memory::Share;
use crate::protocol::Response;
use crate::runtime::{Pending, Reply, Unavailable};

/// What becomes of a request.
#[derive(Debug)]
pub(super) enum Answer {
    /// This is sent.
    Response(Response),
    /// This is sent; the memory it takes is given back once it has left.
    Large(Response, Share),
    /// The machine did not answer: the client gets an error code wherever the API has a place for one.
    Unavailable(Unavailable),
    /// Nothing is sent (Produce with acks 0).
    Silence,
    /// The connection is closed, which is how a client learns of it.
    Close(&'static str),
}

/// A request being worked on. Whatever order matters has been submitted to the machine when this exists.
pub(super) enum Work {
    /// Done already.
    Done(Answer),
    /// The machine's answer is the answer.
    Asked(Pending),
    /// A handler goes on, when it is this request's turn to be answered.
    Running(Pin<Box<dyn Future<Output = Answer> + Send>>),
    /// Taken.
    Taken,
}

impl Work {
    /// A handler that goes on.
    pub(super) fn running(work: impl Future<Output = Answer> + Send + 'static) -> Self {
        Self::Running(Box::pin(work))
    }

    /// An answer that is there at once.
    pub(super) fn answer(response: impl Into<Response>) -> Self {
        Self::Done(Answer::Response(response.into()))
    }

    /// The answer, if it is there. It comes once.
    pub(super) fn poll_answer(&mut self, context: &mut Context<'_>) -> Poll<Answer> {
        match self {
            Self::Asked(pending) => Pin::new(pending).poll(context).map(answer_of),
            Self::Running(work) => work.as_mut().poll(context),
            Self::Done(_) | Self::Taken => match std::mem::replace(self, Self::Taken) {
                Self::Done(answer) => Poll::Ready(answer),
                _ => Poll::Ready(Answer::Close("an answer was taken twice")),
            },
        }
    }
}

fn answer_of(outcome: Result<Reply, Unavailable>) -> Answer {
    match outcome {
        Ok(Reply::Response(response)) => Answer::Response(response),
        Ok(Reply::Heads(_)) => Answer::Unavailable(Unavailable::Panicked),
        Err(unavailable) => Answer::Unavailable(unavailable),
    }
}
