//! What integration tests share: the server as a process of its own, started, killed and started again.

#![allow(
    dead_code,
    clippy::indexing_slicing,
    reason = "each test binary uses a part of it, and a panic is a failed test"
)]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// A server process. Killed when dropped.
pub struct Process {
    child: Child,
    /// The line it printed when it was ready.
    pub ready: Value,
}

/// How to start a server.
pub struct Start {
    data_dir: PathBuf,
    port: u16,
    arguments: Vec<String>,
}

impl Start {
    /// On this data directory, on a free port.
    pub fn on(data_dir: &Path) -> Self {
        Self { data_dir: data_dir.to_owned(), port: 0, arguments: Vec::new() }
    }

    /// On this port.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// With a setting.
    pub fn set(mut self, key: &str, value: &str) -> Self {
        self.arguments.extend(["--override".to_owned(), format!("{key}={value}")]);
        self
    }

    /// With an argument.
    pub fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// The command, for those who want to see it fail.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_streamkeeper"));
        command
            .arg("serve")
            .arg("--data-dir")
            .arg(&self.data_dir)
            .args(["--listen", &format!("127.0.0.1:{}", self.port)])
            .args(["--http", "127.0.0.1:0"])
            .args(&self.arguments);
        command
    }

    /// Starts it and waits until it says that it is ready.
    pub fn start(&self) -> Process {
        let mut child = self.command().stdout(Stdio::piped()).spawn().expect("the server program starts");
        let stdout = child.stdout.take().expect("stdout is piped");
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).expect("the server prints a line");
        let ready = serde_json::from_str(&line).unwrap_or_else(|error| {
            let _ = child.kill();
            panic!("not a ready line: {line:?}: {error}")
        });
        Process { child, ready }
    }
}

impl Process {
    /// Where clients connect.
    pub fn bootstrap(&self) -> &str {
        self.ready["bootstrap"].as_str().expect("the ready line has a bootstrap address")
    }

    /// The port clients connect to.
    pub fn port(&self) -> u16 {
        let (_, port) = self.bootstrap().rsplit_once(':').expect("host:port");
        port.parse().expect("a port is a number")
    }

    /// Where `/metrics` is served.
    pub fn http(&self) -> &str {
        self.ready["http"].as_str().expect("the ready line has an http address")
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends it at once, as `kill -9` does.
    pub fn kill(mut self) {
        self.child.kill().expect("the process can be killed");
        self.child.wait().expect("the process ends");
    }

    /// Asks it to stop (SIGTERM) and waits. Returns its exit code.
    pub fn terminate(mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &pid]).status().expect("kill runs");
        assert!(sent.success());
        self.child.wait().expect("the process ends").code()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
