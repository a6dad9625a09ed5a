//! The commands of pip and uv.
//!
//! First the versions and their hashes are found, then exactly those are installed: both programs refuse a package with another
//! hash.

use super::names::{is_python_name, is_python_version, python_spec};
use super::step::{Step, line};
use crate::pythons::{Version, version};

/// The file with the wanted packages, for uv.
pub const WANTED: &str = "requirements.in";
/// The versions that a repository says by its own lock.
pub const WITHIN: &str = "constraints.txt";
/// The lock of uv, in a repository.
pub const OF_UV: &str = "uv.lock";
/// The versions, of everything, with their hashes.
pub const LOCK: &str = "requirements.txt";
/// The plan of pip: the packages that it would install.
pub const REPORT: &str = "report.json";

/// pip, which starts nothing: what a plan runs.
pub const PLAN: &str = "plan.py";
/// The text of that file.
pub const PLAN_TEXT: &str = include_str!("plan.py");
/// The words of pip where it wanted to start something.
pub(super) const WANTED_TO_RUN: &str = "Harbor lets nothing run before the yes";

/// Makes a virtual environment with pip.
const VENV_TEXT: &str = include_str!("venv.py");

/// With `user = true` in the person's settings pip refuses to install into any venv.
const QUIET: &[&str] = &["--no-user", "--no-input", "--disable-pip-version-check", "--progress-bar", "off"];

/// Compiled now, as pip does: a server cannot write into its package, and would compile all of it at each start.
const UV: &[&str] = &["uv", "pip", "install", "--compile-bytecode"];

fn venv(dir: &str) -> String {
    format!("{dir}/venv")
}

fn python(dir: &str) -> String {
    format!("{dir}/venv/bin/python")
}

/// Makes the environment with the usual Python, unless another one is named by its path.
#[must_use]
pub fn environment(dir: &str, has_uv: bool, python: Option<&str>) -> Step {
    let venv = venv(dir);
    match (has_uv, python) {
        (true, None) => line(&[&["uv", "venv", "--no-project", "--allow-existing", &venv]]),
        (true, Some(python)) => line(&[&["uv", "venv", "--no-project", "--python", python, &venv]]),
        (false, python) => line(&[&[python.unwrap_or("python3"), "-c", VENV_TEXT, &venv]]),
    }
}

/// The environment, below an installation's directory.
pub const ENVIRONMENT: &str = "venv";
/// Its interpreter.
pub const INTERPRETER: &str = "venv/bin/python";
/// The file in the environment that has its version.
pub const SETTINGS: &str = "venv/pyvenv.cfg";

/// The version in the settings of an environment, as `venv` and uv write it.
#[must_use]
pub fn version_in(settings: &str) -> Option<Version> {
    let pairs = settings.lines().filter_map(|line| line.split_once('='));
    let mut said = pairs.filter(|(name, _)| ["version", "version_info"].contains(&name.trim()));
    said.find_map(|(_, text)| version(text.trim().split(".final").next()?))
}

/// A requirement of exactly the version in a repository's lock. None if another version of the package is wanted `with` it.
#[must_use]
pub fn within(name: &str, version: &str, with: &[String]) -> Option<String> {
    let same = |wanted: &String| {
        python_spec(wanted).is_some_and(|(wanted, _)| canonical(&wanted) == canonical(name))
    };
    let is_one = is_python_name(name) && is_python_version(version) && !version.contains('*');
    (is_one && !with.iter().any(same)).then(|| format!("{name}=={version}"))
}

/// The form in which all spellings of a name are compared.
fn canonical(name: &str) -> String {
    name.to_ascii_lowercase().replace(['_', '.'], "-")
}

pub(super) fn resolve(dir: &str, wanted: &[&str], has_uv: bool, may_build: bool) -> Step {
    match has_uv {
        true => compile(dir, &[&format!("{dir}/{WANTED}")], &[], may_build),
        false => report(dir, wanted, &[], may_build),
    }
}

fn built(may_build: bool) -> &'static [&'static str] {
    if may_build { &[] } else { &["--only-binary", ":all:"] }
}

fn compile(dir: &str, wanted: &[&str], within: &[&str], may_build: bool) -> Step {
    let (lock, python) = (format!("{dir}/{LOCK}"), python(dir));
    let how = ["uv", "pip", "compile", "--no-header", "--no-annotate", "--generate-hashes"];
    let to = ["--python", &python, "--output-file", &lock, "--"];
    line(&[&how, built(may_build), within, &to, wanted])
}

