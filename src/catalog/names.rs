//! Topic names: which are legal, which are Kafka's own, and which cannot stand beside each other.

use super::CatalogError;
use crate::types::ErrorCode;

const NAME_BYTES_MAX: usize = 249;

/// Topics that Kafka keeps for itself. Here they are ordinary topics with a mark; nothing is stored in them.
const INTERNAL: [&str; 3] = ["__consumer_offsets", "__transaction_state", "__share_group_state"];

/// The metadata log of KRaft; no topic may be called so.
pub(super) const CLUSTER_METADATA: &str = "__cluster_metadata";

/// Whether clients are told that this topic is internal.
pub(crate) fn is_internal(name: &str) -> bool {
    INTERNAL.contains(&name)
}

/// Checks a name as Kafka does (`Topic.validate`).
pub(super) fn check(name: &str) -> Result<(), CatalogError> {
    let reason = if name.is_empty() {
        "the empty string is not allowed".to_owned()
    } else if name == "." || name == ".." {
        format!("'{name}' is not allowed")
    } else if name.len() > NAME_BYTES_MAX {
        format!("the length of '{name}' is longer than the max allowed length {NAME_BYTES_MAX}")
    } else if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')) {
        format!("'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'")
    } else {
        return Ok(());
    };
    Err(CatalogError::new(ErrorCode::InvalidTopicException, format!("Topic name is invalid: {reason}")))
}

/// What two names share that differ only by `.` and `_`, which metric names cannot tell apart. `None` for a name with
/// neither.
pub(super) fn shape(name: &str) -> Option<String> {
    name.contains(['.', '_']).then(|| name.replace('.', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_illegal_name_is_told_in_kafkas_words() {
        let reason = |name: &str| {
            let message = check(name).unwrap_err().message.unwrap();
            message.strip_prefix("Topic name is invalid: ").expect("the same beginning").to_owned()
        };
        assert_eq!(reason(""), "the empty string is not allowed");
        assert_eq!(reason("."), "'.' is not allowed");
        assert_eq!(reason(".."), "'..' is not allowed");
        let characters = "contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'";
        assert_eq!(reason("bad/name"), format!("'bad/name' {characters}"));
        assert_eq!(reason("bad name"), format!("'bad name' {characters}"));
        assert_eq!(reason("naïve"), format!("'naïve' {characters}"));
        let long = "x".repeat(250);
        assert_eq!(reason(&long), format!("the length of '{long}' is longer than the max allowed length 249"));
        for legal in ["x".repeat(249).as_str(), "...", "A-z_0.9", "__consumer_offsets"] {
            assert_eq!(check(legal), Ok(()));
        }
    }

    #[test]
    fn names_that_differ_by_dots_and_underscores_have_one_shape() {
        assert_eq!(shape("a.b_c"), shape("a_b.c"));
        assert_ne!(shape("a.b"), shape("a-b"));
        assert_eq!(shape("ab"), None);
    }
}
