//! Why the catalogue refuses something: the code a client acts on and the text a person reads.

use crate::protocol::StrBytes;
use crate::types::ErrorCode;

/// Texts end here, so that a refused value of megabytes is not sent back whole.
const TEXT_CHARS_MAX: usize = 1_000;

/// A refusal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {}", code.name(), message.as_deref().unwrap_or(""))]
pub(crate) struct CatalogError {
    /// What the client acts on.
    pub(crate) code: ErrorCode,
    /// In Kafka's words where Kafka has them; it sends none for some codes.
    pub(crate) message: Option<String>,
}

impl CatalogError {
    /// A refusal with a text.
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if let Some((end, _)) = message.char_indices().nth(TEXT_CHARS_MAX) {
            message.truncate(end);
            message.push('…');
        }
        Self { code, message: Some(message) }
    }

    /// A refusal whose code says it all.
    pub(crate) fn bare(code: ErrorCode) -> Self {
        Self { code, message: None }
    }

    /// The records would not fit a journal entry.
    pub(crate) fn too_large() -> Self {
        Self::new(ErrorCode::PolicyViolation, "Unable to perform excessively large batch operation.")
    }

    /// For the item at `index` of a request with too many of them: only the first gets a text, so that the answer does
    /// not grow far beyond the request.
    pub(crate) fn too_many_items(index: usize) -> Self {
        if index == 0 { Self::too_large() } else { Self::bare(ErrorCode::PolicyViolation) }
    }

    /// The text for an answer.
    pub(crate) fn wire_message(&self) -> Option<StrBytes> {
        self.message.as_deref().map(StrBytes::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let error = CatalogError::new(ErrorCode::InvalidConfig, "é".repeat(5_000));
        assert_eq!(error.message.unwrap().chars().count(), TEXT_CHARS_MAX + 1);
        let short = CatalogError::new(ErrorCode::InvalidConfig, "short");
        assert_eq!(short.to_string(), "INVALID_CONFIG: short");
    }
}
