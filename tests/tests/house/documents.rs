//! Documents that people finish: no page is longer than its limit, no link leads nowhere, no picture is left over.
//!
//! Reads the tree that is tracked, by its file names.

use std::fs;
use std::path::PathBuf;

use super::tree::root;

/// A page that nobody gave another limit, in bytes.
const PAGE: usize = 12 * 1024;

/// Pages with a limit of their own, in bytes, and the reason where it is above [`PAGE`].
const LIMITS: &[(&str, usize, &str)] = &[
    ("ARCHITECTURE.md", 16 * 1024, "it is the map of the whole tree"),
    ("docs/attacks.md", 26 * 1024, "it is a generated table: each attack in each row of kernels"),
    ("BENCHMARKS.md", 6 * 1024, ""),
    ("llms.txt", 4 * 1024, ""),
];

/// Every document, by its path below the top.
fn documents() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut todo = [
        ".",
        "docs",
        "docs/design",
        "extension",
        "bridge",
        "runner",
        "ipc-proto",
        "catalog-worker",
        "tests",
        "scripts",
    ]
    .map(PathBuf::from)
    .to_vec();
    while let Some(directory) = todo.pop() {
        let Ok(entries) = fs::read_dir(root().join(&directory)) else { continue };
        for entry in entries {
            let name = entry.unwrap().file_name().to_string_lossy().into_owned();
            let path = directory.join(&name);
            if name.ends_with(".md") || name == "llms.txt" {
                let text = fs::read_to_string(root().join(&path)).unwrap();
                let path = path.strip_prefix(".").unwrap_or(&path);
                found.push((path.to_string_lossy().into_owned(), text));
            }
        }
    }
    assert!(found.iter().any(|(path, _)| path == "README.md"));
    found
}

#[test]
fn a_page_is_no_longer_than_people_read() {
    let mut too_long = Vec::new();
    for (path, text) in documents() {
        let limit = LIMITS.iter().find(|(page, ..)| *page == path).map_or(PAGE, |(_, limit, _)| *limit);
        if text.len() > limit {
            too_long.push(format!("{path}: {} bytes, {limit} may be", text.len()));
        }
    }
    assert_eq!(too_long, [""; 0]);
    assert!(
        LIMITS.iter().all(|(_, limit, why)| *limit <= PAGE || !why.is_empty()),
        "a longer page has its reason"
    );
}

/// The files of the tree that a text names in backticks, below a directory of the top; `{a,b}` are two.
fn named_files(text: &str) -> Vec<String> {
    let tops =
        ["bridge/", "runner/", "catalog-worker/", "ipc-proto/", "extension/", "scripts/", "tests/", "docs/"];
    let words =
        text.split('`').skip(1).step_by(2).filter(|word| tops.iter().any(|top| word.starts_with(top)));
    let whole =
        words.filter(|word| !word.contains([' ', '*', '<', '…', '$', '\n']) && !word.contains("NAME"));
    whole.flat_map(alternatives).collect()
}

fn alternatives(word: &str) -> Vec<String> {
    let Some((before, rest)) = word.split_once('{') else { return vec![word.to_owned()] };
    let Some((inside, after)) = rest.split_once('}') else { return vec![word.to_owned()] };
    inside.split(',').map(|one| format!("{before}{one}{after}")).collect()
}

/// True if there is such a file. The directory `src` of its crate, and the end `.rs`, may be left out.
fn is_there(file: &str) -> bool {
    let in_src = file.match_indices('/').map(|(at, _)| format!("{}/src{}", &file[..at], &file[at..]));
    let exists = |path: &str| root().join(path).exists() || root().join(format!("{path}.rs")).exists();
    std::iter::once(file.to_owned()).chain(in_src).any(|path| exists(&path))
}

#[test]
fn a_named_file_is_there() {
    let pages = ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/design/"];
    let mut absent = Vec::new();
    for (path, text) in
        documents().into_iter().filter(|(path, _)| pages.iter().any(|page| path.starts_with(page)))
    {
        let named = named_files(&text).into_iter().filter(|file| !is_there(file));
        absent.extend(named.map(|file| format!("{path}: {file}")));
    }
    assert_eq!(absent, [""; 0]);
}

/// Targets of a document's links and pictures.
fn targets(text: &str) -> Vec<String> {
    let links = text.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|it| it.0));
    let pictures = text.split(" src=\"").skip(1).filter_map(|rest| rest.split_once('"').map(|it| it.0));
    links.chain(pictures).map(str::to_owned).collect()
}

/// A heading as links name it.
fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn a_link_leads_to_what_is_there() {
    let mut broken = Vec::new();
    for (path, text) in documents() {
        let here = root().join(&path);
        for target in targets(&text) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, section) = target.split_once('#').unwrap_or((&target, ""));
            let there = if file.is_empty() { here.clone() } else { here.parent().unwrap().join(file) };
            let has_section = || {
                let text = fs::read_to_string(&there).unwrap_or_default();
                text.lines().any(|line| line.starts_with('#') && anchor(line) == section)
            };
            if !there.exists() || (!section.is_empty() && !has_section()) {
                broken.push(format!("{path}: {target}"));
            }
        }
    }
    assert_eq!(broken, [""; 0]);
}

#[test]
fn a_picture_is_in_a_document() {
    let texts: String = documents().into_iter().map(|(_, text)| text).collect();
    let pictures = fs::read_dir(root().join("docs/images")).unwrap();
    let names = pictures.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let unused: Vec<_> = names.filter(|name| !texts.contains(name.as_str())).collect();
    assert_eq!(unused, [""; 0], "no document shows these");
}
