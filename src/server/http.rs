//! The HTTP side: `/metrics` for Prometheus, `/healthz` and `/readyz` for whoever watches the process.
//!
//! Three GET routes and nothing else. Connections are bounded in number and time, and a request has no body.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::metrics::Metrics;
use crate::runtime::Status;

/// How many HTTP connections are served at once; further ones wait.
const CONNECTIONS_MAX: usize = 64;
/// How long a client may take to send a request's head.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a connection may last.
const CONNECTION_TIMEOUT: Duration = Duration::from_mins(1);

/// What the routes show.
pub(crate) struct HttpState {
    pub(crate) metrics: Arc<Metrics>,
    /// `None` while the data directory is being loaded.
    pub(crate) status: watch::Receiver<Option<Status>>,
}

/// Serves until told to stop.
pub(crate) async fn serve(listener: TcpListener, state: Arc<HttpState>, stop: CancellationToken) {
    let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &slots) => accepted,
            () = stop.cancelled() => break,
        };
        let Ok((stream, slot)) = accepted else { continue };
        let state = Arc::clone(&state);
        let stop = stop.clone();
        connections.spawn(async move {
            let service = service_fn(move |request| {
                let state = Arc::clone(&state);
                async move { Ok::<_, Infallible>(answer(&request, &state)) }
            });
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADER_TIMEOUT)
                .serve_connection(TokioIo::new(stream), service);
            tokio::select! {
                // A broken connection is the client's affair.
                _ = tokio::time::timeout(CONNECTION_TIMEOUT, connection) => {}
                () = stop.cancelled() => {}
            }
            drop(slot);
        });
    }
    connections.close();
    connections.wait().await;
}

type Accepted = (tokio::net::TcpStream, tokio::sync::OwnedSemaphorePermit);

async fn accept(listener: &TcpListener, slots: &Arc<Semaphore>) -> std::io::Result<Accepted> {
    let slot = Arc::clone(slots).acquire_owned().await.map_err(std::io::Error::other)?;
    match listener.accept().await {
        Ok((stream, _)) => Ok((stream, slot)),
        Err(error) => {
            // Out of file descriptors, most likely: give others time to close.
            tokio::time::sleep(Duration::from_millis(50)).await;
            Err(error)
        }
    }
}

fn answer(request: &Request<Incoming>, state: &HttpState) -> Response<Full<Bytes>> {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return text(StatusCode::METHOD_NOT_ALLOWED, "only GET is served here\n");
    }
    match request.uri().path() {
        "/metrics" => metrics(state),
        "/healthz" => text(StatusCode::OK, "ok\n"),
        "/readyz" => readiness(state.status.borrow().as_ref()),
        _ => text(StatusCode::NOT_FOUND, "there are /metrics, /healthz and /readyz\n"),
    }
}

fn readiness(status: Option<&Status>) -> Response<Full<Bytes>> {
    match status {
        None => text(StatusCode::SERVICE_UNAVAILABLE, "loading\n"),
        Some(Status::Serving) => text(StatusCode::OK, "ready\n"),
        Some(Status::Stopped) => text(StatusCode::SERVICE_UNAVAILABLE, "stopping\n"),
        Some(Status::Failed(failure)) => text(StatusCode::SERVICE_UNAVAILABLE, &format!("failed: {failure}\n")),
    }
}

fn metrics(state: &HttpState) -> Response<Full<Bytes>> {
    match state.metrics.text() {
        Ok(body) => {
            let mut response = Response::new(Full::new(Bytes::from(body)));
            let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
            response.headers_mut().insert(CONTENT_TYPE, kind);
            response
        }
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, &format!("{error}\n")),
    }
}

fn text(status: StatusCode, body: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::copy_from_slice(body.as_bytes())));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
