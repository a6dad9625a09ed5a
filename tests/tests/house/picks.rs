//! The picks of scripts/groups.sh: each names tests that exist. A test that is renamed would leave its pick without a word.

use std::fs;

use super::tree::root;

#[test]
fn each_picked_test_exists() {
    let groups = fs::read_to_string(root().join("scripts/groups.sh")).unwrap();
    let tests = root().join("tests/tests");
    let picked: Vec<_> = groups.lines().map(str::trim).filter_map(picked).collect();
    assert!(picked.len() > 10, "scripts/groups.sh picks tests in another way than this test knows");
    let is_missing = |(module, test): &&(&str, &str)| {
        let files = ["e2e", "sandbox"].map(|suite| tests.join(suite));
        let files = files
            .iter()
            .flat_map(|suite| [suite.join(format!("{module}.rs")), suite.join(module).join("mod.rs")]);
        let text: String = files.filter_map(|file| fs::read_to_string(file).ok()).collect();
        // The scenarios of the conformance suite are rows of a table.
        !text.contains(&format!("fn {test}(")) && !text.contains(&format!("\n    {test}: "))
    };
    let missing: Vec<_> = picked.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "scripts/groups.sh picks tests that are not there: {missing:?}");
}

#[test]
fn each_picked_case_of_a_browser_exists() {
    let groups = fs::read_to_string(root().join("scripts/groups.sh")).unwrap();
    let lists = groups.lines().filter(|line| line.starts_with("picked_cases"));
    let words = lists
        .filter_map(|line| line.split_once('(')?.1.split_once(')'))
        .flat_map(|(words, _)| words.split(' '));
    let cases = fs::read_dir(root().join("extension/e2e/cases")).unwrap();
    let cases: Vec<_> = cases.map(|case| case.unwrap().file_name().to_string_lossy().into_owned()).collect();
    for word in words {
        assert!(
            cases.iter().any(|case| case.contains(word)),
            "scripts/groups.sh picks '{word}': no case has that name"
        );
    }
}

/// The module and the name of a test that a line picks.
fn picked(line: &str) -> Option<(&str, &str)> {
    let (module, test) = line.split_once("::")?;
    let is_name = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    (!test.is_empty() && is_name(module) && is_name(test)).then_some((module, test))
}
