//! Requests go to the machine in the order they came and are answered in that order, whenever each is done.

use super::*;
use crate::heads;
use crate::protocol::messages::{ProduceRequest, produce_request};
use crate::server::testing::batch;
use crate::types::{Offset, TimestampMs};

#[tokio::test]
async fn answers_leave_in_the_order_of_the_requests() {
    let mut world = World::new();
    let (mut client, _) = world.connect();
    for epoch in 1..=3 {
        client.submit(heartbeat(epoch), 1).await.unwrap();
    }
    let mut questions = Vec::new();
    for _ in 0..3 {
        questions.extend(world.inbox.next().await);
    }
    let (first, second, third) = (questions.remove(0), questions.remove(0), questions.remove(0));
    answer_heartbeat(third);
    answer_heartbeat(second);
    settle().await;
    client.set_timeout(Duration::ZERO);
    assert!(client.read_frame().await.is_err(), "nothing leaves before the first is answered");
    client.set_timeout(Duration::from_secs(30));
    answer_heartbeat(first);
    for epoch in 1..=3 {
        assert_eq!(epoch_of(&client.receive().await.unwrap()), epoch);
    }
}

fn produce(value: &str) -> ProduceRequest {
    use produce_request::{PartitionProduceData, TopicProduceData};
    let partition = message!(PartitionProduceData { records: Some(batch(&[value])) });
    let topic = message!(TopicProduceData { name: "orders".into(), partition_data: vec![partition] });
    message!(ProduceRequest { acks: -1, topic_data: vec![topic] })
}

/// What an input is about, in a few words.
fn words_of(question: &Question) -> String {
    match question.input() {
        Input::Coordinator(coordinator::Input::StreamsGroupHeartbeat(asked)) => {
            format!("heartbeat {}", asked.request.member_epoch)
        }
        Input::Heads(heads::Input::Append { batch, .. }) => format!("append of {} bytes", batch.len()),
        Input::Heads(heads::Input::RaiseLogStart { partition, .. }) => format!("raise {}", partition.partition),
        Input::Catalog(catalog::Input::CreateTopics(_)) => "create".to_owned(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn pipelined_requests_of_all_kinds_reach_the_machine_in_order_before_any_is_answered() {
    let mut world = World::new();
    world.topic("orders", 2, &[]);
    let (mut client, _) = world.connect();
    let pipelined = [
        frame(produce("a"), 9),
        frame(heartbeat(1), 1),
        frame(produce("bb"), 9),
        frame(samples::request(ApiKey::DeleteRecords, 2), 2),
        frame(samples::request(ApiKey::CreateTopics, 7), 7),
        frame(produce("ccc"), 9),
    ];
    client.send_raw(&pipelined.concat()).await.unwrap();
    let mut inputs = Vec::new();
    while inputs.len() < 7 {
        inputs.extend(world.inbox.next().await.iter().map(words_of));
    }
    let append = |value: &str| format!("append of {} bytes", batch(&[value]).len());
    let expected = [
        append("a"),
        "heartbeat 1".to_owned(),
        append("bb"),
        "raise 0".to_owned(),
        "raise 1".to_owned(),
        "create".to_owned(),
        append("ccc"),
    ];
    assert_eq!(inputs, expected);
}

#[tokio::test]
async fn the_order_holds_while_the_machine_has_no_room() {
    let mut world = World::with(Setup { queued_max: 1, ..Setup::default() });
    let (mut client, _) = world.connect();
    let frames: Vec<_> = (1..=20).map(|epoch| frame(heartbeat(epoch), 1)).collect();
    client.send_raw(&frames.concat()).await.unwrap();
    settle().await;
    for epoch in 1..=20 {
        let question = world.inbox.next().await.remove(0);
        assert_eq!(words_of(&question), format!("heartbeat {epoch}"));
        answer_heartbeat(question);
        settle().await;
    }
    for _ in 1..=20 {
        client.read_frame().await.unwrap();
    }
}

#[tokio::test]
async fn produce_without_acks_is_silent_and_keeps_its_place() {
    let mut world = World::new();
    world.topic("orders", 1, &[]);
    let (mut client, _) = world.connect();
    let mut silent = produce("a");
    silent.acks = 0;
    client.send_unanswered(silent, 9).await.unwrap();
    client.submit(heartbeat(5), 1).await.unwrap();
    let append = world.inbox.next().await.remove(0);
    answer_heartbeat(world.inbox.next().await.remove(0));
    let appended =
        heads::Reply::Appended { base_offset: Offset(0), log_append_time: TimestampMs(-1), log_start: Offset(0) };
    append.answer(Ok(Reply::Heads(appended)));
    assert_eq!(epoch_of(&client.receive().await.unwrap()), 5);
}

#[tokio::test]
async fn a_refused_produce_without_acks_closes_the_connection() {
    let world = World::new();
    let (mut client, served) = world.connect();
    let mut silent = produce("a");
    silent.acks = 0;
    client.send_unanswered(silent, 9).await.unwrap();
    assert!(is_closed(&mut client).await, "there is no such topic");
    assert!(matches!(served.await.unwrap(), End::Refused(_)));
}

#[tokio::test]
async fn requests_before_a_malformed_one_are_answered_first() {
    let mut world = World::new();
    let (mut client, served) = world.connect();
    let malformed = [0, 0, 0, 10, 0x7f, 0xff, 0, 0, 0, 0, 0, 9, 0xff, 0xff];
    client.send_raw(&[frame(heartbeat(1), 1), malformed.to_vec(), frame(heartbeat(2), 1)].concat()).await.unwrap();
    let question = world.inbox.next().await.remove(0);
    settle().await;
    assert!(!served.is_finished());
    answer_heartbeat(question);
    client.read_frame().await.unwrap();
    assert!(is_closed(&mut client).await);
    assert!(world.inbox.waiting().is_empty(), "what follows a malformed request is not looked at");
}
