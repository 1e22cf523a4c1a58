//! The contract of a core: what may decide, what may change state, and what comes in from outside as a value.
//!
//! A core is ordinary synchronous code. It sees no clock, no randomness, no file and no task: time and random numbers
//! arrive in [`Env`], slow or outside work leaves as an effect, and the only way to change hard state is
//! [`Core::replay`], which runs the same whether a record was just decided or is read back after a crash.

mod rng;
mod timers;

use std::fmt;
use std::sync::Arc;

pub use rng::Rng;
pub use timers::Timers;

use crate::config::Config;
use crate::types::{Image, Lsn, TimestampMs};

/// A core: hard state, and the two functions on it.
pub trait Core: Default {
    /// A request, an expired timer, or the result of an effect.
    type Input;
    /// One change of one key of hard state.
    type Record;
    /// What an asker gets.
    type Reply;
    /// Work for somebody else; its result comes back as an input.
    type Effect;
    /// State that a crash may take: timers, parked askers, caches. Never a source for hard state.
    type Soft;
    /// The part of the soft state that one input can touch, such as a group.
    type Scope;

    /// Decides what an input means. Cannot change hard state; an error or a panic in here leaves it whole.
    fn decide(&self, soft: &mut Self::Soft, env: &mut Env, input: Self::Input) -> Decision<Self>;

    /// Applies one record. Accepts any record in any order of keys: a tombstone for something unknown does nothing.
    fn replay(&mut self, lsn: Lsn, record: &Self::Record);

    /// The soft state right after a load: timers are armed anew with their full time.
    fn on_loaded(&self, env: &mut Env) -> Self::Soft;

    /// When [`Core::pop_due`] next has something, if ever.
    fn next_deadline(soft: &Self::Soft) -> Option<TimestampMs>;

    /// Takes one expired timer as an input.
    fn pop_due(soft: &mut Self::Soft, now: TimestampMs) -> Option<Self::Input>;

    /// What `input` can touch, kept aside in case [`Core::decide`] panics.
    fn scope(input: &Self::Input) -> Self::Scope;

    /// Rebuilds the soft state of `scope` after a panic. Returns the askers that were parked there.
    fn reset(&self, soft: &mut Self::Soft, env: &mut Env, scope: Self::Scope) -> Vec<ReplyTo>;
}

/// What a core is given besides its own state.
#[derive(Debug)]
pub struct Env {
    /// The time of this turn.
    pub now: TimestampMs,
    /// Random numbers, from a seed.
    pub rng: Rng,
    /// The newest catalogue, durable or not.
    pub image: Arc<Image>,
    /// The settings the server was started with.
    pub config: Arc<Config>,
}

/// Names an asker. Given out by the runtime, never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReplyTo(pub u64);

/// A request with what is known of its sender.
#[derive(Clone, Debug)]
pub struct Asked<R> {
    /// Who asks.
    pub to: ReplyTo,
    /// The request's API version.
    pub version: i16,
    /// The client id of the request header, "" if there is none.
    pub client_id: Arc<str>,
    /// The client's address as Kafka writes it: `/127.0.0.1`.
    pub client_host: Arc<str>,
    /// The request itself.
    pub request: R,
}

/// What follows from an input. Its records become durable together or not at all.
pub struct Decision<C: Core> {
    /// Changes, in the order they are to be applied.
    pub records: Vec<C::Record>,
    /// Answers. They leave once the records, and everything up to `rests_on`, are durable.
    pub replies: Vec<(ReplyTo, C::Reply)>,
    /// Work for somebody else.
    pub effects: Vec<C::Effect>,
    /// The last change that touched what the answers were read from; 0 if they rest on nothing stored.
    pub rests_on: Lsn,
}

impl<C: Core> Decision<C> {
    /// Nothing follows.
    #[must_use]
    pub fn nothing() -> Self {
        Self { records: Vec::new(), replies: Vec::new(), effects: Vec::new(), rests_on: Lsn(0) }
    }

    /// Only an answer, resting on what was stored up to `rests_on`.
    #[must_use]
    pub fn answer(to: ReplyTo, reply: C::Reply, rests_on: Lsn) -> Self {
        Self { replies: vec![(to, reply)], rests_on, ..Self::nothing() }
    }
}

impl<C: Core> fmt::Debug for Decision<C>
where
    C::Record: fmt::Debug,
    C::Reply: fmt::Debug,
    C::Effect: fmt::Debug,
{
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Decision")
            .field("records", &self.records)
            .field("replies", &self.replies)
            .field("effects", &self.effects)
            .field("rests_on", &self.rests_on)
            .finish()
    }
}
