//! A small language for scenarios, one command a line; `#` starts a comment.
//!
//! ```text
//! topic in 2                      creates a topic; `topic in gone` deletes it, `topic in +3` grows it to 3
//! config KEY=VALUE                sets a config of the group
//! topology epoch=0 0: source=in   what joins bring from now on; more of 0: sink= repartition= changelog= copartition=
//! J A pA                          A of process pA joins; also instance= rack= endpoint= tags= timeout= …
//! H A 2 own=0:0,1                 A heartbeats at epoch 2 and owns active tasks 0 and 1 of subtopology 0; `own` for none
//! L A                             A leaves; `L A -2 instance=i1` for a while
//! wait 1500                       milliseconds pass
//! made                            internal topics that were asked for are created; `refused TEXT` if they cannot be
//! describe / list / delete        of the group; list takes state= and type=
//! commit A 2 in:0                 whether A may commit partition 0 at epoch 2; also v= and txn; fetch likewise
//! restart                         everything that is not stored is lost
//! ```

use std::fmt::Write as _;

use expect_test::Expect;

use super::show;
use crate::config::Config;
use crate::coordinator::harness::{Harness, config};
use crate::coordinator::{GroupKind, Input};
use crate::protocol::messages::streams_group_heartbeat_request::{
    CopartitionGroup, Endpoint, KeyValue, Subtopology, TaskIds, TaskOffset, TopicInfo, Topology,
};
use crate::protocol::messages::{
    DeleteGroupsRequest, ListGroupsRequest, StreamsGroupDescribeRequest, StreamsGroupHeartbeatRequest,
};
use crate::protocol::{Response, StrBytes, message};
use crate::types::GroupId;

/// Runs a script with the settings of the reference's traces: no initial delay, no assignment interval.
pub(super) fn check(script: &str, expected: Expect) {
    Script::new().run(script, &expected);
}

/// Runs a script and shows the records of each command too.
pub(super) fn check_records(script: &str, expected: Expect) {
    let mut runner = Script::new();
    runner.shows_records = true;
    runner.run(script, &expected);
}

/// A script that runs.
pub(super) struct Script {
    pub(super) harness: Harness,
    pub(super) shows_records: bool,
    /// Whether what is stored is compared with what is known after each command.
    pub(super) checks_store: bool,
    pub(super) group: String,
    topology: Topology,
    out: String,
}

impl Script {
    pub(super) fn new() -> Self {
        Self::with(config(&[
            ("group.streams.initial.rebalance.delay.ms", "0"),
            ("group.streams.assignment.interval.ms", "0"),
            ("group.streams.min.session.timeout.ms", "1000"),
            ("group.streams.min.heartbeat.interval.ms", "500"),
        ]))
    }

    pub(super) fn with(config: Config) -> Self {
        let topology = topology(&["0:", "source=in"]);
        let harness = Harness::new(config);
        Self { harness, shows_records: false, checks_store: true, group: "g".to_owned(), topology, out: String::new() }
    }

