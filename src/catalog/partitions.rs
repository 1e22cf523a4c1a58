//! `CreatePartitions`: a topic only ever grows.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::create::{check_assigned_brokers, check_total, record_bytes};
use super::{Catalog, CatalogError, Record, TopicValue};
use super::{DECISION_BYTES_MAX, ITEMS_PER_REQUEST_MAX, PARTITIONS_PER_REQUEST_MAX};
use crate::config::Config;
use crate::machine::{Asked, Decision, Env};
use crate::protocol::message;
use crate::protocol::messages::create_partitions_request::CreatePartitionsTopic;
use crate::protocol::messages::create_partitions_response::CreatePartitionsTopicResult;
use crate::protocol::messages::{CreatePartitionsRequest, CreatePartitionsResponse};
use crate::types::{ErrorCode, TopicImage};

impl Catalog {
    pub(super) fn create_partitions(&self, env: &mut Env, asked: &Asked<CreatePartitionsRequest>) -> Decision<Self> {
        let request = &asked.request;
        if request.topics.len() > ITEMS_PER_REQUEST_MAX {
            let refused = |(index, topic)| answer(topic, Some(&CatalogError::too_many_items(index)));
            let results = request.topics.iter().enumerate().map(refused).collect();
            return self.answer(asked.to, message!(CreatePartitionsResponse { results: results }), Vec::new());
        }
        let mut seen = BTreeSet::new();
        let twice: BTreeSet<&str> =
            request.topics.iter().map(|topic| &*topic.name).filter(|name| !seen.insert(*name)).collect();
        let too_many = self.too_many_additional(request).err();
        let mut total = self.partition_total();
        let mut bytes = 0usize;
        let mut records = Vec::new();
        let mut results = Vec::new();
        for topic in &request.topics {
            let outcome = if twice.contains(&*topic.name) {
                if !seen.remove(&*topic.name) {
                    continue;
                }
                Err(CatalogError::new(ErrorCode::InvalidRequest, "Duplicate topic name."))
            } else if let Some(error) = &too_many {
                Err(error.clone())
            } else {
                // The record repeats what the topic has of configs.
                let configs = self.image.topic(&topic.name).map(|image| record_bytes(&image.name, &image.configs));
                bytes = bytes.saturating_add(configs.unwrap_or_default());
                let fits = bytes <= DECISION_BYTES_MAX;
                if fits { self.grow(topic, &mut total, &env.config) } else { Err(CatalogError::too_large()) }
            };
            let error = outcome.map(|record| records.push(record)).err();
            results.push(answer(topic, error.as_ref()));
        }
        if request.validate_only {
            records.clear();
        }
        self.answer(asked.to, message!(CreatePartitionsResponse { results: results }), records)
    }

    /// Refuses a request for more partitions than one may create, whatever else is wrong with it.
    fn too_many_additional(&self, request: &CreatePartitionsRequest) -> Result<(), CatalogError> {
        let mut total = 0i64;
        for topic in &request.topics {
            let Some(image) = self.image.topic(&topic.name) else { continue };
            let more = i64::from(topic.count).saturating_sub(i64::from(image.partition_count));
            total = total.saturating_add(more.max(0));
            if total > PARTITIONS_PER_REQUEST_MAX {
                let text = "Excessively large number of additional partitions per request.";
                return Err(CatalogError::new(ErrorCode::PolicyViolation, text));
            }
        }
        Ok(())
    }

    fn grow(&self, topic: &CreatePartitionsTopic, total: &mut i64, config: &Config) -> Result<Record, CatalogError> {
        let Some(image) = self.image.topic(&topic.name) else {
            return Err(CatalogError::bare(ErrorCode::UnknownTopicOrPartition));
        };
        check_growth(image, topic.count)?;
        let more = topic.count.saturating_sub(image.partition_count);
        if let Some(assignments) = &topic.assignments {
            if i32::try_from(assignments.len()) != Ok(more) {
                let text = format!(
                    "Attempted to add {more} additional partition(s), but only {} assignment(s) were specified.",
                    assignments.len()
                );
                return Err(CatalogError::new(ErrorCode::InvalidReplicaAssignment, text));
            }
            for assignment in assignments {
                check_assigned_brokers(self.image.node_id, &assignment.broker_ids)?;
            }
        }
        *total = check_total(*total, i64::from(more), config)?;
        let value = TopicValue {
            name: image.name.clone(),
            partition_count: topic.count,
            configs: image.configs.as_ref().clone(),
        };
        Ok(Record::Topic { topic_id: image.id, value: Some(value) })
    }
}

fn answer(topic: &CreatePartitionsTopic, error: Option<&CatalogError>) -> CreatePartitionsTopicResult {
    message!(CreatePartitionsTopicResult {
        name: topic.name.clone(),
        error_code: error.map_or(0, |error| error.code.code()),
        error_message: error.and_then(CatalogError::wire_message),
    })
}

fn check_growth(topic: &TopicImage, count: i32) -> Result<(), CatalogError> {
    let current = topic.partition_count;
    let text = match count.cmp(&current) {
        Ordering::Greater => return Ok(()),
        Ordering::Equal => format!("Topic already has {current} partition(s)."),
        Ordering::Less => {
            format!("The topic {} currently has {current} partition(s); {count} would not be an increase.", topic.name)
        }
    };
    Err(CatalogError::new(ErrorCode::InvalidPartitions, text))
}
