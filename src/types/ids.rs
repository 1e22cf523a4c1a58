//! Identifiers as newtypes, so that a member id is never passed for a group id.
//!
//! Text ids are shared (`Arc<str>`): a clone costs a counter, and an id cut from a request never keeps the whole
//! frame alive.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! text_id {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(Arc::from(text))
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(Arc::from(text))
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self(Arc::from(""))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, out)
            }
        }
    )+};
}

text_id! {
    /// `group.id`, of any group type.
    GroupId,
    /// A member's id within its group.
    MemberId,
    /// `group.instance.id` of a static member.
    InstanceId,
    /// The process (JVM) that a streams member belongs to.
    ProcessId,
    /// A topic's name.
    TopicName,
    /// The cluster's id: 22 characters of URL-safe base64 as Kafka writes a uuid.
    ClusterId,
}

/// A topic's id: 16 bytes, never all zero for a topic that exists.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TopicId([u8; 16]);

impl TopicId {
    /// "No topic id": what a request by name carries.
    pub const ZERO: Self = Self([0; 16]);

    /// Wraps the bytes as they stand on the wire.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes as they stand on the wire.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }

    /// Whether this is [`TopicId::ZERO`].
    #[must_use]
    pub fn is_zero(self) -> bool {
        self == Self::ZERO
    }
}

const BASE64_URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Writes 16 bytes as Kafka prints a uuid: URL-safe base64 without padding.
fn write_base64(bytes: [u8; 16], out: &mut impl fmt::Write) -> fmt::Result {
    let mut bits = 0u32;
    let mut bit_count = 0;
    for byte in bytes {
        bits = (bits << 8) | u32::from(byte);
        bit_count += 8;
        while bit_count >= 6 {
            bit_count -= 6;
            out.write_char(base64_char(bits >> bit_count))?;
        }
    }
    out.write_char(base64_char(bits << (6 - bit_count)))
}

fn base64_char(six_bits: u32) -> char {
    let index = usize::try_from(six_bits & 63).unwrap_or(0);
    char::from(BASE64_URL.get(index).copied().unwrap_or(b'A'))
}

impl fmt::Display for TopicId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_base64(self.0, out)
    }
}

impl fmt::Debug for TopicId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_id_prints_as_kafka_prints_a_uuid() {
        let bytes = [0x12, 0x3e, 0x45, 0x67, 0xe8, 0x9b, 0x12, 0xd3, 0xa4, 0x56, 0x42, 0x66, 0x14, 0x17, 0x40, 0x00];
        assert_eq!(TopicId::from_bytes(bytes).to_string(), "Ej5FZ-ibEtOkVkJmFBdAAA");
        assert_eq!(TopicId::ZERO.to_string(), "AAAAAAAAAAAAAAAAAAAAAA");
        assert_eq!(TopicId::from_bytes([0xff; 16]).to_string(), "_____________________w");
    }
}
