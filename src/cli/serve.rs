//! `streamkeeper serve`.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::config::{Config, ConfigError, Setting, parse_properties};
use crate::embed::{Server, StartError};

/// What `serve` takes.
#[derive(Args, Debug)]
pub(super) struct ServeArguments {
    /// The folder that holds all data; made if it is not there.
    #[arg(long, value_name = "DIR", default_value = "./data", conflicts_with = "ephemeral")]
    data_dir: PathBuf,
    /// Use a temporary folder without fsync that goes at exit.
    #[arg(long)]
    ephemeral: bool,
    /// Where clients connect; port 0 takes a free one.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:9092")]
    listen: String,
    /// What clients are told to connect to, if not the address listened on.
    #[arg(long, value_name = "HOST:PORT")]
    advertised_listener: Option<String>,
    /// Where /metrics, /healthz and /readyz are served; port 0 takes a free one.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:9464")]
    http: String,
    /// For development and tests: no initial rebalance delay, short intervals.
    #[arg(long)]
    dev: bool,
    /// A file of settings under Kafka's names.
    #[arg(long, value_name = "FILE.properties")]
    config: Option<PathBuf>,
    /// One setting; may be given several times and wins over the file.
    #[arg(long = "override", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
}

/// Why the server could not start or had to end.
#[derive(Debug, thiserror::Error)]
pub(super) enum ServeError {
    #[error("cannot read {path}: {error}")]
    ConfigFile { path: String, error: std::io::Error },
    #[error("--override {0:?} is not of the form KEY=VALUE")]
    Override(String),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("cannot start: {0}")]
    System(std::io::Error),
    #[error("a write failed and the server has ended ({0}); what was acknowledged is safe, start it again")]
    Failed(String),
}

/// Serves until a signal or a failure.
pub(super) fn run(arguments: ServeArguments) -> Result<(), ServeError> {
    let config = settings(&arguments)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(ServeError::System)?;
    runtime.block_on(serve(arguments, config))
}

async fn serve(arguments: ServeArguments, config: Config) -> Result<(), ServeError> {
    // Taken before the start, so that a signal during a long load is not lost.
    let mut stop = StopSignals::new().map_err(ServeError::System)?;
    if arguments.dev {
        tracing::warn!("--dev: no initial rebalance delay, short intervals; not for production");
    }
    let mut builder = Server::builder().listen(&arguments.listen).http(&arguments.http).config(config);
    builder = if arguments.ephemeral { builder.ephemeral() } else { builder.data_dir(&arguments.data_dir) };
    if let Some(address) = &arguments.advertised_listener {
        builder = builder.advertised_listener(address);
    }
    let server = tokio::select! {
        started = builder.start() => started?,
        () = stop.received() => return Ok(()),
    };
    say_ready(&server).map_err(ServeError::System)?;
    let failed = tokio::select! {
        failed = server.failed() => Some(failed),
        () = stop.received() => None,
    };
    if failed.is_none() {
        tracing::info!("stopping");
    }
    let stopped = server.stop().await;
    match (failed, stopped) {
        (Some(failed), _) | (None, Err(failed)) => Err(ServeError::Failed(failed.to_string())),
        (None, Ok(())) => Ok(()),
    }
}

/// SIGTERM and SIGINT.
struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    fn new() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn received(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

#[derive(Serialize)]
struct ReadyLine<'a> {
    ready: bool,
    bootstrap: &'a str,
    http: &'a str,
    pid: u32,
    data_dir: PathBuf,
    ready_ms: u64,
    loaded: LoadedCounts,
}

#[derive(Serialize)]
struct LoadedCounts {
    groups: usize,
    records: usize,
}

/// One line of JSON on stdout: scripts wait for it.
fn say_ready(server: &Server) -> std::io::Result<()> {
    let http = server.http_address().map(|address| address.to_string()).unwrap_or_default();
    let loaded = server.loaded();
    let data_dir = server.data_dir();
    let line = ReadyLine {
        ready: true,
        bootstrap: server.bootstrap(),
        http: &http,
        pid: std::process::id(),
        data_dir: fs::canonicalize(&data_dir).unwrap_or(data_dir),
        ready_ms: u64::try_from(server.ready_after().as_millis()).unwrap_or(u64::MAX),
        loaded: LoadedCounts { groups: loaded.groups, records: loaded.records },
    };
    let mut stdout = std::io::stdout().lock();
    serde_json::to_writer(&mut stdout, &line)?;
    stdout.write_all(b"\n")?;
    stdout.flush()
}

/// Settings of the file, then of `--dev`, then of `--override`; the last one wins.
fn settings(arguments: &ServeArguments) -> Result<Config, ServeError> {
    let mut settings = Vec::new();
    if let Some(path) = &arguments.config {
        let text = fs::read_to_string(path)
            .map_err(|error| ServeError::ConfigFile { path: path.display().to_string(), error })?;
        settings.extend(parse_properties(&path.display().to_string(), &text)?);
    }
    if arguments.dev {
        settings.extend(DEV_SETTINGS.iter().map(|(key, value)| Setting {
            key: (*key).to_owned(),
            value: (*value).to_owned(),
            place: "--dev".to_owned(),
        }));
    }
    let mut overrides = Vec::new();
    for given in &arguments.overrides {
        let (key, value) = given.split_once('=').ok_or_else(|| ServeError::Override(given.clone()))?;
        overrides.push((key.to_owned(), value.to_owned()));
    }
    let (config, warnings) = Config::from_sources(&settings, &overrides)?;
    for warning in warnings {
        tracing::warn!("{warning}");
    }
    Ok(config)
}

/// What `--dev` means: an application of one instance gets its tasks with its first heartbeat.
const DEV_SETTINGS: &[(&str, &str)] = &[
    ("group.streams.initial.rebalance.delay.ms", "0"),
    ("group.streams.assignment.interval.ms", "0"),
    ("group.streams.min.heartbeat.interval.ms", "100"),
    ("group.streams.heartbeat.interval.ms", "500"),
    ("group.streams.min.session.timeout.ms", "1000"),
    ("group.streams.session.timeout.ms", "10000"),
];
