//! Chooses the Python for a package that does not admit the usual one.
//!
//! ```text
//!  what it requires: ">=3.12.1" ─► Requirement ─┬─ admits the usual python3 ─► that, and nobody looks for another
//!                                               └─ does not ─► those that are installed and admitted, the newest first
//!                                                                 └─ none ─► what the person may install
//! ```
//!
//! The requirement is other people's text: one that is not understood to the last word counts as none. Owns where interpreters
//! are looked for, the reading of their answers, and which of them qualify. Must never touch a disk, nor start an interpreter.

use std::cmp::Ordering;

use crate::runtimes::SearchedDirectory;
use crate::sandbox::paths::below;

/// Numbers of a version: 3.12.1.
pub type Version = [u64; 3];

/// The oldest Python that can make a plan.
const LEAST: Version = [3, 8, 0];
/// The latest minor version that is looked for by its name.
const LAST_MINOR: u64 = 40;
/// Each try takes an environment and a look-up.
const MOST_TRIED: usize = 3;
/// The most bytes of such clauses.
const MAX_CLAUSES: usize = 100;

/// The directory in which uv keeps its installed interpreters: the variable's, or this one below the home. Those
/// of other managers are among the places of all programs.
const OF_UV: &str = ".local/share/uv/python";
const OF_UV_VARIABLE: &str = "UV_PYTHON_INSTALL_DIR";

/// The directories of uv, with one for each that it has installed.
pub fn kept_by_uv(home: Option<&str>, variable: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let named = variable(OF_UV_VARIABLE).filter(|dir| dir.starts_with('/'));
    named.into_iter().chain(home.map(|home| below(home, OF_UV))).collect()
}

/// The directories below the home in which others keep an interpreter.
const OF_HOME: &[&str] = &["miniconda3/bin", "miniforge3/bin", "anaconda3/bin", "mambaforge/bin"];

/// The end of a Node's path, to tell it from a Python.
const NODE: &str = "/node";

/// Asks an interpreter for its version and kind. Those of environments do not count, since no environment should be made of them.
pub const QUESTION: &str = "import sys; print('python', '%d.%d.%d' % sys.version_info[:3], sys.version_info[3], \
                            sys.implementation.name, 'own' if sys.prefix == sys.base_prefix else 'environment')";

/// An interpreter that is installed: a Python, or a Node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Python {
    /// Its real path.
    pub path: String,
    /// Its version.
    pub version: Version,
}

/// The interpreter for a package that the usual one does not suit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// Its path.
    pub path: String,
    /// Its version.
    pub version: String,
    /// The requirement.
    pub requires: String,
}

impl Chosen {
    /// The name of its language.
    #[must_use]
    pub fn called(path: &str) -> &'static str {
        if path.ends_with(NODE) { "Node.js" } else { "Python" }
    }

    /// The directory for the front of its package's PATH: a program of npm looks for its Node there. A program of Python needs
    /// none.
    #[must_use]
    pub fn in_front(path: &str) -> Option<&str> {
        path.strip_suffix(NODE)
    }

    /// The interpreter itself. If it is gone, another one of its kind, with which the same files fit.
    #[must_use]
    pub fn in_place(&self, all: &[Python]) -> Option<Self> {
        if all.iter().any(|python| python.path == self.path) {
            return Some(self.clone());
        }
        let version = version(&self.version)?;
        let like = |python: &&Python| python.version[..2] == version[..2];
        let newest = all.iter().filter(like).max_by_key(|python| python.version)?;
        Some(newest.chosen(&self.requires))
    }
}

impl Python {
    /// It, for what this is required of.
    #[must_use]
    pub fn chosen(&self, requires: &str) -> Chosen {
        Chosen { path: self.path.clone(), version: text(self.version), requires: requires.to_owned() }
    }
}

/// The Python that is required, as in `>=3.12,<4`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    text: String,
    clauses: Vec<Clause>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Clause {
    operator: &'static str,
    release: Vec<u64>,
    any: bool,
}

