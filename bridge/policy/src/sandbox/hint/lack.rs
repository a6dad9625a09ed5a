//! Reads from a server's words what it lacks, other than a path.
//!
//! Owns the words of runtimes and of the C library. Must never take a program's own sentence for the kernel's: a program may have
//! limits, too.

use std::borrow::Cow;

use harbor_ipc_proto::link::runner::Lack;

use super::path::{find_word, in_line, plain, plain_token, starts_of_paths};
use crate::sandbox::hosts::Target;

/// How many lines after a line about Unix sockets a refusal without a name counts as one of a socket.
const TRACE: u8 = 8;

/// Words about memory; V8, Python, Rust, C++, Go, the JVM, the C library.
const MEMORY: &[&str] = &[
    "memoryerror",
    "heap out of memory",
    "cannot allocate memory",
    "enomem",
    "memory allocation of ",
    "std::bad_alloc",
    "runtime: out of memory",
    "java.lang.outofmemoryerror",
    "array buffer allocation failed",
];

/// Words about processes.
const PROCESSES: &[&str] = &["fork: retry"];

/// Words about threads.
const THREADS: &[&str] = &[
    "can't start new thread",
    "failed to create new os thread",
    "unable to create native thread",
    "failed to spawn thread",
];

/// Words about processes or threads, which count in a line with one of [`STARTS`].
const AGAIN: &[&str] = &["resource temporarily unavailable", "eagain"];

const STARTS: &[&str] = &["fork", "clone", "spawn"];

/// Words about modes, owners, times and attributes, as calls and as programs name them.
const ATTRIBUTES: &[&str] = &[
    "chmod",
    "fchmod",
    "fchmodat",
    "lchmod",
    "chown",
    "fchown",
    "fchownat",
    "lchown",
    "utime",
    "utimes",
    "lutimes",
    "futimes",
    "utimensat",
    "setxattr",
    "removexattr",
    "changing permissions of",
    "changing ownership of",
    "preserving permissions for",
    "preserving times for",
    "setting times of",
];

/// Words about a name that is not resolved.
const UNRESOLVED: &[&str] = &[
    "enotfound",
    "eai_again",
    "name or service not known",
    "temporary failure in name resolution",
    "could not resolve host",
    "unable to resolve host",
    "failed to resolve",
    "no such host",
];

/// The words before that name, the surest first.
const BEFORE_HOSTS: &[&str] = &[
    "enotfound ",
    "eai_again ",
    "resolve host: ",
    "resolve host address ",
    "failed to resolve ",
    "lookup ",
    "host=",
    "://",
];

/// Parts of lines that come before a refusal of a Unix socket without a name: Python shows the way to it.
const OF_SOCKETS: &[&str] =
    &["af_unix", "multiprocessing/connection", "unix_server", "unix_connection", "unixstreamserver"];

/// The words of Chromium where it may make no sockets, by which its processes would find each other.
const OF_CHROMIUM: &[&str] = &["process_singleton_posix.cc", "socket() failed: operation not permitted"];

/// The words before a socket's path: of URLs, Go, PostgreSQL.
const OF_UNIX: &[&str] = &["unix://", "dial unix ", "listen unix ", "on socket \""];

/// The number of coming lines that may still be about Unix sockets.
#[derive(Debug, Default)]
pub(super) struct Sockets {
    lines: u8,
}

impl Sockets {
    /// A refusal that names nothing.
    pub(super) fn line(&mut self, lower: &str) -> Option<Lack<'static>> {
        if OF_SOCKETS.iter().any(|part| lower.contains(part)) {
            self.lines = TRACE;
            return None;
        }
        self.lines = self.lines.saturating_sub(1);
        let refused = self.lines > 0 && lower.trim_end().ends_with("[errno 1] operation not permitted")
            || OF_CHROMIUM.iter().all(|part| lower.contains(part));
        if !refused {
            return None;
        }
        self.lines = 0;
        Some(Lack::Socket { path: Cow::Borrowed(""), listen: true })
    }
}

