//! The sequencer: one task that owns the machine and gives everything its order.
//!
//! A turn takes what has queued up, lets the machine decide each input, hands the entries to the committer and parks
//! the answers with them. Answers that rest on what is already durable leave at once.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::checkpoint::Cut;
use super::committer::{Progress, Turn};
use super::dirty::Dirty;
use super::engine::{Engine, Step};
use super::gauges::group_counts;
use super::handle::{Outcome, Submission};
use super::{Clock, Input, Status, persist};
use crate::config::Config;
use crate::heads;
use crate::journal::Item;
use crate::machine::ReplyTo;
use crate::metrics::{GroupCounts, Metrics};
use crate::types::{Lsn, TimestampMs};

/// How many queued requests one turn takes at most.
const TURN_REQUESTS_MAX: usize = 256;
/// How many inputs that are not requests (timers, effects) one turn takes at most.
const TURN_INTERNAL_MAX: usize = 1_000;

/// When checkpoints are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct CheckpointPolicy {
    /// At this many bytes of changed keys.
    pub(super) dirty_bytes: usize,
    /// At this many bytes of journal.
    pub(super) journal_bytes: u64,
    /// This long after the first change.
    pub(super) interval_ms: i64,
}

impl CheckpointPolicy {
    /// The journal's limit is a setting; the others are not worth one.
    pub(super) fn of(config: &Config) -> Self {
        Self {
            dirty_bytes: 8 * 1024 * 1024,
            journal_bytes: u64::try_from(config.journal_max_bytes).unwrap_or(u64::MAX),
            interval_ms: 30_000,
        }
    }
}

/// Twice the trigger and more while a checkpoint still runs: then even new work waits for it.
const OVERFULL_FACTOR: usize = 4;

/// The sequencer's task.
pub(super) struct Sequencer {
    pub(super) engine: Engine,
    pub(super) inbox: mpsc::Receiver<Vec<Submission>>,
    pub(super) turns: mpsc::Sender<Turn>,
    pub(super) progress: Arc<Progress>,
    pub(super) status: watch::Receiver<Status>,
    pub(super) checkpoint_done: watch::Receiver<Lsn>,
    pub(super) policy: CheckpointPolicy,
    pub(super) clock: Clock,
    pub(super) metrics: Arc<Metrics>,
    pub(super) stop: CancellationToken,
    pub(super) state: State,
}

/// What the sequencer keeps between turns.
#[derive(Default)]
pub(super) struct State {
    /// Who is still to be answered. Bounded by what the connections may have in flight.
    askers: HashMap<ReplyTo, oneshot::Sender<Outcome>>,
    /// Long work that goes on turn by turn.
    later: VecDeque<Input>,
    dirty: Dirty,
    dirty_since: Option<TimestampMs>,
    /// The checkpoint that is being made.
    cutting: Option<Lsn>,
    journal_bytes_at_cut: u64,
    image_lsn: Lsn,
    /// What the metrics show.
    counts: GroupCounts,
}

impl State {
    /// What a load leaves to do: the journal's changes go into the next checkpoint.
    pub(super) fn after_load(dirty: Dirty, now: TimestampMs) -> Self {
        let dirty_since = (!dirty.is_empty()).then_some(now);
        Self { dirty, dirty_since, ..Self::default() }
    }
}

impl Sequencer {
    /// Runs until told to stop or until a write has failed.
    pub(super) async fn run(mut self) {
        self.state.image_lsn = self.engine.image().lsn;
        self.state.counts = group_counts(self.engine.coordinator());
        self.metrics.groups(&self.state.counts);
        let mut work = Vec::with_capacity(TURN_REQUESTS_MAX);
        loop {
            let deadline = self.next_deadline();
            let has_more = !self.state.later.is_empty();
            tokio::select! {
                biased;
                () = self.stop.cancelled() => break,
                Ok(()) = self.status.changed() => break,
                Ok(()) = self.checkpoint_done.changed() => {}
                taken = self.inbox.recv_many(&mut work, TURN_REQUESTS_MAX) => if taken == 0 { break },
                () = sleep_until(&self.clock, deadline) => {}
                () = std::future::ready(()), if has_more => {}
            }
            self.turn(&mut work).await;
        }
        self.finish().await;
    }

    fn next_deadline(&self) -> Option<TimestampMs> {
        let checkpoint = match (self.state.cutting, self.state.dirty_since) {
            (None, Some(since)) => Some(since.plus_ms(self.policy.interval_ms)),
            _ => None,
        };
        self.engine.next_deadline().into_iter().chain(checkpoint).min()
    }

    async fn turn(&mut self, work: &mut Vec<Vec<Submission>>) {
        self.engine.set_now(self.clock.now());
        let mut turn = Turn::default();
        for submission in work.drain(..).flatten() {
            self.take(submission, &mut turn);
        }
        for _ in 0..TURN_INTERNAL_MAX {
            let Some(input) = self.engine.pop_due() else { break };
            self.step(input, None, &mut turn);
        }
        if let Some(input) = self.state.later.pop_front() {
            self.step(input, None, &mut turn);
        }
        self.hand_over(turn).await;
        self.wait_if_overfull().await;
    }

    fn take(&mut self, submission: Submission, turn: &mut Turn) {
        let asker = submission.asker.map(|(to, sender)| {
            self.state.askers.insert(to, sender);
            to
        });
        self.step(submission.input, asker, turn);
    }

