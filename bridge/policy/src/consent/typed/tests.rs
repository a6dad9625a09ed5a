//! What was typed is covered, and nothing else is.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn typed(texts: &[&str]) -> Typed {
    let mut typed = Typed::new();
    texts.iter().for_each(|text| typed.add(text));
    typed
}

const TEXT: &str = "Mail ann@b.example 'I am late', from Joanna, 1512 or -3.50 or 1e3; über 日本.";

const SCHEMA: &str = r##"{
    "properties": {
        "q": {},
        "kind": {"enum": ["web", "news", 7], "default": "all"},
        "sort": {"anyOf": [{"const": "new"}, {"$ref": "#/$defs/way"}]},
        "at": {"properties": {"place": {}}, "additionalProperties": {"const": "home"}},
        "list": {"items": {"enum": ["one"]}},
        "pair": {"prefixItems": [{"const": "first"}, {"const": 2}]},
        "tree": {"$ref": "#"}
    },
    "$defs": {"way": {"enum": ["up", "down"]}, "endless": {"$ref": "#/$defs/endless"}}
}"##;

#[test]
fn values_are_whole_words_of_one_text() {
    for (value, is_covered) in [
        (json!("ann@b.example"), true),
        (json!("I am late"), true),
        (json!("'I am late', from"), true),
        (json!("Joanna"), true),
        (json!("über 日本"), true),
        (json!(TEXT), true),
        (json!(""), true),
        (json!(true), true),
        (json!(null), true),
        (json!(1512), true),
        (json!(["Mail", "late", 1512, [], {}]), true),
        (json!("anna"), false),
        (json!("Joann"), false),
        (json!("ber"), false),
        (json!("日"), false),
        (json!("i am late"), false),
        (json!(" I am late"), false),
        (json!("late ann"), false),
        (json!("Mail \u{200b}"), false),
        (json!("lat"), false),
        (json!(5), false),
        (json!(12), false),
        (json!(1512.0), false),
        (json!(["Mail", "eve"]), false),
        (json!("second"), true),
        (json!("1e3; über 日本. second"), false),
    ] {
        let arguments = json!({ "q": value }).to_string();
        let typed = typed(&[TEXT, "second"]);
        assert_eq!(typed.covers(&arguments, Some(SCHEMA), &[]), is_covered, "{arguments}");
        assert_eq!(typed.covers(&arguments, None, &[]), is_covered, "{arguments}");
        assert!(is_covered || !Typed::new().covers(&arguments, Some(SCHEMA), &[]));
    }
    for (number, is_covered) in
        [("-3.50", true), ("1e3", true), ("-3.5", false), ("1000", false), ("1E3", false)]
    {
        let arguments = format!(r#"{{"q":{number}}}"#);
        assert_eq!(typed(&[TEXT]).covers(&arguments, None, &[]), is_covered, "{arguments}");
    }
}

#[test]
fn keys_and_constants_of_the_schema_are_nobodys_secret() {
    for (arguments, is_covered) in [
        (r#"{"kind":"web"}"#, true),
        (r#"{"kind":"all"}"#, true),
        (r#"{"kind":7}"#, true),
        (r#"{"kind":"7"}"#, false),
        (r#"{"q":"web"}"#, false),
        (r#"{"sort":"new"}"#, true),
        (r#"{"sort":"down"}"#, true),
        (r#"{"sort":"web"}"#, false),
        (r#"{"at":{"place":"late"}}"#, true),
        (r#"{"at":{"other":"late"}}"#, false),
        (r#"{"at":{"Joanna":"late"}}"#, true),
        (r#"{"at":{"Joanna":"home"}}"#, true),
        (r#"{"at":{"place":"home"}}"#, false),
        (r#"{"list":["one","late","one"]}"#, true),
        (r#"{"list":["two"]}"#, false),
        (r#"{"pair":["first",2]}"#, true),
        (r#"{"pair":[2,"first"]}"#, false),
        (r#"{"tree":{"tree":{"kind":"news"}}}"#, true),
        (r#"{"tree":{"other":1512}}"#, false),
        (r#"{"other":"late"}"#, false),
        (r#"{"late":"late"}"#, true),
        (r#"{"secret":true}"#, false),
    ] {
        assert_eq!(typed(&[TEXT]).covers(arguments, Some(SCHEMA), &[]), is_covered, "{arguments}");
    }
    for schema in ["{", "true", "{}", r##"{"$ref":"#/nowhere"}"##, r##"{"allOf":[{"$ref":"#"}]}"##] {
        assert!(!typed(&[TEXT]).covers(r#"{"q":true}"#, Some(schema), &[]), "{schema}");
    }
    assert!(typed(&[TEXT]).covers(r#"{"q":"late"}"#, None, &[]));
    assert!(!typed(&[TEXT]).covers(r#"{"q":{"a":"late"}}"#, None, &[]));
}

#[test]
fn ids_are_harbors_own() {
    let covers = |arguments: &str| typed(&[TEXT]).covers(arguments, Some("{}"), &["tabId", "ref"]);
    for (arguments, is_covered) in [
        (r#"{"tabId":17,"ref":"e5"}"#, true),
        (r#"{"tabId":17,"text":"x"}"#, false),
        (r#"{"text":{"tabId":17}}"#, false),
        (r#"{"ref":{"a":"b"}}"#, false),
        (r#"{"ref":"e5","ref":"e6"}"#, false),
    ] {
        assert_eq!(covers(arguments), is_covered, "{arguments}");
    }
    assert!(!covers(&json!({"ref": "x".repeat(100)}).to_string()), "nobody gives such an id");
}

#[test]
fn what_is_odd_is_not_covered() {
    let typed = typed(&[TEXT, "\0a\u{200b}b\u{fe00}"]);
    let deep = format!(r#"{{"q":{}{}}}"#, "[".repeat(20_000), "]".repeat(20_000));
    let large = format!(r#"{{"q":"late"{}}}"#, " ".repeat(64 * 1024));
    let many = json!({"q": vec![true; 65]}).to_string();
    for arguments in [
        "",
        "[]",
        "null",
        r#"{"q":"late""#,
        r#"{"q":"late","q":"late"}"#,
        r#"{"q":"late","\u0071":"late"}"#,
        r#"{"q":{"late":1512,"late":1512}}"#,
        r#"{"q":"\ud800"}"#,
        r#"{"\ud800":1512}"#,
        "{\"q\":\"a\u{200b}b\"}",
        r#"{"q":"\u0000"}"#,
        &deep,
        &large,
        &many,
    ] {
        assert!(!typed.covers(arguments, None, &[]), "{arguments:.80}");
    }
    assert!(typed.covers("{}", None, &[]) && Typed::new().covers("{}", Some(SCHEMA), &[]));
}

#[test]
fn the_newest_are_kept() {
    let mut typed = Typed::new();
    let asks = |typed: &Typed, word: &str| typed.covers(&json!({ "q": word }).to_string(), None, &[]);
    typed.add("first");
    typed.add(&"x ".repeat(100_000));
    assert!(asks(&typed, "first"));
    typed.add(&"y ".repeat(100_000));
    assert!(!asks(&typed, "first") && !asks(&typed, "x") && asks(&typed, "y"));
    typed.add(&format!("lost Jo{}anna and ann", "x".repeat(MOST_KEPT - 9)));
    assert!(!asks(&typed, "lost") && !asks(&typed, "anna") && asks(&typed, "and ann"));
    assert!(typed.0.len() <= MOST_KEPT + 1);
    typed.add(&"é".repeat(MOST_KEPT));
    typed.add("last");
    assert!(asks(&typed, "last") && typed.0.len() <= MOST_KEPT + 1);
}

/// One letter over and over is the worst that there is to look for.
#[test]
fn no_text_takes_for_ever() {
    let typed = typed(&[&"a".repeat(MOST_KEPT)]);
    assert!(!typed.covers(&json!({"q": "a".repeat(60_000)}).to_string(), None, &[]));
    let words = self::typed(&[&"a ".repeat(MOST_KEPT / 2)]);
    assert!(!words.covers(&json!({"q": format!("{}b", "a ".repeat(30_000))}).to_string(), None, &[]));
    assert!(words.covers(&json!({"q": "a ".repeat(30_000)}).to_string(), None, &[]));
}

/// The same, slowly.
fn has_words_plainly(text: &str, words: &str) -> bool {
    text.char_indices().any(|(at, _)| {
        let behind = text[at..].strip_prefix(words);
        behind.is_some_and(|behind| {
            !text[..at].ends_with(char::is_alphanumeric) && !behind.starts_with(char::is_alphanumeric)
        })
    })
}

proptest! {
    #[test]
    fn words_are_found_wherever_they_are(text in "[ab é.]{0,40}", words in "[ab é.]{1,6}") {
        prop_assert_eq!(has_words(&text, &words), has_words_plainly(&text, &words));
    }

    #[test]
    fn whole_words_that_were_typed_are_covered(
        words in prop::collection::vec("[a-zé0-9]{1,8}|👍|-|@", 1..20), from in 0_usize..20, count in 1_usize..20,
    ) {
        let from = from.min(words.len() - 1);
        let chosen = words[from..(from + count).min(words.len())].join(" ");
        let text = words.join(" ");
        let typed = typed(&["before", &text, "behind"]);
        let arguments = json!({"a": chosen, "b": [chosen]}).to_string();
        prop_assert!(typed.covers(&arguments, None, &[]));
        let schema = r#"{"properties":{"a":{},"b":{}}}"#;
        prop_assert!(typed.covers(&arguments, Some(schema), &[]));
    }

    #[test]
    fn what_was_not_typed_is_not_covered(
        text in "[a-z .,0-9]{0,60}", head in "[a-z .,0-9]{0,10}", foreign in "[A-ZÀ-Þ]", tail in "[a-z .,0-9]{0,10}",
        place in 0_usize..5,
    ) {
        let value = format!("{head}{foreign}{tail}");
        let arguments = match place {
            0 => json!({"q": value}),
            1 => json!({"q": ["", true, {"": value}]}),
            2 => json!({"q": {value: true}}),
            3 => json!({"q": [[{value: 1}]]}),
            _ => json!({"q": "", "r": value}),
        };
        prop_assert!(!typed(&[&text]).covers(&arguments.to_string(), None, &[]));
    }
}
