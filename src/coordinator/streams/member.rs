//! What a heartbeat changes in a member's metadata (Kafka's `StreamsGroupMember.Builder`).

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::group::NO_TOPOLOGY_EPOCH;
use super::records::{Endpoint, StreamsGroupMemberMetadataValue};
use crate::machine::Asked;
use crate::protocol::messages::StreamsGroupHeartbeatRequest;
use crate::types::ProcessId;

/// "Not told" for a rebalance timeout.
pub(super) const NO_REBALANCE_TIMEOUT: i32 = -1;

/// The metadata of a member of which nothing is known yet.
pub(super) fn blank() -> StreamsGroupMemberMetadataValue {
    StreamsGroupMemberMetadataValue {
        instance_id: None,
        rack_id: None,
        client_id: String::new(),
        client_host: String::new(),
        rebalance_timeout_ms: NO_REBALANCE_TIMEOUT,
        topology_epoch: NO_TOPOLOGY_EPOCH,
        process_id: ProcessId::default(),
        user_endpoint: None,
        client_tags: BTreeMap::new(),
    }
}

/// The metadata after a heartbeat, `None` if it stays as it is. A field that the request leaves out keeps its value, but
/// for the endpoint: a join without one takes it away.
pub(super) fn updated(
    stored: &StreamsGroupMemberMetadataValue,
    asked: &Asked<StreamsGroupHeartbeatRequest>,
) -> Option<StreamsGroupMemberMetadataValue> {
    let request = &asked.request;
    let joins = request.member_epoch == 0;
    let mut next = Cow::Borrowed(stored);
    if let Some(instance_id) = request.instance_id.as_deref()
        && stored.instance_id.as_deref() != Some(instance_id)
    {
        next.to_mut().instance_id = Some(instance_id.into());
    }
    if let Some(rack_id) = request.rack_id.as_deref()
        && stored.rack_id.as_deref() != Some(rack_id)
    {
        next.to_mut().rack_id = Some(rack_id.to_owned());
    }
    if stored.client_id != *asked.client_id {
        next.to_mut().client_id = asked.client_id.to_string();
    }
    if stored.client_host != *asked.client_host {
        next.to_mut().client_host = asked.client_host.to_string();
    }
    let rebalance_timeout_ms = request.rebalance_timeout_ms;
    if rebalance_timeout_ms != NO_REBALANCE_TIMEOUT && stored.rebalance_timeout_ms != rebalance_timeout_ms {
        next.to_mut().rebalance_timeout_ms = rebalance_timeout_ms;
    }
    if let Some(topology) = request.topology.as_ref().filter(|_| joins)
        && stored.topology_epoch != topology.epoch
    {
        next.to_mut().topology_epoch = topology.epoch;
    }
    if let Some(process_id) = request.process_id.as_deref()
        && *stored.process_id != *process_id
    {
        next.to_mut().process_id = process_id.into();
    }
    let endpoint = request.user_endpoint.as_ref().map(|told| Endpoint { host: told.host.to_string(), port: told.port });
    if (joins || endpoint.is_some()) && stored.user_endpoint != endpoint {
        next.to_mut().user_endpoint = endpoint;
    }
    if let Some(tags) = &request.client_tags {
        let tags: BTreeMap<String, String> =
            tags.iter().map(|tag| (tag.key.to_string(), tag.value.to_string())).collect();
        if stored.client_tags != tags {
            next.to_mut().client_tags = tags;
        }
    }
    match next {
        Cow::Borrowed(_) => None,
        Cow::Owned(next) => Some(next),
    }
}

/// Whether the change from `before` to `after` asks for a new assignment. Any change does, as in Kafka 4.4.0; but where the
/// member spoke as a static one, only a change of what an assignment may depend on (KAFKA-20169).
pub(super) fn asks_for_assignment(
    before: &StreamsGroupMemberMetadataValue,
    after: &StreamsGroupMemberMetadataValue,
    speaks_as_static: bool,
) -> bool {
    let assignment_may_change = before.topology_epoch != after.topology_epoch
        || before.rack_id != after.rack_id
        || before.client_tags != after.client_tags
        || before.process_id != after.process_id;
    assignment_may_change || (!speaks_as_static && before != after)
}
