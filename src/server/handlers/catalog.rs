//! Reads of the catalogue: they are answered from its durable image, without the machine.

use crate::catalog;
use crate::protocol::messages::{
    DescribeClusterRequest, DescribeClusterResponse, DescribeConfigsRequest, DescribeConfigsResponse,
    DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse,
};
use crate::server::context::Context;

pub(in crate::server) fn describe_configs(
    context: &Context,
    request: &DescribeConfigsRequest,
) -> DescribeConfigsResponse {
    let handle = context.handle();
    catalog::describe_configs(&handle.image(), handle.config(), request, context.version)
}

pub(in crate::server) fn describe_cluster(
    context: &Context,
    request: &DescribeClusterRequest,
) -> DescribeClusterResponse {
    let handle = context.handle();
    let endpoint = &context.shared.advertised;
    catalog::describe_cluster(&handle.image(), handle.config(), (&*endpoint.host, endpoint.port), request)
}

pub(in crate::server) fn describe_topic_partitions(
    context: &Context,
    request: &DescribeTopicPartitionsRequest,
) -> DescribeTopicPartitionsResponse {
    let handle = context.handle();
    catalog::describe_topic_partitions(&handle.image(), handle.config(), request)
}
