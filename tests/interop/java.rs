//! An unmodified Kafka Streams application (`group.protocol=streams`), with the server killed under it.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use crate::support::Start;

/// The class path of the Java programs, built once; `None` if there is no Java here and that is all right.
fn class_path() -> Option<&'static str> {
    static BUILT: OnceLock<Option<String>> = OnceLock::new();
    BUILT.get_or_init(build).as_deref()
}

fn build() -> Option<String> {
    let is_there = |program: &str, argument: &str| {
        Command::new(program).arg(argument).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    };
    if !is_there("java", "-version") || !is_there("mvn", "-version") {
        let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
        assert!(!is_ci, "java and mvn must be there when CI=true");
        eprintln!("skipped: java or mvn is not installed, so the Kafka Streams tests cannot run");
        return None;
    }
    let module = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/interop/java");
    let built = Command::new("mvn").args(["-q", "-B", "package"]).current_dir(&module).status().expect("mvn runs");
    assert!(built.success(), "the Java programs build");
    let target = module.join("target");
    Some(format!("{}:{}/*", target.join("classes").display(), target.join("lib").display()))
}

/// A Java program of ours. Killed when dropped.
struct Java {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Java {
    fn start(class_path: &str, arguments: &[&str]) -> Self {
        let mut child = Command::new("java")
            .args(["-Xmx256m", "-cp", class_path])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .expect("java starts");
        let lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
        Self { child, lines }
    }

    /// Reads on until a line that begins with `word`.
    fn wait_for(&mut self, word: &str) -> String {
        for line in &mut self.lines {
            let line = line.expect("the program prints text");
            eprintln!("java: {line}");
            if line.starts_with(word) {
                return line;
            }
        }
        panic!("the program ended without saying {word}");
    }

    fn exit_code(mut self) -> Option<i32> {
        self.child.wait().expect("java ends").code()
    }
}

impl Drop for Java {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_streams_application_counts_on_while_the_server_is_killed() {
    let Some(class_path) = class_path() else { return };
    let dir = tempfile::tempdir().expect("a temporary folder");
    let start = Start::on(dir.path()).argument("--dev");
    let server = start.start();
    let (bootstrap, port) = (server.bootstrap().to_owned(), server.port());
    let mut application = Java::start(class_path, &["streamkeeper.WordCount", &bootstrap, "word-count", "1500"]);
    application.wait_for("STARTED");
    application.wait_for("HALFWAY");

    server.kill();
    let _server = start.port(port).start();

    let counts = application.wait_for("COUNTS");
    assert_eq!(application.exit_code(), Some(0), "counts were lost: {counts}");
}