/// A Unix socket.
pub(super) fn socket(line: &str, lower: &str) -> Option<Lack<'static>> {
    let called = |name: &str| {
        let code = lower.find(name).map(|at| lower[at + name.len()..].trim_start());
        code.is_some_and(|code| ["eperm", "eacces", "enoent"].iter().any(|word| code.starts_with(word)))
    };
    let (listen, connect) = (called("listen "), called("connect "));
    let told = OF_UNIX.iter().find_map(|word| after(line, lower, word)).filter(|_| is_refused(lower));
    let path = match told {
        Some(path) => plain(path)?,
        None => in_line(line, lower)
            .map(|refusal| refusal.path)
            .or_else(|| first_path(line).filter(|_| listen || connect))?,
    };
    let ends = [".sock", ".socket", ".pipe"].iter().any(|ending| path.ends_with(ending));
    let around = lower.replace(&path.to_ascii_lowercase(), " ");
    let says = |words: &[&str]| words.iter().any(|word| find_word(&around, word).is_some());
    let named = says(&["bind", "listen", "socket"]) && says(&["operation not permitted", "eperm"]);
    let is_socket = told.is_some() || listen || connect || ends || named || path.contains("/.s.PGSQL.");
    let listen = listen || says(&["listen", "bind"]);
    is_socket.then(|| Lack::Socket { path: path.into(), listen })
}

fn is_refused(lower: &str) -> bool {
    let words =
        ["permission denied", "operation not permitted", "no such file or directory", "cannot connect"];
    words.iter().any(|word| lower.contains(word))
}

/// `connect EPERM /run/x.sock - Local (undefined:undefined)`.
fn first_path(line: &str) -> Option<String> {
    let at = starts_of_paths(line).next()?;
    plain(plain_token(&line[at..]))
}

fn after<'a>(line: &'a str, lower: &str, word: &str) -> Option<&'a str> {
    let rest = &line[lower.find(word)? + word.len()..];
    rest.starts_with('/').then(|| plain_token(rest))
}

/// The lack in words about a limit: of threads, processes, memory, file size or open files.
pub(super) fn limit(lower: &str) -> Option<Lack<'static>> {
    let any = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let numbered = |number: u8| {
        ["errno ", "os error "].iter().any(|word| find_word(lower, &format!("{word}{number}")).is_some())
    };
    // Before memory, which Java speaks of here, too.
    let again = any(AGAIN) || numbered(11);
    if any(THREADS) || again && lower.contains("thread") {
        return Some(Lack::Threads);
    }
    if any(PROCESSES) || again && any(STARTS) {
        return Some(Lack::Processes);
    }
    if any(MEMORY) || numbered(12) {
        return Some(Lack::Memory);
    }
    if find_word(lower, "efbig").is_some() || numbered(27) || lower.trim_end().ends_with(": file too large") {
        return Some(Lack::FileSize);
    }
    // All of the system's, or the user's share of watches, are no limits of a process.
    let is_others = any(&["open files in system", "inotify", ", watch"]);
    let is_full = find_word(lower, "emfile").is_some() || numbered(24) || any(&["too many open files"]);
    (is_full && !is_others).then_some(Lack::OpenFiles)
}

/// A mode, an owner, times or attributes that could not be changed: only EPERM is the sandbox's word for it.
pub(super) fn attributes(line: &str, lower: &str) -> Option<Lack<'static>> {
    let path = in_line(line, lower)?.path;
    let around = lower.replace(&path.to_ascii_lowercase(), " ");
    let says = |words: &[&str]| words.iter().any(|word| find_word(&around, word).is_some());
    let refused = says(&["operation not permitted", "eperm"]) && says(ATTRIBUTES);
    refused.then(|| Lack::Attributes(path.into()))
}

/// A host whose name was not resolved.
pub(super) fn host(line: &str, lower: &str) -> Option<Cow<'static, str>> {
    if !UNRESOLVED.iter().any(|word| lower.contains(word)) {
        return None;
    }
    BEFORE_HOSTS.iter().find_map(|before| {
        let rest = &line[lower.find(before)? + before.len()..];
        let rest = rest.trim_start_matches(['\'', '"', '\u{2018}', '\\']);
        let is_of_names = |c: char| c.is_ascii_alphanumeric() || ".-".contains(c);
        let end = rest.find(|c| !is_of_names(c)).unwrap_or(rest.len());
        let name = rest[..end].trim_end_matches('.').to_ascii_lowercase();
        let is_name = name.contains('.') && name.contains(|c: char| c.is_ascii_alphabetic());
        let target = Target::parse(&name, Some(443)).filter(|_| is_name)?;
        Some(Cow::Owned(target.rule()))
    })
}
