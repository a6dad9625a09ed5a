//! The shipped sources, crate by crate: which modules there are, and their code without comments and tests.

use std::fs;
use std::path::{Path, PathBuf};

/// A file of a crate.
#[derive(Debug)]
pub struct Module {
    /// Its path in the crate; empty for `lib.rs`.
    pub path: Vec<String>,
    /// Its text as far as it is shipped, comments included.
    pub text: String,
    /// The same without comments.
    pub code: String,
}

/// The crates that are shipped, by the directories of their sources.
const CRATES: [&str; 15] = [
    "bridge/src",
    "bridge/cli/src",
    "bridge/client-configs/src",
    "bridge/client/src",
    "bridge/home/src",
    "bridge/mcp-server/src",
    "bridge/policy/src",
    "catalog-worker/src",
    "ipc-proto/src",
    "runner/child/src",
    "runner/egress/src",
    "runner/http/src",
    "runner/model/src",
    "runner/src",
    "runner/web/src",
];

/// The top of the tree.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Each crate's directory and its modules.
pub fn crates() -> Vec<(&'static str, Vec<Module>)> {
    let all = CRATES.iter().map(|directory| {
        let mut found = Vec::new();
        read(&root().join(directory), &[], &mut found);
        assert!(!found.is_empty(), "{directory} has no sources");
        let for_tests: Vec<_> = found.iter().flat_map(for_tests).collect();
        found.retain(|module| !for_tests.iter().any(|path| module.path.starts_with(path)));
        (*directory, found)
    });
    all.collect()
}

/// The places of a module's children that only tests have.
fn for_tests(module: &Module) -> Vec<Vec<String>> {
    let declared = module.text.split("\n#[cfg(test)]\nmod ").skip(1);
    let names = declared.filter_map(|rest| rest.split_once(';')).map(|(name, _)| name.to_owned());
    names.map(|name| [&*module.path, &[name]].concat()).collect()
}

/// A file's text up to the tests in it. The line of tests in a file of their own ends nothing.
fn shipped(text: &str) -> &str {
    let mut tests = text.match_indices("\n#[cfg(test)]\n");
    let begin = tests.find(|(at, mark)| {
        let line = text[at + mark.len()..].lines().next().unwrap_or_default();
        line.contains("mod ") && line.ends_with('{')
    });
    begin.map_or(text, |(at, _)| &text[..at])
}

fn read(directory: &Path, path: &[String], found: &mut Vec<Module>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap().path();
        let name = entry.file_stem().unwrap().to_string_lossy().into_owned();
        // `rig` holds what the unit tests of a crate share.
        if ["tests", "rig", "main"].contains(&name.as_str()) {
            continue;
        }
        let is_parent = ["lib", "mod"].contains(&name.as_str());
        let path = if is_parent { path.to_vec() } else { [path, &[name]].concat() };
        if entry.is_dir() {
            read(&entry, &path, found);
        } else if entry.extension().is_some_and(|end| end == "rs") {
            let text = fs::read_to_string(&entry).unwrap();
            let text = shipped(&text).to_owned();
            let code: Vec<_> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            let code = code.join("\n");
            found.push(Module { path, text, code });
        }
    }
}
