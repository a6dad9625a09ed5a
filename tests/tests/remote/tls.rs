//! Servers whose certificate is not what it should be: which of its faults it is, in words.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use harbor_tests::{Bridge, Home, LIMIT, Program, wait_until};
use serde_json::json;

use super::failure;

const PAST: &str = "20200102000000Z";
const FUTURE: &str = "20491231235959Z";

/// A server with a certificate of its own making, for these names and until then; and that certificate.
struct Tls {
    _program: Program,
    port: u16,
    certificate: PathBuf,
}

impl Tls {
    fn start(home: &Home, names: &str, until: &str) -> Self {
        let dir = home.scratch("tls");
        std::fs::create_dir_all(&dir).unwrap();
        let config = "[ca]\ndefault_ca=own\n[own]\ndatabase=issued\nnew_certs_dir=.\ndefault_md=sha256\npolicy=any\n\
             rand_serial=yes\n[any]\ncommonName=supplied\n";
        let extensions = format!("subjectAltName={names}\nbasicConstraints=critical,CA:FALSE\n");
        for (name, text) in [("config", config), ("extensions", &extensions), ("issued", "")] {
            std::fs::write(dir.join(name), text).unwrap();
        }
        let openssl = |words: &str| {
            let mut command = Command::new("openssl");
            let output = command.args(words.split(' ')).current_dir(&dir).output().unwrap();
            assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
        };
        openssl("req -new -newkey rsa:2048 -nodes -subj /CN=harbor-tests -keyout key.pem -out request.pem");
        openssl(&format!(
            "ca -selfsign -batch -notext -config config -extfile extensions -keyfile key.pem -in request.pem \
             -out certificate.pem -startdate 20200101000000Z -enddate {until}"
        ));
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("openssl");
        command.args(["s_server", "-quiet", "-key", "key.pem", "-cert", "certificate.pem"]);
        command.args(["-accept", &port.to_string()]).current_dir(&dir).stderr(Stdio::null());
        let program = Program::start(&mut command);
        wait_until("it listens", LIMIT, || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        Self { _program: program, port, certificate: dir.join("certificate.pem") }
    }

    fn url(&self) -> String {
        format!("https://localhost:{}/mcp", self.port)
    }
}

/// What is said of such a server; its certificate is an authority where it is `trusted`.
fn told(names: &str, until: &str, trusted: bool) -> String {
    let home = Home::new();
    let server = Tls::start(&home, names, until);
    let authority = server.certificate.to_str().unwrap();
    let environment = [("SSL_CERT_FILE", authority)];
    let bridge = Bridge::start_with(&home, if trusted { &environment } else { &[] });
    let (cause, said) = failure(&bridge, &server.url(), &json!({}));
    assert_eq!(cause, "tls", "{said}");
    said.replace(&server.port.to_string(), "PORT")
}

#[test]
fn a_certificate_that_nobody_signed_is_explained() {
    let said = told("DNS:localhost", FUTURE, false);
    assert!(
        said.contains("the certificate of localhost:PORT is signed by nobody whom this system trusts"),
        "{said}"
    );
    assert!(said.contains("SSL_CERT_FILE"), "{said}");
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
