//! The table of APIs: key, advertised versions, and the message structs of each.
//!
//! Everything that must know the list of APIs (decoding, encoding, ApiVersions, metrics) goes through this table, so
//! that an API is either served everywhere or nowhere. Version ranges are those of Kafka 4.4.0.

use bytes::{Bytes, BytesMut};
use kafka_wire::{KafkaMessage, RequestHeader, ResponseHeader};
use kafka_wire_core::{ApiVersion, DecodeLimits, Decoder, Encoder, KafkaDecode, KafkaEncode};

use super::{Segments, StrBytes, fetch_frame, message, messages};

/// Why bytes are no message, or a message has no bytes. The connection is closed, as Kafka does.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The API key is not one we serve.
    #[error("api key {0} is not served")]
    UnknownApi(i16),
    /// The version is outside the served range.
    #[error("{api:?} version {version} is not served")]
    UnsupportedVersion {
        /// The API.
        api: ApiKey,
        /// The version asked for.
        version: i16,
    },
    /// The bytes are not a message of that API and version.
    #[error("not a valid message: {0}")]
    Malformed(#[from] kafka_wire_core::DecodeError),
    /// The answer cannot be written in that version: a fault of ours.
    #[error("the answer does not fit its version: {0}")]
    Unrepresentable(#[from] kafka_wire_core::EncodeError),
}

macro_rules! apis {
    ($($name:ident = $key:literal, $min:literal..=$max:literal, advertised from $advertised_min:literal, $request:ident -> $response:ident;)+) => {
        /// An API of the Kafka protocol that this server serves.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "the names are Kafka's own")]
        pub enum ApiKey {
            $($name,)+
        }

        impl ApiKey {
            /// All of them, in order of key.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The number on the wire.
            #[must_use]
            pub const fn code(self) -> i16 {
                match self { $(Self::$name => $key,)+ }
            }

            /// Its place in [`ApiKey::ALL`].
            #[must_use]
            pub const fn index(self) -> usize {
                self as usize
            }

            /// Kafka's name of the API.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)+ }
            }

            /// The API of this number.
            #[must_use]
            pub const fn from_code(code: i16) -> Option<Self> {
                match code { $($key => Some(Self::$name),)+ _ => None }
            }

            /// The versions that are served.
            #[must_use]
            pub const fn served(self) -> (i16, i16) {
                match self { $(Self::$name => ($min, $max),)+ }
            }

            /// The versions that ApiVersions tells; for Produce a wider range than is served (KAFKA-18659).
            #[must_use]
            pub const fn advertised(self) -> (i16, i16) {
                match self { $(Self::$name => ($advertised_min, $max),)+ }
            }

            fn is_flexible(self, version: i16) -> bool {
                let version = ApiVersion::new(version);
                match self { $(Self::$name => messages::$request::is_flexible(version),)+ }
            }
        }

        /// A request of any served API, without its version.
        #[derive(Clone, Debug)]
        #[allow(missing_docs, reason = "the names are Kafka's own")]
        pub enum Request {
            $($name(Box<messages::$request>),)+
        }

        /// An answer of any served API, without its version.
        #[derive(Clone, Debug)]
        #[allow(missing_docs, reason = "the names are Kafka's own")]
        pub enum Response {
            $($name(Box<messages::$response>),)+
        }

        $(
            impl From<messages::$request> for Request {
                fn from(request: messages::$request) -> Self {
                    Self::$name(Box::new(request))
                }
            }

            impl From<messages::$response> for Response {
                fn from(response: messages::$response) -> Self {
                    Self::$name(Box::new(response))
                }
            }
        )+

        impl Request {
            /// Which API this is.
            #[must_use]
            pub const fn api(&self) -> ApiKey {
                match self { $(Self::$name(_) => ApiKey::$name,)+ }
            }

            /// Reads a request body. Bytes behind it are ignored, as Kafka does.
            ///
            /// # Errors
            /// [`WireError`] if the version is not served or the bytes are no such request.
            pub fn decode(api: ApiKey, version: i16, body: Bytes) -> Result<Self, WireError> {
                let (min, max) = api.served();
                if version < min || version > max {
                    return Err(WireError::UnsupportedVersion { api, version });
                }
                let mut decoder = decoder(body)?;
                let version = ApiVersion::new(version);
                Ok(match api {
                    $(ApiKey::$name => Self::$name(Box::new(messages::$request::decode(&mut decoder, version)?)),)+
                })
            }

            /// Writes a whole request frame behind its length: header and body.
            ///
            /// # Errors
            /// [`WireError::Unrepresentable`] if a field does not fit the version.
            pub fn encode(&self, version: i16, correlation_id: i32, client_id: Option<&str>) -> Result<Bytes, WireError> {
                let api = self.api();
                let flexible = api.is_flexible(version);
                let header = message!(RequestHeader {
                    request_api_key: api.code(),
                    request_api_version: version,
                    correlation_id: correlation_id,
                    client_id: client_id.map(Into::into),
                });
                let header_version = ApiVersion::new(if flexible { 2 } else { 1 });
                match self { $(Self::$name(body) => frame(&header, header_version, body.as_ref(), version),)+ }
            }
        }

        impl Response {
            /// Which API this is.
            #[must_use]
            pub const fn api(&self) -> ApiKey {
                match self { $(Self::$name(_) => ApiKey::$name,)+ }
            }

            /// Writes a whole answer frame behind its length: header and body.
            ///
            /// # Errors
            /// [`WireError::Unrepresentable`] if a field does not fit the version.
            pub fn encode(&self, version: i16, correlation_id: i32) -> Result<Bytes, WireError> {
                let mut bytes = BytesMut::new();
                self.encode_to(version, correlation_id, &mut bytes)?;
                Ok(bytes.freeze())
            }

            /// Appends a whole answer frame to `out`: length, header and body. After an error `out` is as it was.
            ///
            /// # Errors
            /// [`WireError::Unrepresentable`] if a field does not fit the version.
            pub fn encode_to(&self, version: i16, correlation_id: i32, out: &mut BytesMut) -> Result<(), WireError> {
                let header = message!(ResponseHeader { correlation_id: correlation_id });
                let header_version = response_header_version(self.api(), version);
                match self { $(Self::$name(body) => append_frame(&header, header_version, body.as_ref(), version, out),)+ }
            }

            /// As [`Response::encode_to`], but large records are passed on without being copied.
            ///
            /// # Errors
            /// [`WireError::Unrepresentable`] if a field does not fit the version.
            pub fn encode_segments(&self, version: i16, correlation_id: i32, out: &mut Segments) -> Result<(), WireError> {
                match self {
                    Self::Fetch(response) if fetch_frame::append(response, version, correlation_id, out) => Ok(()),
                    response => response.encode_to(version, correlation_id, out.open()),
                }
            }

            /// Reads an answer's header and body.
            ///
            /// # Errors
            /// [`WireError::Malformed`] if the bytes are no such answer.
            pub fn decode(api: ApiKey, version: i16, frame: Bytes) -> Result<(i32, Self), WireError> {
                let mut decoder = decoder(frame)?;
                let header = ResponseHeader::decode(&mut decoder, response_header_version(api, version))?;
                let version = ApiVersion::new(version);
                let response = match api {
                    $(ApiKey::$name => Self::$name(Box::new(messages::$response::decode(&mut decoder, version)?)),)+
                };
                Ok((header.correlation_id, response))
            }
        }
    };
}

