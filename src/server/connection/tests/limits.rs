//! What one client can take: requests under way, memory, time.

use super::*;
use crate::protocol::messages::{FetchRequest, OffsetCommitRequest};

/// A commit whose frame has about so many bytes, at most 60,000.
fn large_commit(bytes: usize) -> OffsetCommitRequest {
    message!(OffsetCommitRequest {
        group_id: "g".repeat(bytes.min(30_000)).into(),
        member_id: "m".repeat(bytes.saturating_sub(30_000)).into(),
    })
}

fn answer_commit(question: Question) {
    question.answer(Ok(Reply::Response(Response::OffsetCommit(Box::default()))));
}

#[tokio::test]
async fn only_so_many_requests_are_under_way_and_the_next_starts_when_one_is_answered() {
    let mut world = World::new();
    let (mut client, _) = world.connect();
    let frames: Vec<_> = (1..=40).map(|epoch| frame(heartbeat(epoch), 1)).collect();
    client.send_raw(&frames.concat()).await.unwrap();
    settle().await;
    let mut questions = world.inbox.waiting();
    assert_eq!(questions.len(), IN_FLIGHT_MAX);
    answer_heartbeat(questions.remove(0));
    settle().await;
    questions.extend(world.inbox.waiting());
    assert_eq!(questions.len(), IN_FLIGHT_MAX);
    questions.into_iter().for_each(answer_heartbeat);
    settle().await;
    world.inbox.waiting().into_iter().for_each(answer_heartbeat);
    for _ in 1..=40 {
        client.read_frame().await.unwrap();
    }
}

#[tokio::test]
async fn a_large_frame_waits_until_there_is_memory_for_it() {
    let mut world = World::with(Setup { request_memory_bytes: 1024 * 1024, ..Setup::default() });
    let (mut first, _) = world.connect();
    let (mut second, _) = world.connect();
    let (mut third, _) = world.connect();
    // 20 KiB decode to 640 KiB at worst: two of them do not fit.
    first.submit(large_commit(20 * 1024), 9).await.unwrap();
    settle().await;
    second.submit(large_commit(20 * 1024), 9).await.unwrap();
    third.submit(heartbeat(1), 1).await.unwrap();
    settle().await;
    let mut questions = world.inbox.waiting();
    assert_eq!(questions.len(), 2, "one large one, and the small one that needs no share");
    answer_heartbeat(questions.remove(1));
    third.receive().await.unwrap();

    answer_commit(questions.remove(0));
    first.receive().await.unwrap();
    answer_commit(world.inbox.next().await.remove(0));
    second.receive().await.unwrap();
    settle().await;
    assert_eq!(world.shared.request_memory.free_bytes(), 1024 * 1024);
}

#[tokio::test]
async fn large_frames_of_one_connection_wait_for_its_own_answers() {
    let mut world = World::with(Setup { request_memory_bytes: 1024 * 1024, ..Setup::default() });
    let (mut client, _) = world.connect();
    client.submit(large_commit(20 * 1024), 9).await.unwrap();
    client.submit(large_commit(20 * 1024), 9).await.unwrap();
    for _ in 0..2 {
        settle().await;
        let mut questions = world.inbox.waiting();
        assert_eq!(questions.len(), 1);
        answer_commit(questions.remove(0));
        client.receive().await.unwrap();
    }
}

#[tokio::test]
async fn small_frames_of_one_connection_take_a_share_once_they_are_many() {
    let mut world = World::new();
    let (mut client, _) = world.connect();
    let free = |world: &World| world.shared.request_memory.free_bytes();
    let all = free(&world);
    for _ in 0..2 {
        client.submit(large_commit(7 * 1024), 9).await.unwrap();
        settle().await;
    }
    assert_eq!(free(&world), all, "16 KiB need no share");
    client.submit(large_commit(7 * 1024), 9).await.unwrap();
    settle().await;
    assert!(free(&world) < all - 7 * 1024 * 32);
    for question in world.inbox.waiting() {
        answer_commit(question);
        client.receive().await.unwrap();
    }
    settle().await;
    assert_eq!(free(&world), all);
}

