//! Opening the logs: each is cut back to its head, damage is refused, strangers are put aside.
//!
//! First everything is looked at and planned, so that a refusal leaves the disk as it was; then the plans are carried
//! out. Nothing is synced: a cut that a power loss undoes is made again at the next start, and the next checkpoint
//! syncs the folders. If the last checkpoint's list of segments agrees with heads and file lengths, no batch is read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};

use tracing::{info, warn};

use super::checkpoint::Doomed;
use super::error::LogError;
use super::facts::SegmentFacts;
use super::index::{self, INDEX_HEADER_BYTES, IndexEntry, ScanEnd};
use super::lru::Lru;
use super::manifest::{Manifest, Slot};
use super::names::{self, DELETE_SUFFIX, FileKind, QUARANTINE, file_path, folder_name};
use super::partition::{Bounds, PartitionLog};
use super::segment::Segment;
use super::tail::TailBudget;
use super::writer::{Growing, LogWriter, ManifestState, WrittenPartition};
use super::writer_files::WriterFiles;
use super::{LogOptions, Logs, Shared};
use crate::disk::{DirEntry, Disk, Open};
use crate::types::{Lsn, Offset, TopicPartition};

/// A partition's head as the state store has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecoveredHead {
    pub(crate) partition: TopicPartition,
    /// The log end at the checkpoint: everything below is in the segments, everything behind is in the journal.
    pub(crate) next_offset: Offset,
    /// The log start, as of the journal's end. May be above `next_offset`.
    pub(crate) log_start: Offset,
}

/// What a partition's folder is to the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FolderFate {
    /// The catalogue has the partition.
    Live,
    /// The catalogue had it when the checkpoint was made, or the journal made it, and the journal deletes it.
    Deleted,
    /// Nobody knows it.
    Unknown,
}

/// What a look at the disk has decided.
#[derive(Default)]
struct Plan {
    partitions: Vec<PartitionPlan>,
    /// Folders of deleted topics that were not renamed yet.
    delete: Vec<TopicPartition>,
    /// Folders of deleted topics that were.
    doomed: Vec<PathBuf>,
    quarantine: Vec<String>,
}

struct PartitionPlan {
    head: RecoveredHead,
    has_folder: bool,
    /// What stays, oldest first.
    segments: Vec<SegmentFacts>,
    /// The last segment's index, if it was built on the way.
    entries: Option<Vec<IndexEntry>>,
    /// Files that are longer than what stays of them. Beside the last one these may be closed ones: a cut is not
    /// synced, so a power loss may undo it after the segment was closed and another one begun.
    cut: Vec<(PathBuf, u64)>,
    remove: Vec<PathBuf>,
}

/// The files in a partition's folder.
#[derive(Default)]
struct Found {
    /// Base offset and length of each `.log`.
    logs: BTreeMap<Offset, u64>,
    indexes: BTreeSet<Offset>,
}

pub(super) fn open(
    options: &LogOptions,
    checkpoint: Lsn,
    heads: impl Iterator<Item = RecoveredHead>,
    fate: &dyn Fn(TopicPartition) -> FolderFate,
) -> Result<(LogWriter, Arc<Logs>), LogError> {
    let disk = &*options.disk;
    let heads: BTreeMap<_, _> = heads.map(|head| (head.partition, head)).collect();
    let (manifest, next) = load_manifest(disk, &options.dir, checkpoint);
    let plan = Plan::make(disk, &options.dir, heads, fate, &manifest)?;
    plan.carry_out(options, next)
}

/// The list that goes with the state store's checkpoint, and where the next one goes: not over that.
fn load_manifest(disk: &dyn Disk, dir: &Path, checkpoint: Lsn) -> (Manifest, ManifestState) {
    let load = |slot: Slot| Some((slot, Manifest::load(disk, &slot.path(dir))?));
    let mut found: Vec<_> = Slot::BOTH.into_iter().filter_map(load).collect();
    found.sort_by_key(|(_, manifest)| (manifest.lsn == checkpoint, manifest.generation));
    let generation = found.iter().map(|(_, manifest)| manifest.generation).max().unwrap_or(0);
    let best = found.pop();
    let next_slot = best.as_ref().map(|(slot, _)| slot.other()).unwrap_or_default();
    let manifest = best.map(|(_, manifest)| manifest).filter(|manifest| manifest.lsn == checkpoint);
    (manifest.unwrap_or_default(), ManifestState { next_slot, generation })
}

