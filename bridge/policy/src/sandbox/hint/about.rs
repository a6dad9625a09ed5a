//! Decides whether a text is about something that a server was refused.
//!
//! Owns the comparison, for the code that shows the text and has the list of refusals.

use harbor_ipc_proto::link::runner::Lack;

use super::lacking::{ANY_PORT, CHANGES, OWN_SOCKETS, PORT, label};
use super::proxy::is_of_proxy;
use super::{Said, said};

/// The words before a path or a name.
const SUBJECTS: &[&str] = &["the socket ", CHANGES];

/// The words before a host.
const HOST: &str = "the host ";

/// True if a text is about this subject: a path, or the subject of a [`super::Hint`].
#[must_use]
pub fn is_about(text: &str, what: &str) -> bool {
    if let Some(host) = what.strip_prefix(HOST) {
        return names_host(text, host);
    }
    if is_of_kernel(what) {
        return speaks_of_port(text, what.strip_prefix(PORT));
    }
    let subject = SUBJECTS.iter().find_map(|before| what.strip_prefix(before)).unwrap_or(what);
    // Of a long trace the end may be all that is shown.
    let is_socket = what == OWN_SOCKETS && text.contains("[Errno 1] Operation not permitted");
    names(text, subject)
        || is_socket
        || said(text).iter().any(|said| match said {
            Said::Lacks(lack) => is_of(lack, what),
            Said::Refused(refusal) => refusal.path == what,
        })
}

fn is_of(lack: &Lack<'_>, what: &str) -> bool {
    let label = label(lack);
    match lack {
        // A file of that name, or what has it as its name.
        Lack::Module(_) => {
            let at = if label.starts_with('/') {
                Some(0)
            } else {
                what.rfind(&format!("/{label}")).map(|at| at + 1)
            };
            let rest = at.and_then(|at| what[at..].strip_prefix(&label));
            rest.is_some_and(|rest| !rest.contains('/') && (rest.is_empty() || rest.starts_with('.')))
        }
        _ => what.strip_prefix(&label).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')),
    }
}

/// True if a text says that listening was refused: on that port, or without naming one.
fn speaks_of_port(text: &str, port: Option<&str>) -> bool {
    let lower = text.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let refused =
        says(&["permission denied", "operation not permitted", "permissionerror", "eacces", "eperm"]);
    let mut numbers = lower.split(|c: char| !c.is_ascii_digit());
    refused && says(&["listen", "bind", "address"]) || numbers.any(|number| Some(number) == port)
}

/// True if the kernel reported this, and not the server's words. Then it may be why a start failed, whatever the words are.
#[must_use]
pub fn is_of_kernel(what: &str) -> bool {
    what == ANY_PORT || what.starts_with(PORT)
}

/// The refusals that a text names, or else those that it may be about. `what` gives the name of a refusal.
/// `is_sure` is true for a name that counts whatever the text says.
pub fn meant<'a, T>(all: &'a [T], text: &str, what: fn(&T) -> &str, is_sure: fn(&str) -> bool) -> Vec<&'a T> {
    let of = |is_meant: fn(&str, &str) -> bool| {
        let wanted = |one: &&T| is_sure(what(one)) || is_meant(text, what(one));
        all.iter().filter(wanted).collect::<Vec<_>>()
    };
    let named = of(is_about);
    if named.is_empty() { of(may_be_about) } else { named }
}

/// True if a path stands in a text, and not only as the beginning or the end of another one.
fn names(text: &str, path: &str) -> bool {
    let of_a_path = |c: char| c.is_alphanumeric() || "/._-".contains(c);
    let stands = |at: usize| {
        let (before, after) = (text[..at].chars().next_back(), text[at + path.len()..].chars().next());
        // A sentence may end behind it.
        let ends = after.is_none_or(|c| !of_a_path(c) || c == '.');
        ends && before.is_none_or(|c| !of_a_path(c))
    };
    !path.is_empty() && text.match_indices(path).any(|(at, _)| stands(at))
}

