//! The reason why an installation failed, in the words of a person. It is read from the words of the installer.
//!
//! Owns this reading. The words are other people's text: the reason is shown. Nothing follows from it, except the question
//! whether a package may be built.

use super::names::{is_npm_name, is_python_name};
use super::{Ecosystem, Package, binary, pypi};
use crate::pythons::Requirement;

/// Words of a connection that could not be made.
const UNREACHABLE: &[&str] = &[
    "code ENOTFOUND",
    "code EAI_AGAIN",
    "code ECONNREFUSED",
    "code ECONNRESET",
    "code ETIMEDOUT",
    "code ENETUNREACH",
    "code ERR_SOCKET_TIMEOUT",
    "NewConnectionError",
    "ConnectTimeoutError",
    "Failed to establish a new connection",
    "Temporary failure in name resolution",
    "Could not resolve host",
    "Could not connect to server",
    "Couldn't connect to server",
    "error sending request",
    "dns error",
];

/// The words where something would have to be built: from uv, and from pip that may start nothing.
const NO_WHEELS: &[&str] = &[
    "no usable wheels",
    "building from source is disabled",
    "Building source distributions",
    pypi::WANTED_TO_RUN,
];

/// The words of pip where nothing fits; the requirement follows them.
const NOTHING_FITS: &str = "No matching distribution found for ";

/// The reason why nothing could be resolved without building.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unresolved {
    /// All that fits would have to be built.
    NoWheels,
    /// The package does not exist, or no built version of it does: pip says the same of both.
    NothingOf {
        /// The package.
        name: String,
        /// The one version that was wanted of it.
        version: Option<String>,
    },
    /// Another reason.
    Otherwise,
}

/// Reads why an installer failed that may use only packages which are built already.
#[must_use]
pub fn unresolved(said: &str) -> Unresolved {
    if is_unreachable(said) {
        return Unresolved::Otherwise;
    }
    if NO_WHEELS.iter().any(|words| said.contains(words)) {
        return Unresolved::NoWheels;
    }
    match requirement(said) {
        Some((name, clause)) => Unresolved::NothingOf {
            name: name.to_owned(),
            version: clause
                .strip_prefix("==")
                .filter(|version| !version.contains(['*', ',']))
                .map(Into::into),
        },
        None => Unresolved::Otherwise,
    }
}

/// The reason of a failed installation, as the end of the sentence "the package could not be installed: …".
/// None if only the installer's own words can tell.
#[must_use]
pub fn reason(package: &Package, said: &str) -> Option<String> {
    if package.ecosystem == Ecosystem::Binary {
        return of_binary(said);
    }
    if is_unreachable(said) {
        let what = if package.ecosystem == Ecosystem::Git { "its repository" } else { "its registry" };
        return Some(format!("{what} cannot be reached; is this machine online?"));
    }
    match package.ecosystem {
        Ecosystem::Npm => of_npm(package, said),
        Ecosystem::Pypi => of_pypi(package, said),
        Ecosystem::Git => of_git(said).or_else(|| of_npm(package, said)).or_else(|| of_pypi(package, said)),
        Ecosystem::Binary => None,
    }
}

/// Words of git about a commit that is nowhere in a repository.
const NO_COMMIT: &[&str] = &[
    "couldn't find remote ref",
    "reference is not a tree",
    "unable to read tree",
    "unable to parse object",
    "not our ref",
    "bad object",
];

/// Words of installers about a version that is nowhere.
const NO_VERSION: &[&str] = &[
    "No matching version found for ",
    "code E404",
    NOTHING_FITS,
    "there is no version of ",
    " was not found in the package registry",
];

/// Says in the same sentence that the locked version can no longer be had. None if something else is wrong.
#[must_use]
pub fn gone(package: &Package, version: &str, said: &str) -> Option<String> {
    let says = |words: &[&str]| words.iter().any(|words| said.contains(words));
    if is_unreachable(said) {
        return None;
    }
    match package.ecosystem {
        Ecosystem::Binary => None,
        Ecosystem::Git if says(NO_COMMIT) => {
            Some(format!("the locked commit {version} is no longer in its repository"))
        }
        Ecosystem::Npm | Ecosystem::Pypi | Ecosystem::Git => says(NO_VERSION).then(|| {
            format!(
                "the locked {} {version}, or a package that it requires, is no longer available",
                package.name
            )
        }),
    }
}

/// The reason why a package, or one version of it, does not exist.
#[must_use]
pub fn not_there(package: &Package, name: &str, version: Option<&str>, on: &str) -> String {
    let what = match version {
        Some(version) => format!("there is no version {version} of {name} on {on}"),
        None => format!("there is no package {name} on {on}"),
    };
    if name == package.name { what } else { format!("it needs {name}, and {what}") }
}

