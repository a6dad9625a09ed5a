//! Places that a person's words name and that a server does not have: what it finds there is nothing, and what it leaves there is
//! in a place of its own, without a word from it.
//!
//! ```text
//!  {"path": "/tmp/a/report.md"}, --db=/srv/x.db, file:///home/me/b ─► named ─► not within its reach ─► advised: --read, --write
//! ```
//!
//! Owns which words are meant as places, and which option would open one. Must never be asked for words that are not the person's
//! own: what comes of them is advice to open something.

use harbor_ipc_proto::hidden::has_hidden;
use serde_json::Value;
use url::Url;

use crate::sandbox::Facts;
use crate::sandbox::hint::{Advice, advice};
use crate::sandbox::paths::{clean, parent};
use crate::sandbox::protected::why_not_by_name;

/// More is no list that anybody reads.
const MOST: usize = 4;

/// Longer ones are no path, in bytes.
const LONGEST: usize = 1024;

/// Schemes whose addresses are files.
const OF_FILES: &[&str] = &["file://", "sqlite:///", "duckdb:///"];

/// What a place is on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// A directory.
    Directory,
    /// Something else that is there.
    File,
    /// Nothing, but the directory in which it would be is there.
    Nothing,
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

/// Words of a server that has directories of its own choice, by its arguments or roots, when it is asked for another place.
const OF_ITS_OWN: &[&str] =
    &["outside allowed directories", "not within allowed directories", "outside the allowed director"];

/// Whether it is the server itself that refuses: no sandbox is in its way, and no option of one helps.
#[must_use]
pub fn is_its_own_refusal(said: &str) -> bool {
    OF_ITS_OWN.iter().any(|words| said.contains(words))
}

/// Which option would open a place: the directory, since what lies beside a file is usually meant, too.
///
/// # Errors
/// Why none does.
pub fn advised(path: &str, found: Found, facts: &Facts) -> Result<Advice, String> {
    let directory = parent(path);
    match found {
        Found::Directory => advice(path, false, facts),
        Found::File => advice(directory, false, facts).or_else(|_| advice(path, false, facts)),
        Found::Nothing => match why_not_by_name(directory, facts) {
            Some(why) => Err(why),
            None => advice(path, true, facts),
        },
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
        assert!(is_its_own_refusal(
            "Access denied - path outside allowed directories: /tmp/x not in /home/me/notes"
        ));
        assert!(!is_its_own_refusal("EACCES: permission denied, open '/x'"));
    }

    #[test]
    fn the_directory_is_advised_and_nothing_that_is_too_wide() {
        let facts = Facts { home: Some("/home/me".into()), ..Facts::default() };
        let of = |path: &str, found| advised(path, found, &facts).map(|advice| advice.option);
        assert_eq!(of("/home/me/notes", Found::Directory), Ok("--read /home/me/notes".into()));
        assert_eq!(of("/home/me/notes/a.pdf", Found::File), Ok("--read /home/me/notes".into()));
        assert_eq!(of("/tmp/a.pdf", Found::File), Ok("--read /tmp/a.pdf".into()));
        assert_eq!(of("/srv/notes/new.md", Found::Nothing), Ok("--write /srv/notes".into()));
        assert!(of("/tmp/new.md", Found::Nothing).unwrap_err().contains("/tmp is too wide"));
        assert!(of("/home/me/.ssh/id", Found::File).is_err());
    }
}
