//! The data directory: who made it, in which format, and that only one process has it.
//!
//! `FORMAT` is a short text with a checksum, written once, by a temporary file and a rename. `LOCK` is locked while the
//! process lives; the process id in it is for the message only. Whatever refuses to open has changed nothing.

#[cfg(test)]
mod tests;

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use super::StoreError;
use super::migrate::{self, FORMAT, OLDEST_READER};
use crate::types::ClusterId;

const FORMAT_FILE: &str = "FORMAT";
/// The temporary file; left over by a crash, it means nothing.
const NEW_FORMAT_FILE: &str = "FORMAT.new";
const LOCK_FILE: &str = "LOCK";
/// More than a FORMAT file ever has.
const MAX_FORMAT_BYTES: u64 = 4096;

const TITLE: &str = "streamkeeper data directory\n";
const CRC_LINE: &str = "crc32c=";

/// A data directory that is open and locked.
#[derive(Debug)]
pub(crate) struct DataDir {
    path: PathBuf,
    cluster_id: ClusterId,
    is_new: bool,
    _lock: File,
}

/// What the FORMAT file says.
#[derive(Debug, PartialEq, Eq)]
struct Format {
    version: u32,
    oldest_reader: u32,
    writer: String,
    cluster_id: ClusterId,
}

impl DataDir {
    /// Opens a data directory and locks it. One that is absent or empty is made, for a cluster of a new id.
    pub(crate) fn open(path: &Path, new_cluster_id: impl FnOnce() -> ClusterId) -> Result<Self, StoreError> {
        let is_there = check_place(path)?;
        if let Some(format) = Format::read(path)? {
            format.check(path)?;
        }
        if !is_there {
            create_dirs(path)?;
        }
        let lock = lock(path)?;
        // Only now nobody else can be making it.
        let found = Format::read(path)?;
        let is_new = found.is_none();
        let format = match found {
            Some(format) => format,
            None => Format::write_new(path, new_cluster_id())?,
        };
        format.check(path)?;
        Ok(Self { path: path.to_owned(), cluster_id: format.cluster_id, is_new, _lock: lock })
    }

    /// Whether this is a data directory whose process is gone.
    pub(crate) fn is_abandoned(path: &Path) -> bool {
        let Ok(lock) = File::open(path.join(LOCK_FILE)) else { return false };
        lock.try_lock().is_ok() && matches!(Format::read(path), Ok(Some(_)))
    }

    /// The directory itself.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The id of the cluster that the data belong to.
    pub(crate) fn cluster_id(&self) -> &ClusterId {
        &self.cluster_id
    }

    /// Whether it was made just now.
    pub(crate) fn is_new(&self) -> bool {
        self.is_new
    }

    /// Where the journal is.
    pub(crate) fn journal_dir(&self) -> PathBuf {
        self.path.join("journal")
    }

    /// Where the state store is.
    pub(crate) fn store_dir(&self) -> PathBuf {
        self.path.join("state")
    }

    /// Where the partition logs are.
    pub(crate) fn logs_dir(&self) -> PathBuf {
        self.path.join("logs")
    }
}

/// Whether the directory is there. Refuses what cannot become a data directory.
fn check_place(path: &Path) -> Result<bool, StoreError> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(StoreError::NotADirectory { path: path.to_owned() });
        }
        Err(error) => return Err(StoreError::io("list", path)(error)),
    };
    let (mut has_format, mut has_others) = (false, false);
    for entry in entries {
        let name = entry.map_err(StoreError::io("list", path))?.file_name();
        has_format |= name == FORMAT_FILE;
        has_others |= name != FORMAT_FILE && name != NEW_FORMAT_FILE && name != LOCK_FILE;
    }
    if has_others && !has_format {
        return Err(StoreError::NotADataDirectory { path: path.to_owned() });
    }
    Ok(true)
}

/// Makes a directory and those above it, names durable.
fn create_dirs(path: &Path) -> Result<(), StoreError> {
    let missing: Vec<_> = path.ancestors().take_while(|dir| !dir.as_os_str().is_empty() && !dir.exists()).collect();
    fs::create_dir_all(path).map_err(cannot_write("create", path))?;
    for dir in missing {
        let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
        sync(parent.unwrap_or(Path::new(".")))?;
    }
    Ok(())
}

fn sync(dir: &Path) -> Result<(), StoreError> {
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(StoreError::io("sync", dir))
}

