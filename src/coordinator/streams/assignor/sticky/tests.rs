use std::collections::BTreeSet;
use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::coordinator::streams::assignor::MemberSpec;
use crate::coordinator::streams::configure::ConfiguredSubtopology;
use crate::coordinator::streams::tasks::{SubtopologyId, TaskSet};
use crate::types::ProcessId;

/// A group in the making: what an assignor is asked.
#[derive(Clone, Debug, Default)]
struct Group {
    num_standby_replicas: usize,
    subtopologies: BTreeMap<SubtopologyId, ConfiguredSubtopology>,
    members: BTreeMap<MemberId, MemberSpec>,
}

impl Group {
    fn subtopology(&mut self, id: &str, task_count: i32, is_stateful: bool) {
        let subtopology = ConfiguredSubtopology {
            task_count,
            is_stateful,
            source_topics: BTreeSet::new(),
            repartition_source_topics: BTreeMap::new(),
            repartition_sink_topics: BTreeSet::new(),
            changelog_topics: BTreeMap::new(),
        };
        self.subtopologies.insert(id.into(), subtopology);
    }

    fn join(&mut self, member: &str, process: &str) {
        let spec = MemberSpec { process_id: process.into(), ..MemberSpec::default() };
        self.members.insert(member.into(), spec);
    }

    fn assign(&self) -> BTreeMap<MemberId, Tasks> {
        let input = AssignmentInput {
            members: self.members.clone(),
            subtopologies: &self.subtopologies,
            num_standby_replicas: self.num_standby_replicas,
        };
        StickyAssignor.assign(&input).unwrap()
    }

    /// Every member has got what it was given.
    fn settle(&mut self, assignment: &BTreeMap<MemberId, Tasks>) {
        for (id, spec) in &mut self.members {
            let tasks = &assignment[id];
            spec.active = tasks.active.clone();
            spec.standby = tasks.standby.clone();
        }
    }

    fn process_of(&self, member: &MemberId) -> &ProcessId {
        &self.members[member].process_id
    }

    fn process_count(&self) -> usize {
        self.members.values().map(|spec| &spec.process_id).collect::<BTreeSet<_>>().len()
    }

    /// The processes with a copy of each task.
    fn hosts(
        &self,
        assignment: &BTreeMap<MemberId, Tasks>,
        of: fn(&Tasks) -> &TaskSet,
    ) -> Vec<(String, Vec<ProcessId>)> {
        let mut hosts: BTreeMap<(SubtopologyId, i32), Vec<ProcessId>> = BTreeMap::new();
        for (id, subtopology) in &self.subtopologies {
            for partition in 0..subtopology.task_count {
                hosts.insert((id.clone(), partition), Vec::new());
            }
        }
        for (member, tasks) in assignment {
            for (id, partition) in of(tasks).iter() {
                let hosts = hosts.get_mut(&(id.clone(), partition)).expect("no task that does not exist");
                hosts.push(self.process_of(member).clone());
            }
        }
        hosts.into_iter().map(|((id, partition), hosts)| (format!("{id}_{partition}"), hosts)).collect()
    }
}

fn task(text: &str) -> (SubtopologyId, i32) {
    let (id, partition) = text.split_once('_').expect("subtopology_partition");
    (id.into(), partition.parse().expect("a partition"))
}

fn text(tasks: &TaskSet) -> String {
    tasks.iter().fold(String::new(), |text, (id, partition)| text + &format!(" {id}_{partition}"))
}

/// Reads the notation of `testdata/sticky.txt`, one case.
fn group(case: &str) -> Group {
    let mut group = Group::default();
    for line in case.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["standbys", count] => group.num_standby_replicas = count.parse().unwrap(),
            ["subtopology", id, "of", count, kind] => {
                group.subtopology(id, count.parse().unwrap(), kind == "stateful");
            }
            ["member", id, "on", process, ref rest @ ..] => {
                group.join(id, process);
                remember(group.members.get_mut(id).unwrap(), rest);
            }
            _ => {}
        }
    }
    group
}

