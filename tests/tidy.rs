//! House rules that no lint checks: the arrows between the rooms, file sizes, headers, left-overs, and lists that must
//! stay in step. Each failure names file and line.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms of `src/` and their levels. A room may use rooms of lower levels only.
const ROOMS: &[(&str, u8)] = &[
    ("types", 0),
    ("protocol", 1),
    ("config", 1),
    ("machine", 1),
    ("metrics", 1),
    ("disk", 1),
    ("coordinator", 2),
    ("txn", 2),
    ("heads", 2),
    ("catalog", 2),
    ("journal", 2),
    ("store", 2),
    ("log", 2),
    ("client", 2),
    ("runtime", 3),
    ("server", 4),
    ("embed", 5),
    ("cli", 6),
];

/// `machine` hands the settings to the cores; otherwise rooms of one level do not know each other.
const SAME_LEVEL_ALLOWED: &[(&str, &str)] = &[("machine", "config")];

const CORES: &[&str] = &["coordinator", "txn", "heads", "catalog"];

/// What a core may not name: it has no I/O, no clock, no tasks, and no order that depends on a hash.
const NOT_IN_CORES: &[&str] =
    &["tokio", "std::fs", "std::net", "std::thread", "Instant", "SystemTime", "HashMap", "HashSet"];

/// Rooms that may be asynchronous.
const ASYNC_ROOMS: &[&str] = &["runtime", "server", "client", "embed", "cli", "bin"];

/// Crates that only one room may name, so that they can be replaced.
const ONE_ROOM_CRATES: &[(&str, &str)] =
    &[("kafka_wire", "protocol"), ("sled", "store"), ("bincode", "store"), ("prometheus", "metrics"), ("clap", "cli")];

const LINES_MAX: usize = 800;

struct Source {
    path: PathBuf,
    room: String,
    text: String,
}

