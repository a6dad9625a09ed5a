//! The commands of git.
//!
//! One commit is fetched, without history, hooks, filters or submodules, and by no transport that runs a program which the address
//! names.

use super::description::Package;
use super::source::is_commit;
use super::step::{Step, line};

/// Options for each command. They hold whatever the person's own settings say.
const SAFE: &[&str] = &[
    "-c",
    "protocol.allow=never",
    "-c",
    "protocol.https.allow=always",
    "-c",
    "protocol.ssh.allow=always",
    "-c",
    "protocol.file.allow=always",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "submodule.recurse=false",
    // What the machine's own settings may have repositories run on files.
    "-c",
    "filter.lfs.process=",
    "-c",
    "filter.lfs.smudge=",
    "-c",
    "filter.lfs.required=false",
    "-c",
    "protocol.version=2",
];

/// The directory of the checked-out repository.
#[must_use]
pub fn source_dir(dir: &str) -> String {
    format!("{dir}/src")
}

/// The directory of its package.
#[must_use]
pub fn package_dir(package: &Package, dir: &str) -> String {
    let source = source_dir(dir);
    package.directory().map_or(source.clone(), |directory| format!("{source}/{directory}"))
}

/// The commit, once it is known, stands in the package itself.
pub(super) fn fetch(package: &Package, dir: &str) -> Vec<Step> {
    let source = source_dir(dir);
    let (address, wanted) = package.address();
    let git = |words: &[&str]| line(&[&["git"], SAFE, words]);
    let wanted = wanted.unwrap_or("HEAD");
    let fetch =
        ["-C", &source, "fetch", "--depth", "1", "--no-tags", "--no-recurse-submodules", "--", address];
    vec![
        git(&["init", "--quiet", "--template=", "--", &source]),
        git(&[&fetch[..], &[wanted]].concat()),
        git(&["-C", &source, "checkout", "--quiet", "--detach", "FETCH_HEAD"]),
    ]
}

/// Instead of the second of these steps, where a server does not hand out a commit by its name.
#[must_use]
pub fn fetch_all(package: &Package, dir: &str) -> Option<Vec<Step>> {
    let source = source_dir(dir);
    let (address, wanted) = package.address();
    let commit = wanted.filter(|wanted| is_commit(wanted))?;
    let git = |words: &[&str]| line(&[&["git"], SAFE, words]);
    let all = "+refs/*:refs/harbor/*";
    Some(vec![
        git(&["-C", &source, "fetch", "--no-tags", "--no-recurse-submodules", "--", address, all]),
        git(&["-C", &source, "checkout", "--quiet", "--detach", commit]),
    ])
}
