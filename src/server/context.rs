//! What handlers know of the server and of who asks.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::Shared;
use crate::machine::{Asked, ReplyTo};
use crate::protocol::StrBytes;
use crate::runtime::Handle;

/// One request's surroundings.
#[derive(Clone)]
pub(super) struct Context {
    /// The server.
    pub(super) shared: Arc<Shared>,
    /// The request's version.
    pub(super) version: i16,
    /// The client's name of itself, "" if it has none.
    pub(super) client_id: Arc<str>,
    /// The client's address as Kafka writes it: `/127.0.0.1`.
    pub(super) client_host: Arc<str>,
    /// Long polls end when this is cancelled.
    pub(super) stop: CancellationToken,
}

impl Context {
    /// The machine.
    pub(super) fn handle(&self) -> &Handle {
        &self.shared.handle
    }

    /// A request for a core.
    pub(super) fn asked<R>(&self, to: ReplyTo, request: R) -> Asked<R> {
        Asked {
            to,
            version: self.version,
            client_id: Arc::clone(&self.client_id),
            client_host: Arc::clone(&self.client_host),
            request,
        }
    }

    /// Notes who asks. A connection nearly always sends the same client id, so the text is kept.
    pub(super) fn set_client_id(&mut self, client_id: Option<&StrBytes>) {
        let client_id = client_id.map_or("", StrBytes::as_str);
        if *self.client_id != *client_id {
            self.client_id = client_id.into();
        }
    }
}
