//! Random histories: members join, answer, lie, vanish and come back, topics come and go, time passes, the server
//! restarts. After every step what is stored gives what is known, and nothing is owned twice; in the end honest members
//! settle.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::sample::select;

use super::script::Script;
use crate::coordinator::streams::tasks::{AssignedTasks, SubtopologyId, TaskSet};
use crate::coordinator::streams::{StreamsGroup, StreamsGroupState, describe};
use crate::coordinator::{Coordinator, GroupKind};
use crate::protocol::messages::DescribedStreamsGroup;
use crate::types::GroupId;

const GROUPS: [&str; 2] = ["g", "h"];
const MEMBERS: [&str; 5] = ["m0", "m1", "m2", "m3", "m4"];
const PROCESSES: [&str; 3] = ["p0", "p1", "p2"];
const INSTANCES: [&str; 2] = ["i0", "i1"];

/// One step of a history.
#[derive(Clone, Debug)]
enum Step {
    Join { member: &'static str, process: &'static str, instance: Option<&'static str>, words: &'static str },
    Beat { member: &'static str, epoch: Epoch, owned: Owned, words: &'static str },
    Leave { member: &'static str, instance: Option<&'static str> },
    Park { member: &'static str, instance: &'static str },
    Command(&'static str),
    Restart,
}

/// At which epoch a member speaks.
#[derive(Clone, Copy, Debug)]
enum Epoch {
    Own,
    Previous,
    Off(i32),
}

/// What a member says it owns.
#[derive(Clone, Copy, Debug)]
enum Owned {
    NotTold,
    Assigned,
    AssignedAndPending,
    Nothing,
}

fn step() -> impl Strategy<Value = (&'static str, Step)> {
    let instance = prop_oneof![3 => Just(None), 2 => select(&INSTANCES[..]).prop_map(Some)];
    let join_words = select(vec!["", "", "", "endpoint=h:1", "rack=r1", "timeout=900", "shutdown"]);
    let join = (select(&MEMBERS[..]), select(&PROCESSES[..]), instance.clone(), join_words)
        .prop_map(|(member, process, instance, words)| Step::Join { member, process, instance, words });
    let epoch = prop_oneof![8 => Just(Epoch::Own), 2 => Just(Epoch::Previous), 1 => (-1..=1).prop_map(Epoch::Off)];
    let owned =
        select(vec![Owned::NotTold, Owned::Assigned, Owned::Assigned, Owned::AssignedAndPending, Owned::Nothing]);
    let beat_words = select(vec!["", "", "", "rack=r2", "process=p1", "offsets=0:0:5;1:1:7", "ends=0:0:9", "eie=3"]);
    let beat = (select(&MEMBERS[..]), epoch, owned, beat_words).prop_map(|(member, epoch, owned, words)| Step::Beat {
        member,
        epoch,
        owned,
        words,
    });
    let leave = (select(&MEMBERS[..]), instance).prop_map(|(member, instance)| Step::Leave { member, instance });
    let park =
        (select(&MEMBERS[..]), select(&INSTANCES[..])).prop_map(|(member, instance)| Step::Park { member, instance });
    let command = select(vec![
        "wait 300",
        "wait 1000",
        "wait 1000",
        "wait 20000",
        "made",
        "made",
        "refused no",
        "topic in gone",
        "topic in 3",
        "topic in2 2",
        "topic in +5",
        "topic cl1 gone",
        "config streams.num.standby.replicas=1",
        "config streams.num.standby.replicas=0",
        "config streams.initial.rebalance.delay.ms=500",
        "config streams.assignment.interval.ms=1000",
        "config streams.assignment.interval.ms=0",
        "delete",
        OLDER_TOPOLOGY,
        TOPOLOGY,
    ])
    .prop_map(Step::Command);
    let step = prop_oneof![
        6 => join,
        14 => beat,
        2 => leave,
        2 => park,
        5 => command,
        1 => Just(Step::Restart),
    ];
    (prop_oneof![4 => Just(GROUPS[0]), 1 => Just(GROUPS[1])], step)
}

const OLDER_TOPOLOGY: &str = "topology epoch=1 0: source=in";
const TOPOLOGY: &str =
    "topology epoch=2 0: source=in sink=rep changelog=cl0 1: repartition=rep source=in2 changelog=cl1";

fn group<'a>(coordinator: &'a Coordinator, group_id: &str) -> Option<&'a StreamsGroup> {
    match &coordinator.groups.get(&GroupId::from(group_id))?.kind {
        GroupKind::Streams(group) => Some(group),
        GroupKind::Simple => None,
    }
}

