//! What gets through the real proxy, and what does not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

mod support;

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::process::Command;
use std::thread;

use tokio::net::TcpSocket;

use support::{Proxy, accept, head, heard, is_alone, target, wait_for_the_end};

fn refused(target: &str) -> String {
    // A shell takes brackets for a pattern.
    let rule = match target.trim_end_matches(":443") {
        address if address.starts_with('[') => format!("'{address}'"),
        host => host.to_owned(),
    };
    let text = format!(
        "refused {target}: it is not among the allowed hosts; to allow it: harbor sandbox NAME --host {rule}\n"
    );
    answer("403 Forbidden", "http_request_denied", &text)
}

/// `kind` is the error in the words of RFC 9209.
fn answer(status: &str, kind: &str, text: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
         Proxy-Status: harbor-egress; error={kind}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    )
}

#[test]
fn a_tunnel_carries_both_ways_and_half_closes() {
    let (target, address) = target();
    let proxy = Proxy::to(&target);
    let mut client = proxy.connect();
    // The first bytes come with the head, as a fast client sends them.
    write!(client, "CONNECT {address} HTTP/1.1\r\n\r\nearly ").unwrap();
    let mut server = accept(&target);
    assert_eq!(head(&mut client), "HTTP/1.1 200 Connection established\r\n\r\n");
    client.write_all(b"late").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(heard(&mut server), "early late");
    server.write_all(b"answer").unwrap();
    drop(server);
    assert_eq!(heard(&mut client), "answer");
    assert_eq!(proxy.end(), "");
}

#[test]
fn a_large_body_goes_through_in_both_directions_at_once() {
    const LENGTH: usize = 4 << 20;
    let (target, address) = target();
    let proxy = Proxy::to(&target);
    let client = proxy.tunnel(address);
    let server = accept(&target);
    let send = |mut stream: std::net::TcpStream, byte| {
        thread::spawn(move || {
            stream.write_all(&vec![byte; LENGTH]).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
        })
    };
    let sent = [send(client.try_clone().unwrap(), b'c'), send(server.try_clone().unwrap(), b's')];
    let read = |mut stream: std::net::TcpStream| {
        thread::spawn(move || {
            let mut all = Vec::new();
            stream.read_to_end(&mut all).unwrap();
            all
        })
    };
    let (at_client, at_server) = (read(client), read(server));
    assert!(
        at_client.join().unwrap() == vec![b's'; LENGTH] && at_server.join().unwrap() == vec![b'c'; LENGTH]
    );
    for sent in sent {
        sent.join().unwrap();
    }
}

#[test]
fn a_request_is_forwarded_with_its_body_and_its_answer_ends_the_connection() {
    let (target, address) = target();
    let proxy = Proxy::to(&target);
    let mut client = proxy.connect();
    write!(
        client,
        "POST http://{address}/a?b HTTP/1.1\r\nHost: evil.example\r\nProxy-Authorization: x\r\n\
         Proxy-Connection: keep-alive\r\nContent-Length: 4\r\n\r\nbody"
    )
    .unwrap();
    let mut server = accept(&target);
    let expected =
        format!("POST /a?b HTTP/1.1\r\nHost: {address}\r\nContent-Length: 4\r\nConnection: close\r\n\r\n");
    assert_eq!(head(&mut server), expected);
    let mut body = [0; 4];
    server.read_exact(&mut body).unwrap();
    assert_eq!(&body, b"body");
    server.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
    drop(server);
    assert_eq!(heard(&mut client), "HTTP/1.1 204 No Content\r\n\r\n");
}

#[test]
fn every_form_of_a_forbidden_address_is_refused() {
    let (target, address) = target();
    let port = address.port();
    let proxy = Proxy::start(&["example.com:*", "*.example.com:*", "127.0.0.2:*"]);
    for form in [
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "0x7f000001",
        "2130706433",
        "0177.0.0.1",
        "017700000001",
        "127.0.0.1.",
    ] {
        let expected = refused(&format!("127.0.0.1:{port}"));
        assert_eq!(proxy.ask(&format!("CONNECT {form}:{port} HTTP/1.1\r\n\r\n")), expected, "{form}");
        assert_eq!(proxy.ask(&format!("GET http://{form}:{port}/ HTTP/1.1\r\n\r\n")), expected, "{form}");
    }
    for (form, shown) in [
        ("[::1]", "[::1]"),
        ("[::ffff:127.0.0.1]", "[::ffff:7f00:1]"),
        ("[0:0:0:0:0:ffff:7f00:1]", "[::ffff:7f00:1]"),
        ("[::127.0.0.1]", "[::7f00:1]"),
        ("0", "0.0.0.0"),
        ("localhost", "localhost"),
        ("LocalHost.", "localhost"),
    ] {
        let expected = refused(&format!("{shown}:{port}"));
        assert_eq!(proxy.ask(&format!("CONNECT {form}:{port} HTTP/1.1\r\n\r\n")), expected, "{form}");
    }
    assert!(is_alone(&target));
}

