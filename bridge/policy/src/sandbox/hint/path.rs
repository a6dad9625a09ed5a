//! A path that a server was refused, in a line of its words.
//!
//! Owns finding it. Must never answer with a path that has a character with an effect.

use crate::sandbox::paths::clean;

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
const MISSING: &[&str] = &[
    "no such file or directory",
    "no such file",
    "enoent",
    "filenotfounderror",
    "does not exist",
    "does not appear to be a git repository",
    "not a git repository",
    "invalidgitrepositoryerror",
    "nosuchpatherror",
];

/// Words that show that something was to be written.
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

/// An access that a server was refused, by its own words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathRefusal {
    /// An absolute path in its one form.
    pub path: String,
    /// True if the words say that it was to be written.
    pub write: bool,
    /// True if the server was told that the path does not exist.
    pub missing: bool,
}

/// The refusal in a line.
pub(super) fn in_line(line: &str, lower: &str) -> Option<PathRefusal> {
    let refused = REFUSED.iter().filter_map(|word| find_word(lower, word)).min();
    let lacking = MISSING.iter().filter_map(|word| find_word(lower, word)).min();
    let (at, missing) = match (refused, lacking) {
        (None, None) => return None,
        (Some(at), lacking) => (at, lacking.is_some_and(|lacking| lacking < at)),
        (None, Some(at)) => (at, true),
    };
    let found = path_in(line, at)?;
    // A shell names what it did not find as it was written.
    let path = plain(found.strip_suffix("/*").unwrap_or(found))?;
    let around = lower.replace(&found.to_ascii_lowercase(), " ");
    let writes = |word: &str| WRITES.contains(&word);
    let write = around.contains("read-only file system")
        || around.split(|c: char| !c.is_ascii_alphanumeric()).any(writes);
    Some(PathRefusal { path, write, missing })
}

/// The path of an error that says nothing else: `Error executing tool git_status: /home/me/src`.
pub(super) fn alone(text: &str) -> Option<PathRefusal> {
    let last = text.trim().rsplit(": ").next().filter(|last| last.starts_with('/'))?;
    Some(PathRefusal { path: plain(last)?, write: false, missing: true })
}

/// The index of a word that is not part of another word.
pub(super) fn find_word(text: &str, word: &str) -> Option<usize> {
    let at = text.find(word)?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '/';
    let before = text[..at].chars().next_back().is_some_and(is_part);
    let after = text[at + word.len()..].chars().next().is_some_and(is_part);
    (!before && !after).then_some(at)
}

/// A path in its one form, in which no character does anything.
pub(super) fn plain(path: &str) -> Option<String> {
    clean(path).filter(|path| path != "/" && path.chars().all(is_plain))
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

/// A path in quotes: the first one, or the last one. Of two with an arrow between them, the one that is made.
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

/// The path before the last colon: `cat: /x/y: Permission denied`, `open /x/y: permission denied`.
fn in_front(before: &str) -> Option<&str> {
    let before = before.trim_end().strip_suffix(':')?;
    let part = before.rsplit(": ").next()?;
    let path = &part[starts_of_paths(part).next()?..];
    // `chmod on /x/y failed: Operation not permitted`.
    let path = path.strip_suffix(" failed").unwrap_or(path);
    // `rename /a /b`: two.
    Some(path.find(" /").map_or(path, |end| &path[..end]))
}

/// The indexes where a path without quotes may begin: not within a word, a relative path or a URL.
pub(super) fn starts_of_paths(text: &str) -> impl Iterator<Item = usize> {
    let opens = |c: char| c.is_whitespace() || "([{<=,".contains(c);
    text.match_indices('/')
        .map(|(at, _)| at)
        .filter(move |at| text[..*at].chars().next_back().is_none_or(opens))
}

pub(super) fn plain_token(text: &str) -> &str {
    let end = text.find(|c: char| c.is_whitespace() || ",;'\")]}>".contains(c)).unwrap_or(text.len());
    text[..end].trim_end_matches(['.', ':'])
}