apis! {
    Produce = 0, 3..=13, advertised from 0, ProduceRequest -> ProduceResponse;
    Fetch = 1, 4..=18, advertised from 4, FetchRequest -> FetchResponse;
    ListOffsets = 2, 1..=11, advertised from 1, ListOffsetsRequest -> ListOffsetsResponse;
    Metadata = 3, 0..=13, advertised from 0, MetadataRequest -> MetadataResponse;
    OffsetCommit = 8, 2..=10, advertised from 2, OffsetCommitRequest -> OffsetCommitResponse;
    OffsetFetch = 9, 1..=10, advertised from 1, OffsetFetchRequest -> OffsetFetchResponse;
    FindCoordinator = 10, 0..=6, advertised from 0, FindCoordinatorRequest -> FindCoordinatorResponse;
    DescribeGroups = 15, 0..=6, advertised from 0, DescribeGroupsRequest -> DescribeGroupsResponse;
    ListGroups = 16, 0..=5, advertised from 0, ListGroupsRequest -> ListGroupsResponse;
    SaslHandshake = 17, 0..=1, advertised from 0, SaslHandshakeRequest -> SaslHandshakeResponse;
    ApiVersions = 18, 0..=5, advertised from 0, ApiVersionsRequest -> ApiVersionsResponse;
    CreateTopics = 19, 2..=7, advertised from 2, CreateTopicsRequest -> CreateTopicsResponse;
    DeleteTopics = 20, 1..=6, advertised from 1, DeleteTopicsRequest -> DeleteTopicsResponse;
    DeleteRecords = 21, 0..=2, advertised from 0, DeleteRecordsRequest -> DeleteRecordsResponse;
    InitProducerId = 22, 0..=5, advertised from 0, InitProducerIdRequest -> InitProducerIdResponse;
    OffsetForLeaderEpoch = 23, 2..=4, advertised from 2, OffsetForLeaderEpochRequest -> OffsetForLeaderEpochResponse;
    DescribeConfigs = 32, 1..=4, advertised from 1, DescribeConfigsRequest -> DescribeConfigsResponse;
    SaslAuthenticate = 36, 0..=2, advertised from 0, SaslAuthenticateRequest -> SaslAuthenticateResponse;
    CreatePartitions = 37, 0..=3, advertised from 0, CreatePartitionsRequest -> CreatePartitionsResponse;
    DeleteGroups = 42, 0..=3, advertised from 0, DeleteGroupsRequest -> DeleteGroupsResponse;
    IncrementalAlterConfigs = 44, 0..=1, advertised from 0, IncrementalAlterConfigsRequest -> IncrementalAlterConfigsResponse;
    OffsetDelete = 47, 0..=0, advertised from 0, OffsetDeleteRequest -> OffsetDeleteResponse;
    DescribeCluster = 60, 0..=2, advertised from 0, DescribeClusterRequest -> DescribeClusterResponse;
    ListConfigResources = 74, 0..=1, advertised from 0, ListConfigResourcesRequest -> ListConfigResourcesResponse;
    DescribeTopicPartitions = 75, 0..=0, advertised from 0, DescribeTopicPartitionsRequest -> DescribeTopicPartitionsResponse;
    StreamsGroupHeartbeat = 88, 0..=1, advertised from 0, StreamsGroupHeartbeatRequest -> StreamsGroupHeartbeatResponse;
    StreamsGroupDescribe = 89, 0..=1, advertised from 0, StreamsGroupDescribeRequest -> StreamsGroupDescribeResponse;
}

