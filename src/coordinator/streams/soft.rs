//! A streams group's soft state: what a restart may lose, rebuilt or reported again.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::configure::{ConfiguredTopology, configure};
use super::internal_topics::Creations;
use super::records::StreamsGroupTopologyValue;
use super::tasks::SubtopologyId;
use crate::coordinator::GroupError;
use crate::types::{Image, MemberId};

/// Changelog offsets by task.
pub(super) type TaskOffsets = BTreeMap<(SubtopologyId, i32), i64>;

/// A streams group's soft state.
#[derive(Debug, Default)]
pub(crate) struct SoftGroup {
    /// The topology against the topics as of one version of the catalogue.
    pub(super) configured: Option<CachedTopology>,
    /// Moves when what members are told of endpoints changes. Compare with `!=`: it starts anew after a restart.
    pub(super) endpoint_epoch: i32,
    /// The first member that asked for the end of the application; kept until the group is empty.
    pub(super) shutdown_requested_by: Option<MemberId>,
    /// Of members that have something here.
    pub(super) members: BTreeMap<MemberId, SoftMember>,
    /// Internal topics that were asked for.
    pub(super) creations: Creations,
}

/// What a streams member tells or is waited for.
#[derive(Debug, Default)]
pub(super) struct SoftMember {
    /// How far the member's copies of tasks are.
    pub(super) task_offsets: TaskOffsets,
    /// How far the changelogs of those tasks reach.
    pub(super) task_end_offsets: TaskOffsets,
    /// The member epoch at which the rebalance timer was armed.
    pub(super) rebalance_epoch: Option<i32>,
}

/// A configured topology with the catalogue's version it was made for.
#[derive(Debug)]
pub(super) struct CachedTopology {
    pub(super) topics_version: u64,
    pub(super) topology: Arc<ConfiguredTopology>,
}

/// A group's topology against the topics there are: from the cache, or made anew. Does not fill the cache.
pub(super) fn configured(
    soft: Option<&SoftGroup>,
    topology: &StreamsGroupTopologyValue,
    image: &Image,
) -> Result<Arc<ConfiguredTopology>, GroupError> {
    let cached = soft.and_then(|soft| soft.configured.as_ref());
    let is_fresh = |cached: &&CachedTopology| {
        cached.topics_version == image.topics_version && cached.topology.topology_epoch == topology.epoch
    };
    match cached.filter(is_fresh) {
        Some(cached) => Ok(Arc::clone(&cached.topology)),
        None => Ok(Arc::new(configure(topology, image)?)),
    }
}
