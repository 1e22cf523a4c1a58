//! Who has least to do.

use std::cmp::Ordering;

use crate::coordinator::streams::assignor::roster::{MemberNo, ProcessNo, Roster, Row};

/// How many tasks a process has for each of its members: a fraction, compared without rounding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    tasks: u64,
    members: u64,
}

impl Load {
    /// No tasks yet.
    pub(super) fn none(members: usize) -> Self {
        Self { tasks: 0, members: u64::try_from(members).unwrap_or(u64::MAX) }
    }

    /// One task more.
    pub(super) fn add_one(&mut self) {
        self.tasks += 1;
    }
}

impl PartialEq for Load {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Load {}

impl PartialOrd for Load {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Load {
    fn cmp(&self, other: &Self) -> Ordering {
        let (left, right) = (u128::from(self.tasks), u128::from(other.tasks));
        (left * u128::from(other.members)).cmp(&(right * u128::from(self.members)))
    }
}

/// A binary heap, least load first, of which the treatment of equal loads is part of the outcome.
///
/// An item goes up past greater ones only and down past lesser ones only, as in the heap that Kafka's assignor uses:
/// so whoever has just been given a task comes after its equals, and where Kafka has one answer only, ours is the same.
#[derive(Clone, Debug)]
pub(super) struct Queue<L, N> {
    items: Vec<(L, N)>,
}

impl<L: Copy + Ord, N: Copy> Queue<L, N> {
    /// Puts items in, one after the other.
    pub(super) fn new(items: impl IntoIterator<Item = (L, N)>) -> Self {
        let mut queue = Self { items: Vec::new() };
        for (load, item) in items {
            queue.push(load, item);
        }
        queue
    }

    /// Puts an item in.
    pub(super) fn push(&mut self, load: L, item: N) {
        let mut place = self.items.len();
        self.items.push((load, item));
        while place > 0 {
            let parent = (place - 1) / 2;
            if !self.is_less(place, parent) {
                return;
            }
            self.items.swap(place, parent);
            place = parent;
        }
    }

    /// Takes an item of the least load out.
    pub(super) fn pop(&mut self) -> Option<(L, N)> {
        if self.items.is_empty() {
            return None;
        }
        let least = self.items.swap_remove(0);
        let mut place = 0;
        loop {
            let (left, right) = (2 * place + 1, 2 * place + 2);
            let child = if self.is_less(right, left) { right } else { left };
            if !self.is_less(child, place) {
                return Some(least);
            }
            self.items.swap(child, place);
            place = child;
        }
    }

    /// Never, if either place is empty.
    fn is_less(&self, place: usize, other: usize) -> bool {
        match (self.items.get(place), self.items.get(other)) {
            (Some((load, _)), Some((other_load, _))) => load < other_load,
            _ => false,
        }
    }
}

/// The members of each process by their number of tasks.
#[derive(Debug)]
pub(super) struct MemberQueues(Row<ProcessNo, Option<Queue<usize, MemberNo>>>);

impl MemberQueues {
    /// No member has tasks.
    pub(super) fn new(roster: &Roster<'_>) -> Self {
        Self(roster.processes.map(|_| None))
    }

    /// A member of the process has been given a task without having been asked for here.
    pub(super) fn forget(&mut self, process: ProcessNo) {
        self.0[process] = None;
    }

    /// The member of the process to be given the next task; that task is counted.
    pub(super) fn next(
        &mut self,
        process: ProcessNo,
        roster: &Roster<'_>,
        member_tasks: &Row<MemberNo, usize>,
    ) -> Option<MemberNo> {
        let members = roster.processes[process].iter().map(|member| (member_tasks[*member], *member));
        let queue = self.0[process].get_or_insert_with(|| Queue::new(members));
        let (tasks, member) = queue.pop()?;
        queue.push(tasks + 1, member);
        Some(member)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_is_a_fraction() {
        let load = |tasks, members| Load { tasks, members };
        assert!(load(1, 3) < load(1, 2) && load(2, 3) > load(1, 2));
        assert_eq!(load(2, 4), load(1, 2));
        assert_eq!(load(0, 1), load(0, 7));
        assert!(load(u64::MAX - 1, u64::MAX) < load(1, 1));
    }

    #[test]
    fn the_least_comes_first_and_the_last_served_after_its_equals() {
        let mut queue = Queue::new([(3, 'c'), (1, 'a'), (2, 'b')]);
        assert_eq!(queue.pop(), Some((1, 'a')));
        queue.push(2, 'a');
        assert_eq!([queue.pop(), queue.pop(), queue.pop()], [Some((2, 'b')), Some((2, 'a')), Some((3, 'c'))]);
        assert_eq!(queue.pop(), None);
    }

    #[test]
    fn a_queue_gives_all_items_back_in_order() {
        let loads = [5, 3, 9, 3, 0, 7, 7, 1, 2, 8];
        let mut queue = Queue::new(loads.map(|load| (load, load)));
        let given: Vec<i32> = std::iter::from_fn(|| queue.pop()).map(|(load, _)| load).collect();
        assert_eq!(given, [0, 1, 2, 3, 3, 5, 7, 7, 8, 9]);
    }
}
