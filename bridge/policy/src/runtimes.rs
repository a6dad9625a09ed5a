//! Finds the programs that servers and installers need: node, npm, uv, python and the rest.
//!
//! ```text
//!  the bridge's PATH ─► the login shell's PATH ─► version managers, newest first ─► usual prefixes
//!                        the first place that has a program gives it
//! ```
//!
//! A bridge that a browser has started has a bare PATH. Owns the order in which places are searched, and which program counts
//! where there are several. Must never touch a disk: the contents of directories are an argument.

use std::cmp::Ordering;

use crate::sandbox::paths::below;

/// A program that is looked for.
#[derive(Debug, PartialEq, Eq)]
pub struct Runtime {
    /// Its name in Harbor.
    pub name: &'static str,
    /// The names that its file may have, the best first.
    pub files: &'static [&'static str],
    /// The use that needs it.
    pub needed_for: &'static str,
    /// Advice how to get it.
    pub hint: &'static str,
}

const fn runtime(
    name: &'static str,
    files: &'static [&'static str],
    needed_for: &'static str,
    hint: &'static str,
) -> Runtime {
    Runtime { name, files, needed_for, hint }
}

const NODE: &str = "install Node.js: https://nodejs.org, or by the system's packages";

/// All of them.
pub const RUNTIMES: &[Runtime] = &[
    runtime("node", &["node"], "servers from npm", NODE),
    runtime("npm", &["npm"], "installing from npm", NODE),
    runtime("npx", &["npx"], "commands that run unchanged", NODE),
    runtime("uv", &["uv"], "installing from PyPI, faster than pip", "https://docs.astral.sh/uv"),
    runtime("python", &["python3"], "servers from PyPI", "install Python 3 with venv, or uv"),
    runtime("docker", &["docker"], "servers in containers", "install docker or podman"),
    runtime("podman", &["podman"], "servers in containers", "install podman or docker"),
    runtime("git", &["git"], "installing from repositories", "install git by the system's packages"),
];

/// The kinds of packages, and the programs that each needs: one of every group. A downloaded kind needs none.
pub const KINDS: &[(&str, &[&[&str]])] = &[
    ("npm", &[&["node"], &["npm"]]),
    ("pypi", &[&["uv", "python"]]),
    ("git", &[&["git"]]),
    ("oci", &[&["podman", "docker"]]),
    ("binary", &[]),
];

/// The programs that each kind lacks, such as `podman or docker`. Empty for a kind that can be installed.
pub fn lacks(has: impl Fn(&str) -> bool) -> impl Iterator<Item = (&'static str, String)> {
    KINDS.iter().map(move |(kind, groups)| {
        let missing = groups.iter().filter(|group| !group.iter().any(|name| has(name)));
        (*kind, missing.map(|group| group.join(" or ")).collect::<Vec<_>>().join(" and "))
    })
}

/// Without one of these in the bridge's PATH, the login shell is asked for its own.
pub const USUAL: &[&str] = &["node", "npm", "python3", "git"];

/// A version manager, by one of its directories that hold a directory for each version.
#[derive(Debug, PartialEq, Eq)]
pub struct Manager {
    /// Its name.
    pub how: &'static str,
    /// The variable that names its root.
    variable: &'static str,
    /// Its root below the home, if the variable is not set.
    root: &'static str,
    /// The directory below its root.
    versions: &'static str,
    /// The directory of the programs, below a version's directory.
    bin: &'static str,
}

const fn manager(how: &'static str, root: (&'static str, &'static str), versions: &'static str) -> Manager {
    Manager { how, variable: root.0, root: root.1, versions, bin: "bin" }
}

const FNM: Manager =
    Manager { bin: "installation/bin", ..manager("fnm", ("FNM_DIR", ".local/share/fnm"), "node-versions") };
const ASDF: (&str, &str) = ("ASDF_DATA_DIR", ".asdf");
const MISE: (&str, &str) = ("MISE_DATA_DIR", ".local/share/mise");

/// All of them.
const MANAGERS: &[Manager] = &[
    manager("nvm", ("NVM_DIR", ".nvm"), "versions/node"),
    FNM,
    Manager { root: ".fnm", ..FNM },
    manager("volta", ("VOLTA_HOME", ".volta"), "tools/image/node"),
    manager("asdf", ASDF, "installs/nodejs"),
    manager("asdf", ASDF, "installs/python"),
    manager("asdf", ASDF, "installs/uv"),
    manager("mise", MISE, "installs/node"),
    manager("mise", MISE, "installs/python"),
    manager("mise", MISE, "installs/uv"),
    manager("pyenv", ("PYENV_ROOT", ".pyenv"), "versions"),
];

