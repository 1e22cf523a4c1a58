//! What the tests of the catalogue share: a catalogue with its surroundings, and short ways to ask it.

mod alter;
mod create;
mod delete;
mod describe;
mod metadata;
mod replay;

use std::collections::BTreeMap;

use super::*;
use crate::config::Config;
use crate::machine::Rng;
use crate::protocol::message;
use crate::protocol::messages::create_topics_request::{CreatableTopic, CreatableTopicConfig};
use crate::protocol::messages::create_topics_response::CreatableTopicResult;
use crate::protocol::messages::incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig};

const TOPIC: i8 = 2;
const BROKER: i8 = 4;
const BROKER_LOGGER: i8 = 8;
const CLIENT_METRICS: i8 = 16;
const GROUP: i8 = 32;

/// A catalogue of node 1 with the settings it was started with.
struct World {
    catalog: Catalog,
    env: Env,
    lsn: Lsn,
    /// Every record so far.
    history: Vec<Record>,
}

impl World {
    fn new() -> Self {
        Self::with(&[])
    }

    fn with(settings: &[(&str, &str)]) -> Self {
        let mut config = Config::default();
        for (name, value) in settings {
            config.set(name, value).expect("known").expect("good");
        }
        let env =
            Env { now: TimestampMs(1_000), rng: Rng::from_seed(11), image: Arc::default(), config: Arc::new(config) };
        let mut world = Self { catalog: Catalog::default(), env, lsn: Lsn(0), history: Vec::new() };
        world.catalog.set_identity("Th7OUTvPTheopy8dM_ffUA".into(), 1);
        world.env.image = Arc::clone(world.catalog.image());
        world
    }

    fn replay(&mut self, records: Vec<Record>) {
        self.lsn = self.lsn.next();
        for record in records {
            self.catalog.replay(self.lsn, &record);
            self.history.push(record);
        }
        self.env.image = Arc::clone(self.catalog.image());
    }

    /// Decides and replays. The answers of a decision must rest on all that the catalogue holds.
    fn decide(&mut self, input: Input) -> (Option<Response>, Vec<Effect>) {
        let mut decision = self.catalog.decide(&mut (), &mut self.env, input);
        assert_eq!(decision.rests_on, self.catalog.image().lsn);
        self.replay(std::mem::take(&mut decision.records));
        assert!(decision.replies.len() <= 1);
        (decision.replies.pop().map(|(_, reply)| reply), decision.effects)
    }

    /// Asks in one version; the answer must fit that version.
    fn ask(&mut self, version: i16, input: impl Fn(i16) -> Input) -> Response {
        let response = self.decide(input(version)).0.expect("an answer");
        response.encode(version, 1).expect("an answer that fits its version");
        response
    }

    fn image(&self) -> &Image {
        self.catalog.image()
    }

    fn config(&self) -> &Config {
        &self.env.config
    }

    /// Creates topics that must succeed.
    fn topics(&mut self, topics: &[(&str, i32)]) {
        for (name, partition_count) in topics {
            let created = self.create(vec![new_topic(name, *partition_count, &[])]);
            assert_eq!(created[0].error_code, 0, "{name}: {:?}", created[0].error_message);
        }
    }

    fn id(&self, name: &str) -> TopicId {
        self.image().topic(name).expect("it exists").id
    }

    fn create(&mut self, topics: Vec<CreatableTopic>) -> Vec<CreatableTopicResult> {
        self.create_in(7, false, topics)
    }

    fn create_in(
        &mut self,
        version: i16,
        validate_only: bool,
        topics: Vec<CreatableTopic>,
    ) -> Vec<CreatableTopicResult> {
        let request = message!(CreateTopicsRequest { topics: topics, validate_only: validate_only });
        match self.ask(version, |version| Input::CreateTopics(asked(version, request.clone()))) {
            Response::CreateTopics(response) => response.topics,
            other => panic!("{other:?}"),
        }
    }

    /// Alters and gives code and text for each resource.
    fn alter(&mut self, resources: Vec<AlterConfigsResource>) -> Vec<(i16, Option<String>)> {
        self.alter_in(1, false, resources)
    }

    fn alter_in(
        &mut self,
        version: i16,
        validate_only: bool,
        resources: Vec<AlterConfigsResource>,
    ) -> Vec<(i16, Option<String>)> {
        let request = message!(IncrementalAlterConfigsRequest { resources: resources, validate_only: validate_only });
        let response = self.ask(version, |version| Input::IncrementalAlterConfigs(asked(version, request.clone())));
        let Response::IncrementalAlterConfigs(response) = response else { panic!("{response:?}") };
        let outcomes = response.responses.into_iter();
        outcomes.map(|outcome| (outcome.error_code, outcome.error_message.map(|text| text.to_string()))).collect()
    }

    /// Sets one key of one resource; it must succeed.
    fn set(&mut self, kind: i8, name: &str, key: &str, value: &str) {
        let outcome = self.alter(vec![resource(kind, name, &[set(key, value)])]);
        assert_eq!(outcome, [(0, None)], "{key}={value}");
    }
}

fn asked<R>(version: i16, request: R) -> Asked<R> {
    Asked { to: ReplyTo(1), version, client_id: "test".into(), client_host: "/127.0.0.1".into(), request }
}

fn new_topic(name: &str, partition_count: i32, configs: &[(&str, &str)]) -> CreatableTopic {
    let configs = configs
        .iter()
        .map(|(name, value)| message!(CreatableTopicConfig { name: (*name).into(), value: Some((*value).into()) }));
    message!(CreatableTopic {
        name: name.into(),
        num_partitions: partition_count,
        replication_factor: 1,
        configs: configs.collect(),
    })
}

fn change(name: &str, operation: i8, value: Option<&str>) -> AlterableConfig {
    message!(AlterableConfig { name: name.into(), config_operation: operation, value: value.map(Into::into) })
}

fn set(name: &str, value: &str) -> AlterableConfig {
    change(name, 0, Some(value))
}

fn unset(name: &str) -> AlterableConfig {
    change(name, 1, None)
}

fn resource(kind: i8, name: &str, configs: &[AlterableConfig]) -> AlterConfigsResource {
    message!(AlterConfigsResource { resource_type: kind, resource_name: name.into(), configs: configs.to_vec() })
}

fn configs(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}
