//! Which handler serves which API, and what it needs before it can start.

use super::context::Context;
use super::frames::Declared;
use super::handlers::{
    api_versions, catalog, delete_records, fetch, find_coordinator, list_offsets, metadata, offset_for_leader_epoch,
    produce, sasl,
};
use super::work::{Answer, Work};
use crate::catalog::Input as Catalog;
use crate::coordinator::Input as Coordinator;
use crate::protocol::{ApiKey, Request};
use crate::runtime::{Input, Slot};
use crate::txn::Input as Txn;

/// How much memory requests of most APIs take compared to their frames, at worst.
const DECODED_RATIO: usize = 32;
/// A Produce request is copied once: batches are stored apart from the frame they came in.
const PRODUCE_RATIO: usize = 2;

/// What a frame that is not small takes of the memory for requests.
pub(super) fn memory_of(frame: &Declared) -> usize {
    let ratio = if frame.api_key == ApiKey::Produce.code() { PRODUCE_RATIO } else { DECODED_RATIO };
    frame.len.saturating_mul(ratio)
}

/// Whether requests of this API are the only ones of their connection while they are under way.
///
/// A Fetch may wait for long and its answer may be large. Made while it is not its turn, the answer would lie in memory
/// for as long as the requests before it take.
pub(super) const fn is_alone(api_key: i16) -> bool {
    api_key == ApiKey::Fetch.code()
}

/// Whether a request goes to the machine before the next request of its connection is looked at.
pub(super) const fn needs_slot(api: ApiKey) -> bool {
    match api {
        ApiKey::Produce
        | ApiKey::OffsetCommit
        | ApiKey::OffsetFetch
        | ApiKey::OffsetDelete
        | ApiKey::DescribeGroups
        | ApiKey::ListGroups
        | ApiKey::DeleteGroups
        | ApiKey::StreamsGroupHeartbeat
        | ApiKey::StreamsGroupDescribe
        | ApiKey::CreateTopics
        | ApiKey::DeleteTopics
        | ApiKey::CreatePartitions
        | ApiKey::IncrementalAlterConfigs
        | ApiKey::DeleteRecords
        | ApiKey::InitProducerId => true,
        ApiKey::ApiVersions
        | ApiKey::Metadata
        | ApiKey::FindCoordinator
        | ApiKey::SaslHandshake
        | ApiKey::SaslAuthenticate
        | ApiKey::DescribeConfigs
        | ApiKey::DescribeCluster
        | ApiKey::DescribeTopicPartitions
        | ApiKey::Fetch
        | ApiKey::ListOffsets
        | ApiKey::OffsetForLeaderEpoch => false,
    }
}

/// Starts a request that does not go to the machine at once.
pub(super) fn start(context: &Context, request: Request) -> Work {
    match request {
        Request::ApiVersions(request) => api_versions::answer(context, &request),
        Request::Metadata(request) => metadata::start(context, &request),
        Request::FindCoordinator(request) => Work::answer(find_coordinator::answer(context, *request)),
        Request::SaslHandshake(_) => Work::answer(sasl::handshake()),
        Request::SaslAuthenticate(_) => Work::answer(sasl::authenticate()),
        Request::DescribeConfigs(request) => Work::answer(catalog::describe_configs(context, &request)),
        Request::DescribeCluster(request) => Work::answer(catalog::describe_cluster(context, &request)),
        Request::DescribeTopicPartitions(request) => {
            Work::answer(catalog::describe_topic_partitions(context, &request))
        }
        Request::Fetch(request) => fetch::start(context, *request),
        Request::ListOffsets(request) => list_offsets::start(context, *request),
        Request::OffsetForLeaderEpoch(request) => Work::answer(offset_for_leader_epoch::answer(context, *request)),
        _ => Work::Done(Answer::Close("this request needs a slot")),
    }
}

/// Submits a request to the machine; when this returns, its place in the order is fixed.
pub(super) fn submit(context: &Context, request: Request, slot: Slot) -> Work {
    macro_rules! ask {
        ($core:ident::$input:ident, $request:expr) => {
            Work::Asked(slot.ask(|to| Input::$core($core::$input(context.asked(to, *$request)))))
        };
    }
    match request {
        Request::Produce(request) => produce::submit(context, &request, slot),
        Request::DeleteRecords(request) => delete_records::submit(context, *request, slot),
        Request::OffsetCommit(request) => ask!(Coordinator::OffsetCommit, request),
        Request::OffsetFetch(request) => ask!(Coordinator::OffsetFetch, request),
        Request::OffsetDelete(request) => ask!(Coordinator::OffsetDelete, request),
        Request::DescribeGroups(request) => ask!(Coordinator::DescribeGroups, request),
        Request::ListGroups(request) => ask!(Coordinator::ListGroups, request),
        Request::DeleteGroups(request) => ask!(Coordinator::DeleteGroups, request),
        Request::StreamsGroupHeartbeat(request) => ask!(Coordinator::StreamsGroupHeartbeat, request),
        Request::StreamsGroupDescribe(request) => ask!(Coordinator::StreamsGroupDescribe, request),
        Request::CreateTopics(request) => ask!(Catalog::CreateTopics, request),
        Request::DeleteTopics(request) => ask!(Catalog::DeleteTopics, request),
        Request::CreatePartitions(request) => ask!(Catalog::CreatePartitions, request),
        Request::IncrementalAlterConfigs(request) => ask!(Catalog::IncrementalAlterConfigs, request),
        Request::InitProducerId(request) => ask!(Txn::InitProducerId, request),
        _ => Work::Done(Answer::Close("this request needs no slot")),
    }
}
