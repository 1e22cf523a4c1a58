//! Stories about offsets, one file per subject.

mod commit;
mod delete;
mod expiry;
mod fetch;
mod replay;
mod streams;
mod topics;
