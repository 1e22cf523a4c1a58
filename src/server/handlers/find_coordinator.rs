//! FindCoordinator: it is always this node.

use crate::protocol::messages::find_coordinator_response::Coordinator;
use crate::protocol::messages::{FindCoordinatorRequest, FindCoordinatorResponse};
use crate::protocol::{Request, Response, StrBytes, errors, message};
use crate::server::context::Context;
use crate::types::ErrorCode;

/// From this version on a request has several keys.
const KEYS_SINCE: i16 = 4;
/// From this version on share groups have coordinators.
const SHARE_SINCE: i16 = 6;

const GROUP: i8 = 0;
const TRANSACTION: i8 = 1;
const SHARE: i8 = 2;

/// A Kafka uuid in text: 16 bytes in URL-safe base64, without padding or with it.
const UUID_TEXT_LEN: usize = 22;

pub(in crate::server) fn answer(context: &Context, request: FindCoordinatorRequest) -> Response {
    if !matches!(request.key_type, GROUP | TRANSACTION | SHARE) {
        return errors::error_response(&Request::from(request), context.version, ErrorCode::InvalidRequest);
    }
    let find = |key: &str| {
        let is_valid = request.key_type != SHARE || (context.version >= SHARE_SINCE && is_share_key(key));
        if is_valid { Ok(Node::of(context)) } else { Err(ErrorCode::InvalidRequest) }
    };
    if context.version >= KEYS_SINCE {
        let coordinators = request.coordinator_keys.iter().map(|key| coordinator(key, find(key)));
        return message!(FindCoordinatorResponse { coordinators: coordinators.collect() }).into();
    }
    let (node, error) = parts(find(&request.key));
    message!(FindCoordinatorResponse {
        error_code: error.code(),
        error_message: Some(error.name().into()),
        node_id: node.id,
        host: node.host,
        port: node.port,
    })
    .into()
}

struct Node {
    id: i32,
    host: StrBytes,
    port: i32,
}

impl Node {
    fn of(context: &Context) -> Self {
        let endpoint = &context.shared.advertised;
        Self { id: context.handle().image().node_id, host: endpoint.host.clone(), port: i32::from(endpoint.port) }
    }
}

fn parts(found: Result<Node, ErrorCode>) -> (Node, ErrorCode) {
    match found {
        Ok(node) => (node, ErrorCode::None),
        Err(error) => (Node { id: -1, host: StrBytes::default(), port: -1 }, error),
    }
}

fn coordinator(key: &StrBytes, found: Result<Node, ErrorCode>) -> Coordinator {
    let (node, error) = parts(found);
    message!(Coordinator {
        key: key.clone(),
        node_id: node.id,
        host: node.host,
        port: node.port,
        error_code: error.code(),
    })
}

/// `group:topic id:partition`; the group may have colons of its own but not be empty.
fn is_share_key(key: &str) -> bool {
    let mut parts = key.rsplitn(3, ':');
    let (partition, topic_id, group) = (parts.next(), parts.next(), parts.next());
    partition.is_some_and(|partition| partition.parse::<i32>().is_ok())
        && topic_id.is_some_and(is_uuid)
        && group.is_some_and(|group| !group.is_empty())
}

fn is_uuid(text: &str) -> bool {
    let text = text.trim_end_matches('=');
    text.len() == UUID_TEXT_LEN && text.chars().all(|char| char.is_ascii_alphanumeric() || char == '-' || char == '_')
}

#[cfg(test)]
mod tests;
