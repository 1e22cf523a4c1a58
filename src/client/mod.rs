//! A small Kafka client: one connection, requests and answers as message structs. For the tools and for tests.
//!
//! It knows no cluster, retries nothing and keeps no state between requests; whoever uses it does. Requests may be
//! pipelined: [`Client::submit`] several, then [`Client::receive`] their answers in the same order.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, ToSocketAddrs};

use crate::protocol::messages::ApiVersionsRequest;
use crate::protocol::{ApiKey, Request, Response, WireError, message};
use crate::types::ErrorCode;

/// How long a request may take unless [`Client::set_timeout`] says otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// The largest answer that is read. Kafka's own clients take 100 MiB; a fetch of 50 MiB fits well.
const ANSWER_BYTES_MAX: usize = 256 * 1024 * 1024;
const READ_BYTES: usize = 4096;
const PREFIX_BYTES: usize = 4;

/// Why there is no answer. The connection is of no more use, except after [`ClientError::NoCommonVersion`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The connection failed or was closed by the server.
    #[error("connection: {0}")]
    Io(#[from] io::Error),
    /// No answer in time.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// The request cannot be written in that version, or the answer is not one of that version.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// The answer is to another request.
    #[error("an answer with correlation id {got} came where {expected} is next")]
    Correlation {
        /// Of the request that is next.
        expected: i32,
        /// Of the answer.
        got: i32,
    },
    /// The answer's length makes no sense.
    #[error("an answer of {0} bytes")]
    Length(i64),
    /// Nothing was asked.
    #[error("no request is waiting for an answer")]
    NothingAsked,
    /// The server has no version of the API that this client knows.
    #[error("{0:?}: the server serves no version that this client knows")]
    NoCommonVersion(ApiKey),
    /// The server refuses to say what it serves.
    #[error("ApiVersions was refused: {0:?}")]
    Refused(Option<ErrorCode>),
}

/// A request whose answer has not come yet.
#[derive(Clone, Copy, Debug)]
struct Asked {
    api: ApiKey,
    version: i16,
    correlation_id: i32,
}

/// One connection to a broker.
#[derive(Debug)]
pub struct Client<S = TcpStream> {
    stream: S,
    input: BytesMut,
    asked: VecDeque<Asked>,
    next_correlation_id: i32,
    own_id: Option<String>,
    timeout: Duration,
}

impl Client {
    /// Connects over TCP.
    ///
    /// # Errors
    /// [`ClientError::Io`], or [`ClientError::TimedOut`] after 30 seconds.
    pub async fn connect(address: impl ToSocketAddrs) -> Result<Self, ClientError> {
        let connecting = TcpStream::connect(address);
        let Ok(connected) = tokio::time::timeout(DEFAULT_TIMEOUT, connecting).await else {
            return Err(ClientError::TimedOut(DEFAULT_TIMEOUT));
        };
        let stream = connected?;
        stream.set_nodelay(true)?;
        Ok(Self::over(stream))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Client<S> {
    /// Speaks over any stream of bytes.
    pub fn over(stream: S) -> Self {
        Self {
            stream,
            input: BytesMut::new(),
            asked: VecDeque::new(),
            next_correlation_id: 1,
            own_id: Some("streamkeeper".to_owned()),
            timeout: DEFAULT_TIMEOUT,
        }
    }

    /// Sets the client id that further requests carry.
    pub fn set_client_id(&mut self, client_id: Option<&str>) {
        self.own_id = client_id.map(str::to_owned);
    }

    /// Sets how long each further step may take.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// Sends one request and waits for its answer. No other request may be waiting.
    ///
    /// # Errors
    /// [`ClientError`]. Error codes inside an answer are the caller's to look at.
    pub async fn send(&mut self, request: impl Into<Request>, version: i16) -> Result<Response, ClientError> {
        self.submit(request, version).await?;
        self.receive().await
    }

    /// Sends one request without waiting for an answer. Returns its correlation id.
    ///
    /// A Produce with `acks` 0 has no answer: send it with [`Client::send_unanswered`].
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn submit(&mut self, request: impl Into<Request>, version: i16) -> Result<i32, ClientError> {
        let request = request.into();
        let correlation_id = self.write(&request, version).await?;
        self.asked.push_back(Asked { api: request.api(), version, correlation_id });
        Ok(correlation_id)
    }

    /// Sends a request to which there is no answer.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn send_unanswered(&mut self, request: impl Into<Request>, version: i16) -> Result<(), ClientError> {
        self.write(&request.into(), version).await.map(|_| ())
    }

    /// Waits for the answer to the oldest request that has none.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn receive(&mut self) -> Result<Response, ClientError> {
        let asked = self.asked.pop_front().ok_or(ClientError::NothingAsked)?;
        let frame = self.read_frame().await?;
        let (got, response) = Response::decode(asked.api, asked.version, frame)?;
        if got != asked.correlation_id {
            return Err(ClientError::Correlation { expected: asked.correlation_id, got });
        }
        Ok(response)
    }

