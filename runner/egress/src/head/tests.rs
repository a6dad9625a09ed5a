//! Heads that are understood, and those that are not; what goes on is never two things at once.

use proptest::prelude::*;

use super::*;
use crate::fuzz_head;

fn forwarded(head: &str) -> Result<(String, String), Refusal> {
    let request = parse(head.as_bytes())?;
    let forward = request.forward.map(|head| String::from_utf8(head).unwrap());
    Ok((request.target.to_string(), forward.unwrap_or_default()))
}

fn get(uri: &str) -> Result<(String, String), Refusal> {
    forwarded(&format!("GET {uri} HTTP/1.1\r\n\r\n"))
}

#[test]
fn connect_takes_a_host_and_a_port() {
    let connect =
        |authority: &str| forwarded(&format!("CONNECT {authority} HTTP/1.1\r\nHost: other\r\n\r\n"));
    assert_eq!(connect("Example.com:443"), Ok(("example.com:443".into(), String::new())));
    assert_eq!(connect("[::1]:443"), Ok(("[::1]:443".into(), String::new())));
    for bad in
        ["example.com", "example.com:", "/", "http://example.com/", "user@example.com:443", "a:443/x", "*"]
    {
        assert_eq!(connect(bad), Err(Refusal::Malformed("CONNECT takes host:port")), "{bad}");
    }
}

#[test]
fn a_request_goes_on_as_the_server_expects_it() {
    let head = "POST HTTP://User.Example:8080/a?b=http://c HTTP/1.1\r\nhost: evil.example\r\nAccept: */*\r\n\
        Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic eDp5\r\nConnection: close, X-Hop ,content-length\r\n\
        X-Hop: 1\r\nContent-Length: 2\r\nTE: trailers\r\nUpgrade: h2c\r\nHost: second\r\nX-Empty:\r\n\r\n";
    let forward = "POST /a?b=http://c HTTP/1.1\r\nHost: user.example:8080\r\nAccept: */*\r\nContent-Length: 2\r\n\
        X-Empty: \r\nConnection: close\r\n\r\n";
    assert_eq!(forwarded(head), Ok(("user.example:8080".into(), forward.into())));
    assert_eq!(
        forwarded("OPTIONS http://a.example HTTP/1.0\r\n\r\n").unwrap().1,
        "OPTIONS * HTTP/1.0\r\nHost: a.example\r\nConnection: close\r\n\r\n"
    );
}

#[test]
fn the_path_begins_with_a_slash() {
    for (uri, line) in [
        ("http://a.example", "GET / HTTP/1.1\r\nHost: a.example\r\n"),
        ("http://a.example?q", "GET /?q HTTP/1.1\r\nHost: a.example\r\n"),
        ("http://a.example:80//x", "GET //x HTTP/1.1\r\nHost: a.example\r\n"),
        ("http://[::1]/x", "GET /x HTTP/1.1\r\nHost: [::1]\r\n"),
    ] {
        assert!(get(uri).unwrap().1.starts_with(line), "{uri}");
    }
}

#[test]
fn what_two_readers_could_understand_in_two_ways_is_malformed() {
    for uri in [
        "/",
        "example.com/",
        "https://a.example/",
        "ftp://a.example/",
        "http://",
        "http:///x",
        "http://a.example:0/",
        "http://user@a.example/",
        "http://a.example@b.example/",
        "http://a.example\\@b.example/",
        "http://a.example#x",
        "http://a%2eexample/",
        "http://a.example:80:90/",
        "*",
    ] {
        assert!(matches!(get(uri), Err(Refusal::Malformed(_))), "{uri}");
    }
    for head in [
        "\r\n\r\n",
        "GET http://a/\r\n\r\n",
        "GET http://a/ HTTP/2.0\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\n",
        "GET http://a/ HTTP/1.1\nHost: b\n\nGET http://b/ HTTP/1.1\r\n\r\n",
        "GET http://a/ HTTP/1.1\r\nA: b\r\n c\r\n\r\n",
        "GET http://a/ HTTP/1.1\r\nA : b\r\n\r\n",
        "GET http://a/ HTTP/1.1\r\nA\u{0}: b\r\n\r\n",
        "\u{16}\u{3}\u{1}\r\n\r\n",
    ] {
        assert!(matches!(forwarded(head), Err(Refusal::Malformed(_))), "{head:?}");
    }
    let many = format!("GET http://a/ HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(MAX_HEADERS + 1));
    assert_eq!(forwarded(&many), Err(Refusal::TooLarge));
}

#[test]
fn the_end_is_found_wherever_the_pieces_break() {
    let bytes = b"GET x\r\na\r\n\r\nbody\r\n\r\n";
    for searched in 0..=9 {
        assert_eq!(end(bytes, searched), Some(12), "{searched}");
    }
    assert_eq!((end(&bytes[..11], 0), end(b"", 9)), (None, None));
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("CONNECT ".to_owned()),
        Just("GET ".to_owned()),
        Just("http://".to_owned()),
        Just("example.com".to_owned()),
        Just("127.0.0.1:8080".to_owned()),
        Just("[2001:db8::1]".to_owned()),
        Just("/".to_owned()),
        Just(" HTTP/1.1\r\n".to_owned()),
        Just("Connection: ".to_owned()),
        Just("Host: a\r\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("@".to_owned()),
        ".{0,6}",
    ]
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = fuzz_head(&bytes);
        let _ = fuzz_head(&[&b"GET http://example.com"[..], &bytes, b" HTTP/1.1\r\n\r\n"].concat());
        let _ = fuzz_head(&[&b"CONNECT "[..], &bytes, b" HTTP/1.1\r\n\r\n"].concat());
        let _ = fuzz_head(&[&b"GET http://example.com/ HTTP/1.1\r\n"[..], &bytes, b"\r\n\r\n"].concat());
    }

    #[test]
    fn no_pieces_of_a_head_do(pieces in prop::collection::vec(piece(), 0..20)) {
        let _ = fuzz_head(format!("{}\r\n\r\n", pieces.concat()).as_bytes());
    }

    /// Another reader finds one head in what goes on, to the host that was judged, and no second request behind it.
    #[test]
    fn what_goes_on_is_one_head_for_one_host(
        path in "[!-~]{0,20}",
        names in prop::collection::vec("(?i)host|connection|te|x|content-length|[!-9;-~]{1,8}", 0..6),
        values in prop::collection::vec("[ -~]{0,12}|host|x, y", 6),
    ) {
        let headers: String = names.iter().zip(&values).map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = format!("GET http://example.com/{path} HTTP/1.1\r\n{headers}\r\n");
        if let Ok(forward) = fuzz_head(head.as_bytes()) {
            let mut headers = [EMPTY_HEADER; MAX_HEADERS];
            let mut parsed = Parsed::new(&mut headers);
            prop_assert_eq!(parsed.parse(&forward), Ok(Status::Complete(forward.len())));
            let named = |name: &str| -> Vec<&[u8]> {
                parsed.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value).collect()
            };
            prop_assert_eq!(named("host"), [&b"example.com"[..]]);
            prop_assert_eq!(named("connection"), [&b"close"[..]]);
            prop_assert_eq!(end(&forward, 0), Some(forward.len()));
        }
    }
}
