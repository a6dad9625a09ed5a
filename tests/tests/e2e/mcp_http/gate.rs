//! Who is let in, and what is no request.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use harbor_tests::{Bridge, Double, Home, HttpServer, LIMIT, token, wait_until};
use serde_json::{Value, json};

use super::wire::{Caller, Speak};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const USUAL: &str = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";

#[test]
fn only_requests_to_this_machine_from_no_page_with_a_token_are_served() {
    let home = Home::new();
    let token = token(&home, "ai");
    let server = HttpServer::start(&home, &["--allow-origin", "https://good.example"]);
    let port = server.port;
    let bearer = format!("Authorization: Bearer {token}\r\n");
    let with = |host: &str, more: &str| {
        let length = PING.len();
        let text = format!("POST /mcp HTTP/1.1\r\n{host}{more}{USUAL}Content-Length: {length}\r\n\r\n{PING}");
        server.send(text.as_bytes())
    };
    let host = format!("Host: 127.0.0.1:{port}\r\n");
    for wrong in [format!("Host: evil.example:{port}\r\n"), "Host: localhost\r\n".into(), String::new()] {
        assert_eq!(with(&wrong, &bearer).status, 403, "{wrong}");
    }
    for origin in ["https://evil.example", "null", &format!("http://localhost:{port}")] {
        assert_eq!(with(&host, &format!("{bearer}Origin: {origin}\r\n")).status, 403, "{origin}");
    }
    // What is let in has no session yet, which is another matter.
    assert_eq!(with(&host, &bearer).status, 400);
    let allowed = with(&host, &format!("{bearer}Origin: https://good.example\r\n"));
    let origin = allowed.header("access-control-allow-origin");
    assert_eq!((allowed.status, origin.as_deref()), (400, Some("https://good.example")));
    for wrong in
        ["", "Authorization: Bearer harbor_x\r\n", "Authorization: Basic x\r\n", "Authorization: Bearer\r\n"]
    {
        let mut answer = with(&host, wrong);
        assert_eq!(
            (answer.status, answer.header("www-authenticate").as_deref()),
            (401, Some("Bearer")),
            "{wrong}"
        );
        assert!(!answer.message().unwrap().to_string().contains("ai"), "no names");
    }
    let preflight = |origin: &str| {
        let asked = format!("Origin: {origin}\r\nAccess-Control-Request-Method: POST\r\n");
        server.request("OPTIONS", &asked, "")
    };
    assert_eq!(preflight("https://evil.example").status, 403);
    let answer = preflight("https://good.example");
    assert!(answer.status == 204 && answer.head.contains("access-control-allow-headers"), "{}", answer.head);
    let said = server.program.stderr();
    assert!(!said.contains(&token) && said.contains("refused a client with a wrong token"), "{said}");
}

#[test]
fn many_wrong_tokens_are_slowed_down_and_hold_up_nobody_else() {
    let home = Home::new();
    let token = token(&home, "ai");
    let server = HttpServer::start(&home, &[]);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let try_one =
            || server.request("POST", &format!("Authorization: Bearer harbor_x\r\n{USUAL}"), PING).status;
        let tries: Vec<_> = (0..16).map(|_| scope.spawn(try_one)).collect();
        assert_eq!(Caller::new(&server, &token).post_with("", PING).status, 400, "it is let in");
        tries.into_iter().map(|tried| tried.join().unwrap()).collect()
    });
    assert!(statuses.iter().all(|status| [401, 429].contains(status)), "{statuses:?}");
    assert!(statuses.contains(&401) && statuses.contains(&429), "{statuses:?}");
}

