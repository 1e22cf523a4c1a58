//! A disk for tests that can lose its power, its patience and its bits. Deterministic by seed.
//!
//! What it models, on the hostile side of what POSIX allows:
//! - A file is what was last synced, plus the 4 KiB pages written since. A power loss keeps each of those writes or
//!   not, at random and in any order; now and then only some 512-byte sectors of one. Length changes are kept as a
//!   prefix of their order.
//! - A name (created, renamed, removed) is durable once its directory is synced; before that, at random. A rename is
//!   one step: the new name is never lost after the old one is gone.
//! - A failed sync leaves its pages looking clean: a later sync that succeeds does not write them.
//! - A killed process loses nothing that it wrote, durable or not.

mod dice;
mod names;
mod pages;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dice::Dice;
use names::{Names, NodeId};
use pages::Pages;

use super::{DirEntry, Disk, DiskFile, Open};

/// What goes wrong, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A write or length change fails and changes nothing.
    Write,
    /// A write puts down the first half of its bytes, then fails.
    ShortWrite,
    /// A file's sync fails; what it was to make durable looks clean from then on.
    Sync,
    /// A directory's sync fails.
    SyncDir,
    /// A create, rename or remove fails.
    Names,
}

/// A simulated disk. Clones share it.
#[derive(Clone)]
pub(crate) struct SimDisk(Arc<Mutex<State>>);

#[derive(Clone)]
struct State {
    names: Names,
    files: BTreeMap<NodeId, Pages>,
    faults: Vec<(Fault, u64)>,
    /// Changes that still succeed before the process counts as dead.
    dies_after: Option<u64>,
    /// The sum of all file lengths may not pass this.
    capacity: u64,
    /// Changes asked for so far: writes, syncs and names.
    changes: u64,
}

impl Default for SimDisk {
    fn default() -> Self {
        Self::new()
    }
}

impl SimDisk {
    /// An empty disk.
    pub(crate) fn new() -> Self {
        Self::from_state(State {
            names: Names::new(),
            files: BTreeMap::new(),
            faults: Vec::new(),
            dies_after: None,
            capacity: u64::MAX,
            changes: 0,
        })
    }

