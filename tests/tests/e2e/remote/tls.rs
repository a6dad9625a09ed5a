//! Servers whose certificate is not what it should be: which of its faults it is, in words.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use harbor_tests::tls::{FUTURE, PAST, Tls};
use harbor_tests::{Bridge, Home};
use serde_json::json;

use super::failure;

/// What is said of such a server; its certificate is an authority where it is `trusted`.
fn told(names: &str, until: &str, trusted: bool) -> String {
    let home = Home::new();
    let server = Tls::start(&home, names, until, &[]);
    let authority = server.certificate.to_str().unwrap();
    let environment = [("SSL_CERT_FILE", authority)];
    let bridge = Bridge::start_with(&home, if trusted { &environment } else { &[] });
    let (cause, said) = failure(&bridge, &server.url("/mcp"), &json!({}));
    assert_eq!(cause, "tls", "{said}");
    said.replace(&server.port.to_string(), "PORT")
}

#[test]
fn a_certificate_that_nobody_signed_is_explained() {
    let said = told("DNS:localhost", FUTURE, false);
    assert!(
        said.contains("this system does not trust who signed the certificate of localhost:PORT"),
        "{said}"
    );
    assert!(said.contains("SSL_CERT_FILE"), "{said}");
}

/// What `openssl req -x509` makes when nobody says otherwise.
#[test]
fn one_of_an_authority_is() {
    let said = told("DNS:localhost,CA:TRUE", FUTURE, true);
    assert!(said.contains("the certificate of localhost:PORT is an authority's, not a server's"), "{said}");
    assert!(said.contains("basicConstraints=critical,CA:FALSE"), "{said}");
}

#[test]
fn one_that_has_expired_is() {
    let said = told("DNS:localhost", PAST, true);
    assert!(said.contains("the certificate of localhost:PORT has expired"), "{said}");
}

#[test]
fn one_for_another_host_is() {
    let said = told("DNS:other.example", FUTURE, true);
    assert!(said.contains("the certificate of localhost:PORT is for another host"), "{said}");
}

#[test]
fn plain_http_where_tls_is_expected_is() {
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
