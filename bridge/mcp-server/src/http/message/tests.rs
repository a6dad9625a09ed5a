//! Envelopes and headers.

use super::*;
use hyper::header::HeaderValue;
use proptest::prelude::*;

fn headers(values: &[(&'static str, &str)]) -> HeaderMap {
    let pairs = values
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()));
    pairs.collect()
}

fn request(method: &str, name: &str) -> Message {
    let meta = format!("{{\"{VERSION_OF_REQUEST}\":\"{MODERN}\"}}");
    let params = serde_json::json!({"name": name, "uri": name}).to_string();
    let params = format!("{},\"_meta\":{meta}}}", params.trim_end_matches('}'));
    let text = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{method}\",\"params\":{params}}}");
    Message::read(text.as_bytes()).unwrap()
}

#[test]
fn messages_are_told_apart() {
    let read = |text: &str| Message::read(text.as_bytes());
    let asked =
        read(r#"{"jsonrpc":"2.0","id":"a","method":"m","params":{"_meta":{"progressToken":7}}}"#).unwrap();
    assert_eq!(asked.asked, Some(Asked { id: "\"a\"".into(), token: Some("7".into()) }));
    let told =
        read(r#"{"jsonrpc":"2.0","method":"m","params":{"clientInfo":{"name":"a\u001b[1mb"}}}"#).unwrap();
    assert_eq!((told.asked, told.program.as_deref()), (None, Some("a[1mb")));
    let answered = read(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).unwrap();
    assert_eq!((answered.asked, answered.method), (None, None));
    for text in [
        "",
        "x",
        "[]",
        "1",
        "{}",
        r#"{"jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":[1],"method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":1}"#,
        r#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#,
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#,
    ] {
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn modern_headers_say_what_the_message_says() {
    let version = ("mcp-protocol-version", MODERN);
    let call = request("tools/call", "a b");
    for (name, fits) in
        [("a b", true), ("=?base64?YSBi?=", true), ("a", false), ("=?base64?!?=", false), ("", false)]
    {
        let headers = headers(&[version, ("mcp-method", "tools/call"), ("mcp-name", name)]);
        assert_eq!(call.check_modern(&headers).is_ok(), fits, "{name}");
    }
    let list = request("tools/list", "");
    assert!(list.check_modern(&headers(&[version, ("mcp-method", "tools/list")])).is_ok());
    for wrong in
        [&[version][..], &[("mcp-method", "tools/list")], &[version, ("mcp-method", "Tools/list")], &[]]
    {
        assert!(list.check_modern(&headers(wrong)).is_err(), "{wrong:?}");
    }
    assert!(list.is_modern(&HeaderMap::new()) && list.check_legacy(&HeaderMap::new()).is_ok());
    for (said, fits) in [("2025-06-18", true), ("2025-11-25", true), ("2030-01-01", false), ("", false)] {
        assert_eq!(list.check_legacy(&headers(&[("mcp-protocol-version", said)])).is_ok(), fits, "{said}");
    }
}

#[test]
fn headers_that_repeat_arguments_say_what_one_of_them_says() {
    let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"region":"\u00e4 b","n":7,"on":true,"list":["x"]}}}"#;
    let call = Message::read(body).unwrap();
    let with = |value: &str| call.check_params(body, &headers(&[("mcp-param-region", value)]));
    for (value, fits) in
        [("=?base64?w6QgYg==?=", true), ("7", true), ("true", true), ("x", false), ("", false), ("8", false)]
    {
        assert_eq!(with(value).is_ok(), fits, "{value}");
    }
    assert!(call.check_params(body, &HeaderMap::new()).is_ok());
    let bare = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#;
    assert!(Message::read(bare).unwrap().check_params(bare, &headers(&[("mcp-param-a", "1")])).is_err());
}

proptest! {
    #[test]
    fn no_body_and_no_header_does_harm(body in prop::collection::vec(any::<u8>(), 0..200), value in "[ -~]{0,40}") {
        let _ = Message::read(&body);
        let _ = decoded(&value);
        let _ = request("tools/call", "x").check_params(&body, &headers(&[("mcp-param-a", &value)]));
        let _ = request("tools/call", "x").check_modern(&headers(&[("mcp-name", &value), ("mcp-protocol-version", &value)]));
    }
}
