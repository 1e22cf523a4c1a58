//! What concerns groups of every type: lists, descriptions, deletion, and what answers rest on.

use super::harness::{Harness, config};
use super::{Coordinator, Group, GroupLabel, GroupType, Input};
use crate::machine::Core;
use crate::protocol::messages::describe_groups_response::DescribedGroup;
use crate::protocol::messages::{
    DeleteGroupsRequest, DescribeGroupsRequest, DescribedStreamsGroup, ListGroupsRequest, StreamsGroupDescribeRequest,
    StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse, streams_group_heartbeat_request,
};
use crate::protocol::{Response, StrBytes, message};
use crate::types::{ErrorCode, GroupId, Lsn};

const NOT_FOUND: i16 = ErrorCode::GroupIdNotFound.code();

/// A streams group `streams` with member m1 that has the one task of topic `in`, and a group `simple` of offsets only.
fn harness() -> Harness {
    let mut harness = Harness::new(config(&[("group.streams.initial.rebalance.delay.ms", "0")]));
    harness.create_topic("in", 1);
    assert_eq!(heartbeat(&mut harness, 1, "streams", 0).error_code, 0);
    harness.coordinator.groups.insert("simple".into(), Group::default());
    harness.coordinator.counts.moved(None, Some(GroupLabel::Simple));
    harness
}

fn heartbeat(harness: &mut Harness, version: i16, group: &str, epoch: i32) -> StreamsGroupHeartbeatResponse {
    let mut request = message!(StreamsGroupHeartbeatRequest {
        group_id: group.into(),
        member_id: "m1".into(),
        member_epoch: epoch,
        rebalance_timeout_ms: 30_000,
    });
    if epoch == 0 {
        let subtopology = message!(streams_group_heartbeat_request::Subtopology {
            subtopology_id: "0".into(),
            source_topics: vec!["in".into()],
        });
        request.topology =
            Some(message!(streams_group_heartbeat_request::Topology { subtopologies: vec![subtopology] }));
        request.active_tasks = Some(Vec::new());
        request.standby_tasks = Some(Vec::new());
        request.warmup_tasks = Some(Vec::new());
    }
    match harness.ask(version, request, Input::StreamsGroupHeartbeat).0 {
        Response::StreamsGroupHeartbeat(response) => *response,
        other => panic!("{other:?}"),
    }
}

fn texts(values: &[&str]) -> Vec<StrBytes> {
    values.iter().map(|value| StrBytes::from(*value)).collect()
}

fn describe_classic(harness: &mut Harness, version: i16, groups: &[&str]) -> Vec<DescribedGroup> {
    let asks_operations = version >= 3;
    let request =
        message!(DescribeGroupsRequest { groups: texts(groups), include_authorized_operations: asks_operations });
    match harness.ask(version, request, Input::DescribeGroups).0 {
        Response::DescribeGroups(response) => response.groups,
        other => panic!("{other:?}"),
    }
}

fn describe_streams(harness: &mut Harness, version: i16, groups: &[&str]) -> Vec<DescribedStreamsGroup> {
    let request = message!(StreamsGroupDescribeRequest {
        group_ids: texts(groups),
        include_authorized_operations: true,
        include_topology_description: version >= 1,
    });
    match harness.ask(version, request, Input::StreamsGroupDescribe).0 {
        Response::StreamsGroupDescribe(response) => response.groups,
        other => panic!("{other:?}"),
    }
}

fn list(harness: &mut Harness, version: i16, states: &[&str], types: &[&str]) -> Vec<String> {
    let request = message!(ListGroupsRequest { states_filter: texts(states), types_filter: texts(types) });
    let Response::ListGroups(response) = harness.ask(version, request, Input::ListGroups).0 else { panic!("a list") };
    assert_eq!(response.error_code, 0);
    let show = |group: &crate::protocol::messages::list_groups_response::ListedGroup| {
        format!("{}:{}:{}:{}", group.group_id, group.protocol_type, group.group_state, group.group_type)
    };
    response.groups.iter().map(show).collect()
}

fn delete(harness: &mut Harness, version: i16, groups: &[&str]) -> Vec<(String, i16)> {
    let request = message!(DeleteGroupsRequest { groups_names: texts(groups) });
    let (response, _) = harness.ask(version, request, Input::DeleteGroups);
    let Response::DeleteGroups(response) = response else { panic!("{response:?}") };
    response.results.iter().map(|result| (result.group_id.to_string(), result.error_code)).collect()
}