#[test]
fn what_is_no_request_is_refused_and_harms_nothing() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive());
    let token = token(&home, "ai");
    let server = HttpServer::start(&home, &[]);
    let caller = Caller::begun(&server, &token);
    let id = caller.session.clone().unwrap();
    let head = format!("Authorization: Bearer {token}\r\nMcp-Session-Id: {id}\r\n");
    let both = "Accept: application/json, text/event-stream\r\n";
    for (method, more, body, status) in [
        ("PUT", USUAL, PING, 405),
        ("OPTIONS", "", "", 405),
        ("POST", both, PING, 415),
        ("POST", "Content-Type: text/plain\r\nAccept: */*\r\n", PING, 415),
        ("POST", "Content-Type: application/json\r\nAccept: application/json\r\n", PING, 406),
        ("POST", "Content-Type: application/json\r\n", PING, 406),
        ("GET", "Accept: application/json\r\n", "", 406),
        ("POST", USUAL, "", 400),
        ("POST", USUAL, "hello", 400),
        ("POST", USUAL, "{", 400),
        ("POST", USUAL, "[]", 400),
        ("POST", USUAL, &format!("[{PING}]"), 400),
        ("POST", USUAL, r#"{"id":1,"method":"ping"}"#, 400),
        ("POST", &format!("{USUAL}MCP-Protocol-Version: 1999-01-01\r\n"), PING, 400),
        ("POST", &format!("{USUAL}MCP-Protocol-Version: 2025-06-18\r\n"), PING, 200),
        ("POST", USUAL, "{\n\"jsonrpc\":\r\"2.0\",\r\n\"id\":1,\"method\":\"ping\"}\n", 200),
    ] {
        assert_eq!(
            server.request(method, &format!("{head}{more}"), body).status,
            status,
            "{method} {more} {body}"
        );
    }
    let elsewhere = server.text("GET", &head, "").replacen("/mcp", "/", 1);
    assert_eq!(server.send(elsewhere.as_bytes()).status, 404);
    let claimed = format!("{head}{USUAL}Content-Length: {}\r\n\r\n", 65 * 1024 * 1024);
    let text = format!("POST /mcp HTTP/1.1\r\nHost: localhost:{}\r\n{claimed}", server.port);
    assert_eq!(server.send(text.as_bytes()).status, 413, "before it was sent");
    let long = format!("{head}X: {}\r\n", "x".repeat(100_000));
    assert_eq!(server.request("POST", &long, PING).status, 431);
    let again = caller.ask(&json!(1), "initialize", &json!({"protocolVersion": "2025-11-25"}));
    assert_eq!(again.status, 400);
    assert_eq!(
        caller.ask(&json!(1), "ping", &json!({})).answer()["result"],
        json!({}),
        "it is there as before"
    );
}

#[test]
fn a_head_that_does_not_come_ends_its_connection() {
    let home = Home::new();
    let token = token(&home, "ai");
    let server = HttpServer::start(&home, &[]);
    let mut slow = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    slow.set_read_timeout(Some(LIMIT)).unwrap();
    slow.write_all(b"POST /mcp HTTP/1.1\r\nHost: ").unwrap();
    let begun = Instant::now();
    assert_eq!(Caller::new(&server, &token).post_with("", PING).status, 400, "others are served meanwhile");
    let _ = slow.read_to_end(&mut Vec::new());
    assert!(begun.elapsed() < LIMIT, "it was closed before we gave up");
}

#[test]
fn many_half_open_connections_without_a_token_shut_out_nobody() {
    let home = Home::new();
    let token = token(&home, "ai");
    let server = HttpServer::start(&home, &[]);
    let begun = Instant::now();
    let half_open: Vec<_> = (0..300)
        .map(|_| {
            let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
            let _ = stream.write_all(b"P");
            stream
        })
        .collect();
    assert_eq!(Caller::new(&server, &token).post_with("", PING).status, 400, "it is let in");
    assert!(begun.elapsed() < Duration::from_secs(4), "before the first of them came to its limit");
    drop(half_open);
}

