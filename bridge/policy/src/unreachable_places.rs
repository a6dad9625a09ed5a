//! Places that a person's words name and that a server does not have. The server finds nothing there. What it leaves there lands
//! in a place of its own, and it says no word about that.
//!
//! ```text
//!  {"path": "/tmp/a/report.md"}, --db=/srv/x.db, file:///home/me/b ─► named ─► not within its reach ─► advised: --read, --write
//! ```
//!
//! Owns which words are meant as places, and which option would open one. Must never be asked about words that are not the
//! person's own: the result is advice to open something.

use std::iter::successors;

use harbor_ipc_proto::hidden::has_hidden;
use serde_json::Value;
use url::Url;

use crate::sandbox::SandboxFacts;
use crate::sandbox::hint::{Advice, advice, shell};
use crate::sandbox::paths::{clean, parent};
use crate::sandbox::protected::why_not_by_name;

/// The most places in a list, since nobody reads more.
const MOST: usize = 4;

/// The most bytes of a path.
const LONGEST: usize = 1024;

/// Characters of patterns and templates. Hardly a directory has them, so the advice never makes a directory with such a name.
const OF_PATTERNS: &[char] = &['*', '?', '[', ']', '{', '}', '<', '>', '|', '^', '$', '%', '"'];

/// Schemes whose addresses are files.
const OF_FILES: &[&str] = &["file://", "sqlite:///", "duckdb:///"];

/// The state of a place on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceKind {
    /// A directory.
    Directory,
    /// Something else that is there.
    File,
    /// Nothing, but the directory in which it would be is there.
    Nothing,
    /// Nothing, and no directory for it either, but one further up is there: a server makes the rest for itself.
    Nowhere,
}

/// The option that opens a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// The option of `harbor sandbox`.
    pub option: String,
    /// The directory to make first, since a missing one cannot be granted. In the form for a shell.
    pub to_make: Option<String>,
}

/// The places that the arguments of a call name: texts that are nothing but a path or the address of a file.
#[must_use]
pub fn of_arguments(json: &str) -> Vec<String> {
    // Most calls name none.
    if !json.contains('/') {
        return Vec::new();
    }
    let mut found = Vec::new();
    if let Ok(value) = serde_json::from_str(json) {
        gather(&value, &mut found);
    }
    found
}