/// The beginning of npm's line with the fault.
const CODES: &[&str] = &["npm error code ", "npm ERR! code "];

/// The words of an installer, with npm's code line first. The text behind that line may be longer than the
/// kept part. `lines` are the known lines of its log, newest last.
#[must_use]
pub fn with_code_first<'a>(said: &str, lines: impl DoubleEndedIterator<Item = &'a str>) -> String {
    let is_code = |line: &&str| CODES.iter().any(|start| line.starts_with(start));
    let Some(code) = said.lines().find(is_code).or_else(|| lines.rev().find(|line| is_code(line))) else {
        return said.to_owned();
    };
    let others = said.lines().filter(|line| *line != code);
    std::iter::once(code).chain(others).collect::<Vec<_>>().join("\n")
}

/// The variable by which an installer says that a download can be left out: it is the installer's word, and a person is told it.
#[must_use]
pub fn skipped_by(said: &str) -> Option<&str> {
    let line = said.lines().find(|line| line.contains(" to skip download"))?;
    line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).find(|word| word.contains("_SKIP_"))
}

fn is_unreachable(said: &str) -> bool {
    UNREACHABLE.iter().any(|words| said.contains(words))
}

/// The reason in the words of Harbor's own program, which are meant for the person.
fn of_binary(said: &str) -> Option<String> {
    said.lines().rev().find_map(|line| line.strip_prefix(binary::SAID)).map(ToOwned::to_owned)
}

fn of_npm(package: &Package, said: &str) -> Option<String> {
    let spec = |text: &str| {
        let at = text.rfind('@').filter(|at| *at > 0);
        let (name, version) = at.map_or((text, ""), |at| (&text[..at], &text[at + 1..]));
        is_npm_name(name).then(|| (name.to_owned(), version.to_owned()))
    };
    if let Some((_, behind)) = said.split_once("No matching version found for ") {
        let (name, version) = spec(behind.split_whitespace().next()?.trim_end_matches('.'))?;
        return Some(not_there(package, &name, Some(&version), "npm"));
    }
    if said.contains("code E404") {
        let quoted =
            said.lines().filter(|line| line.contains("404")).find_map(|line| line.split('\'').nth(1));
        let name = quoted.and_then(spec).map_or_else(|| package.name.clone(), |(name, _)| name);
        return Some(not_there(package, &name, None, "npm"));
    }
    None
}

fn of_pypi(package: &Package, said: &str) -> Option<String> {
    if let Some(why) = other_python(said) {
        return Some(why);
    }
    if let Some((name, clause)) = requirement(said) {
        let is_none = clause.is_empty() || said.contains("(from versions: none)");
        let version = clause.trim_start_matches("==");
        return Some(not_there(package, name, (!is_none).then_some(version), "PyPI"));
    }
    let word = |behind: &str| {
        let word = said.split_once(behind)?.1.split_whitespace().next()?;
        Some(word.trim_end_matches([',', '.']).to_owned())
    };
    if let Some(spec) = word("there is no version of ") {
        let (name, version) = spec.split_once("==")?;
        return is_python_name(name).then(|| not_there(package, name, Some(version), "PyPI"));
    }
    let before = said.split_once(" was not found in the package registry")?.0;
    let name = before.split_whitespace().next_back().filter(|name| is_python_name(name))?;
    Some(not_there(package, name, None, "PyPI"))
}

/// Words of pip and uv about versions that another Python would have: then there is the clause.
const OTHER_PYTHON: &[&str] = &["Requires-Python ", "does not satisfy Python", "requires a different Python"];
/// Harbor's own of that.
const NO_PYTHON: &str = "no matching version supports the installed Python";
/// The text that follows in these sentences.
const REQUIRES: &str = ": it requires ";

/// Says as the end of the same sentence that the existing versions are for another Python. None if the words do not say so.
#[must_use]
pub fn other_python(said: &str) -> Option<String> {
    let says_so =
        OTHER_PYTHON.iter().chain(&["require a different python version"]).any(|words| said.contains(words));
    says_so.then(|| match other_clause(said) {
        "" => NO_PYTHON.into(),
        wanted => format!("{NO_PYTHON}{REQUIRES}{wanted}"),
    })
}

/// The sentence of [`other_python`] where the requirement is known.
#[must_use]
pub fn no_python(requires: &Requirement) -> String {
    format!("{NO_PYTHON}{REQUIRES}{}", requires.as_str())
}

/// The Python that is required, by the words of an installer or of Harbor.
#[must_use]
pub fn required_python(said: &str) -> Option<Requirement> {
    let own = said.split_once(NO_PYTHON).and_then(|(_, behind)| behind.strip_prefix(REQUIRES));
    Requirement::read(own.unwrap_or_else(|| other_clause(said)))
}