fn remember(spec: &mut MemberSpec, words: &[&str]) {
    let mut role = "";
    for word in words {
        match (role, *word) {
            (_, "active" | "standby" | "offset") => role = word,
            ("offset", word) => {
                let (name, offset) = word.split_once('=').unwrap();
                spec.task_offsets.insert(task(name), offset.parse().unwrap());
            }
            (_, word) => {
                let (id, partition) = task(word);
                let set = if role == "active" { &mut spec.active } else { &mut spec.standby };
                set.insert(&id, partition);
            }
        }
    }
}

/// What the case says comes out, and what does.
fn check_case(case: &str) {
    let assignment = group(case).assign();
    let is_exact = case.contains("\ngives ");
    let mut expected = String::new();
    for line in case.lines().filter(|line| line.starts_with("gives ") || line.starts_with("counts ")) {
        writeln!(expected, "{line}").unwrap();
    }
    let mut actual = String::new();
    for (member, tasks) in &assignment {
        if is_exact {
            write!(actual, "gives {member}").unwrap();
            for (role, set) in [("active", &tasks.active), ("standby", &tasks.standby)] {
                if !set.is_empty() {
                    write!(actual, " {role}{}", text(set)).unwrap();
                }
            }
            writeln!(actual).unwrap();
        } else {
            writeln!(actual, "counts {member} {} {}", tasks.active.len(), tasks.standby.len()).unwrap();
        }
    }
    assert_eq!(actual, expected, "case {case}");
}

#[test]
fn it_answers_as_kafka_does() {
    let cases: Vec<&str> = include_str!("../testdata/sticky.txt").split("\ncase ").skip(1).collect();
    assert_eq!(cases.len(), 27);
    for case in cases {
        check_case(case);
    }
}

#[test]
fn a_third_process_leaves_every_task_with_a_standby_elsewhere() {
    // KAFKA-20899: the standby went beside the active task, or nowhere.
    let mut group = group("standbys 1\nsubtopology 0 of 4 stateful");
    for (member, process) in [("A", "p1"), ("B", "p2"), ("C", "p3")] {
        group.join(member, process);
        let assignment = group.assign();
        group.settle(&assignment);
        let standby_count = usize::from(group.process_count() > 1);
        for (task, hosts) in group.hosts(&assignment, |tasks| &tasks.standby) {
            assert_eq!(hosts.len(), standby_count, "standbys of {task} with {} processes", group.process_count());
        }
    }
    assert_eq!(group.assign(), group.assign());
}

#[test]
fn of_equally_loaded_processes_the_one_served_last_waits() {
    check_case(
        "\nsubtopology 0 of 2 stateless
         subtopology 1 of 6 stateless
         subtopology 2 of 6 stateless
         member A on p4 active 0_0 0_1 1_0 1_1 2_0
         member B on p1 active 1_2 1_5 2_1 2_5
gives A active 0_0 0_1 1_0 1_1 1_4 2_0 2_3
gives B active 1_2 1_3 1_5 2_1 2_2 2_4 2_5
",
    );
}

#[test]
fn tasks_of_old_that_no_longer_exist_are_forgotten() {
    check_case(
        "\nsubtopology 1 of 2 stateful
         member A on p1 active 0_0 1_1 1_7 standby 2_0 1_9 offset 1_8=5 3_0=1
         member B on p2
gives A active 1_1
gives B active 1_0
",
    );
}

#[test]
fn tasks_without_members_cannot_be_given_out() {
    let group = group("subtopology a of 2 stateful");
    let input =
        AssignmentInput { members: BTreeMap::new(), subtopologies: &group.subtopologies, num_standby_replicas: 1 };
    let error = StickyAssignor.assign(&input).unwrap_err();
    assert_eq!(error.to_string(), "No process available to assign active task a_0.");
}

#[test]
fn any_number_of_standbys_may_be_asked_for() {
    let mut group = group("subtopology 0 of 2 stateful\nmember A on p1\nmember B on p2");
    group.num_standby_replicas = usize::MAX;
    let assignment = group.assign();
    for (_, hosts) in group.hosts(&assignment, |tasks| &tasks.standby) {
        assert_eq!(hosts.len(), 1);
    }
}

