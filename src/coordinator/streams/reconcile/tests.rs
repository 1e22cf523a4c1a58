use std::collections::BTreeMap;
use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::coordinator::streams::tasks::SubtopologyId;

/// What a member is told, and what is stored of it.
#[derive(Clone, Debug)]
struct Member {
    process: ProcessId,
    current: StreamsGroupCurrentMemberAssignmentValue,
    target: Tasks,
}

/// A group as far as reconciliation sees it.
#[derive(Clone, Debug, Default)]
struct Group {
    target_epoch: i32,
    members: BTreeMap<&'static str, Member>,
    ownership: Ownership,
}

impl Group {
    /// A new member, at epoch 0.
    fn join(&mut self, member: &'static str, process: &str) {
        let current = StreamsGroupCurrentMemberAssignmentValue {
            member_epoch: 0,
            previous_member_epoch: 0,
            state: MemberState::Stable.to_byte(),
            assigned: AssignedTasks::default(),
            active_pending_revocation: ActiveTasks::default(),
            standby_pending_revocation: TaskSet::default(),
            warmup_pending_revocation: TaskSet::default(),
        };
        let member_state = Member { process: process.into(), current, target: Tasks::default() };
        self.members.insert(member, member_state);
    }

    fn leave(&mut self, member: &str) {
        let Member { process, current, .. } = self.members.remove(member).unwrap();
        self.ownership.remove(&process, &current);
    }