/// The command that a step stands for, given what is known of the member.
fn command(script: &Script, step: &Step) -> String {
    let group = group(&script.harness.coordinator, &script.group);
    match step {
        Step::Join { member, process, instance, words } => {
            let instance = instance.map(|instance| format!(" instance={instance}")).unwrap_or_default();
            format!("J {member} {process}{instance} {words}")
        }
        Step::Beat { member, epoch, owned, words } => {
            let current = group.and_then(|group| group.current.get(*member));
            let (own, previous) =
                current.map_or((1, 1), |current| (current.member_epoch, current.previous_member_epoch));
            let epoch = match epoch {
                Epoch::Own => own,
                Epoch::Previous => previous,
                Epoch::Off(by) => own + by,
            };
            let owned = current.map_or(String::new(), |current| match owned {
                Owned::NotTold => String::new(),
                Owned::Nothing => "own".to_owned(),
                Owned::Assigned => told(&current.assigned),
                Owned::AssignedAndPending => {
                    let mut all = current.assigned.clone();
                    for (id, partition, epoch) in current.active_pending_revocation.iter() {
                        all.active.insert(id, partition, epoch);
                    }
                    all.standby.extend(&current.standby_pending_revocation);
                    told(&all)
                }
            });
            format!("H {member} {} {owned} {words}", epoch.max(1))
        }
        Step::Leave { member, instance } => {
            let instance = instance.map(|instance| format!(" instance={instance}")).unwrap_or_default();
            format!("L {member} -1{instance}")
        }
        Step::Park { member, instance } => format!("L {member} -2 instance={instance}"),
        Step::Command(line) => (*line).to_owned(),
        Step::Restart => "restart".to_owned(),
    }
}

/// How a member tells these tasks.
fn told(tasks: &AssignedTasks) -> String {
    let role = |set: &TaskSet| {
        let each = set.by_subtopology().map(|(id, partitions)| {
            let partitions: Vec<String> = partitions.iter().map(ToString::to_string).collect();
            format!("{id}:{}", partitions.join(","))
        });
        each.collect::<Vec<_>>().join(";")
    };
    let mut words = "own".to_owned();
    for (key, set) in [("own", &tasks.active.to_set()), ("standby", &tasks.standby), ("warmup", &tasks.warmup)] {
        if !set.is_empty() {
            write!(words, " {key}={}", role(set)).unwrap();
        }
    }
    words
}

/// What is seen of a group from outside, but for what members report and a restart may lose.
fn seen(script: &Script, coordinator: &Coordinator, group_id: &str, with_soft: bool) -> Option<DescribedStreamsGroup> {
    let group = group(coordinator, group_id)?;
    let soft = script.harness.soft.streams.get(&GroupId::from(group_id)).filter(|_| with_soft);
    let mut described = describe::group(group_id, group, soft, &script.harness.env);
    for member in &mut described.members {
        member.task_offsets.clear();
        member.task_end_offsets.clear();
    }
    Some(described)
}

/// No task is held twice where it must not be, and no member's epoch is ahead of its target's.
fn check_ownership(group: &StreamsGroup) {
    let mut active: BTreeSet<(&SubtopologyId, i32)> = BTreeSet::new();
    for (member_id, current) in &group.current {
        let held = current.assigned.active.iter().chain(current.active_pending_revocation.iter());
        for (id, partition, epoch) in held {
            assert!(active.insert((id, partition)), "active {id}_{partition} is held twice, by {member_id} too");
            assert!(epoch <= group.epoch());
        }
        assert!(current.member_epoch <= group.assignment_epoch(), "{member_id} is ahead");
    }
    assert!(group.assignment_epoch() <= group.epoch());
}

/// Group and assignment epochs.
type Epochs = BTreeMap<&'static str, (i32, i32)>;

/// Epochs of a group that goes on never fall.
fn check_epochs(script: &Script, before: &Epochs, was_deleted: bool) -> Epochs {
    let epochs = |group_id: &&'static str| {
        let group = group(&script.harness.coordinator, group_id)?;
        Some((*group_id, (group.epoch(), group.assignment_epoch())))
    };
    let after: Epochs = GROUPS.iter().filter_map(epochs).collect();
    for (group_id, epochs) in &after {
        if let Some(before) = before.get(group_id).filter(|_| !was_deleted) {
            assert!(epochs.0 >= before.0 && epochs.1 >= before.1, "{before:?} became {epochs:?}");
        }
    }
    after
}

