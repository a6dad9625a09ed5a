//! Errors are types, each with its words beside it; a text alone is an error only where the text is the answer.
//!
//! Owns the count of text errors, and where an error's `Display` stands. Reads the sources.

use super::tree::crates;

/// At most this many functions may fail with a text. Lower it with each change that makes them fewer.
const MOST_TEXTS: usize = 229;

/// The errors of a source that have words: the types behind `Display for`.
fn shown(code: &str) -> Vec<&str> {
    let behind = code.lines().filter_map(|line| line.split_once("Display for ")).map(|(_, name)| name);
    behind.map(|name| &name[..name.find(|c: char| !c.is_alphanumeric()).unwrap_or(name.len())]).collect()
}

/// True if a source defines this type. One made by a macro counts as defined there.
fn defines(code: &str, name: &str) -> bool {
    ["struct", "enum"].iter().any(|kind| {
        let begin = format!("{kind} {name}");
        let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric());
        code.split(&begin).skip(1).any(ends)
    })
}

#[test]
fn the_words_of_an_error_stand_with_its_type() {
    let mut apart = Vec::new();
    for (crate_, modules) in crates() {
        for module in &modules {
            let is_elsewhere = |name: &&str| {
                !defines(&module.code, name) && modules.iter().any(|other| defines(&other.code, name))
            };
            let names = shown(&module.code).into_iter().filter(is_elsewhere);
            apart.extend(names.map(|name| format!("{crate_}/{}: {name}", module.path.join("/"))));
        }
    }
    assert!(apart.is_empty(), "these types have their words in another file:\n{}", apart.join("\n"));
}

/// How many results have a text for their error.
fn text_errors(code: &str) -> usize {
    let ends = code.match_indices(", String>").map(|(at, _)| &code[..at]);
    // The beginning of the type that ends here.
    let opens = |before: &str| {
        let mut depth = 0;
        let at = before.rfind(|c: char| {
            depth += i32::from(c == '>') - i32::from(c == '<');
            depth < 0
        });
        at.map(|at| before[..at].to_owned()).unwrap_or_default()
    };
    ends.filter(|before| opens(before).ends_with("Result")).count()
}

#[test]
fn few_functions_fail_with_a_text() {
    let all = crates().into_iter().flat_map(|(_, modules)| modules);
    let many: usize = all.map(|module| text_errors(&module.code)).sum();
    assert!(many <= MOST_TEXTS, "{many} results have a text for their error; {MOST_TEXTS} may");
}

#[test]
fn types_and_their_words_are_found() {
    assert_eq!(shown("impl fmt::Display for A {\nimpl Display for B<'_> {"), ["A", "B"]);
    assert_eq!(
        text_errors("-> Result<(), String> -> BTreeMap<String, String> -> Result<Vec<(u8, u8)>, String>"),
        2
    );
    assert!(defines("pub enum A {", "A") && !defines("pub enum Ab {", "A"));
}
