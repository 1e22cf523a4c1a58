//! The format of a data directory: its number, and who may read it. The steps from one to the next are in
//! `migrations/`, whose README says what a step is; there is none yet.

/// What this program writes. A change to any byte that is described in `migrations/README.md` raises it.
pub(crate) const FORMAT: u32 = 1;
/// The oldest program, by the format it knows, that may still open what this one writes.
pub(crate) const OLDEST_READER: u32 = 1;

/// Whether a directory whose oldest reader is this may be opened here.
pub(crate) fn is_readable(oldest_reader: u32) -> bool {
    oldest_reader <= FORMAT
}
