//! Bytes from anywhere: the worst that may happen is that their connection is closed.

use super::*;
use crate::machine::Rng;
use crate::runtime::Unavailable;
use crate::server::testing::play_machine;

fn any(rng: &mut Rng, bound: usize) -> usize {
    usize::try_from(rng.below(bound as u64)).unwrap()
}

fn any_byte(rng: &mut Rng) -> u8 {
    u8::try_from(rng.below(256)).unwrap()
}

/// Changes, cuts or lengthens a frame, but leaves its own length right.
fn mutate(frame: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut body = frame[4..].to_vec();
    for _ in 0..=any(rng, 3) {
        let at = any(rng, body.len());
        match rng.below(5) {
            0 => body[at] = 0xff,
            1 => body[at] = any_byte(rng),
            2 => body.truncate(at.max(8)),
            3 => body.insert(at, any_byte(rng)),
            _ => {
                // A count or length of four bytes that nothing backs.
                let end = (at + 4).min(body.len());
                body[at..end].copy_from_slice(&[0x7f, 0xff, 0xff, 0xf0][..end - at]);
            }
        }
    }
    framed(&body)
}

fn framed(body: &[u8]) -> Vec<u8> {
    let len = i32::try_from(body.len()).unwrap();
    [&len.to_be_bytes()[..], body].concat()
}

#[tokio::test]
async fn mutated_requests_of_every_api_and_version_only_ever_close_their_connection() {
    let seed = 20_240_601;
    let mut rng = Rng::from_seed(seed);
    let mut world = World::new();
    world.topic("orders", 2, &[]);
    let World { shared, mut inbox, stop, .. } = world;
    // A machine that refuses everything.
    let machine = tokio::spawn(async move {
        let mut questions = inbox.next().await;
        while !questions.is_empty() {
            for question in questions {
                question.answer(Err(Unavailable::Stopping));
            }
            questions = inbox.next().await;
        }
    });
    for (api, version) in samples::all_versions() {
        let valid = frame(samples::request(api, version), version);
        for round in 0..30 {
            let (near, far) = tokio::io::duplex(1024 * 1024);
            let connection = Connection::new(far, Arc::clone(&shared), "/127.0.0.1".into(), stop.child_token());
            let served = tokio::spawn(connection.run());
            let mut client = Client::over(near);
            let bytes = if round == 0 { valid.clone() } else { mutate(&valid, &mut rng) };
            client.send_raw(&bytes).await.unwrap();
            let is_long_poll = bytes[4..6] == ApiKey::Fetch.code().to_be_bytes() && round > 0;
            // A mutated fetch may wait for long, and a mutated produce may want no answer.
            if is_long_poll || bytes[4..6] == ApiKey::Produce.code().to_be_bytes() {
                settle().await;
                drop(client);
                served.await.unwrap_or_else(|panic| panic!("seed {seed}, {api:?} v{version}: {panic}"));
                continue;
            }
            let answered = client.read_frame().await;
            drop(client);
            let end = served.await.unwrap_or_else(|panic| panic!("seed {seed}, {api:?} v{version}: {panic}"));
            assert!(answered.is_ok() || !matches!(end, End::Closed), "seed {seed}, {api:?} v{version}: {bytes:?}");
            assert!(round > 0 || answered.is_ok(), "{api:?} v{version}: a valid request is answered");
        }
    }
    drop(shared);
    machine.await.unwrap();
}

#[tokio::test]
async fn random_bytes_harm_no_other_connection() {
    let seed = 4711;
    let mut rng = Rng::from_seed(seed);
    let world = World::new();
    let (mut good, _) = world.connect();
    for _ in 0..200 {
        let (mut client, served) = world.connect();
        let len = rng.below(300);
        let bytes: Vec<u8> = (0..len).map(|_| any_byte(&mut rng)).collect();
        let _ = client.send_raw(&bytes).await;
        drop(client);
        assert!(served.await.is_ok(), "seed {seed}");
    }
    good.send(ApiVersionsRequest::default(), 0).await.unwrap();
}

#[tokio::test]
async fn what_is_no_request_closes_the_connection() {
    let world = World::new();
    let bytes: [Vec<u8>; 9] = [
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        b"\x7f\xff\xff\xff\x00\x12\x00\x00".to_vec(),
        b"\xff\xff\xff\xff\x00\x12\x00\x00".to_vec(),
        b"\x06\x40\x00\x01\x00\x12\x00\x00".to_vec(),
        framed(b"\xde\xad\xbe\xef\xde\xad\xbe\xef\xde\xad\xbe\xef"),
        framed(b""),
        framed(b"\x00"),
        // A header cut short, and an absurd count.
        framed(b"\x00\x03\x00\x0c\x00\x00\x00\x09"),
        framed(b"\x00\x03\x00\x09\x00\x00\x00\x08\x00\x04main\x00\xff\xff\xff\xff\xff"),
    ];
    for bytes in bytes {
        let (mut client, _) = world.connect();
        client.send_raw(&bytes).await.unwrap();
        assert!(is_closed(&mut client).await, "{bytes:?}");
    }
}

#[tokio::test]
async fn a_machine_that_answers_everything_serves_a_long_pipeline() {
    let World { shared, inbox, stop, .. } = World::new();
    let machine = play_machine(inbox, heartbeat_reply);
    let (near, far) = tokio::io::duplex(4096);
    tokio::spawn(Connection::new(far, shared, "/127.0.0.1".into(), stop).run());
    let mut client = Client::over(near);
    let mut next = 0;
    for epoch in 0..700 {
        client.submit(heartbeat(epoch), 1).await.unwrap();
        if epoch % 7 == 6 {
            for _ in 0..7 {
                assert_eq!(epoch_of(&client.receive().await.unwrap()), next);
                next += 1;
            }
        }
    }
    drop(client);
    machine.await.unwrap();
}