    /// A new target for some; the others keep theirs.
    fn target(&mut self, epoch: i32, targets: &[(&'static str, &str)]) {
        self.target_epoch = epoch;
        for (member, text) in targets {
            self.members.get_mut(member).unwrap().target = tasks(text);
        }
    }

    fn try_heartbeat(&mut self, member: &str, owned: Option<&Tasks>) -> Result<(), GroupError> {
        let Member { process, current, target } = &self.members[member];
        let next = reconcile(&Reconciling {
            process_id: process,
            current,
            target_epoch: self.target_epoch,
            target,
            owned,
            ownership: &self.ownership,
        })?;
        self.ownership.remove(process, current);
        self.ownership.add(process, &next);
        self.members.get_mut(member).unwrap().current = next;
        Ok(())
    }

    /// A heartbeat; `owned` is what the member says it owns, `-` if it does not say. Gives what is stored then:
    /// state, epoch (previous epoch), assigned tasks, tasks to be given up.
    fn heartbeat(&mut self, member: &str, owned: &str) -> String {
        let owned = (owned != "-").then(|| tasks(owned));
        self.try_heartbeat(member, owned.as_ref()).unwrap();
        stored(&self.members[member].current)
    }
}

/// `a0 a1 s2 w3`: active, standby and warm-up tasks of subtopology "0".
fn tasks(text: &str) -> Tasks {
    let mut tasks = Tasks::default();
    for word in text.split_whitespace() {
        let (role, partition) = word.split_at(1);
        let set = match role {
            "a" => &mut tasks.active,
            "s" => &mut tasks.standby,
            "w" => &mut tasks.warmup,
            _ => panic!("no role: {word}"),
        };
        set.insert(&"0".into(), partition.parse().unwrap());
    }
    tasks
}

fn list(active: &ActiveTasks, standby: &TaskSet, warmup: &TaskSet) -> String {
    let mut text = String::new();
    for (_, partition, epoch) in active.iter() {
        write!(text, " a{partition}@{epoch}").unwrap();
    }
    for (role, set) in [("s", standby), ("w", warmup)] {
        for (_, partition) in set.iter() {
            write!(text, " {role}{partition}").unwrap();
        }
    }
    text
}

fn stored(current: &StreamsGroupCurrentMemberAssignmentValue) -> String {
    let (assigned, epoch, previous) = (&current.assigned, current.member_epoch, current.previous_member_epoch);
    let state = MemberState::from_byte(current.state);
    let mut text = format!("{state:?} {epoch} ({previous}):");
    text += &list(&assigned.active, &assigned.standby, &assigned.warmup);
    let pending = list(
        &current.active_pending_revocation,
        &current.standby_pending_revocation,
        &current.warmup_pending_revocation,
    );
    if pending.is_empty() { text } else { text + " /" + &pending }
}

#[test]
fn a_member_gives_up_tasks_before_another_gets_them() {
    let mut group = Group::default();
    group.join("A", "pA");
    group.target(2, &[("A", "a0 a1 a2 a3")]);
    assert_eq!(group.heartbeat("A", ""), "Stable 2 (0): a0@2 a1@2 a2@2 a3@2");
    assert_eq!(group.heartbeat("A", "a0"), "Stable 2 (0): a0@2 a1@2 a2@2 a3@2");

    group.join("B", "pB");
    group.target(3, &[("A", "a0 a1"), ("B", "a2 a3")]);
    assert_eq!(group.heartbeat("B", ""), "UnreleasedTasks 3 (0):");
    assert_eq!(group.heartbeat("A", "-"), "UnrevokedTasks 2 (2): a0@2 a1@2 / a2@2 a3@2");
    assert_eq!(group.heartbeat("B", "-"), "UnreleasedTasks 3 (3):");
    // Saying nothing confirms nothing, and neither does owning some of them still.
    assert_eq!(group.heartbeat("A", "-"), "UnrevokedTasks 2 (2): a0@2 a1@2 / a2@2 a3@2");
    assert_eq!(group.heartbeat("A", "a0 a1 a2 a3"), "UnrevokedTasks 2 (2): a0@2 a1@2 / a2@2 a3@2");
    assert_eq!(group.heartbeat("A", "a0 a1 a3"), "UnrevokedTasks 2 (2): a0@2 a1@2 / a2@2 a3@2");
    // Kept tasks keep the epoch they were given at.
    assert_eq!(group.heartbeat("A", "a0 a1"), "Stable 3 (2): a0@2 a1@2");
    assert_eq!(group.heartbeat("B", "-"), "Stable 3 (3): a2@3 a3@3");
    assert_eq!(group.heartbeat("B", "-"), "Stable 3 (3): a2@3 a3@3");
}

#[test]
fn a_member_that_never_gives_up_is_removed_and_its_tasks_move() {
    let mut group = Group::default();
    group.join("A", "pA");
    group.target(2, &[("A", "a0 a1 a2 a3")]);
    group.heartbeat("A", "");
    group.join("B", "pB");
    group.target(3, &[("A", "a0 a1"), ("B", "a2 a3")]);
    assert_eq!(group.heartbeat("B", ""), "UnreleasedTasks 3 (0):");
    assert_eq!(group.heartbeat("A", "-"), "UnrevokedTasks 2 (2): a0@2 a1@2 / a2@2 a3@2");
    assert_eq!(group.heartbeat("A", "-"), "UnrevokedTasks 2 (2): a0@2 a1@2 / a2@2 a3@2");

    group.leave("A");
    group.target(4, &[("B", "a0 a1 a2 a3")]);
    assert_eq!(group.heartbeat("B", "-"), "Stable 4 (3): a0@4 a1@4 a2@4 a3@4");
}

#[test]
fn standbys_appear_at_once_where_nothing_stands_in_their_way() {
    // Two threads in process pA, and a second process that joins.
    let mut group = Group::default();
    group.join("A1", "pA");
    group.target(3, &[("A1", "a0 a1 a2 a3")]);
    assert_eq!(group.heartbeat("A1", "-"), "Stable 3 (0): a0@3 a1@3 a2@3 a3@3");
    group.join("A2", "pA");
    group.target(4, &[("A1", "a0 a1"), ("A2", "a2 a3")]);
    assert_eq!(group.heartbeat("A2", ""), "UnreleasedTasks 4 (0):");
    assert_eq!(group.heartbeat("A1", "-"), "UnrevokedTasks 3 (3): a0@3 a1@3 / a2@3 a3@3");
    assert_eq!(group.heartbeat("A1", "a0 a1"), "Stable 4 (3): a0@3 a1@3");
    assert_eq!(group.heartbeat("A2", "-"), "Stable 4 (4): a2@4 a3@4");

    group.join("B1", "pB");
    group.target(5, &[("A2", "a2 s3"), ("B1", "a3 s0 s1 s2")]);
    assert_eq!(group.heartbeat("B1", ""), "UnreleasedTasks 5 (0): s0 s1 s2");
    assert_eq!(group.heartbeat("A1", "-"), "Stable 5 (4): a0@3 a1@3");
    assert_eq!(group.heartbeat("A2", "-"), "UnrevokedTasks 4 (4): a2@4 s3 / a3@4");
    assert_eq!(group.heartbeat("B1", "-"), "UnreleasedTasks 5 (5): s0 s1 s2");
    assert_eq!(group.heartbeat("A2", "a2 s3"), "Stable 5 (4): a2@4 s3");
    assert_eq!(group.heartbeat("B1", "-"), "Stable 5 (5): a3@5 s0 s1 s2");
}

#[test]
fn a_member_that_says_it_owns_nothing_has_nothing_to_give_up() {
    let mut group = Group::default();
    group.join("A", "pA");
    group.target(2, &[("A", "a0 a1 s2 w3")]);
    group.heartbeat("A", "");
    group.target(3, &[("A", "a1 a4")]);
    assert_eq!(group.heartbeat("A", ""), "Stable 3 (2): a1@2 a4@3");
}

#[test]
fn tasks_of_every_role_have_to_be_given_up() {
    for task in ["a0", "s0", "w0"] {
        let mut group = Group::default();
        group.join("A", "pA");
        group.target(2, &[("A", task)]);
        group.heartbeat("A", "");
        group.target(3, &[("A", "")]);
        for owned in [task, "-", task] {
            group.heartbeat("A", owned);
            assert_eq!(group.members["A"].current.state, MemberState::UnrevokedTasks.to_byte(), "{task}");
        }
        // The same task in another role is another task.
        group.heartbeat("A", if task == "a0" { "s0" } else { "a0" });
        assert_eq!(stored(&group.members["A"].current), "Stable 3 (2):", "{task}");
    }
}

#[test]
fn a_second_rebalance_during_the_first_is_taken_up_after_it() {
    let mut group = Group::default();
    group.join("A", "pA");
    group.target(2, &[("A", "a0 a1 a2")]);
    group.heartbeat("A", "");
    group.target(3, &[("A", "a0 a1")]);
    assert_eq!(group.heartbeat("A", "-"), "UnrevokedTasks 2 (2): a0@2 a1@2 / a2@2");
    // Even the task that it gets back it has to give up first.
    group.target(7, &[("A", "a0 a2")]);
    assert_eq!(group.heartbeat("A", "a0 a1 a2"), "UnrevokedTasks 2 (2): a0@2 a1@2 / a2@2");
    assert_eq!(group.heartbeat("A", "a0 a1"), "UnrevokedTasks 3 (2): a0@2 / a1@2");
    assert_eq!(group.heartbeat("A", "a0"), "Stable 7 (3): a0@2 a2@7");
}

#[test]
fn a_task_just_given_up_and_due_again_comes_back_one_step_later() {
    let mut group = Group::default();
    group.join("A", "pA");
    group.target(2, &[("A", "a0 a1")]);
    group.heartbeat("A", "");
    group.target(3, &[("A", "a0")]);
    group.heartbeat("A", "-");
    group.target(4, &[("A", "a0 a1")]);
    assert_eq!(group.heartbeat("A", "a0"), "UnreleasedTasks 4 (2): a0@2");
    assert_eq!(group.heartbeat("A", "-"), "Stable 4 (4): a0@2 a1@4");
}

#[test]
fn an_active_task_that_becomes_a_standby_is_one_while_it_is_given_up() {
    let mut group = Group::default();
    group.join("A", "pA");
    group.target(2, &[("A", "a0")]);
    group.heartbeat("A", "");
    group.target(3, &[("A", "s0")]);
    assert_eq!(group.heartbeat("A", "a0"), "UnrevokedTasks 2 (2): s0 / a0@2");
    assert_eq!(group.heartbeat("A", "s0"), "Stable 3 (2): s0");
}

#[test]
fn a_standby_that_becomes_active_stays_a_standby_until_it_is() {
    let mut group = Group::default();
    group.join("A", "pA");
    group.join("B", "pB");
    group.target(2, &[("A", "a0 a1"), ("B", "s0 w1 s9")]);
    group.heartbeat("A", "");
    assert_eq!(group.heartbeat("B", ""), "Stable 2 (0): s0 s9 w1");
    group.target(3, &[("A", ""), ("B", "a0 a1")]);
    // s9 goes, s0 and w1 are held on to.
    assert_eq!(group.heartbeat("B", "s0 w1 s9"), "UnrevokedTasks 2 (2): s0 w1 / s9");
    assert_eq!(group.heartbeat("B", "s0 w1"), "UnreleasedTasks 3 (2): s0 w1");
    group.heartbeat("A", "a0 a1");
    assert_eq!(group.heartbeat("B", "-"), "UnreleasedTasks 3 (3): s0 w1");
    assert_eq!(group.heartbeat("A", ""), "Stable 3 (2):");
    assert_eq!(group.heartbeat("B", "-"), "Stable 3 (3): a0@3 a1@3");
}

#[test]
fn a_standby_is_not_made_active_while_the_member_has_other_tasks_to_give_up() {
    let mut group = Group::default();
    group.join("A", "pA");
    group.target(2, &[("A", "s0 a5")]);
    group.heartbeat("A", "");
    group.target(3, &[("A", "a0")]);
    assert_eq!(group.heartbeat("A", "-"), "UnrevokedTasks 2 (2): s0 / a5@2");
    assert_eq!(group.heartbeat("A", "s0"), "Stable 3 (2): a0@3");
}

#[test]
fn standby_and_warmup_turn_into_each_other_at_once() {
    let mut group = Group::default();
    group.join("A", "pA");
    group.target(2, &[("A", "s0 w1")]);
    group.heartbeat("A", "");
    group.target(3, &[("A", "w0 s1")]);
    assert_eq!(group.heartbeat("A", "-"), "Stable 3 (2): s1 w0");
}

#[test]
fn an_active_task_is_blocked_by_its_holder_and_by_copies_beside_it() {
    for (other, process, is_blocked) in [
        ("a0", "pA", true),
        ("a0", "pB", true),
        ("s0", "pA", true),
        ("s0", "pB", false),
        ("w0", "pA", true),
        ("w0", "pB", false),
    ] {
        assert_eq!(is_blocked_by("a0", other, process), is_blocked, "active, {other} on {process}");
    }
}

#[test]
fn a_standby_or_warmup_is_blocked_by_copies_beside_it_only() {
    for role in ["s0", "w0"] {
        for other in ["a0", "s0", "w0"] {
            assert!(is_blocked_by(role, other, "pA"), "{role} beside {other}");
            assert!(!is_blocked_by(role, other, "pB"), "{role} far from {other}");
        }
    }
}

/// Whether a member of process pA has to wait for a task while another member holds it.
fn is_blocked_by(wanted: &str, other: &str, other_process: &str) -> bool {
    let mut group = Group::default();
    group.join("B", other_process);
    group.target(2, &[("B", other)]);
    group.heartbeat("B", "");
    group.join("A", "pA");
    group.target(3, &[("A", wanted)]);
    group.heartbeat("A", "");
    let current = &group.members["A"].current;
    assert_eq!(current.assigned.is_empty(), current.state == MemberState::UnreleasedTasks.to_byte());
    current.assigned.is_empty()
}

#[test]
fn a_warmup_cannot_be_where_the_member_itself_still_gives_the_active_task_up() {
    let mut group = Group::default();
    group.join("A", "pA");
    group.target(2, &[("A", "a0")]);
    group.heartbeat("A", "");
    group.target(3, &[("A", "w0")]);
    assert_eq!(group.heartbeat("A", "-"), "UnrevokedTasks 2 (2): / a0@2");
    assert_eq!(group.heartbeat("A", ""), "UnreleasedTasks 3 (2):");
    assert_eq!(group.heartbeat("A", ""), "Stable 3 (3): w0");
}

#[test]
fn a_state_of_a_newer_version_is_left_by_starting_from_nothing() {
    let mut group = Group::default();
    group.join("A", "pA");
    group.target(2, &[("A", "a0 a1")]);
    group.heartbeat("A", "");
    group.members.get_mut("A").unwrap().current.state = 9;
    group.target(3, &[("A", "a0 a2")]);
    for owned in [None, Some(tasks("a0"))] {
        let error = group.try_heartbeat("A", owned.as_ref()).unwrap_err();
        assert_eq!(error.code, ErrorCode::FencedMemberEpoch);
        assert_eq!(
            error.message.as_deref(),
            Some("The streams group member is in a unknown state. The member must abandon all its tasks and rejoin.")
        );
    }
    assert_eq!(group.heartbeat("A", ""), "Stable 3 (2): a0@2 a2@3");
}

#[test]
fn states_are_stored_under_kafkas_numbers() {
    for (state, byte) in [
        (MemberState::Stable, 1),
        (MemberState::UnrevokedTasks, 2),
        (MemberState::UnreleasedTasks, 3),
        (MemberState::Unknown, 127),
    ] {
        assert_eq!((state.to_byte(), MemberState::from_byte(byte)), (byte, state));
    }
    assert_eq!(MemberState::from_byte(0), MemberState::Unknown);
}

const MEMBERS: [(&str, &str); 5] = [("A1", "pA"), ("A2", "pA"), ("B1", "pB"), ("B2", "pB"), ("C1", "pC")];
const TASK_COUNT: i32 = 6;

/// What a group of [`MEMBERS`] goes through.
#[derive(Clone, Debug)]
enum Event {
    /// A new target: for each task the member that runs it (if any), and where copies are.
    Target(Vec<(usize, Vec<(usize, bool)>)>),
    /// A heartbeat that says nothing of tasks.
    Silent(usize),
    /// A heartbeat that says what the member was last told it may own.
    Honest(usize),
    /// A heartbeat that claims these tasks.
    Claim(usize, Vec<(u8, i32)>),
    /// The member is gone and comes back with nothing.
    Restart(usize),
}

fn targets() -> impl Strategy<Value = Vec<(usize, Vec<(usize, bool)>)>> {
    let copies = prop::collection::vec((0..MEMBERS.len(), any::<bool>()), 0..4);
    let per_task = (0..=MEMBERS.len(), copies);
    prop::collection::vec(per_task, usize::try_from(TASK_COUNT).unwrap())
}

fn events() -> impl Strategy<Value = Event> {
    let member = 0..MEMBERS.len();
    prop_oneof![
        2 => targets().prop_map(Event::Target),
        6 => member.clone().prop_map(Event::Silent),
        8 => member.clone().prop_map(Event::Honest),
        2 => (member.clone(), prop::collection::vec((0..3_u8, 0..TASK_COUNT), 0..6))
            .prop_map(|(member, claims)| Event::Claim(member, claims)),
        1 => member.prop_map(Event::Restart),
    ]
}

/// A target as an assignor would make it: one active at most, one copy in a process at most.
fn set_target(group: &mut Group, target: &[(usize, Vec<(usize, bool)>)]) {
    group.target_epoch += 1;
    for member in group.members.values_mut() {
        member.target = Tasks::default();
    }
    let id = SubtopologyId::from("0");
    for ((runner, copies), partition) in target.iter().zip(0..) {
        let mut processes = Vec::new();
        if let Some((name, process)) = MEMBERS.get(*runner) {
            group.members.get_mut(name).unwrap().target.active.insert(&id, partition);
            processes.push(*process);
        }
        for (member, is_warmup) in copies {
            let (name, process) = MEMBERS[*member];
            if processes.contains(&process) {
                continue;
            }
            processes.push(process);
            let target = &mut group.members.get_mut(name).unwrap().target;
            if *is_warmup { &mut target.warmup } else { &mut target.standby }.insert(&id, partition);
        }
    }
}

fn told(current: &StreamsGroupCurrentMemberAssignmentValue) -> Tasks {
    Tasks {
        active: current.assigned.active.to_set(),
        standby: current.assigned.standby.clone(),
        warmup: current.assigned.warmup.clone(),
    }
}

fn step(group: &mut Group, event: &Event) {
    match event {
        Event::Target(target) => set_target(group, target),
        Event::Silent(member) => group.try_heartbeat(MEMBERS[*member].0, None).unwrap(),
        Event::Honest(member) => {
            let owned = told(&group.members[MEMBERS[*member].0].current);
            group.try_heartbeat(MEMBERS[*member].0, Some(&owned)).unwrap();
        }
        Event::Claim(member, claims) => {
            let mut owned = Tasks::default();
            for (role, partition) in claims {
                let set = [&mut owned.active, &mut owned.standby, &mut owned.warmup].into_iter().nth((*role).into());
                set.unwrap().insert(&"0".into(), *partition);
            }
            group.try_heartbeat(MEMBERS[*member].0, Some(&owned)).unwrap();
        }
        Event::Restart(member) => {
            let (name, process) = MEMBERS[*member];
            let target = group.members[name].target.clone();
            group.leave(name);
            group.join(name, process);
            group.members.get_mut(name).unwrap().target = target;
        }
    }
}

/// No active task at two members, no copy of a task at two members of a process.
fn assert_exclusive(group: &Group) {
    for partition in 0..TASK_COUNT {
        let mut runners = Vec::new();
        let mut hosts = Vec::new();
        for (name, Member { process, current, .. }) in &group.members {
            let is_active = current.assigned.active.contains("0", partition)
                || current.active_pending_revocation.contains("0", partition);
            if is_active {
                runners.push(name);
            }
            let is_copy = current.assigned.standby.contains("0", partition)
                || current.assigned.warmup.contains("0", partition)
                || current.standby_pending_revocation.contains("0", partition)
                || current.warmup_pending_revocation.contains("0", partition);
            if is_active || is_copy {
                hosts.push(process);
            }
        }
        assert!(runners.len() <= 1, "task {partition} is run by {runners:?}");
        let host_count = hosts.len();
        hosts.dedup();
        assert_eq!(hosts.len(), host_count, "task {partition} is twice in one of {hosts:?}");
    }
}

proptest! {
    #[test]
    fn no_task_is_ever_owned_twice_and_honest_members_reach_their_targets(
        events in prop::collection::vec(events(), 1..80),
        last in targets(),
    ) {
        let mut group = Group { target_epoch: 1, ..Group::default() };
        for (name, process) in MEMBERS {
            group.join(name, process);
        }
        let last = [Event::Target(last)];
        for event in events.iter().chain(&last) {
            let before = group.clone();
            step(&mut group, event);
            assert_exclusive(&group);
            for (name, member) in &group.members {
                let (old, new) = (&before.members[name].current, &member.current);
                let is_new = matches!(event, Event::Restart(index) if MEMBERS[*index].0 == *name);
                prop_assert!(is_new || new.member_epoch >= old.member_epoch, "{} fell back", name);
                prop_assert!(new.member_epoch <= group.target_epoch);
            }
        }
        // Give up, be given, and once more for a task that was in its own way.
        for _ in 0..4 {
            for index in 0..MEMBERS.len() {
                step(&mut group, &Event::Honest(index));
                assert_exclusive(&group);
            }
        }
        for (name, Member { current, target, .. }) in &group.members {
            prop_assert_eq!(current.state, MemberState::Stable.to_byte(), "{} is {}", name, stored(current));
            prop_assert_eq!(&told(current), target, "{}", name);
            prop_assert_eq!(current.member_epoch, group.target_epoch);
        }
    }
}
