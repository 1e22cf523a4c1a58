//! `OffsetDelete`, version 0 (KIP-496).

use std::collections::BTreeSet;

use super::entry;
use super::kinds;
use super::resolve::{Naming, check_partition};
use crate::coordinator::{Coordinator, Group, Record};
use crate::machine::{Asked, Decision, Env};
use crate::protocol::message;
use crate::protocol::messages::offset_delete_request::OffsetDeleteRequestTopic;
use crate::protocol::messages::offset_delete_response::{OffsetDeleteResponsePartition, OffsetDeleteResponseTopic};
use crate::protocol::messages::{OffsetDeleteRequest, OffsetDeleteResponse};
use crate::types::{ErrorCode, GroupId, Image, TopicId, TopicName};

/// Decides on a deletion.
pub(crate) fn decide(
    coordinator: &Coordinator,
    env: &Env,
    asked: &Asked<OffsetDeleteRequest>,
) -> Decision<Coordinator> {
    let request = &asked.request;
    let rests_on = env.image.lsn.max(coordinator.lsn_of(&request.group_id));
    // The group "" can hold offsets, yet Kafka does not let them be deleted here.
    if request.group_id.is_empty() {
        return Decision::answer(asked.to, refuse(ErrorCode::InvalidGroupId).into(), rests_on);
    }
    let Some(group) = coordinator.groups.get(&*request.group_id) else {
        return Decision::answer(asked.to, refuse(ErrorCode::GroupIdNotFound).into(), rests_on);
    };

    let mut deleted = BTreeSet::new();
    let topics = request.topics.iter().map(|topic| delete_topic(group, &env.image, topic, &mut deleted)).collect();
    let group_id = GroupId::from(&*request.group_id);
    let records = deleted
        .into_iter()
        .map(|(topic, partition)| Record::OffsetCommit { group: group_id.clone(), topic, partition, value: None })
        .collect::<Vec<_>>();
    if entry::is_too_large(&records) {
        return Decision::answer(asked.to, refuse(ErrorCode::UnknownServerError).into(), rests_on);
    }
    Decision {
        records,
        ..Decision::answer(asked.to, message!(OffsetDeleteResponse { topics: topics }).into(), rests_on)
    }
}

/// The answer that refuses all of a request: an error at the top and no topics.
pub(crate) fn refuse(code: ErrorCode) -> OffsetDeleteResponse {
    message!(OffsetDeleteResponse { error_code: code.code() })
}

fn delete_topic(
    group: &Group,
    image: &Image,
    topic: &OffsetDeleteRequestTopic,
    deleted: &mut BTreeSet<(TopicName, i32)>,
) -> OffsetDeleteResponseTopic {
    let found = Naming::ByName.find(image, &topic.name, TopicId::ZERO);
    let is_subscribed = kinds::is_subscribed_to(group, &topic.name);
    let mut delete = |partition: i32| {
        let found = found?;
        check_partition(found, partition)?;
        if is_subscribed {
            return Err(ErrorCode::GroupSubscribedToTopic);
        }
        if group.offsets.contains(&found.name, partition) {
            deleted.insert((found.name.clone(), partition));
        }
        Ok(())
    };
    let partitions = topic.partitions.iter().map(|partition| {
        let code = delete(partition.partition_index).err().unwrap_or(ErrorCode::None);
        message!(OffsetDeleteResponsePartition { partition_index: partition.partition_index, error_code: code.code() })
    });
    message!(OffsetDeleteResponseTopic { name: topic.name.clone(), partitions: partitions.collect() })
}