fn gather(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => add(found, place(text)),
        Value::Array(items) => items.iter().for_each(|item| gather(item, found)),
        Value::Object(members) => members.values().for_each(|member| gather(member, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The places that words of a command line and values of variables name: whole, or behind a `=`.
pub fn of_words<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut found = Vec::new();
    for word in words {
        let behind = word.split_once('=').map(|(_, value)| value);
        add(&mut found, place(word).or_else(|| place(behind?)));
    }
    found
}

fn add(found: &mut Vec<String>, place: Option<String>) {
    if let Some(place) = place.filter(|place| found.len() < MOST && !found.contains(place)) {
        found.push(place);
    }
}

/// The path that a text is, in its one form.
fn place(text: &str) -> Option<String> {
    let text = text.trim();
    let path = match OF_FILES.iter().find(|start| text.starts_with(**start)) {
        Some(&"file://") => Url::parse(text).ok()?.to_file_path().ok()?.to_str()?.to_owned(),
        Some(start) => text.strip_prefix(start)?.split('?').next()?.to_owned(),
        None => text.to_owned(),
    };
    let is_plain = path.starts_with('/')
        && path.len() <= LONGEST
        && !path.contains('\\')
        && !has_hidden(&path)
        && !path.chars().any(char::is_control);
    // `/` alone, and `//host/share`, are as often something else.
    clean(&path).filter(|clean| is_plain && !path.starts_with("//") && clean != "/")
}

/// Finds a place on this machine. `is_directory`: true for a directory, false for a file, `None` where nothing is. The result is
/// `None` where nothing of this machine seems to be meant, as with the path of a URL, or a pattern.
pub fn find(place: &str, is_directory: impl Fn(&str) -> Option<bool>) -> Option<PlaceKind> {
    match is_directory(place) {
        Some(true) => return Some(PlaceKind::Directory),
        Some(false) => return Some(PlaceKind::File),
        None => {}
    }
    let directory = parent(place);
    // The root is above everything that begins with a slash.
    let mut above = successors(Some(directory), |path| Some(parent(path))).take_while(|path| *path != "/");
    let (there, is_directory) = above.find_map(|path| Some((path, is_directory(path)?)))?;
    let to_make = directory.strip_prefix(there)?;
    match is_directory {
        false => None,
        true if to_make.is_empty() => Some(PlaceKind::Nothing),
        true => (!to_make.contains(OF_PATTERNS)).then_some(PlaceKind::Nowhere),
    }
}

/// Words of a server that has the directories in its arguments or roots, when it is asked for another place.
const OF_ITS_ARGUMENTS: &[&str] =
    &["outside allowed directories", "not within allowed directories", "outside the allowed director"];

/// Words of Playwright's, which has its working and its output directory, unless its arguments say otherwise. It names both.
const OF_ITS_ROOTS: &str = "is outside allowed roots";

/// The advice if the server itself refuses. Then the sandbox is not in its way, and no option of it helps.
#[must_use]
pub fn its_own_refusal(said: &str, server: &str) -> Option<String> {
    if said.contains(OF_ITS_ROOTS) {
        return Some(format!(
            "{server} itself refuses this, not its sandbox: name a file below one of the roots that it allows"
        ));
    }
    is_its_own_refusal(said).then(|| {
        format!(
            "{server} itself allows only the directories in its arguments: `harbor set {server} -- DIRECTORY…` changes them"
        )
    })
}

/// True if it is the server itself that refuses.
#[must_use]
pub fn is_its_own_refusal(said: &str) -> bool {
    said.contains(OF_ITS_ROOTS) || OF_ITS_ARGUMENTS.iter().any(|words| said.contains(words))
}

/// The option that would open a place. It opens the directory, since files beside the named one are usually meant, too.
///
/// # Errors
/// The reason why no option opens it.
pub fn advised(path: &str, found: PlaceKind, facts: &SandboxFacts) -> Result<Opening, String> {
    let directory = parent(path);
    let advice = match found {
        PlaceKind::Directory => advice(path, false, facts),
        PlaceKind::File => advice(directory, false, facts).or_else(|_| advice(path, false, facts)),
        PlaceKind::Nothing | PlaceKind::Nowhere => match why_not_by_name(directory, facts) {
            Some(why) => Err(why),
            None => advice(path, true, facts),
        },
    };
    let Advice { option, written, .. } = advice?;
    let is_to_make = found == PlaceKind::Nowhere;
    Ok(Opening { option, to_make: written.filter(|_| is_to_make).map(|written| shell(&written)) })
}

/// Ends of files that are run, but not made by running them.
const OF_PROGRAMS: &[&str] = &["js", "mjs", "cjs", "ts", "py", "sh", "rb", "php", "pl", "jar", "dll", "wasm"];

/// True if a word of a command line names a program that is not there: no grant helps where the file is missing.
#[must_use]
pub fn is_missing_program(place: &str, found: PlaceKind) -> bool {
    let end = place.rsplit_once('.').map(|(_, end)| end);
    matches!(found, PlaceKind::Nothing | PlaceKind::Nowhere)
        && end.is_some_and(|end| OF_PROGRAMS.contains(&end))
}

/// The sentence about a place that a server does not have.
#[must_use]
pub fn told(server: &str, place: &str, opens: &Result<Opening, String>) -> String {
    let outside = format!(
        "{server} cannot reach {place}: it finds none of your files there, and what it writes there is lost"
    );
    match opens {
        Ok(Opening { option, to_make: None }) => {
            format!("{outside}; this allows it: harbor sandbox {server} {option}")
        }
        Ok(Opening { option, to_make: Some(directory) }) => {
            format!(
                "{outside}; this makes its directory and allows it: mkdir -p {directory} && harbor sandbox {server} {option}"
            )
        }
        Err(why) => format!("{outside}; {why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_paths_are_named_and_others_are_not() {
        let mut named = of_arguments(
            r#"{"uri": "file:///home/me/a%20b.pdf", "files": ["/tmp/x//y.md", "notes.md", "see /etc/passwd"], "n": {"to": "/var/tmp/z"}, "again": "/tmp/x/y.md"}"#,
        );
        named.sort();
        assert_eq!(named, ["/home/me/a b.pdf", "/tmp/x/y.md", "/var/tmp/z"]);
        for none in
            [r#"{"a": "/"}"#, r#"{"a": "//h/s"}"#, r#"{"a": "https://h/x"}"#, "/x", "", r#"{"a": "/a\nb"}"#]
        {
            assert_eq!(of_arguments(none), [""; 0], "{none}");
        }
        let words = ["--db=/srv/a.db", "sqlite:////srv/b.db?mode=ro", "-v", "DIR=x", "/srv/c"];
        assert_eq!(of_words(words), ["/srv/a.db", "/srv/b.db", "/srv/c"]);
    }

    #[test]
    fn a_servers_own_refusal_is_known() {
        for (said, helps) in [
            (
                "Access denied - path outside allowed directories: /tmp/x not in /home/me/notes",
                Some("`harbor set s -- DIRECTORY…`"),
            ),
            (
                "### Error\nError: File access denied: /tmp/v/a.png is outside allowed roots. Allowed roots: \
                 /data/.playwright-mcp, /data",
                Some("not its sandbox: name a file below one of the roots"),
            ),
            ("EACCES: permission denied, open '/x'", None),
        ] {
            let own = its_own_refusal(said, "s");
            assert_eq!((own.is_some(), is_its_own_refusal(said)), (helps.is_some(), helps.is_some()));
            assert!(helps.is_none_or(|helps| own.unwrap().contains(helps)), "{said}");
        }
    }

    #[test]
    fn the_directory_is_advised_and_nothing_that_is_too_wide() {
        let facts = SandboxFacts { home: Some("/home/me".into()), ..SandboxFacts::default() };
        let of = |path: &str, found| advised(path, found, &facts).map(|opening| opening.option);
        assert_eq!(of("/home/me/notes", PlaceKind::Directory), Ok("--read /home/me/notes".into()));
        assert_eq!(of("/home/me/notes/a.pdf", PlaceKind::File), Ok("--read /home/me/notes".into()));
        assert_eq!(of("/tmp/a.pdf", PlaceKind::File), Ok("--read /tmp/a.pdf".into()));
        assert_eq!(of("/srv/notes/new.md", PlaceKind::Nothing), Ok("--write /srv/notes".into()));
        assert!(of("/tmp/new.md", PlaceKind::Nothing).unwrap_err().contains("/tmp is too large a place"));
        assert!(of("/home/me/.ssh/id", PlaceKind::File).is_err());
        let of = |path: &str| advised(path, PlaceKind::Nowhere, &facts);
        let opening = |option: &str, to_make: &str| {
            Ok(Opening { option: option.into(), to_make: Some(to_make.into()) })
        };
        assert_eq!(of("/tmp/a/b/x.md"), opening("--write /tmp/a/b", "/tmp/a/b"));
        assert_eq!(of("/home/me/my out/x"), opening("--write '/home/me/my out'", "'/home/me/my out'"));
        assert_eq!(advised("/tmp/a/x", PlaceKind::Nothing, &facts).unwrap().to_make, None, "it is there");
        for never in ["/home/me/.ssh/new/x", "/usr/new/x", "/run/new/x", "/home/me/x"] {
            assert!(of(never).is_err(), "{never}");
        }
    }

    #[test]
    fn a_place_is_told_with_what_opens_it_and_a_missing_program_is_none() {
        let said = told("s", "/tmp/n", &Err("/tmp is too large a place".into()));
        assert_eq!(
            said,
            "s cannot reach /tmp/n: it finds none of your files there, and what it writes there is lost; /tmp is too \
             large a place"
        );
        assert!(is_missing_program("/srv/a/index.js", PlaceKind::Nowhere));
        assert!(!is_missing_program("/srv/a/index.js", PlaceKind::File));
        assert!(
            !is_missing_program("/srv/a.b/js", PlaceKind::Nothing)
                && !is_missing_program("/srv/x.db", PlaceKind::Nowhere)
        );
    }

    #[test]
    fn a_place_that_is_to_be_made_is_of_this_machine() {
        let of = |place: &str| {
            find(place, |path| match path {
                "/" | "/tmp" | "/home" | "/home/me" | "/home/me/a b" => Some(true),
                "/tmp/file" => Some(false),
                _ => None,
            })
        };
        for (place, wanted) in [
            ("/home/me", Some(PlaceKind::Directory)),
            ("/tmp/file", Some(PlaceKind::File)),
            ("/tmp/x.md", Some(PlaceKind::Nothing)),
            ("/home/me/*.md", Some(PlaceKind::Nothing)),
            ("/tmp/reports/2026/x.md", Some(PlaceKind::Nowhere)),
            ("/home/me/a b/out/x", Some(PlaceKind::Nowhere)),
            ("/tmp/file/a/x", None),
            ("/help", None),
            ("/api/v1/users", None),
            ("/home/me/a b/**/x.md", None),
            ("/home/{id}/x", None),
            ("/tmp/[^/]+/x", None),
        ] {
            assert_eq!(of(place), wanted, "{place}");
        }
    }
}
