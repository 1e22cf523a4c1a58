//! Timers as data: a key and a deadline. Setting a key again replaces its deadline; nothing ever fires by itself.

use std::collections::{BTreeMap, BTreeSet};

use crate::types::TimestampMs;

/// Deadlines by key.
#[derive(Clone, Debug)]
pub struct Timers<K> {
    by_key: BTreeMap<K, TimestampMs>,
    by_time: BTreeSet<(TimestampMs, K)>,
}

impl<K: Ord + Clone> Default for Timers<K> {
    fn default() -> Self {
        Self { by_key: BTreeMap::new(), by_time: BTreeSet::new() }
    }
}

impl<K: Ord + Clone> Timers<K> {
    /// Arms `key`, replacing an earlier deadline.
    pub fn set(&mut self, key: K, deadline: TimestampMs) {
        if let Some(old) = self.by_key.insert(key.clone(), deadline) {
            self.by_time.remove(&(old, key.clone()));
        }
        self.by_time.insert((deadline, key));
    }

    /// Disarms `key`. Tells whether it was armed.
    pub fn cancel(&mut self, key: &K) -> bool {
        let Some(deadline) = self.by_key.remove(key) else { return false };
        self.by_time.remove(&(deadline, key.clone()));
        true
    }

    /// The deadline of `key`, if it is armed.
    #[must_use]
    pub fn deadline(&self, key: &K) -> Option<TimestampMs> {
        self.by_key.get(key).copied()
    }

    /// The earliest deadline.
    #[must_use]
    pub fn next_deadline(&self) -> Option<TimestampMs> {
        self.by_time.first().map(|(deadline, _)| *deadline)
    }

    /// Takes the earliest timer if its deadline has come.
    pub fn pop_due(&mut self, now: TimestampMs) -> Option<K> {
        if self.next_deadline()? > now {
            return None;
        }
        let (_, key) = self.by_time.pop_first()?;
        self.by_key.remove(&key);
        Some(key)
    }

    /// Disarms every key that `belongs` holds for.
    pub fn cancel_all(&mut self, mut belongs: impl FnMut(&K) -> bool) {
        self.by_time.retain(|(_, key)| !belongs(key));
        self.by_key.retain(|key, _| !belongs(key));
    }

    /// How many are armed.
    #[cfg(test)]
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_key.len()
    }

    /// Whether none is armed.
    #[cfg(test)]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_set_again_fires_once_and_late() {
        let mut timers = Timers::default();
        timers.set("session", TimestampMs(10));
        timers.set("rebalance", TimestampMs(20));
        timers.set("session", TimestampMs(30));
        assert_eq!(timers.next_deadline(), Some(TimestampMs(20)));
        assert_eq!(timers.pop_due(TimestampMs(19)), None);
        assert_eq!(timers.pop_due(TimestampMs(30)), Some("rebalance"));
        assert_eq!(timers.pop_due(TimestampMs(30)), Some("session"));
        assert_eq!(timers.pop_due(TimestampMs(99)), None);
        assert!(timers.is_empty());
    }

    #[test]
    fn a_cancelled_timer_never_fires() {
        let mut timers = Timers::default();
        timers.set(1, TimestampMs(10));
        assert!(timers.cancel(&1));
        assert!(!timers.cancel(&1));
        assert_eq!(timers.next_deadline(), None);
        assert_eq!(timers.pop_due(TimestampMs(99)), None);
    }
}
