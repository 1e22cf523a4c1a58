//! The group coordinator without any network: requests in, durable answers out.

use std::path::Path;
use std::sync::Arc;

use crate::config::Config;
use crate::coordinator::Input;
use crate::machine::{Asked, ReplyTo};
use crate::metrics::Metrics;
use crate::protocol::Response;
use crate::protocol::messages;
use crate::runtime::{self, Clock, Durability, Options, Reply, Runtime, random_seed};

use super::{ServerFailed, StartError};

/// Why a coordinator gave no answer. Errors of the protocol are in the answer, not here.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CoordinatorError {
    /// It is stopping, or a write has failed.
    #[error("the coordinator has ended: {0}")]
    Ended(String),
}

/// A group coordinator on a data directory.
///
/// ```
/// use streamkeeper::protocol::{message, messages::StreamsGroupDescribeRequest};
/// use streamkeeper::{Config, Coordinator};
///
/// # tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
/// let dir = tempfile::tempdir().unwrap();
/// let coordinator = Coordinator::open(dir.path(), Config::default()).await.unwrap();
/// let request = message!(StreamsGroupDescribeRequest { group_ids: vec!["orders".into()] });
/// let answer = coordinator.streams_group_describe(request).await.unwrap();
/// assert_eq!(answer.groups[0].error_code, 69); // GROUP_ID_NOT_FOUND
/// coordinator.close().await.unwrap();
/// # });
/// ```
pub struct Coordinator {
    runtime: Runtime,
    client_id: Arc<str>,
    client_host: Arc<str>,
}

macro_rules! requests {
    ($($(#[$doc:meta])* $method:ident: $name:ident($request:ident) -> $response:ident, version $version:literal;)+) => {
        impl Coordinator {$(
            $(#[$doc])*
            ///
            /// The answer is given once everything it rests on is durable.
            ///
            /// # Errors
            /// [`CoordinatorError`] if there is no answer; errors of the protocol are in the answer.
            pub async fn $method(&self, request: messages::$request) -> Result<messages::$response, CoordinatorError> {
                let answer = self.ask($version, request, Input::$name).await?;
                match answer {
                    Response::$name(answer) => Ok(*answer),
                    other => Err(CoordinatorError::Ended(format!("an answer of another kind: {:?}", other.api()))),
                }
            }
        )+}
    };
}

requests! {
    /// A member's heartbeat: joins, stays, leaves (KIP-1071).
    streams_group_heartbeat: StreamsGroupHeartbeat(StreamsGroupHeartbeatRequest) -> StreamsGroupHeartbeatResponse, version 1;
    /// Describes streams groups (KIP-1071).
    streams_group_describe: StreamsGroupDescribe(StreamsGroupDescribeRequest) -> StreamsGroupDescribeResponse, version 1;
    /// Commits offsets.
    offset_commit: OffsetCommit(OffsetCommitRequest) -> OffsetCommitResponse, version 9;
    /// Reads committed offsets.
    offset_fetch: OffsetFetch(OffsetFetchRequest) -> OffsetFetchResponse, version 9;
    /// Deletes committed offsets.
    offset_delete: OffsetDelete(OffsetDeleteRequest) -> OffsetDeleteResponse, version 0;
    /// Lists groups of all types.
    list_groups: ListGroups(ListGroupsRequest) -> ListGroupsResponse, version 5;
    /// Deletes groups.
    delete_groups: DeleteGroups(DeleteGroupsRequest) -> DeleteGroupsResponse, version 3;
}

impl Coordinator {
    /// Opens a data directory, making it if there is none.
    ///
    /// # Errors
    /// [`StartError`] if the directory is in use, damaged, of a newer format or cannot be written; nothing is changed.
    pub async fn open(dir: impl AsRef<Path>, config: Config) -> Result<Self, StartError> {
        let options = Options {
            data_dir: dir.as_ref().to_owned(),
            durability: Durability::configured(&config),
            config: Arc::new(config),
            clock: Clock::system(),
            seed: random_seed(),
            metrics: Arc::new(Metrics::new().map_err(|error| StartError::Internal(error.to_string()))?),
        };
        let loaded = tokio::task::spawn_blocking(move || Runtime::load(&options)).await;
        let loaded = loaded.map_err(|error| StartError::Internal(error.to_string()))??;
        Ok(Self { runtime: loaded.start(), client_id: Arc::from("embedded"), client_host: Arc::from("/127.0.0.1") })
    }

    /// Creates topics; a coordinator needs to know the source topics of its groups.
    ///
    /// # Errors
    /// [`CoordinatorError`] if there is no answer; errors of the protocol are in the answer.
    pub async fn create_topics(
        &self,
        request: messages::CreateTopicsRequest,
    ) -> Result<messages::CreateTopicsResponse, CoordinatorError> {
        let make = |asked| runtime::Input::Catalog(crate::catalog::Input::CreateTopics(asked));
        match self.ask_any(7, request, make).await? {
            Response::CreateTopics(answer) => Ok(*answer),
            other => Err(CoordinatorError::Ended(format!("an answer of another kind: {:?}", other.api()))),
        }
    }

    /// Closes: what was answered is durable, a last checkpoint is made.
    ///
    /// # Errors
    /// [`ServerFailed`] if a write had failed.
    pub async fn close(self) -> Result<(), ServerFailed> {
        self.runtime.stop().await.map_err(|failure| ServerFailed(failure.to_string()))
    }

    async fn ask<R>(
        &self,
        version: i16,
        request: R,
        make: impl FnOnce(Asked<R>) -> Input,
    ) -> Result<Response, CoordinatorError> {
        self.ask_any(version, request, |asked| runtime::Input::Coordinator(make(asked))).await
    }

    async fn ask_any<R>(
        &self,
        version: i16,
        request: R,
        make: impl FnOnce(Asked<R>) -> runtime::Input,
    ) -> Result<Response, CoordinatorError> {
        let ended = |why: runtime::Unavailable| CoordinatorError::Ended(why.to_string());
        let slot = self.runtime.handle().reserve().await.map_err(ended)?;
        let asked = |to: ReplyTo| Asked {
            to,
            version,
            client_id: Arc::clone(&self.client_id),
            client_host: Arc::clone(&self.client_host),
            request,
        };
        match slot.ask(|to| make(asked(to))).await.map_err(ended)? {
            Reply::Response(response) => Ok(response),
            Reply::Heads(_) => Err(CoordinatorError::Ended("an answer of another kind".to_owned())),
        }
    }
}
