//! Incremental sessions: by example, under limits, and against a model.

use std::collections::BTreeMap;

use super::super::partition::{Ask, Key, TopicKey};
use super::super::session::Change;
use super::super::sessions::{Begun, Sessions, Start};
use super::*;
use crate::machine::Rng;
use crate::server::testing::START;

fn in_session(mut request: FetchRequest, id: i32, epoch: i32) -> FetchRequest {
    request.session_id = id;
    request.session_epoch = epoch;
    request
}

/// A fetch that changes nothing.
fn go_on(id: i32, epoch: i32) -> FetchRequest {
    let mut request = in_session(by_name("", &[]), id, epoch);
    request.topics.clear();
    request
}

#[tokio::test]
async fn a_session_tells_only_what_is_new() {
    let (mut world, orders) = world_with_orders(Setup::default());
    let first = fetch(&world, 13, in_session(by_id(orders, &[(0, 4), (1, 0)]), 0, 0)).await;
    assert_eq!(read(&first), [(0, vec![]), (1, vec![])], "the first fetch tells all");
    let id = first.session_id;
    assert!(id > 0);
    assert!(fetch(&world, 13, go_on(id, 1)).await.responses.is_empty());

    world.append(partition(orders, 1), &["e"]);
    let third = fetch(&world, 13, go_on(id, 2)).await;
    assert_eq!((third.session_id, read(&third)), (id, vec![(1, vec![0])]));
    // The client reads on behind the record; the high watermark it knows.
    assert!(fetch(&world, 13, in_session(by_id(orders, &[(1, 1)]), id, 3)).await.responses.is_empty());
    world.raise_log_start(partition(orders, 0), 2);
    let fifth = fetch(&world, 13, go_on(id, 4)).await;
    assert_eq!(partitions_of(&fifth)[0].log_start_offset, 2);
    assert!(fetch(&world, 13, go_on(id, 5)).await.responses.is_empty());
}

#[tokio::test]
async fn an_error_is_told_each_time_and_so_is_its_end() {
    let (mut world, orders) = world_with_orders(Setup::default());
    let id = fetch(&world, 13, in_session(by_id(orders, &[(0, 5)]), 0, 0)).await.session_id;
    for epoch in [1, 2] {
        assert_eq!(errors_of(&fetch(&world, 13, go_on(id, epoch)).await), [(0, 1)]);
    }
    world.append(partition(orders, 0), &["e"]);
    assert_eq!(errors_of(&fetch(&world, 13, go_on(id, 3)).await), [(0, 0)], "in range again, without records");
    assert!(fetch(&world, 13, go_on(id, 4)).await.responses.is_empty());
}

#[tokio::test]
async fn wrong_epochs_unknown_sessions_and_changed_naming_are_refused() {
    let (world, orders) = world_with_orders(Setup::default());
    let id = fetch(&world, 13, in_session(by_id(orders, &[(0, 4)]), 0, 0)).await.session_id;
    let refusal = async |version, request| {
        let response = fetch(&world, version, request).await;
        assert_eq!((response.session_id, response.responses.len()), (0, 0));
        response.error_code
    };
    assert_eq!(refusal(13, go_on(id, 2)).await, 71);
    assert_eq!(refusal(12, go_on(id, 1)).await, 106);
    assert_eq!(refusal(13, go_on(id + 1, 1)).await, 70);
    assert_eq!(refusal(13, go_on(0, 3)).await, 70);
    assert_eq!(fetch(&world, 13, go_on(id, 1)).await.error_code, 0, "the session itself was not harmed");
}

#[tokio::test]
async fn a_full_fetch_ends_the_session_it_names() {
    let (world, orders) = world_with_orders(Setup::default());
    let id = fetch(&world, 13, in_session(by_id(orders, &[(0, 4)]), 0, 0)).await.session_id;
    let last = fetch(&world, 13, in_session(by_id(orders, &[(0, 4)]), id, -1)).await;
    assert_eq!((last.session_id, last.responses.len()), (0, 1));
    assert_eq!(fetch(&world, 13, go_on(id, 1)).await.error_code, 70);
    assert_eq!(world.shared.fetch_sessions.sizes(), (0, 0));
}

#[tokio::test]
async fn forgetting_all_partitions_ends_the_session() {
    let (world, orders) = world_with_orders(Setup::default());
    let id = fetch(&world, 13, in_session(by_id(orders, &[(0, 4), (1, 0)]), 0, 0)).await.session_id;
    let forget = |epoch, partitions: &[i32]| {
        let mut request = go_on(id, epoch);
        request.forgotten_topics_data = vec![message!(crate::protocol::messages::fetch_request::ForgottenTopic {
            topic_id: wire_uuid(orders),
            partitions: partitions.to_vec(),
        })];
        request
    };
    assert_eq!(fetch(&world, 13, forget(1, &[0])).await.session_id, id);
    assert_eq!(world.shared.fetch_sessions.sizes(), (1, 1));
    assert_eq!(fetch(&world, 13, forget(2, &[1])).await.session_id, 0);
    assert_eq!(world.shared.fetch_sessions.sizes(), (0, 0));
}