fn other_clause(said: &str) -> &str {
    let mut clauses = OTHER_PYTHON.iter().flat_map(|words| said.rmatch_indices(*words)).map(|(at, words)| {
        let behind = &said[at + words.len()..];
        // Of a source pip says first which one it is not: `: 3.11.2 not in '>=3.12'`.
        let line = behind.lines().next().unwrap_or_default();
        let behind =
            line.split_once(" not in '").filter(|_| line.starts_with(": ")).map_or(behind, |(_, of)| of);
        let end =
            behind.find(|c: char| !(c.is_ascii_digit() || "<>=!~.,* ".contains(c))).unwrap_or(behind.len());
        behind.split_at(end)
    });
    // A clause in which a long line was cut says another version.
    let (clause, _) = clauses.find(|(_, rest)| !rest.starts_with('…')).unwrap_or_default();
    let clause = clause.trim().trim_end_matches(['.', ',']);
    if clause.starts_with(['<', '>', '=', '!', '~']) { clause } else { "" }
}

/// The package for which pip found nothing: its name, and the clause behind the name.
fn requirement(said: &str) -> Option<(&str, &str)> {
    let word = said.split_once(NOTHING_FITS)?.1.split_whitespace().next()?;
    let end = word.find(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c))).unwrap_or(word.len());
    let (name, clause) = word.split_at(end);
    is_python_name(name).then_some((name, clause))
}

