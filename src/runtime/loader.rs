//! The load: from a data directory to a machine that stands where the last acknowledged change left it.
//!
//! 1. The journal's entries behind the store's checkpoint are read: keys are laid over the store's, the last value of
//!    each; batches are passed over.
//! 2. Store and overlay are replayed in key order. The order does not matter to the cores, so this is the whole of it.
//! 3. The logs are cut to the heads of the checkpoint, and the journal's batches are appended again.
//!
//! Nothing is changed on disk before the directory is known to be ours, whole and of a format we read.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;

use super::dirty::Dirty;
use super::engine::{Engine, Identity};
use super::log_thread::segment_settings;
use super::{Durability, Loaded, OpenError, Options, persist};
use crate::disk::{Disk, RealDisk};
use crate::heads;
use crate::journal::{self, Entry, Item, Journal, JournalError};
use crate::log::{FolderFate, LogOptions, LogWriter, Logs, RecoveredHead};
use crate::machine::{Env, Rng};
use crate::protocol::batch::{BatchHeader, BatchMeta};
use crate::store::{DataDir, SledStore, StateStore, StoreError};
use crate::types::{ClusterId, Image, Lsn, Offset, TopicId, TopicPartition};

/// Everything a load gives.
pub(super) struct Opened {
    pub(super) dir: DataDir,
    pub(super) engine: Engine,
    pub(super) journal: Journal,
    pub(super) store: Box<dyn StateStore>,
    pub(super) logs: Arc<Logs>,
    pub(super) log_writer: LogWriter,
    pub(super) checkpoint: Lsn,
    /// The journal's changes behind the checkpoint: what the next one has to store.
    pub(super) dirty: Dirty,
    pub(super) loaded: Loaded,
}

/// A journal file is full at this size.
const JOURNAL_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// Loads a data directory, making it first if there is none.
pub(super) fn load(options: &Options) -> Result<Opened, OpenError> {
    let mut env = Env {
        now: options.clock.now(),
        rng: Rng::from_seed(options.seed),
        image: Arc::default(),
        config: Arc::clone(&options.config),
    };
    let dir =
        DataDir::open(&options.data_dir, || ClusterId::from(TopicId::from_bytes(env.rng.uuid_bytes()).to_string()))?;
    if dir.is_new() {
        tracing::info!(dir = %options.data_dir.display(), "made a new data directory");
    }
    let identity = Identity { cluster_id: dir.cluster_id().clone(), node_id: options.config.node_id };
    let is_synced = options.durability != Durability::Ephemeral;
    let mut store: Box<dyn StateStore> = Box::new(SledStore::open(&dir)?);
    let checkpoint = store.checkpoint_lsn()?;

    let disk: Arc<dyn Disk> = Arc::new(if is_synced { RealDisk::new() } else { RealDisk::without_sync() });
    let journal_options =
        journal::Options { disk: Arc::clone(&disk), dir: dir.journal_dir(), file_bytes: JOURNAL_FILE_BYTES };
    let mut suffix = Suffix::default();
    let (journal, recovered) = Journal::open(&journal_options, checkpoint, &mut |entry| {
        suffix.note(&entry);
        Ok(())
    })?;
    if let Some(cut) = &recovered.cut {
        tracing::info!(file = %cut.file.display(), offset = cut.offset, "cut off rounds that were never acknowledged");
    }

    let mut engine = Engine::new(env);
    let records = replay(&mut engine, store.as_mut(), &suffix)?;
    let heads = engine.heads().iter().map(|(partition, head)| recovered_head(partition, head)).collect::<Vec<_>>();
    let image = Arc::clone(engine.image());
    let log_options = LogOptions::new(disk, dir.logs_dir());
    let (mut log_writer, logs) =
        LogWriter::open(&log_options, checkpoint, heads.into_iter(), &|partition| fate_of(partition, &image, &suffix))?;
    append_again(&journal_options, checkpoint, options, &mut engine, &mut log_writer)?;
    for (partition, head) in engine.heads().iter() {
        logs.publish(partition, head.next_offset);
        logs.raise_log_start(partition, head.log_start);
    }
    engine.loaded(recovered.last, &identity);
    let loaded = Loaded { groups: engine.coordinator().group_count(), records };
    Ok(Opened { dir, engine, journal, store, logs, log_writer, checkpoint, dirty: suffix.dirty, loaded })
}

