//! Programs: Harbor's own beside this one, and those that servers of npm and PyPI need, wherever the bridge
//! would find them.
//!
//! Must never run one: its output would say nothing that its place does not.

use std::env;
use std::path::Path;

use harbor_ipc_proto::check::FoundProgram;

use super::super::native_host::is_program;
use super::findings::{Finding, State};

/// Harbor's own, beside this one.
pub const PROGRAMS: &[&str] = &[
    "harbor-bridge",
    "harbor-runner",
    "harbor-runner-http",
    "harbor-runner-js",
    "harbor-runner-wasm",
    "harbor-egress",
    "harbor-catalog-worker",
    "harbor-model-worker",
];

/// One of these, and who needs it.
const NEEDED: &[(&[&str], &str)] = &[
    (&["node"], "servers from npm"),
    (&["uv", "python"], "servers from PyPI"),
    (&["git"], "servers from repositories"),
    (ENGINES, "servers in containers"),
];

/// The engines of containers. Most people have no servers that need them.
const ENGINES: &[&str] = &["podman", "docker"];

/// All programs. The programs that servers need are left out if the bridge could not be asked.
pub(super) fn look(found: Option<&[FoundProgram]>) -> Vec<Finding> {
    let directory = env::current_exe().ok().and_then(|program| program.parent().map(Path::to_owned));
    let mut all = vec![own(&directory.unwrap_or_default())];
    let needed = |found| NEEDED.iter().map(move |(names, who)| runtime(names, who, found));
    all.extend(found.map(needed).into_iter().flatten());
    all
}

fn own(directory: &Path) -> Finding {
    let missing: Vec<_> =
        PROGRAMS.iter().filter(|name| !is_program(&directory.join(name))).copied().collect();
    match missing.is_empty() {
        true => Finding::ok("programs", format!("all Harbor programs are in {}", directory.display())),
        false => {
            let what = format!("{} not in {}", missing.join(", "), directory.display());
            Finding::wrong(State::Broken, "programs", what, "install Harbor again with `scripts/run`")
        }
    }
}

fn runtime(names: &[&str], who: &str, found: &[FoundProgram]) -> Finding {
    let of = |name: &&str| found.iter().find(|program| program.name == *name);
    match names.iter().find_map(of).map(|program| (&*program.path, &*program.how)) {
        Some((path, "PATH")) => Finding::ok("runtimes", format!("{who} use {path}")),
        Some((path, how)) => Finding::ok("runtimes", format!("{who} use {path} (found by {how})")),
        None if names == ENGINES => {
            Finding::ok("runtimes", format!("{who} are not available: no {}", names.join(", no ")))
        }
        None => {
            let what = format!("{who} need {}, which is not installed", names.join(" or "));
            let next = "install it; `harbor runtimes` shows where Harbor looked and how to get it";
            Finding::wrong(State::Warning, "runtimes", what, next)
        }
    }
}

#[cfg(test)]
mod tests {

    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn programs_are_looked_for_where_they_have_to_be() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(own(dir.path()).state, State::Broken);
        for name in PROGRAMS {
            std::fs::write(dir.path().join(name), "").unwrap();
            std::fs::set_permissions(dir.path().join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        assert_eq!(own(dir.path()).state, State::Ok);
    }

    #[test]
    fn nobody_has_to_have_an_engine_of_containers() {
        let found = NEEDED.iter().map(|(names, who)| runtime(names, who, &[]).state);
        assert_eq!(found.collect::<Vec<_>>(), [State::Warning, State::Warning, State::Warning, State::Ok]);
    }
}
