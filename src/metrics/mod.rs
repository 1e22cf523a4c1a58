//! Metrics: every name in one place, counted by whoever sees the thing happen, read by Prometheus.
//!
//! What Kafka has carries the name that its JMX exporter gives it, so that dashboards carry over; what only this server
//! has begins with `streamkeeper_`. Label values come from fixed sets: no group, member, topic or client ids. The list
//! with units is in `metrics/README.md`, and a test keeps it equal to the registry.

mod process;
mod requests;

use std::time::Instant;

use prometheus::{
    Encoder, Gauge, Histogram, HistogramOpts, IntCounter, IntGauge, IntGaugeVec, Opts, Registry, TextEncoder,
};

use process::ProcessMetrics;
pub(crate) use requests::{RequestMetrics, RequestTimer};

/// Seconds, from 50 microseconds to 5 seconds.
const LATENCY_BUCKETS_SECONDS: &[f64] =
    &[0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0];

/// The states of a streams group as metric labels; `initializing` and `dead` are listed though Kafka 4.4 never counts any.
pub(crate) const STREAMS_STATES: [&str; 7] =
    ["empty", "initializing", "not_ready", "assigning", "reconciling", "stable", "dead"];

/// The group types as metric labels.
pub(crate) const PROTOCOLS: [&str; 4] = ["classic", "consumer", "share", "streams"];

/// How many groups there are, in the order of [`STREAMS_STATES`] and [`PROTOCOLS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupCounts {
    pub(crate) streams_by_state: [i64; STREAMS_STATES.len()],
    pub(crate) by_protocol: [i64; PROTOCOLS.len()],
    pub(crate) committed_offsets: i64,
}

/// All metrics of one server.
pub(crate) struct Metrics {
    registry: Registry,
    pub(crate) requests: RequestMetrics,
    streams_groups: IntGaugeVec,
    groups_by_protocol: IntGaugeVec,
    committed_offsets: IntGauge,
    journal_sync_seconds: Histogram,
    journal_rounds: IntCounter,
    journal_entries: IntCounter,
    journal_bytes: IntCounter,
    journal_live_bytes: IntGauge,
    checkpoint_seconds: Histogram,
    load_seconds: Gauge,
    loaded_records: IntGauge,
    process: ProcessMetrics,
}

impl Metrics {
    /// A registry with every metric at zero.
    ///
    /// # Errors
    /// If two metrics have one name: a fault that every start would show.
    pub(crate) fn new() -> Result<Self, prometheus::Error> {
        let registry = Registry::new();
        let labelled = |name: &str, help: &str, label: &str, values: &[&str]| {
            let gauge = IntGaugeVec::new(Opts::new(name, help), &[label])?;
            for value in values {
                gauge.with_label_values(&[value]).set(0);
            }
            registry.register(Box::new(gauge.clone())).map(|()| gauge)
        };
        let streams_groups = labelled(
            "kafka_server_group_coordinator_metrics_streams_group_count",
            "Streams groups by state; NotReady of Kafka's tools is initializing + not_ready",
            "state",
            &STREAMS_STATES,
        )?;
        let groups_by_protocol = labelled(
            "kafka_server_group_coordinator_metrics_group_count",
            "Groups by protocol",
            "protocol",
            &PROTOCOLS,
        )?;
        Ok(Self {
            requests: RequestMetrics::register(&registry)?,
            streams_groups,
            groups_by_protocol,
            committed_offsets: gauge(
                &registry,
                "kafka_server_group_coordinator_metrics_offset_count",
                "Committed offsets of all groups",
            )?,
            journal_sync_seconds: histogram(
                &registry,
                "streamkeeper_journal_sync_duration_seconds",
                "Time of one fsync of the journal",
            )?,
            journal_rounds: counter(&registry, "streamkeeper_journal_rounds_total", "Rounds written to the journal")?,
            journal_entries: counter(
                &registry,
                "streamkeeper_journal_entries_total",
                "Entries (decisions that changed something) written to the journal",
            )?,
            journal_bytes: counter(
                &registry,
                "streamkeeper_journal_written_bytes_total",
                "Bytes of keys, values and batches written to the journal",
            )?,
            journal_live_bytes: gauge(
                &registry,
                "streamkeeper_journal_live_bytes",
                "Bytes of journal that a restart would read at most",
            )?,
            checkpoint_seconds: histogram(
                &registry,
                "streamkeeper_checkpoint_duration_seconds",
                "Time of one checkpoint of the state store, syncing of segments included",
            )?,
            load_seconds: float_gauge(
                &registry,
                "streamkeeper_load_duration_seconds",
                "Time from the start of the load of the data directory to its end",
            )?,
            loaded_records: gauge(&registry, "streamkeeper_loaded_records", "Keys that the load found")?,
            process: ProcessMetrics::register(&registry)?,
            registry,
        })
    }

