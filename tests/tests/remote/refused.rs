//! Servers that cannot be had: what is wrong, in one sentence, and never a secret in it.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Command, Stdio};

use harbor_tests::scripted::answer;
use harbor_tests::{Bridge, Home, LIMIT, Program, Scripted, wait_until};
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
    assert_eq!(refused("https://127.0.0.1/", public()), "url");
    assert_eq!(refused("http://localhost/", public()), "url");
    assert_eq!(refused("http://example.com/", json!({})), "url");
    assert_eq!(refused("https://u:p@example.com/", json!({})), "url");
    assert_eq!(refused("https://example.com/", json!({"transport_type": "x"})), "transport_type");
    assert_eq!(refused("https://example.com/", json!({"headers": {"Host": "x"}})), "headers");
    // A name that looks public, and is not: this machine's own, which nothing but its hosts file knows.
    let name = std::fs::read_to_string("/etc/hostname").unwrap_or_default().trim().to_owned();
    let (cause, said) = failure(&bridge, &format!("https://{name}/"), &public());
    assert!(["forbidden", "unreachable"].contains(&cause.as_str()), "{said}");
}

/// A server with a certificate of its own making.
fn tls(home: &Home, days: &str) -> (Program, u16) {
    let (key, certificate) = (home.scratch("key.pem"), home.scratch("cert.pem"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", days])
        .args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .stderr(Stdio::null())
        .status();
    assert!(made.unwrap().success());
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = Command::new("openssl");
    command
        .args(["s_server", "-quiet", "-accept", &port.to_string()])
        .arg("-key")
        .arg(&key)
        .arg("-cert")
        .arg(&certificate);
    let program = Program::start(&mut command);
    wait_until("it listens", LIMIT, || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    (program, port)
}

#[test]
fn a_certificate_that_nobody_signed_is_explained() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let (_server, port) = tls(&home, "2");
    let (cause, said) = failure(&bridge, &format!("https://localhost:{port}/mcp"), &json!({}));
    assert_eq!(cause, "tls", "{said}");
    assert!(said.contains("certificate"), "{said}");
}

#[test]
fn plain_http_where_tls_is_expected_is_explained() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    let (cause, said) = failure(&bridge, &format!("https://localhost:{port}/mcp"), &json!({}));
    assert_eq!(cause, "tls", "{said}");
    assert!(said.contains("does not speak TLS"), "{said}");
}
