//! The answer to a heartbeat.

use super::endpoints;
use super::heartbeat::plan::Plan;
use super::soft::SoftGroup;
use super::status::Status;
use super::target::Delay;
use super::tasks::Tasks;
use super::wire;
use crate::config::GroupConfig;
use crate::coordinator::GroupError;
use crate::machine::{Asked, Env};
use crate::protocol::message;
use crate::protocol::messages::streams_group_heartbeat_response as response;
use crate::protocol::messages::{StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse};

/// The first version that carries the acceptable recovery lag in its present form.
const FIRST_VERSION_WITH_LAG: i16 = 1;

/// The first version whose clients know `MISSING_CLIENT_TAGS` (KAFKA-20744).
const FIRST_VERSION_WITH_TAGS_STATUS: i16 = 1;

/// A refusal: the error, and defaults everywhere else.
pub(super) fn refusal(error: GroupError) -> StreamsGroupHeartbeatResponse {
    message!(StreamsGroupHeartbeatResponse {
        error_code: error.code.code(),
        error_message: error.message.map(Into::into),
    })
}

/// The answer to a leave.
pub(super) fn farewell(member_id: &str, epoch: i32) -> StreamsGroupHeartbeatResponse {
    message!(StreamsGroupHeartbeatResponse { member_id: member_id.into(), member_epoch: epoch })
}

/// The answer to a join or a regular heartbeat. Called with the soft state that the heartbeat has left.
pub(super) fn compose(
    plan: &Plan<'_>,
    soft: Option<&SoftGroup>,
    env: &Env,
    config: &GroupConfig,
    asked: &Asked<StreamsGroupHeartbeatRequest>,
) -> StreamsGroupHeartbeatResponse {
    let mut statuses = statuses(plan, soft);
    if asked.version >= FIRST_VERSION_WITH_TAGS_STATUS {
        statuses.extend(missing_tags(plan, config));
    }
    let mut answer = message!(StreamsGroupHeartbeatResponse {
        member_id: plan.member.member_id.as_str().into(),
        member_epoch: plan.current().member_epoch,
        heartbeat_interval_ms: config.streams_heartbeat_interval_ms,
        task_offset_interval_ms: config.streams_task_offset_interval_ms,
        status: Some(statuses),
    });
    if asked.version >= FIRST_VERSION_WITH_LAG {
        answer.acceptable_recovery_lag = config.streams_acceptable_recovery_lag;
    }
    if tells_tasks(plan) {
        let assigned = &plan.current().assigned;
        answer.active_tasks = Some(wire::heartbeat_tasks(&assigned.active.to_set()));
        answer.standby_tasks = Some(wire::heartbeat_tasks(&assigned.standby));
        answer.warmup_tasks = Some(wire::heartbeat_tasks(&assigned.warmup));
    }
    answer.endpoint_information_epoch = soft.map_or(0, |soft| soft.endpoint_epoch);
    // Compared for equality only: the epoch starts anew after a restart. The first member of a group is told of its own
    // endpoint at whatever epoch it asks, as Kafka 4.4.0 does.
    let is_first_endpoint = plan.is_new_group && plan.metadata().user_endpoint.is_some();
    if is_first_endpoint || answer.endpoint_information_epoch != asked.request.endpoint_information_epoch {
        answer.partitions_by_user_endpoint = Some(endpoints::entries(plan, &env.image));
    }
    answer
}

/// Whether the member has to be told its tasks: it joins, they change, the answer that told them got lost, or it says it
/// owns others. (Kafka 4.4.0 leaves out the last two, and a member whose answer was lost never learns its tasks.)
fn tells_tasks(plan: &Plan<'_>) -> bool {
    plan.joins
        || plan.assigned_tasks_change()
        || plan.member.lost_an_answer
        || plan.owned.as_ref().is_some_and(|owned| differs_from_assigned(plan, owned))
}

fn differs_from_assigned(plan: &Plan<'_>, owned: &Tasks) -> bool {
    let assigned = &plan.current().assigned;
    owned.standby != assigned.standby || owned.warmup != assigned.warmup || owned.active != assigned.active.to_set()
}

/// Everything that stands between the member and all it could have, in Kafka's order.
fn statuses(plan: &Plan<'_>, soft: Option<&SoftGroup>) -> Vec<response::Status> {
    let mut statuses = Vec::new();
    let topology_epoch = plan.metadata().topology_epoch;
    if topology_epoch < plan.topology_epoch {
        let text = format!(
            "The member's topology epoch {topology_epoch} is behind the group's topology epoch {}.",
            plan.topology_epoch
        );
        statuses.push(status(Status::StaleTopology, &text));
    }
    if let Some(delay) = plan.target.delay {
        let text = match delay {
            Delay::Initial => "Assignment delayed due to the configured initial rebalance delay.",
            Delay::Interval => "Assignment delayed due to the configured assignment interval.",
        };
        statuses.push(status(Status::AssignmentDelayed, text));
    }
    if let Some(problem) = &plan.configured.problem {
        let failures = soft.map_or_else(String::new, |soft| soft.creations.failures(&plan.configured.missing_internal));
        statuses.push(status(problem.status, &format!("{}{failures}", problem.detail)));
    }
    if let Some(member_id) = soft.and_then(|soft| soft.shutdown_requested_by.as_ref()) {
        let text = format!(
            "Streams group member {member_id} encountered a fatal error and requested a shutdown for the entire application."
        );
        statuses.push(status(Status::ShutdownApplication, &text));
    }
    statuses
}

/// Tags that the placement of standbys asks for and the member does not have.
fn missing_tags(plan: &Plan<'_>, config: &GroupConfig) -> Option<response::Status> {
    let has = &plan.metadata().client_tags;
    let wanted = config.streams_rack_aware_assignment_tags.iter();
    let missing: Vec<&str> = wanted.map(String::as_str).filter(|tag| !has.contains_key(*tag)).collect();
    if missing.is_empty() {
        return None;
    }
    let text = format!(
        "Missing required client tags for rack-aware standby assignment: [{}]. Configure them via 'client.tag.<tagKey>' in your Streams config.",
        missing.join(", ")
    );
    Some(status(Status::MissingClientTags, &text))
}

fn status(status: Status, text: &str) -> response::Status {
    message!(response::Status { status_code: status.code(), status_detail: text.into() })
}