    /// The newest version of an API that both sides know; asks the server.
    ///
    /// # Errors
    /// [`ClientError::NoCommonVersion`] if there is none.
    pub async fn newest_version(&mut self, api: ApiKey) -> Result<i16, ClientError> {
        let request = message!(ApiVersionsRequest {
            client_software_name: "streamkeeper".into(),
            client_software_version: env!("CARGO_PKG_VERSION").into(),
        });
        let Response::ApiVersions(answer) = self.send(request, 3).await? else {
            return Err(ClientError::Refused(None));
        };
        if answer.error_code != 0 {
            return Err(ClientError::Refused(ErrorCode::from_code(answer.error_code)));
        }
        let (min, max) = api.served();
        let served = answer.api_keys.iter().find(|served| served.api_key == api.code());
        let newest = served.map(|served| served.max_version.min(max));
        newest
            .filter(|version| *version >= min && served.is_some_and(|served| served.min_version <= *version))
            .ok_or(ClientError::NoCommonVersion(api))
    }

    /// Sends bytes as they are; for tests of hostile input.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn send_raw(&mut self, bytes: &[u8]) -> Result<(), ClientError> {
        let timeout = self.timeout;
        within(timeout, self.stream.write_all(bytes)).await
    }

    /// Reads one answer frame without its length, whatever it answers; for tests of hostile input.
    ///
    /// # Errors
    /// [`ClientError::Io`] with `UnexpectedEof` once the server has closed the connection.
    pub async fn read_frame(&mut self) -> Result<Bytes, ClientError> {
        let timeout = self.timeout;
        within(timeout, self.read_until(PREFIX_BYTES)).await?;
        let length = i64::from(self.input.get_i32());
        let len = usize::try_from(length).ok().filter(|len| *len <= ANSWER_BYTES_MAX);
        let len = len.ok_or(ClientError::Length(length))?;
        within(timeout, self.read_until(len)).await?;
        Ok(self.input.split_to(len).freeze())
    }

    async fn write(&mut self, request: &Request, version: i16) -> Result<i32, ClientError> {
        let correlation_id = self.next_correlation_id;
        self.next_correlation_id = correlation_id.checked_add(1).unwrap_or(1);
        let frame = request.encode(version, correlation_id, self.own_id.as_deref())?;
        let timeout = self.timeout;
        within(timeout, self.stream.write_all(&frame)).await?;
        Ok(correlation_id)
    }

    async fn read_until(&mut self, len: usize) -> io::Result<()> {
        while self.input.len() < len {
            self.input.reserve(READ_BYTES);
            if self.stream.read_buf(&mut self.input).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(())
    }
}

async fn within<T>(timeout: Duration, step: impl Future<Output = io::Result<T>>) -> Result<T, ClientError> {
    match tokio::time::timeout(timeout, step).await {
        Ok(done) => Ok(done?),
        Err(_) => Err(ClientError::TimedOut(timeout)),
    }
}
