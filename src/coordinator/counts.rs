//! How many groups there are of each type and state. Kept exact by replay, so right at once after a load too.

use std::collections::BTreeMap;

use super::group::{GroupLabel, GroupType};
use super::streams::StreamsGroupState;

/// Groups by type and state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Labels that no group has are not in it.
    by_label: BTreeMap<GroupLabel, usize>,
}

impl Counts {
    /// How many streams groups are in `state`.
    pub(crate) fn streams(&self, state: StreamsGroupState) -> usize {
        self.by_label.get(&GroupLabel::Streams(state)).copied().unwrap_or(0)
    }

    /// How many groups there are of a type.
    pub(crate) fn of_type(&self, group_type: GroupType) -> usize {
        self.by_label.iter().filter(|(label, _)| label.group_type() == group_type).map(|(_, count)| count).sum()
    }

    /// One group was `before` and is `after`; `None` where there is no group.
    pub(super) fn moved(&mut self, before: Option<GroupLabel>, after: Option<GroupLabel>) {
        if before == after {
            return;
        }
        if let Some(label) = before {
            self.remove(label);
        }
        if let Some(label) = after {
            *self.by_label.entry(label).or_default() += 1;
        }
    }

    fn remove(&mut self, label: GroupLabel) {
        let Some(count) = self.by_label.get_mut(&label) else { return };
        *count = count.saturating_sub(1);
        if *count == 0 {
            self.by_label.remove(&label);
        }
    }
}
