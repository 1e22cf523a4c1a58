//! Request frames as they arrive: a length, then so many bytes. Nothing is allocated because of a length alone.

use bytes::{Bytes, BytesMut};

use crate::protocol::ApiKey;

const PREFIX_BYTES: usize = 4;
const API_KEY_BYTES: usize = 2;
/// API key, version and correlation id: no request is shorter.
const HEADER_BYTES_MIN: usize = 8;
/// The largest frame of any API but Produce.
///
/// A deviation from Kafka, which allows `socket.request.max.bytes` for all. The structs that such a frame decodes to
/// can take forty times its bytes; a Produce frame is mostly record batches, which stay as they are.
const OTHER_FRAME_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How much is read at once while no frame is known to need more.
const READ_BYTES: usize = 4096;

/// Why bytes are no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum FrameError {
    #[error("a frame of {0} bytes is no request")]
    TooShort(i32),
    #[error("a frame of {len} bytes is larger than {max}")]
    TooLarge { len: usize, max: usize },
}

/// What a frame says of itself before it is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Declared {
    /// Its bytes behind the length.
    pub(super) len: usize,
    /// The API key, served or not.
    pub(super) api_key: i16,
}

/// Bytes that have arrived and belong to no request yet.
#[derive(Debug)]
pub(super) struct Frames {
    buffer: BytesMut,
    max_bytes: usize,
}

impl Frames {
    /// Frames of at most `max_bytes` (`socket.request.max.bytes`).
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { buffer: BytesMut::new(), max_bytes }
    }

    /// What the next frame says of itself; `None` until its API key is there.
    pub(super) fn declared(&self) -> Result<Option<Declared>, FrameError> {
        let Some(prefix) = self.buffer.first_chunk::<PREFIX_BYTES>() else { return Ok(None) };
        let prefix = i32::from_be_bytes(*prefix);
        let len = usize::try_from(prefix).unwrap_or(0);
        if len < HEADER_BYTES_MIN {
            return Err(FrameError::TooShort(prefix));
        }
        self.check(len, self.max_bytes)?;
        let api_key = self.buffer.get(PREFIX_BYTES..).and_then(<[u8]>::first_chunk::<API_KEY_BYTES>);
        let Some(api_key) = api_key.map(|bytes| i16::from_be_bytes(*bytes)) else { return Ok(None) };
        if api_key != ApiKey::Produce.code() {
            self.check(len, OTHER_FRAME_BYTES_MAX)?;
        }
        Ok(Some(Declared { len, api_key }))
    }

    #[allow(clippy::unused_self, reason = "reads as a step of `declared`")]
    fn check(&self, len: usize, max: usize) -> Result<(), FrameError> {
        if len > max { Err(FrameError::TooLarge { len, max }) } else { Ok(()) }
    }

    /// Takes the declared frame if it is whole.
    pub(super) fn take(&mut self, declared: &Declared) -> Option<Bytes> {
        if self.missing(declared) > 0 {
            return None;
        }
        let _prefix = self.buffer.split_to(PREFIX_BYTES);
        Some(self.buffer.split_to(declared.len).freeze())
    }

    /// How many bytes of the frame have not arrived.
    pub(super) fn missing(&self, declared: &Declared) -> usize {
        declared.len.saturating_add(PREFIX_BYTES).saturating_sub(self.buffer.len())
    }

    /// Where the next bytes go, with room for some: for a large frame as many again as have arrived.
    pub(super) fn room(&mut self) -> &mut BytesMut {
        let missing = self.declared().ok().flatten().map_or(0, |declared| self.missing(&declared));
        let wanted = missing.min(self.buffer.len());
        let spare = self.buffer.capacity() - self.buffer.len();
        // Reserving takes a new allocation while earlier frames still use the old one.
        if spare < wanted.max(READ_BYTES / 4) {
            self.buffer.reserve(wanted.max(READ_BYTES));
        }
        &mut self.buffer
    }

    /// Whether nothing has arrived of a next frame.
    pub(super) fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrived(bytes: &[u8]) -> Frames {
        let mut frames = Frames::new(100 * 1024 * 1024);
        frames.room().extend_from_slice(bytes);
        frames
    }

    fn start_of(len: i32, api_key: i16) -> Vec<u8> {
        [&len.to_be_bytes()[..], &api_key.to_be_bytes()[..]].concat()
    }

    #[test]
    fn a_frame_is_taken_once_it_is_whole_and_the_next_one_stays() {
        let mut frames = arrived(&start_of(10, 18));
        let declared = frames.declared().unwrap().unwrap();
        assert_eq!(declared, Declared { len: 10, api_key: 18 });
        assert_eq!(frames.missing(&declared), 8);
        assert_eq!(frames.take(&declared), None);
        frames.room().extend_from_slice(b"01234567next");
        assert_eq!(frames.take(&declared).unwrap(), Bytes::from_static(b"\x00\x1201234567"));
        assert_eq!(frames.room().as_ref(), b"next");
    }

    #[test]
    fn lengths_that_no_request_has_are_refused_before_anything_is_allocated() {
        for len in [i32::MIN, -1, 0, 7] {
            assert_eq!(arrived(&start_of(len, 18)).declared(), Err(FrameError::TooShort(len)));
        }
        let too_large = |len, api_key| {
            let frames = arrived(&start_of(len, api_key));
            assert!(frames.buffer.capacity() < 2 * READ_BYTES);
            matches!(frames.declared(), Err(FrameError::TooLarge { .. }))
        };
        assert!(too_large(i32::MAX, 0));
        assert!(too_large(100 * 1024 * 1024 + 1, 0));
        assert!(!too_large(100 * 1024 * 1024, 0), "socket.request.max.bytes itself is fine for Produce");
        assert!(too_large(16 * 1024 * 1024 + 1, 8));
        assert!(!too_large(16 * 1024 * 1024, 8));
        // "GET " read as a length.
        assert!(arrived(b"GET / HTTP/1.1\r\n").declared().is_err());
    }

    #[test]
    fn room_grows_with_what_has_arrived_not_with_what_is_promised() {
        let mut frames = arrived(&start_of(64 * 1024 * 1024, 0));
        assert!(frames.room().capacity() < 4 * READ_BYTES);
        frames.room().extend_from_slice(&vec![0; 1024 * 1024]);
        let capacity = frames.room().capacity();
        assert!((2 * 1024 * 1024..5 * 1024 * 1024).contains(&capacity), "{capacity}");
    }
}
