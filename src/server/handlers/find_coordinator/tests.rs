//! Tests against what Kafka 4.4.0 was observed to answer.

use super::*;
use crate::server::testing::World;

fn ask(version: i16, key_type: i8, keys: &[&str]) -> FindCoordinatorResponse {
    let mut request = message!(FindCoordinatorRequest { key_type: key_type });
    if version < KEYS_SINCE {
        request.key = keys[0].into();
    } else {
        request.coordinator_keys = keys.iter().map(|key| (*key).into()).collect();
    }
    let response = answer(&World::new().context(version), request);
    response.encode(version, 1).expect("it fits its version");
    let Response::FindCoordinator(response) = response else { panic!() };
    *response
}

#[test]
fn groups_and_transactions_are_all_coordinated_here() {
    for (key_type, version) in [(GROUP, 0), (GROUP, 1), (GROUP, 3), (TRANSACTION, 2)] {
        let response = ask(version, key_type, &["a"]);
        let address = (response.node_id, &*response.host, response.port);
        assert_eq!((response.error_code, address), (0, (1, "broker.example", 9092)));
    }
    assert_eq!(ask(3, GROUP, &["a"]).error_message.as_deref(), Some("NONE"), "as Kafka says it");
    let response = ask(4, GROUP, &["a", "b", "a"]);
    let keys: Vec<_> =
        response.coordinators.iter().map(|found| (&*found.key, found.error_code, found.node_id)).collect();
    assert_eq!(keys, [("a", 0, 1), ("b", 0, 1), ("a", 0, 1)]);
    assert!(ask(4, TRANSACTION, &[]).coordinators.is_empty());
}

#[test]
fn an_unknown_key_type_is_an_invalid_request_for_each_key() {
    let response = ask(3, 9, &["a"]);
    assert_eq!((response.error_code, response.node_id, &*response.host, response.port), (42, -1, "", -1));
    let response = ask(4, 9, &["a", "b"]);
    let errors: Vec<_> =
        response.coordinators.iter().map(|found| (&*found.key, found.error_code, found.node_id, found.port)).collect();
    assert_eq!(errors, [("a", 42, -1, -1), ("b", 42, -1, -1)]);
}

#[test]
fn a_share_key_names_group_topic_id_and_partition() {
    let id = "AAAAAAAAAAAAAAAAAAAAAQ";
    let cases = [
        (format!("g:{id}:0"), 0),
        (format!("g:h:{id}:1"), 0),
        (format!("g:{id}:-1"), 0),
        (format!(":{id}:1"), 42),
        (format!("g:{id}:one"), 42),
        ("g:x:0".to_owned(), 42),
        ("not-a-share-key".to_owned(), 42),
    ];
    for (key, error) in cases {
        assert_eq!(ask(6, SHARE, &[&key]).coordinators[0].error_code, error, "{key}");
        assert_eq!(ask(5, SHARE, &[&key]).coordinators[0].error_code, 42, "share groups came with version 6");
        assert_eq!(ask(3, SHARE, &[&key]).error_code, 42);
    }
}
