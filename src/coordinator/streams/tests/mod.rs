//! Scenarios of streams groups, as scripts and what must come of them (see [`script`] for the language).
//!
//! The expected texts follow the reference, line by line where it has traces of a real Kafka 4.4.0; where they differ on
//! purpose the test says so.

#![allow(clippy::too_many_lines, reason = "a scenario is as long as its story")]
#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]
#![allow(clippy::needless_pass_by_value, reason = "an expectation is written at the call")]

mod answers;
mod endpoints;
mod histories;
mod places;
mod records;
mod script;
mod show;
mod timing;
mod topics;
mod traces;
mod validation;

use script::{Script, check, check_records};
