//! `OffsetForLeaderEpoch`: where a leader epoch ended. There is one epoch, and it has not ended.

use super::topics::{self, LEADER_EPOCH, Named};
use crate::protocol::message;
use crate::protocol::messages::offset_for_leader_epoch_request::OffsetForLeaderPartition;
use crate::protocol::messages::offset_for_leader_epoch_response::{EpochEndOffset, OffsetForLeaderTopicResult};
use crate::protocol::messages::{OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse};
use crate::server::context::Context;
use crate::types::{ErrorCode, TopicImage};

pub(in crate::server) fn answer(
    context: &Context,
    request: OffsetForLeaderEpochRequest,
) -> OffsetForLeaderEpochResponse {
    let image = context.handle().image();
    let results = request.topics.into_iter().map(|asked| {
        let topic = topics::find(&image, Named::Name(&asked.topic));
        let partitions = asked.partitions.iter().map(|partition| {
            let end = topic.and_then(|topic| end_of(context, topic, partition));
            let (epoch, end_offset, error) = match end {
                Ok(Some(end_offset)) => (LEADER_EPOCH, end_offset, ErrorCode::None),
                Ok(None) => (-1, -1, ErrorCode::None),
                Err(error) => (-1, -1, error),
            };
            message!(EpochEndOffset {
                error_code: error.code(),
                partition: partition.partition,
                leader_epoch: epoch,
                end_offset: end_offset,
            })
        });
        let partitions = partitions.collect();
        message!(OffsetForLeaderTopicResult { topic: asked.topic, partitions: partitions })
    });
    message!(OffsetForLeaderEpochResponse { topics: results.collect() })
}

/// Where the asked epoch ends; `None` if there never was such an epoch.
fn end_of(context: &Context, topic: &TopicImage, asked: &OffsetForLeaderPartition) -> Result<Option<i64>, ErrorCode> {
    let partition = topics::partition_of(topic, asked.partition)?;
    topics::check_leader_epoch(asked.current_leader_epoch)?;
    let log = context.handle().logs().get(partition);
    let end_offset = log.map_or(0, |log| log.bounds().high_watermark.0);
    Ok((asked.leader_epoch == LEADER_EPOCH).then_some(end_offset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Response;
    use crate::protocol::messages::offset_for_leader_epoch_request::OffsetForLeaderTopic;
    use crate::server::testing::{World, partition};

    /// Asks for `(partition, current leader epoch, leader epoch)`; gives `(error, leader epoch, end offset)`.
    fn ask(world: &World, topic: &str, partitions: &[(i32, i32, i32)]) -> Vec<(i16, i32, i64)> {
        let partitions = partitions.iter().map(|(index, current, epoch)| {
            message!(OffsetForLeaderPartition {
                partition: *index,
                current_leader_epoch: *current,
                leader_epoch: *epoch,
            })
        });
        let topic = message!(OffsetForLeaderTopic { topic: topic.into(), partitions: partitions.collect() });
        let request = message!(OffsetForLeaderEpochRequest { topics: vec![topic] });
        let response = answer(&world.context(4), request);
        Response::from(response.clone()).encode(4, 1).expect("it fits its version");
        let partitions = response.topics[0].partitions.iter();
        partitions.map(|end| (end.error_code, end.leader_epoch, end.end_offset)).collect()
    }

    #[test]
    fn the_one_epoch_ends_where_the_log_ends_and_others_never_were() {
        let mut world = World::new();
        let orders = world.topic("orders", 2, &[]);
        world.append(partition(orders, 0), &["a", "b"]);
        let asked = [(0, 0, 0), (0, -1, 0), (0, 0, 5), (0, -1, -1), (1, 0, 0)];
        assert_eq!(ask(&world, "orders", &asked), [(0, 0, 2), (0, 0, 2), (0, -1, -1), (0, -1, -1), (0, 0, 0)]);
        assert_eq!(ask(&world, "orders", &[(0, 9, 0), (4, -1, 0)]), [(75, -1, -1), (3, -1, -1)]);
        assert_eq!(ask(&world, "missing", &[(0, -1, 0)]), [(3, -1, -1)]);
    }
}