#[tokio::test]
async fn a_fetch_is_alone_under_way() {
    let mut world = World::new();
    world.topic("orders", 2, &[]);
    let (mut client, _) = world.connect();
    client.submit(heartbeat(1), 1).await.unwrap();
    let Request::Fetch(mut fetch) = samples::request(ApiKey::Fetch, 12) else { panic!() };
    fetch.max_wait_ms = 1000;
    client.submit(FetchRequest::clone(&fetch), 12).await.unwrap();
    client.submit(heartbeat(2), 1).await.unwrap();
    answer_heartbeat(world.inbox.next().await.remove(0));
    assert_eq!(epoch_of(&client.receive().await.unwrap()), 1);
    settle().await;
    assert!(world.inbox.waiting().is_empty(), "the heartbeat behind the fetch waits for it");
    world.clock.advance(Duration::from_secs(1));
    assert!(matches!(client.receive().await.unwrap(), Response::Fetch(_)));
    answer_heartbeat(world.inbox.next().await.remove(0));
    assert_eq!(epoch_of(&client.receive().await.unwrap()), 2);
}

#[tokio::test(start_paused = true)]
async fn a_silent_connection_is_closed_but_not_while_it_waits_for_an_answer() {
    let mut world = World::new();
    let (mut client, served) = world.connect();
    client.set_timeout(Duration::from_hours(1));
    client.submit(heartbeat(1), 1).await.unwrap();
    let question = world.inbox.next().await.remove(0);
    tokio::time::sleep(Duration::from_mins(20)).await;
    assert!(!served.is_finished(), "it is we who are slow");
    answer_heartbeat(question);
    client.receive().await.unwrap();
    let since = Instant::now();
    assert!(is_closed(&mut client).await);
    assert!(matches!(served.await.unwrap(), End::Idle));
    assert_eq!(since.elapsed().as_secs(), 600);
}

#[tokio::test(start_paused = true)]
async fn a_large_frame_that_stops_half_way_is_given_up_and_gives_back_its_memory() {
    let world = World::new();
    let (mut client, served) = world.connect();
    client.set_timeout(Duration::from_hours(1));
    let whole = frame(large_commit(20 * 1024), 9);
    let since = Instant::now();
    for piece in whole[..whole.len() - 1].chunks(1000) {
        client.send_raw(piece).await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert!(world.shared.request_memory.free_bytes() < 1024 * 1024);
    assert!(is_closed(&mut client).await);
    assert_eq!(since.elapsed().as_secs(), 30, "trickling does not help");
    assert!(matches!(served.await.unwrap(), End::HalfFrame));
    assert_eq!(world.shared.request_memory.free_bytes(), 1024 * 1024);
}

#[tokio::test(start_paused = true)]
async fn a_small_half_frame_is_given_up_like_an_idle_connection() {
    let world = World::new();
    let (mut client, served) = world.connect();
    client.set_timeout(Duration::from_hours(1));
    client.send_raw(&[0, 0, 0, 16, 0, 18, 0, 0]).await.unwrap();
    assert!(is_closed(&mut client).await);
    assert!(matches!(served.await.unwrap(), End::Idle));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_is_cut_off() {
    let world = World::new();
    let (mut client, served) = world.connect();
    // Each answer has some 300 bytes; the pipe takes 64 KiB of them.
    let asking = tokio::spawn(async move {
        let request = frame(ApiVersionsRequest::default(), 0);
        while client.send_raw(&request).await.is_ok() {}
    });
    let since = Instant::now();
    assert!(matches!(served.await.unwrap(), End::NotReading));
    assert!((30..=31).contains(&since.elapsed().as_secs()));
    asking.await.unwrap();
}
