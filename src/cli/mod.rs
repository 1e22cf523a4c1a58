//! The command line.
//!
//! Data goes to stdout, everything else to stderr. An error is one sentence that says what, where and what to do, and
//! the exit code is 1 (2 for a command line that cannot be read).

mod serve;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tracing_subscriber::EnvFilter;

/// A durable single-node Kafka group coordinator and broker for Kafka Streams.
#[derive(Debug, Parser)]
#[command(name = "streamkeeper", version, infer_long_args = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the Kafka protocol from one data directory.
    Serve(serve::ServeArguments),
}

/// Runs the program.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    start_logging();
    let outcome = match arguments.command {
        Command::Serve(arguments) => serve::run(arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("streamkeeper: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Logs go to stderr; `STREAMKEEPER_LOG` filters them (`info` unless set).
fn start_logging() {
    let filter = EnvFilter::try_from_env("STREAMKEEPER_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false);
    // Only fails if a subscriber is set already, as in a test; then that one is used.
    let _ = subscriber.try_init();
}