fn of_git(said: &str) -> Option<String> {
    if let Some((_, behind)) = said.split_once("couldn't find remote ref ") {
        let reference = behind.lines().next().unwrap_or_default().trim();
        return Some(format!("the repository has no branch, tag or commit {reference:?}"));
    }
    let closed = ["epository not found", "could not read Username", "does not appear to be a git repository"];
    let closed = closed.iter().chain(&["Authentication failed", "Permission denied (publickey"]);
    closed
        .into_iter()
        .any(|words| said.contains(words))
        .then(|| "there is no such repository, or reading it requires a password or a key".to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::recognise;
    use super::*;
    use proptest::prelude::*;

    /// Source | what was said => the reason.
    const REASONS: &str = "
        npm:@a/b | npm error code E404~npm error 404 Not Found - GET http://r/@a%2fb~npm error 404  '@a/b@*' is not in this registry. => there is no package @a/b on npm
        npm:b | npm error code E404~npm error 404  The requested resource 'c@^1.2' could not be found => it needs c, and there is no package c on npm
        npm:b | npm error code ETARGET~npm error notarget No matching version found for b@99.0.0. => there is no version 99.0.0 of b on npm
        npm:b | npm error code ENOTFOUND~npm error network request to http://r/b failed => its registry cannot be reached; is this machine online?
        pypi:x | ERROR: Could not find a version that satisfies the requirement x (from versions: none)~ERROR: No matching distribution found for x => there is no package x on PyPI
        pypi:x==9 | ERROR: Could not find a version that satisfies the requirement x==9 (from versions: 1, 2)~ERROR: No matching distribution found for x==9 => there is no version 9 of x on PyPI
        pypi:x | ERROR: Ignored the following versions that require a different python version: 0.1 Requires-Python >=3.11; 0.2 Requires-Python >=3.12,<4~ERROR: No matching distribution found for x => no matching version supports the installed Python: it requires >=3.12,<4
        pypi:x | Because the current Python version (3.11.2) does not satisfy Python>=3.12 and x==0.3.0 depends on Python>=3.12, we can conclude => no matching version supports the installed Python: it requires >=3.12
        pypi:x | ERROR: Ignored the following versions that require a different python version: 0.1 Requires-Python >=3.12; 0.2 Requires-Python >=3.1…~ERROR: No matching distribution found for x => no matching version supports the installed Python: it requires >=3.12
        pypi:x | ERROR: Package 'x' requires a different Python: 3.11.2 not in '>=3.12' => no matching version supports the installed Python: it requires >=3.12
        pypi:x | WARNING: Retrying after connection broken by 'NewConnectionError(...)'~ERROR: No matching distribution found for x => its registry cannot be reached; is this machine online?
        pypi:x | Because x was not found in the package registry and you require x => there is no package x on PyPI
        pypi:x==9 | Because there is no version of x==9 and you require x==9 => there is no version 9 of x on PyPI
        git:https://h/r#v9 | fatal: couldn't find remote ref v9 => the repository has no branch, tag or commit \"v9\"
        git:https://h/r | fatal: could not read Username for 'https://h' => there is no such repository, or reading it requires a password or a key
        git:https://h/r | fatal: unable to access 'https://h/r/': Could not resolve host: h => its repository cannot be reached; is this machine online?
        git:https://h/r | fatal: unable to access 'https://h/r/': Failed to connect to h port 443 after 0 ms: Couldn't connect to server => its repository cannot be reached; is this machine online?";

    #[test]
    fn installers_are_put_into_words() {
        for row in REASONS.lines().filter(|row| !row.trim().is_empty()) {
            let (source, rest) = row.split_once(" | ").unwrap();
            let (said, wanted) = rest.split_once(" => ").unwrap();
            let package = recognise(source.trim(), &[]).unwrap();
            assert_eq!(reason(&package, &said.replace('~', "\n")).as_deref(), Some(wanted), "{row}");
        }
        assert_eq!(reason(&recognise("npm:b", &[]).unwrap(), "npm error code 1"), None);
    }

    #[test]
    fn what_is_required_of_a_python_is_read_of_installers_and_of_the_sentence_about_it() {
        let read = |said: &str| required_python(said).map(|requires| requires.as_str().to_owned());
        assert_eq!(read("x does not satisfy Python>=3.12 and y").as_deref(), Some(">=3.12"));
        assert_eq!(
            read("Package 'x' requires a different Python: 3.11.2 not in '>=3.12'").as_deref(),
            Some(">=3.12")
        );
        let own = no_python(&Requirement::read(">=3.12,<4").unwrap());
        assert_eq!(read(&format!("the package could not be installed: {own}")).as_deref(), Some(">=3.12,<4"));
        assert_eq!(read("No matching distribution found for x"), None);
    }

    #[test]
    fn what_leaves_a_download_out_is_read() {
        let said = "x\nnpm error Error: ERROR: Failed to set up chrome v148! Set \"PUPPETEER_SKIP_DOWNLOAD\" env variable to skip download.";
        assert_eq!(skipped_by(said), Some("PUPPETEER_SKIP_DOWNLOAD"));
        assert_eq!(skipped_by("**INFO** Skipping Firefox download as instructed."), None);
    }

    #[test]
    fn npms_code_line_comes_first_also_where_it_is_only_in_the_log() {
        let first = |said: &str, log: &[&str]| with_code_first(said, log.iter().copied());
        let code = "npm error code EACCES";
        assert_eq!(first("a\nnpm error code EACCES\nb", &[]), format!("{code}\na\nb"));
        assert_eq!(first("a\nb", &["npm error code OLD", code, "c"]), format!("{code}\na\nb"));
        assert_eq!(first("a\nb", &["c"]), "a\nb");
    }

    #[test]
    fn what_was_locked_and_is_gone_is_known() {
        let of = |source: &str, said: &str| gone(&recognise(source, &[]).unwrap(), "1.0", said);
        let said = of("npm:b", "npm error code E404").unwrap();
        assert_eq!(said, "the locked b 1.0, or a package that it requires, is no longer available");
        assert!(of("pypi:b", "ERROR: No matching distribution found for b==1.0").is_some());
        let said = of("git:https://h/r", "fatal: unable to read tree (abc)").unwrap();
        assert_eq!(said, "the locked commit 1.0 is no longer in its repository");
        assert_eq!(of("npm:b", "npm error code ENOTFOUND npm error code E404"), None);
        assert_eq!(of("git:https://h/r", "fatal: could not read Username for 'https://h'"), None);
    }

    #[test]
    fn what_would_have_to_be_built_is_known() {
        let of = |name: &str, version: Option<&str>| Unresolved::NothingOf {
            name: name.into(),
            version: version.map(Into::into),
        };
        assert_eq!(unresolved("ERROR: No matching distribution found for docopt"), of("docopt", None));
        assert_eq!(
            unresolved("No matching distribution found for a-b==1.2 (from x)"),
            of("a-b", Some("1.2"))
        );
        assert_eq!(unresolved("No matching distribution found for a>=1"), of("a", None));
        assert_eq!(unresolved("docopt==0.6.2 has no usable wheels"), Unresolved::NoWheels);
        assert!(pypi::PLAN_TEXT.contains(pypi::WANTED_TO_RUN));
        let refused = "ERROR: Could not install packages due to an OSError: [Errno 125] Harbor lets nothing run before the yes";
        assert_eq!(unresolved(refused), Unresolved::NoWheels);
        assert_eq!(unresolved("dns error: No matching distribution found for a"), Unresolved::Otherwise);
        assert_eq!(unresolved("No matching distribution found for --x"), Unresolved::Otherwise);
    }

    proptest! {
        #[test]
        fn whatever_is_said_is_read(said in "(No matching (distribution|version) found for |code E404|404|'|@|=|a|\\PC| |\n){0,12}") {
            for source in ["npm:a", "pypi:a", "git:https://h/a"] {
                let _ = reason(&recognise(source, &[]).unwrap(), &said);
            }
            if let Unresolved::NothingOf { name, .. } = unresolved(&said) {
                prop_assert!(is_python_name(&name));
            }
        }
    }
}
