//! Real clients against the real program.
//!
//! The Java tests need `java` and `mvn`. Where they are missing the tests say so and pass; with `CI=true` they fail.

#[path = "../support/mod.rs"]
mod support;

mod java;
