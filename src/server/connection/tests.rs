//! Tests of a connection: order, limits, hostile clients, and its ends. The test plays the machine.

mod fuzz;
mod limits;
mod order;

use super::*;
use crate::client::Client;
use crate::protocol::messages::{
    ApiVersionsRequest, ListGroupsRequest, ListGroupsResponse, StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
};
use crate::protocol::{Request, message, samples};
use crate::runtime::detached::Question;
use crate::runtime::{Input, Reply};
use crate::server::testing::{Setup, World, settle};
use crate::{catalog, coordinator};

pub(super) fn heartbeat(epoch: i32) -> StreamsGroupHeartbeatRequest {
    message!(StreamsGroupHeartbeatRequest { group_id: "g".into(), member_id: "m".into(), member_epoch: epoch })
}

/// Answers a heartbeat with the epoch that it carried.
pub(super) fn answer_heartbeat(question: Question) {
    let (input, answer) = question.into_parts();
    answer.send(Ok(heartbeat_reply(&input)));
}

pub(super) fn heartbeat_reply(input: &Input) -> Reply {
    let Input::Coordinator(coordinator::Input::StreamsGroupHeartbeat(asked)) = input else {
        panic!("not a heartbeat: {input:?}")
    };
    Reply::Response(message!(StreamsGroupHeartbeatResponse { member_epoch: asked.request.member_epoch }).into())
}

pub(super) fn epoch_of(response: &Response) -> i32 {
    let Response::StreamsGroupHeartbeat(response) = response else { panic!("{response:?}") };
    response.member_epoch
}

/// Whether the server has closed the connection without a further answer.
pub(super) async fn is_closed<S: AsyncRead + AsyncWrite + Unpin>(client: &mut Client<S>) -> bool {
    matches!(client.read_frame().await, Err(crate::client::ClientError::Io(_)))
}

/// A request frame, length included.
pub(super) fn frame(request: impl Into<Request>, version: i16) -> Vec<u8> {
    request.into().encode(version, 7, Some("test")).unwrap().to_vec()
}

#[tokio::test]
async fn a_client_asks_and_is_answered_with_who_it_is_noted() {
    let mut world = World::new();
    let (mut client, _) = world.connect();
    client.set_client_id(Some("app-1"));
    client.submit(heartbeat(3), 1).await.unwrap();
    let question = world.inbox.next().await.remove(0);
    let Input::Coordinator(coordinator::Input::StreamsGroupHeartbeat(asked)) = question.input() else { panic!() };
    assert_eq!((&*asked.client_id, &*asked.client_host, asked.version), ("app-1", "/127.0.0.1", 1));
    answer_heartbeat(question);
    assert_eq!(epoch_of(&client.receive().await.unwrap()), 3);
}

#[tokio::test]
async fn a_null_client_id_is_an_empty_one() {
    let mut world = World::new();
    let (mut client, _) = world.connect();
    client.set_client_id(None);
    client.submit(heartbeat(1), 0).await.unwrap();
    let questions = world.inbox.next().await;
    let Input::Coordinator(coordinator::Input::StreamsGroupHeartbeat(asked)) = questions[0].input() else { panic!() };
    assert_eq!(&*asked.client_id, "");
}