/// The managers that have a directory of shims beside their versions. A PATH with that directory also gives their root.
const WITH_SHIMS: &[&str] = &["asdf", "mise", "pyenv"];
const SHIMS: &str = "/shims";

/// The directories in which versions are looked for, each once, with whose they are. `paths`: of the bridge and the login shell.
pub fn of_managers(
    home: Option<&str>,
    variable: impl Fn(&str) -> Option<String>,
    paths: &[&str],
) -> Vec<(&'static Manager, String)> {
    let of_shims = |how: &str| {
        let all = paths.iter().flat_map(|path| path.split(':')).take(MAX_PATH);
        let is_with = WITH_SHIMS.contains(&how);
        all.filter(move |_| is_with)
            .filter_map(|dir| dir.trim_end_matches('/').strip_suffix(SHIMS))
            .map(str::to_owned)
    };
    let mut found: Vec<(&Manager, String)> = Vec::new();
    for manager in MANAGERS {
        let of_home = home.map(|home| below(home, manager.root));
        let roots = variable(manager.variable).into_iter().chain(of_home).chain(of_shims(manager.how));
        for dir in roots.filter(|root| is_plain(root)).map(|root| below(&root, manager.versions)) {
            if !found.iter().any(|(_, known)| *known == dir) {
                found.push((manager, dir));
            }
        }
    }
    found
}

/// Directories below the home that have programs.
const OF_HOME: &[(&str, &str)] = &[
    ("a usual prefix", ".local/bin"),
    ("a usual prefix", ".cargo/bin"),
    ("volta", ".volta/bin"),
    ("mise", ".local/share/mise/shims"),
    ("asdf", ".asdf/shims"),
    ("Homebrew", ".linuxbrew/bin"),
];

/// Directories of the system that have programs.
const OF_SYSTEM: &[(&str, &str)] = &[
    ("a usual prefix", "/usr/local/bin"),
    ("a usual prefix", "/usr/bin"),
    ("a usual prefix", "/bin"),
    ("Homebrew", "/home/linuxbrew/.linuxbrew/bin"),
    ("Homebrew", "/opt/homebrew/bin"),
    ("a usual prefix", "/opt/node/bin"),
    ("a usual prefix", "/opt/nodejs/bin"),
    ("a usual prefix", "/snap/bin"),
];

/// Versions of one manager that are looked at.
const MAX_VERSIONS: usize = 16;
/// Directories of a PATH that are looked at.
const MAX_PATH: usize = 64;

/// The places that were found on this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuntimeFacts {
    /// The bridge's own.
    pub path: String,
    /// The login shell's, if it was asked and has answered.
    pub login_path: Option<String>,
    /// The person's home.
    pub home: Option<String>,
    /// The directories of [`of_managers`], each with the names that are there.
    pub versions: Vec<(&'static Manager, String, Vec<String>)>,
}

/// A directory that is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchedDirectory {
    /// The directory.
    pub dir: String,
    /// The place's name: `PATH`, `the login shell`, `nvm`.
    pub how: &'static str,
}

/// The directories, in their order, each once.
#[must_use]
pub fn places(found: &RuntimeFacts) -> Vec<SearchedDirectory> {
    let mut places = Vec::new();
    of_path(&mut places, &found.path, "PATH");
    of_path(&mut places, found.login_path.as_deref().unwrap_or_default(), "the login shell");
    for (manager, dir, names) in &found.versions {
        for version in newest(names) {
            add(&mut places, format!("{dir}/{version}/{}", manager.bin), manager.how);
        }
    }
    if let Some(home) = found.home.as_deref().map(|home| home.trim_end_matches('/')) {
        OF_HOME.iter().for_each(|(how, dir)| add(&mut places, format!("{home}/{dir}"), how));
    }
    OF_SYSTEM.iter().for_each(|(how, dir)| add(&mut places, (*dir).to_owned(), how));
    places
}

fn of_path(places: &mut Vec<SearchedDirectory>, path: &str, how: &'static str) {
    let directories = path.split(':').filter(|dir| is_plain(dir)).take(MAX_PATH);
    directories.for_each(|dir| add(places, dir.to_owned(), how));
}

/// A directory that can stand in a PATH.
fn is_plain(dir: &str) -> bool {
    dir.starts_with('/') && !dir.contains(['\n', '\0', ':'])
}

fn add(places: &mut Vec<SearchedDirectory>, dir: String, how: &'static str) {
    if is_plain(&dir) && !places.iter().any(|place| place.dir == dir) {
        places.push(SearchedDirectory { dir, how });
    }
}

fn newest(names: &[String]) -> Vec<&str> {
    let mut all: Vec<_> = names.iter().map(String::as_str).collect();
    all.retain(|name| numbers(name).is_some() && !name.contains('/'));
    all.sort_by(|a, b| by_version(b, a));
    all.truncate(MAX_VERSIONS);
    all
}

