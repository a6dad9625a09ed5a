//! What the person is shown is all that there is, and nothing in it is hidden.

use harbor_ipc_proto::hidden::has_hidden;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn pairs(arguments: &str) -> Vec<(String, String)> {
    fields(arguments).into_iter().map(|field| (field.key, field.text)).collect()
}

#[test]
fn arguments_are_shown_key_by_key() {
    for (arguments, shown) in [
        ("{}", &[][..]),
        (r#"{"b":"x y","a":""}"#, &[("b", "x y"), ("a", "")]),
        (r#"{"a":{"b":{"c":1.50}},"d":null}"#, &[("a.b.c", "1.50"), ("d", "null")]),
        (r#"{"a":[1,-2e3,"x",true]}"#, &[("a", r#"[1,-2e3,"x",true]"#)]),
        (r#"{"a":[{"b":1},"x",[2]]}"#, &[("a[0].b", "1"), ("a[1]", "x"), ("a[2]", "[2]")]),
        (r#"{"a":["\u0041"]}"#, &[("a[0]", "A")]),
        (r#"{"a":{},"b":[], "c" : [ { } ] }"#, &[("a", "{}"), ("b", "[]"), ("c[0]", "{}")]),
        (r#"{"a":12345678901234567890123}"#, &[("a", "12345678901234567890123")]),
        (r#"{"a":1,"a":2,"\u0061":3}"#, &[("a", "1"), ("a", "2"), ("a", "3")]),
        (r#"{"a\"b":"\"\\\/\u00e9\ud83d\ude00"}"#, &[("a\"b", "\"\\/é😀")]),
        (r#"{"a":"1\n2\t3\r\n"}"#, &[("a", "1\n2\t3\\u{d}\n")]),
        (r#"{"a\nb: yes":1}"#, &[("a\\u{a}b: yes", "1")]),
        (r#"{"a":"\ud800\u0041\udc00"}"#, &[("a", "\\u{d800}A\\u{dc00}")]),
        ("[1,2]", &[("", "[1,2]")]),
        (r#"{"a":1"#, &[("", r#"{"a":1"#)]),
        ("\u{200b}", &[("", "\\u{200b}")]),
    ] {
        let shown: Vec<_> = shown.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect();
        assert_eq!(pairs(arguments), shown, "{arguments}");
    }
}

#[test]
fn what_nobody_would_see_is_written_out() {
    for (text, shown) in [
        ("https://good.example/\u{fe05}\u{fe04}", "https://good.example/\\u{fe05}\\u{fe04}"),
        ("❤\u{fe0f}\u{fe0f}", "❤\u{fe0f}\\u{fe0f}"),
        ("a\u{fe0f}\u{200d}", "a\\u{fe0f}\\u{200d}"),
        ("a\u{a0}\u{2003}b c\u{3000}d", "a\\u{a0}\\u{2003}b c\u{3000}d"),
        ("\u{e0041}\u{2800}\u{202e}", "\\u{e0041}\\u{2800}\\u{202e}"),
        ("👩\u{200d}💻 naïve 日本語", "👩\u{200d}💻 naïve 日本語"),
    ] {
        let expected = [(shown.to_owned(), shown.to_owned())];
        assert_eq!(pairs(&json!({ text: text }).to_string()), expected, "{text:?}");
        let escaped: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        assert_eq!(pairs(&format!(r#"{{"{escaped}":"{escaped}"}}"#)), expected, "{text:?}");
    }
}

#[test]
fn what_is_cut_says_how_large_it_is() {
    let field = |arguments: String| fields(&arguments).pop().unwrap();
    let text = |text: &str| field(json!({ "a": text }).to_string());
    assert_eq!(text(&"x".repeat(2000)).bytes, None);
    let cut = text(&"é".repeat(2001));
    assert_eq!((cut.text.as_str(), cut.bytes), ("é".repeat(1000).as_str(), Some(4002)));
    let cut = text(&format!("x{}", "é\n\"".repeat(1_000_000)));
    assert_eq!((cut.text.len(), cut.bytes), (2000, Some(4_000_001)));
    let cut = text(&"\u{200b}".repeat(1000));
    assert_eq!((cut.text, cut.bytes), ("\\u{200b}".repeat(250), Some(3000)));
    let cut = field(format!("{{\"a\":[1,{}1]}}", "[],".repeat(3)) + &" ".repeat(3000));
    assert_eq!((cut.key.as_str(), cut.text.as_str(), cut.bytes), ("a[4]", "1", None));
    let cut = field("x".repeat(5000));
    assert_eq!((cut.key.as_str(), cut.text.len(), cut.bytes), ("", 2000, Some(5000)));
}

#[test]
fn no_key_is_left_out_without_a_word() {
    let many = |count: usize| {
        let members: Vec<_> = (0..count).map(|at| format!("\"k{at}\":{{\"x\":[{at},[]]}}")).collect();
        fields(&format!("{{{}}}", members.join(",")))
    };
    let all = many(32);
    assert_eq!((all.len(), all[63].key.as_str()), (64, "k31.x[1]"));
    let cut = many(33);
    assert_eq!((cut.len(), cut[62].key.as_str()), (64, "k31.x[0]"));
    assert_eq!(cut[63], Field { key: "…".into(), text: "3 more".into(), bytes: None });
    let long = fields(&format!(r#"{{"{0}":{{"b":1,"c":2}},"d":3}}"#, "é".repeat(300)));
    let keys: Vec<_> = long.iter().map(|field| field.key.as_str()).collect();
    let shown = format!("{}… (602 bytes)", "é".repeat(250));
    assert_eq!(keys, [shown.as_str(), shown.as_str(), "d"]);
}

#[test]
fn whatever_is_sent_is_shown_in_bounds() {
    let large = 5_000_000;
    for arguments in [
        format!("{{\"a\":{}{}}}", "[".repeat(large / 2), "]".repeat(large / 2)),
        format!("{{{}\"a\":1}}", "\"a\":1,".repeat(large / 6)),
        format!("{{\"a\":[{}1]}}", "1,".repeat(large / 2)),
        format!("{{\"a\":\"{}\"}}", "\\u200b".repeat(large / 6)),
        format!("{}1{}", "{\"aaaaaaaaaa\":".repeat(large / 14), "}".repeat(large / 14)),
        "x".repeat(large),
    ] {
        let fields = fields(&arguments);
        assert!((1..=64).contains(&fields.len()));
        let bytes: usize = fields.iter().map(|field| field.key.len() + field.text.len()).sum();
        assert!(bytes <= 64 * 2600, "{bytes}");
    }
    // Deeper than anything that is meant: the rest stands there as JSON.
    let deep = pairs(&format!("{}1{}", "{\"a\":".repeat(40), "}".repeat(40)));
    let key = vec!["a"; 32].join(".");
    assert_eq!(deep, [(key, format!("{}1{}", "{\"a\":".repeat(8), "}".repeat(8)))]);
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        "(?s).{0,30}".prop_map(Into::into),
    ];
    leaf.prop_recursive(3, 30, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Into::into),
            prop::collection::btree_map("(?s).{0,8}", inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn nothing_hidden_is_shown(members in prop::collection::btree_map("(?s).{0,8}", any_value(), 0..8)) {
        let object = Value::Object(members.into_iter().collect());
        for field in fields(&object.to_string()) {
            prop_assert!(!has_hidden(&field.key) && !field.key.contains(['\n', '\r', '\t']), "{:?}", field);
            prop_assert!(!has_hidden(&field.text) && !field.text.contains('\r'), "{:?}", field);
        }
    }

    #[test]
    fn a_plain_text_is_shown_as_it_is(texts in prop::collection::vec("[ -~à-ÿ\n]{0,60}", 0..64)) {
        let members: Vec<_> = texts.iter().map(|text| format!("\"k\":{}", json!(text))).collect();
        let shown = pairs(&format!("{{{}}}", members.join(",")));
        prop_assert_eq!(shown, texts.into_iter().map(|text| ("k".to_owned(), text)).collect::<Vec<_>>());
    }

    #[test]
    fn letters_are_what_a_parser_reads(text in "(?s).{0,40}") {
        for written in [json!(text).to_string(), text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect()] {
            let written = format!("\"{}\"", written.trim_matches('"'));
            let Ok(read) = serde_json::from_str::<String>(&written) else { continue };
            let letters = Letters::of(&written);
            prop_assert_eq!(letters.bytes(), read.len());
            prop_assert_eq!(letters.map(Result::unwrap).collect::<String>(), read);
        }
    }
}
