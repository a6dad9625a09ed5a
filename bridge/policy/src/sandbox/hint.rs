//! What a server was refused, as its own words say it, and which option would allow it.
//!
//! ```text
//!  EACCES: permission denied, open '/x/y'     ─► denied ─► /x/y, read ─► advice ─► --read /x/y
//!  mkdir: cannot create directory '/x': ...                /x, write               --write /x, or why never
//! ```
//!
//! Owns the reading of such a line. The words are the server's and may lie: what comes of them is advice that a person
//! reads, in which no character does anything, and never a grant.

use super::Facts;
use super::paths::{clean, is_within, parent};
use super::protected::{is_run_later, why_never, why_never_written};

/// Of longer texts only this much is read, in bytes.
const MAX_TEXT: usize = 8 << 10;

/// The words of a refusal, in small letters.
const REFUSED: &[&str] = &[
    "permission denied",
    "operation not permitted",
    "read-only file system",
    "eacces",
    "eperm",
    "erofs",
    "permissionerror",
];

/// The words of something that is not there: a hidden directory looks like that.
const MISSING: &[&str] = &["no such file or directory", "enoent", "filenotfounderror"];

/// Words by which it is known that something was to be written.
const WRITES: &[&str] = &[
    "chmod",
    "chown",
    "copyfile",
    "create",
    "creating",
    "erofs",
    "fchmod",
    "fchown",
    "fchownat",
    "ftruncate",
    "link",
    "linkat",
    "lutimes",
    "mkdir",
    "mkdirall",
    "mkdirat",
    "mkdtemp",
    "mknod",
    "mkstemp",
    "move",
    "openwrite",
    "remove",
    "removing",
    "removexattr",
    "rename",
    "renameat",
    "rm",
    "rmdir",
    "save",
    "saving",
    "setxattr",
    "symlink",
    "symlinkat",
    "touch",
    "truncate",
    "unlink",
    "unlinkat",
    "utime",
    "utimensat",
    "utimes",
    "write",
    "writing",
];

/// An access that a server was refused, as it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// An absolute path in its one form.
    pub path: String,
    /// Whether it was to be written, as far as the words say.
    pub write: bool,
    /// Whether it was told that there is no such thing.
    pub missing: bool,
}

/// Finds the first refusal in what a server wrote.
#[must_use]
pub fn denied(text: &str) -> Option<Refusal> {
    let mut end = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].lines().find_map(in_line)
}

fn in_line(line: &str) -> Option<Refusal> {
    let lower = line.to_ascii_lowercase();
    let refused = REFUSED.iter().filter_map(|word| find_word(&lower, word)).min();
    let lacking = MISSING.iter().filter_map(|word| find_word(&lower, word)).min();
    let (at, missing) = match (refused, lacking) {
        (None, None) => return None,
        (Some(at), lacking) => (at, lacking.is_some_and(|lacking| lacking < at)),
        (None, Some(at)) => (at, true),
    };
    let found = path_in(line, at)?;
    let path = clean(found).filter(|path| path != "/" && path.chars().all(is_plain))?;
    let around = lower.replace(&found.to_ascii_lowercase(), " ");
    let writes = |word: &str| WRITES.contains(&word);
    let write = around.contains("read-only file system")
        || around.split(|c: char| !c.is_ascii_alphanumeric()).any(writes);
    Some(Refusal { path, write, missing })
}

/// Where a word stands that is not part of another.
fn find_word(text: &str, word: &str) -> Option<usize> {
    let at = text.find(word)?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '/';
    let before = text[..at].chars().next_back().is_some_and(is_part);
    let after = text[at + word.len()..].chars().next().is_some_and(is_part);
    (!before && !after).then_some(at)
}

/// Nothing that a terminal would act on or that turns text around.
fn is_plain(c: char) -> bool {
    let turns =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    !c.is_control() && !turns && c != char::REPLACEMENT_CHARACTER
}

/// The path that a line is about; the words of the refusal begin at `at`.
fn path_in(line: &str, at: usize) -> Option<&str> {
    let (before, after) = line.split_at(at);
    quoted(after, true)
        .or_else(|| quoted(before, false))
        .or_else(|| in_front(before))
        .or_else(|| starts_of_paths(after).next().map(|start| plain_token(&after[start..])))
}

