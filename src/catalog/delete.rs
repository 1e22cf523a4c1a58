//! `DeleteTopics`: by name, or from version 6 by id.
//!
//! Answers to Kafka's `ControllerApis.deleteTopics`.

use std::collections::{BTreeMap, BTreeSet};

use super::{Catalog, CatalogError, Effect, ITEMS_PER_REQUEST_MAX, Record};
use crate::machine::{Asked, Decision, Env};
use crate::protocol::messages::delete_topics_response::DeletableTopicResult;
use crate::protocol::messages::{DeleteTopicsRequest, DeleteTopicsResponse};
use crate::protocol::{StrBytes, message, topic_id, wire_uuid};
use crate::types::{ErrorCode, TopicId, TopicName};

/// A topic as the request names it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Named {
    name: Option<String>,
    id: TopicId,
}

impl Catalog {
    pub(super) fn delete_topics(&self, env: &mut Env, asked: &Asked<DeleteTopicsRequest>) -> Decision<Self> {
        let topics = named_topics(&asked.request);
        if !env.config.delete_topic_enable {
            // Version 3 brought the code for it.
            let code = if asked.version < 3 { ErrorCode::InvalidRequest } else { ErrorCode::TopicDeletionDisabled };
            let refusal = CatalogError::bare(code);
            let responses = topics.iter().map(|topic| answer(topic, Err(&refusal))).collect();
            return self.answer(asked.to, message!(DeleteTopicsResponse { responses: responses }), Vec::new());
        }
        if topics.len() > ITEMS_PER_REQUEST_MAX {
            let refused = |(index, topic)| answer(topic, Err(&CatalogError::too_many_items(index)));
            let responses = topics.iter().enumerate().map(refused).collect();
            return self.answer(asked.to, message!(DeleteTopicsResponse { responses: responses }), Vec::new());
        }
        let mut times = BTreeMap::<&Named, u32>::new();
        for topic in &topics {
            *times.entry(topic).or_default() += 1;
        }
        let by_id: BTreeSet<TopicId> =
            topics.iter().filter(|topic| topic.name.is_none()).map(|topic| topic.id).collect();
        let by_name: BTreeSet<&str> = topics.iter().filter_map(|topic| topic.name.as_deref()).collect();
        let mut responses = Vec::new();
        let mut deleted: Vec<(TopicId, TopicName)> = Vec::new();
        for topic in &topics {
            let Some(times) = times.remove(topic) else { continue };
            match self.find(topic, times, &by_id) {
                // Named both ways: the answer stands with the name.
                Ok((_, name)) if topic.name.is_none() && by_name.contains(name.as_str()) => {}
                Ok((id, name)) => {
                    responses.push(answer(topic, Ok((id, &name))));
                    deleted.push((id, name));
                }
                Err((known, error)) => responses.push(answer(known.as_ref().unwrap_or(topic), Err(&error))),
            }
        }
        let records = deleted.iter().map(|(id, _)| Record::Topic { topic_id: *id, value: None }).collect();
        let mut decision = self.answer(asked.to, message!(DeleteTopicsResponse { responses: responses }), records);
        if !deleted.is_empty() {
            decision.effects.push(Effect::TopicsDeleted { topics: deleted });
        }
        decision
    }

    /// The topic that is meant, or why there is none, with what the answer calls it if that is more than was asked.
    fn find(
        &self,
        topic: &Named,
        times: u32,
        by_id: &BTreeSet<TopicId>,
    ) -> Result<(TopicId, TopicName), (Option<Named>, CatalogError)> {
        let refused = |code, text: &str| Err((None, CatalogError::new(code, text)));
        let Named { name, id } = topic;
        match name {
            None if id.is_zero() => refused(ErrorCode::InvalidRequest, "Neither topic name nor id were specified."),
            Some(_) if !id.is_zero() => {
                refused(ErrorCode::InvalidRequest, "You may not specify both topic name and topic id.")
            }
            None if times > 1 => refused(ErrorCode::InvalidRequest, "Duplicate topic id."),
            Some(_) if times > 1 => refused(ErrorCode::InvalidRequest, "Duplicate topic name."),
            None => match self.image.topic_by_id(*id) {
                Some(topic) => Ok((topic.id, topic.name.clone())),
                None => refused(ErrorCode::UnknownTopicId, "This server does not host this topic ID."),
            },
            Some(name) => match self.image.topic(name) {
                Some(topic) if by_id.contains(&topic.id) => {
                    let text = "The provided topic name maps to an ID that was already supplied.";
                    let named = Named { name: Some(name.clone()), id: topic.id };
                    Err((Some(named), CatalogError::new(ErrorCode::InvalidRequest, text)))
                }
                Some(topic) => Ok((topic.id, topic.name.clone())),
                None => refused(ErrorCode::UnknownTopicOrPartition, "This server does not host this topic-partition."),
            },
        }
    }
}

fn named_topics(request: &DeleteTopicsRequest) -> Vec<Named> {
    let old = request.topic_names.iter().map(|name| Named { name: Some(name.to_string()), id: TopicId::ZERO });
    let new = request
        .topics
        .iter()
        .map(|topic| Named { name: topic.name.as_ref().map(ToString::to_string), id: topic_id(topic.topic_id) });
    old.chain(new).collect()
}

fn answer(topic: &Named, outcome: Result<(TopicId, &TopicName), &CatalogError>) -> DeletableTopicResult {
    match outcome {
        Ok((id, name)) => {
            message!(DeletableTopicResult { name: Some(StrBytes::from(name.as_str())), topic_id: wire_uuid(id) })
        }
        Err(error) => message!(DeletableTopicResult {
            name: topic.name.as_deref().map(StrBytes::from),
            topic_id: wire_uuid(topic.id),
            error_code: error.code.code(),
            error_message: error.wire_message(),
        }),
    }
}
