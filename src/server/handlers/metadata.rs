//! Metadata: answered from the durable catalogue. Topics that are named and do not exist may be created on the way.

use crate::catalog;
use crate::protocol::messages::MetadataRequest;
use crate::runtime::Input;
use crate::server::context::Context;
use crate::server::work::{Answer, Work};

/// Answers a Metadata request. As in Kafka, a topic that is only now created is unknown in this answer.
pub(in crate::server) fn start(context: &Context, request: &MetadataRequest) -> Work {
    let handle = context.handle();
    let endpoint = &context.shared.advertised;
    let address = (&*endpoint.host, endpoint.port);
    let (response, wanted) = catalog::metadata(&handle.image(), handle.config(), address, request, context.version);
    if wanted.is_empty() {
        return Work::answer(response);
    }
    let handle = handle.clone();
    Work::running(async move {
        // If the machine is gone, the client asks again, and of another server in the end.
        if let Ok(slot) = handle.reserve().await {
            slot.tell(Input::Catalog(catalog::Input::AutoCreateTopics { topics: wanted }));
        }
        Answer::Response(response.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::messages::metadata_request::MetadataRequestTopic;
    use crate::protocol::{Response, message};
    use crate::server::testing::{World, response_of};

    async fn errors(world: &World, names: &[&str], may_create: bool) -> Vec<i16> {
        let topics = names.iter().map(|name| message!(MetadataRequestTopic { name: Some((*name).into()) }));
        let request =
            message!(MetadataRequest { topics: Some(topics.collect()), allow_auto_topic_creation: may_create });
        let response = response_of(start(&world.context(12), &request)).await;
        response.encode(12, 1).expect("it fits its version");
        let Response::Metadata(response) = response else { panic!() };
        let broker = &response.brokers[0];
        assert_eq!((broker.node_id, &*broker.host, broker.port), (1, "broker.example", 9092));
        response.topics.iter().map(|topic| topic.error_code).collect()
    }

    #[tokio::test]
    async fn a_missing_topic_is_created_behind_the_answer_if_the_client_wants_it() {
        let mut world = World::new();
        world.topic("orders", 1, &[]);
        assert_eq!(errors(&world, &["missing", "orders"], false).await, [3, 0]);
        assert!(world.inbox.waiting().is_empty());
        assert_eq!(errors(&world, &["missing", "orders"], true).await, [3, 0]);
        let questions = world.inbox.waiting();
        let Input::Catalog(catalog::Input::AutoCreateTopics { topics }) = questions[0].input() else { panic!() };
        assert_eq!(topics.iter().map(crate::types::TopicName::as_str).collect::<Vec<_>>(), ["missing"]);
    }
}
