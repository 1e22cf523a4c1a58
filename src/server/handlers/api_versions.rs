//! ApiVersions: what is served. Every client asks this first.

use crate::protocol::messages::api_versions_response::{ApiVersion, FinalizedFeatureKey, SupportedFeatureKey};
use crate::protocol::messages::{ApiVersionsRequest, ApiVersionsResponse};
use crate::protocol::{ApiKey, message};
use crate::server::context::Context;
use crate::server::work::Work;
use crate::types::ErrorCode;

/// Below this version features whose lowest level is 0 are left out: clients of that time cannot read them
/// (KAFKA-17011).
const LEVEL_ZERO_SINCE: i16 = 4;
/// From this version on a client says what software it is.
const SOFTWARE_SINCE: i16 = 3;
/// From this version on a client says which node of which cluster it means (KIP-1242).
const CLUSTER_SINCE: i16 = 5;

/// Rises with each release that finalises a feature at another level, so that clients that stay connected notice.
const FEATURES_EPOCH: i64 = 1;

/// A feature: the levels that exist in Kafka 4.4.0, and the level that holds here. 0 means that it is off and is not
/// listed as finalised, as in Kafka.
struct Feature {
    name: &'static str,
    min: i16,
    max: i16,
    finalized: i16,
}

/// Clients switch their behaviour by the finalised levels; so a level stands here only if all it promises is served.
/// (`transaction.version` 2 would make a producer use transactions without `AddPartitionsToTxn`.)
const FEATURES: &[Feature] = &[
    Feature { name: "group.version", min: 0, max: 1, finalized: 0 },
    Feature { name: "kraft.version", min: 0, max: 1, finalized: 0 },
    Feature { name: "metadata.version", min: 7, max: 33, finalized: 33 },
    Feature { name: "share.version", min: 0, max: 2, finalized: 0 },
    Feature { name: "streams.version", min: 0, max: 1, finalized: 1 },
    Feature { name: "transaction.version", min: 0, max: 2, finalized: 0 },
    Feature { name: "eligible.leader.replicas.version", min: 0, max: 1, finalized: 0 },
];

/// Answers a request of a version that is served.
pub(in crate::server) fn answer(context: &Context, request: &ApiVersionsRequest) -> Work {
    match check(context, request) {
        Ok(()) => Work::answer(served(context.version)),
        Err(error) => Work::answer(message!(ApiVersionsResponse { error_code: error.code() })),
    }
}

/// The answer, in version 0, to a request of a version that is not served: only this API's own range, with which the
/// client can ask again.
pub(in crate::server) fn unsupported() -> Work {
    Work::answer(message!(ApiVersionsResponse {
        error_code: ErrorCode::UnsupportedVersion.code(),
        api_keys: vec![advertised(ApiKey::ApiVersions)],
    }))
}

fn check(context: &Context, request: &ApiVersionsRequest) -> Result<(), ErrorCode> {
    let names_software =
        is_software_word(&request.client_software_name) && is_software_word(&request.client_software_version);
    if context.version >= SOFTWARE_SINCE && !names_software {
        return Err(ErrorCode::InvalidRequest);
    }
    if context.version < CLUSTER_SINCE {
        return Ok(());
    }
    let image = context.handle().image();
    match (request.cluster_id.as_deref(), request.node_id) {
        (None, -1) => Ok(()),
        // A client either means a certain node or does not care.
        (None, _) | (Some(_), ..=-1) => Err(ErrorCode::InvalidRequest),
        (Some(cluster_id), node_id) if *cluster_id == *image.cluster_id && node_id == image.node_id => Ok(()),
        (Some(_), _) => Err(ErrorCode::RebootstrapRequired),
    }
}

/// Letters and digits, and in between also `-` and `.`.
fn is_software_word(word: &str) -> bool {
    let (first, last) = (word.chars().next(), word.chars().next_back());
    let is_edge = |edge: Option<char>| edge.is_some_and(|char| char.is_ascii_alphanumeric());
    is_edge(first)
        && is_edge(last)
        && word.chars().all(|char| char.is_ascii_alphanumeric() || char == '-' || char == '.')
}

fn served(version: i16) -> ApiVersionsResponse {
    let is_shown = |feature: &&Feature| version >= LEVEL_ZERO_SINCE || feature.min > 0;
    let supported = FEATURES.iter().filter(is_shown).map(|feature| {
        message!(SupportedFeatureKey { name: feature.name.into(), min_version: feature.min, max_version: feature.max })
    });
    let finalized = FEATURES.iter().filter(|feature| feature.finalized > 0).map(|feature| {
        message!(FinalizedFeatureKey {
            name: feature.name.into(),
            max_version_level: feature.finalized,
            min_version_level: feature.finalized,
        })
    });
    let mut response =
        message!(ApiVersionsResponse { api_keys: ApiKey::ALL.iter().map(|api| advertised(*api)).collect() });
    if version >= SOFTWARE_SINCE {
        response.supported_features = supported.collect();
        response.finalized_features = finalized.collect();
        response.finalized_features_epoch = FEATURES_EPOCH;
    }
    response
}

fn advertised(api: ApiKey) -> ApiVersion {
    let (min, max) = api.advertised();
    message!(ApiVersion { api_key: api.code(), min_version: min, max_version: max })
}

#[cfg(test)]
mod tests;