fn cannot_write(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    move |source| match source.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            StoreError::NotWritable { path: path.to_owned(), source }
        }
        _ => StoreError::io(action, path)(source),
    }
}

fn lock(path: &Path) -> Result<File, StoreError> {
    let lock_path = path.join(LOCK_FILE);
    let open = File::options().read(true).write(true).create(true).truncate(false).open(&lock_path);
    let mut lock = open.map_err(cannot_write("open the lock in", path))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut pid = String::new();
            let is_pid = lock.take(20).read_to_string(&mut pid).is_ok() && pid.trim().parse::<u32>().is_ok();
            let holder = if is_pid { format!(" (pid {})", pid.trim()) } else { String::new() };
            return Err(StoreError::InUse { path: path.to_owned(), holder });
        }
        Err(TryLockError::Error(source)) => return Err(StoreError::io("lock", &lock_path)(source)),
    }
    let written = lock.set_len(0).and_then(|()| lock.rewind()).and_then(|()| writeln!(lock, "{}", std::process::id()));
    written.map_err(cannot_write("write the lock in", path))?;
    Ok(lock)
}

impl Format {
    fn read(dir: &Path) -> Result<Option<Self>, StoreError> {
        let path = dir.join(FORMAT_FILE);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound) => return Ok(None),
            Err(error) => return Err(StoreError::io("open", &path)(error)),
        };
        let mut bytes = Vec::new();
        file.take(MAX_FORMAT_BYTES).read_to_end(&mut bytes).map_err(StoreError::io("read", &path))?;
        let format = Self::parse(&bytes);
        format.map(Some).map_err(|what| StoreError::DamagedFormat { path, what })
    }

    /// The text without its last line is what the checksum is over. Lines that are not known are passed over.
    fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        let text = std::str::from_utf8(bytes).map_err(|_| "it is not text")?;
        let body = text.strip_prefix(TITLE).ok_or("it does not begin as a FORMAT file does")?;
        let crc_start = text.rfind(CRC_LINE).ok_or("it has no checksum")?;
        let (checked, crc_line) = text.split_at_checked(crc_start).ok_or("it has no checksum")?;
        let crc = crc_line.strip_prefix(CRC_LINE).and_then(|crc| crc.strip_suffix('\n')).unwrap_or_default();
        if crc.len() != 8 || u32::from_str_radix(crc, 16) != Ok(crc32c::crc32c(checked.as_bytes())) {
            return Err("its checksum is wrong");
        }
        let value = |name: &str| body.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        let number = |name: &str| value(name).and_then(|text| text.parse::<u32>().ok());
        Ok(Self {
            version: number("format").ok_or("it does not say its format")?,
            oldest_reader: number("oldest_reader").ok_or("it does not say who may read it")?,
            writer: value("writer").ok_or("it does not say who wrote it")?.to_owned(),
            cluster_id: ClusterId::from(value("cluster_id").ok_or("it does not say its cluster id")?),
        })
    }

    fn text(&self) -> String {
        let Self { version, oldest_reader, writer, cluster_id } = self;
        let body = format!(
            "{TITLE}format={version}\noldest_reader={oldest_reader}\nwriter={writer}\ncluster_id={cluster_id}\n"
        );
        let crc = crc32c::crc32c(body.as_bytes());
        format!("{body}{CRC_LINE}{crc:08x}\n")
    }

    fn check(&self, dir: &Path) -> Result<(), StoreError> {
        if migrate::is_readable(self.oldest_reader) {
            return Ok(());
        }
        Err(StoreError::NewerFormat {
            path: dir.to_owned(),
            format: self.version,
            oldest_reader: self.oldest_reader,
            known: FORMAT,
            writer: self.writer.clone(),
        })
    }

    fn write_new(dir: &Path, cluster_id: ClusterId) -> Result<Self, StoreError> {
        let writer = env!("CARGO_PKG_VERSION").to_owned();
        let format = Self { version: FORMAT, oldest_reader: OLDEST_READER, writer, cluster_id };
        let new_path = dir.join(NEW_FORMAT_FILE);
        let write = || {
            let mut file = File::create(&new_path)?;
            file.write_all(format.text().as_bytes())?;
            file.sync_all()?;
            fs::rename(&new_path, dir.join(FORMAT_FILE))
        };
        write().map_err(cannot_write("write", &new_path))?;
        sync(dir)?;
        Ok(format)
    }
}
