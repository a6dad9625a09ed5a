//! Finds the package that a command line runs, and installs that package instead.
//!
//! ```text
//!  npm:…, pypi:…, git:…,
//!  binary:… ─────────────┐            ┌─ prepare ─ (resolve ─► lock) ─ install     the commands of each step
//!  npx …, uvx … ─────────┴─► Package ─┴─ the program of the package
//! ```
//!
//! `npx` and `uvx` download before they run and stay resident after that. Owns the reading of their command lines, so that the
//! package is installed once and run by its own program. Each kind has a file with its commands. Must never let a word through
//! that an installer would take for an option, a path or an address. A command line that is not understood to the last word gives
//! `None`, and the server is kept as it was written.

use std::collections::BTreeMap;

pub mod binary;
mod dependency_conflict;
pub mod exit_words;
pub mod failure;
pub mod git;
pub mod npm;
pub mod older;
pub mod pypi;
pub mod readme;
mod readme_command;
pub mod registries;
pub mod source;
pub mod trial_confinement;
pub mod typed;
pub mod usage;

/// Longer than any name or version that is meant.
const MAX_SPEC: usize = 300;
/// npm's own limit.
const MAX_NAME: usize = 214;
/// How many programs a sentence lists.
const MAX_LISTED: usize = 12;

/// Programs that download before they run, or can be asked to.
const WRAPPERS: &[&str] = &[
    "bun", "bunx", "deno", "docker", "go", "npm", "npx", "pipx", "pnpm", "pnpx", "podman", "uv", "uvx",
    "yarn",
];

/// `npx -p PACKAGE node FILE` runs no program of the package: there would be nothing to resolve.
const INTERPRETERS: &[&str] = &["bash", "bun", "deno", "env", "node", "npm", "npx", "pypy", "sh", "zsh"];

/// Installers take a name that ends like this for a file.
const ARCHIVES: &[&str] =
    &[".bz2", ".gz", ".lz", ".lzma", ".tar", ".tbz", ".tgz", ".tlz", ".txz", ".whl", ".xz", ".zip"];

/// Where a package comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ecosystem {
    /// npm, for Node.js.
    Npm,
    /// The Python package index.
    Pypi,
    /// A repository with a package of either of them.
    Git,
    /// A program, or an archive with one, that somebody offers for download.
    Binary,
}

impl Ecosystem {
    /// Its name, for people and for the stamp of an installation.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pypi => "pypi",
            Self::Git => "git",
            Self::Binary => "binary",
        }
    }
}

/// A package that a command line runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Where it comes from.
    pub ecosystem: Ecosystem,
    /// The package as the installer is given it: `@scope/name@1.2`, `name==1.2`, `name[extra]>=1`.
    pub spec: String,
    /// The package, without version and extras.
    pub name: String,
    /// The program, where one was named apart from the package.
    pub program: Option<String>,
    /// The server's own arguments.
    pub args: Vec<String>,
    /// Other packages that are installed beside it, as the installer is given them.
    pub with: Vec<String>,
}

impl Package {
    /// The program that is called like the package: npm leaves the scope out.
    #[must_use]
    pub fn program_or_name(&self) -> &str {
        self.program.as_deref().unwrap_or_else(|| self.bare_name())
    }

    /// Itself, then what is installed beside it.
    #[must_use]
    pub fn wanted(&self) -> Vec<&str> {
        std::iter::once(&self.spec).chain(&self.with).map(String::as_str).collect()
    }

    fn bare_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }
}

/// The value of `bin` in a package.json. It is other people's data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bins {
    /// One path: a program that is called like the package.
    One(String),
    /// Paths of programs, by name.
    Named(BTreeMap<String, String>),
}

impl Bins {
    /// The path of a program inside its package.
    #[must_use]
    pub fn path<'a>(&'a self, package: &'a Package, program: &str) -> Option<&'a str> {
        self.programs(package).get(program).copied()
    }

    /// As npm makes links of them: what stands before the last `/` of a name is left out.
    fn programs<'a>(&'a self, package: &'a Package) -> BTreeMap<&'a str, &'a str> {
        let all: Vec<(&str, &str)> = match self {
            Self::One(path) => vec![(package.bare_name(), path)],
            Self::Named(paths) => paths.iter().map(|(name, path)| (last_part(name), path.as_str())).collect(),
        };
        all.into_iter().filter(|(name, path)| is_program(name) && !path.is_empty()).collect()
    }
}

