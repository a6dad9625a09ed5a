//! Servers that cannot be had: what is wrong, in one sentence, and never a secret in it.

use std::net::TcpListener;

use harbor_tests::scripted::answer;
use harbor_tests::{Bridge, Home, Scripted};
use serde_json::{Value, json};

use super::{add, connect, failure};

#[test]
fn what_a_header_says_is_hidden_in_what_the_server_says_back() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    // As many do: "Invalid API key: …".
    let server = Scripted::start(|asked, stream| {
        let said = format!("wrong: {} {}", asked.header("authorization"), asked.header("x-literal"));
        let error =
            json!({"jsonrpc": "2.0", "id": asked.body["id"], "error": {"code": -32000, "message": said}});
        answer(stream, "200 OK", "application/json", "", &error.to_string())
    });
    let headers = json!({"Authorization": "Bearer ${TOKEN}", "X-Literal": "literal-value-42"});
    let more = json!({"headers": headers, "env": {"TOKEN": "value-of-the-token"}});
    let (_, said) = failure(&bridge, &server.url(), &more);
    let told = format!(
        "{said}{}{}",
        bridge.server("s"),
        bridge.call("mcp_get_logs", &json!({"server_id": "s"})).unwrap()["logs"]
    );
    assert!(told.contains("[Authorization]") && told.contains("[X-Literal]"), "{told}");
    assert!(!told.contains("value-of-the-token") && !told.contains("literal-value-42"), "{told}");

    // A secret of the type header is one, whatever the definition says.
    let secret = json!({"server_id": "s", "key": "X-Literal", "value": "another-value-43", "credential_type": "header"});
    bridge.call("set_credential", &secret).unwrap();
    bridge.call("connect_server", &json!({"server_id": "s"})).unwrap_err();
    assert!(server.count(|asked| asked.header("x-literal") == "another-value-43") > 0);
    assert!(!bridge.server("s").to_string().contains("another-value-43"));
}

#[test]
fn who_is_not_let_in_hears_what_to_do() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let server = Scripted::start(|asked, stream| {
        asked.header("authorization") != "Bearer right"
            && answer(stream, "401 No", "application/json", "", "{}")
    });
    let with = |value: &str| json!({"headers": {"Authorization": value}, "env": {"TOKEN": "right"}});
    let (cause, said) = failure(&bridge, &server.url(), &with("Bearer wr0ng"));
    assert_eq!(cause, "unauthorized");
    assert!(said.contains("HTTP 401") && said.contains("--header") && !said.contains("wr0ng"), "{said}");
    connect(&bridge, &server.url(), &with("Bearer ${TOKEN}")).unwrap();
    let shown = bridge.server("s").to_string();
    assert!(shown.contains("Authorization") && !shown.contains("right"), "{shown}");

    // A secret of the type header that a header names is a part of that one, and no header of its own.
    add(&bridge, &server.url(), &json!({"headers": {"Authorization": "Bearer ${TOKEN}"}})).unwrap();
    let secret = json!({"server_id": "s", "key": "TOKEN", "value": "right", "credential_type": "header"});
    bridge.call("set_credential", &secret).unwrap();
    assert_eq!(
        home.done(&["secrets", "check", "s"]).matches("note:").count(),
        1,
        "it is short, and nothing else"
    );
    bridge.call("connect_server", &json!({"server_id": "s"})).unwrap();
    assert_eq!(server.count(|asked| !asked.header("token").is_empty()), 0);
    bridge.call("delete_credential", &json!({"server_id": "s", "key": "TOKEN"})).unwrap();

    let posts = || server.count(|asked| asked.verb == "POST");
    let before = posts();
    let (cause, said) = failure(&bridge, &server.url(), &with("Bearer ${OTHER}"));
    assert_eq!((cause.as_str(), posts()), ("missing_secrets", before), "{said}");
    assert!(said.contains("`harbor secrets set s OTHER`"), "{said}");
}

#[test]
fn what_is_no_mcp_server_is_told_as_that() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let page = Scripted::start(|_, stream| answer(stream, "200 OK", "text/html", "", "<html>"));
    let (cause, said) = failure(&bridge, &page.url(), &json!({}));
    assert_eq!(cause, "no_mcp");
    assert!(said.contains("text/html"), "{said}");
    let nothing = Scripted::start(|_, stream| answer(stream, "404 No", "text/plain", "", ""));
    let (cause, said) = failure(&bridge, &nothing.url(), &json!({}));
    assert_eq!(cause, "no_mcp");
    assert!(said.contains("HTTP 404"), "{said}");
    let broken = Scripted::start(|_, stream| answer(stream, "503 No", "text/plain", "", ""));
    let (cause, said) = failure(&bridge, &broken.url(), &json!({}));
    assert_eq!(cause, "unreachable");
    assert!(said.contains("HTTP 503"), "{said}");
}

