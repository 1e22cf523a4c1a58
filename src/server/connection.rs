//! One connection: requests are dispatched in the order they came, may finish in any order, and are answered in order.
//!
//! Kafka's `SocketServer` and `Processor` take one request of a connection at a time. Here up to [`IN_FLIGHT_MAX`] are
//! under way, which a client cannot tell apart: the answers come in the same order, and **whatever order matters for
//! is submitted to the machine before the next request is looked at**. That is so because a request that goes to the
//! machine first gets a slot in its queue, and [`dispatch::submit`] uses the slot before it returns. What a handler
//! does later, it does when the request is the oldest one: only the oldest is polled.
//!
//! What a client can make the server hold: frames as far as they are admitted ([`Admission`]); answers up to
//! [`OUTPUT_BYTES`] and one more; a large answer (Fetch) is made only when it is the only request under way. Who does
//! not read, or does not send the rest of a large frame, is closed.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::io::IoSlice;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, Sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::admission::{Admission, Admitted, Held};
use super::context::Context;
use super::dispatch;
use super::frames::{Declared, FrameError, Frames};
use super::handlers::api_versions;
use super::memory::Share;
use super::work::{Answer, Work};
use super::{Shared, answering};
use crate::metrics::{RequestMetrics, RequestTimer};
use crate::protocol::apis::Header;
use crate::protocol::{ApiKey, Response, Segments, WireError};

/// How many requests of one connection may be under way.
const IN_FLIGHT_MAX: usize = 32;
/// Answers are written once there are so many bytes of them, and in any case when no further one is ready.
const OUTPUT_BYTES: usize = 64 * 1024;
/// So many segments are written with one call.
const SLICES_MAX: usize = 32;
/// A larger buffer is given back after its answers are written.
const OUTPUT_KEPT_BYTES: usize = 64 * 1024;
/// How long a client may take to read answers: this, and the time at [`BYTES_PER_SECOND_MIN`].
const TRANSFER_GRACE: Duration = Duration::from_secs(30);
const BYTES_PER_SECOND_MIN: usize = 128 * 1024;
/// A timer that waits for nothing is set this far ahead.
const FAR: Duration = Duration::from_hours(365 * 24);