fn last_part(name: &str) -> &str {
    name.rsplit(['/', '\\', ':']).next().unwrap_or_default()
}

/// The package that a command line runs; `None` when it is to be run as it is written.
#[must_use]
pub fn recognise(command: &str, args: &[String]) -> Option<Package> {
    if source::is_source(command) {
        return source::read(command, args).ok();
    }
    match (tool(command)?, args) {
        ("npx", args) => npx(args),
        ("uvx", args) => uvx(args),
        ("uv", [tool, run, args @ ..]) if tool == "tool" && run == "run" => uvx(args),
        _ => None,
    }
}

/// True if a command is a program that downloads before it runs: its server needs longer for its start.
#[must_use]
pub fn is_wrapper(command: &str) -> bool {
    tool(command).is_some_and(|tool| WRAPPERS.contains(&tool))
}

/// The last part of an absolute path, or a name. A relative path is somebody's own script.
fn tool(command: &str) -> Option<&str> {
    let name = command.rsplit('/').next()?;
    (name == command || command.starts_with('/')).then_some(name)
}

fn npx(args: &[String]) -> Option<Package> {
    let line = Line::read(args, &["-y", "--yes", "-q", "--quiet"], &["-p", "--package"])?;
    package(Ecosystem::Npm, npm_spec(line.spec)?, &line)
}

fn uvx(args: &[String]) -> Option<Package> {
    let line = Line::read(args, &["-q", "--quiet"], &["--from"])?;
    // `uvx python` is an interpreter of uv's choice, not a package.
    package(Ecosystem::Pypi, python_spec(line.spec).filter(|(name, _)| !is_interpreter(name))?, &line)
}

fn package(ecosystem: Ecosystem, (name, spec): (String, String), line: &Line) -> Option<Package> {
    let program = line.program.map(ToOwned::to_owned);
    let usable = program.as_deref().is_none_or(|program| is_program(program) && !is_interpreter(program));
    usable.then(|| Package { ecosystem, spec, name, program, args: line.args.to_vec(), with: Vec::new() })
}

/// A command line of npx or uvx, after its options.
struct Line<'a> {
    spec: &'a str,
    program: Option<&'a str>,
    args: &'a [String],
}

impl<'a> Line<'a> {
    /// Reads options up to the first word that is none: `flags` stand alone, `choosing` name the package.
    fn read(args: &'a [String], flags: &[&str], choosing: &[&str]) -> Option<Self> {
        let (mut rest, mut chosen) = (args, None);
        loop {
            let (word, after) = rest.split_first()?;
            rest = after;
            let value = match word.as_str() {
                "--" => {
                    let (first, args) = rest.split_first()?;
                    return Some(Self::of(chosen, first, args));
                }
                first if !first.starts_with('-') => return Some(Self::of(chosen, first, rest)),
                flag if flags.contains(&flag) => continue,
                option if choosing.contains(&option) => {
                    let (value, after) = rest.split_first()?;
                    rest = after;
                    value.as_str()
                }
                option => option.split_once('=').filter(|(name, _)| choosing.contains(name))?.1,
            };
            if chosen.replace(value).is_some() {
                return None;
            }
        }
    }

    fn of(chosen: Option<&'a str>, first: &'a str, args: &'a [String]) -> Self {
        match chosen {
            Some(spec) => Self { spec, program: Some(first), args },
            None => Self { spec: first, program: None, args },
        }
    }
}

/// Name and spec of `name`, `@scope/name`, each with or without `@version`.
fn npm_spec(spec: &str) -> Option<(String, String)> {
    // The first letter may be the `@` of a scope.
    let at = spec.char_indices().skip(1).find(|(_, c)| *c == '@').map(|(at, _)| at);
    let (name, version) = at.map_or((spec, None), |at| (&spec[..at], Some(&spec[at + 1..])));
    let whole = is_npm_name(name) && version.is_none_or(is_npm_version) && is_harmless(spec);
    whole.then(|| (name.to_owned(), spec.to_owned()))
}

