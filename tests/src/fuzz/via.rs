//! Whom an item has come through: what is passed on is somebody's own, and else what it was.

use harbor_ipc_proto::via::{is_own, passed_on, said};

use super::Target;
use super::json::{Pairs, items, one_value};

/// The identity of a Harbor.
pub(super) const ME: &str = "aaaaaaaaaaaaaaaa";

pub(super) const PASSED_ON: Target = Target {
    name: "passed_on",
    run: passed,
    corpus: &[
        b"{}",
        br#"{"name":"a","inputSchema":{"n":1e2} }"#,
        br#"{"name":"a","_meta":{"harbor/via":["0123456789abcdef","ffffffffffffffff"],"ui":{"a":[]}},"z":1}"#,
        br#"{"_meta" : {"harbor\/via":[ "\u0030123456789abcdef" ]}}"#,
        br#"{"_meta":null}"#,
        br#"{"_meta":{"harbor/via":[1]},"_meta":{"harbor/via":["aaaaaaaaaaaaaaaa"]}}"#,
        br#"{"_meta":{"harbor/via":["0123456789abcdef","0123456789abcdef",""]}}"#,
    ],
};

fn passed(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Some(item) = one_value(text) else { return };
    let Some(passed) = passed_on(item, ME) else { return };
    assert!(is_own(&passed, ME), "{passed}");
    // Half a surrogate pair in a key is none of ours.
    let Some(before) = Pairs::parse(item.as_bytes()) else { return };
    let after = Pairs::parse(passed.as_bytes()).unwrap();
    let others = |pairs: &Pairs<'_>| -> Vec<String> {
        let keys = pairs.keys().into_iter().filter(|key| *key != "_meta");
        keys.map(|key| format!("{key:?}: {:?}", pairs.get(key))).collect()
    };
    assert_eq!(others(&before), others(&after));
    let count =
        |item: &str| said(item).and_then(|said| items(&said).map(|all| all.len())).unwrap_or_default();
    assert_eq!(count(&passed), count(item) + 1, "{passed}");
}
