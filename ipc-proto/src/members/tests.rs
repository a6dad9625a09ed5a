//! The scanner beside serde_json.

use super::*;
use proptest::prelude::*;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

fn members(text: &str) -> Result<Vec<(String, &str)>, Malformed> {
    Members::of(text).map(|member| member.map(|(key, value)| (key.into_owned(), value))).collect()
}

/// Whether the text is a value, by its being one in an object.
fn is_value(text: &str) -> bool {
    members(&format!("{{\"a\":{text}}}")).is_ok_and(|members| members.len() == 1)
}

fn serde_accepts(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

proptest! {
    #[test]
    fn it_accepts_what_serde_json_accepts(text in "([\\[\\]{}\",:0-9eE.+\\-\\\\ua \n\u{1}é]|true|false|null|\"[a-z\\\\\"]{0,20}\"|\"a\":){0,12}") {
        prop_assert_eq!(is_value(&text), serde_accepts(&text), "{}", text);
    }

    #[test]
    fn what_is_nearly_json_is_judged_like_serde_json_does(
        value in crate::json::tests::any_json(),
        at in any::<prop::sample::Index>(),
        byte in "[\\[\\]{}\",:0-9e.\\-\\\\ \u{2}]?",
    ) {
        let text = value.to_string();
        prop_assert!(is_value(&text), "{}", text);
        let mut at = at.index(text.len() + 1);
        while !text.is_char_boundary(at) { at -= 1; }
        let behind = text[at..].chars().next().map_or(0, char::len_utf8);
        for behind in [at, at + behind] {
            let changed = format!("{}{byte}{}", &text[..at], &text[behind..]);
            prop_assert_eq!(is_value(&changed), serde_accepts(&changed), "{}", changed);
        }
    }

    #[test]
    fn the_members_are_those_that_serde_json_finds(
        map in prop::collection::btree_map("[a-z\"\\\\é\u{1}]{0,20}", crate::json::tests::any_json(), 0..6),
    ) {
        let text = serde_json::to_string_pretty(&map).unwrap();
        let found = members(&text).unwrap();
        let plain: BTreeMap<String, &RawValue> = serde_json::from_str(&text).unwrap();
        let plain: Vec<_> = plain.into_iter().map(|(key, value)| (key, value.get())).collect();
        prop_assert_eq!(found, plain);
    }
}

#[test]
fn depth_has_no_bound() {
    for depth in [1, 62, 63, 64, 65, 127, 128, 200, 100_000] {
        let nested = format!("{}1{}", "[{\"a\":".repeat(depth), "}]".repeat(depth));
        assert!(is_value(&nested), "{depth}");
        assert!(!is_value(&nested.replacen("}]", "]}", 1)), "{depth}");
        assert!(!is_value(&nested[..nested.len() - 1]), "{depth}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (text, what, at) in [
        ("", "it ends too early", 0),
        ("{\"a\":1", "it ends too early", 6),
        ("{\"a\":tru", "it ends too early", 8),
        ("{\"a\"}", "syntax error", 4),
        ("{} {}", "syntax error", 3),
        ("{\"a\":01}", "syntax error", 6),
        ("{\"a\":\"\n\"}", "syntax error", 6),
        (r#"{"a":"b\x"}"#, "syntax error", 7),
        ("x", "syntax error", 0),
        (" [1]", "it is another kind of value", 1),
    ] {
        assert_eq!(members(text), Err(Malformed { what, at }), "{text}");
    }
}

#[test]
fn a_key_that_is_no_text_hides_no_other() {
    let found = members(r#"{"\ud800":1,"\u0069d":2}"#).unwrap();
    assert_eq!(found, [(r#""\ud800""#.to_owned(), "1"), ("id".to_owned(), "2")]);
}
