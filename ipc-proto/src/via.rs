//! Lets Harbors that are each other's servers recognise their own items.
//!
//! ```text
//!  `harbor mcp` of A ─► a tool with _meta: {"harbor/via": [A]} ─► B ─► `harbor mcp` of B ─► the same with [B, A] ─► A: left out
//! ```
//!
//! Owns the names and this member. Without it, A would list to B the items that A has from B, and B would list them to A
//! again. Must never carry anything but identities, since nobody checks its content.

use crate::json::{Fields, Json, with_member};

/// The variable that tells a runner the identity of its Harbor.
pub const IDENTITY: &str = "HARBOR_ID";

/// The header that tells it to a remote server on this machine.
pub const HEADER: &str = "harbor-id";

/// The member of `_meta` with the identities of the Harbors that an item came through, the last one first.
pub const VIA: &str = "harbor/via";

/// The number of hexadecimal digits of an identity.
const DIGITS: usize = 16;

/// An item with this many identities has come through one Harbor twice, whatever the Harbors call themselves.
const MOST: usize = 16;

/// True if an item of a list has come through the Harbor `own`.
#[must_use]
pub fn is_own(item: &str, own: &str) -> bool {
    let via = via(item);
    via.len() >= MOST || via.iter().any(|harbor| harbor == own)
}

/// The Harbors that an item came through, as the text of a JSON array; `None` if the item names none.
#[must_use]
pub fn said(item: &str) -> Option<String> {
    let via = via(item);
    (!via.is_empty()).then(|| array(&via))
}

/// The Harbors that an item came through; empty if the item names none, or not in this form.
fn via(item: &str) -> Vec<String> {
    if !item.contains("_meta") {
        return Vec::new();
    }
    let member = |object: &'_ str, name| Some(Fields::parse(object.as_bytes()).ok()?.get(name)?.to_owned());
    let said = member(item, "_meta").and_then(|meta| member(&meta, VIA));
    let said: Vec<String> = said.and_then(|said| serde_json::from_str(&said).ok()).unwrap_or_default();
    if said.iter().all(|said| is_identity(said)) { said } else { Vec::new() }
}

/// True if `text` has the form of an identity. Other texts are passed on to nobody: they could say anything.
fn is_identity(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

/// An item as the Harbor `by` passes it on to another one. `None` if it is no object, or has more members than any message.
#[must_use]
pub fn passed_on(item: &str, by: &str) -> Option<String> {
    let harbors = array(&[vec![by.to_owned()], via(item)].concat());
    let meta = Fields::parse(item.as_bytes()).ok()?.get("_meta").unwrap_or("{}");
    let meta = with_member(meta, VIA, &harbors).or_else(|| with_member("{}", VIA, &harbors))?;
    with_member(item, "_meta", &meta)
}

fn array(texts: &[String]) -> String {
    let texts: Vec<_> = texts.iter().map(|text| Json::string(text).into_string()).collect();
    format!("[{}]", texts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::tests::any_json;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const ME: &str = "aaaaaaaaaaaaaaaa";

    #[test]
    fn an_item_says_whom_it_has_come_through_and_is_else_as_it_was() {
        for (item, passed) in [
            ("{}", r#"{"_meta":{"harbor/via":["aaaaaaaaaaaaaaaa"]}}"#),
            (r#"{"n":1e2 }"#, r#"{"n":1e2 ,"_meta":{"harbor/via":["aaaaaaaaaaaaaaaa"]}}"#),
            (r#" {"_meta":{},"a":1} "#, r#" {"_meta":{"harbor/via":["aaaaaaaaaaaaaaaa"]},"a":1} "#),
            (r#"{"_meta" : null}"#, r#"{"_meta" : {"harbor/via":["aaaaaaaaaaaaaaaa"]}}"#),
            (
                r#"{"_meta":{"ui":{"a":[]}}}"#,
                r#"{"_meta":{"ui":{"a":[]},"harbor/via":["aaaaaaaaaaaaaaaa"]}}"#,
            ),
            (
                r#"{"a":"é","_meta":{"harbor\/via":["0123456789abcdef","ffffffffffffffff"],"x":0.10}}"#,
                r#"{"a":"é","_meta":{"harbor\/via":["aaaaaaaaaaaaaaaa","0123456789abcdef","ffffffffffffffff"],"x":0.10}}"#,
            ),
            (r#"{"_meta":{"harbor/via":"a"}}"#, r#"{"_meta":{"harbor/via":["aaaaaaaaaaaaaaaa"]}}"#),
            (
                r#"{"_meta":{"harbor/via":["ffffffffffffffff","any text"]}}"#,
                r#"{"_meta":{"harbor/via":["aaaaaaaaaaaaaaaa"]}}"#,
            ),
        ] {
            assert_eq!(passed_on(item, ME).as_deref(), Some(passed));
            assert!(is_own(passed, ME) && !is_own(passed, "bbbbbbbbbbbbbbbb") && !is_own(item, ME), "{item}");
            let (said, before) = (said(passed).unwrap(), said(item).unwrap_or_default());
            assert!(said.starts_with("[\"aaaaaaaaaaaaaaaa\"") && said.len() > before.len(), "{said}");
        }
        assert_eq!(passed_on("[]", ME), None);
        let many = |object: &str| {
            format!("{{{object}{}}}", (0..64).map(|n| format!(",\"{n}\":0")).collect::<String>())
        };
        assert_eq!(passed_on(&many("\"a\":1"), ME), None);
        let item = format!("{{\"a\":1,\"_meta\":{}}}", many("\"b\":2"));
        assert_eq!(
            passed_on(&item, ME).as_deref(),
            Some(r#"{"a":1,"_meta":{"harbor/via":["aaaaaaaaaaaaaaaa"]}}"#)
        );
    }

    #[test]
    fn what_goes_round_without_an_end_is_somebodys_own() {
        let mut item = "{}".to_owned();
        for by in 0..MOST {
            assert!(!is_own(&item, ME), "{item}");
            item = passed_on(&item, &format!("{by:016x}")).unwrap();
        }
        assert!(is_own(&item, ME));
    }

    proptest! {
        #[test]
        fn of_any_object_only_that_member_becomes_another(a in any_json(), meta in any_json(), by in "[0-9a-f]{16}") {
            let item = json!({"a": a, "_meta": meta}).to_string();
            let passed = passed_on(&item, &by).unwrap();
            prop_assert!(is_own(&passed, &by));
            let mut item: Value = serde_json::from_str(&item).unwrap();
            let mut passed: Value = serde_json::from_str(&passed).unwrap();
            let meta = passed.as_object_mut().unwrap().remove("_meta").unwrap();
            prop_assert_eq!(&meta[VIA][0], &Value::from(by));
            item.as_object_mut().unwrap().remove("_meta");
            prop_assert_eq!(passed, item);
        }
    }
}