impl Plan {
    fn make(
        disk: &dyn Disk,
        dir: &Path,
        mut heads: BTreeMap<TopicPartition, RecoveredHead>,
        fate: &dyn Fn(TopicPartition) -> FolderFate,
        manifest: &Manifest,
    ) -> Result<Self, LogError> {
        let mut plan = Self::default();
        let is_there = disk.exists(dir).map_err(LogError::io("look for", dir))?;
        let entries = if is_there { disk.list(dir).map_err(LogError::io("list", dir))? } else { Vec::new() };
        for DirEntry { name, is_dir, .. } in entries {
            let deleted = name.strip_suffix(DELETE_SUFFIX).and_then(names::parse_folder_name);
            if is_dir && deleted.is_some() {
                plan.doomed.push(dir.join(name));
                continue;
            }
            let Some(partition) = names::parse_folder_name(&name).filter(|_| is_dir) else {
                if name != QUARANTINE && !Slot::is_name(&name) {
                    warn!(%name, dir = %dir.display(), "not a partition's folder, left alone");
                }
                continue;
            };
            match fate(partition) {
                FolderFate::Unknown => plan.quarantine.push(name),
                FolderFate::Deleted => plan.delete.push(partition),
                FolderFate::Live => {
                    let nothing = RecoveredHead { partition, next_offset: Offset(0), log_start: Offset(0) };
                    let head = heads.remove(&partition).unwrap_or(nothing);
                    plan.partitions.push(PartitionPlan::make(disk, &dir.join(name), head, manifest)?);
                }
            }
        }
        // What is left has no folder. That is right only where nothing was ever stored.
        for head in heads.into_values().filter(|head| fate(head.partition) == FolderFate::Live) {
            if head.next_offset.0 > 0 {
                let path = dir.join(folder_name(head.partition));
                let reason = "the folder of the partition is missing";
                return Err(LogError::Damaged { path, offset: head.log_start, position: 0, reason });
            }
            plan.partitions.push(PartitionPlan::empty(head, false));
        }
        Ok(plan)
    }

    fn carry_out(self, options: &LogOptions, manifests: ManifestState) -> Result<(LogWriter, Arc<Logs>), LogError> {
        let (disk, dir) = (&options.disk, &options.dir);
        disk.create_dir_all(dir).map_err(LogError::io("create", dir))?;
        let mut doomed: Vec<_> = self.doomed.into_iter().map(Doomed::Folder).collect();
        for name in self.quarantine {
            quarantine(&**disk, dir, &name)?;
        }
        for partition in self.delete {
            let from = dir.join(folder_name(partition));
            let to = dir.join(folder_name(partition) + DELETE_SUFFIX);
            disk.rename(&from, &to).map_err(LogError::io("rename", &from))?;
            doomed.push(Doomed::Folder(to));
        }
        let files_max = options.open_files_max / 2;
        let shared = Arc::new(Shared {
            disk: Arc::clone(disk),
            dir: dir.clone(),
            files: Lru::new(files_max),
            indexes: Lru::new(options.index_bytes_max),
        });
        let logs = Arc::new(Logs { shared: Arc::clone(&shared), partitions: RwLock::default() });
        let mut writer = LogWriter {
            shared,
            logs: Arc::clone(&logs),
            partitions: BTreeMap::new(),
            files: WriterFiles::new(Arc::clone(disk), files_max),
            tail: TailBudget::new(options.tail_bytes_max),
            last_segment_id: 0,
            manifests,
            dirty_folders: BTreeSet::new(),
            // What an earlier process named and did not sync is there, but may go with the power.
            is_root_dirty: true,
            is_root_new: true,
            doomed,
        };
        for partition in self.partitions {
            partition.carry_out(&mut writer)?;
        }
        let readable = writer.partitions.iter().map(|(partition, written)| (*partition, Arc::clone(&written.log)));
        *super::write(&logs.partitions) = readable.collect();
        Ok((writer, logs))
    }
}

