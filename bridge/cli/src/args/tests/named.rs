//! Commands that texts name: each exists, with the options that stand with it. Help, errors, hints, documents.
//!
//! Looks at `harbor …` between backticks, and at lines of documents that begin with `$ harbor`.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::{HELP_ALL, command};

/// Where texts for people are, as seen from the root.
const PLACES: &[(&str, &str)] = &[
    ("bridge", "rs"),
    ("runner", "rs"),
    ("catalog-worker", "rs"),
    ("docs", "md"),
    ("README.md", "md"),
    ("extension", "ts"),
];

/// What is made by programs, or by others.
const NOT_OURS: &[&str] = &["node_modules", "dist", "target", "tests", "fixtures"];

fn files(place: &Path, end: &str, found: &mut Vec<PathBuf>) {
    if place.is_file() {
        found.push(place.to_owned());
        return;
    }
    for entry in fs::read_dir(place).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !NOT_OURS.contains(&name.as_str()) {
            files(&path, end, found);
        } else if name.ends_with(&format!(".{end}"))
            && !name.starts_with("tests")
            && !name.ends_with(".test.ts")
        {
            found.push(path);
        }
    }
}

/// The lines that a text names, without `harbor`.
fn lines(text: &str) -> Vec<String> {
    // A text that is broken in its source is one line; so is a comment.
    let text = text.split("\n#[cfg(test)]").next().unwrap_or_default().replace("\\`", "`");
    let mut whole = String::new();
    for line in text.lines() {
        let line = line.trim().trim_start_matches("///").trim_start_matches("//!").trim();
        match line.strip_suffix('\\') {
            Some(begun) => whole.push_str(begun),
            None => whole.push_str(&format!("{line}\n")),
        }
    }
    let shown = whole.lines().filter_map(|line| line.strip_prefix("$ harbor "));
    let mut found: Vec<_> =
        shown.map(|line| line.split(" #").next().unwrap_or_default().to_owned()).collect();
    let whole = whole.replace('\n', " ");
    for at in whole.match_indices("`harbor ").map(|(at, start)| at + start.len()) {
        let rest: String = whole[at..].chars().take(160).collect();
        found.extend(rest.split_once('`').map(|(line, _)| line.to_owned()));
    }
    found
}

/// What is wrong with a line; nothing is judged that only the text's reader fills in.
fn wrong(line: &str) -> Option<String> {
    let root = command();
    let mut at = &root;
    let mut is_path = true;
    for word in line.split_whitespace() {
        let word = word.trim_end_matches([',', '.', ';', ':']).trim_matches(['[', ']']);
        match word {
            "--" | "|" | "<" | ">" | "&&" | "…" => break,
            HELP_ALL => {}
            _ if word.contains(['{', '$', '<']) => is_path = false,
            option if option.starts_with("--") => {
                let name = option[2..].split(['=', '|']).next().unwrap_or_default();
                let has =
                    |command: &clap::Command| command.get_arguments().any(|arg| arg.get_long() == Some(name));
                let is_known = has(at) || has(&root) || matches!(name, "help" | "version" | "json" | "");
                if !is_known {
                    return Some(format!("`harbor {line}`: {} has no --{name}", at.get_name()));
                }
            }
            name if is_path => {
                let names = name.split('|').next().unwrap_or_default();
                match at.find_subcommand(names) {
                    Some(below) => at = below,
                    None if at.get_name() == "harbor" && names.chars().all(|c| c.is_ascii_lowercase()) => {
                        return Some(format!("`harbor {line}`: there is no command {name}"));
                    }
                    None => is_path = false,
                }
            }
            _ => {}
        }
    }
    None
}

#[test]
fn texts_name_commands_and_options_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    PLACES.iter().for_each(|(place, end)| files(&root.join(place), end, &mut found));
    let (mut count, mut all) = (0, Vec::new());
    for path in found {
        for line in lines(&fs::read_to_string(&path).unwrap()) {
            count += 1;
            all.extend(wrong(&line).map(|what| format!("{}: {what}", path.display())));
        }
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
    assert!(count > 200, "{count}");
}

#[test]
fn a_wrong_text_is_found() {
    let named = |text: &str| lines(text).iter().filter_map(|line| wrong(line)).count();
    assert_eq!(named("say `harbor sandbox NAME --memory-mb 5`"), 1);
    assert_eq!(
        named("say `harbor nosuch`, or `harbor mcp install \\\n    claude --nosuch`\n$ harbor lst"),
        3
    );
    assert_eq!(named("`harbor add {name} -- x --y` `harbor {verb} x` `harbor help add --help-all`"), 0);
}

#[test]
fn the_readme_is_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let length = fs::metadata(root.join("README.md")).unwrap().len();
    assert!(length <= 10 << 10, "{length} bytes: what nobody needs in the first hour is for docs/");
}