/// Topics are put in order, those away come back, and everyone tells the truth from now on.
fn settle(script: &mut Script) {
    script.checks_store = false;
    // what is under way is of the topics as they were
    script.command("made");
    for topic in ["in", "in2", "rep", "cl0", "cl1"] {
        script.command(&format!("topic {topic} gone"));
    }
    script.command("topic in 4");
    script.command("topic in2 2");
    for group_id in GROUPS {
        script.command(&format!("group {group_id}"));
        script.command("config streams.initial.rebalance.delay.ms=0");
        script.command("config streams.assignment.interval.ms=0");
    }
    // long enough for what could not be created to be tried again
    script.command("wait 11000");
    for _ in 0..14 {
        for group_id in GROUPS {
            script.command(&format!("group {group_id}"));
            let is_older =
                group(&script.harness.coordinator, group_id).is_some_and(|group| group.topology_epoch() == 1);
            script.command(if is_older { OLDER_TOPOLOGY } else { TOPOLOGY });
            for line in honest(script) {
                if script.command(&line).contains("INVALID_REQUEST") {
                    // it owns a task of a topic that has shrunk: a real client ends here and is started again
                    let member_id = line.split_whitespace().nth(1).unwrap();
                    script.command(&format!("J {member_id}"));
                }
            }
        }
        script.command("wait 1");
        script.command("made");
    }
    script.harness.check();
    let written = script.harness.log.len();
    for group_id in GROUPS {
        script.command(&format!("group {group_id}"));
        for line in honest(script) {
            script.command(&line);
        }
    }
    assert_eq!(script.harness.log.len(), written, "where nothing changes nothing is written");
    for group_id in GROUPS {
        let Some(group) = group(&script.harness.coordinator, group_id) else { continue };
        check_settled(script, group);
    }
}

/// What each member of the group says if it is honest.
fn honest(script: &Script) -> Vec<String> {
    let Some(group) = group(&script.harness.coordinator, &script.group) else { return Vec::new() };
    let of_member = |(member_id, metadata): (&crate::types::MemberId, &_)| {
        let metadata: &crate::coordinator::streams::records::StreamsGroupMemberMetadataValue = metadata;
        let current = &group.current[member_id];
        if current.member_epoch == -2 {
            let instance = metadata.instance_id.as_ref().unwrap();
            return format!("J {member_id} instance={instance}");
        }
        format!("H {member_id} {} {}", current.member_epoch, told(&current.assigned))
    };
    group.members.iter().map(of_member).collect()
}

fn check_settled(script: &Script, group: &StreamsGroup) {
    if group.is_empty() {
        return;
    }
    assert_eq!(group.state(), StreamsGroupState::Stable);
    let topology = group.topology.as_ref().unwrap();
    let configured = super::super::configure::configure(topology, &script.harness.env.image).unwrap();
    for (id, subtopology) in configured.subtopologies.as_ref().unwrap() {
        for partition in 0..subtopology.task_count {
            let owners = group.current.values().filter(|current| current.assigned.active.contains(id, partition));
            assert_eq!(owners.count(), 1, "task {id}_{partition}");
        }
    }
    for (member_id, current) in &group.current {
        assert_eq!(current.assigned.active.to_set(), group.member_targets[member_id].tasks.active);
        assert_eq!(current.assigned.standby, group.member_targets[member_id].tasks.standby);
    }
}

/// `PROPTEST_CASES=2000` for a long look.
fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(48);
    ProptestConfig { cases, max_shrink_iters: 4000, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_is_stored_gives_what_is_known_and_honest_members_settle(steps in prop::collection::vec(step(), 1..70)) {
        let mut script = Script::new();
        script.command("topic in 3");
        script.command("topic in2 2");
        script.command(TOPOLOGY);
        for group_id in GROUPS {
            script.command(&format!("group {group_id}"));
            script.command("config streams.session.timeout.ms=45000");
        }
        let mut epochs = Epochs::new();
        for (group_id, step) in &steps {
            script.command(&format!("group {group_id}"));
            let line = command(&script, step);
            script.command(&line);
            let loaded = script.harness.loaded();
            for group_id in GROUPS {
                if let Some(group) = group(&script.harness.coordinator, group_id) {
                    check_ownership(group);
                }
                let live = seen(&script, &script.harness.coordinator, group_id, true);
                prop_assert_eq!(live, seen(&script, &loaded, group_id, false));
            }
            epochs = check_epochs(&script, &epochs, line == "delete");
        }
        settle(&mut script);
    }
}
