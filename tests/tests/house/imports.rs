//! The arrows of a crate: which file imports what from which other file, read as the compiler reads paths.
//!
//! An arrow ends where the thing is defined, through whatever file's `use` it was named: a re-export hides nothing. A method is
//! called without its type's path, so a call of one makes no arrow; the type's name in an import does.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::Module;

/// Where something is in its crate; empty for the crate's own file.
pub type Place = Vec<String>;

/// The names that the first file takes from the second.
pub type Arrows = BTreeMap<(Place, Place), BTreeSet<String>>;

/// A path of a `use`: its text, the name that it gets here, and whether it is given on to others.
struct Import {
    written: String,
    name: String,
    is_given_on: bool,
}

/// `a::{b, c::d}` as `a::b` and `a::c::d`.
fn each(tree: &str) -> Vec<String> {
    let Some((before, inside)) = tree.split_once('{') else { return vec![tree.to_owned()] };
    let inside = inside.strip_suffix('}').unwrap_or(inside);
    let (mut depth, mut all, mut one) = (0, Vec::new(), String::new());
    for c in inside.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        match c {
            ',' if depth == 0 => all.push(std::mem::take(&mut one)),
            _ => one.push(c),
        }
    }
    all.push(one);
    all.iter().filter(|one| !one.is_empty()).flat_map(|one| each(&format!("{before}{one}"))).collect()
}

/// A line without `pub`, and whether it was there.
fn bare(line: &str) -> (bool, &str) {
    let line = line.trim_start();
    let behind = line.strip_prefix("pub(").and_then(|rest| rest.split_once(") ")).map(|(_, rest)| rest);
    let behind = line.strip_prefix("pub ").or(behind);
    (behind.is_some(), behind.unwrap_or(line))
}

/// Splits a file into its imports by `use` and the rest of its code.
fn read(code: &str) -> (Vec<Import>, String) {
    let (mut imports, mut rest, mut open) = (Vec::new(), String::new(), None::<(bool, String)>);
    for line in code.lines() {
        let (is_given_on, mut tree) = match open.take() {
            Some((is_given_on, begun)) => (is_given_on, begun + line.trim()),
            None => match bare(line) {
                // A file is often called like what is given on from it.
                (_, line) if line.starts_with("mod ") && line.ends_with(';') => continue,
                (is_given_on, line) => match line.strip_prefix("use ") {
                    Some(tree) => (is_given_on, tree.to_owned()),
                    None => {
                        rest.push_str(line);
                        rest.push('\n');
                        continue;
                    }
                },
            },
        };
        if !tree.contains(';') {
            tree.push(' ');
            open = Some((is_given_on, tree));
            continue;
        }
        let tree: String =
            tree.replace(" as ", "@").chars().filter(|c| !c.is_whitespace() && *c != ';').collect();
        imports.extend(each(&tree).into_iter().map(|one| {
            let (written, alias) = one.split_once('@').unwrap_or((&one, ""));
            let written = written.trim_end_matches("::self").to_owned();
            let last = written.rsplit("::").next().unwrap_or_default();
            let name = if alias.is_empty() { last } else { alias }.to_owned();
            Import { written, name, is_given_on }
        }));
    }
    (imports, rest)
}

fn not_in_path(c: char) -> bool {
    !(c.is_alphanumeric() || c == '_' || c == ':')
}

/// The words of a code, paths whole. A macro's path from `$crate` on is none: it is used where the macro is.
fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(not_in_path).map(|word| word.trim_end_matches(':'))
}

/// The names that a code defines. The macros of ipc-proto define a type behind a message's name.
fn defined(code: &str) -> BTreeSet<String> {
    let kinds = ["struct", "enum", "trait", "union", "type", "fn", "const", "static", "macro_rules!"];
    let words: Vec<_> = code.split_whitespace().collect();
    let pairs = words.windows(2).filter(|pair| kinds.contains(&pair[0]) || pair[0].ends_with('"'));
    let name = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    pairs.map(|pair| name(pair[1])).collect()
}

/// The files of a crate and what each calls by which name.
struct Names {
    defined: BTreeMap<Place, BTreeSet<String>>,
    imported: BTreeMap<Place, Place>,
    /// The files whose `use x::*` give on all of another.
    all_of: Vec<(Place, Place)>,
}

impl Names {
    /// A written path from the top of the crate; `None` if it is of another crate.
    fn resolved(&self, written: &str, file: &[String]) -> Option<Place> {
        let mut parts: Vec<_> = written.split("::").collect();
        let mut base = file.to_vec();
        match *parts.first()? {
            "crate" => base.clear(),
            "self" | "super" => {}
            // In a path, a name of this file comes before another crate's.
            first => {
                let here = [file, &[first.to_owned()]].concat();
                if !self.defined.contains_key(&here) && !self.imported.contains_key(&here) {
                    return None;
                }
            }
        }
        while let Some(&first) = parts.first()
            && ["crate", "self", "super"].contains(&first)
        {
            if first == "super" {
                base.pop();
            }
            parts.remove(0);
        }
        base.extend(parts.iter().map(|part| (*part).to_owned()));
        Some(base)
    }