/// Numbers as numbers.
fn by_version(a: &str, b: &str) -> Ordering {
    numbers(a).cmp(&numbers(b)).then_with(|| a.cmp(b))
}

fn numbers(name: &str) -> Option<Vec<u64>> {
    let name = name.strip_prefix('v').unwrap_or(name);
    let parts = name.split(['.', '-', '+']).map_while(|part| part.parse().ok());
    let numbers: Vec<u64> = parts.collect();
    (!numbers.is_empty()).then_some(numbers)
}

/// The first place that holds one of these files.
pub fn choose<'a>(
    places: &'a [SearchedDirectory],
    files: &[&str],
    is_program: impl Fn(&str) -> bool,
) -> Option<(String, &'a SearchedDirectory)> {
    let of = |place: &'a SearchedDirectory| {
        let paths = files.iter().map(|file| format!("{}/{file}", place.dir));
        paths.into_iter().find(|path| is_program(path)).map(|path| (path, place))
    };
    places.iter().find_map(of)
}

/// A PATH with the directories of further programs behind it.
pub fn extended<'a>(path: &str, directories: impl IntoIterator<Item = &'a str>) -> String {
    let mut all: Vec<&str> = path.split(':').filter(|dir| !dir.is_empty()).collect();
    for directory in directories {
        if is_plain(directory) && !all.contains(&directory) {
            all.push(directory);
        }
    }
    all.join(":")
}

/// The version that a program says it has: the first word that begins with a number.
#[must_use]
pub fn version(said: &str) -> Option<String> {
    let words = said.lines().next()?.split([' ', ',', '(', ')']);
    let plain = |word: &&str| {
        let digits = word.strip_prefix('v').unwrap_or(word);
        digits.starts_with(|c: char| c.is_ascii_digit())
            && word.len() <= 64
            && word.bytes().all(|b| b.is_ascii_alphanumeric() || b".-+_".contains(&b))
    };
    words.into_iter().find(plain).map(|word| word.strip_prefix('v').unwrap_or(word).to_owned())
}

/// The mark around the PATH that a login shell is asked for. Output of the shell's own files stands outside of the marks.
pub const MARK: &str = "__harbor_path__";

/// The command for it.
#[must_use]
pub fn question() -> String {
    format!("printf '\\n%s%s%s\\n' {MARK} \"$PATH\" {MARK}")
}

/// The PATH in what a login shell has said, once it is whole.
#[must_use]
pub fn answer(said: &str) -> Option<&str> {
    let (_, rest) = said.split_once(MARK)?;
    let (path, _) = rest.split_once(MARK)?;
    (path.split(':').any(is_plain) && !path.contains(['\n', '\0'])).then_some(path)
}

