//! The listener: who gets an answer and who does not, and what becomes of addresses that cannot be had.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use harbor_tests::{Bridge, Double, Home, LIMIT, wait_until};
use serde_json::json;

use super::http::{address, connect, get, read, send};
use super::value;

/// A bridge that serves metrics on a port of its own choice.
fn serving(home: &Home) -> Bridge {
    let mut command = home.command("harbor-bridge");
    Bridge::start_as(home, command.args(["serve", "--stdio", "--metrics", "127.0.0.1:0"]))
}

#[test]
fn metrics_are_served_in_the_grammar_that_is_asked_for() {
    let home = Home::new();
    let bridge = serving(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    bridge.tool("s", "echo", &json!({"text": "x"})).unwrap();
    let at = address(&bridge).unwrap();
    let open = get(at, "/metrics", &["Accept: application/openmetrics-text;version=1.0.0,*/*;q=0.1"]);
    let sample = "harbor_server_calls_total{server=\"s\",code=\"ok\"}";
    assert_eq!((open.status, value(&open.body, sample)), (200, Some(1.0)), "{open:?}");
    let kind = "\r\nContent-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n";
    assert!(open.head.contains(kind) && open.body.ends_with("\n# EOF\n"), "{open:?}");
    assert!(open.body.contains("# TYPE harbor_server_calls counter\n"));

    let plain = get(at, "/metrics", &[]);
    assert_eq!((plain.status, value(&plain.body, sample)), (200, Some(1.0)), "{plain:?}");
    assert!(plain.head.contains("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    assert!(
        plain.body.contains("# TYPE harbor_server_calls_total counter\n") && !plain.body.contains("# UNIT")
    );

    assert_eq!(get(at, "/", &[]).body, "Harbor's metrics are at /metrics.\n");
    bridge.said(&format!("metrics are served at={at}"));
}

#[test]
fn pages_and_other_names_are_refused() {
    let home = Home::new();
    let bridge = serving(&home);
    let at = address(&bridge).unwrap();
    let port = at.port();
    let with_host =
        |host: &str| send(at, format!("GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes());
    assert_eq!(with_host(&format!("localhost:{port}")).status, 200);
    for host in [&format!("evil.example:{port}"), "localhost", &format!("localhost:{}", port ^ 1)] {
        let answer = with_host(host);
        assert_eq!(answer.status, 403, "{host}: {answer:?}");
        assert!(!answer.body.contains("harbor_"), "{answer:?}");
    }
    for header in ["Origin: https://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site"] {
        assert_eq!(get(at, "/metrics", &[header]).status, 403, "{header}");
    }
    assert_eq!(get(at, "/other", &[]).status, 404);
    let post = format!("POST /metrics HTTP/1.1\r\nHost: {at}\r\nContent-Length: 3\r\n\r\nabc");
    assert_eq!(send(at, post.as_bytes()).status, 405);
    assert_eq!(send(at, b"\x16\x03\x01\x02\0\x01\r\n\r\n").status, 400);
    assert_eq!(
        send(at, format!("GET /metrics HTTP/1.1\r\nA: {at}\r\n\r\n").as_bytes()).status,
        400,
        "no Host"
    );
}

#[test]
fn huge_heads_slow_clients_and_many_connections_keep_nobody_out() {
    let home = Home::new();
    let bridge = serving(&home);
    let at = address(&bridge).unwrap();
    let huge = format!("GET /metrics HTTP/1.1\r\nHost: {at}\r\nA: {}\r\n\r\n", "a".repeat(100_000));
    assert_eq!(send(at, huge.as_bytes()).status, 431);
    let many = format!("GET /metrics HTTP/1.1\r\nHost: {at}\r\n{}\r\n", "A: b\r\n".repeat(100));
    assert_eq!(send(at, many.as_bytes()).status, 431);

    let half = |stream: &mut TcpStream| stream.write_all(b"GET /metrics HTTP/1.1\r\nHost").unwrap();
    let mut slow: Vec<TcpStream> = (0..100).map(|_| connect(at)).collect();
    slow.iter_mut().rev().take(10).for_each(half);
    let asked = Instant::now();
    assert_eq!(get(at, "/metrics", &[]).status, 200);
    assert!(asked.elapsed() < Duration::from_secs(4), "it waited for those that say nothing");
    let newest = slow.pop().unwrap();
    let oldest = slow.remove(0);
    assert!(read(oldest).is_none(), "it had to make room");
    assert_eq!(read(newest).unwrap().status, 408);
    assert!(bridge.is_alive());
}

#[test]
fn an_address_of_the_command_line_must_be_had() {
    let home = Home::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = taken.local_addr().unwrap();
    let failed = |address: &str| {
        let output = home.command("harbor-bridge").args(["serve", "--metrics", address]).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = failed(&at.to_string());
    assert_eq!(code, Some(1));
    let wanted = format!(
        "harbor-bridge: cannot listen on {at} for metrics: Address already in use (os error 98); use another address, \
         or stop the program that listens there\n"
    );
    assert!(said.ends_with(&wanted), "{said}");
    let (code, said) = failed("0.0.0.0:9464");
    assert_eq!(code, Some(2));
    assert!(
        said.starts_with("harbor-bridge: --metrics needs an address of this machine's loopback"),
        "{said}"
    );
}

#[test]
fn an_address_of_the_file_follows_the_file_and_is_no_reason_to_end() {
    let home = Home::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = taken.local_addr().unwrap();
    home.configure(&format!("[metrics]\nlisten = \"{at}\"\n"));
    let bridge = Bridge::start(&home);
    let health = bridge.call("health", &json!({})).unwrap()["health"].clone();
    assert_eq!(
        (&health["state"], &health["reasons"][0]["code"]),
        (&json!("degraded"), &json!("metrics_unavailable"))
    );
    let message = health["reasons"][0]["message"].as_str().unwrap();
    assert!(message.starts_with(&format!("cannot listen on {at} for metrics: ")), "{message}");
    assert_eq!(address(&bridge), None);

    home.configure("[metrics]\nlisten = \"127.0.0.1:0\"\n");
    wait_until("another address", LIMIT, || address(&bridge).is_some());
    let other = address(&bridge).unwrap();
    assert_eq!(get(other, "/metrics", &[]).status, 200);
    assert_eq!(bridge.call("health", &json!({})).unwrap()["health"]["state"], "ok");

    home.configure("");
    wait_until("no address", LIMIT, || address(&bridge).is_none());
    wait_until("nobody to listen", LIMIT, || TcpStream::connect(other).is_err());
}

#[test]
fn the_command_line_goes_before_the_file() {
    let home = Home::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    home.configure(&format!("[metrics]\nlisten = \"{}\"\n", taken.local_addr().unwrap()));
    let bridge = serving(&home);
    let at = address(&bridge).unwrap();
    home.configure("[metrics]\norigins = true\n");
    let shown = || bridge.call("get_config", &json!({})).unwrap()["changes"].as_u64().unwrap();
    wait_until("the file to be read", LIMIT, || shown() > 0);
    assert_eq!((address(&bridge), get(at, "/metrics", &[]).status), (Some(at), 200));
}