#[tokio::test]
async fn a_topic_made_anew_under_its_name_is_read_by_a_session_of_names() {
    let (mut world, _) = world_with_orders(Setup::default());
    let id = fetch(&world, 12, in_session(by_name("orders", &[(0, 0)]), 0, 0)).await.session_id;
    world.delete_topic("orders");
    assert_eq!(errors_of(&fetch(&world, 12, go_on(id, 1)).await), [(0, 3)]);
    world.topic("other", 1, &[]);
    let anew = world.topic("orders", 1, &[]);
    world.append(partition(anew, 0), &["z"]);
    assert_eq!(read(&fetch(&world, 12, go_on(id, 2)).await), [(0, vec![0])]);
}

#[tokio::test]
async fn under_a_tight_limit_all_partitions_get_their_turn() {
    let (mut world, orders) = world_with_orders(Setup::default());
    world.append(partition(orders, 1), &["e"]);
    let mut request = in_session(by_id(orders, &[(0, 0), (1, 0)]), 0, 0);
    request.max_bytes = 1;
    let first = fetch(&world, 13, request).await;
    assert_eq!(read(&first), [(0, vec![0]), (1, vec![])]);
    let mut request = go_on(first.session_id, 1);
    request.max_bytes = 1;
    assert_eq!(read(&fetch(&world, 13, request).await), [(1, vec![0])], "the other one comes first now");
}

// From here on the cache itself.

fn key(partition: i32) -> Key {
    Key { topic: TopicKey::Id(TopicId::from_bytes([1; 16])), partition }
}

fn ask(fetch_offset: i64) -> Ask {
    Ask { fetch_offset: Offset(fetch_offset), max_bytes: 1, current_leader_epoch: -1, last_fetched_epoch: -1 }
}

fn nothing_new() -> Change {
    Change { has_records: false, has_error: false, is_diverging: false, high_watermark: 0, log_start: 0 }
}

fn full(partitions: i32) -> Start {
    Start {
        session_id: 0,
        session_epoch: 0,
        uses_topic_ids: true,
        asks: (0..partitions).map(|index| (key(index), ask(0))).collect(),
        forgotten: Vec::new(),
    }
}

/// Begins and ends a full fetch; gives the id of its session.
fn open(sessions: &Sessions, partitions: i32, now: TimestampMs) -> i32 {
    let begun = sessions.begin(full(partitions), now).unwrap();
    let changes = vec![nothing_new(); begun.asks().len()];
    sessions.finish(&begun, &changes, now).unwrap().0
}

fn touch(sessions: &Sessions, id: i32, epoch: i32, now: TimestampMs) -> Result<Begun, ErrorCode> {
    let start = Start { session_id: id, session_epoch: epoch, asks: Vec::new(), ..full(0) };
    sessions.begin(start, now)
}

#[test]
fn when_all_slots_are_taken_a_session_that_was_not_used_for_two_minutes_gives_way() {
    let sessions = Sessions::new(2, 1);
    let (old, fresh) = (open(&sessions, 1, START), open(&sessions, 1, START));
    assert_eq!(open(&sessions, 1, START.plus_ms(120_000)), 0, "no session: all is told each time");
    touch(&sessions, fresh, 1, START.plus_ms(100_000)).unwrap();
    let third = open(&sessions, 1, START.plus_ms(120_001));
    assert!(third > 0);
    assert!(touch(&sessions, old, 1, START).is_err());
    assert!(touch(&sessions, fresh, 2, START).is_ok());
}

#[test]
fn a_small_session_that_is_not_new_gives_way_to_a_larger_one() {
    let sessions = Sessions::new(2, 1);
    let (small, large) = (open(&sessions, 2, START), open(&sessions, 5, START));
    let later = START.plus_ms(120_001);
    for id in [small, large] {
        touch(&sessions, id, 1, later).unwrap();
    }
    assert_eq!(open(&sessions, 2, later), 0, "not larger than the smallest");
    assert!(open(&sessions, 3, later) > 0);
    assert!(touch(&sessions, small, 2, later).is_err());
    assert!(touch(&sessions, large, 2, later).is_ok());
}

