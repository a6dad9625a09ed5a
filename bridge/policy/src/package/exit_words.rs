//! Finds those of a server's last words that are about its end.
//!
//! Owns leaving out mere warnings, and everything that it logged before its last error. Must never leave out all words.

use crate::sandbox::hint::{Said, said};
use harbor_ipc_proto::link::runner::Lack;

/// The beginning of Python's report of an error.
const TRACEBACK: &str = "Traceback (most recent call last)";

/// Parts of lines that only warn, in small letters: of loggers, of ONNX, of npm.
const WARNS: &[&str] = &["warning", "[warn", "warn:", " warn ", "[w:"];

/// The part of a server's words that is about why it ended.
#[must_use]
pub fn last_error(said: &str) -> String {
    let from = said.find(TRACEBACK).unwrap_or(0);
    let warns = |line: &str| {
        let lower = line.to_ascii_lowercase();
        WARNS.iter().any(|words| lower.contains(words))
    };
    let lines: Vec<_> = said[from..].lines().filter(|line| !warns(line)).collect();
    let is_empty = lines.iter().all(|line| line.trim().is_empty());
    if is_empty { said.to_owned() } else { lines.join("\n") }
}

/// Its last line with a word in it.
pub(super) fn last_line(said: &str) -> &str {
    said.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

/// The words of Python and C libraries about an unknown host that they do not name.
const UNKNOWN_NAME: &[&str] =
    &["Name or service not known", "Temporary failure in name resolution", "nodename nor servname provided"];

/// The sentence about an unknown host, if that ended the program. The address is wrong, or the network is
/// missing, so no argument from a README helps by itself.
pub(super) fn unknown_host(error: &str) -> Option<String> {
    let named = said(error).into_iter().find_map(|said| match said {
        Said::Lacks(Lack::Host(host)) => Some(host),
        Said::Lacks(_) | Said::Refused(_) => None,
    });
    // One line behind it may be what was tried then.
    let mut last = error.lines().rev().filter(|line| !line.trim().is_empty()).take(2);
    let mut is_unnamed = || last.any(|line| UNKNOWN_NAME.iter().any(|words| line.contains(words)));
    match named {
        Some(host) => Some(format!("it did not find the host {host}: is the name right, and is this machine online?")),
        None => is_unnamed().then(|| {
            "it did not find a host, and does not say which one: is its address right, and is this machine online?".into()
        }),
    }
}

/// Words of whoever does not find something, in small letters.
const ASKS: &[&str] =
    &["not found", "no such file", "does not exist", "missing", "place", "put ", "copy ", "create"];

/// The file below its home that it asks for, as seen from there.
#[must_use]
pub fn asked_for_at_home<'a>(said: &'a str, home: &str) -> Option<&'a str> {
    let asks = |line: &&str| {
        let lower = line.to_ascii_lowercase();
        ASKS.iter().any(|words| lower.contains(words))
    };
    let rest = said.lines().filter(asks).find_map(|line| line.split_once(home)?.1.strip_prefix('/'))?;
    let is_of_names = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    let file = rest[..rest.find(|c| !is_of_names(c)).unwrap_or(rest.len())].trim_end_matches(['.', '/']);
    (!file.is_empty() && !file.contains("..")).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_only_warned_of_is_not_its_end() {
        let said = "2026-11-28 [W:onnxruntime:Default, device.cc:89] Failed to open file: \"/sys/bus/pci/devices\"\n\
                    INFO reading /a\nTraceback (most recent call last):\n  File \"/s.py\", line 1\nhttpx.ConnectError: [Errno -2] Name or service not known\n";
        let error = last_error(said);
        assert!(error.starts_with(TRACEBACK) && !error.contains("/sys/") && !error.contains("/a"), "{error}");
        assert_eq!(last_error("npm WARN deprecated x\nError: no key"), "Error: no key");
        assert_eq!(last_error("a warning is all"), "a warning is all");
    }

    #[test]
    fn a_file_below_its_home_is_what_it_asks_for() {
        let of = |said: &'static str| asked_for_at_home(said, "/s/data");
        assert_eq!(of("Please place k.json in '/s/data/.gmail-mcp'."), Some(".gmail-mcp"));
        assert_eq!(of("ENOENT: no such file or directory, open '/s/data/a/k.json'"), Some("a/k.json"));
        for nothing in [
            "not found: /s/data/../x",
            "reading /s/data/x",
            "no such file: /s/database/x",
            "/s/data is missing",
        ] {
            assert_eq!(of(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn a_host_that_nobody_knows_is_named() {
        let of = |said: &str| unknown_host(said).unwrap_or_default();
        assert!(of("Error: getaddrinfo ENOTFOUND nowhere.example").contains("the host nowhere.example:"));
        assert!(
            of("httpx.ConnectError: [Errno -2] Name or service not known").contains("does not say which")
        );
        assert_eq!(of("[Errno -2] Name or service not known\ntrying again\nError: no key"), "");
    }
}
