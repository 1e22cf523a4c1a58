//! A whole server: Kafka listener, HTTP listener, and the machine behind them.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{ServerFailed, StartError, ephemeral};
use crate::config::Config;
use crate::metrics::Metrics;
use crate::runtime::{Clock, Durability, Loaded, Options, Runtime, Status, random_seed};
use crate::server::{self, Endpoint, http};
use crate::types::TimestampMs;

/// Where a manual clock begins, unless told otherwise: 2020-01-01 UTC.
const MANUAL_CLOCK_START: TimestampMs = TimestampMs(1_577_836_800_000);

/// How to start a [`Server`].
#[derive(Clone, Debug)]
pub struct ServerBuilder {
    data_dir: Option<PathBuf>,
    listen: String,
    advertised: Option<String>,
    http: Option<String>,
    config: Config,
    clock: Option<Clock>,
    seed: Option<u64>,
}

impl ServerBuilder {
    /// Keeps everything in this folder, which is made if it is not there. The default is `./data`.
    #[must_use]
    pub fn data_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.data_dir = Some(dir.into());
        self
    }

    /// Keeps everything in a temporary folder, without fsync; it goes when the server is stopped or dropped.
    #[must_use]
    pub fn ephemeral(mut self) -> Self {
        self.data_dir = None;
        self
    }

    /// Where Kafka clients connect, `HOST:PORT`; port 0 (the default) takes a free one.
    #[must_use]
    pub fn listen(mut self, address: impl Into<String>) -> Self {
        self.listen = address.into();
        self
    }

    /// What clients are told to connect to, `HOST:PORT`; the address listened on unless set.
    #[must_use]
    pub fn advertised_listener(mut self, address: impl Into<String>) -> Self {
        self.advertised = Some(address.into());
        self
    }

    /// Serves `/metrics`, `/healthz` and `/readyz` here, `HOST:PORT`; nowhere unless set.
    #[must_use]
    pub fn http(mut self, address: impl Into<String>) -> Self {
        self.http = Some(address.into());
        self
    }

    /// The settings.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Time stands still until [`Server::clock`] is moved: a test of a 45-second timeout takes milliseconds.
    #[must_use]
    pub fn manual_clock(mut self) -> Self {
        self.clock = Some(Clock::manual(MANUAL_CLOCK_START));
        self
    }

    /// The seed of the server's random numbers (topic ids); a random one unless set.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Starts the server. When this returns, everything it ever acknowledged is there and it answers.
    ///
    /// # Errors
    /// [`StartError`] if an address is taken, or the data directory is in use, damaged, of a newer format or cannot be
    /// written. Nothing is changed then.
    pub async fn start(self) -> Result<Server, StartError> {
        match &self.data_dir {
            Some(dir) => {
                let dir = Folder::Kept(dir.clone());
                self.start_in(dir).await
            }
            None => {
                let dir = Folder::Temporary(ephemeral::make()?);
                self.start_in(dir).await
            }
        }
    }

    async fn start_in(mut self, folder: Folder) -> Result<Server, StartError> {
        let started = now();
        let listener = listen(&self.listen).await?;
        let http_listener = match &self.http {
            Some(address) => Some(listen(address).await?),
            None => None,
        };
        let metrics = Arc::new(Metrics::new().map_err(|error| StartError::Internal(error.to_string()))?);
        let (status_shown, status) = watch::channel(None);
        let stop = CancellationToken::new();
        let mut tasks = Vec::new();
        let http_address = http_listener.as_ref().map(local_address);
        if let Some(listener) = http_listener {
            let state = Arc::new(http::HttpState { metrics: Arc::clone(&metrics), status });
            tasks.push(tokio::spawn(http::serve(listener, state, stop.clone())));
        }

        let clock = self.clock.get_or_insert_with(Clock::system).clone();
        let seed = *self.seed.get_or_insert_with(random_seed);
        let options = Options {
            data_dir: folder.path(),
            durability: folder.durability(&self.config),
            config: Arc::new(self.config.clone()),
            clock: clock.clone(),
            seed,
            metrics: Arc::clone(&metrics),
        };
        let opened = tokio::task::spawn_blocking(move || Runtime::load(&options)).await;
        let opened = opened.map_err(|error| StartError::Internal(error.to_string()))??;
        let runtime = opened.start();
        metrics.loaded(started.elapsed().as_secs_f64(), runtime.loaded().records);

        let bound = local_address(&listener);
        let advertised = advertised(self.advertised.as_deref(), &self.listen, bound)?;
        let bootstrap = format!("{}:{}", advertised.host.as_str(), advertised.port);
        let server_options =
            server::Options { handle: runtime.handle().clone(), advertised, metrics, seed: seed ^ random_seed() };
        tasks.push(tokio::spawn(server::serve(listener, server_options, stop.clone())));
        tasks.push(tokio::spawn(show_status(runtime.handle().status(), status_shown, stop.clone())));
        // A restart takes the same addresses again, so that clients find it.
        self.listen = bound.to_string();
        self.http = http_address.map(|address| address.to_string());
        let ready_after = started.elapsed();
        Ok(Server { builder: self, folder, bootstrap, http_address, runtime, stop, tasks, clock, ready_after })
    }
}

