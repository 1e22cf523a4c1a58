//! Tests against what Kafka 4.4.0 was observed to answer.

use super::*;
use crate::protocol::Response;
use crate::server::testing::{World, response_of};

fn request(name: &str, version: &str) -> ApiVersionsRequest {
    message!(ApiVersionsRequest { client_software_name: name.into(), client_software_version: version.into() })
}

async fn ask(world: &World, version: i16, request: &ApiVersionsRequest) -> ApiVersionsResponse {
    let Response::ApiVersions(response) = response_of(answer(&world.context(version), request)).await else { panic!() };
    Response::ApiVersions(response.clone()).encode(version, 1).expect("it fits its version");
    *response
}

#[tokio::test]
async fn every_served_api_is_listed_once_with_kafkas_range() {
    let world = World::new();
    let response = ask(&world, 4, &request("librdkafka", "2.16.0")).await;
    let keys: Vec<_> = response.api_keys.iter().map(|key| key.api_key).collect();
    assert_eq!(keys, ApiKey::ALL.iter().map(|api| api.code()).collect::<Vec<_>>());
    let range = |code| {
        let key = response.api_keys.iter().find(|key| key.api_key == code).unwrap();
        (key.min_version, key.max_version)
    };
    assert_eq!(range(0), (0, 13), "lower than what works, or librdkafka switches compression off");
    assert_eq!(range(88), (0, 1));
    assert!(!keys.contains(&26), "transactions are not served yet");
}

#[tokio::test]
async fn features_say_what_works_and_old_clients_do_not_see_those_that_begin_at_zero() {
    let world = World::new();
    let names = |response: &ApiVersionsResponse| {
        response.supported_features.iter().map(|feature| feature.name.to_string()).collect::<Vec<_>>()
    };
    let response = ask(&world, 4, &request("a", "1")).await;
    assert!(names(&response).contains(&"transaction.version".to_owned()));
    let finalized: Vec<_> =
        response.finalized_features.iter().map(|feature| (&*feature.name, feature.max_version_level)).collect();
    assert_eq!(finalized, [("metadata.version", 33), ("streams.version", 1)]);

    let response = ask(&world, 3, &request("a", "1")).await;
    assert_eq!(names(&response), ["metadata.version"]);
    assert_eq!(response.finalized_features.len(), 2);
    assert!(ask(&world, 2, &request("", "")).await.supported_features.is_empty());
}

#[tokio::test]
async fn software_must_have_a_plain_name_and_version() {
    let world = World::new();
    for (name, version) in [("bad name!", "1"), ("a", ""), ("", "1"), ("-a", "1"), ("a", "1-"), ("ä", "1")] {
        let response = ask(&world, 3, &request(name, version)).await;
        assert_eq!((response.error_code, response.api_keys.len()), (42, 0), "{name:?} {version:?}");
    }
    assert_eq!(ask(&world, 3, &request("apache-kafka-java", "4.4.0")).await.error_code, 0);
    assert_eq!(ask(&world, 2, &request("", "")).await.error_code, 0, "not asked for before version 3");
}

#[tokio::test]
async fn a_client_that_means_another_cluster_or_node_must_start_anew() {
    let world = World::new();
    let cases = [
        (None, -1, 0),
        (Some("the-cluster"), 1, 0),
        (Some("the-cluster"), 77, 129),
        (Some("another"), 1, 129),
        (Some(""), 1, 129),
        (Some("the-cluster"), -1, 42),
        (None, 1, 42),
        (None, -2, 42),
    ];
    for (cluster_id, node_id, error) in cases {
        let mut request = request("a", "1");
        request.cluster_id = cluster_id.map(Into::into);
        request.node_id = node_id;
        assert_eq!(ask(&world, 5, &request).await.error_code, error, "{cluster_id:?} {node_id}");
    }
}