    /// The file that defines what a path names, and its name there; `None` for a file as a whole.
    fn owner(&self, path: &[String]) -> Option<(Place, String)> {
        let mut path = path.to_vec();
        // More steps than any chain of re-exports has.
        for _ in 0..20 {
            let file = (0..=path.len()).rev().find(|k| self.defined.contains_key(&path[..*k]))?;
            let name = path.get(file)?.clone();
            let of_all =
                || self.all_of.iter().filter(|(giver, _)| *giver == path[..file]).map(|(_, from)| from);
            let next = match self.imported.get(&path[..=file]) {
                Some(target) => Some(target.clone()),
                None if self.defined[&path[..file]].contains(&name) => None,
                None => of_all()
                    .find(|from| self.gives(from, &name))
                    .map(|from| [from, &path[file..=file]].concat()),
            };
            match next {
                Some(target) => path = [&target, &path[file + 1..]].concat(),
                None => return Some((path[..file].to_vec(), name)),
            }
        }
        None
    }

    fn gives(&self, file: &Place, name: &String) -> bool {
        self.defined.get(file).is_some_and(|names| names.contains(name))
            || self.all_of.iter().any(|(giver, from)| giver == file && self.gives(from, name))
            || self.imported.contains_key(&[&**file, std::slice::from_ref(name)].concat())
    }
}

/// Every arrow between the files of a crate.
pub fn arrows(modules: &[Module]) -> Arrows {
    let read: Vec<_> = modules.iter().map(|module| (&module.path, read(&module.code))).collect();
    let defined = read.iter().map(|(path, (_, rest))| ((*path).clone(), defined(rest))).collect();
    let mut names = Names { defined, imported: BTreeMap::new(), all_of: Vec::new() };
    for (path, (imports, _)) in &read {
        for import in imports {
            let Some(target) = names.resolved(&import.written, path) else { continue };
            let here = [path, &[import.name.clone()][..]].concat();
            match import.name.as_str() {
                "*" => names.all_of.push(((*path).clone(), target[..target.len() - 1].to_vec())),
                _ if here == target => {}
                _ => drop(names.imported.insert(here, target)),
            }
        }
    }
    let mut all = Arrows::new();
    for (path, (imports, rest)) in &read {
        // Behind the name of a field stands a single colon.
        let is_first = |word: &str, name: &str| word == name || word.starts_with(&format!("{name}::"));
        let is_used = |name: &str| rest.split(not_in_path).any(|word| is_first(word, name));
        let by_use = imports.iter().filter(|import| !import.is_given_on || is_used(&import.name));
        let rest = rest.replace("$crate", "$");
        let in_code = words(&rest).filter(|word| word.contains("::"));
        for written in by_use.map(|import| &*import.written).chain(in_code) {
            let found = names.resolved(written, path).and_then(|target| names.owner(&target));
            if let Some((other, name)) = found.filter(|(other, _)| other != *path) {
                all.entry(((*path).clone(), other)).or_default().insert(name);
            }
        }
    }
    all
}

#[test]
fn paths_are_read_as_the_compiler_reads_them() {
    assert_eq!(each("a::{b,c::{d,e}}"), ["a::b", "a::c::d", "a::c::e"]);
    let module = |path: &str, code: &str| Module {
        path: path.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect(),
        text: String::new(),
        code: code.to_owned(),
    };
    let modules = [
        module("", "mod args;\nmod room;\n"),
        module("args", "pub struct Given;\nuse std::fs;\n"),
        module("room", "mod deep;\npub use deep::{Inner as Known, more};\npub use other::*;\n"),
        module("room::deep", "pub struct Inner;\nfn a() { super::super::args::Given; }\n"),
        module(
            "room::other",
            "use super::Known;\nuse crate::room::deep;\npub struct Far;\nfn b() { deep::go() }\n",
        ),
        module("room::third", "use {\n    super::Far,\n};\n"),
    ];
    let found: Vec<_> = arrows(&modules)
        .into_iter()
        .map(|((from, to), names)| {
            let names: Vec<_> = names.into_iter().collect();
            format!("{} {} {}", from.join("/"), to.join("/"), names.join(","))
        })
        .collect();
    assert_eq!(found, ["room/deep args Given", "room/other room/deep Inner,go", "room/third room/other Far"]);
}
