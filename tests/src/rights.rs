//! What only root can try: to be somebody else, to mount a disk.
//!
//! Owns how a test says that it was left out. Must never do so in silence: whoever reads the results counts it as passed.

use std::io::Write as _;

use nix::unistd::geteuid;

/// Whether root runs the tests; if not, says what was left out.
#[must_use]
pub fn is_root(what: &str) -> bool {
    let is_root = geteuid().is_root();
    if !is_root {
        left_out(what, "it needs root");
    }
    is_root
}

/// Says on stderr itself, past the tests' harness, which shows nothing of what passes.
pub fn left_out(what: &str, why: &str) {
    let _ = writeln!(std::io::stderr(), "left out: {what}: {why}");
}