/// A running server. Dropping it without [`Server::stop`] ends it abruptly; nothing acknowledged is lost.
pub struct Server {
    builder: ServerBuilder,
    folder: Folder,
    bootstrap: String,
    http_address: Option<SocketAddr>,
    runtime: Runtime,
    stop: CancellationToken,
    tasks: Vec<JoinHandle<()>>,
    clock: Clock,
    ready_after: Duration,
}

impl Server {
    /// A server with default settings on a free port of 127.0.0.1, in a temporary folder unless told otherwise.
    #[must_use]
    pub fn builder() -> ServerBuilder {
        ServerBuilder {
            data_dir: None,
            listen: "127.0.0.1:0".to_owned(),
            advertised: None,
            http: None,
            config: Config::default(),
            clock: None,
            seed: None,
        }
    }

    /// What to give clients as `bootstrap.servers`.
    #[must_use]
    pub fn bootstrap(&self) -> &str {
        &self.bootstrap
    }

    /// Where `/metrics` is served, if it is.
    #[must_use]
    pub fn http_address(&self) -> Option<SocketAddr> {
        self.http_address
    }

    /// The folder that holds all data.
    #[must_use]
    pub fn data_dir(&self) -> PathBuf {
        self.folder.path()
    }

    /// The server's clock; a manual one can be moved.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// What the load found.
    #[must_use]
    pub fn loaded(&self) -> Loaded {
        self.runtime.loaded()
    }

    /// How long the start took.
    #[must_use]
    pub fn ready_after(&self) -> Duration {
        self.ready_after
    }

    /// Returns when a write has failed and the server can no longer work; otherwise never.
    pub async fn failed(&self) -> ServerFailed {
        let mut status = self.runtime.handle().status();
        loop {
            if let Status::Failed(failure) = &*status.borrow_and_update() {
                return ServerFailed(failure.to_string());
            }
            if status.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Stops: listeners close, requests under way are answered, a last checkpoint is made. Bounded in time.
    ///
    /// # Errors
    /// [`ServerFailed`] if a write had failed. What was acknowledged is durable either way.
    pub async fn stop(self) -> Result<(), ServerFailed> {
        self.stop.cancel();
        for task in self.tasks {
            // The tasks are ours; one that panicked has said so.
            let _ = task.await;
        }
        self.runtime.stop().await.map_err(|failure| ServerFailed(failure.to_string()))
    }

    /// Ends the server as a crash would, dropping everything that is not durable yet, and starts it again on the same
    /// addresses and data.
    ///
    /// # Errors
    /// [`StartError`] if it does not come back.
    pub async fn crash_and_restart(self) -> Result<Self, StartError> {
        for task in &self.tasks {
            task.abort();
        }
        for task in self.tasks {
            let _ = task.await;
        }
        self.runtime.crash().await;
        self.builder.start_in(self.folder).await
    }
}

/// The data directory.
#[derive(Debug)]
enum Folder {
    Kept(PathBuf),
    Temporary(TempDir),
}

impl Folder {
    fn path(&self) -> PathBuf {
        match self {
            Self::Kept(path) => path.clone(),
            Self::Temporary(dir) => dir.path().to_owned(),
        }
    }

    fn durability(&self, config: &Config) -> Durability {
        match self {
            Self::Kept(_) => Durability::configured(config),
            Self::Temporary(_) => Durability::Ephemeral,
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "how long a start takes is measured, nothing is decided by it")]
fn now() -> Instant {
    Instant::now()
}

async fn listen(address: &str) -> Result<TcpListener, StartError> {
    let listener = TcpListener::bind(address).await;
    listener.map_err(|source| StartError::Listen { address: address.to_owned(), source })
}

fn local_address(listener: &TcpListener) -> SocketAddr {
    // A listener that is bound knows its address.
    listener.local_addr().unwrap_or_else(|_| SocketAddr::from(([127, 0, 0, 1], 0)))
}

/// What clients are told. A wildcard address is of no use to them, so the host name given to listen on is not either.
fn advertised(given: Option<&str>, listen: &str, bound: SocketAddr) -> Result<Endpoint, StartError> {
    let address = given.unwrap_or(listen);
    let bad_address = || StartError::Address(address.to_owned());
    let (host, port) = address.rsplit_once(':').ok_or_else(bad_address)?;
    let port: u16 = port.parse().map_err(|_| bad_address())?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let host = if given.is_none() && bound.ip().is_unspecified() { "127.0.0.1" } else { host };
    let port = if port == 0 { bound.port() } else { port };
    Ok(Endpoint { host: host.into(), port })
}

/// Shows the machine's status to the HTTP side.
async fn show_status(
    mut status: watch::Receiver<Status>,
    shown: watch::Sender<Option<Status>>,
    stop: CancellationToken,
) {
    loop {
        shown.send_replace(Some(status.borrow_and_update().clone()));
        tokio::select! {
            changed = status.changed() => if changed.is_err() { return },
            () = stop.cancelled() => return,
        }
    }
}
