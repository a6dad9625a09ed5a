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
mod description;
pub mod exit_words;
pub mod failure;
pub mod git;
mod names;
pub mod npm;
pub mod older;
pub mod pypi;
pub mod readme;
mod readme_command;
pub mod registries;
pub mod source;
mod step;
pub mod trial_confinement;
pub mod typed;
pub mod usage;

pub use description::{Ecosystem, Package};
pub use names::is_program;
use names::{npm_spec, python_spec};
pub use step::Step;

/// How many programs a sentence lists.
const MAX_LISTED: usize = 12;

/// Programs that download before they run, or can be asked to.
const WRAPPERS: &[&str] = &[
    "bun", "bunx", "deno", "docker", "go", "npm", "npx", "pipx", "pnpm", "pnpx", "podman", "uv", "uvx",
    "yarn",
];

/// `npx -p PACKAGE node FILE` runs no program of the package: there would be nothing to resolve.
const INTERPRETERS: &[&str] = &["bash", "bun", "deno", "env", "node", "npm", "npx", "pypy", "sh", "zsh"];

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

    /// The programs as npm links them: of a name, the text before the last `/` is left out.
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

/// The package that a command line runs. None if the command should run as written.
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

fn is_interpreter(program: &str) -> bool {
    let version = |rest: &str| rest.bytes().all(|b| b.is_ascii_digit() || b".wt".contains(&b));
    INTERPRETERS.contains(&program) || program.strip_prefix("python").is_some_and(version)
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

/// The spec as a shell needs it: an unquoted `>=` is a redirection.
fn quoted(spec: &str) -> String {
    let plain = spec.chars().all(|c| c.is_ascii_alphanumeric() || "@/._-+=".contains(c));
    if plain { spec.to_owned() } else { format!("'{spec}'") }
}

/// The content of the repository of a package of git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A `package.json`.
    Node {
        /// It says in a lock file which packages it needs.
        locked: bool,
        /// True if its script must build it.
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

#[cfg(test)]
mod tests;
