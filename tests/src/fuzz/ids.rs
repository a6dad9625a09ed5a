//! Names that come from outside and become paths and parts of other names: server ids, extension ids.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path};

use harbor_bridge::front::relay;
use harbor_ipc_proto::server_id::ServerId;

use super::Target;

pub(super) const SERVER_ID: Target = Target {
    name: "server_id",
    run: server_id,
    corpus: &[
        b"time",
        b"my.server-1_x",
        b"9",
        b"a..b",
        b"a__b",
        b"../../etc/passwd",
        b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        b"",
    ],
};

pub(super) const EXTENSION_ID: Target = Target {
    name: "extension_id",
    run: extension_id,
    corpus: &[
        b"chrome-extension://abcdefghijklmnopabcdefghijklmnop/",
        b"chrome-extension://abcdefghijklmnopabcdefghijklmnop/\0--parent-window=0",
        b"/usr/lib/mozilla/native-messaging-hosts/harbor.json\0harbor@example.org",
        b"/a/harbor.json\0{ec8030f7-c20a-464f-9b0e-13a3a9e97384}",
        b"serve\0harbor@example.org",
        b"/a/harbor.json\0",
        b"chrome-extension:////",
        b"",
    ],
};

/// `^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$` without `..` or `__`, as the protocol has it, character by character.
fn server_id(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut chars = text.chars();
    let wanted = chars.next().is_some_and(|first| first.is_ascii_alphanumeric())
        && chars.clone().count() <= 63
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
        && !["..", "__"].iter().any(|bad| text.contains(bad));
    let parsed = ServerId::parse(&text);
    assert_eq!(parsed.is_some(), wanted);
    if let Some(id) = parsed {
        assert_eq!(id.as_str(), text);
        let parts: Vec<_> = Path::new(id.as_str()).components().collect();
        assert_eq!(parts, [Component::Normal(id.as_str().as_ref())], "it is no name of a directory");
    }
}

/// The arguments are separated by zero bytes: the one byte that cannot stand in them.
fn extension_id(bytes: &[u8]) {
    let of = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    let args: Vec<OsString> = bytes.split(|byte| *byte == 0).map(of).collect();
    let Some(id) = relay::extension_id(&args) else { return };
    assert!((1..=128).contains(&id.len()));
    assert!(id.chars().all(|c| c.is_ascii_alphanumeric() || "@._-{}".contains(c)), "{id:?}");
    let first = args[0].to_string_lossy();
    match first.strip_prefix("chrome-extension://") {
        Some(origin) => assert_eq!(origin.trim_end_matches('/'), id),
        None => assert!(first.starts_with('/') && args[1] == id.as_str()),
    }
}