    fn from_state(state: State) -> Self {
        Self(Arc::new(Mutex::new(state)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The disk as a machine finds it after the power came back. `percent` is the chance of each change that was not
    /// synced to be there all the same. Faults are gone; handles to the old disk do not reach the new one.
    pub(crate) fn power_loss(&self, seed: u64, percent: u64) -> Self {
        let state = self.state();
        let mut dice = Dice::new(seed);
        let names = state.names.after_power_loss(&mut dice, percent);
        let files = state
            .files
            .iter()
            .filter(|(node, _)| names.is_reachable(**node))
            .map(|(node, pages)| (*node, pages.after_power_loss(&mut dice, percent)))
            .collect();
        Self::from_state(State { names, files, ..Self::without_faults(&state) })
    }

    /// The disk as the next process finds it after a kill: all that was written, durable or not.
    pub(crate) fn process_kill(&self) -> Self {
        Self::from_state(Self::without_faults(&self.state()))
    }

    fn without_faults(state: &State) -> State {
        State { faults: Vec::new(), dies_after: None, ..state.clone() }
    }

    /// The `nth` change of this kind from now on (1 is the next) fails.
    pub(crate) fn fail(&self, fault: Fault, nth: u64) {
        self.state().faults.push((fault, nth));
    }

    /// After so many more changes every call fails: the process is dead. A write that dies leaves its first half.
    pub(crate) fn die_after(&self, changes: u64) {
        self.state().dies_after = Some(changes);
    }

    /// The disk is full at this sum of file lengths.
    pub(crate) fn set_capacity(&self, bytes: u64) {
        self.state().capacity = bytes;
    }

    /// How many changes (writes, syncs, names) were asked for so far.
    pub(crate) fn changes(&self) -> u64 {
        self.state().changes
    }

    /// Changes a file's bytes behind everybody's back; the change is durable.
    pub(crate) fn corrupt(&self, path: &Path, change: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        let mut state = self.state();
        let node = state.names.find_file(path)?;
        state.file(node).corrupt(change);
        Ok(())
    }

    /// Flips one bit of a file.
    pub(crate) fn flip_bit(&self, path: &Path, byte: u64, bit: u8) -> io::Result<()> {
        self.corrupt(path, |bytes| {
            if let Some(byte) = usize::try_from(byte).ok().and_then(|at| bytes.get_mut(at)) {
                *byte ^= 1 << (bit & 7);
            }
        })
    }

    /// All files with their bytes, as a reader sees them now.
    pub(crate) fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        let state = self.state();
        let paths = state.names.file_paths();
        paths.into_iter().filter_map(|(path, node)| Some((path, state.files.get(&node)?.live().to_vec()))).collect()
    }
}

impl State {
    fn file(&mut self, node: NodeId) -> &mut Pages {
        self.files.entry(node).or_default()
    }

    /// Counts a change. `Err` if it is to fail; then `true` says that half of it happens.
    fn change(&mut self, kinds: &[Fault]) -> Result<(), (io::Error, bool)> {
        self.changes += 1;
        if let Some(left) = &mut self.dies_after {
            let Some(fewer) = left.checked_sub(1) else { return Err((io::Error::other("the process is dead"), false)) };
            *left = fewer;
            if fewer == 0 {
                return Err((io::Error::other("the process dies here"), true));
            }
        }
        let mut hit = None;
        for (fault, nth) in &mut self.faults {
            if kinds.contains(fault) {
                *nth = nth.saturating_sub(1);
                if *nth == 0 && hit.is_none() {
                    hit = Some(*fault);
                }
            }
        }
        self.faults.retain(|(_, nth)| *nth > 0);
        match hit {
            Some(fault) => Err((io::Error::other(format!("injected: {fault:?}")), fault == Fault::ShortWrite)),
            None => Ok(()),
        }
    }

    fn name_change(&mut self) -> io::Result<()> {
        self.change(&[Fault::Names]).map_err(|(error, _)| error)
    }

    fn used(&self) -> u64 {
        self.files.values().map(Pages::len).sum()
    }

    fn write(&mut self, node: NodeId, bytes: &[u8], position: u64) -> io::Result<()> {
        if let Err((error, half)) = self.change(&[Fault::Write, Fault::ShortWrite]) {
            let written = if half { bytes.len() / 2 } else { 0 };
            self.file(node).write(bytes.get(..written).unwrap_or_default(), position);
            return Err(error);
        }
        let end = position.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        let len = self.file(node).len();
        let grows = end.saturating_sub(len);
        let room = self.capacity.saturating_sub(self.used());
        if grows > room {
            let fits = bytes.len().saturating_sub(usize::try_from(grows - room).unwrap_or(usize::MAX));
            self.file(node).write(bytes.get(..fits).unwrap_or_default(), position);
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        self.file(node).write(bytes, position);
        Ok(())
    }
}

impl Disk for SimDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.state();
        let node = match how {
            Open::Read | Open::ReadWrite => state.names.find_file(path)?,
            Open::CreateNew => {
                state.name_change()?;
                let node = state.names.create_file(path)?;
                state.file(node);
                node
            }
        };
        Ok(Arc::new(SimFile { disk: self.clone(), node, may_write: how != Open::Read }))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        let state = self.state();
        let mut entries = Vec::new();
        for (name, node) in state.names.entries(dir)? {
            let len = state.files.get(&node).map(Pages::len);
            entries.push(DirEntry { name, is_dir: len.is_none(), len: len.unwrap_or(0) });
        }
        entries.sort();
        Ok(entries)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        Ok(self.state().names.find(path).is_some())
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.name_change()?;
        state.names.create_dir_all(dir)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.name_change()?;
        state.names.rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.name_change()?;
        state.names.find_file(path)?;
        state.names.remove(path)
    }

    fn remove_dir_all(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.name_change()?;
        state.names.remove_dir_all(dir)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.change(&[Fault::SyncDir]).map_err(|(error, _)| error)?;
        state.names.sync_dir(dir)
    }
}

struct SimFile {
    disk: SimDisk,
    node: NodeId,
    may_write: bool,
}

impl SimFile {
    fn check_writable(&self) -> io::Result<()> {
        if self.may_write { Ok(()) } else { Err(io::Error::from(io::ErrorKind::PermissionDenied)) }
    }
}

impl DiskFile for SimFile {
    fn read_exact_at(&self, buffer: &mut [u8], position: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        let live = state.file(self.node).live();
        let start = usize::try_from(position).unwrap_or(usize::MAX);
        let end = start.saturating_add(buffer.len());
        let bytes = live.get(start..end).ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }

    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        self.check_writable()?;
        self.disk.state().write(self.node, bytes, position)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.state().file(self.node).len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.check_writable()?;
        let mut state = self.disk.state();
        state.change(&[Fault::Write]).map_err(|(error, _)| error)?;
        let grows = len.saturating_sub(state.file(self.node).len());
        if grows > state.capacity.saturating_sub(state.used()) {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        state.file(self.node).set_len(len);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.disk.state();
        let outcome = state.change(&[Fault::Sync]);
        let died = state.dies_after == Some(0);
        match outcome {
            Ok(()) => state.file(self.node).sync(),
            Err(_) if died => {}
            Err(_) => state.file(self.node).fail_sync(),
        }
        outcome.map_err(|(error, _)| error)
    }
}
