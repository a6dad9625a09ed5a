//! Whether a call runs is decided in one place: `policy::consent`, asked by `host::consent` alone.

use crate::architecture::all_sources;

/// The files, tests apart, in which a text stands, as they end.
fn having(text: &str) -> Vec<String> {
    let is_test =
        |path: &str| path.contains("/tests") || path.ends_with("tests.rs") || path.contains("/fuzz/");
    let files = all_sources().into_iter().filter_map(|(path, source)| {
        let source = source.replace("#[cfg(test)]\nmod tests;", "");
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        let has = code.lines().any(|line| !line.trim_start().starts_with("//") && line.contains(text));
        let path = path.to_string_lossy().into_owned();
        (has && !is_test(&path)).then_some(path)
    });
    let mut files: Vec<_> = files.collect();
    files.sort();
    files
}

#[track_caller]
fn only(text: &str, files: &[&str]) {
    let found = having(text);
    assert!(
        found.len() == files.len() && found.iter().zip(files).all(|(found, file)| found.ends_with(file)),
        "{text}: {found:?}"
    );
}

#[test]
fn one_place_decides_one_asks_and_the_road_alone_makes_a_permit() {
    only("Run { is_typed", &["bridge/policy/src/consent.rs"]);
    only("Permit(right", &["bridge/policy/src/consent.rs"]);
    only("consent::judge(", &["bridge/src/host/consent/mod.rs"]);
    only("run.permit(", &["bridge/src/host/calls.rs", "bridge/src/host/requests.rs"]);
}

#[test]
fn a_hint_is_read_in_one_place_and_written_by_harbor_s_own_sources() {
    let (facts, browser) = ("bridge/policy/src/consent/facts.rs", "bridge/src/browser/tools.rs");
    let page = "bridge/src/browser/page_source.rs";
    only("destructiveHint", &[facts, page, browser]);
    only("readOnlyHint", &["bridge/policy/src/agent_tools/meta.rs", facts, page, browser]);
    // One about reach is good for nothing but an offer that is not made.
    only("openWorldHint", &[facts, browser]);
    only("says_open", &[facts, "bridge/src/install/packages.rs"]);
}