#[test]
fn what_all_sessions_remember_together_is_bounded() {
    let sessions = Sessions::bounded(100, 10, 1);
    let first = open(&sessions, 6, START);
    assert_eq!(open(&sessions, 5, START), 0);
    let second = open(&sessions, 4, START);
    assert_eq!(sessions.sizes(), (2, 10));
    let growing = Start { session_id: second, session_epoch: 1, ..full(5) };
    assert_eq!(sessions.begin(growing, START).err(), Some(ErrorCode::FetchSessionIdNotFound));
    assert_eq!(sessions.sizes(), (1, 6));
    assert!(touch(&sessions, first, 1, START).is_ok());
    assert_eq!(open(&Sessions::new(0, 1), 1, START), 0, "no slots, no sessions");
}

#[test]
fn of_two_fetches_of_one_session_at_a_time_the_earlier_one_is_refused_in_the_end() {
    let sessions = Sessions::new(1, 1);
    let id = open(&sessions, 1, START);
    let first = touch(&sessions, id, 1, START).unwrap();
    let second = touch(&sessions, id, 2, START).unwrap();
    assert_eq!(sessions.finish(&first, &[nothing_new()], START), Err(ErrorCode::InvalidFetchSessionEpoch));
    assert_eq!(sessions.finish(&second, &[nothing_new()], START), Ok((id, vec![false])));
}

/// High watermark, log start and whether there is an error.
type State = (i64, i64, bool);

const PARTITIONS: i32 = 6;

/// A client that remembers all it was told.
#[derive(Default)]
struct Follower {
    id: i32,
    epoch: i32,
    wanted: BTreeMap<i32, i64>,
    known: BTreeMap<i32, State>,
}

impl Follower {
    /// Changes its mind at random and says what its next fetch is.
    fn next_fetch(&mut self, rng: &mut Rng) -> Start {
        if rng.below(12) == 0 {
            self.epoch = 0;
        }
        let (mut asks, mut forgotten) = (Vec::new(), Vec::new());
        for index in 0..PARTITIONS {
            match rng.below(4) {
                0 => {
                    let offset = i64::try_from(rng.below(9)).unwrap();
                    self.wanted.insert(index, offset);
                    asks.push((key(index), ask(offset)));
                }
                1 if self.wanted.len() > 1 && self.wanted.remove(&index).is_some() => {
                    self.known.remove(&index);
                    forgotten.push(key(index));
                }
                _ => {}
            }
        }
        if self.epoch == 0 {
            asks = self.wanted.iter().map(|(index, offset)| (key(*index), ask(*offset))).collect();
            forgotten.clear();
            self.known.clear();
        }
        Start { session_id: self.id, session_epoch: self.epoch, uses_topic_ids: true, asks, forgotten }
    }

    fn told(&mut self, begun: &Begun, truth: &BTreeMap<i32, State>, (id, shown): (i32, Vec<bool>)) {
        for ((key, _), _) in begun.asks().iter().zip(shown).filter(|(_, is_shown)| *is_shown) {
            self.known.insert(key.partition, truth[&key.partition]);
        }
        self.epoch = if id == 0 { 0 } else { self.epoch + 1 };
        self.id = id;
    }
}

fn change_of(truth: &BTreeMap<i32, State>, key: &Key) -> Change {
    let (high_watermark, log_start, has_error) = truth[&key.partition];
    let (high_watermark, log_start) = if has_error { (-1, -1) } else { (high_watermark, log_start) };
    Change { has_records: false, has_error, is_diverging: false, high_watermark, log_start }
}

#[test]
fn a_client_that_follows_a_session_always_knows_the_truth() {
    for seed in 0..300 {
        let mut rng = Rng::from_seed(seed);
        let sessions = Sessions::new(3, seed);
        let mut truth: BTreeMap<i32, State> = (0..PARTITIONS).map(|index| (index, (0, 0, false))).collect();
        let mut client = Follower::default();
        for step in 0..60 {
            for state in truth.values_mut() {
                match rng.below(6) {
                    0 => state.0 += 1,
                    1 => state.1 += 1,
                    2 => state.2 = !state.2,
                    _ => {}
                }
            }
            let at = format!("seed {seed}, step {step}");
            let start = client.next_fetch(&mut rng);
            let Ok(begun) = sessions.begin(start, START) else {
                panic!("{at}: a client that keeps to its session is never refused")
            };
            let asked: BTreeMap<_, _> =
                begun.asks().iter().map(|(key, ask)| (key.partition, ask.fetch_offset.0)).collect();
            assert_eq!(asked, client.wanted, "{at}");
            let changes: Vec<_> = begun.asks().iter().map(|(key, _)| change_of(&truth, key)).collect();
            let finished = sessions.finish(&begun, &changes, START).unwrap();
            client.told(&begun, &truth, finished);
            for index in client.wanted.keys() {
                let (truth, known) = (truth[index], client.known.get(index));
                let is_right = known.is_some_and(|known| (truth.2 && known.2) || *known == truth);
                assert!(is_right, "{at}: partition {index} is {truth:?}, the client knows {known:?}");
            }
        }
    }
}
