//! Programs: Harbor's own beside this one, and what servers of npm, PyPI and containers need in PATH.
//!
//! Must never run one: what it answers says nothing that its place does not.

use std::env;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::{Finding, State};

const OWN: &[&str] = &["harbor-bridge", "harbor-runner", "harbor-egress"];

/// One of these, and who needs it.
const RUNTIMES: &[(&[&str], &str)] =
    &[(&["node"], "servers from npm"), (&["uv", "python3"], "servers from PyPI")];

pub(super) fn look() -> Vec<Finding> {
    let directory = env::current_exe().ok().and_then(|program| program.parent().map(Path::to_owned));
    let mut all = vec![own(&directory.unwrap_or_default())];
    let path = env::var_os("PATH").unwrap_or_default();
    let directories: Vec<_> = env::split_paths(&path).collect();
    all.extend(RUNTIMES.iter().map(|(names, who)| runtime(names, who, &directories)));
    all
}

fn own(directory: &Path) -> Finding {
    let missing: Vec<_> = OWN.iter().filter(|name| !is_program(&directory.join(name))).copied().collect();
    match missing.is_empty() {
        true => Finding::ok("programs", format!("all of Harbor's are in {}", directory.display())),
        false => {
            let what = format!("{} not in {}", missing.join(", "), directory.display());
            Finding::wrong(State::Broken, "programs", what, "install Harbor again: `scripts/run` does")
        }
    }
}

fn runtime(names: &[&str], who: &str, directories: &[PathBuf]) -> Finding {
    let found = directories.iter().flat_map(|directory| names.iter().map(|name| directory.join(name)));
    match found.into_iter().find(|path| is_program(path)) {
        Some(path) => Finding::ok("runtimes", format!("{who} have {}", path.display())),
        None => {
            let what = format!("{who} need {}, which is not in PATH", names.join(" or "));
            Finding::wrong(
                State::Warning,
                "runtimes",
                what,
                "install it, or start the bridge where it is in PATH",
            )
        }
    }
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_looked_for_where_they_have_to_be() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(own(dir.path()).state, State::Broken);
        for name in OWN.iter().chain(&["node"]) {
            std::fs::write(dir.path().join(name), "").unwrap();
            std::fs::set_permissions(dir.path().join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        assert_eq!(own(dir.path()).state, State::Ok);
        let directories = [dir.path().to_owned()];
        assert_eq!(runtime(&["node"], "npm's", &directories).state, State::Ok);
        assert_eq!(runtime(&["uv"], "PyPI's", &directories).state, State::Warning);
    }
}