#[tokio::test]
async fn frames_may_arrive_byte_by_byte_and_several_at_once() {
    let world = World::new();
    let (mut client, _) = world.connect();
    let request = frame(ApiVersionsRequest::default(), 0);
    for byte in &request {
        client.send_raw(&[*byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert_eq!(client.read_frame().await.unwrap()[..6], [0, 0, 0, 7, 0, 0]);
    client.send_raw(&[request.clone(), request].concat()).await.unwrap();
    for _ in 0..2 {
        assert_eq!(client.read_frame().await.unwrap()[..6], [0, 0, 0, 7, 0, 0]);
    }
}

#[tokio::test]
async fn stray_bytes_behind_a_request_are_ignored() {
    let world = World::new();
    let (mut client, _) = world.connect();
    client.send_raw(&[0, 0, 0, 11, 0, 18, 0, 0, 0, 0, 0, 10, 0xff, 0xff, 0]).await.unwrap();
    assert_eq!(client.read_frame().await.unwrap()[..6], [0, 0, 0, 10, 0, 0]);
}

#[tokio::test]
async fn an_unknown_api_or_version_closes_the_connection_but_api_versions_says_what_it_is() {
    let world = World::new();
    for (api_key, version) in [(0x7fff, 0), (3, 99), (1, 3), (4, 0), (88, 2), (-1, 0), (0, 2)] {
        let (mut client, served) = world.connect();
        let (api_key, version): (i16, i16) = (api_key, version);
        let body = [&api_key.to_be_bytes()[..], &version.to_be_bytes()[..], &[0, 0, 0, 9, 0xff, 0xff]].concat();
        client.send_raw(&[&[0, 0, 0, 10][..], &body].concat()).await.unwrap();
        assert!(is_closed(&mut client).await, "{api_key} v{version}");
        assert!(matches!(served.await.unwrap(), End::Wire(_)));
    }

    let (mut client, _) = world.connect();
    // Version 99: a version 0 body with UNSUPPORTED_VERSION and the one range that helps.
    client.send_raw(&[0, 0, 0, 14, 0, 18, 0, 99, 0, 0, 0, 7, 0, 4, b'm', b'a', b'i', b'n']).await.unwrap();
    let expected = [0, 0, 0, 7, 0, 35, 0, 0, 0, 1, 0, 18, 0, 0, 0, 5];
    assert_eq!(client.read_frame().await.unwrap()[..], expected);
    client.send(ApiVersionsRequest::default(), 0).await.unwrap();
}

#[tokio::test]
async fn when_the_machine_cannot_answer_each_api_says_so_in_its_own_way() {
    let World { shared, inbox, stop, .. } = World::new();
    drop(inbox);
    let (near, far) = tokio::io::duplex(64 * 1024);
    tokio::spawn(Connection::new(far, shared, "/127.0.0.1".into(), stop).run());
    let mut client = Client::over(near);
    let answer = client.send(heartbeat(1), 1).await.unwrap();
    let Response::StreamsGroupHeartbeat(answer) = answer else { panic!() };
    assert_eq!(answer.error_code, 16, "look for the coordinator again");
    let Response::DeleteRecords(answer) = client.send(samples::request(ApiKey::DeleteRecords, 2), 2).await.unwrap()
    else {
        panic!()
    };
    assert_eq!(answer.topics[0].partitions[1].error_code, 6, "look for the leader again");
}

#[tokio::test]
async fn a_parked_asker_that_is_dropped_gets_an_answer_all_the_same() {
    let mut world = World::new();
    let (mut client, _) = world.connect();
    client.submit(heartbeat(1), 1).await.unwrap();
    drop(world.inbox.next().await);
    let Response::StreamsGroupHeartbeat(answer) = client.receive().await.unwrap() else { panic!() };
    assert_eq!(answer.error_code, 16);
}

#[tokio::test]
async fn an_answer_that_does_not_fit_its_version_closes_the_connection() {
    let mut world = World::new();
    let (mut client, served) = world.connect();
    client.submit(ListGroupsRequest::default(), 0).await.unwrap();
    let question = world.inbox.next().await.remove(0);
    let too_long =
        message!(crate::protocol::messages::list_groups_response::ListedGroup { group_id: "g".repeat(40_000).into() });
    question.answer(Ok(Reply::Response(message!(ListGroupsResponse { groups: vec![too_long] }).into())));
    assert!(is_closed(&mut client).await);
    assert!(matches!(served.await.unwrap(), End::Wire(WireError::Unrepresentable(_))));
}

#[tokio::test]
async fn stopping_answers_what_is_under_way_and_reads_no_more() {
    let mut world = World::new();
    let (mut client, served) = world.connect();
    client.submit(heartbeat(1), 1).await.unwrap();
    let question = world.inbox.next().await.remove(0);
    world.stop.cancel();
    settle().await;
    client.submit(heartbeat(2), 1).await.unwrap();
    settle().await;
    assert!(world.inbox.waiting().is_empty());
    answer_heartbeat(question);
    assert_eq!(epoch_of(&client.receive().await.unwrap()), 1);
    assert!(matches!(served.await.unwrap(), End::Stopping));
    assert!(is_closed(&mut client).await);
}

#[tokio::test]
async fn an_idle_connection_ends_at_once_when_the_server_stops_or_the_client_leaves() {
    let world = World::new();
    let (client, left) = world.connect();
    drop(client);
    assert!(matches!(left.await.unwrap(), End::Closed));
    let (_client, served) = world.connect();
    settle().await;
    world.stop.cancel();
    assert!(matches!(served.await.unwrap(), End::Stopping));
}
