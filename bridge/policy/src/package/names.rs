//! The names and versions of packages that an installer takes for nothing else.
//!
//! Must never let a word through that an installer would take for an option, a path or an address.

/// The most bytes of a name or version.
pub(super) const MAX_SPEC: usize = 300;

/// npm's own limit.
pub(super) const MAX_NAME: usize = 214;

/// Installers take a name that ends like this for a file.
pub(super) const ARCHIVES: &[&str] =
    &[".bz2", ".gz", ".lz", ".lzma", ".tar", ".tbz", ".tgz", ".tlz", ".txz", ".whl", ".xz", ".zip"];

/// Name and spec of `name`, `@scope/name`, each with or without `@version`.
pub(super) fn npm_spec(spec: &str) -> Option<(String, String)> {
    // The first letter may be the `@` of a scope.
    let at = spec.char_indices().skip(1).find(|(_, c)| *c == '@').map(|(at, _)| at);
    let (name, version) = at.map_or((spec, None), |at| (&spec[..at], Some(&spec[at + 1..])));
    let whole = is_npm_name(name) && version.is_none_or(is_npm_version) && is_harmless(spec);
    whole.then(|| (name.to_owned(), spec.to_owned()))
}

pub(super) fn is_npm_name(name: &str) -> bool {
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
pub(super) fn is_npm_version(version: &str) -> bool {
    let first = |b: u8| b.is_ascii_alphanumeric() || b"^~<>=*".contains(&b);
    is_word(version, first, |b| first(b) || b"._+-|".contains(&b))
}

/// Name and spec of `name`, `name[extra]`, each with `@version` or clauses like `>=1,<2` or neither.
pub(super) fn python_spec(text: &str) -> Option<(String, String)> {
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

pub(super) fn is_python_name(name: &str) -> bool {
    let letter = |b: u8| b.is_ascii_alphanumeric();
    is_word(name, letter, |b| letter(b) || b"._-".contains(&b))
        && name.bytes().next_back().is_some_and(letter)
}

pub(super) fn is_clause(clause: &str) -> bool {
    ["==", ">=", "<=", "~=", "!=", "<", ">"]
        .iter()
        .find_map(|operator| clause.strip_prefix(operator))
        .is_some_and(is_python_version)
}

pub(super) fn is_python_version(version: &str) -> bool {
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

pub(super) fn is_word(word: &str, first: impl Fn(u8) -> bool, further: impl Fn(u8) -> bool) -> bool {
    word.bytes().next().is_some_and(first) && word.bytes().skip(1).all(further)
}

/// Neither a way up nor the name of a file.
pub(super) fn is_harmless(spec: &str) -> bool {
    let lower = spec.to_ascii_lowercase();
    spec.len() <= MAX_SPEC && !spec.contains("..") && !ARCHIVES.iter().any(|ending| lower.ends_with(ending))
}
