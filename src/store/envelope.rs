//! What a value looks like on disk: a few bytes that say what it is and when it was written, the payload, a checksum.
//!
//! The checksum covers the key too, so that a value that got under another key is noticed. The payload is one struct
//! of a `records.rs` in bincode's fixed-width encoding; this is the only file that names bincode. One struct per
//! (record type, version): a released one is never edited, since bincode cannot read a struct that has grown. The
//! codec byte lets another encoding follow.

#[cfg(test)]
mod tests;

use bincode::Options;
use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::keys::Key;
use crate::types::Lsn;

const MAGIC: u8 = 0xe5;
/// bincode 1.3, fixed-width integers, little-endian, no trailing bytes.
const BINCODE: u8 = 1;
const HEADER_BYTES: usize = 18;
const CRC_BYTES: usize = 4;

/// A value, taken apart and checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Envelope<'a> {
    key: &'a [u8],
    /// What it is; see the table in [`super::keys`].
    pub(crate) record_type: u8,
    /// Which struct of that type.
    pub(crate) version: u16,
    /// The change that wrote it.
    pub(crate) lsn: Lsn,
    /// The struct's bytes.
    pub(crate) payload: &'a [u8],
}

/// Why a value cannot be read. `key` is readable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EnvelopeError {
    /// Not what was written.
    #[error("the stored value of {key} is damaged: {what}. Bring the data directory back from a backup")]
    Damaged { key: String, what: &'static str },
    /// Written by a later version of this program.
    #[error(
        "the stored value of {key} has {what} {got}, which this program does not know; start the version that \
             wrote it, or a later one"
    )]
    Newer { key: String, what: &'static str, got: u16 },
    /// Not what belongs under this key.
    #[error(
        "the stored value of {key} has record type {got} instead of {expected}. Bring the data directory back \
             from a backup"
    )]
    WrongType { key: String, expected: u8, got: u8 },
}

fn codec() -> impl Options {
    bincode::DefaultOptions::new().with_fixint_encoding()
}

fn checksum(key: &[u8], envelope: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(key), envelope)
}

/// The bytes of a value under this key.
pub(crate) fn encode<T: Serialize>(key: &[u8], record_type: u8, version: u16, lsn: Lsn, value: &T) -> Bytes {
    let mut out = Vec::with_capacity(128);
    out.extend([MAGIC, record_type]);
    out.extend(version.to_be_bytes());
    out.extend([BINCODE, 0]);
    out.extend(lsn.0.to_be_bytes());
    out.extend([0; 4]);
    codec().serialize_into(&mut out, value).expect("memory does not fail, and records have nothing of unknown length");
    let payload_bytes = u32::try_from(out.len() - HEADER_BYTES).expect("a record came in one request, below 4 GiB");
    if let Some(place) = out.get_mut(HEADER_BYTES - 4..HEADER_BYTES) {
        place.copy_from_slice(&payload_bytes.to_be_bytes());
    }
    let crc = checksum(key, &out);
    out.extend(crc.to_be_bytes());
    out.into()
}

/// Takes a value apart that lies under this key.
pub(crate) fn decode<'a>(key: &'a [u8], bytes: &'a [u8]) -> Result<Envelope<'a>, EnvelopeError> {
    let damaged = |what| EnvelopeError::Damaged { key: Key::describe(key), what };
    let newer = |what, got| EnvelopeError::Newer { key: Key::describe(key), what, got };
    let (checked, crc) = bytes.split_last_chunk::<CRC_BYTES>().ok_or_else(|| damaged("it is too short"))?;
    if u32::from_be_bytes(*crc) != checksum(key, checked) {
        return Err(damaged("its checksum is wrong"));
    }
    let (header, payload) = checked.split_first_chunk::<HEADER_BYTES>().ok_or_else(|| damaged("it is too short"))?;
    let [magic, record_type, v0, v1, codec, flags, lsn @ .., l0, l1, l2, l3] = *header;
    if magic != MAGIC {
        return Err(damaged("it does not begin as a value does"));
    }
    if codec != BINCODE {
        return Err(newer("codec", u16::from(codec)));
    }
    if flags != 0 {
        return Err(newer("flags", u16::from(flags)));
    }
    if usize::try_from(u32::from_be_bytes([l0, l1, l2, l3])) != Ok(payload.len()) {
        return Err(damaged("its length is wrong"));
    }
    if let Ok(expected) = Key::decode(key).map(|key| key.record_type())
        && expected != record_type
    {
        return Err(EnvelopeError::WrongType { key: Key::describe(key), expected, got: record_type });
    }
    let (version, lsn) = (u16::from_be_bytes([v0, v1]), Lsn(u64::from_be_bytes(lsn)));
    Ok(Envelope { key, record_type, version, lsn, payload })
}

impl Envelope<'_> {
    /// The struct in it, which is that of `version`; a caller that knows more versions looks at [`Envelope::version`].
    pub(crate) fn payload<T: DeserializeOwned>(&self, version: u16) -> Result<T, EnvelopeError> {
        let key = || Key::describe(self.key);
        if self.version != version {
            return Err(EnvelopeError::Newer { key: key(), what: "version", got: self.version });
        }
        let limit = u64::try_from(self.payload.len()).unwrap_or(u64::MAX);
        let value = codec().with_limit(limit).deserialize(self.payload);
        value.map_err(|_| EnvelopeError::Damaged { key: key(), what: "its payload is not what its version says" })
    }
}