    pub(super) fn run(mut self, script: &str, expected: &Expect) {
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
            self.command(line);
        }
        expected.assert_eq(&self.out);
    }

    /// Runs one command and returns what it printed.
    pub(super) fn command(&mut self, line: &str) -> &str {
        let start = self.out.len();
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            return "";
        }
        let mut words = line.split_whitespace();
        let verb = words.next().unwrap();
        let words: Vec<&str> = words.collect();
        let is_quiet = matches!(verb, "topic" | "config" | "topology" | "group");
        if !is_quiet {
            writeln!(self.out, "{line}").unwrap();
        }
        match verb {
            "group" => words[0].clone_into(&mut self.group),
            "topic" => self.topic(words[0], words[1]),
            "config" => {
                let (key, value) = words[0].split_once('=').unwrap();
                let group = self.group.clone();
                self.harness.set_group_config(&group, key, value);
            }
            "topology" => self.topology = topology(&words),
            "J" => self.heartbeat(words[0], 0, &words[1..]),
            "H" => self.heartbeat(words[0], words[1].parse().unwrap(), &words[2..]),
            "L" => {
                let epoch = words.get(1).and_then(|epoch| epoch.parse().ok()).unwrap_or(-1);
                self.heartbeat(words[0], epoch, words.get(1..).unwrap_or_default());
            }
            "wait" => self.wait(words[0].parse().unwrap()),
            "made" => self.harness.create_internal_topics(),
            "refused" => self.refuse_topics(&words.join(" ")),
            "describe" => self.describe(),
            "list" => self.list(&words),
            "delete" => self.delete(&words),
            "commit" => self.commit(&words),
            "fetch" => self.fetch(&words),
            "restart" => self.harness.restart(),
            other => panic!("no such command: {other}"),
        }
        if self.checks_store {
            self.harness.check();
        }
        &self.out[start..]
    }

    fn say(&mut self, line: &str) {
        writeln!(self.out, "  {line}").unwrap();
    }

    fn topic(&mut self, name: &str, what: &str) {
        if what == "gone" {
            self.harness.delete_topic(name);
        } else if let Some(count) = what.strip_prefix('+') {
            self.harness.grow_topic(name, count.parse().unwrap());
        } else {
            self.harness.create_topic(name, what.parse().unwrap());
        }
    }

    /// The request that a join, heartbeat or leave command stands for.
    pub(super) fn request(&self, member: &str, epoch: i32, words: &[&str]) -> (i16, StreamsGroupHeartbeatRequest) {
        let mut request = message!(StreamsGroupHeartbeatRequest {
            group_id: self.group.as_str().into(),
            member_id: member.into(),
            member_epoch: epoch,
            endpoint_information_epoch: 0,
            rebalance_timeout_ms: -1,
        });
        if epoch == 0 {
            request.endpoint_information_epoch = -1;
            request.rebalance_timeout_ms = 10_000;
            request.topology = Some(self.topology.clone());
            own(&mut request);
        }
        let mut version = 1;
        for word in words {
            match word.split_once('=') {
                None if *word == "own" => own(&mut request),
                None if *word == "shutdown" => request.shutdown_application = true,
                None if word.parse::<i32>().is_ok() => {}
                None => request.process_id = Some((*word).into()),
                Some(("v", value)) => version = value.parse().unwrap(),
                Some((key, value)) => set_field(&mut request, key, value),
            }
        }
        (version, request)
    }

    fn heartbeat(&mut self, member: &str, epoch: i32, words: &[&str]) {
        let (version, request) = self.request(member, epoch, words);
        let (response, turn) = self.harness.ask(version, request, Input::StreamsGroupHeartbeat);
        let Response::StreamsGroupHeartbeat(response) = response else { panic!("{response:?}") };
        self.say(&show::heartbeat(&response, epoch));
        self.records(&turn.records);
        if self.shows_records {
            for effect in show::effects(&self.harness.effects) {
                self.say(&effect);
            }
        }
    }

    fn records(&mut self, records: &[crate::coordinator::Record]) {
        if self.shows_records {
            for record in records {
                let line = show::record(record);
                self.say(&format!("+ {line}"));
            }
        }
    }

    fn wait(&mut self, ms: i64) {
        for (key, turn) in self.harness.advance_ms(ms) {
            if !turn.records.is_empty() {
                self.say(&show::timer(&key));
                self.records(&turn.records);
            }
        }
    }

    fn refuse_topics(&mut self, text: &str) {
        for effect in std::mem::take(&mut self.harness.effects) {
            let crate::coordinator::Effect::CreateInternalTopics { group, topics } = effect else { continue };
            let outcome = topics.into_iter().map(|topic| (topic.name, Some(text.to_owned()))).collect();
            self.harness.input(Input::InternalTopicsCreated { group, outcome });
        }
    }

    fn describe(&mut self) {
        let request = message!(StreamsGroupDescribeRequest { group_ids: vec![self.group.as_str().into()] });
        let (response, _) = self.harness.ask(1, request, Input::StreamsGroupDescribe);
        let Response::StreamsGroupDescribe(response) = response else { panic!("{response:?}") };
        for line in show::described(&response.groups[0]) {
            self.say(&line);
        }
    }

    fn list(&mut self, words: &[&str]) {
        let values = |key: &str| -> Vec<StrBytes> {
            words.iter().filter_map(|word| word.strip_prefix(key)).map(StrBytes::from).collect()
        };
        let request = message!(ListGroupsRequest { states_filter: values("state="), types_filter: values("type=") });
        let (response, _) = self.harness.ask(5, request, Input::ListGroups);
        let Response::ListGroups(response) = response else { panic!("{response:?}") };
        for group in &response.groups {
            self.say(&format!("{} {} {} {}", group.group_id, group.protocol_type, group.group_state, group.group_type));
        }
    }

    fn delete(&mut self, words: &[&str]) {
        let names = if words.is_empty() { vec![self.group.as_str()] } else { words.to_vec() };
        let request = message!(DeleteGroupsRequest { groups_names: names.into_iter().map(StrBytes::from).collect() });
        let (response, turn) = self.harness.ask(3, request, Input::DeleteGroups);
        let Response::DeleteGroups(response) = response else { panic!("{response:?}") };
        for result in &response.results {
            self.say(&format!("{} {}", result.group_id, show::code(result.error_code)));
            assert_eq!(result.error_message, None);
        }
        self.records(&turn.records);
    }

    fn streams_group(&self) -> &crate::coordinator::streams::StreamsGroup {
        match &self.harness.coordinator.groups[&GroupId::from(self.group.as_str())].kind {
            GroupKind::Streams(group) => group,
            GroupKind::Simple => panic!("a simple group"),
        }
    }

    fn commit(&mut self, words: &[&str]) {
        let version = words.iter().find_map(|word| word.strip_prefix("v=")).map_or(9, |v| v.parse().unwrap());
        let member = if words[0] == "-" { "" } else { words[0] };
        let partitions = words[2..].iter().filter_map(|word| word.split_once(':'));
        let partitions = partitions.map(|(topic, partition)| (topic, partition.parse().unwrap()));
        let is_transactional = words.contains(&"txn");
        let epoch = words[1].parse().unwrap();
        let result = self.streams_group().validate_offset_commit(member, epoch, version, partitions, is_transactional);
        self.say(result.map_or_else(|error| error.code.name(), |()| "NONE"));
    }

    fn fetch(&mut self, words: &[&str]) {
        let member = match words[0] {
            "null" => None,
            "-" => Some(""),
            member => Some(member),
        };
        let result = self.streams_group().validate_offset_fetch(member, words[1].parse().unwrap());
        self.say(result.map_or_else(|error| error.code.name(), |()| "NONE"));
    }
}

