//! The directories of the simulated disk: names that are there, and names that are durable.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::dice::Dice;

/// A file or directory, whatever its name.
pub(super) type NodeId = u64;

const ROOT: NodeId = 0;

type Entries = BTreeMap<String, NodeId>;
type Place = (NodeId, String);

#[derive(Clone)]
pub(super) struct Names {
    /// Directories and what a reader finds in them.
    live: BTreeMap<NodeId, Entries>,
    /// What the last sync of each made durable.
    durable: BTreeMap<NodeId, Entries>,
    /// What happened since, in order.
    later: Vec<Change>,
    next_node: NodeId,
}

/// A name goes, a name comes, or both at once.
#[derive(Clone)]
struct Change {
    removes: Option<Place>,
    adds: Option<(Place, NodeId)>,
}

impl Change {
    /// A node never has two names afterwards, even if an earlier rename of it was lost.
    fn apply(self, to: &mut BTreeMap<NodeId, Entries>) {
        if let Some((_, node)) = &self.adds {
            for entries in to.values_mut() {
                entries.retain(|_, other| other != node);
            }
        }
        if let Some((dir, name)) = self.removes {
            to.entry(dir).or_default().remove(&name);
        }
        if let Some(((dir, name), node)) = self.adds {
            to.entry(dir).or_default().insert(name, node);
        }
    }

    fn is_in(&self, dir: NodeId) -> bool {
        let removes = self.removes.as_ref().is_some_and(|(place, _)| *place == dir);
        removes || self.adds.as_ref().is_some_and(|((place, _), _)| *place == dir)
    }
}

fn not_found(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("{}: no such name", path.display()))
}

fn components(path: &Path) -> impl Iterator<Item = String> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    })
}

impl Names {
    pub(super) fn new() -> Self {
        let root = BTreeMap::from([(ROOT, Entries::new())]);
        Self { live: root.clone(), durable: root, later: Vec::new(), next_node: ROOT + 1 }
    }

    pub(super) fn find(&self, path: &Path) -> Option<NodeId> {
        components(path).try_fold(ROOT, |node, name| self.live.get(&node)?.get(&name).copied())
    }

    pub(super) fn find_file(&self, path: &Path) -> io::Result<NodeId> {
        let node = self.find(path).ok_or_else(|| not_found(path))?;
        if self.live.contains_key(&node) { Err(io::Error::from(io::ErrorKind::IsADirectory)) } else { Ok(node) }
    }

    fn find_dir(&self, path: &Path) -> io::Result<NodeId> {
        let node = self.find(path).ok_or_else(|| not_found(path))?;
        if self.live.contains_key(&node) { Ok(node) } else { Err(io::Error::from(io::ErrorKind::NotADirectory)) }
    }

    fn place(&self, path: &Path) -> io::Result<Place> {
        let name = components(path).last().ok_or_else(|| not_found(path))?;
        let parent = path.parent().ok_or_else(|| not_found(path))?;
        Ok((self.find_dir(parent)?, name))
    }

    pub(super) fn entries(&self, dir: &Path) -> io::Result<Vec<(String, NodeId)>> {
        let node = self.find_dir(dir)?;
        Ok(self.live.get(&node).into_iter().flatten().map(|(name, node)| (name.clone(), *node)).collect())
    }

    fn change(&mut self, removes: Option<Place>, adds: Option<(Place, NodeId)>) {
        let change = Change { removes, adds };
        change.clone().apply(&mut self.live);
        self.later.push(change);
    }

    pub(super) fn create_file(&mut self, path: &Path) -> io::Result<NodeId> {
        if self.find(path).is_some() {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists));
        }
        let place = self.place(path)?;
        let node = self.next_node;
        self.next_node += 1;
        self.change(None, Some((place, node)));
        Ok(node)
    }

    pub(super) fn create_dir_all(&mut self, dir: &Path) -> io::Result<()> {
        let mut parent = ROOT;
        for name in components(dir) {
            let found = self.live.get(&parent).and_then(|entries| entries.get(&name)).copied();
            parent = if let Some(node) = found {
                node
            } else {
                let node = self.next_node;
                self.next_node += 1;
                self.change(None, Some(((parent, name), node)));
                self.live.insert(node, Entries::new());
                self.durable.insert(node, Entries::new());
                node
            };
            if !self.live.contains_key(&parent) {
                return Err(io::Error::from(io::ErrorKind::NotADirectory));
            }
        }
        Ok(())
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let node = self.find(from).ok_or_else(|| not_found(from))?;
        if self.find_dir(to).is_ok() {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists));
        }
        let (removes, adds) = (self.place(from)?, self.place(to)?);
        self.change(Some(removes), Some((adds, node)));
        Ok(())
    }

    pub(super) fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.find(path).ok_or_else(|| not_found(path))?;
        let place = self.place(path)?;
        self.change(Some(place), None);
        Ok(())
    }

    pub(super) fn remove_dir_all(&mut self, dir: &Path) -> io::Result<()> {
        self.find_dir(dir)?;
        for (name, node) in self.entries(dir)? {
            let path = dir.join(name);
            if self.live.contains_key(&node) {
                self.remove_dir_all(&path)?;
            } else {
                self.remove(&path)?;
            }
        }
        self.remove(dir)
    }

    pub(super) fn sync_dir(&mut self, dir: &Path) -> io::Result<()> {
        let dir = self.find_dir(dir)?;
        let mut left = Vec::new();
        for change in std::mem::take(&mut self.later) {
            if change.is_in(dir) {
                change.apply(&mut self.durable);
            } else {
                left.push(change);
            }
        }
        self.later = left;
        Ok(())
    }

    pub(super) fn after_power_loss(&self, dice: &mut Dice, percent: u64) -> Self {
        let mut durable = self.durable.clone();
        for change in &self.later {
            if dice.hits(percent) {
                change.clone().apply(&mut durable);
            }
        }
        Self { live: durable.clone(), durable, later: Vec::new(), next_node: self.next_node }
    }

    /// Whether the node still has a name somewhere.
    pub(super) fn is_reachable(&self, node: NodeId) -> bool {
        self.reachable().contains(&node)
    }

    fn reachable(&self) -> BTreeSet<NodeId> {
        let mut found = BTreeSet::from([ROOT]);
        let mut todo = vec![ROOT];
        while let Some(dir) = todo.pop() {
            for node in self.live.get(&dir).into_iter().flat_map(BTreeMap::values) {
                if found.insert(*node) {
                    todo.push(*node);
                }
            }
        }
        found
    }

    /// Every file with its path.
    pub(super) fn file_paths(&self) -> Vec<(String, NodeId)> {
        let mut paths = Vec::new();
        let mut todo = vec![(PathBuf::from("/"), ROOT)];
        while let Some((path, dir)) = todo.pop() {
            for (name, node) in self.live.get(&dir).into_iter().flatten() {
                let path = path.join(name);
                if self.live.contains_key(node) {
                    todo.push((path, *node));
                } else {
                    paths.push((path.to_string_lossy().into_owned(), *node));
                }
            }
        }
        paths.sort();
        paths
    }
}
