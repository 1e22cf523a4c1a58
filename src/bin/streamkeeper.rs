//! The `streamkeeper` program: a few lines over the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    streamkeeper::cli::main()
}