impl Source {
    /// The lines that are code, with their numbers from 1: without comments and without the unit tests at the end.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let end = self.text.find("#[cfg(test)]\nmod tests {").unwrap_or(self.text.len());
        let (code, _) = self.text.split_at(end);
        let lines = code.lines().zip(1..).map(|(line, number)| (number, line));
        lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    fn is_test(&self) -> bool {
        self.path.components().any(|part| part.as_os_str() == "tests")
            || self.path.file_name().is_some_and(|name| name == "tests.rs")
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn files_under(dir: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries {
        let path = entry.expect("a directory entry can be read").path();
        if path.is_dir() {
            if !path.ends_with("target") {
                files_under(&path, extension, found);
            }
        } else if path.extension().is_some_and(|ext| ext == extension) {
            found.push(path);
        }
    }
    found.sort();
}

fn sources() -> Vec<Source> {
    let src = root().join("src");
    let mut paths = Vec::new();
    files_under(&src, "rs", &mut paths);
    assert!(paths.len() > 20, "the sources are found");
    let source = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a source file is text");
        let inside = path.strip_prefix(&src).expect("it lies in src");
        let first = inside.components().next().expect("it has a name").as_os_str().to_string_lossy().into_owned();
        Source { room: first.trim_end_matches(".rs").to_owned(), text, path: path.clone() }
    };
    paths.into_iter().map(source).collect()
}

fn fail_if_any(rule: &str, faults: &[String]) {
    assert!(faults.is_empty(), "{rule}:\n{}", faults.join("\n"));
}

fn at(source: &Source, line: usize) -> String {
    format!("{}:{line}", source.path.strip_prefix(root()).unwrap_or(&source.path).display())
}

/// The rooms named by `crate::…` in a line.
fn rooms_named(line: &str) -> Vec<String> {
    let mut named = Vec::new();
    for part in line.split("crate::").skip(1) {
        let inner = part.strip_prefix('{').map(|list| list.split_once('}').map_or(list, |(list, _)| list));
        match inner {
            Some(list) => named.extend(list.split(',').map(|item| first_word(item.trim()))),
            None => named.push(first_word(part)),
        }
    }
    named
}

fn first_word(text: &str) -> String {
    text.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
}

#[test]
fn arrows_between_rooms_point_down() {
    let levels: BTreeMap<&str, u8> = ROOMS.iter().copied().collect();
    let mut faults = Vec::new();
    for source in sources() {
        let Some(&own) = levels.get(source.room.as_str()) else {
            let is_top = ["lib", "bin"].contains(&source.room.as_str());
            if !is_top {
                faults.push(format!("{}: the room `{}` has no level in tests/tidy.rs", at(&source, 1), source.room));
            }
            continue;
        };
        for (number, line) in source.code() {
            for room in rooms_named(line) {
                let Some(&other) = levels.get(room.as_str()) else { continue };
                let is_allowed = room == source.room
                    || other < own
                    || SAME_LEVEL_ALLOWED.contains(&(source.room.as_str(), room.as_str()));
                if !is_allowed {
                    let (room_of, at) = (&source.room, at(&source, number));
                    faults.push(format!("{at}: `{room_of}` (level {own}) uses `{room}` (level {other})"));
                }
            }
        }
    }
    fail_if_any("a room may use rooms of lower levels only", &faults);
}

#[test]
fn cores_have_no_world() {
    let mut faults = Vec::new();
    for source in sources().iter().filter(|source| CORES.contains(&source.room.as_str()) && !source.is_test()) {
        for (number, line) in source.code() {
            faults.extend(
                NOT_IN_CORES
                    .iter()
                    .filter(|word| line.contains(*word))
                    .map(|word| format!("{}: `{word}`", at(source, number))),
            );
        }
    }
    fail_if_any("a core names no I/O, clock, task or hash order", &faults);
}

#[test]
fn only_the_shell_is_async() {
    let mut faults = Vec::new();
    for source in sources().iter().filter(|source| !ASYNC_ROOMS.contains(&source.room.as_str())) {
        for (number, line) in source.code() {
            if line.contains("async ") || line.contains(".await") {
                faults.push(at(source, number));
            }
        }
    }
    fail_if_any("only runtime, server, client, embed and cli are asynchronous", &faults);
}

#[test]
fn a_replaceable_crate_is_named_in_one_room() {
    let mut faults = Vec::new();
    for source in sources() {
        for (number, line) in source.code() {
            for (name, room) in ONE_ROOM_CRATES {
                if source.room != *room && line.contains(&format!("{name}::")) {
                    faults.push(format!("{}: `{name}` belongs to `{room}`", at(&source, number)));
                }
            }
        }
    }
    fail_if_any("some crates are named in one room only", &faults);
}

#[test]
fn files_are_small_and_say_what_they_are() {
    let mut faults = Vec::new();
    for source in sources() {
        let lines = source.text.lines().count();
        if lines > LINES_MAX {
            faults.push(format!("{}: {lines} lines, {LINES_MAX} are the most", at(&source, 1)));
        }
        if !source.text.starts_with("//!") {
            faults.push(format!("{}: does not begin with //!", at(&source, 1)));
        }
    }
    fail_if_any("a file has one subject and says it first", &faults);
}

#[test]
fn nothing_is_left_over() {
    let words = ["dbg!(", "todo!(", "unimplemented!(", "FIXME", "XXX:", "#[ignore]"];
    let mut faults = Vec::new();
    let mut paths = Vec::new();
    for folder in ["src", "tests", "benches", "migrations"] {
        files_under(&root().join(folder), "rs", &mut paths);
    }
    for path in paths.iter().filter(|path| !path.ends_with("tidy.rs")) {
        let text = fs::read_to_string(path).expect("a source file is text");
        for (line, number) in text.lines().zip(1..) {
            faults.extend(
                words
                    .iter()
                    .filter(|word| line.contains(*word))
                    .map(|word| format!("{}:{number}: {word}", path.display())),
            );
        }
    }
    fail_if_any("no left-overs", &faults);
}

#[test]
fn each_dependency_has_its_reason() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("there is a manifest");
    let architecture = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("there is an architecture");
    let mut faults = Vec::new();
    let mut is_in_table = false;
    for line in manifest.lines() {
        if let Some(table) = line.strip_prefix('[') {
            is_in_table = table.contains("dependencies");
            continue;
        }
        let Some((name, _)) = line.split_once('=') else { continue };
        let name = name.trim();
        if is_in_table && !name.is_empty() && !architecture.contains(&format!("`{name}`")) {
            faults.push(format!("{name}: no line in ARCHITECTURE.md"));
        }
    }
    fail_if_any("each dependency has a line in ARCHITECTURE.md that says why it is not our code", &faults);
}