#[test]
fn a_large_group_is_shared_out_evenly() {
    let mut group = Group { num_standby_replicas: 1, ..Group::default() };
    for subtopology in 0..10 {
        group.subtopology(&subtopology.to_string(), 500, subtopology % 2 == 0);
    }
    for member in 0..100 {
        group.join(&format!("m{member:03}"), &format!("p{member:03}"));
    }
    let first = group.assign();
    assert!(first.values().all(|tasks| tasks.active.len() == 50));
    group.settle(&first);
    group.join("m100", "p100");
    let second = group.assign();
    let kept = second.iter().filter_map(|(id, tasks)| Some(tasks.active.intersection(&first.get(id)?.active).len()));
    // The share of the new member is 49 or 50.
    assert!((4_950..=4_951).contains(&kept.sum::<usize>()));
}

/// A group, and changes of its members.
#[derive(Clone, Debug)]
struct Life {
    group: Group,
    changes: Vec<MemberChange>,
}

/// A member that joins or, if it is there, leaves.
#[derive(Clone, Debug)]
struct MemberChange {
    member: usize,
    process: usize,
    /// Subtopology, partition and offset of state it has.
    offsets: Vec<(usize, i32, i64)>,
}

fn lives() -> impl Strategy<Value = Life> {
    let subtopologies = prop::collection::vec((1..=8_i32, any::<bool>()), 1..=3);
    let offsets = prop::collection::vec((0..3_usize, 0..9_i32, -1..200_i64), 0..6);
    let change = (0..12_usize, 0..5_usize, offsets).prop_map(|(member, process, offsets)| MemberChange {
        member,
        process,
        offsets,
    });
    let changes = prop::collection::vec(change, 1..16);
    (subtopologies, 0..=2_usize, changes).prop_map(|(subtopologies, num_standby_replicas, changes)| {
        let mut group = Group { num_standby_replicas, ..Group::default() };
        for (id, (task_count, is_stateful)) in subtopologies.into_iter().enumerate() {
            group.subtopology(&id.to_string(), task_count, is_stateful);
        }
        Life { group, changes }
    })
}

fn apply(group: &mut Group, change: &MemberChange) {
    let id = format!("m{:02}", change.member);
    if group.members.remove(id.as_str()).is_some() && !group.members.is_empty() {
        return;
    }
    group.join(&id, &format!("p{}", change.process));
    let spec = group.members.get_mut(id.as_str()).unwrap();
    for (subtopology, partition, offset) in &change.offsets {
        spec.task_offsets.insert((subtopology.to_string().into(), *partition), *offset);
    }
}

fn spread(counts: impl Iterator<Item = usize> + Clone) -> usize {
    counts.clone().max().unwrap_or(0) - counts.min().unwrap_or(0)
}

proptest! {
    #[test]
    fn whatever_happens_every_task_is_run_once_and_followed_elsewhere(life in lives()) {
        let mut group = life.group;
        for change in &life.changes {
            apply(&mut group, change);
            let assignment = group.assign();
            prop_assert!(assignment.keys().eq(group.members.keys()));

            let actives = group.hosts(&assignment, |tasks| &tasks.active);
            let standbys = group.hosts(&assignment, |tasks| &tasks.standby);
            for ((task, active), (_, standby)) in actives.iter().zip(&standbys) {
                prop_assert_eq!(active.len(), 1, "{} has one active", task);
                let processes: BTreeSet<&ProcessId> = active.iter().chain(standby).collect();
                prop_assert_eq!(processes.len(), 1 + standby.len(), "{} once in a process", task);

                let subtopology = &group.subtopologies[task.split_once('_').unwrap().0];
                let possible = group.num_standby_replicas.min(group.process_count() - 1);
                let standby_count = if subtopology.is_stateful { possible } else { 0 };
                prop_assert_eq!(standby.len(), standby_count, "standbys of {}", task);
            }
            prop_assert!(assignment.values().all(|tasks| tasks.warmup.is_empty()));
            group.settle(&assignment);
        }
    }

    #[test]
    fn new_groups_of_equal_processes_are_balanced(
        mut group in lives().prop_map(|life| life.group),
        process_count in 1..6_usize,
        member_count in 1..4_usize,
    ) {
        for process in 0..process_count {
            for member in 0..member_count {
                group.join(&format!("m{process}{member}"), &format!("p{process}"));
            }
        }
        let assignment = group.assign();
        prop_assert!(spread(assignment.values().map(|tasks| tasks.active.len())) <= 1);
        // And the same group gives the same answer.
        prop_assert_eq!(&group.assign(), &assignment);
    }
}