/// The reason why a command cannot be started, with the places where it was looked for.
#[must_use]
pub fn not_found(command: &str, places: &[SearchedDirectory]) -> String {
    let of = |how: &str| places.iter().filter(|place| place.how == how).count();
    let mut ways: Vec<&str> = Vec::new();
    for place in places {
        if !ways.contains(&place.how) {
            ways.push(place.how);
        }
    }
    let looked: Vec<_> = ways.iter().map(|how| format!("{how} ({})", of(how))).collect();
    let hint = RUNTIMES.iter().find(|runtime| runtime.files.contains(&command) || runtime.name == command);
    let hint = hint.map(|runtime| format!("; {}", runtime.hint)).unwrap_or_default();
    format!(
        "there is no program {command}; Harbor looked in {}{hint}; `harbor runtimes` shows the directories",
        looked.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found() -> RuntimeFacts {
        RuntimeFacts {
            path: "/p:relative::/p:/usr/bin".into(),
            login_path: Some("/login:/p".into()),
            home: Some("/home/u/".into()),
            versions: of_managers(Some("/home/u/"), |_| None, &[])
                .into_iter()
                .map(|(manager, dir)| {
                    let names: &[&str] = match manager.how {
                        "nvm" => &["v9.1.0", "v22.3.0", "lts"],
                        "pyenv" => &["3.12"],
                        _ => &[],
                    };
                    (manager, dir, names.iter().map(ToString::to_string).collect())
                })
                .collect(),
        }
    }

    #[test]
    fn each_kind_says_what_it_lacks() {
        let lack = |here: &[&str]| {
            let all = lacks(|name| here.contains(&name)).filter(|(_, lack)| !lack.is_empty());
            all.map(|(kind, lack)| format!("{kind}: {lack}")).collect::<Vec<_>>()
        };
        assert_eq!(lack(&["uv"]), ["npm: node and npm", "git: git", "oci: podman or docker"]);
        assert_eq!(lack(&["node", "npm", "python", "git", "docker"]), [""; 0]);
    }

    #[test]
    fn the_nearer_place_wins_and_the_newer_version() {
        let places = places(&found());
        let dirs: Vec<_> = places.iter().map(|place| (place.dir.as_str(), place.how)).take(8).collect();
        assert_eq!(
            dirs,
            [
                ("/p", "PATH"),
                ("/usr/bin", "PATH"),
                ("/login", "the login shell"),
                ("/home/u/.nvm/versions/node/v22.3.0/bin", "nvm"),
                ("/home/u/.nvm/versions/node/v9.1.0/bin", "nvm"),
                ("/home/u/.pyenv/versions/3.12/bin", "pyenv"),
                ("/home/u/.local/bin", "a usual prefix"),
                ("/home/u/.cargo/bin", "a usual prefix"),
            ]
        );
        let there = |path: &str| path == "/login/python" || path.ends_with("v9.1.0/bin/node");
        let chosen = choose(&places, &["python3", "python"], there).unwrap();
        assert_eq!((chosen.0.as_str(), chosen.1.how), ("/login/python", "the login shell"));
        assert_eq!(choose(&places, &["node"], there).unwrap().1.how, "nvm");
        assert_eq!(choose(&places, &["uv"], there), None);
    }

    #[test]
    fn managers_are_found_by_their_variables_and_by_their_shims() {
        let variable = |name: &str| (name == "PYENV_ROOT").then(|| "/opt/pyenv".to_owned());
        let found = of_managers(
            Some("/home/u"),
            variable,
            &["/usr/bin:/srv/pyenv/shims/", "relative/shims:/opt/pyenv/shims"],
        );
        let of = |how: &str| {
            let dirs = found.iter().filter(|(manager, _)| manager.how == how).map(|(_, dir)| dir.as_str());
            dirs.collect::<Vec<_>>()
        };
        assert_eq!(of("pyenv"), ["/opt/pyenv/versions", "/home/u/.pyenv/versions", "/srv/pyenv/versions"]);
        assert_eq!(of("nvm"), ["/home/u/.nvm/versions/node"], "it has no shims");
        assert_eq!(of("fnm").len(), 2);
        let whose_is_not_said = |(_, dir): &(&Manager, String)| dir == "/srv/pyenv/installs/python";
        assert!(found.iter().any(whose_is_not_said));
    }

    #[test]
    fn a_path_is_extended_behind_and_each_directory_is_in_it_once() {
        assert_eq!(extended("/a:/b", ["/b", "/c", "rel", "/c", "/d:e"]), "/a:/b:/c");
        assert_eq!(extended("", ["/c"]), "/c");
    }

    #[test]
    fn versions_are_read_of_whatever_programs_print() {
        let all = [
            "v20.20.2",
            "git version 2.47.3",
            "Docker version 27.1.1, build x",
            "uv 0.4.1 (abc)",
            "Python 3.11.7",
        ];
        let read: Vec<_> = all.iter().filter_map(|said| version(said)).collect();
        assert_eq!(read, ["20.20.2", "2.47.3", "27.1.1", "0.4.1", "3.11.7"]);
        assert_eq!(version("no such thing"), None);
    }

    #[test]
    fn noise_of_a_shells_files_is_no_path() {
        assert_eq!(answer("Welcome!\n\n__harbor_path__/a:/b__harbor_path__\nbye"), Some("/a:/b"));
        assert_eq!(answer("__harbor_path__/a"), None);
        assert_eq!(answer("__harbor_path____harbor_path__"), None);
        assert_eq!(answer(&question()), None, "a shell that echoes its commands says nothing");
    }

    #[test]
    fn what_was_looked_for_is_said() {
        let said = not_found("node", &places(&found()));
        assert!(said.starts_with(
            "there is no program node; Harbor looked in PATH (2), the login shell (1), nvm (2)"
        ));
        assert!(said.contains("nodejs.org") && said.contains("harbor runtimes"), "{said}");
    }

    proptest! {
        #[test]
        fn every_place_is_a_plain_directory_once(path in "[/a:b\\n.]{0,24}", login in "[/a:b\\n.]{0,24}", version in "[v0-9./x]{0,8}") {
            let found = RuntimeFacts {
                path, login_path: Some(login), home: Some("/h".into()), versions: vec![(&FNM, "/h/x".into(), vec![version])],
            };
            let places = places(&found);
            for (at, place) in places.iter().enumerate() {
                prop_assert!(is_plain(&place.dir));
                prop_assert!(places[at + 1..].iter().all(|other| other.dir != place.dir));
            }
        }

        #[test]
        fn anything_may_be_said(said in "\\PC*|[_harbopt/:\\n]{0,60}") {
            if let Some(path) = answer(&said) {
                prop_assert!(!path.contains('\n'));
            }
            let _ = version(&said);
        }
    }
}
