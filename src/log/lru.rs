//! A bounded cache for open files and loaded indexes: what was used longest ago goes first.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::lock;

/// Values by segment number; the sum of their weights stays at or below a limit (but the newest is always kept).
pub(super) struct Lru<V> {
    max_weight: usize,
    inner: Mutex<Inner<V>>,
}

struct Inner<V> {
    slots: BTreeMap<u64, Slot<V>>,
    /// When each was used last, and which it is.
    by_use: BTreeMap<u64, u64>,
    clock: u64,
    weight: usize,
}

struct Slot<V> {
    value: V,
    weight: usize,
    used: u64,
}

impl<V: Clone> Lru<V> {
    pub(super) fn new(max_weight: usize) -> Self {
        let inner = Inner { slots: BTreeMap::new(), by_use: BTreeMap::new(), clock: 0, weight: 0 };
        Self { max_weight, inner: Mutex::new(inner) }
    }

    pub(super) fn get(&self, key: u64) -> Option<V> {
        let mut guard = lock(&self.inner);
        let inner = &mut *guard;
        let slot = inner.slots.get_mut(&key)?;
        inner.clock += 1;
        inner.by_use.remove(&slot.used);
        slot.used = inner.clock;
        inner.by_use.insert(inner.clock, key);
        Some(slot.value.clone())
    }

    pub(super) fn insert(&self, key: u64, value: V, weight: usize) {
        let mut guard = lock(&self.inner);
        guard.remove(key);
        guard.clock += 1;
        let used = guard.clock;
        guard.by_use.insert(used, key);
        guard.slots.insert(key, Slot { value, weight, used });
        guard.weight += weight;
        while guard.weight > self.max_weight && guard.slots.len() > 1 {
            let Some((_, oldest)) = guard.by_use.first_key_value() else { break };
            let oldest = *oldest;
            guard.remove(oldest);
        }
    }

    pub(super) fn remove(&self, key: u64) {
        lock(&self.inner).remove(key);
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        lock(&self.inner).slots.len()
    }
}

impl<V> Inner<V> {
    fn remove(&mut self, key: u64) {
        if let Some(slot) = self.slots.remove(&key) {
            self.by_use.remove(&slot.used);
            self.weight -= slot.weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let cache = Lru::new(3);
        for key in 1..=3 {
            cache.insert(key, key * 10, 1);
        }
        assert_eq!(cache.get(1), Some(10));
        cache.insert(4, 40, 1);
        assert_eq!((cache.get(1), cache.get(2), cache.get(3), cache.get(4)), (Some(10), None, Some(30), Some(40)));
        cache.insert(5, 50, 9);
        assert_eq!((cache.len(), cache.get(5)), (1, Some(50)));
        cache.remove(5);
        cache.insert(6, 60, 1);
        cache.insert(7, 70, 2);
        assert_eq!(cache.len(), 2);
    }
}