/// A request's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The API key as sent, served or not.
    pub api_key: i16,
    /// The version as sent, served or not.
    pub version: i16,
    /// What the answer must carry.
    pub correlation_id: i32,
    /// The client's name of itself. Shares the frame's memory.
    pub client_id: Option<StrBytes>,
}

impl Header {
    /// Reads a request's header and returns the body behind it.
    ///
    /// The header of an API or version that is not served is read without tagged fields; its body stays unread.
    ///
    /// # Errors
    /// [`WireError::Malformed`] if the bytes are no header.
    pub fn decode(frame: &Bytes) -> Result<(Self, Bytes), WireError> {
        let (api_key, version) = (leading_i16(frame, 0), leading_i16(frame, 2));
        let flexible = ApiKey::from_code(api_key)
            .is_some_and(|api| version >= api.served().0 && version <= api.served().1 && api.is_flexible(version));
        let mut decoder = decoder(frame.clone())?;
        let header = RequestHeader::decode(&mut decoder, ApiVersion::new(if flexible { 2 } else { 1 }))?;
        let body = frame.slice(frame.len() - decoder.remaining()..);
        Ok((Self { api_key, version, correlation_id: header.correlation_id, client_id: header.client_id }, body))
    }
}

/// The number at `at`; 0 in a frame that is too short, which the real decoding then refuses.
fn leading_i16(frame: &[u8], at: usize) -> i16 {
    frame.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| i16::from_be_bytes(*bytes))
}

/// A frame's length comes first.
const PREFIX_BYTES: usize = 4;
/// Most answers fit into this.
const FRAME_BYTES_USUAL: usize = 256;

/// Frames beyond this are never decoded; `socket.request.max.bytes` is checked before and is usually far lower.
const FRAME_BYTES_MAX: usize = i32::MAX as usize;

fn decoder(bytes: Bytes) -> Result<Decoder, WireError> {
    let mut limits = DecodeLimits::default();
    limits.max_frame_bytes = FRAME_BYTES_MAX;
    limits.max_bytes_bytes = bytes.len();
    limits.max_string_bytes = bytes.len();
    limits.max_tag_bytes = bytes.len();
    limits.max_total_tag_bytes = bytes.len();
    limits.max_array_elements = bytes.len();
    Ok(Decoder::new(bytes, limits)?)
}

fn response_header_version(api: ApiKey, version: i16) -> ApiVersion {
    // ApiVersions must be readable by a client that does not yet know what the server speaks.
    ApiVersion::new(i16::from(api != ApiKey::ApiVersions && api.is_flexible(version)))
}

fn frame<H: KafkaEncode, B: KafkaEncode>(
    header: &H,
    header_version: ApiVersion,
    body: &B,
    version: i16,
) -> Result<Bytes, WireError> {
    let mut bytes = BytesMut::new();
    append_frame(header, header_version, body, version, &mut bytes)?;
    Ok(bytes.freeze())
}

fn append_frame<H: KafkaEncode, B: KafkaEncode>(
    header: &H,
    header_version: ApiVersion,
    body: &B,
    version: i16,
    out: &mut BytesMut,
) -> Result<(), WireError> {
    let start = out.len();
    out.reserve(FRAME_BYTES_USUAL);
    let written = write_frame(header, header_version, body, ApiVersion::new(version), out);
    if written.is_err() {
        out.truncate(start);
    }
    Ok(written?)
}

/// The length is filled in behind: measuring a message first costs nearly as much as writing it.
fn write_frame<H: KafkaEncode, B: KafkaEncode>(
    header: &H,
    header_version: ApiVersion,
    body: &B,
    version: ApiVersion,
    out: &mut BytesMut,
) -> Result<(), kafka_wire_core::EncodeError> {
    let start = out.len();
    out.extend_from_slice(&[0; PREFIX_BYTES]);
    let mut encoder = Encoder::new(out);
    header.encode(&mut encoder, header_version)?;
    body.encode(&mut encoder, version)?;
    let bytes = encoder.len();
    let len = i32::try_from(bytes).map_err(|_| kafka_wire_core::EncodeError::FrameTooLarge { bytes })?;
    if let Some(prefix) = out.get_mut(start..).and_then(<[u8]>::first_chunk_mut::<PREFIX_BYTES>) {
        *prefix = len.to_be_bytes();
    }
    Ok(())
}