#[test]
fn a_client_with_a_token_leaves_room_for_others() {
    let home = Home::new();
    let (greedy, other) = (token(&home, "greedy"), token(&home, "other"));
    let server = HttpServer::start(&home, &[]);
    let head = format!("Authorization: Bearer {greedy}\r\n{USUAL}");
    let text = server.text("POST", &head, PING);
    let unfinished = &text[..text.len() - 1];
    let held: Vec<_> = (0..32)
        .map(|_| {
            let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
            stream.write_all(unfinished.as_bytes()).unwrap();
            stream
        })
        .collect();
    wait_until("its places to be taken", LIMIT, || {
        Caller::new(&server, &greedy).post_with("", PING).status == 429
    });
    assert_eq!(Caller::new(&server, &other).post_with("", PING).status, 400, "it is let in");
    drop(held);
    wait_until("its places to be free", LIMIT, || {
        Caller::new(&server, &greedy).post_with("", PING).status == 400
    });
}

#[test]
fn a_token_is_kept_as_a_hash_and_ends_with_its_deletion() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive());
    let (a, b) = (token(&home, "a"), token(&home, "b"));
    assert!(a.starts_with("harbor_") && a.len() == 50 && a != b);
    let file = home.path().join("mcp-tokens.json");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(!kept.contains(&a) && !kept.contains(&a[7..]), "{kept}");
    let server = HttpServer::start(&home, &[]);
    let (first, second) = (Caller::begun(&server, &a), Caller::begun(&server, &b));
    let mut listening = first.listen();
    let harbor = |args: &[&str]| {
        let output = home.command("harbor").args(["mcp", "token"]).args(args).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let listed: Value = serde_json::from_str(&harbor(&["--json"]).1).unwrap();
    assert_eq!(listed["tokens"][1]["client"], "b");
    assert!(!listed.to_string().contains("sha256"), "{listed}");
    assert_eq!(harbor(&["b"]), (Some(2), String::new()), "nobody at a terminal has said yes");
    assert_eq!(second.ask(&json!(1), "ping", &json!({})).status, 200);
    assert_eq!(harbor(&["a", "--delete"]), (Some(0), "deleted the token of a\n".into()));
    assert_eq!(harbor(&["a", "--delete"]).0, Some(4));
    assert_eq!(first.ask(&json!(1), "ping", &json!({})).status, 401);
    assert_eq!(second.ask(&json!(1), "ping", &json!({})).status, 200);
    assert_eq!(listening.message(), None, "its stream ends");
    wait_until("its session to end", LIMIT, || server.program.stderr().contains("its token was deleted"));
}

#[test]
fn a_newer_token_of_the_same_name_ends_what_the_older_one_opened() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let older = token(&home, "ai");
    let server = HttpServer::start(&home, &[]);
    let caller = Caller::begun(&server, &older);
    let mut listening = caller.listen();
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let mut subscribed = caller.modern().ask_modern(&json!("sub"), "subscriptions/listen", &filter);
    assert_eq!(subscribed.message().unwrap()["method"], "notifications/subscriptions/acknowledged");
    let meta = json!({"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}});
    let mut call = json!({"name": "s__ask_elicitation", "arguments": {}, "_meta": meta});
    let required = caller.modern().ask_modern(&json!(1), "tools/call", &call).answer()["result"].take();
    assert_eq!(required["resultType"], "input_required", "{required}");
    let newer = token(&home, "ai");
    assert_eq!(caller.ask(&json!(1), "ping", &json!({})).status, 401);
    let caller = Caller { token: newer, ..caller };
    assert_eq!(caller.ask(&json!(1), "ping", &json!({})).status, 404, "the session was the older one's");
    call["requestState"] = required["requestState"].clone();
    let refused = caller.modern().ask_modern(&json!(2), "tools/call", &call).answer();
    assert_eq!(refused["error"]["code"], -32602, "and so was the call: {refused}");
    assert_eq!((listening.message(), subscribed.message()), (None, None), "its streams end");
    wait_until("its session to end", LIMIT, || server.program.stderr().contains("deleted or replaced"));
    drop(Caller::begun(&server, &caller.token));
}