fn is_npm_name(name: &str) -> bool {
    let part = |part: &str| {
        let letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        is_word(part, letter, |b| letter(b) || b"._-".contains(&b)) && part != "node_modules"
    };
    let parts_are_right = match name.strip_prefix('@') {
        Some(scoped) => scoped.split_once('/').is_some_and(|(scope, name)| part(scope) && part(name)),
        None => part(name),
    };
    parts_are_right && name.len() <= MAX_NAME && is_harmless(name)
}

/// A version, a range without spaces or a tag. An address or an alias has a `:` or a `/`.
fn is_npm_version(version: &str) -> bool {
    let first = |b: u8| b.is_ascii_alphanumeric() || b"^~<>=*".contains(&b);
    is_word(version, first, |b| first(b) || b"._+-|".contains(&b))
}

/// Name and spec of `name`, `name[extra]`, each with `@version` or clauses like `>=1,<2` or neither.
fn python_spec(text: &str) -> Option<(String, String)> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c))).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let (extras, rest) = match rest.strip_prefix('[') {
        Some(rest) => rest.split_once(']').filter(|(extras, _)| extras.split(',').all(is_python_name))?,
        None => ("", rest),
    };
    let version = match rest.strip_prefix('@') {
        Some("latest") => String::new(),
        // uv's way to write it, which no other installer knows.
        Some(version) => {
            (is_python_version(version) && !version.contains('*')).then(|| format!("=={version}"))?
        }
        None => (rest.is_empty() || rest.split(',').all(is_clause)).then(|| rest.to_owned())?,
    };
    let extras = if extras.is_empty() { String::new() } else { format!("[{extras}]") };
    let spec = format!("{name}{extras}{version}");
    (is_python_name(name) && is_harmless(name) && is_harmless(&spec)).then(|| (name.to_owned(), spec))
}

fn is_python_name(name: &str) -> bool {
    let letter = |b: u8| b.is_ascii_alphanumeric();
    is_word(name, letter, |b| letter(b) || b"._-".contains(&b))
        && name.bytes().next_back().is_some_and(letter)
}

fn is_clause(clause: &str) -> bool {
    ["==", ">=", "<=", "~=", "!=", "<", ">"]
        .iter()
        .find_map(|operator| clause.strip_prefix(operator))
        .is_some_and(is_python_version)
}

fn is_python_version(version: &str) -> bool {
    is_word(version, |b| b.is_ascii_digit(), |b| b.is_ascii_alphanumeric() || b".+!*_-".contains(&b))
}

/// A file's name and nothing more.
#[must_use]
pub fn is_program(name: &str) -> bool {
    let letter = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    is_word(name, letter, |b| letter(b) || b".+-".contains(&b))
        && name.len() <= MAX_NAME
        && !name.contains("..")
}

fn is_interpreter(program: &str) -> bool {
    let version = |rest: &str| rest.bytes().all(|b| b.is_ascii_digit() || b".wt".contains(&b));
    INTERPRETERS.contains(&program) || program.strip_prefix("python").is_some_and(version)
}

fn is_word(word: &str, first: impl Fn(u8) -> bool, further: impl Fn(u8) -> bool) -> bool {
    word.bytes().next().is_some_and(first) && word.bytes().skip(1).all(further)
}

/// Neither a way up nor the name of a file.
fn is_harmless(spec: &str) -> bool {
    let lower = spec.to_ascii_lowercase();
    spec.len() <= MAX_SPEC && !spec.contains("..") && !ARCHIVES.iter().any(|ending| lower.ends_with(ending))
}

/// The program of an npm package that npx would run.
///
/// # Errors
/// A sentence that lists the programs there are, when the one asked for is not there or none is obvious.
pub fn npm_program(package: &Package, bins: &Bins) -> Result<String, String> {
    let programs = bins.programs(package);
    let found = match package.program.as_deref() {
        Some(asked) => programs.contains_key(asked).then_some(asked),
        None => obvious(&programs, package.bare_name()),
    };
    found.map(Into::into).ok_or_else(|| no_program(package, programs.keys().copied()))
}

/// The one called like the package; else the only one, under whatever names.
fn obvious<'a>(programs: &BTreeMap<&'a str, &'a str>, like_package: &'a str) -> Option<&'a str> {
    if programs.contains_key(like_package) {
        return Some(like_package);
    }
    let (first, path) = programs.first_key_value()?;
    let plain = |path: &'a str| path.trim_start_matches("./");
    programs.values().all(|other| plain(other) == plain(path)).then_some(first)
}

