//! What a request about a group is refused with.

use crate::types::ErrorCode;

/// A code for the client to act on, and mostly a text for the person who reads it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}{}", code.name(), if message.is_some() { ": " } else { "" }, message.as_deref().unwrap_or_default())]
pub(crate) struct GroupError {
    /// The protocol's code.
    pub(crate) code: ErrorCode,
    /// The text that goes with it, where the answer has a place for one.
    pub(crate) message: Option<String>,
}

impl GroupError {
    /// An error with a text.
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: Some(message.into()) }
    }
}
