//! Producer ids, and from the next step on transactions. A core (see [`crate::machine`]).

mod records;

pub(crate) use records::{ProducerIdsValue, Record};

use crate::machine::{Asked, Core, Decision, Env, ReplyTo};
use crate::protocol::Response;
use crate::protocol::messages::InitProducerIdRequest;
use crate::types::{Lsn, ProducerId, TimestampMs};

/// Hard state.
#[derive(Debug, Default)]
pub(crate) struct Txn {
    /// Ids below this may have been given out.
    reserved_below: ProducerId,
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

    fn decide(&self, _soft: &mut Soft, _env: &mut Env, _input: Input) -> Decision<Self> {
        Decision::nothing()
    }

    fn replay(&mut self, _lsn: Lsn, _record: &Record) {}

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

    fn reset(&self, _soft: &mut Soft, _env: &mut Env, _scope: ()) -> Vec<ReplyTo> {
        Vec::new()
    }
}
