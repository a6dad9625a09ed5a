//! A server of TLS with a certificate of its own making.
//!
//! Must never be trusted by anything but the bridge of its own test.

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::{Home, LIMIT, Program, wait_until};

/// Days long gone, and still to come.
pub const PAST: &str = "20200102000000Z";
/// See [`PAST`].
pub const FUTURE: &str = "20491231235959Z";

/// The server, and its certificate.
#[derive(Debug)]
pub struct Tls {
    _program: Program,
    /// Where it listens.
    pub port: u16,
    /// A file with the certificate.
    pub certificate: PathBuf,
    /// What it serves from, where it does.
    pub dir: PathBuf,
}

impl Tls {
    /// With a certificate for these names and until then, of an authority where they say `CA:TRUE`, and these further options of `openssl s_server`.
    ///
    /// # Panics
    /// When there is no openssl.
    #[must_use]
    pub fn start(home: &Home, names: &str, until: &str, options: &[&str]) -> Self {
        let dir = home.scratch("tls");
        std::fs::create_dir_all(&dir).expect("a scratch directory can be made");
        let config = "[ca]\ndefault_ca=own\n[own]\ndatabase=issued\nnew_certs_dir=.\ndefault_md=sha256\npolicy=any\n\
             rand_serial=yes\n[any]\ncommonName=supplied\n";
        let (names, constraint) = match names.strip_suffix(",CA:TRUE") {
            Some(names) => (names, "CA:TRUE"),
            None => (names, "CA:FALSE"),
        };
        let extensions = format!("subjectAltName={names}\nbasicConstraints=critical,{constraint}\n");
        for (name, text) in [("config", config), ("extensions", &extensions), ("issued", "")] {
            std::fs::write(dir.join(name), text).expect("a scratch file can be written");
        }
        let openssl = |words: &str| {
            let mut command = Command::new("openssl");
            let output =
                command.args(words.split(' ')).current_dir(&dir).output().expect("openssl is installed");
            assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
        };
        openssl("req -new -newkey rsa:2048 -nodes -subj /CN=harbor-tests -keyout key.pem -out request.pem");
        openssl(&format!(
            "ca -selfsign -batch -notext -config config -extfile extensions -keyfile key.pem -in request.pem \
             -out certificate.pem -startdate 20200101000000Z -enddate {until}"
        ));
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
        let mut command = Command::new("openssl");
        command.args(["s_server", "-quiet", "-key", "key.pem", "-cert", "certificate.pem"]).args(options);
        command.args(["-accept", &port.to_string()]).current_dir(&dir).stderr(Stdio::null());
        let program = Program::start(&mut command);
        wait_until("it listens", LIMIT, || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Self { _program: program, port, certificate: dir.join("certificate.pem"), dir }
    }

    /// Where a path is.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.port)
    }
}
