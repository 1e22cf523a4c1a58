//! `InitProducerId`, with the answers that Kafka 4.4.0 gave to the same requests.

use std::sync::Arc;

use super::*;
use crate::config::Config;
use crate::machine::Rng;
use crate::protocol::ApiKey;
use crate::types::Image;

struct World {
    txn: Txn,
    soft: Soft,
    env: Env,
    lsn: Lsn,
}

impl World {
    fn with(txn: Txn) -> Self {
        let mut env = Env {
            now: TimestampMs(0),
            rng: Rng::from_seed(1),
            image: Arc::new(Image::default()),
            config: Arc::new(Config::default()),
        };
        let soft = txn.on_loaded(&mut env);
        Self { txn, soft, env, lsn: Lsn(20) }
    }

    fn decide(&mut self, request: InitProducerIdRequest) -> Decision<Txn> {
        let asked = Asked {
            to: ReplyTo(1),
            version: 5,
            client_id: Arc::from(""),
            client_host: Arc::from("/127.0.0.1"),
            request,
        };
        let decision = self.txn.decide(&mut self.soft, &mut self.env, Input::InitProducerId(asked));
        if !decision.records.is_empty() {
            self.lsn = self.lsn.next();
        }
        for record in &decision.records {
            self.txn.replay(self.lsn, record);
        }
        decision
    }

    /// Error code, producer id, epoch.
    fn ask(&mut self, request: InitProducerIdRequest) -> (i16, i64, i16) {
        told(&self.decide(request))
    }

    fn next_id(&mut self) -> i64 {
        let (error_code, id, epoch) = self.ask(idempotent());
        assert_eq!((error_code, epoch), (0, 0));
        id
    }
}

fn told(decision: &Decision<Txn>) -> (i16, i64, i16) {
    let [(ReplyTo(1), Response::InitProducerId(answer))] = &decision.replies[..] else { panic!("{decision:?}") };
    (answer.error_code, answer.producer_id, answer.producer_epoch)
}

fn idempotent() -> InitProducerIdRequest {
    message!(InitProducerIdRequest { transactional_id: None, transaction_timeout_ms: 60_000 })
}

fn of(txn: &Txn) -> Txn {
    Txn { ..*txn }
}

#[test]
fn every_idempotent_producer_gets_an_id_of_its_own() {
    let mut world = World::with(Txn::default());
    let ids: Vec<i64> = (0..2500).map(|_| world.next_id()).collect();
    assert_eq!(ids, (0..2500).collect::<Vec<_>>());
}

#[test]
fn a_record_reserves_a_thousand_ids_and_each_answer_rests_on_it() {
    let mut world = World::with(Txn::default());
    let first = world.decide(idempotent());
    assert_eq!(first.records, [Record::ProducerIds { value: ProducerIdsValue { reserved_below: ProducerId(1000) } }]);
    for _ in 1..1000 {
        let decision = world.decide(idempotent());
        assert_eq!((decision.records.len(), decision.rests_on), (0, Lsn(21)));
    }
    let next = world.decide(idempotent());
    assert_eq!(next.records, [Record::ProducerIds { value: ProducerIdsValue { reserved_below: ProducerId(2000) } }]);
}

#[test]
fn no_id_is_given_out_again_after_a_restart_or_a_panic() {
    let mut world = World::with(Txn::default());
    assert_eq!(world.next_id(), 0);
    assert_eq!(world.next_id(), 1);
    let mut restarted = World::with(of(&world.txn));
    assert_eq!(restarted.next_id(), 1000);
    world.txn.reset(&mut world.soft, &mut world.env, ());
    assert_eq!(world.next_id(), 1000);
    assert_eq!(world.next_id(), 1001);
}

#[test]
fn a_reservation_that_was_not_kept_is_made_anew() {
    let mut world = World::with(Txn::default());
    let asked = Asked {
        to: ReplyTo(1),
        version: 5,
        client_id: Arc::from(""),
        client_host: Arc::from(""),
        request: idempotent(),
    };
    // Decided, but never replayed.
    let dropped = world.txn.decide(&mut world.soft, &mut world.env, Input::InitProducerId(asked));
    assert_eq!(told(&dropped).1, 0);
    let decision = world.decide(idempotent());
    assert_eq!((told(&decision).1, decision.records.len()), (1, 1));
}

#[test]
fn id_and_epoch_come_together_or_not_at_all() {
    let mut world = World::with(Txn::default());
    let named = |producer_id, producer_epoch| {
        message!(InitProducerIdRequest {
            transactional_id: None,
            producer_id: producer_id,
            producer_epoch: producer_epoch
        })
    };
    assert_eq!(world.ask(named(5, -1)), (42, -1, -1));
    assert_eq!(world.ask(named(-1, 3)), (42, -1, -1));
    assert_eq!(world.ask(named(5, 3)), (0, 0, 0), "a new id, not the one it names");
    assert_eq!(world.ask(named(-5, -7)), (0, 1, 0));
    assert_eq!(world.ask(named(-1, -1)), (0, 2, 0));
}

#[test]
fn without_a_transactional_id_the_timeout_does_not_matter() {
    let mut world = World::with(Txn::default());
    for timeout_ms in [0, -1, i32::MAX] {
        let request = message!(InitProducerIdRequest { transactional_id: None, transaction_timeout_ms: timeout_ms });
        assert_eq!(world.ask(request).0, 0);
    }
}

#[test]
fn transactional_ids_are_refused_in_a_way_that_clients_give_up_on() {
    let mut world = World::with(Txn::default());
    let named = |id: &str| message!(InitProducerIdRequest { transactional_id: Some(id.into()) });
    assert_eq!(world.ask(named("")), (42, -1, -1));
    assert_eq!(world.ask(named("payments")), (35, -1, -1));
    let both = message!(InitProducerIdRequest { transactional_id: Some("payments".into()), producer_id: 5 });
    assert_eq!(world.ask(both), (42, -1, -1));
    assert_eq!(world.next_id(), 0);
}

#[test]
fn ids_end_before_they_wrap_around() {
    let mut txn = Txn::default();
    txn.replay(Lsn(1), &Record::ProducerIds { value: ProducerIdsValue { reserved_below: ProducerId(i64::MAX - 5) } });
    let mut world = World::with(txn);
    assert_eq!(world.ask(idempotent()), (-1, -1, -1));
}

#[test]
fn the_bound_never_goes_down() {
    let mut txn = Txn::default();
    for reserved_below in [3000, 2000, i64::MIN] {
        let value = ProducerIdsValue { reserved_below: ProducerId(reserved_below) };
        txn.replay(Lsn(1), &Record::ProducerIds { value });
    }
    assert_eq!(World::with(txn).next_id(), 3000);
}

#[test]
fn the_answers_can_be_written_in_every_version() {
    let (first, last) = ApiKey::InitProducerId.served();
    for version in first..=last {
        for response in [granted(ProducerId(7)), refusal(ErrorCode::InvalidRequest)] {
            response.encode(version, 1).unwrap();
        }
    }
}