fn own(request: &mut StreamsGroupHeartbeatRequest) {
    for tasks in [&mut request.active_tasks, &mut request.standby_tasks, &mut request.warmup_tasks] {
        tasks.get_or_insert_default();
    }
}

fn set_field(request: &mut StreamsGroupHeartbeatRequest, key: &str, value: &str) {
    match key {
        "own" => {
            own(request);
            request.active_tasks = Some(tasks(value));
        }
        "standby" => {
            own(request);
            request.standby_tasks = Some(tasks(value));
        }
        "warmup" => {
            own(request);
            request.warmup_tasks = Some(tasks(value));
        }
        "instance" => request.instance_id = Some(value.into()),
        "rack" => request.rack_id = Some(value.into()),
        "process" => request.process_id = Some(value.into()),
        "timeout" => request.rebalance_timeout_ms = value.parse().unwrap(),
        "eie" => request.endpoint_information_epoch = value.parse().unwrap(),
        "endpoint" => {
            let (host, port) = value.split_once(':').unwrap();
            request.user_endpoint = Some(message!(Endpoint { host: host.into(), port: port.parse().unwrap() }));
        }
        "tags" => {
            let tag = |tag: &str| {
                let (key, value) = tag.split_once(':').unwrap();
                message!(KeyValue { key: key.into(), value: value.into() })
            };
            request.client_tags = Some(value.split(',').map(tag).collect());
        }
        "offsets" => request.task_offsets = Some(offsets(value)),
        "ends" => request.task_end_offsets = Some(offsets(value)),
        other => panic!("no such field: {other}"),
    }
}

/// `0:0,1;1:2`.
fn tasks(text: &str) -> Vec<TaskIds> {
    let of_one = |text: &str| {
        let (id, partitions) = text.split_once(':').unwrap();
        let partitions = partitions.split(',').map(|partition| partition.parse().unwrap()).collect();
        message!(TaskIds { subtopology_id: id.into(), partitions: partitions })
    };
    text.split(';').map(of_one).collect()
}

/// `0:0:100;0:1:7`.
fn offsets(text: &str) -> Vec<TaskOffset> {
    let of_one = |text: &str| {
        let parts: Vec<&str> = text.split(':').collect();
        message!(TaskOffset {
            subtopology_id: parts[0].into(),
            partition: parts[1].parse().unwrap(),
            offset: parts[2].parse().unwrap(),
        })
    };
    if text.is_empty() { Vec::new() } else { text.split(';').map(of_one).collect() }
}

/// `epoch=1 0: source=a,b copartition=s0,s1 changelog=c 1: repartition=r/3`.
pub(super) fn topology(words: &[&str]) -> Topology {
    let mut topology = Topology::default();
    for word in words {
        if let Some(id) = word.strip_suffix(':') {
            topology.subtopologies.push(message!(Subtopology { subtopology_id: id.into() }));
            continue;
        }
        let (key, value) = word.split_once('=').unwrap();
        if key == "epoch" {
            topology.epoch = value.parse().unwrap();
            continue;
        }
        let subtopology = topology.subtopologies.last_mut().unwrap();
        let names = || value.split(',').map(StrBytes::from);
        let infos = || value.split(',').map(topic_info);
        match key {
            "source" => subtopology.source_topics.extend(names()),
            "regex" => subtopology.source_topic_regex.extend(names()),
            "sink" => subtopology.repartition_sink_topics.extend(names()),
            "repartition" => subtopology.repartition_source_topics.extend(infos()),
            "changelog" => subtopology.state_changelog_topics.extend(infos()),
            "copartition" => subtopology.copartition_groups.push(copartition_group(value)),
            other => panic!("no such part of a topology: {other}"),
        }
    }
    topology
}

fn topic_info(text: &str) -> TopicInfo {
    let counted = text.split_once('/').and_then(|(name, count)| Some((name, count.parse().ok()?)));
    let (name, partitions) = counted.unwrap_or((text, 0));
    message!(TopicInfo { name: name.into(), partitions: partitions })
}

fn copartition_group(text: &str) -> CopartitionGroup {
    let indexes = |kind: char| -> Vec<i16> {
        text.split(',').filter_map(|index| index.strip_prefix(kind)).map(|index| index.parse().unwrap()).collect()
    };
    message!(CopartitionGroup { source_topics: indexes('s'), repartition_source_topics: indexes('r') })
}
