//! How large the programs are. Must not start any.

use crate::Outcome;
use crate::options::Options;
use crate::table::{line, row};

/// What is installed.
const PROGRAMS: [&str; 6] = [
    "harbor",
    "harbor-bridge",
    "harbor-runner",
    "harbor-runner-http",
    "harbor-egress",
    "harbor-catalog-worker",
];

/// Their sizes on disk.
///
/// # Errors
/// When one is missing.
pub fn sizes(options: &Options) -> Outcome<String> {
    let mut out = String::new();
    line(&mut out, "### Programs\n");
    row(&mut out, &["program", "KiB on disk"]);
    row(&mut out, &["---", "---:"]);
    for name in PROGRAMS {
        let bytes = std::fs::metadata(options.program(name)?)?.len();
        row(&mut out, &[name, &(bytes / 1024).to_string()]);
    }
    line(&mut out, "");
    Ok(out)
}
