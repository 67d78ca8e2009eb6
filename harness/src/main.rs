//! The `foldproof` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    foldproof_harness::cli::main()
}