    /// Sets the counts of groups.
    pub(crate) fn groups(&self, counts: &GroupCounts) {
        for (state, count) in STREAMS_STATES.iter().zip(counts.streams_by_state) {
            self.streams_groups.with_label_values(&[state]).set(count);
        }
        for (protocol, count) in PROTOCOLS.iter().zip(counts.by_protocol) {
            self.groups_by_protocol.with_label_values(&[protocol]).set(count);
        }
        self.committed_offsets.set(counts.committed_offsets);
    }

    /// Begins to time an fsync of the journal.
    pub(crate) fn time_journal_sync(&self) -> Timing<'_> {
        Timing::start(&self.journal_sync_seconds)
    }

    /// Begins to time a checkpoint.
    pub(crate) fn time_checkpoint(&self) -> Timing<'_> {
        Timing::start(&self.checkpoint_seconds)
    }

    /// Counts a round.
    pub(crate) fn journal_round(&self, entries: usize, bytes: u64, live_bytes: u64) {
        self.journal_live_bytes.set(i64::try_from(live_bytes).unwrap_or(i64::MAX));
        self.journal_rounds.inc();
        self.journal_entries.inc_by(u64::try_from(entries).unwrap_or(u64::MAX));
        self.journal_bytes.inc_by(bytes);
    }

    /// Notes what a load took and found.
    pub(crate) fn loaded(&self, seconds: f64, records: usize) {
        self.load_seconds.set(seconds);
        self.loaded_records.set(i64::try_from(records).unwrap_or(i64::MAX));
    }

    /// All metrics in Prometheus' text format.
    ///
    /// # Errors
    /// If a metric cannot be written: a fault of ours.
    pub(crate) fn text(&self) -> Result<Vec<u8>, prometheus::Error> {
        self.process.refresh();
        let mut text = Vec::new();
        TextEncoder::new().encode(&self.registry.gather(), &mut text)?;
        Ok(text)
    }
}

/// A running measurement; dropping it without [`Timing::done`] counts nothing.
pub(crate) struct Timing<'a> {
    histogram: &'a Histogram,
    started: Instant,
}

impl<'a> Timing<'a> {
    #[allow(clippy::disallowed_methods, reason = "a duration is measured here and nothing is decided by it")]
    fn start(histogram: &'a Histogram) -> Self {
        Self { histogram, started: Instant::now() }
    }

    /// Ends it.
    pub(crate) fn done(self) {
        self.histogram.observe(self.started.elapsed().as_secs_f64());
    }
}

fn gauge(registry: &Registry, name: &str, help: &str) -> Result<IntGauge, prometheus::Error> {
    let gauge = IntGauge::new(name, help)?;
    registry.register(Box::new(gauge.clone())).map(|()| gauge)
}

fn float_gauge(registry: &Registry, name: &str, help: &str) -> Result<Gauge, prometheus::Error> {
    let gauge = Gauge::new(name, help)?;
    registry.register(Box::new(gauge.clone())).map(|()| gauge)
}

fn counter(registry: &Registry, name: &str, help: &str) -> Result<IntCounter, prometheus::Error> {
    let counter = IntCounter::new(name, help)?;
    registry.register(Box::new(counter.clone())).map(|()| counter)
}

fn histogram(registry: &Registry, name: &str, help: &str) -> Result<Histogram, prometheus::Error> {
    let options = HistogramOpts::new(name, help).buckets(LATENCY_BUCKETS_SECONDS.to_vec());
    let histogram = Histogram::with_opts(options)?;
    registry.register(Box::new(histogram.clone())).map(|()| histogram)
}
