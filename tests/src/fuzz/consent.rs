//! Arguments that a model has written: what a person is shown of them, and whether they have typed them.

use harbor_ipc_proto::hidden::has_hidden;
use harbor_policy::consent::shown::{Field, fields};
use harbor_policy::consent::typed::Typed;
use serde_json::{Value, json};

use super::Target;
use super::json::Pairs;

pub(super) const CONSENT: Target = Target {
    name: "consent",
    run: consent,
    corpus: &[
        b"{}",
        br#"{"to":"a@b.example","mail":{"text":"Hi\u200b","n":[1,2.50,-3e4]},"more":[{"a":""},[]]}"#,
        br#"{"a":1,"a":2,"\u0061":{"":{}}}"#,
        br#"{"\ud800":"\udc00\ud83d\ude00\\\"\/\b\f\n\r\t"}"#,
        "{\"a\":\"https://good.example/\u{fe05}\u{fe04}\",\"\u{202e}\":\"❤\u{fe0f}\u{200d}\u{a0}\"}".as_bytes(),
        br#"{"a":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}"#,
        br#"{"a":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}"#,
        br#"{"q":"web","tabId":7,"at":{"home":"late"},"way":"up"}"#,
        b"[1]",
        b"{\"a\":\"",
    ],
};

/// Names keys, and refers to itself.
const SCHEMA: &str =
    r##"{"properties":{"q":{"enum":["web"]},"at":{"$ref":"#"},"a":{"items":{"$ref":"#"}}}}"##;

fn consent(bytes: &[u8]) {
    let Ok(arguments) = std::str::from_utf8(bytes) else { return };
    let shown = fields(arguments);
    is_plain_and_bounded(&shown);
    let pairs = Pairs::parse(bytes);
    if let Some(pairs) = &pairs {
        let keys = pairs.keys();
        assert!(shown.len() >= keys.len().min(64), "a key is left out: {shown:?}");
    }
    is_covered_only_if_typed(arguments, pairs.as_ref());
}

fn is_plain_and_bounded(shown: &[Field]) {
    assert!(shown.len() <= 64);
    for Field { key, text, bytes } in shown {
        assert!(!has_hidden(key) && !key.contains(['\n', '\r', '\t']) && key.len() <= 540, "{key:?}");
        assert!(!has_hidden(text) && !text.contains('\r') && text.len() <= 2000, "{text:?}");
        assert!(bytes.is_none_or(|bytes| bytes > 200), "{bytes:?} of {text:?}");
    }
}

/// What is typed as a whole is covered, if it is a text; what is not typed is not, unless nothing is in it.
fn is_covered_only_if_typed(arguments: &str, pairs: Option<&Pairs<'_>>) {
    let (nothing, mut typed) = (Typed::new(), Typed::new());
    typed.add(arguments);
    let covers = |typed: &Typed, schema| typed.covers(arguments, schema, &["tabId"]);
    for schema in [None, Some(SCHEMA)] {
        let is_covered = covers(&nothing, schema);
        assert!(!is_covered || covers(&typed, schema), "more typed covers less");
        assert!(!is_covered || pairs.is_some(), "it is no object");
    }
    let Ok(Value::Object(members)) = serde_json::from_str(arguments) else { return };
    for text in members.values().filter_map(Value::as_str) {
        let mut typed = Typed::new();
        typed.add(text);
        let alone = json!({ "q": text }).to_string();
        assert_eq!(typed.covers(&alone, None, &[]), !has_hidden(text), "{text:?}");
        assert!(text.is_empty() || !nothing.covers(&alone, None, &[]), "{text:?}");
    }
}
