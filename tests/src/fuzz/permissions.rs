//! Names that decide who may do what: origins, tools, lists of tools.

use harbor_ipc_proto::source_id::{SourceId, SourceKind};
use harbor_policy::origin::{MAX_CLIENT, MAX_ORIGIN, Origin};
use harbor_policy::tool_name::{Allowlist, EVERY, MAX_ENTRIES, split};

use super::Target;

pub(super) const ORIGIN: Target = Target {
    name: "origin",
    run: origin,
    corpus: &[
        b"https://example.org:8443/",
        b"HTTP://B\xc3\xbccher.Example:80",
        b"http://0x7f.1",
        b"http://[2001:DB8::0:1]:8080",
        b"https://xn--bcher-kva.example.",
        b"chrome-extension://abcdefghijklmnopabcdefghijklmnop/",
        b"moz-extension://0f8fad5b-d9cb-469f-a165-70867728950e",
        b"client://Claude%20Code%2F%C3%A4",
        b"https://a@b\\c/d?e#f",
        b"blob:https://example.org/x",
        b"null",
        b"",
    ],
};

pub(super) const TOOL_NAME: Target = Target {
    name: "tool_name",
    run: tool_name,
    corpus: &[
        b"time/get_current_time",
        b"my.server-1_x/a/b/*",
        b"a__b/x",
        b"../x",
        b"*/x",
        b"time/",
        b"time/a\nb",
        b"",
    ],
};

pub(super) const ALLOWLIST: Target = Target {
    name: "allowlist",
    run: allowlist,
    corpus: &[
        b"time/now\0time/*\0files/read",
        b"files/read\0files/read\0files/read_*\0files/a/b",
        b"files/*/x\0files/**",
        b"*",
        b"ser*/x",
        b"",
    ],
};

/// What is accepted is plain text in one form; nothing of what would stand around host and port is left in it.
fn origin(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Some(client) = Origin::client(&text) {
        assert!((1..=MAX_CLIENT).contains(&text.len()));
        assert_eq!(Origin::parse(client.as_str()), Ok(client));
    }
    let Ok(origin) = Origin::parse(&text) else { return };
    let canonical = origin.as_str();
    assert_eq!(Origin::parse(canonical).as_ref(), Ok(&origin));
    assert!(canonical.len() <= MAX_ORIGIN && canonical.bytes().all(|byte| byte.is_ascii_graphic()));
    let (scheme, rest) = canonical.split_once("://").expect("it has a scheme");
    assert!(["http", "https", "chrome-extension", "moz-extension", "client"].contains(&scheme), "{scheme}");
    assert!(!rest.is_empty() && !rest.contains(['/', '?', '#', '@', '\\', '*']), "{canonical}");
    assert!(origin.is_client() || (!rest.contains('%') && rest == rest.to_ascii_lowercase()), "{canonical}");
}

/// Joined again it is the name that it was.
fn tool_name(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok((server, tool)) = split(&text) else { return };
    assert_eq!(format!("{server}/{tool}"), text);
    assert!(!tool.is_empty() && !tool.contains(char::is_control));
    assert_eq!(SourceId::parse(server.as_str()), Some(server));
}

/// The entries are separated by zero bytes. A list covers what stands in it, and is what it says it is.
fn allowlist(bytes: &[u8]) {
    let entries: Vec<String> =
        bytes.split(|byte| *byte == 0).map(|entry| String::from_utf8_lossy(entry).into_owned()).collect();
    let Ok(list) = Allowlist::parse(&entries) else {
        assert!(entries.len() > MAX_ENTRIES || entries.iter().any(|entry| split(entry).is_err()));
        return;
    };
    let mut sorted = entries.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(list.entries(), sorted);
    assert_eq!(Allowlist::parse(&sorted), Ok(list.clone()));
    // A star alone is every server, and nothing else that has tools.
    let is_all = entries.iter().any(|entry| entry == EVERY);
    for entry in entries.iter().filter(|entry| *entry != EVERY) {
        let (server, tool) = split(entry).expect("it was accepted");
        assert!(list.covers(&server, tool), "{entry:?}");
        let every =
            entries.contains(&format!("{server}/*")) || (is_all && server.kind() == SourceKind::Server);
        assert_eq!(list.covers(&server, "\0"), every, "{entry:?}");
    }
}
