//! A data directory made, refused, locked.

use super::*;

fn open(path: &Path) -> Result<DataDir, StoreError> {
    DataDir::open(path, || ClusterId::from("4L6g3nShT-eMCtK--X86sw"))
}

fn names(path: &Path) -> Vec<String> {
    let names = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// A FORMAT file with a good checksum.
fn write_format(dir: &Path, version: u32, oldest_reader: u32) {
    let (writer, cluster_id) = ("9.1.0".to_owned(), ClusterId::from("c"));
    fs::write(dir.join("FORMAT"), Format { version, oldest_reader, writer, cluster_id }.text()).unwrap();
}

#[test]
fn an_absent_or_empty_directory_becomes_a_data_directory() {
    let dir = tempfile::tempdir().unwrap();
    for path in [dir.path().join("a/b/c"), dir.path().join("empty")] {
        if path.ends_with("empty") {
            fs::create_dir(&path).unwrap();
        }
        let data = open(&path).unwrap();
        assert!(data.is_new());
        assert_eq!(names(&path), ["FORMAT", "LOCK"]);
        drop(data);
        let data = DataDir::open(&path, || unreachable!("it has an id")).unwrap();
        assert!(!data.is_new());
        assert_eq!(data.cluster_id().as_str(), "4L6g3nShT-eMCtK--X86sw");
    }
}

/// The bytes of the file, for ever.
#[test]
fn golden_format_file() {
    let format =
        Format { version: 1, oldest_reader: 1, writer: "0.1.0".to_owned(), cluster_id: ClusterId::from("abc") };
    expect_test::expect![[r"
        streamkeeper data directory
        format=1
        oldest_reader=1
        writer=0.1.0
        cluster_id=abc
        crc32c=34b5be17
    "]]
    .assert_eq(&format.text());
    assert_eq!(Format::parse(format.text().as_bytes()), Ok(format));
}

#[test]
fn what_a_crash_left_of_a_directory_that_was_being_made_is_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("FORMAT.new"), "stre").unwrap();
    fs::write(dir.path().join("LOCK"), "").unwrap();
    assert!(open(dir.path()).unwrap().is_new());
    assert_eq!(names(dir.path()), ["FORMAT", "LOCK"]);
}

#[test]
fn a_directory_of_something_else_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("thesis.tex"), "").unwrap();
    let error = open(dir.path()).unwrap_err();
    assert!(error.to_string().contains("is not a data directory"), "{error}");
    assert_eq!(names(dir.path()), ["thesis.tex"]);
    let error = open(&dir.path().join("thesis.tex")).unwrap_err();
    assert!(error.to_string().contains("is not a directory"), "{error}");
}

#[test]
fn only_one_process_has_it() {
    let dir = tempfile::tempdir().unwrap();
    let data = open(dir.path()).unwrap();
    let error = open(dir.path()).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, StoreError::InUse { .. }), "{text}");
    assert!(text.contains(&format!("(pid {})", std::process::id())), "{text}");
    assert!(!DataDir::is_abandoned(dir.path()));
    drop(data);
    assert!(DataDir::is_abandoned(dir.path()));
    open(dir.path()).unwrap();
}

#[test]
fn a_newer_format_is_refused_with_what_to_do_unless_it_says_we_may_read_it() {
    let dir = tempfile::tempdir().unwrap();
    write_format(dir.path(), 3, 2);
    let error = open(dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::NewerFormat { format: 3, oldest_reader: 2, known: 1, .. }), "{error}");
    assert!(error.to_string().contains("Start Streamkeeper 9.1.0 or later"), "{error}");
    assert_eq!(names(dir.path()), ["FORMAT"], "nothing is changed");
    write_format(dir.path(), 3, 1);
    assert_eq!(open(dir.path()).unwrap().cluster_id().as_str(), "c");
}

#[test]
fn a_damaged_format_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()).unwrap());
    let path = dir.path().join("FORMAT");
    let good = fs::read(&path).unwrap();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        for bad in [&bad[..], &good[..at]] {
            fs::write(&path, bad).unwrap();
            let error = open(dir.path()).unwrap_err();
            assert!(matches!(error, StoreError::DamagedFormat { .. }), "byte {at}: {error}");
        }
    }
    fs::write(&path, &good).unwrap();
    open(dir.path()).unwrap();
}

#[test]
fn a_directory_that_cannot_be_written_says_so() {
    // No user, not even root, can make a directory there.
    let error = open(Path::new("/proc/streamkeeper")).unwrap_err();
    assert!(matches!(error, StoreError::NotWritable { .. } | StoreError::Io { action: "create", .. }), "{error}");
    let error = cannot_write("open", Path::new("/data"))(io::Error::from(io::ErrorKind::ReadOnlyFilesystem));
    assert!(error.to_string().contains("/data is not writable"), "{error}");
}