#[test]
fn a_classic_description_of_no_classic_group_is_dead_and_an_error_from_version_6_on() {
    let mut harness = harness();
    let described = describe_classic(&mut harness, 6, &["streams", "none", "simple", ""]);
    let shown: Vec<_> = described
        .iter()
        .map(|group| {
            (group.error_code, group.error_message.as_deref(), &*group.group_state, group.authorized_operations)
        })
        .collect();
    assert_eq!(
        shown,
        [
            (NOT_FOUND, Some("Group streams is not a classic group."), "Dead", i32::MIN),
            (NOT_FOUND, Some("Group none not found."), "Dead", i32::MIN),
            (0, None, "Empty", 3400),
            (NOT_FOUND, Some("Group  not found."), "Dead", i32::MIN),
        ]
    );
    assert_eq!(&*described[2].protocol_type, "");
    assert!(described.iter().all(|group| group.members.is_empty()));

    for version in 0..=5 {
        let described = describe_classic(&mut harness, version, &["streams", "none"]);
        assert!(described.iter().all(|group| group.error_code == 0 && &*group.group_state == "Dead"), "{version}");
    }
}

#[test]
fn a_streams_description_answers_each_id_once_for_each_time_it_is_asked_for() {
    let mut harness = harness();
    let described = describe_streams(&mut harness, 1, &["streams", "none", "simple", "", "none"]);
    let shown: Vec<_> = described
        .iter()
        .map(|group| (&*group.group_id, group.error_code, group.error_message.as_deref(), &*group.group_state))
        .collect();
    assert_eq!(
        shown,
        [
            ("streams", 0, None, "Stable"),
            ("none", NOT_FOUND, Some("Group none not found."), ""),
            ("simple", NOT_FOUND, Some("Group simple is not a streams group."), ""),
            ("", ErrorCode::InvalidGroupId.code(), None, ""),
            ("none", NOT_FOUND, Some("Group none not found."), ""),
        ]
    );
    let (group, unknown) = (&described[0], &described[1]);
    assert_eq!(group.assignor_name.as_deref(), Some("sticky"));
    assert_eq!((group.authorized_operations, group.topology_description_status), (3400, 1));
    assert_eq!((unknown.authorized_operations, unknown.topology_description_status), (i32::MIN, 0));
    assert_eq!((unknown.assignor_name.as_deref(), &unknown.topology, unknown.members.len()), (None, &None, 0));
    assert_eq!(describe_streams(&mut harness, 0, &["streams"])[0].topology_description_status, 0);
}

#[test]
fn a_streams_description_shows_all_there_is_of_a_member() {
    let mut harness = harness();
    let described = describe_streams(&mut harness, 1, &["streams"]);
    let member = &described[0].members[0];
    assert_eq!((&*member.member_id, member.member_epoch, member.topology_epoch), ("m1", 2, 0));
    assert_eq!((&*member.client_id, &*member.client_host, &*member.process_id), ("client", "/127.0.0.1", ""));
    assert_eq!((&member.instance_id, &member.rack_id, &member.user_endpoint), (&None, &None, &None));
    assert!(!member.is_classic);
    assert_eq!(member.assignment, member.target_assignment);
    assert_eq!(member.assignment.active_tasks[0].partitions, [0]);
}

#[test]
fn lists_are_filtered_by_state_and_type_however_they_are_spelled() {
    let mut harness = harness();
    let (simple, streams) = ("simple::Empty:classic", "streams:streams:Stable:streams");
    assert_eq!(list(&mut harness, 5, &[], &[]), [simple, streams]);
    assert_eq!(list(&mut harness, 5, &[], &["Classic"]), [simple]);
    assert_eq!(list(&mut harness, 5, &["stable", " EMPTY "], &[]), [simple, streams]);
    assert_eq!(list(&mut harness, 5, &["stable"], &["classic"]), [""; 0]);
    assert_eq!(list(&mut harness, 5, &["Nonsense"], &[]), [""; 0]);
    assert_eq!(list(&mut harness, 5, &[], &["Nonsense"]), [""; 0]);
    assert_eq!(list(&mut harness, 5, &["Nonsense", "stable"], &["nonsense", "STREAMS"]), [streams]);
    for version in 0..=3 {
        assert_eq!(list(&mut harness, version, &[], &[]).len(), 2);
    }
}

#[test]
fn deletion_answers_each_group_by_itself_and_once() {
    let mut harness = harness();
    assert_eq!(
        delete(&mut harness, 3, &["streams", "none", "simple", "simple", "streams"]),
        [
            ("streams".to_owned(), ErrorCode::NonEmptyGroup.code()),
            ("none".to_owned(), NOT_FOUND),
            ("simple".to_owned(), 0),
        ]
    );
    heartbeat(&mut harness, 1, "streams", -1);
    assert_eq!(
        delete(&mut harness, 0, &["streams", "simple"]),
        [("streams".to_owned(), 0), ("simple".to_owned(), NOT_FOUND)]
    );
    assert!(harness.coordinator.groups.is_empty());
    assert!(harness.soft.streams.is_empty());
    assert_eq!(harness.soft.timers.len(), 0);
    harness.check();
}

