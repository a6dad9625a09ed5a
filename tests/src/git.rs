//! Repositories of git that tests make.
//!
//! Must never depend on how the person at this machine has git: who commits, and to which branch, is said each time.

use std::path::Path;
use std::process::Command;

/// Runs git there; gives what it printed.
///
/// # Panics
/// When it fails.
pub fn git(dir: &Path, args: &[&str]) -> String {
    let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"];
    let output = Command::new("git").args(identity).args(args).current_dir(dir).output().expect("git runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Commits all that is there; gives the commit.
///
/// # Panics
/// When it fails.
pub fn commit(dir: &Path) -> String {
    git(dir, &["add", "-A"]);
    git(dir, &["commit", "-qm", "x"]);
    git(dir, &["rev-parse", "HEAD"])
}