#[test]
fn nobody_there() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (cause, said) = failure(&bridge, &format!("http://127.0.0.1:{port}/mcp?key=s3cret"), &json!({}));
    assert_eq!(cause, "unreachable");
    assert!(
        said.contains(&format!("nothing listens at 127.0.0.1:{port}")) && !said.contains("s3cret"),
        "{said}"
    );
    let (cause, said) = failure(&bridge, "https://no-such-name.invalid/mcp", &json!({}));
    assert_eq!(cause, "unreachable");
    assert!(said.contains("no-such-name.invalid cannot be resolved"), "{said}");
}

#[test]
fn private_places_and_plain_http_need_a_word() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let refused = |url: &str, more: Value| {
        let error = add(&bridge, url, &more).unwrap_err();
        assert_eq!(error.code, "invalid_params", "{url}");
        error.details["field"].as_str().unwrap_or_default().to_owned()
    };
    let public = || json!({"allow_private": false});
    assert_eq!(refused("https://10.0.0.1/", public()), "url");
    assert_eq!(refused("https://[fe80::1]/", public()), "url");
    assert_eq!(refused("http://example.com/", json!({})), "url");
    assert_eq!(refused("https://u:p@example.com/", json!({})), "url");
    assert_eq!(refused("https://example.com/", json!({"transport_type": "x"})), "transport_type");
    assert_eq!(refused("https://example.com/", json!({"headers": {"Host": "x"}})), "headers");
    // A name that looks public, and is not: this machine's own, which nothing but its hosts file knows.
    let name = std::fs::read_to_string("/etc/hostname").unwrap_or_default().trim().to_owned();
    let (cause, said) = failure(&bridge, &format!("https://{name}/"), &public());
    assert!(["forbidden", "unreachable"].contains(&cause.as_str()), "{said}");
}

/// What `harbor add` says of a server that answers everything like this.
fn added(
    answers: impl Fn(&mut std::net::TcpStream) -> bool + Send + Sync + 'static,
    more: &[&str],
) -> String {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    // The command line would start one of its own while there is none.
    assert!(bridge.is_alive());
    let server = Scripted::start(move |_, stream| answers(stream));
    let url = server.url();
    let (out, said, code) = home.harbor(&[&["add", "s", "--url", &url], more].concat());
    assert_eq!((out.as_str(), code), ("added s\n", Some(5)), "{said}");
    said.replace(&server.port.to_string(), "PORT")
}

#[test]
fn each_answer_that_is_none_says_what_to_do() {
    let html = "text/html";
    for (status, kind, header, expected) in [
        (
            "200 OK",
            html,
            "",
            "127.0.0.1:PORT: it answers with text/html, as a web page does; is it the URL of an MCP server?",
        ),
        ("200 OK", "image/png", "", "answers with image/png"),
        ("204 No Content", "", "", "its answer is empty (HTTP 204); is it the URL of an MCP server?"),
        (
            "302 Found",
            html,
            "location: /login\r\n",
            "redirects with HTTP 302, as a web page does; is it the URL of an MCP server?",
        ),
        (
            "307 Elsewhere",
            html,
            "location: http://127.0.0.1:1/mcp\r\n",
            "redirects to 127.0.0.1:1; if that is right, add the server by its URL there",
        ),
        ("308 Elsewhere", html, "", "redirects without an address (HTTP 308)"),
        ("308 Elsewhere", html, "location: /mcp\r\n", "redirects too many times"),
        ("401 No", html, "", "(HTTP 401): it requires a key"),
        ("403 No", html, "", "(HTTP 403): it requires a key"),
        ("400 No", html, "", "(HTTP 400); is it the URL of an MCP server?"),
        ("404 No", html, "", "(HTTP 404); is it the URL of an MCP server?"),
        ("405 No", html, "", "(HTTP 405); is it the URL of an MCP server?"),
        ("410 Gone", html, "", "it answers HTTP 410; is it the URL of an MCP server?"),
        (
            "429 Slow",
            html,
            "retry-after: 30\r\n",
            "HTTP 429: it received too many requests; try again in 30 s",
        ),
        ("429 Slow", html, "", "HTTP 429: it received too many requests; try again later"),
        ("500 No", html, "", "HTTP 500: it has an error of its own; try again later, or tell its operator"),
        ("502 No", html, "", "HTTP 502: it is not available right now; try again later"),
        (
            "503 No",
            html,
            "retry-after: Sun, 22 Nov 2026 12:00:00 GMT\r\n",
            "HTTP 503: it is not available right now; try again later",
        ),
    ] {
        let said = added(move |stream| answer(stream, status, kind, header, "<html>"), &[]);
        assert!(said.contains(expected), "{status} {header}: {said}");
    }
}

#[test]
fn a_server_that_does_not_answer_is_waited_for_as_long_as_was_said() {
    let silent = |stream: &mut std::net::TcpStream| {
        // Until nobody waits any more.
        let _ = std::io::Read::read(stream, &mut [0]);
        true
    };
    let said = added(silent, &["--start-timeout", "1"]);
    assert!(
        said.contains("it did not answer within 1 s; if it needs longer, give it more time with `harbor set"),
        "{said}"
    );
}