#[test]
fn groups_are_counted_by_type_and_state() {
    let mut harness = harness();
    let count = |harness: &Harness, state: &str| {
        let states = super::streams::StreamsGroupState::ALL.iter();
        let matching = states.filter(|known| known.label() == state);
        matching.map(|known| harness.coordinator.counts().streams(*known)).sum::<usize>()
    };
    assert_eq!((count(&harness, "stable"), count(&harness, "empty")), (1, 0));
    assert_eq!(harness.coordinator.counts().of_type(GroupType::Streams), 1);
    assert_eq!(harness.coordinator.counts().of_type(GroupType::Classic), 1);
    heartbeat(&mut harness, 1, "streams", -1);
    assert_eq!((count(&harness, "stable"), count(&harness, "empty")), (0, 1));
    harness.delete_topic("in");
    heartbeat(&mut harness, 1, "streams", 0);
    assert_eq!((count(&harness, "not_ready"), count(&harness, "empty")), (1, 0));
}

#[test]
fn an_answer_rests_on_the_last_change_of_what_it_was_read_from() {
    let mut harness = harness();
    let streams_lsn = harness.coordinator.groups[&GroupId::from("streams")].lsn;
    heartbeat(&mut harness, 1, "other", 0);
    let last = harness.log.last().unwrap().0;
    assert!(streams_lsn > Lsn(0) && last > streams_lsn);

    let ask = |harness: &mut Harness, group: &str, epoch: i32| {
        let request = message!(StreamsGroupHeartbeatRequest {
            group_id: group.into(),
            member_id: "m1".into(),
            member_epoch: epoch,
            rebalance_timeout_ms: -1,
        });
        harness.ask(1, request, Input::StreamsGroupHeartbeat).1
    };
    // nothing changes, yet the member must not hear what is not durable
    let turn = ask(&mut harness, "streams", 2);
    assert_eq!((turn.records.len(), turn.rests_on), (0, streams_lsn));
    // so must a member that is refused
    assert_eq!(ask(&mut harness, "streams", 7).rests_on, streams_lsn);
    // that a group does not exist may follow from its deletion just now
    assert_eq!(ask(&mut harness, "none", 7).rests_on, last);
    // the topics it was worked out on count too
    harness.edit_image(|image| image.lsn = Lsn(1000));
    assert_eq!(ask(&mut harness, "streams", 2).rests_on, Lsn(1000));

    let request = message!(ListGroupsRequest {});
    assert_eq!(harness.ask(5, request, Input::ListGroups).1.rests_on, last);
    let request = message!(DescribeGroupsRequest { groups: texts(&["none"]) });
    assert_eq!(harness.ask(6, request, Input::DescribeGroups).1.rests_on, last);
}

#[test]
fn a_heartbeat_tells_intervals_and_the_lag_in_the_field_of_its_version() {
    let mut harness = harness();
    let answer = heartbeat(&mut harness, 1, "streams", 2);
    assert_eq!((answer.heartbeat_interval_ms, answer.task_offset_interval_ms), (5000, 60_000));
    assert_eq!((answer.acceptable_recovery_lag, answer.acceptable_recovery_lag_legacy), (10_000, 0));
    assert!(!answer.topology_description_required);
    let answer = heartbeat(&mut harness, 0, "streams", 2);
    assert_eq!((answer.acceptable_recovery_lag, answer.acceptable_recovery_lag_legacy), (-1, 0));
}

#[test]
fn after_a_panic_only_the_soft_state_of_that_group_is_made_anew() {
    let mut harness = harness();
    heartbeat(&mut harness, 1, "other", 0);
    harness.advance_ms(10_000);
    let request = message!(StreamsGroupHeartbeatRequest { group_id: "streams".into() });
    let mut scope = None;
    harness.ask(1, request, |asked| {
        let input = Input::StreamsGroupHeartbeat(asked);
        scope = Coordinator::scope(&input);
        input
    });
    assert_eq!(scope, Some(GroupId::from("streams")));
    let parked = harness.coordinator.reset(&mut harness.soft, &mut harness.env, scope);
    assert!(parked.is_empty());
    // the session of `streams` has its full 45 s again, that of `other` what is left of it
    assert_eq!(harness.soft.timers.len(), 2);
    let ended: Vec<_> = harness.advance_ms(35_000).into_iter().map(|(key, _)| key.group().cloned()).collect();
    assert_eq!(ended, [Some(GroupId::from("other"))]);
    assert_eq!(heartbeat(&mut harness, 1, "streams", 2).error_code, 0);
}