#[test]
fn a_name_does_not_lead_to_a_private_address() {
    let (target, address) = target();
    let port = address.port();
    let proxy = Proxy::start(&[&format!("localhost:{port}")]);
    let text = format!(
        "refused localhost:{port}: this name has no public address; to use a private one, give the server its IP \
         address and allow that: harbor sandbox NAME --host ADDRESS:{port}\n"
    );
    assert_eq!(
        proxy.ask(&format!("CONNECT localhost:{port} HTTP/1.1\r\n\r\n")),
        answer("403 Forbidden", "destination_ip_prohibited", &text)
    );
    assert_eq!(
        proxy.ask(&format!("GET http://localhost:{port}/ HTTP/1.1\r\n\r\n")),
        answer("403 Forbidden", "destination_ip_prohibited", &text)
    );
    assert!(is_alone(&target));
    assert_eq!(proxy.end(), text, "once");
}

#[test]
fn what_cannot_be_reached_is_said() {
    // Bound, so that the number is nobody else's, and not listening.
    let closed = TcpSocket::new_v4().unwrap();
    closed.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = closed.local_addr().unwrap();
    let proxy = Proxy::start(&[&address.to_string()]);
    let text = format!("{address} could not be reached: Connection refused (os error 111)\n");
    assert_eq!(
        proxy.ask(&format!("CONNECT {address} HTTP/1.1\r\n\r\n")),
        answer("502 Bad Gateway", "destination_unavailable", &text)
    );
    let proxy = Proxy::start(&["does-not-exist.invalid"]);
    let said = proxy.ask("CONNECT does-not-exist.invalid:443 HTTP/1.1\r\n\r\n");
    assert!(said.starts_with("HTTP/1.1 502 Bad Gateway\r\n"), "{said}");
    assert!(said.contains("\r\n\r\ndoes-not-exist.invalid:443 could not be resolved: "), "{said}");
    assert_eq!(proxy.end(), "", "nobody refused that");
}

#[test]
fn what_is_no_request_is_answered_all_the_same() {
    let proxy = Proxy::start(&[]);
    for (sent, status) in [
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), "400 Bad Request"),
        ("CONNECT a.example HTTP/1.1\r\n\r\n".into(), "400 Bad Request"),
        ("\u{16}\u{3}\u{1}\r\n\r\n".into(), "400 Bad Request"),
        (
            format!("GET http://a.example/ HTTP/1.1\r\nA: {}", "a".repeat(1 << 20)),
            "431 Request Header Fields Too Large",
        ),
        (
            format!("GET http://a.example/ HTTP/1.1\r\n{}\r\n", "a:b\r\n".repeat(200)),
            "431 Request Header Fields Too Large",
        ),
    ] {
        let said = proxy.ask(&sent);
        assert!(said.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{said}");
    }
    let mut client = proxy.connect();
    client.write_all(b"GET http://a.exam").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert!(heard(&mut client).starts_with("HTTP/1.1 400 Bad Request\r\n"));
    assert_eq!(proxy.end(), "");
}

#[test]
fn the_log_has_each_refused_host_once_and_twenty_lines() {
    let proxy = Proxy::start(&["example.com"]);
    for host in 0..30 {
        for _ in 0..2 {
            let target = format!("{host}.example.org:443");
            assert_eq!(proxy.ask(&format!("CONNECT {target} HTTP/1.1\r\n\r\n")), refused(&target));
        }
    }
    let log = proxy.end();
    let expected: Vec<String> = (0..20)
        .map(|host| {
            format!(
                "refused {host}.example.org:443: it is not among the allowed hosts; \
                 to allow it: harbor sandbox NAME --host {host}.example.org"
            )
        })
        .collect();
    assert_eq!(log.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn python_works_through_it_and_its_redirects_are_judged_anew() {
    const CLIENT: &str = r#"
import http.client, sys, urllib.error, urllib.request
proxy, allowed, forbidden = sys.argv[1:]
opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": "http://" + proxy}))
print(opener.open(f"http://{allowed}/one", data=b"sent").read().decode())
host, port = proxy.split(":")
tunnel = http.client.HTTPConnection(host, int(port))
host, port = allowed.split(":")
tunnel.set_tunnel(host, int(port))
tunnel.request("GET", "/two")
print(tunnel.getresponse().read().decode())
tunnel.close()
try:
    opener.open(f"http://{allowed}/redirect")
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode().split(":")[0])
"#;
    let ((target, address), (forbidden, elsewhere)) = (target(), support::target());
    let proxy = Proxy::to(&target);
    let served = thread::spawn(move || {
        for _ in 0..3 {
            let mut server = accept(&target);
            let head = head(&mut server);
            let path = head.split(' ').nth(1).unwrap();
            if path == "/redirect" {
                write!(
                    server,
                    "HTTP/1.1 302 Found\r\nLocation: http://{elsewhere}/\r\nContent-Length: 0\r\n\r\n"
                )
                .unwrap();
            } else {
                write!(server, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{path}", path.len()).unwrap();
            }
            server.shutdown(Shutdown::Write).unwrap();
            wait_for_the_end(&mut server);
        }
    });
    let python = Command::new("python3")
        .args(["-c", CLIENT, &proxy.address.to_string(), &address.to_string(), &elsewhere.to_string()])
        .output()
        .unwrap();
    let said = (String::from_utf8(python.stdout).unwrap(), String::from_utf8(python.stderr).unwrap());
    assert_eq!(said, ("/one\n/two\n403 refused 127.0.0.1\n".into(), String::new()));
    served.join().unwrap();
    assert!(is_alone(&forbidden));
}