fn report(dir: &str, wanted: &[&str], within: &[&str], may_build: bool) -> Step {
    let (python, report, plan) = (python(dir), format!("{dir}/{REPORT}"), format!("{dir}/{PLAN}"));
    let pip: &[&str] = if may_build { &["-m", "pip"] } else { &[&plan] };
    let how = ["install", "--dry-run", "--report", &report];
    line(&[&[&python], pip, &how, QUIET, built(may_build), within, &["--"], wanted])
}

/// The file that asks for something newer, for uv.
pub const WANTED_NEWER: &str = "newer.in";
/// The files with newer versions: that of pip, and that of uv.
pub const NEWER: [&str; 2] = ["newer.json", "newer.txt"];

/// The requirement that asks for any newer version.
#[must_use]
pub fn newer_than(name: &str, version: &str) -> String {
    format!("{name}>{version}")
}

/// Looks for a newer version, whatever it requires. A resolver silently takes an old version if that is built
/// already, if its packages are, or if this Python suffices for it. For a version that needs another Python,
/// pip names that Python only with `any_python`. uv names it when it finds no version.
#[must_use]
pub fn newer(dir: &str, wanted: &str, has_uv: bool, may_build: bool, any_python: bool) -> Step {
    let python = python(dir);
    let [report, lock] = NEWER.map(|name| format!("{dir}/{name}"));
    if has_uv {
        let how = ["uv", "pip", "compile", "--no-header", "--no-annotate", "--no-deps"];
        let (to, from) = (["--python", &python, "--output-file", &lock], format!("{dir}/{WANTED_NEWER}"));
        return line(&[&how, built(may_build), &to, &["--", &from]]);
    }
    // A source counts: where it may not be built yet, pip stops at that, in words that are known.
    let plan = format!("{dir}/{PLAN}");
    let pip: &[&str] = if may_build { &["-m", "pip"] } else { &[&plan] };
    let how = ["install", "--dry-run", "--no-deps", "--report", &report];
    line(&[&[&python], pip, &how, QUIET, ignored(any_python), &["--", wanted]])
}

fn ignored(any_python: bool) -> &'static [&'static str] {
    if any_python { &["--ignore-requires-python"] } else { &[] }
}

/// Has pip say what the best version of it requires, whichever Python that is. Nothing is built.
#[must_use]
pub fn about(dir: &str, wanted: &str) -> Step {
    newer(dir, wanted, false, false, true)
}

/// The version of which uv says that it is for another Python: it is asked for one package at a time.
#[must_use]
pub fn of_other_python(said: &str) -> Option<&str> {
    let before = said.rsplit_once(" depends on Python")?.0;
    let version = before.split_whitespace().next_back()?.split_once("==")?.1;
    is_python_version(version).then_some(version)
}

/// Lists the versions of a package, built or not. Nothing of it is fetched.
#[must_use]
pub fn versions(dir: &str, name: &str) -> Step {
    let quiet = ["--no-input", "--disable-pip-version-check"];
    line(&[&[&python(dir), "-m", "pip", "index", "versions"], &quiet, &["--", name]])
}

/// The words before the list of versions.
pub const AVAILABLE: &str = "Available versions: ";

pub(super) fn install(dir: &str, has_uv: bool) -> Step {
    let (python, lock) = (python(dir), format!("{dir}/{LOCK}"));
    match has_uv {
        true => line(&[UV, &["--require-hashes", "--python", &python, "-r", &lock]]),
        false => {
            let exact = ["--require-hashes", "--no-deps", "-r", &lock];
            line(&[&[&python, "-m", "pip", "install"], QUIET, &exact])
        }
    }
}

/// Resolves the project in the directory itself, and `with` it, within the versions of its own lock.
pub(super) fn resolve_source(dir: &str, source: &str, with: &[String], has_uv: bool) -> Step {
    let (within, project) = (format!("{dir}/{WITHIN}"), format!("{source}/pyproject.toml"));
    let (within, beside) = (["--constraint", &within], format!("{dir}/{WANTED}"));
    let itself = if has_uv { project.as_str() } else { source };
    // uv takes files.
    let with = match has_uv {
        true => with.first().map(|_| beside.as_str()).into_iter().collect(),
        false => with.iter().map(String::as_str).collect::<Vec<_>>(),
    };
    let wanted = [&[itself], with.as_slice()].concat();
    match has_uv {
        true => compile(dir, &wanted, &within, true),
        false => report(dir, &wanted, &within, true),
    }
}

/// The packages that it needs, then itself: that has no hash but its commit.
pub(super) fn install_source(dir: &str, source: &str, has_uv: bool) -> Vec<Step> {
    let python = python(dir);
    let itself = match has_uv {
        true => line(&[UV, &["--no-deps", "--python", &python, "--", source]]),
        false => line(&[&[&python, "-m", "pip", "install", "--no-deps"], QUIET, &["--", source]]),
    };
    vec![install(dir, has_uv), itself]
}
