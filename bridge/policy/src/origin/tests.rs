//! The table of what is accepted and refused, and what holds for any text.

use std::collections::HashMap;

use proptest::prelude::*;

use super::WrongOrigin::{
    Character, Client, Extension, Host, NoHost, NoScheme, Opaque, Path, Port, Scheme, TooLong, UserInfo,
    Wildcard,
};
use super::*;

const CHROME: &str = "chrome-extension://abcdefghijklmnopabcdefghijklmnop";
const FIREFOX: &str = "moz-extension://0f8fad5b-d9cb-469f-a165-70867728950e";

#[test]
fn what_is_accepted_gets_its_canonical_form() {
    for (text, canonical) in [
        ("https://example.org", "https://example.org"),
        ("https://example.org/", "https://example.org"),
        ("HTTPS://Example.ORG", "https://example.org"),
        ("https://example.org:443", "https://example.org"),
        ("http://example.org:80/", "http://example.org"),
        ("http://example.org:443", "http://example.org:443"),
        ("https://example.org:8443", "https://example.org:8443"),
        ("https://example.org:65535", "https://example.org:65535"),
        ("https://example.org.", "https://example.org."),
        ("http://localhost:3000", "http://localhost:3000"),
        ("https://a_b.example", "https://a_b.example"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
        ("https://BÜCHER.example", "https://xn--bcher-kva.example"),
        ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example"),
        ("https://faß.example", "https://xn--fa-hia.example"),
        ("https://例え。テスト", "https://xn--r8jz45g.xn--zckzah"),
        ("https://ｅｘａｍｐｌｅ.org", "https://example.org"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://0x7f.1", "http://127.0.0.1"),
        ("http://0177.0.0.1", "http://127.0.0.1"),
        ("http://2130706433", "http://127.0.0.1"),
        ("http://127.0.0.1.", "http://127.0.0.1"),
        ("http://[::1]", "http://[::1]"),
        ("http://[0:0:0:0:0:0:0:1]:80", "http://[::1]"),
        ("https://[2001:DB8::0:1]:8443/", "https://[2001:db8::1]:8443"),
        ("http://[::ffff:127.0.0.1]", "http://[::ffff:7f00:1]"),
        (CHROME, CHROME),
        ("Chrome-Extension://ABCDEFGHIJKLMNOPabcdefghijklmnop/", CHROME),
        (FIREFOX, FIREFOX),
        ("moz-extension://0F8FAD5B-D9CB-469F-A165-70867728950E", FIREFOX),
        ("client://claude-code", "client://claude-code"),
        ("client://A.b_c~1/", "client://A.b_c~1"),
        ("client://Claude%20Code%2F%C3%A4", "client://Claude%20Code%2F%C3%A4"),
    ] {
        assert_eq!(Origin::parse(text).map(|origin| origin.to_string()).as_deref(), Ok(canonical), "{text}");
    }
}

#[test]
fn what_is_refused_is_refused_for_its_reason() {
    let long = format!("https://{}.org", "a".repeat(MAX_ORIGIN));
    let long_in_punycode = format!("https://{}org", "ä.".repeat(300));
    let long_client = format!("client://{}", "a".repeat(MAX_CLIENT + 1));
    for (text, why) in [
        (long.as_str(), TooLong),
        (&long_in_punycode, TooLong),
        (" https://example.org", Character),
        ("https://example.org\n", Character),
        ("https://exam\tple.org", Character),
        ("https://example\u{3000}.org", Character),
        ("https://example.org\0", Character),
        ("https://a\\b", Character),
        ("https:\\\\example.org", Character),
        ("*", Wildcard),
        ("https://*.example.org", Wildcard),
        ("null", Opaque),
        ("about:blank", Opaque),
        ("data:text/html,x", Opaque),
        ("DATA:text/html,http://a", Opaque),
        ("blob:https://example.org/0f8fad5b", Opaque),
        ("filesystem:https://example.org/temporary", Opaque),
        ("file:///etc/passwd", Opaque),
        ("file://host", Opaque),
        ("javascript://example.org", Opaque),
        ("", NoScheme),
        ("example.org", NoScheme),
        ("example.org:443", NoScheme),
        ("//example.org", NoScheme),
        ("https:example.org", NoScheme),
        ("https:/a", NoScheme),
        ("://example.org", Scheme),
        ("ftp://example.org", Scheme),
        ("wss://example.org", Scheme),
        ("chrome://settings", Scheme),
        ("harbor-extension://x", Scheme),
        ("view-source:https://example.org", Scheme),
        ("https://example.org/x", Path),
        ("https://example.org//", Path),
        ("https://example.org?", Path),
        ("https://example.org#x", Path),
        ("https://example.org/?a@b", Path),
        ("https://a@b", UserInfo),
        ("https://a:b@c", UserInfo),
        ("https://@c", UserInfo),
        ("https://example.org@evil.example/", UserInfo),
        ("chrome-extension://", NoHost),
        ("chrome-extension://abc", Extension),
        ("chrome-extension://abcdefghijklmnopabcdefghijklmnoq", Extension),
        ("chrome-extension://abcdefghijklmnopabcdefghijklmnop:1", Extension),
        ("chrome-extension://abcdefghijklmnopabcdefghijklmnop/a.html", Path),
        ("moz-extension://0f8fad5bd9cb469fa16570867728950e", Extension),
        ("moz-extension://0f8fad5b-d9cb-469f-a165-70867728950g", Extension),
        ("client://", NoHost),
        ("client://a b", Character),
        ("client://a/b", Path),
        ("client://ä", Client),
        ("client://%61", Client),
        ("client://%2f", Client),
        ("client://%", Client),
        ("client://%FF", Client),
        ("Client://a", Client),
        (&long_client, Client),
    ] {
        assert_eq!(Origin::parse(text), Err(why), "{text}");
    }
}

#[test]
fn a_host_and_a_port_are_what_a_browser_could_have() {
    for (text, why) in [
        ("https://", NoHost),
        ("https:///", NoHost),
        ("https:///example.org", NoHost),
        ("https://:443", NoHost),
        ("https://?x", NoHost),
        ("https://.", Host),
        ("https://.example.org", Host),
        ("https://a..b", Host),
        ("https://a..", Host),
        ("https://ex%61mple.org", Host),
        ("http://[fe80::1%25eth0]", Host),
        ("https://example．org／x", Host),
        ("https://a＠b", Host),
        ("https://a,b", Host),
        ("https://a\"b", Host),
        ("https://a<b", Host),
        ("https://xn--a", Host),
        ("http://1.2.3.4.5", Host),
        ("http://256.1.1.1", Host),
        ("http://[::1", Host),
        ("http://[::g]", Host),
        ("http://[1.2.3.4]", Host),
        ("http://a::1", Host),
        ("http://::1", NoHost),
        ("https://a:", Port),
        ("https://a:0", Port),
        ("https://a:080", Port),
        ("https://a:65536", Port),
        ("https://a:+80", Port),
        ("https://a:８０", Port),
        ("https://a:x", Port),
        ("http://[::1]:", Port),
        ("http://[::1]x", Port),
    ] {
        assert_eq!(Origin::parse(text), Err(why), "{text}");
    }
}

#[test]
fn a_client_is_named_by_1_to_128_bytes() {
    assert_eq!(Origin::client(""), None);
    assert_eq!(Origin::client(&"a".repeat(MAX_CLIENT + 1)), None);
    let strange = Origin::client("Claude Code*/@%\n").unwrap();
    assert_eq!(strange.as_str(), "client://Claude%20Code%2A%2F%40%25%0A");
    assert!(strange.is_client() && !Origin::parse("https://client").unwrap().is_client());
}

#[test]
fn an_origin_is_found_by_its_text() {
    let origin = Origin::parse("https://example.org").unwrap();
    assert_eq!(HashMap::from([(origin, 7)]).get("https://example.org"), Some(&7));
}

#[test]
fn reasons_are_sentences_that_repeat_nothing() {
    for text in ["canary", "https://canary@canary", "https://canary:canary", "canary://canary", "data:canary"]
    {
        let why = Origin::parse(text).unwrap_err().to_string();
        assert!(!why.contains("canary") && why.contains(' '), "{why}");
    }
}

/// Texts near the forms that are accepted, so that many of them are.
fn near() -> impl Strategy<Value = String> {
    let piece =
        "(a|B|ä|ß|é|。|\\.|-|_|[0-9]{1,3}|0x7f|:|\\[|\\]|::1|:443|%41|xn--|/|\u{ad}|\u{200d}|Ａ|１|٣|\\PC)";
    let rest = prop::collection::vec(piece, 1..8).prop_map(|pieces| pieces.concat());
    ("(http|https|HTTP|client|chrome-extension)", rest)
        .prop_map(|(scheme, rest)| format!("{scheme}://{rest}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_canonical_stays_as_it_is(text in prop_oneof![4 => near(), 1 => any::<String>()]) {
        if let Ok(origin) = Origin::parse(&text) {
            let canonical = origin.to_string();
            prop_assert!(canonical.len() <= MAX_ORIGIN);
            prop_assert!(canonical.bytes().all(|byte| byte.is_ascii_graphic()), "{}", canonical);
            prop_assert_eq!(Origin::parse(&canonical), Ok(origin));
        }
    }

    #[test]
    fn a_client_is_its_name_and_no_other(name in any::<String>(), other in any::<String>()) {
        let Some(origin) = Origin::client(&name) else { return Ok(()) };
        prop_assert_eq!(Origin::parse(origin.as_str()), Ok(origin.clone()));
        prop_assert_eq!(Origin::client(&other) == Some(origin), other == name);
    }
}
