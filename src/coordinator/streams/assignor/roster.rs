//! Members, processes and tasks as numbers, so that an assignor compares numbers and not texts.
//!
//! Each kind of number is a type of its own and only names a place in a [`Row`] that was made for its kind. They count
//! in the order of ids, so that the lower number is the lower id.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use super::{AssignmentInput, MemberSpec, TaskOffsets};
use crate::coordinator::streams::tasks::{SubtopologyId, TaskSet};
use crate::types::{MemberId, ProcessId};

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) struct $name(u32);

        impl Number for $name {
            fn new(place: usize) -> Self {
                Self(u32::try_from(place).unwrap_or(u32::MAX))
            }

            fn place(self) -> usize {
                usize::try_from(self.0).unwrap_or(usize::MAX)
            }
        }
    )+};
}

/// A number that stands for something of one kind.
pub(super) trait Number: Copy {
    /// The number of what stands at this place.
    fn new(place: usize) -> Self;

    /// The place of what has this number.
    fn place(self) -> usize;
}

numbers! {
    /// A member of the group.
    MemberNo,
    /// A process that members belong to.
    ProcessNo,
    /// A task, by subtopology and then partition.
    TaskNo,
}

/// Something for everyone that has a number of one kind.
#[derive(Clone, Debug)]
pub(super) struct Row<N, T> {
    items: Vec<T>,
    kind: PhantomData<N>,
}

impl<N: Number, T> Row<N, T> {
    /// Puts each item at its place.
    pub(super) fn new(items: Vec<T>) -> Self {
        Self { items, kind: PhantomData }
    }

    /// The items with their numbers.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (N, &T)> {
        self.items.iter().enumerate().map(|(place, item)| (N::new(place), item))
    }

    /// The items, to be changed.
    pub(super) fn items_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.items.iter_mut()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// A row of the same length.
    pub(super) fn map<U>(&self, make: impl FnMut(&T) -> U) -> Row<N, U> {
        Row::new(self.items.iter().map(make).collect())
    }
}

impl<N: Number, T> Index<N> for Row<N, T> {
    type Output = T;

    fn index(&self, number: N) -> &T {
        self.items.get(number.place()).expect("the roster gives out numbers for rows of this length only")
    }
}

impl<N: Number, T> IndexMut<N> for Row<N, T> {
    fn index_mut(&mut self, number: N) -> &mut T {
        self.items.get_mut(number.place()).expect("the roster gives out numbers for rows of this length only")
    }
}

/// A member, its process known by number.
#[derive(Debug)]
pub(super) struct Member<'a> {
    pub(super) id: &'a MemberId,
    pub(super) spec: &'a MemberSpec,
    pub(super) process: ProcessNo,
}

/// The tasks of one subtopology: a stretch of numbers.
#[derive(Clone, Debug)]
struct Stretch<'a> {
    id: &'a SubtopologyId,
    first: usize,
    len: usize,
    is_stateful: bool,
}

/// Everyone and everything in an assignment.
#[derive(Debug)]
pub(super) struct Roster<'a> {
    /// The members.
    pub(super) members: Row<MemberNo, Member<'a>>,
    /// The members of each process.
    pub(super) processes: Row<ProcessNo, Vec<MemberNo>>,
    subtopologies: Vec<Stretch<'a>>,
    task_count: usize,
}

impl<'a> Roster<'a> {
    /// Gives out the numbers.
    pub(super) fn new(input: &'a AssignmentInput<'_>) -> Self {
        let mut by_process: BTreeMap<&ProcessId, Vec<MemberNo>> = BTreeMap::new();
        for (place, spec) in input.members.values().enumerate() {
            by_process.entry(&spec.process_id).or_default().push(MemberNo::new(place));
        }
        let process_numbers: BTreeMap<&ProcessId, ProcessNo> =
            by_process.keys().enumerate().map(|(place, id)| (*id, ProcessNo::new(place))).collect();
        let member = |(id, spec): (&'a MemberId, &'a MemberSpec)| {
            Some(Member { id, spec, process: *process_numbers.get(&spec.process_id)? })
        };
        let members = Row::new(input.members.iter().filter_map(member).collect());

        let mut subtopologies = Vec::with_capacity(input.subtopologies.len());
        let mut task_count = 0;
        for (id, subtopology) in input.subtopologies {
            let len = usize::try_from(subtopology.task_count).unwrap_or(0);
            subtopologies.push(Stretch { id, first: task_count, len, is_stateful: subtopology.is_stateful });
            task_count += len;
        }
        Self { members, processes: Row::new(by_process.into_values().collect()), subtopologies, task_count }
    }