/// The sentence for a person when the program of a package is missing or not obvious.
#[must_use]
pub fn no_program<'a>(package: &Package, programs: impl IntoIterator<Item = &'a str>) -> String {
    let Package { spec, name, .. } = package;
    let mut listed: Vec<_> = programs.into_iter().take(MAX_LISTED + 1).collect();
    if listed.is_empty() {
        return format!("the package {name} has no program to run: it is a library, not a server");
    }
    if listed.len() > MAX_LISTED {
        listed[MAX_LISTED] = "...";
    }
    let why = match &package.program {
        Some(program) => format!("has no program {program}"),
        None => format!("does not say which of its programs is {name}"),
    };
    let choose = match package.ecosystem {
        Ecosystem::Npm => "npx --package",
        Ecosystem::Pypi => "uvx --from",
        Ecosystem::Git | Ecosystem::Binary => {
            return format!("the package {name} {why}; it has {}", listed.join(", "));
        }
    };
    let listed = listed.join(", ");
    format!(
        "the package {name} {why}; choose one of {listed}: `harbor add NAME -- {choose} {} PROGRAM`",
        quoted(spec)
    )
}

/// As a shell has to be given it: `>=` is a redirection there.
fn quoted(spec: &str) -> String {
    let plain = spec.chars().all(|c| c.is_ascii_alphanumeric() || "@/._-+=".contains(c));
    if plain { spec.to_owned() } else { format!("'{spec}'") }
}

/// One command line of an installer.
pub type Step = Vec<String>;

/// The content of the repository of a package of git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A `package.json`.
    Node {
        /// It says in a lock file which packages it needs.
        locked: bool,
        /// It is to be built by its script.
        builds: bool,
    },
    /// A `pyproject.toml` or `setup.py`.
    Python,
}

/// The first steps: they make an environment (of this `python`, if not the usual one), or fetch a repository.
#[must_use]
pub fn prepare(package: &Package, dir: &str, has_uv: bool, python: Option<&str>) -> Vec<Step> {
    match package.ecosystem {
        Ecosystem::Npm => Vec::new(),
        Ecosystem::Pypi => vec![pypi::environment(dir, has_uv, python)],
        Ecosystem::Git => git::fetch(package, dir),
        Ecosystem::Binary => binary::fetch(package, dir),
    }
}

/// True if only running the package's code can show what the package needs.
#[must_use]
pub fn must_build(content: Option<Content>) -> bool {
    content == Some(Content::Python)
}

/// The steps that find the exact versions of everything. Unless something `may_build`, no code of any package runs.
#[must_use]
pub fn resolve(
    package: &Package,
    dir: &str,
    has_uv: bool,
    content: Option<Content>,
    may_build: bool,
) -> Vec<Step> {
    match (package.ecosystem, content) {
        (Ecosystem::Npm, _) => vec![npm::resolve(dir, &package.spec, may_build)],
        (Ecosystem::Pypi, _) => vec![pypi::resolve(dir, &package.wanted(), has_uv, may_build)],
        // What is downloaded has said all of itself by then.
        (_, Some(Content::Node { locked: true, .. }) | None) => Vec::new(),
        (_, Some(Content::Node { locked: false, .. })) => {
            vec![npm::resolve_source(&git::package_dir(package, dir), may_build)]
        }
        (_, Some(Content::Python)) => {
            vec![pypi::resolve_source(dir, &git::package_dir(package, dir), &package.with, has_uv)]
        }
    }
}

/// The steps that install exactly the versions in this `lock`.
#[must_use]
pub fn install(
    package: &Package,
    dir: &str,
    has_uv: bool,
    content: Option<Content>,
    lock: &str,
) -> Vec<Step> {
    match (package.ecosystem, content) {
        (Ecosystem::Npm, _) => npm::install(dir, npm::runs_scripts(lock)),
        (Ecosystem::Pypi, _) => vec![pypi::install(dir, has_uv)],
        (_, None) => Vec::new(),
        (_, Some(Content::Node { builds, .. })) => {
            npm::install_source(&git::package_dir(package, dir), builds)
        }
        (_, Some(Content::Python)) => pypi::install_source(dir, &git::package_dir(package, dir), has_uv),
    }
}

fn line(words: &[&[&str]]) -> Step {
    words.concat().into_iter().map(ToOwned::to_owned).collect()
}

#[cfg(test)]
mod tests;