fn quarantine(disk: &dyn Disk, dir: &Path, name: &str) -> Result<(), LogError> {
    let aside = dir.join(QUARANTINE);
    disk.create_dir_all(&aside).map_err(LogError::io("create", &aside))?;
    let taken = disk.list(&aside).map_err(LogError::io("list", &aside))?;
    let is_free = |name: &String| !taken.iter().any(|entry| entry.name == *name);
    let candidates = std::iter::once(name.to_owned()).chain((1..=taken.len()).map(|number| format!("{name}.{number}")));
    // There are more candidates than names taken.
    let to = aside.join(candidates.into_iter().find(is_free).unwrap_or_default());
    let from = dir.join(name);
    warn!(from = %from.display(), to = %to.display(), "folder of an unknown topic moved aside");
    disk.rename(&from, &to).map_err(LogError::io("rename", &from))
}

impl PartitionPlan {
    fn empty(head: RecoveredHead, has_folder: bool) -> Self {
        Self { head, has_folder, segments: Vec::new(), entries: None, cut: Vec::new(), remove: Vec::new() }
    }

    fn make(disk: &dyn Disk, folder: &Path, head: RecoveredHead, manifest: &Manifest) -> Result<Self, LogError> {
        let found = Found::list(disk, folder)?;
        let mut plan = Self::empty(head, true);
        let needed = found.needed(folder, &head)?;
        match listed(manifest, &head, &needed) {
            Some(segments) => plan.segments = segments.to_vec(),
            None => plan.use_files(disk, folder, &needed)?,
        }
        let longer = plan.segments.iter().zip(&needed).filter(|(facts, (_, len))| *len > facts.bytes);
        plan.cut =
            longer.map(|(facts, _)| (file_path(folder, facts.base_offset, FileKind::Log), facts.bytes)).collect();
        plan.remove_the_rest(folder, &found);
        Ok(plan)
    }

    /// Finds out from indexes and batches what the segments hold.
    fn use_files(&mut self, disk: &dyn Disk, folder: &Path, needed: &[(Offset, u64)]) -> Result<(), LogError> {
        for (place, (base_offset, len)) in needed.iter().enumerate() {
            let next = needed.get(place + 1).map(|(base_offset, _)| *base_offset);
            let end = ScanEnd { offset: next.unwrap_or(self.head.next_offset), bytes: *len };
            let from_index = facts_from_index(disk, &file_path(folder, *base_offset, FileKind::Index));
            let from_index = from_index.filter(|facts| {
                facts.base_offset == *base_offset && facts.next_offset == end.offset && facts.bytes <= *len
            });
            if let Some(facts) = from_index {
                self.segments.push(facts);
                continue;
            }
            let path = file_path(folder, *base_offset, FileKind::Log);
            let file = disk.open(&path, Open::Read).map_err(LogError::io("open", &path))?;
            let scanned = index::scan(file, *base_offset, end);
            let (facts, entries) = scanned.map_err(|error| error.in_file(&path))?;
            self.segments.push(facts);
            self.entries = next.is_none().then_some(entries);
        }
        Ok(())
    }

    /// Segments behind the head, segments below the log start, and indexes that belong to no closed segment.
    fn remove_the_rest(&mut self, folder: &Path, found: &Found) {
        let kept: BTreeSet<_> = self.segments.iter().map(|facts| facts.base_offset).collect();
        let growing = kept.last().copied();
        let is_closed = |base_offset: &Offset| kept.contains(base_offset) && Some(*base_offset) != growing;
        let indexes = found.indexes.iter().filter(|base_offset| !is_closed(base_offset));
        self.remove.extend(indexes.map(|base_offset| file_path(folder, *base_offset, FileKind::Index)));
        // The last ones first: a start that is cut short leaves a log without gaps.
        let logs = found.logs.keys().rev().filter(|base_offset| !kept.contains(base_offset));
        self.remove.extend(logs.map(|base_offset| file_path(folder, *base_offset, FileKind::Log)));
    }