/// A path in quotes: the first one, or of two with an arrow between them the one that is made; else the last one.
fn quoted(text: &str, first: bool) -> Option<&str> {
    let mut found = None;
    for (at, quote) in text.char_indices().filter(|(_, c)| "'\"`\u{2018}\u{201c}".contains(*c)) {
        let start = at + quote.len_utf8();
        let closing = match quote {
            '\u{2018}' => '\u{2019}',
            '\u{201c}' => '\u{201d}',
            // GNU programs open like this in some languages.
            '`' if !text[start..].contains('`') => '\'',
            quote => quote,
        };
        let Some(length) = text[start..].find(closing).filter(|_| text[start..].starts_with('/')) else {
            continue;
        };
        // JSON within JSON has a backslash before the quote.
        let path = text[start..start + length].trim_end_matches('\\');
        let arrow = text[..at].trim_end().ends_with("->");
        if found.is_none() || !first || arrow {
            found = Some(path);
        }
    }
    found
}

/// `cat: /x/y: Permission denied`, `open /x/y: permission denied`: what stands before the last colon.
fn in_front(before: &str) -> Option<&str> {
    let before = before.trim_end().strip_suffix(':')?;
    let part = before.rsplit(": ").next()?;
    let path = &part[starts_of_paths(part).next()?..];
    // `rename /a /b`: two.
    Some(path.find(" /").map_or(path, |end| &path[..end]))
}

/// Where a path may begin that has no quotes: not within a word, a relative path or a URL.
fn starts_of_paths(text: &str) -> impl Iterator<Item = usize> {
    let opens = |c: char| c.is_whitespace() || "([{<=,".contains(c);
    text.match_indices('/')
        .map(|(at, _)| at)
        .filter(move |at| text[..*at].chars().next_back().is_none_or(opens))
}

fn plain_token(text: &str) -> &str {
    let end = text.find(|c: char| c.is_whitespace() || ",;'\")]}>".contains(c)).unwrap_or(text.len());
    text[..end].trim_end_matches(['.', ':'])
}

/// What would allow an access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The option of `harbor sandbox`.
    pub option: String,
    /// What to mind before it is given: a sentence, where it leads out of the sandbox.
    pub mind: Option<&'static str>,
}

/// Said of what others than the server run.
const RUN_OUTSIDE: &str =
    "what is written there is run by you, your shell, your editor or git, outside of the sandbox";

/// The option of `harbor sandbox` that would allow an access. To write a file its directory is granted, since most
/// programs write a new file and rename it.
///
/// # Errors
/// Why nothing allows it.
pub fn advice(path: &str, write: bool, facts: &Facts) -> Result<Advice, String> {
    let plain = |option: String| Advice { option, mind: None };
    if facts.package.as_deref().is_some_and(|package| is_within(path, package)) {
        return Err(of_its_package(path, facts));
    }
    if is_within(path, &facts.data) || is_within(path, &facts.tmp) {
        // Its own already: what is refused there is a socket.
        let own = if is_within(path, &facts.tmp) { &facts.tmp } else { &facts.data };
        return Ok(plain(format!("--socket {}", shell(own))));
    }
    if !write {
        return why_never(path, facts).map_or_else(|| Ok(plain(format!("--read {}", shell(path)))), Err);
    }
    if let Some(never) = why_never_written(path, facts) {
        return Err(never);
    }
    let directory = parent(path);
    let wide = why_never_written(directory, facts).is_some();
    let granted = if wide { path } else { directory };
    let mind = is_run_later(granted, facts).then_some(RUN_OUTSIDE);
    Ok(Advice { option: format!("--write {}", shell(granted)), mind })
}

/// What a server keeps in its installation goes with the next one.
fn of_its_package(path: &str, facts: &Facts) -> String {
    format!(
        "its installation is read-only. If it can be told another place, by a variable or an argument, name one below {}; if \
         not, `--write {}` opens this part of its installation, and what it keeps there goes with the next one",
        shell(&facts.data),
        shell(parent(path))
    )
}

/// A word as a shell has to be given it.
#[must_use]
pub fn shell(word: &str) -> String {
    let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+@,:=".contains(c));
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests;