impl Requirement {
    /// Reads a requirement. None if it is not understood.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"<>=!~.*, ".contains(&b);
        if text.is_empty() || text.len() > MAX_CLAUSES || !text.bytes().all(plain) {
            return None;
        }
        let clauses = text.trim_end_matches(',').split(',').map(Clause::read).collect::<Option<Vec<_>>>()?;
        Some(Self { text: text.to_owned(), clauses })
    }

    /// The text of the requirement.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// True if this version will do.
    #[must_use]
    pub fn admits(&self, version: Version) -> bool {
        self.clauses.iter().all(|clause| clause.admits(version))
    }

    /// True if this version does not do, but a newer one would.
    #[must_use]
    pub fn wants_newer_than(&self, version: Version) -> bool {
        !self.admits(version) && self.minors().any(|minor| minor >= version[1])
    }

    /// The minor versions of which it admits any patch.
    fn minors(&self) -> impl Iterator<Item = u64> {
        let admits = |minor: u64| (0..LAST_MINOR).any(|patch| self.admits([3, minor, patch]));
        (LEAST[1]..=LAST_MINOR).filter(move |minor| admits(*minor))
    }

    /// The step for a person without an admitted version. None if no such version exists.
    #[must_use]
    pub fn step(&self) -> Option<String> {
        let minors: Vec<_> = self.minors().collect();
        let newest = *minors.last()?;
        let (minor, or_newer) = match newest == LAST_MINOR {
            true => {
                ((LEAST[1]..=newest).rev().take_while(|minor| minors.contains(minor)).last()?, " or newer")
            }
            false => (newest, ""),
        };
        Some(format!(
            "install Python 3.{minor}{or_newer}, e.g. `uv python install 3.{minor}` or `apt install python3.{minor}-venv`, and \
             try again"
        ))
    }
}

impl Clause {
    fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let operators = ["===", "==", ">=", "<=", "!=", "~=", ">", "<"];
        let operator = operators.into_iter().find(|operator| text.starts_with(operator))?;
        let version = text[operator.len()..].trim();
        let any = version.ends_with(".*");
        let version = version.strip_suffix(".*").unwrap_or(version);
        // What stands behind the numbers (`rc1`, `dev0`) is about versions that nobody installs for servers.
        let end = version.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(version.len());
        let numbers = version[..end].trim_end_matches('.').split('.').map(str::parse);
        let release = numbers.collect::<Result<Vec<u64>, _>>().ok()?;
        let fits = !any || ["==", "!="].contains(&operator);
        (fits && (operator != "~=" || release.len() > 1)).then_some(Self { operator, release, any })
    }

    fn admits(&self, version: Version) -> bool {
        let begins = |release: &[u64]| release.iter().zip(version).all(|(wanted, is)| *wanted == is);
        let order = self.compared(version);
        match self.operator {
            ">=" => order != Ordering::Less,
            "<=" => order != Ordering::Greater,
            ">" => order == Ordering::Greater,
            "<" => order == Ordering::Less,
            "!=" if self.any => !begins(&self.release),
            "!=" => order != Ordering::Equal,
            "==" if self.any => begins(&self.release),
            "~=" => {
                let series = self.release.split_last().map_or(&[][..], |(_, series)| series);
                order != Ordering::Less && begins(series)
            }
            _ => order == Ordering::Equal,
        }
    }

    /// Compares a version with the named one.
    fn compared(&self, version: Version) -> Ordering {
        let wanted = self.release.iter().copied().chain(std::iter::repeat(0)).take(4);
        version.into_iter().chain([0]).cmp(wanted)
    }
}

/// Interpreters that a command line of uv names or finds by itself: behind `--python`, and in the environment of the project that it
/// runs. They are programs of the server, though it is uv that starts them.
#[must_use]
pub fn of_uv(command: &str, args: &[String], cwd: &str) -> Vec<String> {
    if !matches!(command.rsplit('/').next(), Some("uv" | "uvx")) {
        return Vec::new();
    }
    // Where uv's own options end is not looked for: what is called like one behind them is a word of the same person's.
    let value = |names: &[&str]| {
        args.iter().enumerate().find_map(|(at, word)| match word.split_once('=') {
            Some((name, value)) if names.contains(&name) => Some(value),
            None if names.contains(&word.as_str()) => args.get(at + 1).map(String::as_str),
            _ => None,
        })
    };
    let named = value(&["--python", "-p"]).filter(|python| python.starts_with('/')).map(str::to_owned);
    let runs = args.iter().any(|word| word == "run");
    let project = value(&["--directory", "--project"]).unwrap_or(cwd);
    let project = if project.starts_with('/') { project.to_owned() } else { below(cwd, project) };
    let project = runs.then(|| below(&project, ".venv/bin/python"));
    named.into_iter().chain(project).collect()
}

/// The directories in which interpreters are looked for. `of_uv`: those of uv, each with a name in it.
#[must_use]
pub fn directories(
    places: &[SearchedDirectory],
    home: Option<&str>,
    of_uv: &[(String, String)],
) -> Vec<String> {
    // What lies in one of shims is no interpreter.
    let known = places.iter().map(|place| place.dir.clone()).filter(|dir| !dir.ends_with("/shims"));
    let home = home.map(|home| home.trim_end_matches('/'));
    let of_uv = of_uv.iter().filter(|(_, name)| !name.contains(['/', '\n']));
    let of_uv = of_uv.map(|(dir, name)| format!("{dir}/{name}/bin"));
    let of_home = OF_HOME.iter().filter_map(|dir| Some(format!("{}/{dir}", home?)));
    let mut all: Vec<String> = Vec::new();
    for directory in known.chain(of_uv).chain(of_home) {
        if !all.contains(&directory) {
            all.push(directory);
        }
    }
    all
}

