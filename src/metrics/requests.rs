//! Requests and connections, as the server sees them.

use std::time::Instant;

use prometheus::{HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, Opts, Registry};

use super::{LATENCY_BUCKETS_SECONDS, counter, gauge};

/// What the server counts. Labels are the names of served APIs and of error codes.
pub(crate) struct RequestMetrics {
    seconds: HistogramVec,
    errors: IntCounterVec,
    malformed: IntCounter,
    connections: IntGauge,
    connections_total: IntCounter,
    connections_refused: IntCounter,
    received_bytes: IntCounter,
    sent_bytes: IntCounter,
}

impl RequestMetrics {
    pub(super) fn register(registry: &Registry) -> Result<Self, prometheus::Error> {
        let seconds = HistogramVec::new(
            HistogramOpts::new(
                "streamkeeper_request_duration_seconds",
                "Time from a whole request to its answer being ready, by API",
            )
            .buckets(LATENCY_BUCKETS_SECONDS.to_vec()),
            &["api"],
        )?;
        registry.register(Box::new(seconds.clone()))?;
        let errors = IntCounterVec::new(
            Opts::new("streamkeeper_request_errors_total", "Answers with a top-level error code, by API and error"),
            &["api", "error"],
        )?;
        registry.register(Box::new(errors.clone()))?;
        Ok(Self {
            seconds,
            errors,
            malformed: counter(
                registry,
                "streamkeeper_malformed_requests_total",
                "Requests that could not be read; their connections were closed",
            )?,
            connections: gauge(registry, "streamkeeper_connections", "Open connections")?,
            connections_total: counter(registry, "streamkeeper_connections_total", "Connections accepted")?,
            connections_refused: counter(
                registry,
                "streamkeeper_connections_refused_total",
                "Connections closed at once because there were too many",
            )?,
            received_bytes: counter(registry, "streamkeeper_received_bytes_total", "Bytes of requests read")?,
            sent_bytes: counter(registry, "streamkeeper_sent_bytes_total", "Bytes of answers written")?,
        })
    }

    /// Begins to time a request.
    #[allow(clippy::disallowed_methods, reason = "a duration is measured here and nothing is decided by it")]
    pub(crate) fn start(api: &'static str) -> RequestTimer {
        RequestTimer { api, started: Instant::now() }
    }

    /// Counts an answer; `error` is the name of its top-level error, if it has one.
    pub(crate) fn answered(&self, timer: &RequestTimer, error: Option<&'static str>) {
        self.seconds.with_label_values(&[timer.api]).observe(timer.started.elapsed().as_secs_f64());
        if let Some(error) = error {
            self.errors.with_label_values(&[timer.api, error]).inc();
        }
    }

    /// Counts a request that could not be read.
    pub(crate) fn malformed(&self) {
        self.malformed.inc();
    }

    /// Counts a connection from now until [`RequestMetrics::disconnected`].
    pub(crate) fn connected(&self) {
        self.connections.inc();
        self.connections_total.inc();
    }

    /// Counts the end of a connection.
    pub(crate) fn disconnected(&self) {
        self.connections.dec();
    }

    /// Counts a connection that was closed because there were too many.
    pub(crate) fn refused(&self) {
        self.connections_refused.inc();
    }

    /// Counts bytes read.
    pub(crate) fn received(&self, bytes: usize) {
        self.received_bytes.inc_by(u64::try_from(bytes).unwrap_or(u64::MAX));
    }

    /// Counts bytes written.
    pub(crate) fn sent(&self, bytes: usize) {
        self.sent_bytes.inc_by(u64::try_from(bytes).unwrap_or(u64::MAX));
    }
}

/// A request being timed.
pub(crate) struct RequestTimer {
    api: &'static str,
    started: Instant,
}
