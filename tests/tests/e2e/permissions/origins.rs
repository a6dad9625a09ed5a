//! One origin is one text, however it is written, and what has no origin gets nothing.

use harbor_tests::client::CALL;
use harbor_tests::{Bridge, Home};
use serde_json::{Value, json};

use super::bridge_with_server;

#[test]
fn an_origin_is_the_same_however_it_is_written() {
    let home = Home::new();
    let bridge = bridge_with_server(&home);
    let rows = [
        ("https://EXAMPLE.com:443/", "https://example.com", "HTTPS://example.com"),
        ("http://example.com", "http://example.com", "http://EXAMPLE.COM:80"),
        ("https://Bücher.example", "https://xn--bcher-kva.example", "https://xn--bcher-kva.example:443"),
        ("http://0x7f.1:8080", "http://127.0.0.1:8080", "http://127.0.0.1:8080/"),
        ("https://[0:0::1]", "https://[::1]", "https://[::1]:443"),
        (
            "chrome-extension://ABCDEFGHIJKLMNOPabcdefghijklmnop",
            "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
            "chrome-extension://abcdefghijklmnopabcdefghijklmnop/",
        ),
        ("client://Some%20Client", "client://Some%20Client", "client://Some%20Client/"),
    ];
    for (granted, canonical, called) in rows {
        let grant = bridge.speaking_for(granted).grant(CALL, "ALLOW_ALWAYS", &json!({}));
        assert_eq!(grant["origin"], canonical);
        let speaker = bridge.speaking_for(called);
        assert_eq!(speaker.try_tool("s/echo"), "ok", "{called}");
        let listed = speaker.ask("host_get_permissions", &json!({})).unwrap();
        assert_eq!((&listed["origin"], &listed["grants"]), (&json!(canonical), &json!([grant])));
    }
    assert_eq!(bridge.all_grants().len(), rows.len());
    // What a browser keeps apart is apart.
    let others = [
        "https://example.com.",
        "https://example.com:444",
        "https://www.example.com",
        "https://example.co",
        "http://xn--bcher-kva.example",
        "http://127.0.0.1",
        "client://some%20client",
    ];
    for other in others {
        assert_eq!(bridge.speaking_for(other).try_tool("s/echo"), "ERR_SCOPE_REQUIRED", "{other}");
    }
    for (granted, _, called) in rows {
        assert!(bridge.speaking_for(called).revoke(CALL, None), "{granted}");
    }
    assert_eq!(bridge.all_grants(), Vec::<Value>::new());
}

const NO_ORIGINS: &[&str] = &[
    "",
    "null",
    "*",
    "owner",
    "example.com",
    "//example.com",
    "about:blank",
    "data:text/html,x",
    "blob:https://example.com/1",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "ftp://example.com",
    "https://",
    "https:example.com",
    "https://:443",
    "https://a b.example",
    "https://a\u{a0}b.example",
    "https://a.example\n",
    "https://*.example.com",
    "https://user@example.com",
    "https://example.com/path",
    "https://example.com//",
    "https://example.com?x",
    "https://example.com#x",
    "https://example.com\\@other.example",
    "https://example.com:0",
    "https://example.com:65536",
    "https://example.com:",
    "https://exa%6dple.com",
    "https://a,b.example",
    "https://[::1",
    "https://1.2.3.4.5",
    "chrome-extension://abc",
    "moz-extension://x",
    "client://",
    "client://a b",
    "client://a%2fb",
];

#[test]
fn what_is_no_origin_is_refused_everywhere_and_the_field_is_named() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let messages = [
        ("host_grant_permission", json!({"scope": CALL, "grant_type": "ALLOW_ALWAYS"})),
        ("host_revoke_permission", json!({"scope": CALL})),
        ("host_check_permission", json!({"scope": CALL})),
        ("host_get_permissions", json!({})),
        ("host_list_tools", json!({})),
        ("host_list_servers", json!({})),
        ("host_call_tool", json!({"tool_name": "s/echo"})),
        ("host_create_run", json!({})),
        ("host_get_run", json!({"run_id": "x"})),
        ("host_end_run", json!({"run_id": "x"})),
        ("host_get_stats", json!({})),
        ("host_note_consent", json!({"outcome": "denied"})),
        ("host_get_audit", json!({})),
    ];
    let long = format!("https://{}example.com", "a.".repeat(600));
    for (tag, fields) in &messages {
        for &origin in NO_ORIGINS.iter().chain([&&*long]) {
            if *tag == "host_get_audit" && origin == "owner" {
                // A name in the log.
                continue;
            }
            let error = bridge.speaking_for(origin).ask(tag, fields).unwrap_err();
            let told = (error.code.as_str(), &error.details["field"]);
            assert_eq!(told, ("invalid_params", &json!("origin")), "{tag} {origin:?}");
            let advice = error.message.strip_prefix("field `origin`: ").unwrap();
            assert!(advice.len() > 20 && error.details["expected"].is_string(), "{error:?}");
        }
    }
    for origin in [json!(7), json!(["https://a.example"]), json!({})] {
        let error =
            bridge.call("host_call_tool", &json!({"origin": origin, "tool_name": "s/echo"})).unwrap_err();
        assert_eq!((error.code.as_str(), &error.details["field"]), ("invalid_params", &json!("origin")));
    }
    assert_eq!(bridge.all_grants(), Vec::<Value>::new());
}