    /// One input, and the effects inside the machine that follow from it.
    fn step(&mut self, input: Input, asker: Option<ReplyTo>, turn: &mut Turn) {
        let mut queue = VecDeque::from([(input, asker)]);
        while let Some((input, asker)) = queue.pop_front() {
            let step = self.engine.step(input, asker);
            queue.extend(self.note(step, turn).into_iter().map(|input| (input, None)));
        }
    }

    fn note(&mut self, step: Step, turn: &mut Turn) -> Vec<Input> {
        if let Some(entry) = step.entry {
            self.state.dirty.note(&entry);
            self.state.dirty_since.get_or_insert_with(|| self.clock.now());
            turn.entries.push(entry);
        }
        turn.visible.extend(step.visible);
        let durable = Lsn(self.progress.durable_lsn.load(Ordering::Acquire));
        for answer in step.answers {
            let Some(sender) = self.state.askers.remove(&answer.to) else { continue };
            if answer.rests_on <= durable {
                let _ = sender.send(answer.outcome);
            } else {
                turn.answers.push((sender, answer.outcome));
            }
        }
        self.state.later.extend(step.later);
        step.next
    }

    async fn hand_over(&mut self, mut turn: Turn) {
        let image = self.engine.image();
        if image.lsn != self.state.image_lsn {
            self.state.image_lsn = image.lsn;
            turn.image = Some(Arc::clone(image));
        }
        let counts = group_counts(self.engine.coordinator());
        if counts != self.state.counts {
            self.metrics.groups(&counts);
            self.state.counts = counts;
        }
        if self.is_checkpoint_due() {
            turn.cut = self.cut();
        }
        if !turn.is_empty() {
            // If the committer is gone it has failed; the status says so and the loop ends.
            let _ = self.turns.send(turn).await;
        }
    }

    fn is_checkpoint_due(&mut self) -> bool {
        let done = *self.checkpoint_done.borrow_and_update();
        if self.state.cutting.is_some_and(|lsn| lsn <= done) {
            self.state.cutting = None;
        }
        let Some(since) = self.state.dirty_since else { return false };
        self.state.cutting.is_none()
            && (self.state.dirty.bytes() >= self.policy.dirty_bytes
                || self.journal_bytes_since_cut() >= self.policy.journal_bytes
                || self.clock.now() >= since.plus_ms(self.policy.interval_ms))
    }

    fn journal_bytes_since_cut(&self) -> u64 {
        self.progress.journal_bytes.load(Ordering::Acquire).saturating_sub(self.state.journal_bytes_at_cut)
    }

    /// Puts the changes so far aside, with the ends of the logs as they are now.
    fn cut(&mut self) -> Option<Cut> {
        if self.state.dirty.is_empty() {
            return None;
        }
        let mut dirty = std::mem::take(&mut self.state.dirty);
        self.state.dirty_since = None;
        let lsn = dirty.last_lsn();
        self.state.cutting = Some(lsn);
        self.state.journal_bytes_at_cut = self.progress.journal_bytes.load(Ordering::Acquire);
        for record in log_ends(self.engine.heads(), &dirty) {
            match persist::heads_item(lsn, record) {
                Item::Put { key, value } => dirty.resolve(key, Some(value)),
                Item::Delete { key } => dirty.resolve(key, None),
                Item::DeletePrefix { .. } | Item::Append { .. } => {}
            }
        }
        Some(Cut { lsn, changes: dirty.into_changes() })
    }

    /// Keeps what waits for a checkpoint bounded.
    async fn wait_if_overfull(&mut self) {
        let is_overfull = self.state.dirty.bytes() >= self.policy.dirty_bytes.saturating_mul(OVERFULL_FACTOR)
            || self.journal_bytes_since_cut() >= self.policy.journal_bytes.saturating_mul(2);
        if self.state.cutting.is_some() && is_overfull {
            tokio::select! {
                _ = self.checkpoint_done.changed() => {}
                _ = self.status.changed() => {}
                () = self.stop.cancelled() => {}
            }
        }
    }

    /// Decides what is still queued, makes a last checkpoint and lets the committer end.
    async fn finish(mut self) {
        self.inbox.close();
        let mut rest = Vec::new();
        while let Ok(submissions) = self.inbox.try_recv() {
            rest.push(submissions);
        }
        if matches!(*self.status.borrow(), Status::Failed(_)) {
            return;
        }
        self.turn(&mut rest).await;
        // A checkpoint that is being made comes first: there is never a second batch before its end.
        while self.state.cutting.is_some() {
            let _ = self.is_checkpoint_due();
            if self.state.cutting.is_some() {
                tokio::select! {
                    changed = self.checkpoint_done.changed() => if changed.is_err() { return },
                    _ = self.status.changed() => return,
                }
            }
        }
        let cut = self.cut();
        let _ = self.turns.send(Turn { cut, ..Turn::default() }).await;
    }
}

/// What a checkpoint stores of the logs that were appended to.
fn log_ends(heads: &heads::Heads, dirty: &Dirty) -> Vec<heads::Record> {
    let ends = dirty.appended().filter_map(|partition| {
        let value = heads.end_value(partition)?;
        Some(heads::Record::HeadEnd { partition, value: Some(value) })
    });
    let producers = dirty.producers().filter(|(partition, _)| heads.end_value(*partition).is_some()).map(
        |(partition, producer_id)| {
            let value = heads.producer_value(partition, producer_id);
            heads::Record::Producer { partition, producer_id, value }
        },
    );
    ends.chain(producers).collect()
}

async fn sleep_until(clock: &Clock, deadline: Option<TimestampMs>) {
    match deadline {
        Some(deadline) => clock.sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
