//! How large the programs are. Must not start any.

use crate::Outcome;
use crate::options::Options;
use crate::table::{Page, line, row};

/// What is installed.
const PROGRAMS: [&str; 9] = [
    "harbor",
    "harbor-bridge",
    "harbor-runner",
    "harbor-runner-http",
    "harbor-runner-js",
    "harbor-runner-wasm",
    "harbor-egress",
    "harbor-catalog-worker",
    "harbor-model-worker",
];

/// Their sizes on disk.
///
/// # Errors
/// When one is missing.
pub fn sizes(out: &mut Page, options: &Options) -> Outcome<()> {
    line(out, "### Programs\n");
    row(out, &["program", "KiB on disk"]);
    row(out, &["---", "---:"]);
    for name in PROGRAMS {
        let bytes = std::fs::metadata(options.program(name)?)?.len();
        row(out, &[name, &(bytes / 1024).to_string()]);
    }
    line(out, "");
    Ok(())
}