/// True if a host stands in a text, with or without its port.
fn names_host(text: &str, host: &str) -> bool {
    let name = host.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')).map_or(host, |(name, _)| name);
    let of_a_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let lower = text.to_ascii_lowercase();
    let stands = |at: usize| {
        let (before, after) = (lower[..at].chars().next_back(), &lower[at + name.len()..]);
        // A dot may end a sentence, or lead on to another name.
        let after = after.strip_prefix('.').unwrap_or(after).chars().next();
        !before.is_some_and(|c| of_a_name(c) || c == '.') && !after.is_some_and(of_a_name)
    };
    !name.is_empty() && lower.match_indices(name).any(|(at, _)| stands(at))
}

/// True if a text is about a host that the proxy refused, by its answer, which names no host.
fn may_be_about(text: &str, what: &str) -> bool {
    what.starts_with(HOST) && is_of_proxy(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_of_the_proxy_is_of_the_host_that_is_named_or_of_any() {
        let denied = ["the host a.example", "the host b.example:8080", "/x"];
        let meant = |text: &str| {
            meant(&denied, text, |what| what, |_| false).into_iter().copied().collect::<Vec<_>>()
        };
        assert_eq!(meant("HTTP Error 403: Forbidden"), ["the host a.example", "the host b.example:8080"]);
        assert_eq!(meant("http://b.example/: 403 Forbidden"), ["the host b.example:8080"]);
        assert!(meant("no").is_empty());
    }

    #[test]
    fn a_path_is_named_as_a_whole() {
        assert!(names("EACCES: open '/a/b'", "/a/b") && names("/a/b: no. /a/b.", "/a/b"));
        assert!(!names("/a/bc /x/a/b /a/b/c /a/b-1", "/a/b") && !names("x", ""));
    }

    #[test]
    fn a_text_speaks_of_what_it_is_the_reason_for() {
        for (text, what, wanted) in [
            ("Traceback:\nMemoryError", "more memory than 2048 MiB", true),
            ("MemoryError", "larger files than 1024 MiB", false),
            ("getaddrinfo ENOTFOUND example.com", "the host example.com", true),
            ("getaddrinfo ENOTFOUND example.com", "the host example.com.au", false),
            ("getaddrinfo ENOTFOUND example.com.au", "the host example.com", false),
            ("GET http://Example.com/x failed.", "the host example.com:8080", true),
            ("HTTPSConnectionPool(host='a.example.com', port=443)", "the host example.com", false),
            ("connect to [2001:db8::1]:443", "the host [2001:db8::1]", true),
            ("sh: 7: .: cannot open /etc/chromium.d/*: No such file", "/etc/chromium.d", true),
            ("RuntimeError: can't start new thread", "more threads than 512", true),
            ("listen EACCES: permission denied 0.0.0.0:3000", "listening on port 3000", true),
            ("nobody answers at 3000", "listening on port 3000", true),
            (
                "[Errno 13] error while attempting to bind on address: permission denied",
                "listening on port 8000",
                true,
            ),
            ("open '/x': permission denied", "listening on port 3000", false),
            (
                "error: chmod on /d/c.lock failed: Operation not permitted",
                &format!("{CHANGES}/d/c.lock"),
                true,
            ),
            ("ModuleNotFoundError: No module named 'x'", "/srv/a/x.py", true),
            ("ModuleNotFoundError: No module named 'x'", "/srv/a/x/y.py", false),
            ("Error: Cannot find module '../lib/x'\nRequire stack:\n- /o/bin/t.js", "/o/lib/x.js", true),
            ("Error: Cannot find module '../lib/x'\nRequire stack:\n- /o/bin/t.js", "/o/lib/xx.js", false),
            ("connect EPERM /run/x.sock", "the socket /run/x.sock", true),
            ("  syscall: 'listen',\n  address: '/d/x.sock'", "the socket /d/x.sock", true),
            ("PermissionError: [Errno 1] Operation not permitted\nEOFError", OWN_SOCKETS, true),
        ] {
            assert_eq!(is_about(text, what), wanted, "{text:?} {what:?}");
        }
    }
}
