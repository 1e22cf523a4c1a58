//! One file per API, or per few that are much alike. A handler knows no socket.

pub(super) mod api_versions;
pub(super) mod catalog;
pub(super) mod delete_records;
pub(super) mod fetch;
pub(super) mod find_coordinator;
pub(super) mod list_offsets;
pub(super) mod metadata;
pub(super) mod offset_for_leader_epoch;
pub(super) mod produce;
pub(super) mod sasl;
mod topics;