/// What the journal holds behind the checkpoint, but for the batches themselves.
#[derive(Default)]
struct Suffix {
    /// As the next checkpoint needs it.
    dirty: Dirty,
    deleted_topics: BTreeSet<TopicId>,
}

impl Suffix {
    fn note(&mut self, entry: &Entry) {
        self.dirty.note(entry);
        for item in &entry.items {
            if let Item::Delete { key } = item
                && let Ok((_, persist::Record::Catalog(crate::catalog::Record::Topic { topic_id, .. }))) =
                    persist::read(key, None)
            {
                self.deleted_topics.insert(topic_id);
            }
        }
    }
}

/// Replays the store with the journal's last values laid over it. Returns how many keys there are.
fn replay(engine: &mut Engine, store: &mut dyn StateStore, suffix: &Suffix) -> Result<usize, OpenError> {
    let mut records = 0;
    let mut feed = |key: &[u8], value: Option<&[u8]>| {
        let Some(value) = value else { return Ok(()) };
        let (lsn, record) = persist::read(key, Some(value))?;
        engine.load(lsn, &record);
        records += 1;
        Ok::<(), StoreError>(())
    };
    let mut overlay = suffix.dirty.values().peekable();
    store.load(&mut |key, value| {
        while let Some((key, value)) = overlay.next_if(|(changed, _)| changed.as_ref() <= key) {
            feed(key, value.map(Bytes::as_ref))?;
        }
        if suffix.dirty.covers(key) { Ok(()) } else { feed(key, Some(value)) }
    })?;
    for (key, value) in overlay {
        feed(key, value.map(Bytes::as_ref))?;
    }
    Ok(records)
}

fn recovered_head(partition: TopicPartition, head: &heads::Head) -> RecoveredHead {
    RecoveredHead { partition, next_offset: head.next_offset, log_start: head.log_start }
}

fn fate_of(partition: TopicPartition, image: &Image, suffix: &Suffix) -> FolderFate {
    if image.topic_by_id(partition.topic_id).is_some() {
        FolderFate::Live
    } else if suffix.deleted_topics.contains(&partition.topic_id) {
        FolderFate::Deleted
    } else {
        FolderFate::Unknown
    }
}

/// Appends the journal's batches to the heads and to the logs, but for topics that are gone.
fn append_again(
    journal: &journal::Options,
    checkpoint: Lsn,
    options: &Options,
    engine: &mut Engine,
    logs: &mut LogWriter,
) -> Result<(), OpenError> {
    let image = Arc::clone(engine.image());
    Journal::read(journal, checkpoint, &mut |entry| {
        for item in entry.items {
            if let Item::Delete { key } = &item
                && let Ok((_, record @ persist::Record::Heads(heads::Record::Producer { .. }))) =
                    persist::read(key, None)
            {
                // A producer that was forgotten between its appends: here the order matters.
                engine.load(entry.lsn, &record);
            }
            let Item::Append { partition, base_offset, batch } = item else { continue };
            if image.topic_by_id(partition.topic_id).is_none() {
                continue;
            }
            let settings = segment_settings(&image, &options.config, partition.topic_id);
            let appended = logs.append(partition, Offset(base_offset), &batch, &settings, options.clock.now());
            appended.map_err(|error| JournalError::Refused(Box::new(error)))?;
            if let Ok(header) = BatchHeader::parse(&batch) {
                let (base_offset, meta) = (Offset(base_offset), BatchMeta::from(&header));
                let record = heads::Record::Append { partition, base_offset, meta, batch };
                engine.load(entry.lsn, &persist::Record::Heads(record));
            }
        }
        Ok(())
    })?;
    Ok(())
}
