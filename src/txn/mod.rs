//! Producer ids, and from the next step on transactions. A core (see [`crate::machine`]).
//!
//! Ids are reserved in blocks by a record, and given out from the block without one; what a restart leaves of a block is
//! never given out. Answers to Kafka's `ProducerIdManager` and the head of `TransactionCoordinator`.

mod records;

pub(crate) use records::{ProducerIdsValue, Record};

use crate::machine::{Asked, Core, Decision, Env, ReplyTo};
use crate::protocol::messages::{InitProducerIdRequest, InitProducerIdResponse};
use crate::protocol::{Response, message};
use crate::types::{ErrorCode, Lsn, ProducerEpoch, ProducerId, TimestampMs};

/// How many ids a record reserves, as in Kafka.
const BLOCK_SIZE: i64 = 1000;

/// Hard state.
#[derive(Debug, Default)]
pub(crate) struct Txn {
    /// Ids below this may have been given out.
    reserved_below: ProducerId,
    /// The last change.
    lsn: Lsn,
}

/// State that a restart may lose.
#[derive(Debug, Default)]
pub(crate) struct Soft {
    /// The next id to give out; ids up to the reserved bound need no record.
    next_producer_id: ProducerId,
}

/// What this core is asked.
#[derive(Debug)]
pub(crate) enum Input {
    InitProducerId(Asked<InitProducerIdRequest>),
}

impl Core for Txn {
    type Input = Input;
    type Record = Record;
    type Reply = Response;
    type Effect = std::convert::Infallible;
    type Soft = Soft;
    type Scope = ();

    fn decide(&self, soft: &mut Soft, _env: &mut Env, input: Input) -> Decision<Self> {
        match input {
            Input::InitProducerId(asked) => self.init_producer_id(soft, &asked),
        }
    }

    fn replay(&mut self, lsn: Lsn, record: &Record) {
        match record {
            Record::ProducerIds { value } => {
                self.reserved_below = self.reserved_below.max(value.reserved_below);
                self.lsn = self.lsn.max(lsn);
            }
        }
    }

    fn on_loaded(&self, _env: &mut Env) -> Soft {
        Soft { next_producer_id: self.reserved_below }
    }

    fn next_deadline(_soft: &Soft) -> Option<TimestampMs> {
        None
    }

    fn pop_due(_soft: &mut Soft, _now: TimestampMs) -> Option<Input> {
        None
    }

    fn scope(_input: &Input) {}

    fn reset(&self, soft: &mut Soft, env: &mut Env, _scope: ()) -> Vec<ReplyTo> {
        *soft = self.on_loaded(env);
        Vec::new()
    }
}

impl Txn {
    fn init_producer_id(&self, soft: &mut Soft, asked: &Asked<InitProducerIdRequest>) -> Decision<Self> {
        if let Err(error) = check(&asked.request) {
            return Decision::answer(asked.to, refusal(error), Lsn(0));
        }
        // A producer without a transactional id gets a new id even if it names one that it has (observed).
        let id = soft.next_producer_id;
        if id < self.reserved_below {
            soft.next_producer_id = ProducerId(id.0.saturating_add(1));
            return Decision::answer(asked.to, granted(id), self.lsn);
        }
        let Some(reserved_below) = id.0.checked_add(BLOCK_SIZE).map(ProducerId) else {
            return Decision::answer(asked.to, refusal(ErrorCode::UnknownServerError), self.lsn);
        };
        soft.next_producer_id = ProducerId(id.0.saturating_add(1));
        Decision {
            records: vec![Record::ProducerIds { value: ProducerIdsValue { reserved_below } }],
            replies: vec![(asked.to, granted(id))],
            ..Decision::nothing()
        }
    }
}

fn check(request: &InitProducerIdRequest) -> Result<(), ErrorCode> {
    if (request.producer_id == -1) != (request.producer_epoch == -1) {
        return Err(ErrorCode::InvalidRequest);
    }
    match request.transactional_id.as_deref() {
        None => Ok(()),
        Some("") => Err(ErrorCode::InvalidRequest),
        // Transactions come with the next step: transaction.version is finalised at 0, and none of the APIs that a
        // transaction is made of (24 to 28) is offered. Kafka would serve this id. Answering that the coordinator is
        // away (15) would make producers ask again until they time out; this error ends the Java producer's
        // initTransactions at once, and says what is the case. librdkafka does not get here: it misses the APIs.
        Some(_) => Err(ErrorCode::UnsupportedVersion),
    }
}

fn granted(id: ProducerId) -> Response {
    answer(ErrorCode::None, id, ProducerEpoch(0))
}

fn refusal(error: ErrorCode) -> Response {
    answer(error, ProducerId(-1), ProducerEpoch(-1))
}

fn answer(error: ErrorCode, id: ProducerId, epoch: ProducerEpoch) -> Response {
    message!(InitProducerIdResponse { error_code: error.code(), producer_id: id.0, producer_epoch: epoch.0 }).into()
}

#[cfg(test)]
mod tests;
