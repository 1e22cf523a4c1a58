//! A state store in memory: for `--ephemeral`, and for tests, which can make it fail.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::{Change, Key, StateStore, StoreError, Visit};
use crate::types::Lsn;

/// A store that ends with the last clone of it. Clones share their content, as processes one after the other would.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemStore(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    entries: BTreeMap<Bytes, Bytes>,
    lsn: Lsn,
    dead: bool,
    #[cfg(test)]
    failure: Option<(u64, Failure)>,
}

/// What becomes of a checkpoint that fails. A caller cannot tell which it was.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Nothing of it is there.
    NotApplied,
    /// All of it is there.
    Applied,
}

impl MemStore {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
impl MemStore {
    /// The `nth` checkpoint from now on (1 is the next) fails, and then every call until [`MemStore::restart`].
    pub(crate) fn fail(&self, nth: u64, failure: Failure) {
        self.state().failure = Some((nth, failure));
    }

    /// What the next process finds.
    pub(crate) fn restart(&self) -> Self {
        let mut state = self.state();
        state.dead = false;
        state.failure = None;
        Self(Arc::clone(&self.0))
    }

    fn failure(&self) -> Option<Failure> {
        let mut state = self.state();
        let (nth, failure) = state.failure?;
        state.failure = (nth > 1).then(|| (nth - 1, failure));
        state.dead = nth <= 1;
        state.dead.then_some(failure)
    }
}

impl State {
    fn apply(&mut self, lsn: Lsn, changes: &[Change]) {
        for change in changes {
            match change {
                Change::Put { key, value } => {
                    self.entries.insert(key.clone(), value.clone());
                }
                Change::Delete { key } => {
                    self.entries.remove(key);
                }
                Change::DeletePrefix { prefix } => {
                    let from = (Bound::Included(&prefix[..]), Bound::Unbounded);
                    let keys = self.entries.range::<[u8], _>(from).map(|(key, _)| key);
                    let keys: Vec<Bytes> = keys.take_while(|key| key.starts_with(prefix)).cloned().collect();
                    for key in keys {
                        self.entries.remove(&key);
                    }
                }
            }
        }
        self.entries.remove(&Key::Checkpoint.encode());
        self.lsn = lsn;
    }
}

impl StateStore for MemStore {
    fn checkpoint_lsn(&mut self) -> Result<Lsn, StoreError> {
        let state = self.state();
        if state.dead { Err(StoreError::Dead) } else { Ok(state.lsn) }
    }

    fn load(&mut self, visit: Visit<'_>) -> Result<Lsn, StoreError> {
        let state = self.state();
        if state.dead {
            return Err(StoreError::Dead);
        }
        state.entries.iter().try_for_each(|(key, value)| visit(key, value))?;
        Ok(state.lsn)
    }

    fn checkpoint(&mut self, lsn: Lsn, changes: &[Change]) -> Result<(), StoreError> {
        if self.state().dead {
            return Err(StoreError::Dead);
        }
        #[cfg(test)]
        if let Some(failure) = self.failure() {
            if failure == Failure::Applied {
                self.state().apply(lsn, changes);
            }
            return Err(StoreError::Dead);
        }
        self.state().apply(lsn, changes);
        Ok(())
    }
}