    fn carry_out(self, writer: &mut LogWriter) -> Result<(), LogError> {
        let disk = Arc::clone(&writer.shared.disk);
        let partition = self.head.partition;
        for path in &self.remove {
            disk.remove_file(path).map_err(LogError::io("remove", path))?;
        }
        for (path, len) in &self.cut {
            let file = disk.open(path, Open::ReadWrite).map_err(LogError::io("open", path))?;
            file.set_len(*len).map_err(LogError::io("cut", path))?;
            info!(path = %path.display(), len, "log cut back to the checkpoint");
        }
        let mut entries = self.entries;
        let last = self.segments.len().saturating_sub(1);
        let mut segments = Vec::with_capacity(self.segments.len());
        for (place, facts) in self.segments.into_iter().enumerate() {
            writer.last_segment_id += 1;
            let id = writer.last_segment_id;
            let segment =
                if place < last { Segment::closed(id, facts) } else { Segment::growing(id, facts, entries.take()) };
            segments.push(Arc::new(segment));
        }
        let end = self.head.next_offset.max(self.head.log_start);
        let bounds = Bounds { log_start: self.head.log_start, high_watermark: end, last_stable_offset: end };
        let growing = segments.last().map(|segment| Growing { segment: Arc::clone(segment), since: None });
        let log = Arc::new(PartitionLog::new(partition, Arc::clone(&writer.shared), bounds, segments));
        let next_offset = self.head.next_offset;
        let written = WrittenPartition { log, next_offset, growing, has_folder: self.has_folder };
        writer.partitions.insert(partition, written);
        Ok(())
    }
}

/// What the list has on the segments needed, if it ends at the head and has the same ones. They may be longer on disk,
/// not shorter.
fn listed<'a>(manifest: &'a Manifest, head: &RecoveredHead, needed: &[(Offset, u64)]) -> Option<&'a [SegmentFacts]> {
    let partition = manifest.partitions.get(&head.partition)?;
    let first = needed.first().map(|(base_offset, _)| *base_offset);
    let skip = partition.segments.iter().take_while(|facts| Some(facts.base_offset) != first).count();
    let segments = partition.segments.get(skip..)?;
    let ends = segments.iter().skip(1).map(|next| next.base_offset).chain([head.next_offset]);
    let is_as_found = |((facts, end), (base_offset, len)): ((&SegmentFacts, Offset), &(Offset, u64))| {
        facts.base_offset == *base_offset && facts.next_offset == end && facts.bytes <= *len
    };
    let is_as_found = partition.next_offset == head.next_offset
        && segments.len() == needed.len()
        && segments.iter().zip(ends).zip(needed).all(is_as_found);
    is_as_found.then_some(segments)
}

fn facts_from_index(disk: &dyn Disk, path: &Path) -> Option<SegmentFacts> {
    let file = disk.open(path, Open::Read).ok()?;
    let mut header = [0; INDEX_HEADER_BYTES];
    file.read_exact_at(&mut header, 0).ok()?;
    index::decode_header(&header).map(|(facts, _)| facts)
}

impl Found {
    fn list(disk: &dyn Disk, folder: &Path) -> Result<Self, LogError> {
        let mut found = Self::default();
        for entry in disk.list(folder).map_err(LogError::io("list", folder))? {
            match names::parse_file_name(&entry.name).filter(|_| !entry.is_dir) {
                Some((base_offset, FileKind::Log)) => {
                    found.logs.insert(base_offset, entry.len);
                }
                Some((base_offset, FileKind::Index)) => {
                    found.indexes.insert(base_offset);
                }
                None => warn!(name = %entry.name, folder = %folder.display(), "not a segment's file, left alone"),
            }
        }
        Ok(found)
    }

    /// The segments that hold something from the log start to the head. There must be one that has the log start.
    fn needed(&self, folder: &Path, head: &RecoveredHead) -> Result<Vec<(Offset, u64)>, LogError> {
        if head.log_start >= head.next_offset {
            return Ok(Vec::new());
        }
        let Some((first, _)) = self.logs.range(..=head.log_start).next_back() else {
            let path = folder.to_path_buf();
            let reason = "the segment that has the log start is missing";
            return Err(LogError::Damaged { path, offset: head.log_start, position: 0, reason });
        };
        Ok(self.logs.range(*first..head.next_offset).map(|(base_offset, len)| (*base_offset, *len)).collect())
    }
}
