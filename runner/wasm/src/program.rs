//! The program: the server of one module.
//!
//! ```text
//!   harbor-runner-wasm FILE [--memory MIB] [--busy SECONDS] [--read DIR]… [--write DIR]… [-- ARGUMENT…]
//! ```
//!
//! Owns the order of its start and the words at its end. stdin and stdout belong to the module.

use std::io::{self, Write as _};
use std::process::ExitCode;

use crate::ending::Ending;
use crate::options::Options;
use crate::{engine, module};

/// Runs the module that the command line names, and returns the exit code.
#[must_use]
pub fn run() -> ExitCode {
    let ending = match Options::read(std::env::args_os().skip(1)) {
        Ok(options) => interpret(&options),
        Err(usage) => usage.into(),
    };
    if let Some(words) = ending.words() {
        let _ = writeln!(io::stderr(), "harbor-runner-wasm: {words}");
    }
    ExitCode::from(ending.code())
}

fn interpret(options: &Options) -> Ending {
    match module::read(&options.file) {
        Ok(bytes) => engine::run(options, bytes),
        Err(why) => why.into(),
    }
}