/// Why a connection ended.
#[derive(Debug, thiserror::Error)]
pub(super) enum End {
    #[error("the client closed it")]
    Closed,
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("{0}")]
    Frame(#[from] FrameError),
    #[error("{0}")]
    Wire(#[from] WireError),
    #[error("nothing happened for too long")]
    Idle,
    #[error("a frame did not arrive in time")]
    HalfFrame,
    #[error("the client does not read its answers")]
    NotReading,
    #[error("{0}")]
    Refused(&'static str),
    #[error("the server is stopping")]
    Stopping,
}

/// A request under way.
struct InFlight {
    api: ApiKey,
    version: i16,
    correlation_id: i32,
    /// Read again only if the machine gives no answer.
    body: Bytes,
    /// What the frame takes of memory.
    held: Held,
    timer: RequestTimer,
    work: Work,
}

/// What a connection waits for.
enum Event {
    Arrived(usize),
    Answered,
    Stop,
    End(End),
}

/// One connection.
pub(super) struct Connection<S> {
    stream: S,
    context: Context,
    frames: Frames,
    in_flight: VecDeque<InFlight>,
    admission: Admission,
    /// A frame waits for earlier requests: nothing more is read.
    is_blocked: bool,
    is_stopping: bool,
    /// How it will end once what is in flight is answered.
    ending: Option<End>,
    output: Segments,
    output_memory: Vec<Share>,
    idle: Option<Duration>,
    last_activity: Instant,
    timer: Pin<Box<Sleep>>,
    stop: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// A connection from `client_host`, which is `/` and the address. `stop` should be this connection's own token.
    pub(super) fn new(stream: S, shared: Arc<Shared>, client_host: Arc<str>, stop: CancellationToken) -> Self {
        let config = shared.handle.config();
        let frame_bytes_max = usize::try_from(config.socket_request_max_bytes).unwrap_or(0);
        let idle = u64::try_from(config.connections_max_idle_ms).ok().map(Duration::from_millis);
        let context = Context { shared, version: 0, client_id: "".into(), client_host, stop: stop.clone() };
        Self {
            stream,
            context,
            frames: Frames::new(frame_bytes_max),
            in_flight: VecDeque::new(),
            admission: Admission::default(),
            is_blocked: false,
            is_stopping: false,
            ending: None,
            output: Segments::default(),
            output_memory: Vec::new(),
            idle,
            last_activity: Instant::now(),
            timer: Box::pin(tokio::time::sleep(FAR)),
            stop: Box::pin(stop.cancelled_owned()),
        }
    }

    /// Serves the connection until it ends.
    pub(super) async fn run(mut self) -> End {
        loop {
            self.dispatch().await;
            if self.is_stopping && self.in_flight.is_empty() {
                return End::Stopping;
            }
            match poll_fn(|context| self.poll_event(context)).await {
                Event::Arrived(bytes) => {
                    self.context.shared.metrics.requests.received(bytes);
                    self.last_activity = Instant::now();
                }
                Event::Answered => {
                    if let Err(end) = self.write().await {
                        return end;
                    }
                }
                Event::Stop => self.is_stopping = true,
                Event::End(end) => return end,
            }
        }
    }

    /// Starts as many requests as have arrived and are allowed.
    async fn dispatch(&mut self) {
        self.is_blocked = false;
        while self.ending.is_none() && !self.is_stopping {
            let declared = match self.frames.declared() {
                Ok(Some(declared)) => declared,
                Ok(None) => return,
                Err(error) => return self.end_malformed(error),
            };
            if !self.may_start(&declared) || !self.admit(&declared).await {
                self.is_blocked = true;
                return;
            }
            let Some(frame) = self.frames.take(&declared) else { return };
            if let Err(error) = self.start(frame).await {
                self.end_malformed(error);
            }
        }
    }

    /// A request that cannot be read: those before it are answered, as they would have been if it came later.
    fn end_malformed(&mut self, error: impl Into<End>) {
        self.context.shared.metrics.requests.malformed();
        self.ending = Some(error.into());
    }

    fn may_start(&self, next: &Declared) -> bool {
        let Some(newest) = self.in_flight.back() else { return true };
        let is_alone = dispatch::is_alone(next.api_key) || dispatch::is_alone(newest.api.code());
        self.in_flight.len() < IN_FLIGHT_MAX && !is_alone
    }

    /// Takes the memory that the next frame needs to go on. False if it cannot for now.
    async fn admit(&mut self, next: &Declared) -> bool {
        // Only with nothing in flight: what is in flight may hold the very memory that would be waited for.
        let may_wait = self.in_flight.is_empty();
        let (shared, stop) = (&self.context.shared, &self.context.stop);
        let admitted = self.admission.admit(shared, next, self.frames.buffered(), may_wait, stop).await;
        match admitted {
            Admitted::Yes | Admitted::NotNow => {}
            Admitted::Stopping => self.is_stopping = true,
            Admitted::TooLate => self.ending = Some(End::HalfFrame),
        }
        admitted == Admitted::Yes
    }

    async fn start(&mut self, frame: Bytes) -> Result<(), WireError> {
        let frame_bytes = frame.len();
        let (header, body) = Header::decode(&frame)?;
        drop(frame);
        let api = ApiKey::from_code(header.api_key).ok_or(WireError::UnknownApi(header.api_key))?;
        self.context.version = header.version;
        self.context.set_client_id(header.client_id.as_ref());
        tracing::trace!(api = api.name(), version = header.version, correlation_id = header.correlation_id, "request");
        let timer = RequestMetrics::start(api.name());
        let (version, work) = match self.begin(api, &body).await {
            // A client that asks what is served does not know yet which version of the question is.
            Err(WireError::UnsupportedVersion { api: ApiKey::ApiVersions, .. }) => (0, api_versions::unsupported()),
            begun => (header.version, begun?),
        };
        let held = self.admission.take_off(frame_bytes);
        let correlation_id = header.correlation_id;
        self.in_flight.push_back(InFlight { api, version, correlation_id, body, held, timer, work });
        Ok(())
    }

    async fn begin(&mut self, api: ApiKey, body: &Bytes) -> Result<Work, WireError> {
        let (min, max) = api.served();
        let version = self.context.version;
        if version < min || version > max {
            return Err(WireError::UnsupportedVersion { api, version });
        }
        let decode = || crate::protocol::Request::decode(api, version, body.clone());
        if !dispatch::needs_slot(api) {
            return Ok(dispatch::start(&self.context, decode()?));
        }
        // The slot comes first: so what requests decode to is bounded by the machine's queue.
        match self.context.handle().reserve().await {
            Ok(slot) => Ok(dispatch::submit(&self.context, decode()?, slot)),
            Err(unavailable) => Ok(Work::Done(Answer::Unavailable(unavailable))),
        }
    }

    fn poll_event(&mut self, context: &mut TaskContext<'_>) -> Poll<Event> {
        if self.poll_answers(context) {
            return Poll::Ready(Event::Answered);
        }
        if self.in_flight.is_empty()
            && let Some(end) = self.ending.take()
        {
            return Poll::Ready(Event::End(end));
        }
        if !self.is_blocked
            && self.ending.is_none()
            && !self.is_stopping
            && let Poll::Ready(read) = pin!(self.stream.read_buf(self.frames.room())).poll(context)
        {
            return Poll::Ready(match read {
                Ok(0) => Event::End(End::Closed),
                Ok(bytes) => Event::Arrived(bytes),
                Err(error) => Event::End(End::Io(error)),
            });
        }
        if !self.is_stopping && self.stop.as_mut().poll(context).is_ready() {
            return Poll::Ready(Event::Stop);
        }
        self.poll_deadline(context).map(Event::End)
    }

    /// Encodes the answers that are ready and next in order. Tells whether there were any.
    fn poll_answers(&mut self, context: &mut TaskContext<'_>) -> bool {
        let mut has_any = false;
        while self.output.len() < OUTPUT_BYTES
            && let Some(oldest) = self.in_flight.front_mut()
            && let Poll::Ready(answer) = oldest.work.poll_answer(context)
            && let Some(done) = self.in_flight.pop_front()
        {
            has_any = true;
            self.finish(&done, answer);
        }
        has_any
    }

    fn finish(&mut self, done: &InFlight, answer: Answer) {
        self.admission.land(&done.held);
        let answer = match answer {
            Answer::Unavailable(why) => answering::unavailable(done.api, done.version, &done.body, why),
            answer => Ok(answer),
        };
        let response = match answer {
            Ok(Answer::Response(response)) => response,
            Ok(Answer::Large(response, share)) => {
                self.output_memory.push(share);
                response
            }
            Ok(Answer::Silence) => return self.count(done, None),
            Ok(Answer::Close(why)) => return self.cut_short(End::Refused(why)),
            Ok(Answer::Unavailable(_)) => return self.cut_short(End::Refused("the machine gives no answer")),
            Err(error) => return self.cut_short(End::Wire(error)),
        };
        self.count(done, Some(&response));
        let encoded = response.encode_segments(done.version, done.correlation_id, &mut self.output);
        if let Err(error) = encoded {
            tracing::error!(api = done.api.name(), version = done.version, %error, "an answer cannot be encoded");
            self.cut_short(End::Wire(error));
        }
    }

    fn count(&self, done: &InFlight, response: Option<&Response>) {
        let error = response.and_then(answering::error_name);
        self.context.shared.metrics.requests.answered(&done.timer, error);
    }

    /// Ends the connection after what is encoded already; the requests behind are not answered.
    fn cut_short(&mut self, end: End) {
        self.in_flight.clear();
        self.ending = Some(end);
    }

    async fn write(&mut self) -> Result<(), End> {
        let bytes = self.output.len();
        if bytes > 0 {
            self.write_output(bytes).await?;
            self.context.shared.metrics.requests.sent(bytes);
        }
        self.last_activity = Instant::now();
        self.output_memory.clear();
        self.output.trim(OUTPUT_KEPT_BYTES);
        Ok(())
    }

    async fn write_output(&mut self, bytes: usize) -> Result<(), End> {
        // Nearly always the socket takes it at once, and no timer is needed.
        let at_once = poll_fn(|context| Poll::Ready(pin!(write_all(&mut self.stream, &mut self.output)).poll(context)));
        if let Poll::Ready(written) = at_once.await {
            return Ok(written?);
        }
        let writing = write_all(&mut self.stream, &mut self.output);
        match tokio::time::timeout(transfer_time(bytes), writing).await {
            Ok(written) => Ok(written?),
            Err(_) => Err(End::NotReading),
        }
    }

    /// When to give the client up, if it is the client that is waited for.
    fn deadline(&self) -> Option<(Instant, End)> {
        if let Some(deadline) = self.admission.deadline().filter(|_| !self.is_blocked) {
            return Some((deadline, End::HalfFrame));
        }
        let idle = self.idle.filter(|_| self.in_flight.is_empty())?;
        Some((self.last_activity + idle, End::Idle))
    }

    /// The timer is moved only when it fires or is too late, not with every request.
    fn poll_deadline(&mut self, context: &mut TaskContext<'_>) -> Poll<End> {
        while let Some((deadline, end)) = self.deadline() {
            if self.timer.deadline() > deadline {
                self.timer.as_mut().reset(deadline);
            }
            if self.timer.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            let is_half_frame = matches!(end, End::HalfFrame);
            let is_over = Instant::now() >= deadline;
            if is_over && !(is_half_frame && self.admission.has_come_along(self.frames.buffered())) {
                return Poll::Ready(end);
            }
            if let Some((deadline, _)) = self.deadline() {
                self.timer.as_mut().reset(deadline);
            }
        }
        Poll::Pending
    }
}

/// Writes everything, several segments with one call. What is not written yet stays if this is dropped.
async fn write_all<S: AsyncWrite + Unpin>(stream: &mut S, output: &mut Segments) -> std::io::Result<()> {
    while !output.is_empty() {
        let mut room = [IoSlice::new(&[]); SLICES_MAX];
        let count = output.slices(&mut room);
        let written = stream.write_vectored(room.get(..count).unwrap_or_default()).await?;
        if written == 0 {
            return Err(std::io::ErrorKind::WriteZero.into());
        }
        output.advance(written);
    }
    stream.flush().await
}

/// How long so many bytes may take.
fn transfer_time(bytes: usize) -> Duration {
    TRANSFER_GRACE + Duration::from_secs(u64::try_from(bytes / BYTES_PER_SECOND_MIN).unwrap_or(u64::MAX / 2))
}

#[cfg(test)]
mod tests;