/// The names of their files.
pub fn files() -> impl Iterator<Item = String> {
    let named = (LEAST[1]..=LAST_MINOR).map(|minor| format!("python3.{minor}"));
    std::iter::once("python3".to_owned()).chain(named)
}

/// The version in an interpreter's answer, if an environment can be made of it.
#[must_use]
pub fn answer(said: &str) -> Option<Version> {
    let mut words = said.lines().next()?.split(' ');
    let (Some("python"), Some(numbers)) = (words.next(), words.next()) else { return None };
    let is_whole = words.eq(["final", "cpython", "own"]);
    version(numbers).filter(|version| is_whole && *version >= LEAST)
}

/// Three numbers.
#[must_use]
pub fn version(text: &str) -> Option<Version> {
    let numbers = text.split('.').map(str::parse).collect::<Result<Vec<u64>, _>>().ok()?;
    numbers.try_into().ok()
}

/// The version as a text.
#[must_use]
pub fn text([major, minor, patch]: Version) -> String {
    format!("{major}.{minor}.{patch}")
}

/// The interpreters to try, newest first, since the newest may be too new for built packages. One of each
/// minor version, since another patch gives the same.
#[must_use]
pub fn to_try(mut all: Vec<Python>, requires: &Requirement, usual: Option<&str>) -> Vec<Python> {
    all.retain(|python| requires.admits(python.version) && Some(python.path.as_str()) != usual);
    all.sort_by(|a, b| b.version.cmp(&a.version).then_with(|| a.path.cmp(&b.path)));
    all.dedup_by(|older, newer| older.version[..2] == newer.version[..2]);
    all.truncate(MOST_TRIED);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn python(version: Version) -> Python {
        Python { path: format!("/p/{}", text(version)), version }
    }

    #[test]
    fn requirements_are_understood_as_pip_does() {
        for (requires, admitted, refused) in [
            (">=3.12.1", "3.12.1 3.13.0 4.0.0", "3.12.0 3.11.9"),
            (">=3.10,<3.13", "3.10.0 3.12.9", "3.13.0 3.9.1"),
            (" >= 3.10 , < 4 ", "3.10.0", "4.0.0"),
            (">3.11", "3.11.1 3.12.0", "3.11.0"),
            ("<=3.12", "3.12.0", "3.12.1"),
            ("==3.12.*", "3.12.0 3.12.7", "3.13.0 3.11.9"),
            ("!=3.11.*,>=3.9", "3.9.0 3.12.0", "3.11.7"),
            ("!=3.11.7", "3.11.6 3.12.0", "3.11.7"),
            ("~=3.10", "3.10.0 3.14.1", "3.9.0 4.0.0"),
            ("~=3.10.2", "3.10.2 3.10.9", "3.10.1 3.11.0"),
            (">=3.12.0rc1", "3.12.0", "3.11.9"),
            ("===3.12.1", "3.12.1", "3.12.0"),
        ] {
            let read = Requirement::read(requires).unwrap();
            for (versions, wanted) in [(admitted, true), (refused, false)] {
                let all = versions.split(' ').map(|text| version(text).unwrap());
                all.for_each(|version| assert_eq!(read.admits(version), wanted, "{requires} {version:?}"));
            }
        }
        for nothing in ["", "3.12", ">=", ">=x", "~=3", ">=3.*", ">=3.12\u{1b}[2J", &">=3,".repeat(40)] {
            assert_eq!(Requirement::read(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn the_newest_that_is_admitted_comes_first_and_one_of_each_kind() {
        let all = [[3, 11, 7], [3, 12, 1], [3, 13, 0], [3, 12, 4], [3, 14, 2], [3, 15, 0]].map(python);
        let tried = |requires: &str, usual: Option<&str>| {
            let requires = Requirement::read(requires).unwrap();
            to_try(all.to_vec(), &requires, usual)
                .into_iter()
                .map(|python| text(python.version))
                .collect::<Vec<_>>()
        };
        assert_eq!(tried(">=3.12", None), ["3.15.0", "3.14.2", "3.13.0"]);
        assert_eq!(tried(">=3.12,<3.14", None), ["3.13.0", "3.12.4"]);
        assert_eq!(tried("<3.12", Some("/p/3.11.7")), [""; 0], "the usual one was tried");
        assert_eq!(tried(">=4", None), [""; 0]);
    }

    #[test]
    fn an_interpreter_says_what_it_is() {
        assert_eq!(answer("python 3.12.1 final cpython own\n"), Some([3, 12, 1]));
        for other in [
            "python 3.15.0 alpha cpython own",
            "python 3.10.1 final pypy own",
            "python 3.12.1 final cpython environment",
            "python 3.7.2 final cpython own",
            "Python 3.12.1",
            "pyenv: python3.12: command not found",
            "",
        ] {
            assert_eq!(answer(other), None, "{other}");
        }
        assert!(files().any(|name| name == "python3.13"));
    }

    #[test]
    fn uv_starts_the_interpreters_that_are_named_to_it_or_its_projects() {
        let of = |command: &str, args: &str| {
            let args: Vec<_> = args.split(' ').map(str::to_owned).collect();
            of_uv(command, &args, "/w")
        };
        assert_eq!(of("uv", "--directory /srv/a run main.py"), ["/srv/a/.venv/bin/python"]);
        assert_eq!(of("/usr/bin/uv", "run --project=sub s"), ["/w/sub/.venv/bin/python"]);
        assert_eq!(of("uv", "run main.py"), ["/w/.venv/bin/python"]);
        assert_eq!(of("uvx", "--python /p/bin/python3.13 x"), ["/p/bin/python3.13"]);
        assert_eq!(of("uvx", "--python 3.13 x"), [""; 0]);
        assert_eq!(of("node", "--python /p/bin/python run"), [""; 0]);
    }

    #[test]
    fn shims_are_no_place_of_interpreters_and_those_of_managers_are() {
        let place = |dir: &str| SearchedDirectory { dir: dir.into(), how: "PATH" };
        let places = ["/h/.pyenv/shims", "/usr/bin", "/h/.pyenv/versions/3.13.0/bin"].map(place);
        let kept =
            kept_by_uv(Some("/h/"), |name| (name == "UV_PYTHON_INSTALL_DIR").then(|| "/srv/uv".to_owned()));
        assert_eq!(kept, ["/srv/uv", "/h/.local/share/uv/python"]);
        let of_uv =
            ["cpython-3.12.7-linux-x86_64-gnu", "../x"].map(|name| (kept[1].clone(), name.to_owned()));
        let found = directories(&places, Some("/h/"), &of_uv);
        let wanted = ["/usr/bin", "/h/.pyenv/versions/3.13.0/bin"];
        assert_eq!(found[..2], wanted);
        assert_eq!(found[2], "/h/.local/share/uv/python/cpython-3.12.7-linux-x86_64-gnu/bin");
        assert_eq!((found[3].as_str(), found.len()), ("/h/miniconda3/bin", 7));
    }

    #[test]
    fn what_helps_is_a_python_that_would_do() {
        let step = |requires: &str| Requirement::read(requires).unwrap().step();
        let said = "install Python 3.12 or newer, e.g. `uv python install 3.12` or `apt install python3.12-venv`, and try again";
        assert_eq!(step(">=3.12.1").as_deref(), Some(said));
        assert_eq!(step("!=3.11.*,>=3.9").as_deref(), Some(said));
        assert!(step(">=3.10,<3.13").unwrap().starts_with("install Python 3.12, e.g."));
        assert!(step("==3.11.4").unwrap().starts_with("install Python 3.11, e.g."));
        assert_eq!(step(">=4"), None);
        let newer = |requires: &str| Requirement::read(requires).unwrap().wants_newer_than([3, 11, 7]);
        assert_eq!(
            [">=3.12", "<3.11", ">=3.8", ">=4", ">=3.11.8"].map(newer),
            [true, false, false, false, true]
        );
    }

    #[test]
    fn what_was_chosen_may_have_moved_on() {
        let chosen = python([3, 12, 1]).chosen(">=3.12");
        let standing = |all: &[Version]| {
            let all: Vec<_> = all.iter().copied().map(python).collect();
            chosen.in_place(&all).map(|chosen| chosen.version)
        };
        assert_eq!(standing(&[[3, 12, 1], [3, 12, 9]]).as_deref(), Some("3.12.1"));
        assert_eq!(standing(&[[3, 13, 0], [3, 12, 2], [3, 12, 9]]).as_deref(), Some("3.12.9"));
        assert_eq!(standing(&[[3, 13, 0]]), None);
        assert_eq!((Chosen::called("/p/python3.12"), Chosen::in_front("/p/python3.12")), ("Python", None));
        assert_eq!(
            (Chosen::called("/n/bin/node"), Chosen::in_front("/n/bin/node")),
            ("Node.js", Some("/n/bin"))
        );
    }

    proptest! {
        #[test]
        fn anything_may_be_required(said in "\\PC{0,20}|[<>=!~.,*0-9 a]{0,20}") {
            if let Some(read) = Requirement::read(&said) {
                let _ = (read.admits([3, 12, 1]), read.step(), read.wants_newer_than([3, 12, 1]));
            }
            let _ = answer(&said);
        }
    }
}
