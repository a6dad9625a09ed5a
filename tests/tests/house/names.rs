//! One name, one type: within a crate a type's name stands for one type.
//!
//! Reads the sources. A number, or one capital letter, at a name's end does not make it another name.

use std::collections::BTreeMap;

use super::tree::{Module, crates};

/// So many names may be doubled in the whole tree. Lower it with each change that makes them fewer.
const MOST: usize = 7;

/// The types that a module defines, by name. A member of a trait is none.
fn types(module: &Module) -> Vec<String> {
    let kinds = ["struct", "enum", "trait", "union", "type"];
    let lines = module.code.lines().filter_map(|line| {
        let is_member = line.starts_with(' ') && line.trim_start().starts_with("type ");
        let line = line.trim_start();
        let line = line
            .strip_prefix("pub ")
            .or_else(|| line.strip_prefix("pub(")?.split_once(") ").map(|it| it.1))
            .unwrap_or(line);
        let (kind, rest) = line.split_once(' ')?;
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
        (kinds.contains(&kind) && !is_member && name.starts_with(char::is_uppercase)).then_some(name)
    });
    lines.collect()
}

/// `Call2` and `CallB` are `Call`.
fn bare(name: &str) -> &str {
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let mut end = name.char_indices().rev();
    match (end.next(), end.next()) {
        (Some((at, last)), Some((_, before))) if last.is_uppercase() && before.is_lowercase() => &name[..at],
        _ => name,
    }
}

#[test]
fn a_name_stands_for_one_type() {
    let mut doubled = Vec::new();
    for (crate_, modules) in crates() {
        let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for module in &modules {
            for name in types(module) {
                places.entry(bare(&name).to_owned()).or_default().push(module.path.join("/"));
            }
        }
        let several = places.into_iter().filter(|(_, places)| places.len() > 1);
        doubled.extend(several.map(|(name, places)| format!("{crate_}: {name} in {}", places.join(", "))));
    }
    assert!(doubled.len() <= MOST, "{} doubled names, {MOST} may be:\n{}", doubled.len(), doubled.join("\n"));
}

#[test]
fn a_suffix_does_not_make_another_name() {
    assert_eq!(
        ["Call2", "CallB", "Call", "Http", "HTTP", "A"].map(bare),
        ["Call", "Call", "Call", "Http", "HTTP", "A"]
    );
}
