//! The program: the server of one script.
//!
//! ```text
//!   harbor-runner-js [--memory MIB] [--busy SECONDS] [--fetch-time SECONDS] FILE
//!                              MCP's lines on stdin and stdout, the log on stderr
//! ```
//!
//! Owns the order of its start and the words at its end. stdout belongs to the script.

use std::process::ExitCode;

use crate::ending::Ending;
use crate::options::Options;
use crate::{engine, script};

/// Runs the script that the command line names, and returns the exit code.
#[must_use]
pub fn run() -> ExitCode {
    let ending = match Options::read(std::env::args_os().skip(1)) {
        Ok(options) => interpret(&options),
        Err(usage) => Ending::Unusable(usage),
    };
    ending.tell();
    ExitCode::from(ending.code())
}

fn interpret(options: &Options) -> Ending {
    let name = options.file.file_name().map(|name| name.to_string_lossy().into_owned());
    match script::read(&options.file) {
        Ok(text) => engine::run(options, &name.unwrap_or_default(), text),
        Err(why) => Ending::Unusable(why),
    }
}