    /// A row with an item for every task.
    pub(super) fn per_task<T>(&self, make: impl Fn() -> T) -> Row<TaskNo, T> {
        Row::new((0..self.task_count).map(|_| make()).collect())
    }

    /// How many tasks there are.
    pub(super) fn task_count(&self) -> usize {
        self.task_count
    }

    /// How many of the tasks have state.
    pub(super) fn stateful_task_count(&self) -> usize {
        self.subtopologies.iter().filter(|stretch| stretch.is_stateful).map(|stretch| stretch.len).sum()
    }

    /// All tasks, by partition and then subtopology.
    pub(super) fn tasks_by_partition(&self) -> Vec<TaskNo> {
        by_partition(self.subtopologies.iter().collect())
    }

    /// The tasks with state, by partition and then subtopology.
    pub(super) fn stateful_tasks_by_partition(&self) -> Vec<TaskNo> {
        by_partition(self.subtopologies.iter().filter(|stretch| stretch.is_stateful).collect())
    }

    /// The numbers of those tasks of a set that exist.
    pub(super) fn numbers<'b>(&'b self, tasks: &'b TaskSet) -> impl Iterator<Item = TaskNo> + 'b {
        tasks.by_subtopology().flat_map(|(id, partitions)| {
            let stretch = self.stretch(id);
            partitions.iter().filter_map(move |partition| stretch?.number(*partition))
        })
    }

    /// The numbers of those tasks that exist, with their offsets.
    pub(super) fn numbered_offsets<'b>(&'b self, offsets: &'b TaskOffsets) -> impl Iterator<Item = (TaskNo, i64)> + 'b {
        // A subtopology's tasks come together, so that it is looked up once.
        let mut last: Option<(&SubtopologyId, Option<&Stretch<'_>>)> = None;
        offsets.iter().filter_map(move |((id, partition), offset)| {
            let stretch = match last {
                Some((last_id, stretch)) if last_id == id => stretch,
                _ => self.stretch(id),
            };
            last = Some((id, stretch));
            Some((stretch?.number(*partition)?, *offset))
        })
    }

    /// The task as Kafka writes it.
    pub(super) fn text(&self, task: TaskNo) -> String {
        let stretch = self.stretch_of(task);
        stretch.map(|stretch| format!("{}_{}", stretch.id, task.place() - stretch.first)).unwrap_or_default()
    }

    /// A set of tasks from their numbers, which must come in order.
    pub(super) fn task_set(&self, tasks: &[TaskNo]) -> TaskSet {
        let mut rest = tasks;
        let next_subtopology = || {
            let stretch = self.stretch_of(*rest.first()?)?;
            let (of_stretch, others) = rest.split_at(rest.partition_point(|task| task.place() < stretch.end()));
            rest = others;
            let partition = |task: &TaskNo| i32::try_from(task.place() - stretch.first).ok();
            Some((SubtopologyId::clone(stretch.id), of_stretch.iter().filter_map(partition).collect()))
        };
        TaskSet::of_subtopologies(std::iter::from_fn(next_subtopology))
    }

    fn stretch_of(&self, task: TaskNo) -> Option<&Stretch<'a>> {
        self.subtopologies.get(self.subtopologies.partition_point(|stretch| stretch.end() <= task.place()))
    }

    fn stretch(&self, subtopology: &str) -> Option<&Stretch<'a>> {
        let place = self.subtopologies.binary_search_by(|stretch| (**stretch.id).cmp(subtopology)).ok()?;
        self.subtopologies.get(place)
    }
}

impl Stretch<'_> {
    fn end(&self) -> usize {
        self.first + self.len
    }

    fn number(&self, partition: i32) -> Option<TaskNo> {
        let partition = usize::try_from(partition).ok().filter(|partition| *partition < self.len)?;
        Some(TaskNo::new(self.first + partition))
    }
}

fn by_partition(mut open: Vec<&Stretch<'_>>) -> Vec<TaskNo> {
    let mut tasks = Vec::new();
    let mut partition = 0;
    loop {
        open.retain(|stretch| partition < stretch.len);
        if open.is_empty() {
            return tasks;
        }
        tasks.extend(open.iter().map(|stretch| TaskNo::new(stretch.first + partition)));
        partition += 1;
    }
}
